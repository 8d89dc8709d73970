"""Rows, what is asked of them, and how two tallies are compared; for the tests of engines."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.metrics import Y_PRED, Y_TRUE, Metric

NAMED = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1", "auc", "mean", "correct"]
MISS_COST = Metric("miss_cost", value=nw.col("cost") * (1 - Y_PRED), where=Y_TRUE == 1, lower=0.0)
DEAR = Metric("dear", value=(nw.col("cost") > 2).cast(nw.Float64), kind="rate")
EVERY: list[str | Metric] = [*NAMED, MISS_COST, DEAR]


def need(package: str) -> None:
    """Skip where an engine is not installed; fail where ``BAYESGROUPS_NO_SKIP`` says that all are."""
    if importlib.util.find_spec(package) is None:
        assert "BAYESGROUPS_NO_SKIP" not in os.environ, f"{package} is missing, and nothing may be skipped"
        pytest.skip(f"{package} is not installed")


@contextmanager
def root_on_path() -> Iterator[None]:
    """Let processes that start now find the modules of the tests, however the tests were started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield


def some_rows(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c|d"], n, p=[0.6, 0.35, 0.05]),
            "age": rng.choice([9, 18, 65], n),
            "y": rng.integers(0, 2, n),
            "score": rng.random(n).round(2),
            "loss": rng.exponential(size=n),
            "visits": rng.poisson(2, n),
            "patient": rng.integers(0, 150, n),
            "w": rng.random(n) + 0.1,
            "cost": rng.exponential(size=n) + 1,
            "right": rng.random(n) < 0.7,
        }
    )


def everything(frame: Any, **changes: Any) -> xr.Dataset:
    arguments: dict[str, Any] = {
        "by": ["race", "age"], "metrics": EVERY, "y_true": "y", "y_score": "score", "threshold": 0.5, "loss": "loss",
        "correct": "right", "features": ["visits"], "cluster": "patient",
    }  # fmt: skip
    return bg.tally(frame, **(arguments | changes))


def assert_same(found: xr.Dataset, wanted: xr.Dataset) -> None:
    """The same tally: texts and settings equal, numbers up to 1e-12 of their size."""
    assert found.attrs == wanted.attrs
    assert set(found.variables) == set(wanted.variables)
    for name, variable in wanted.variables.items():
        mine, theirs = found[name].values, variable.values
        assert found[name].dims == variable.dims
        if theirs.dtype.kind == "f":
            # A correlation is the difference of two sums of squares, each of which is good to 1e-12.
            tolerance = 1e-10 if name == "icc" else 1e-12
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance, err_msg=str(name))
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=str(name))
