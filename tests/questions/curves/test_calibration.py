"""Calibration curves: equal to scikit-learn's, intervals of each bin, and curves that never fall."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

import bayesgroups as bg
from bayesgroups.frequentist.intervals import proportions


def rows(seed: int, size: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    score = np.round(random.beta(1.5, 2.5, size), 2)
    g = random.integers(0, 3, size)
    y = random.random(size) < np.clip(score + 0.1 * (g - 1), 0, 1)
    return pd.DataFrame({"g": g.astype(str), "y": y.astype(int), "p": score})


def curve(frame: object, **changed: object) -> xr.Dataset:
    given: dict[str, object] = {"draws": 200, "seed": 1, **changed}
    return bg.calibration_curve(frame, ["g"], y_true="y", y_score="p", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("bins", [1, 5, 10])
def test_bins_are_those_of_scikit_learn(bins: int) -> None:
    frame = rows(1, 300)
    found = curve(frame, bins=bins)
    for label in found["subgroup"].values:
        own = frame[frame.g == label]
        share, score = calibration_curve(own.y, own.p, n_bins=bins)
        here = found.sel(subgroup=label)
        filled = here["count"].values > 0
        np.testing.assert_allclose(here["estimate"].sel(approach="frequentist").values[filled], share)
        np.testing.assert_allclose(here["mean_score"].values[filled], score)
        assert np.isnan(here["estimate"].sel(approach="frequentist").values[~filled]).all()
        assert here["count"].sum() == len(own)


def test_limits_are_intervals_of_the_counts() -> None:
    for name, method in (("wilson", proportions.wilson), ("jeffreys", proportions.jeffreys)):
        found = curve(rows(2, 200), bins=4, interval=name, level=0.9).sel(approach="frequentist")
        n = found["count"].values
        k = np.nan_to_num(found["estimate"].values) * n
        expected = method(k, n, 0.9)
        np.testing.assert_allclose(found["lower"].values, expected.lower, atol=1e-12)
        np.testing.assert_allclose(found["upper"].values, expected.upper, atol=1e-12)
        filled = (n > 0).sum(axis=0)
        np.testing.assert_allclose(found["band_level"].values, 0.9 ** (1 / filled))
        assert (found["band_lower"] <= found["lower"]).where(found["count"] > 0, True).all()


def test_quantile_bins_hold_alike_many_rows() -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"g": "a", "y": random.integers(0, 2, 1000), "p": random.beta(1, 9, 1000)})
    found = curve(frame, bins=5, edges="quantile")
    assert np.ptp(found["count"].values) <= 2
    assert (float(found["bin_lower"][0]), float(found["bin_upper"][-1])) == (0, 1)


def test_isotonic_is_that_of_scikit_learn_where_bins_are_fine() -> None:
    frame = rows(4, 200)
    found = curve(frame, bins=100, shape="isotonic", draws=100).sel(approach="frequentist")
    for label in found["subgroup"].values:
        own = frame[frame.g == label]
        fitted = IsotonicRegression().fit(own.p, own.y)
        here = found.sel(subgroup=label)
        filled = here["count"].values > 0
        expected = fitted.predict(here["mean_score"].values[filled])
        np.testing.assert_allclose(here["estimate"].values[filled], expected, atol=1e-9)


def test_isotonic_curves_and_bands_never_fall() -> None:
    found = curve(rows(5, 150), shape="isotonic", draws=100)
    for name in ("estimate", "band_lower", "band_upper"):
        assert (found[name].diff("bin") >= -1e-9).all(), name
    assert (found["band_lower"] <= found["lower"] + 1e-12).all()
    assert (found["upper"] <= found["band_upper"] + 1e-12).all()
    assert (found["lower"] <= found["estimate"] + 1e-9).all()
    free = curve(rows(5, 150), draws=100).sel(approach="frequentist")
    own = found.sel(approach="frequentist")
    filled = free["count"] > 0
    narrowed = (own["band_upper"] - own["band_lower"]).where(filled).mean()
    assert narrowed < (free["band_upper"] - free["band_lower"]).where(filled).mean()


def test_the_bayesian_side_finds_a_shift_and_fills_gaps() -> None:
    """Subgroup 2 has more positives than its scores say, also in bins where it has no row."""
    frame = rows(6, 4000)
    few = (frame.g == "2") & (frame.p > 0.5)
    found = curve(frame[~few], draws=1000)["estimate"].sel(approach="bayesian")
    assert (found.sel(subgroup="2") > found.sel(subgroup="1")).isel(bin=slice(1, 5)).all()
    assert (found.sel(subgroup="2") > found.sel(subgroup="0")).isel(bin=slice(5, 9)).all()


def test_degenerate_scores() -> None:
    frame = pd.DataFrame(
        {"g": list("aaabbbcc"), "y": [1, 1, 1, 0, 1, 0, 0, 0], "p": [0.5, 0.5, 0.5, 0.0, 1.0, 0.0, 0.2, 0.1]}
    )
    for shape in ("free", "isotonic"):
        found = bg.calibration_curve(
            frame, {"g": list("abcd")}, y_true="y", y_score="p", bins=2, shape=shape, draws=200, seed=1
        )  # fmt: skip
        assert found["status"].values.tolist() == ["ok", "ok", "ok", "no rows"]
        own, drawn = (found.sel(approach=approach) for approach in ("frequentist", "bayesian"))
        assert float(own["estimate"].sel(subgroup="a")[0]) == 1
        assert own["estimate"].sel(subgroup="b").values.tolist() == [0, 1]
        assert np.isnan(own["estimate"].sel(subgroup="d")).all()
        assert np.isnan(own["band_level"].sel(subgroup="d"))
        assert np.isfinite(drawn["estimate"]).all()
        assert (drawn["upper"] - drawn["lower"] > 0.1).all()


def test_refused() -> None:
    frame = rows(7, 40)
    for changed, message in (
        ({"bins": 0}, "bins must be a whole number, 1 or larger and at most 100,000; got 0"),
        ({"bins": 2.5}, "bins must be a whole number, 1 or larger and at most 100,000; got 2.5"),
        ({"edges": "uniforn"}, "edges='uniforn' is not one of .*; did you mean 'uniform'"),
        ({"shape": "smooth"}, "shape='smooth' is not one of"),
        ({"interval": "wald"}, "interval='wald' is not one of"),
    ):
        with pytest.raises(bg.InputError, match=message):
            curve(frame, **changed)
    frame.loc[frame.index[0], "p"] = 1.5
    label = frame.g.iloc[0]
    with pytest.raises(
        bg.InputError, match=f"subgroup '{label}' has the score 1.5; calibration is about probabilities"
    ):
        curve(frame)
