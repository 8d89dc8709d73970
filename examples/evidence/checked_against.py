"""Table of the page of comparisons with independent programs.

    python -m examples.evidence.checked_against --output docs/evidence/checked_against.md

takes twenty seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from examples.evidence.comparison import difference
from examples.evidence.comparisons import COMPARISONS
from examples.pages import fill, table

PROGRAM = "python -m examples.evidence.checked_against"
ROUNDING = 1e-12
"""Differences below it are rounding, which other processors do otherwise."""


def shown(value: float) -> str:
    """A difference as text: one digit, since its size is the message.

    >>> shown(3.4e-10), shown(2e-17)
    ('3e-10', 'below 1e-12')
    """
    return f"below {ROUNDING:g}" if value < ROUNDING else f"{value:.0e}"


def numbers() -> dict[str, str]:
    """Texts of the page by the name of their block."""
    rows = [
        [each.oracle, each.version, each.quantity, each.data, shown(difference(each)), f"`{each.test}`"]
        for each in COMPARISONS
    ]
    return {"comparisons": table(["program", "version", "quantity", "data", "largest difference", "test"], rows)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the table."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Comparisons with independent programs.")
    parser.add_argument("--output", type=Path, required=True, help="Markdown page whose numbers to fill in")
    fill(parser.parse_args(arguments).output, numbers())


if __name__ == "__main__":
    main()
