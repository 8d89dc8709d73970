"""One value for all: totals, weights, statuses, nothing at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.frequentist import complete_pooling
from bayesgroups.frequentist.intervals import proportions

MakeTally = Callable[..., xr.Dataset]
SITES = pd.DataFrame({"site": list("abcd")})


def test_a_rate_of_all_rows() -> None:
    counts = bg.tally_from_counts([9, 0, 1, 0], [10, 5, 1, 0], SITES, metric="acc")
    found = complete_pooling.estimate(counts)
    np.testing.assert_allclose(found["estimate"], [[10 / 16] * 4])
    assert found["overall"].values == pytest.approx([10 / 16])
    assert found["interval_method"].values.tolist() == ["wilson"]
    wilson = proportions.wilson(np.array([10.0]), np.array([16.0]), 0.9)
    np.testing.assert_allclose(found["lower"].sel(level=0.9), [[wilson.lower[0]] * 4])
    np.testing.assert_allclose(found["upper"].sel(level=0.9), [[wilson.upper[0]] * 4])
    assert found["status"].values.tolist() == [["ok", "saturated", "single", "imputed"]]
    np.testing.assert_allclose(found["std_error"], np.sqrt(10 / 16 * 6 / 16 / 16))


def test_a_mean_weighted_by_count(make_tally: MakeTally) -> None:
    found = complete_pooling.estimate(make_tally([1.0, 2.0, np.nan], [30, 10, 0], kind="mean", pooled_variance=0.4))
    assert found["estimate"].values.tolist() == [[1.25] * 3]
    assert found["std_error"].values[0, 0] == pytest.approx(0.1)
    assert found["interval_method"].values.tolist() == ["pooled_t"]
    half = stats.t.ppf(0.975, 38) * 0.1
    np.testing.assert_allclose(found["upper"].sel(level=0.95), 1.25 + half)
    singles = complete_pooling.estimate(make_tally([1.0, 2.0], [1, 1], kind="mean"))
    assert singles["interval_method"].values.tolist() == ["pooled_normal"]


def test_published_estimates_weighted_by_inverse_variance() -> None:
    published = bg.tally_from_estimates([1.0, 2.0, np.nan, np.nan], [0.1, 0.3, np.nan, np.nan], SITES)
    found = complete_pooling.estimate(published)
    np.testing.assert_allclose(found["estimate"], 1.25)
    np.testing.assert_allclose(found["std_error"], np.sqrt(0.075))
    np.testing.assert_allclose(found["upper"].sel(level=0.95), 1.25 + 1.959964 * np.sqrt(0.075), atol=1e-6)
    known = bg.tally_from_estimates([1.0, 2.0, 3.0, np.nan], [0.0, 0.3, 0.0, np.nan], SITES)
    exact = complete_pooling.estimate(known)
    assert exact["estimate"].values.tolist() == [[2.0] * 4]
    assert exact["status"].values.tolist() == [["degenerate"] * 4]


def test_tiny_variances_do_not_overflow() -> None:
    published = bg.tally_from_estimates([1.0, 2.0, 3.0, 4.0], [1e-310, 1e-300, 1.0, 1e300], SITES)
    np.testing.assert_allclose(complete_pooling.estimate(published)["estimate"], 1.0)


@pytest.mark.parametrize("kind", ["rate", "mean", "estimate"])
def test_nothing_to_pool(make_tally: MakeTally, kind: str) -> None:
    found = complete_pooling.estimate(make_tally([np.nan, np.nan], [0, 0], kind=kind))
    for name in ("estimate", "std_error", "lower", "upper", "overall"):
        assert np.isnan(found[name]).all()
    assert found["status"].values.tolist() == [["undefined", "undefined"]]


def test_it_is_the_limit_of_partial_pooling(make_tally: MakeTally) -> None:
    """Where subgroups do not differ, empirical Bayes with counts for weights is the weighted mean."""
    from bayesgroups.frequentist import partial_pooling

    tally = make_tally([0.3, 0.31, 0.29, 0.3], [20, 10, 30, 5], kind="mean")
    shrunk = partial_pooling.estimate(tally, interval="plug_in")
    assert shrunk["tau"].values.tolist() == [0.0]
    np.testing.assert_allclose(shrunk["estimate"], complete_pooling.estimate(tally)["estimate"])
