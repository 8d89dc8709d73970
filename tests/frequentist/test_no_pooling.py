"""The standard estimate: which interval when, what is refused, labels and statuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import no_pooling
from bayesgroups.frequentist.intervals import means, proportions
from bayesgroups.report.levels import LEVELS

MakeTally = Callable[..., xr.Dataset]


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([9, 0, 1, 3, 0], [10, 5, 1, 25, 0], pd.DataFrame({"site": list("abcde")}), metric="acc")


@pytest.fixture
def losses() -> xr.Dataset:
    frame = pd.DataFrame({"site": list("aaaaabb"), "wer": [0.12, 0.30, 0.05, 0.22, 0.41, 0.5, 0.1]})
    return bg.tally(frame, by=["site"], metrics=["mean"], loss="wer")


def test_shape_and_labels(rates: xr.Dataset) -> None:
    found = no_pooling.estimate(rates)
    assert found["lower"].dims == found["upper"].dims == ("metric", "subgroup", "level")
    assert found["estimate"].dims == found["std_error"].dims == found["status"].dims == ("metric", "subgroup")
    assert found["level"].values.tolist() == list(LEVELS)
    assert found["site"].values.tolist() == list("abcde")
    assert found["interval_kind"].values.tolist() == ["confidence"]
    assert found["status"].values.ravel().tolist() == ["ok", "saturated", "single", "ok", "undefined"]
    xr.testing.assert_equal(found["estimate"].drop_vars("site"), rates["estimate"].drop_vars("site"))


def test_wilson_for_rates(rates: xr.Dataset) -> None:
    found = no_pooling.estimate(rates).sel(metric="acc", level=0.95)
    assert found["interval_method"] == "wilson"
    np.testing.assert_allclose(found["lower"], [0.5958, 0, 0.2065, 0.0417, np.nan], atol=5.1e-5)
    np.testing.assert_allclose(found["upper"], [0.9821, 0.4345, 1, 0.2996, np.nan], atol=5.1e-5)
    np.testing.assert_allclose(found["std_error"], np.sqrt(rates["sampling_variance"].values[0]))


@pytest.mark.parametrize("interval", ["jeffreys", "clopper_pearson", "wald", "percentile"])
def test_intervals_of_rates(rates: xr.Dataset, interval: no_pooling.Choice) -> None:
    found = no_pooling.estimate(rates, interval=interval)
    expected = getattr(proportions, interval)(rates["successes"].values, rates["count"].values, 0.8)
    np.testing.assert_array_equal(found["lower"].sel(level=0.8), expected.lower)
    np.testing.assert_array_equal(found["upper"].sel(level=0.8), expected.upper)
    assert found["interval_method"].values.tolist() == [interval]
    flat = interval in ("wald", "percentile")
    assert found["status"].values[0, 1] == ("degenerate" if flat else "saturated")


def test_pooled_t_for_means(losses: xr.Dataset) -> None:
    found = no_pooling.estimate(losses)
    assert found["interval_method"].values.tolist() == ["pooled_t"]
    expected = means.pooled_t(losses["estimate"].values, losses["sampling_variance"].values, 5.0, 0.95)
    np.testing.assert_allclose(found["upper"].sel(level=0.95), expected.upper)


def test_intervals_of_means(losses: xr.Dataset) -> None:
    own = no_pooling.estimate(losses, interval="t").sel(metric="mean", subgroup="a", level=0.95)
    assert (float(own["lower"]), float(own["upper"])) == pytest.approx((0.042872, 0.397128), abs=1e-6)
    assert float(own["std_error"]) == pytest.approx(np.sqrt(0.004070), abs=1e-5)
    separate = no_pooling.estimate(losses, interval="separate_normal").sel(metric="mean", subgroup="a", level=0.95)
    assert float(separate["std_error"]) == pytest.approx(np.sqrt(0.003256), abs=1e-5)
    assert float(separate["upper"]) == pytest.approx(0.22 + 1.959964 * float(separate["std_error"]), abs=1e-6)
    pooled = no_pooling.estimate(losses, interval="pooled_normal").sel(metric="mean", subgroup="a", level=0.95)
    assert float(pooled["upper"]) == pytest.approx(0.22 + 1.959964 * float(pooled["std_error"]), abs=1e-6)


def test_pooled_normal_where_there_are_no_degrees_of_freedom(make_tally: MakeTally) -> None:
    table = pd.DataFrame({"site": ["a", "b"]})
    published = bg.tally_from_estimates([0.2, 0.4], [0.01, 0.04], table)
    found = no_pooling.estimate(published).sel(level=0.95)
    assert found["interval_method"].values.tolist() == ["pooled_normal"]
    np.testing.assert_allclose(found["upper"], [[0.2 + 0.1959964, 0.4 + 0.3919928]], atol=1e-6)
    singles = make_tally([0.2, 0.4], [1, 1], kind="mean")
    assert no_pooling.estimate(singles)["interval_method"].values.tolist() == ["pooled_normal"]
    assert np.isnan(no_pooling.estimate(singles, interval="pooled_t")["upper"]).all()


def test_metrics_of_several_kinds_in_one_call(make_tally: MakeTally) -> None:
    rate = make_tally([0.2, 0.5, np.nan], [10, 4, 0], metric="fnr")
    mean = make_tally([1.2, 2.5, 0.3], [10, 4, 3], metric="wer", kind="mean")
    found = no_pooling.estimate(xr.concat([rate, mean], dim="metric", data_vars="all"))
    assert found["interval_method"].values.tolist() == ["wilson", "pooled_t"]
    assert np.isnan(found["lower"].values[0, 2]).all()
    alone = no_pooling.estimate(mean)
    np.testing.assert_array_equal(found["lower"].values[1], alone["lower"].values[0])


def test_degenerate_where_nothing_varies(make_tally: MakeTally) -> None:
    found = no_pooling.estimate(make_tally([0.0, 0.0], [5, 9], kind="mean", pooled_variance=0.0))
    assert found["status"].values.tolist() == [["degenerate", "degenerate"]]


def test_unknown_intervals_are_refused(rates: xr.Dataset) -> None:
    with pytest.raises(InputError, match=r"interval='wilsn' is not one of .*; did you mean 'wilson'\?"):
        no_pooling.estimate(rates, interval="wilsn")  # type: ignore[arg-type]


@pytest.mark.parametrize("interval", ["wilson", "jeffreys", "clopper_pearson", "wald", "percentile"])
def test_intervals_of_rates_are_refused_for_means(losses: xr.Dataset, interval: no_pooling.Choice) -> None:
    message = f"metric 'mean' has no interval '{interval}', because its kind is 'mean'; use 'auto' or one of"
    with pytest.raises(InputError, match=message):
        no_pooling.estimate(losses, interval=interval)


@pytest.mark.parametrize("interval", ["t", "pooled_t"])
def test_intervals_of_rows_are_refused_for_published_estimates(interval: no_pooling.Choice) -> None:
    published = bg.tally_from_estimates([0.2, 0.4], [0.01, 0.04], pd.DataFrame({"site": ["a", "b"]}))
    with pytest.raises(InputError, match=f"metric 'estimate' has no interval '{interval}'.*'separate_normal'"):
        no_pooling.estimate(published, interval=interval)


def test_percentile_names_the_metric_with_weights(make_tally: MakeTally) -> None:
    with pytest.raises(InputError, match=r"metric 'fnr': the percentile interval needs whole counts, got 1\.3"):
        no_pooling.estimate(make_tally([0.2, 0.5], [6.5, 4]), interval="percentile")
