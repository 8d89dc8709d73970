"""Importing the package, beside importing pandas.

Run with ``pytest -m benchmark -s``. What is not imported is tested in ``tests/test_imports.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median

import pytest

pytestmark = pytest.mark.benchmark

REPETITIONS = 7
SECONDS = 0.3
"""The one absolute bar there is, of the design; a fresh interpreter included."""


def _seconds(code: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def test_import() -> None:
    codes = {"nothing": "pass", "bayesgroups": "import bayesgroups", "pandas": "import pandas", "pymc": "import pymc"}
    for code in codes.values():
        _seconds(code)
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(REPETITIONS):
        for name, code in codes.items():
            times[name].append(_seconds(code))
    found = {name: median(values) for name, values in times.items()}
    print()
    for name, value in found.items():
        print(f"process that imports {name:12s} {1000 * value:6.0f} ms, {value / found['bayesgroups']:5.1f}x")
    assert found["bayesgroups"] < found["pandas"] / 3
    assert found["bayesgroups"] < SECONDS
