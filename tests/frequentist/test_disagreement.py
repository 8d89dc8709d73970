"""The reference of disagreement feedback: which interval where, and what it takes from the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.frequentist.bounds import confidence_sets
from bayesgroups.frequentist.disagreement import estimate
from bayesgroups.frequentist.intervals.proportions import wilson
from tests.frequentist.bounds.judgements import crossed, tally_of


def test_rates_known_within_bounds_have_their_confidence_sets() -> None:
    tally = tally_of(crossed(1), critic="critic", item="item")
    found = estimate(tally, seed=3)
    for metric, notion in (("tpr", "equal_opportunity"), ("fpr", "predictive_equality")):
        sets = confidence_sets(tally, notion, seed=3)  # type: ignore[arg-type]
        own = found.sel(metric=[f"{metric}[{label}]" for label in "abc"])
        np.testing.assert_array_equal(own["estimate"], sets["midpoint"])
        np.testing.assert_array_equal(own["lower"], sets["confidence_lower"])
        np.testing.assert_array_equal(own["bound_upper"], sets["upper"])
        assert set(own["interval_kind"].values) == {"bound"}
        assert set(own["interval_method"].values) == {"imbens_manski"}
        assert own["status"].sel(subgroup="f").values.tolist() == ["imputed"] * 3
        assert own["status"].sel(subgroup="x").values.tolist() == ["undefined"] * 3
        assert np.isnan(own["estimate"].sel(subgroup="x")).all()


@pytest.mark.parametrize("options", [{}, {"critic": "critic"}])
def test_rates_known_exactly_have_confidence_intervals(options: dict[str, str]) -> None:
    tally = tally_of(crossed(1), **options)
    found = estimate(tally, seed=3).sel(metric=["acc", "ppv[a]"])
    assert found["interval_kind"].values.tolist() == ["confidence"] * 2
    assert found["interval_method"].values.tolist() == ["bootstrap_normal" if options else "wilson"] * 2
    np.testing.assert_allclose(found["estimate"], tally["estimate"].sel(metric=["acc", "ppv[a]"]))
    own = tally.sel(metric=["acc", "ppv[a]"])
    alone = wilson(own["successes"].values, own["count"].values, 0.95)
    width = found["upper"].sel(level=0.95).values - found["lower"].sel(level=0.95).values
    ratio = width[:, :2] / (alone.upper - alone.lower)[:, :2]
    assert (ratio > 1.2).all() if options else np.allclose(ratio, 1.0)


def test_two_labels_leave_no_bound() -> None:
    rows = crossed(1)
    found = estimate(tally_of(rows[rows["said"] != "c"]))
    assert set(found["interval_kind"].values) == {"confidence"}
    assert set(found["interval_method"].values) == {"wilson"}
    np.testing.assert_array_equal(found["bound_lower"], found["bound_upper"])
    printed = estimate(tally_of(rows[rows["said"] != "c"]), form="published")
    kinds = dict(zip(printed["metric"].values, printed["interval_kind"].values, strict=True))
    assert (kinds["acc"], kinds["ppv[a]"], kinds["fnr[a]"]) == ("confidence", "confidence", "bound")


def test_some_metrics_are_as_they_are_among_all() -> None:
    tally: Any = tally_of(crossed(1))
    some = ["fpr[b]", "acc"]
    xr.testing.assert_equal(estimate(tally.sel(metric=some), seed=1), estimate(tally, seed=1).sel(metric=some))


def test_the_report_shows_both_sides() -> None:
    tally = tally_of(crossed(1))
    report = bg.estimate(tally, bg.DisagreementModel(), seed=1)
    assert (report.attrs["inference"], report.attrs["usable"]) == ("collapsed", 1)
    one = report["estimates"].to_dataset().sel(level=0.95)
    bound = one.sel(metric=[name for name in one["metric"].values if "tpr" in name], subgroup=["f", "m"])
    assert set(bound["interval_kind"].sel(approach="frequentist").values) == {"bound"}
    # The credible interval knows a prior more, and lies within what needs none.
    inside = bound.sel(approach="bayesian"), bound.sel(approach="frequentist")
    assert (inside[0]["lower"] > inside[1]["lower"] - 0.05).all()
    assert (inside[0]["upper"] <= inside[1]["upper"]).all()
