"""Importing the package, beside importing pandas.

Run with ``pytest -m benchmark -s``. What is not imported is tested in ``tests/test_imports.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

REPETITIONS = 7
SECONDS = 0.3
"""Bar of the design, a fresh interpreter included; printed, and not asserted."""


def _seconds(code: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def test_import(table: Table) -> None:
    codes = {"bayesgroups": "import bayesgroups", "pandas": "import pandas", "pymc": "import pymc"}
    for code in codes.values():
        _seconds(code)
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(REPETITIONS):
        for name, code in codes.items():
            times[name].append(_seconds(code))
    ours = Row("fresh process that imports bayesgroups", "-", tuple(times["bayesgroups"]), "s", SECONDS, larger=False)
    table.add(ours)
    ratio = table.ratio("the same", "import pandas", times["pandas"], times["bayesgroups"])
    table.ratio("the same", "import pymc", times["pymc"], times["bayesgroups"])
    assert ratio > 3
