"""Commands from process start to exit, beside the import of pandas and xarray, and several metrics beside one by one.

Run with ``pytest -m benchmark -s``. No time is asserted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

REPETITIONS = 7
ROWS = 20_000
BARS = {"the first page of help": 0.25, "a column that a CSV file lacks": 0.4, "a report of 32 subgroups": 1.2}
"""Seconds that the design asks for, on two processors with nothing else to do."""
COMMAND = "from bayesgroups.cli import main; main()"
PEER = "import sys; sys.modules['dask'] = None; import pandas, xarray"
METRICS = ("sel", "fnr", "fpr", "acc", "ppv")
LEVELS = {24: (2, 3, 4), 60: (3, 4, 5), 120: (2, 3, 4, 5)}


def _rows(levels: tuple[int, ...]) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns = {f"a{i}": rng.integers(0, size, ROWS) for i, size in enumerate(levels)}
    outcome = rng.random(ROWS) < 0.3
    decision = rng.random(ROWS) < 0.2 + 0.4 * outcome
    return pd.DataFrame({**columns, "outcome": outcome.astype(int), "decision": decision.astype(int)})


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _process(code: str, *words: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    line = [sys.executable, "-c", code, *words]
    return subprocess.run(line, check=False, env=environment, capture_output=True).returncode


def test_commands(tmp_path: Path, table: Table) -> None:
    rows = tmp_path / "rows.csv"
    _rows((2, 4, 4)).to_csv(rows, index=False)
    asked = ["estimate", str(rows), "--by", "a0", "--by", "a1", "--metric", "fnr", "--y-true", "outcome"]
    asked += ["--y-pred", "decision", "--output", str(tmp_path / "report.nc")]
    lines = {
        "the first page of help": (["--help"], 0),
        "a column that a CSV file lacks": ([*asked, "--by", "a9"], 2),
        "a report of 32 subgroups": ([*asked, "--by", "a2"], 0),
    }
    times: dict[str, list[float]] = {name: [] for name in (*lines, "peer")}
    for _ in range(REPETITIONS + 1):
        for name, (words, code) in lines.items():
            times[name].append(_seconds(partial(_expect, code, words)))
        times["peer"].append(_seconds(lambda: _process(PEER)))
    for name in lines:
        ours = times[name][1:]  # the first writes the bytecode
        what = f"command from start to exit: {name}"
        table.add(Row(what, "-", tuple(ours), "s", BARS[name], larger=False))
        table.ratio(what, "import pandas, xarray", times["peer"][1:], ours)


def _expect(code: int, words: list[str]) -> None:
    assert _process(COMMAND, *words) == code


@pytest.mark.parametrize("subgroups", LEVELS)
@pytest.mark.parametrize("estimator", [bg.PartialPooling(), bg.CrossedEffects()], ids=lambda each: each.word)
def test_five_metrics(estimator: Estimator, subgroups: int, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows(LEVELS[subgroups])
    by = [name for name in rows if name.startswith("a")]
    tally = bg.tally(rows, by=by, metrics=METRICS, y_true="outcome", y_pred="decision")
    assert tally.sizes["subgroup"] == subgroups
    bg.estimate(tally.isel(metric=[0]), estimator, seed=1)

    def one_by_one(part: xr.Dataset) -> None:
        for i in range(part.sizes["metric"]):
            bg.estimate(part.isel(metric=[i]), estimator, seed=1)

    together, apart, alone = [], [], []
    for _ in range(5):
        together.append(_seconds(lambda: bg.estimate(tally, estimator, seed=1)))
        apart.append(_seconds(lambda: one_by_one(tally)))
        with monkeypatch.context() as patch:
            patch.setattr(os, "cpu_count", lambda: 1)
            patch.setenv("LOKY_MAX_CPU_COUNT", "1")
            alone.append(_seconds(lambda: bg.estimate(tally, estimator, seed=1)))
    what = f"{len(METRICS)} metrics of {subgroups} subgroups, {estimator.word}"
    table.add(Row(what, "-", tuple(together), "s", 2.0 if subgroups == max(LEVELS) else None, larger=False))
    table.ratio(what, "one call per metric", apart, together)
    table.ratio(what, "one processor", alone, together)
