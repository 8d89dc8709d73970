"""A table of outcomes by category, of every thousand cases: ``python -m tests.fuzz --cases 1500 --seed 1 --output table.csv``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from bayesgroups.data.csv_files import write_csv
from tests.fuzz.outcomes import COLUMNS, count

BLOCK = 1000
"""Cases of one line of every category."""


def main() -> int:
    """Run the cases; the exit code is 1 where one is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    columns, lines, every = ("cases", *COLUMNS), [], []
    for start in range(0, asked.cases, BLOCK):
        table, faults = count(min(BLOCK, asked.cases - start), asked.seed, start)
        lines += [[start, name, *(found[column] for column in columns)] for name, found in table.items()]
        every += faults
        print("\n".join([*faults, f"{start + BLOCK} cases"]), file=sys.stderr, flush=True)
    frame = pd.DataFrame(lines, columns=["start", "category", *columns])
    print(frame.groupby("category", sort=False)[list(columns)].sum().to_string())
    if asked.output is not None:
        write_csv(asked.output, frame, escape_formulas=False)
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
