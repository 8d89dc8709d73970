"""The same rows, seed and versions give the same bytes, whatever the process, and however rows are ordered or come in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from tests.determinism import digest_of, digests, rows
from tests.tallies.engines import need

ROOT = Path(__file__).parents[1]
ELSEWHERE = {
    "PYTHONHASHSEED": "17", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2",
}  # fmt: skip
"""Another hash of texts, time zone, locale and number of threads than those of the tests."""


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return rows()


def test_another_process_gives_the_same_bytes(frame: pd.DataFrame) -> None:
    command = [sys.executable, "-m", "tests.determinism"]
    run = subprocess.run(command, cwd=ROOT, env=os.environ | ELSEWHERE, capture_output=True, text=True, check=True)
    here, there = digests(frame), json.loads(run.stdout)
    assert len(here) > 8
    assert there == here


@pytest.mark.parametrize("how", ["shuffled", "in chunks", "polars", "days of texts"])
def test_counts_are_the_same_however_rows_come(frame: pd.DataFrame, how: str) -> None:
    by = ["place", "sex", "day"]

    def counted(source: object, time: object = "month") -> str:
        names = by if time else by[:2]
        return digest_of(bg.tally(source, names, ["sel", "fnr"], y_true="y", y_pred="d", time=time))  # type: ignore[arg-type]

    if how == "polars":
        need("polars")
        import polars

        assert counted(polars.from_pandas(frame)) == counted(frame)
        return
    if how == "in chunks":
        parts = [frame.iloc[start : start + 97] for start in range(0, len(frame), 97)]
        assert counted(iter(parts), None) == counted(frame, None)
        return
    if how == "days of texts":
        assert counted(frame.assign(day=frame["day"].astype(str)), {"day": "month"}) == counted(frame)
        return
    assert counted(frame.sample(frac=1, random_state=5)) == counted(frame)


def test_sums_of_losses_agree_to_rounding(frame: pd.DataFrame) -> None:
    """Sums of fractions depend on their order in the last digits, and what rests on them does too."""
    one, other = (
        bg.tally(source, ["sex"], ["mean"], loss="loss") for source in (frame, frame.sample(frac=1, random_state=5))
    )
    for name in ("estimate", "sampling_variance"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-13)


@pytest.mark.slow
def test_one_to_four_processes_give_the_same_study(frame: pd.DataFrame) -> None:
    """Of both sides of a hierarchical estimator, whose draws would tell another stream of chance."""
    levels = {"place": tuple(sorted(frame["place"].unique())), "sex": ("f", "m")}
    wrong = bg.Metric("wrong", value="d", kind="rate")
    rows_of_all = bg.Population("all", frame, levels, (wrong,), rows=200, design="independent", fewest=1)
    estimators = {"alone": bg.NoPooling(), "crossed": bg.CrossedEffects()}
    studies = [bg.study(rows_of_all, estimators, draws=5, seed=3, workers=workers) for workers in (1, 2, 3, 4)]
    assert len({digest_of(each) for each in studies}) == 1
    assert np.isfinite(studies[0]["estimate"]).mean() > 0.9
