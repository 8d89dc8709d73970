"""Synthetic ground truths on given rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesgroups import datasets
from bayesgroups.datasets import demonstrations
from bayesgroups.datasets.synthetic import SyntheticModel
from bayesgroups.errors import InputError


@pytest.mark.parametrize(
    ("model", "white_middle_aged", "white_old", "other_middle_aged", "other_old"),
    [("age", 0.05, 0.35, 0.05, 0.35), ("age+rc", 0.05, 0.20, 0.50, 0.65), ("age.rc", 0.05, 0.32, 0.32, 0.32)],
)
def test_synthetic_truths(
    model: SyntheticModel,
    white_middle_aged: float,
    white_old: float,
    other_middle_aged: float,
    other_old: float,
) -> None:
    drawn = datasets.synthetic_metric(datasets.demonstration().rows, model, seed=1)
    expected = {
        "Caucasian | Male | 40-59": white_middle_aged,
        "Caucasian | Male | 80-99": white_old,
        "Hispanic | Female | 40-59": other_middle_aged,
        "Other | Female | 20-39": other_old,
    }
    for subgroup, value in expected.items():
        assert float(drawn.truth.sel(subgroup=subgroup)) == pytest.approx(value, abs=1e-12)
    assert set(drawn.values) == {0.0, 1.0}


def test_synthetic_values_have_the_true_mean() -> None:
    rows = demonstrations.draw_rows(demonstrations.population(), np.full(32, 3_000), np.random.default_rng(5))
    drawn = datasets.synthetic_metric(rows, "age+rc", seed=2)
    group = rows.groupby(list(demonstrations.BY)).ngroup().to_numpy(dtype=np.intp)
    means = np.bincount(group, weights=drawn.values) / 3_000
    true = drawn.truth.values  # both in the order of sorted levels
    assert np.abs((means - true) / np.sqrt(true * (1 - true) / 3_000)).max() < 4


def test_synthetic_expl_follows_the_mean_number_of_diagnoses() -> None:
    rows = pd.DataFrame({"race": list("aabb"), "number_diagnoses": [6, 8, 9, 9]})
    drawn = datasets.synthetic_metric(rows, "expl", by=["race"], seed=1, noise_sd=0.0)
    np.testing.assert_allclose(drawn.truth.sel(subgroup=["a", "b"]), [-0.93 + 0.16 * 7, -0.93 + 0.16 * 9])
    np.testing.assert_allclose(drawn.values, np.repeat(drawn.truth.sel(subgroup=["a", "b"]), 2))
    noisy = datasets.synthetic_metric(datasets.demonstration().rows, "expl", seed=1)
    assert 0.3 < noisy.values.std() < 0.36


def test_synthetic_truth_is_missing_where_no_row_is() -> None:
    rows = pd.DataFrame({"race": ["Caucasian", "Other"], "age": ["40-59", "80-99"]})
    drawn = datasets.synthetic_metric(rows, "age", by=["race", "age"], seed=1)
    assert np.isnan(drawn.truth.sel(subgroup="Other | 40-59"))
    assert int(np.isfinite(drawn.truth).sum()) == 2


def test_synthetic_repeats_with_the_seed() -> None:
    rows = datasets.demonstration().rows
    first, again = (datasets.synthetic_metric(rows, "age", seed=5).values for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "ages"}, "unknown model 'ages'; did you mean 'age'"),
        ({"noise_sd": -1.0}, "noise_sd must be at least 0"),
        ({"noise_sd": float("nan")}, "noise_sd must be at least 0"),
        ({"by": ["sex"]}, "column 'sex' is not in the frame"),
        ({"frame": pd.DataFrame({"race": ["x"]}), "by": ["race"]}, "column 'age' is not in the frame"),
        (
            {"frame": pd.DataFrame({"race": ["x"], "age": [None]}), "by": ["race"]},
            "column 'age' has missing values",
        ),
        ({"by": ["race"]}, "model 'age' varies within subgroups of by="),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_synthetic_refuses(arguments: dict[str, Any], message: str) -> None:
    plain: dict[str, Any] = {"frame": datasets.demonstration().rows, "model": "age", "seed": 1}
    with pytest.raises(InputError, match=message):
        datasets.synthetic_metric(**(plain | arguments))
