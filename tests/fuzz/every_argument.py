"""Every argument of every public function, replaced by every strange value in turn.

python -m tests.fuzz.every_argument --output tests/fuzz/every_argument.csv
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.csv_files import write_csv
from tests.fuzz.calls import calls
from tests.fuzz.cases import VALUES, rows_of
from tests.fuzz.outcomes import COLUMNS, outcome_of

STRANGE: list[Any] = [
    *VALUES, 10**5000, -5, 2**63, 1j, b"", "x" * 300, "\ud800", ["q", "r"], [None], [[1, 2], [3, 4]], ("a",), (None,), range(3),
    {"zz": 1}, {1: 2}, {"g": None}, lambda *_: 1, np.array([1.0, np.nan]), np.array(["a"]), np.array(3.0), xr.DataArray([1.0]),
    xr.Dataset(), xr.DataTree(), rows_of(np.random.default_rng(1)), bg.NoPooling(),
]  # fmt: skip
"""Values that few arguments can have."""


def replaced(name: str, parameter: str, value: Any, folder: Path) -> None:
    """An ordinary call with one argument that is not."""
    function, given = calls()[name]
    with contextlib.chdir(folder):
        function(**{**given, parameter: value})


def count(name: str) -> tuple[Counter[str], list[str]]:
    """Outcomes of all arguments of a function, and a line for each that is a fault."""
    found, faults = Counter[str](), []
    for parameter in inspect.signature(calls()[name][0]).parameters:
        for position, value in enumerate(STRANGE):
            result, message, warned = outcome_of(partial(replaced, name, parameter, value))
            found.update(["cases", result, *(["warned"] if warned else [])])
            if warned or result in ("raw", "wrong", "hang"):
                faults.append(f"{name} {parameter}= value {position}: {result}{' warned' if warned else ''}: {message}")
    return found, faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the outcomes of all functions; the exit code is 1 where one is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.every_argument", description=__doc__)
    parser.add_argument("--output", type=Path)
    asked, lines, every = parser.parse_args(arguments), [], []
    for name in calls():
        found, faults = count(name)
        lines.append([name, *(found[column] for column in ("cases", *COLUMNS))])
        every += faults
        print("\n".join([*faults, name]), file=sys.stderr, flush=True)
    frame = pd.DataFrame(lines, columns=["function", "cases", *COLUMNS])
    print(frame.drop(columns="function").sum().to_string())
    if asked.output is not None:
        write_csv(asked.output, frame, escape_formulas=False)
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
