"""The worked numbers of the methods, asked as a user asks: a table of counts or estimates, a word, an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling, partial_pooling
from bayesgroups.tallies.variances import Pooling

FIVE = [0.20, 0.25, 0.40, 0.10, 0.75]
COUNT = np.array([50.0, 30, 15, 8, 4])


def sites(size: int) -> pd.DataFrame:
    return pd.DataFrame({"site": list("abcdefgh")[:size]})


@pytest.fixture(scope="module")
def five() -> xr.Dataset:
    return bg.tally_from_estimates(FIVE, 0.16 / COUNT, sites(5), metric="fnr")


@pytest.mark.parametrize(
    ("pooling", "variance", "lower", "upper"),
    [
        ("published", 0.178571, [0.3359, -0.0857, 0.1718], [1.1641, 1.0857, 1.8282]),
        ("corrected", 0.3125, [0.2022, -0.2747, -0.0957], [1.2978, 1.2747, 2.0957]),
    ],
)
def test_pooled_variance(pooling: Pooling, variance: float, lower: list[float], upper: list[float]) -> None:
    tally = bg.tally_from_counts([3, 1, 1], [4, 2, 1], sites(3), pooled_variance=pooling)
    assert tally["pooled_variance"].item() == pytest.approx(variance, abs=1e-6)
    np.testing.assert_allclose(tally["sampling_variance"].values[0], variance / np.array([4, 2, 1]), atol=1e-6)
    found = no_pooling.estimate(tally, interval="pooled_normal").sel(level=0.95)
    np.testing.assert_allclose(found["lower"].values[0], lower, atol=5.1e-5)
    np.testing.assert_allclose(found["upper"].values[0], upper, atol=5.1e-5)


def test_pooled_variance_of_rows_of_whom_few_count() -> None:
    """100 rows each with 40, 10, 2 positives and a false negative rate of .3: the variances differ by their counts."""
    tally = bg.tally_from_counts([12, 3, 0], [40, 10, 2], sites(3))
    ratio = tally["sampling_variance"].values[0]
    np.testing.assert_allclose(ratio / ratio[0], [1, 4, 20])


@pytest.mark.parametrize(
    ("interval", "limits"),
    [
        ("wald", [(0.7141, 1.0859), (1, 1), (1, 1), (0, 0), (-0.0074, 0.2474)]),
        ("wilson", [(0.5958, 0.9821), (0.2065, 1), (0.3424, 1), (0, 0.4345), (0.0417, 0.2996)]),
        ("jeffreys", [(0.6187, 0.9890), (0.1467, 1), (0.3332, 1), (0, 0.3794), (0.0350, 0.2867)]),
        ("clopper_pearson", [(0.5550, 0.9975), (0.0250, 1), (0.1581, 1), (0, 0.5218), (0.0255, 0.3122)]),
    ],
)
def test_intervals_of_rates(interval: no_pooling.Choice, limits: list[tuple[float, float]]) -> None:
    tally = bg.tally_from_counts([9, 1, 2, 0, 3], [10, 1, 2, 5, 25], sites(5))
    found = no_pooling.estimate(tally, interval=interval).sel(level=0.95)
    pairs = np.stack([found["lower"].values[0], found["upper"].values[0]], axis=1)
    np.testing.assert_allclose(pairs, limits, atol=5.1e-5)


def test_percentile_of_rates() -> None:
    tally = bg.tally_from_counts([1, 1, 9, 0, 3], [2, 5, 10, 4, 3], sites(5))
    found = no_pooling.estimate(tally, interval="percentile").sel(level=0.95)
    np.testing.assert_allclose(found["lower"].values[0], [0, 0, 0.7, 0, 1], atol=1e-12)
    np.testing.assert_allclose(found["upper"].values[0], [1, 0.6, 1, 0, 1], atol=1e-12)


def test_plug_in(five: xr.Dataset) -> None:
    found = partial_pooling.estimate(five, interval="plug_in").isel(metric=0)
    assert float(found["tau_squared_raw"]) == pytest.approx(0.013813, abs=1e-6)
    assert float(found["overall"]) == pytest.approx(0.290216, abs=1e-6)
    np.testing.assert_allclose(found["shrinkage"], [0.188096, 0.278562, 0.435742, 0.591495, 0.743320], atol=1e-6)
    np.testing.assert_allclose(found["estimate"], [0.216969, 0.261203, 0.352162, 0.212512, 0.408233], atol=1e-6)
    np.testing.assert_allclose(found["std_error"], [0.050972, 0.062030, 0.077581, 0.090389, 0.101327], atol=1e-6)


def test_morris(five: xr.Dataset) -> None:
    found = partial_pooling.estimate(five).isel(metric=0)
    assert float(found["tau"]) ** 2 == pytest.approx(0.034455, abs=1e-6)
    assert float(found["overall"]) == pytest.approx(0.306390, abs=1e-6)
    np.testing.assert_allclose(found["shrinkage"], [0.042491, 0.067021, 0.118198, 0.183636, 0.268617], atol=1e-6)
    np.testing.assert_allclose(found["estimate"], [0.204521, 0.253779, 0.388935, 0.137901, 0.630839], atol=1e-6)
    np.testing.assert_allclose(found["std_error"], [0.055892, 0.071259, 0.098989, 0.134960, 0.199116], atol=1e-6)


def test_robust(five: xr.Dataset) -> None:
    found = partial_pooling.estimate(five, interval="robust").isel(metric=0)
    assert float(found["tau"]) ** 2 == pytest.approx(0.007847, abs=1e-6)
    np.testing.assert_allclose(found["estimate"], [0.215972, 0.252080, 0.316541, 0.211422, 0.336302], atol=1e-6)
    half = (found["upper"] - found["lower"]).sel(level=0.95) / 2
    np.testing.assert_allclose(half, [0.096805, 0.120256, 0.168408, 0.221192, 0.272214], atol=1e-6)
    parametric = [0.093445, 0.110444, 0.131788, 0.147141, 0.158749]
    np.testing.assert_allclose(1.959964 * found["std_error"], parametric, atol=1e-6)


def test_fab_covers_the_estimate_and_beats_the_usual_width_on_average(five: xr.Dataset) -> None:
    found = partial_pooling.estimate(five, interval="fab").isel(metric=0)
    usual = no_pooling.estimate(five, interval="pooled_normal").isel(metric=0)
    assert ((found["lower"] <= five["estimate"][0]) & (five["estimate"][0] <= found["upper"])).all()
    ratio = (found["upper"] - found["lower"]) / (usual["upper"] - usual["lower"])
    assert float(ratio.sel(level=0.95).mean()) < 1
