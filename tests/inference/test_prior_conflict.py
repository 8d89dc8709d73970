"""Prior-data conflict: the prior probability of a spread against simulation, and every word that has the check."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.inference.prior_conflict import CONFLICT, Family, SpreadPrior, conflict_check

SITES = pd.DataFrame({"site": list("abcdef")})


@pytest.mark.parametrize("family", ["half_t", "half_normal"])
@pytest.mark.parametrize("cells", [2, 3, 12])
def test_the_probability_of_one_component_is_that_of_simulation(family: Family, cells: int) -> None:
    rng = np.random.default_rng(cells)
    tau = 0.25 * np.abs(rng.standard_t(3, 400_000) if family == "half_t" else rng.standard_normal(400_000))
    spread = tau * rng.standard_normal((cells, 400_000)).std(axis=0)
    for limit in (0.05, 0.3, 1.0):
        share = float((spread > limit).mean())
        found = SpreadPrior(family, (0.25,), (cells,)).exceeds(limit)
        assert found == pytest.approx(share, abs=5 * np.sqrt(share / 400_000) + 1e-5)


def test_of_several_components_it_is_a_bound() -> None:
    rng = np.random.default_rng(1)
    tau = 0.25 * np.abs(rng.standard_t(3, (3, 400_000)))
    a, b = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    values = np.zeros((12, 400_000))
    for k, (cell, size) in enumerate(((a, 4), (b, 3), (np.arange(12), 12))):
        values += tau[k] * rng.standard_normal((size, 400_000))[cell]
    prior = SpreadPrior("half_t", (0.25,) * 3, (4, 3, 12))
    for limit in (0.5, 2.0, 5.0):
        share = float((values.std(axis=0) > limit).mean())
        assert share * 0.98 < prior.exceeds(limit) < 12 * share + 1e-3


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.01, 100), st.floats(0.01, 10), st.integers(2, 50), st.sampled_from(["half_t", "half_normal", "r2d2"])
)
def test_larger_spreads_are_less_likely_and_units_do_not_matter(
    spread: float, scale: float, cells: int, family: Family
) -> None:
    prior = SpreadPrior(family, (scale, scale), (cells, cells))
    found = prior.exceeds(spread)
    assert 0 <= prior.exceeds(2 * spread) <= found <= 1
    assert SpreadPrior(family, (3 * scale,) * 2, (cells,) * 2).exceeds(3 * spread) == pytest.approx(
        found, rel=0.02, abs=1e-12
    )


def test_one_subgroup_is_in_no_conflict() -> None:
    assert conflict_check(
        "fnr", np.array([[8.0], [9.0]]), SpreadPrior("half_t", (0.1,), (1,)), unit="", setting="s"
    ).passed


@pytest.mark.parametrize(
    ("estimator", "engine"),
    [
        (bg.PartialPooling(tau_scale=0.05), "collapsed"),
        (bg.CrossedEffects(prior="half_normal", tau_scale=0.05), "collapsed"),
        (bg.CrossedEffects(prior="half_t", tau_scale=0.001), "collapsed"),
        (bg.CrossedEffects(prior="r2d2", tau_scale=0.001), "hamiltonian"),
    ],
)
def test_differences_that_the_prior_excludes_make_a_report_unusable(estimator: bg.PartialPooling, engine: str) -> None:
    """Whose exact answer stands: NUTS is not asked for the same."""
    tally = bg.tally_from_counts([10, 500, 990, 200, 800, 50], [1000] * 6, SITES, metric="fnr")
    report = bg.estimate(tally, estimator, seed=1)
    checks = report["diagnostics"].to_dataset().sel(check="fnr: prior-data conflict")
    assert (checks["passed"].item(), report.attrs["usable"], report.attrs["inference"]) == (0, 0, engine)
    assert float(checks["value"]) < CONFLICT
    assert re.search(r"by a standard deviation of (2\.\d|3) logits, is", str(checks["sentence"].item()))
    wider = bg.estimate(tally, type(estimator)(tau_scale=2.5), seed=1)
    assert wider.attrs["usable"] == 1


def test_the_confusion_model_is_held_to_its_factors() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat(list("abcd"), 2000)
    decision = (rng.random(8000) < np.repeat([0.001, 0.999, 0.5, 0.999], 2000)).astype(int)
    rows = pd.DataFrame({"g": group, "h": np.tile(["x", "y"], 4000), "d": decision, "y": rng.integers(0, 2, 8000)})
    tally = bg.tally(rows, ["g", "h"], ["sel", "fnr"], y_true="y", y_pred="d", confusion=True)
    for scale, passed in ((None, 1), (0.05, 0)):
        report = bg.estimate(tally, bg.ConfusionModel(tau_scale=scale), seed=1, inference="collapsed")
        checks = report["diagnostics"].to_dataset()
        for metric in ("sel", "fnr"):
            assert checks["passed"].sel(check=f"{metric}: prior-data conflict").item() == passed


def test_what_covariates_explain_is_in_no_conflict() -> None:
    rng = np.random.default_rng(2)
    site = np.repeat(np.arange(8), 300)
    x = np.repeat(np.linspace(-3, 3, 8), 300)
    rows = pd.DataFrame({"site": site.astype(str), "x": x, "loss": 0.4 * x + 0.1 * rng.standard_normal(2400)})
    tally = bg.tally(rows, ["site"], ["mean"], loss="loss", features=["x"])
    with_x, without = (
        bg.estimate(tally, bg.CrossedEffects(covariates=covariates, prior="half_normal", tau_scale=0.1), seed=1)
        for covariates in (("x",), ())
    )
    values = [
        float(one["diagnostics"].to_dataset()["value"].sel(check="mean: prior-data conflict"))
        for one in (with_x, without)
    ]
    assert values[0] > 1e-2 > CONFLICT > values[1]
