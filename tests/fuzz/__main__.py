"""A table of outcomes by category: ``python -m tests.fuzz --cases 1500 --seed 1 --output table.csv``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from bayesgroups.data.csv_files import write_csv
from tests.fuzz.outcomes import COLUMNS, count


def main() -> int:
    """Run the cases; the exit code is 1 where one is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    table, faults = count(asked.cases, asked.seed)
    columns = ("cases", *COLUMNS)
    frame = pd.DataFrame([[name, *(found[column] for column in columns)] for name, found in table.items()])
    frame.columns = pd.Index(["category", *columns])
    print(frame.to_string(index=False))
    print("\n".join(faults))
    if asked.output is not None:
        write_csv(asked.output, frame, escape_formulas=False)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
