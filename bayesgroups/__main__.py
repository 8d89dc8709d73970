"""``python -m bayesgroups``: the command line of an interpreter, where several are installed."""

from __future__ import annotations

from bayesgroups.cli import main

if __name__ == "__main__":
    main()
