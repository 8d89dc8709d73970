"""The bootstrap from sufficient statistics against the closed forms and against resampled rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.inference.bootstrap import replicates

FRAME = pd.DataFrame(
    {
        "g": ["a"] * 10 + ["b"] * 7,
        "y": [1, 1, 1, 1, 0, 0, 0, 0, 0, 0] + [1, 1, 1, 1, 0, 0, 0],
        "s": [0.9, 0.8, 0.7, 0.1, 0.2, 0.3, 0.6, 0.1, 0.2, 0.4] + [0.9, 0.35, 0.6, 0.55, 0.4, 0.2, 0.58],
        "v": [0.12, 0.30, 0.05, 0.22, 0.41, 1, 2, 3, 4, 5] + [1.0, 2, 3, 4, 5, 6, 9],
    }
)


def test_variances_are_those_of_the_closed_forms() -> None:
    tally = bg.tally(FRAME, ["g"], ["sel", "fnr", "auc", "mean"], y_true="y", y_score="s", threshold=0.5, loss="v")
    draws = 40_000
    found = replicates(tally, seed=1, draws=draws)
    variance = found["mu"].var(("chain", "draw")).values
    expected = tally["bootstrap_variance"].values
    assert expected[1, 0] == pytest.approx(0.056863, abs=1e-6)  # 1 of 4 positives missed among 10 rows
    assert expected[2, 1] == pytest.approx(0.038773, abs=1e-6)
    assert variance == pytest.approx(expected, rel=6 * np.sqrt(2 / draws))
    assert found["undefined_share"].values[1, 0] == pytest.approx(0.6**10, abs=4 * np.sqrt(0.006 / draws))


@pytest.mark.parametrize("scheme", ["subgroup", "rows"])
def test_rates_have_the_law_of_resampled_rows(scheme: str) -> None:
    tally = bg.tally(FRAME, ["g"], ["fnr"], y_true="y", y_score="s", threshold=0.5)
    found = replicates(tally, seed=1, draws=20_000, scheme=scheme)["mu"].values[0, :, 0, 0]  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    y, missed, a = FRAME["y"].to_numpy(), (FRAME["s"] < 0.5).to_numpy(), (FRAME["g"] == "a").to_numpy()
    pool = np.arange(10) if scheme == "subgroup" else np.arange(17)
    rows = rng.choice(pool, size=(20_000, len(pool)))
    inside = (y[rows] == 1) & a[rows]
    with np.errstate(invalid="ignore"):
        resampled = (inside & missed[rows]).sum(axis=1) / inside.sum(axis=1)
    for value in (0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0):
        first, second = (np.mean(np.isclose(values, value)) for values in (found, resampled))
        assert first == pytest.approx(second, abs=5 * np.sqrt(2 * 0.25 / 20_000))


def test_published_estimates_cannot_be_resampled() -> None:
    table = bg.tally_from_estimates([0.1], [0.01], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="published estimates have no rows to resample"):
        replicates(table, seed=1)


def test_weights_and_f1_and_empty_groups() -> None:
    frame = FRAME.assign(w=np.linspace(0.5, 2, 17))
    tally = bg.tally(frame, {"g": ["a", "b", "c"]}, ["f1", "sel"], y_true="y", y_score="s", threshold=0.5, weights="w")
    found = replicates(tally, seed=1, draws=500)["mu"]
    assert np.isnan(found.sel(subgroup="c").values).all()
    means = found.sel(subgroup=["a", "b"]).mean(("chain", "draw")).values
    assert means == pytest.approx(tally["estimate"].sel(subgroup=["a", "b"]).values, abs=0.05)
