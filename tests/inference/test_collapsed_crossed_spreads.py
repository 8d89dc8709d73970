"""Spreads far beyond the prior's scale: no wall in the exact engine, other modes, and a bound that the gate sees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.models.shared.component_scales import LOGIT_SCALE, OVERALL_LOGIT
from tests.recovery.studies import quadrature

SITES = pd.DataFrame({"site": [f"s{i:02d}" for i in range(12)]})


@pytest.mark.parametrize("family", ["half_t", "half_normal"])
@pytest.mark.parametrize("spread", [0.01, 0.7, 5.0, 20.0, 50.0])
def test_twelve_subgroups_agree_with_quadrature_however_far_apart(family: str, spread: float) -> None:
    """At 20 standard deviations of a row the engine had 7.7 for 23.8, on a wall of six scales."""
    rng = np.random.default_rng(3)
    v = rng.uniform(0.005, 0.05, 12)
    y = spread * rng.standard_normal(12) + np.sqrt(v) * rng.standard_normal(12)
    predictor = Predictor(np.arange(12)[None], np.empty((12, 0)), 10.0, 1.0)
    found = engine.gaussian(predictor, y, v, Prior(family, (0.09,)), rng, draws=4000)  # type: ignore[arg-type]
    known = quadrature.means(y, v, overall_scale=10.0, tau_scale=0.09, family=family)  # type: ignore[arg-type]
    log_tau = np.log(found.tau[:, 0])
    assert found.k_hat < importance.USABLE
    assert log_tau.mean() == pytest.approx(known.log_tau, abs=4 * known.log_tau_sd / np.sqrt(2500))
    assert log_tau.std() == pytest.approx(known.log_tau_sd, rel=0.08)
    assert np.abs(found.eta.mean(axis=0) - known.eta).max() < 4 * found.eta.std(axis=0).max() / np.sqrt(2500)


@pytest.mark.parametrize(("own_effects", "known"), [("floored", 0.125), ("fixed", 0.125), ("learned", 0.0)])
def test_tau_of_a_report_holds_the_known_part_of_residual_effects(own_effects: Any, known: float) -> None:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "fm"], columns=["race", "sex"])
    tally = bg.tally_from_counts([3, 8, 5, 9, 2, 0], [20, 60, 30, 41, 9, 0], who)
    report = bg.estimate(tally, bg.CrossedEffects(own_effects=own_effects), seed=1, groups=["prior"])
    for group in ("posterior", "prior"):
        learned = (report[group]["component_sd"] ** 2).sum("component")
        assert (report[group]["tau"] ** 2).values == pytest.approx((learned + known**2).values)


@pytest.mark.slow
def test_collinear_attributes_with_small_scales_have_no_wall_together() -> None:
    """Two attributes that cut alike, and a scale a hundred times smaller than the differences: they are answered as they are."""
    who = SITES.assign(code=SITES["site"].str.upper())
    k = np.array([10, 90] * 6)
    tally = bg.tally_from_counts(k, [100] * 12, who)
    report = bg.estimate(tally, bg.CrossedEffects(tau_scale=0.02), seed=1, inference="collapsed")
    estimate = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian").values[0]
    answered = report["constant_data"].to_dataset()["count"].values[0] > 0
    assert estimate[answered] == pytest.approx(k / 100, abs=0.02)
    assert report.attrs["usable"] == 1


def test_every_mode_far_out_is_looked_at() -> None:
    """Two parameters explain the data equally well, each alone; one start would find one of them."""

    def log_likelihood(u: FloatArray) -> FloatArray:
        return -5 * (np.maximum(u[:, 0], u[:, 1]) - 5) ** 2

    found = importance.sample(log_likelihood, 2, np.random.default_rng(1))
    weight = np.exp(found.log_weight - found.log_weight.max())
    first = np.average(found.u[:, 0] > found.u[:, 1], weights=weight)
    assert first == pytest.approx(0.5, abs=0.05)
    assert found.k_hat < importance.GOOD
    assert len(importance.starts(log_likelihood, 2)) >= 2


def test_a_start_near_the_middle_is_the_only_one() -> None:
    start = np.array([0.2, -0.1])
    found = importance.starts(lambda u: -0.5 * ((u - 1) ** 2).sum(axis=1), 2, start)
    assert [each.tolist() for each in found] == [[0.2, -0.1]]


def crossed() -> tuple[Predictor, FloatArray, FloatArray]:
    """240 subgroups with between 2 and a million rows."""
    rng = np.random.default_rng(0)
    a, b, c = (each.ravel() for each in np.meshgrid(np.arange(10), np.arange(6), np.arange(4), indexing="ij"))
    cells = np.stack([a, b, c, a * 6 + b, np.arange(240)])
    v = 1 / np.exp(rng.uniform(np.log(2), np.log(1e6), 240))
    return Predictor(cells, np.empty((240, 0)), 4.0, 0.5), v, rng.standard_normal(240)


@pytest.mark.parametrize("spread", [0.01, 1.0, 8.0])
def test_the_space_of_effects_resolves_every_spread(spread: float) -> None:
    predictor, v, z = crossed()
    rng = np.random.default_rng(5)
    y = spread * z + np.sqrt(v) * rng.standard_normal(240)
    tau = spread * np.exp(0.5 * rng.standard_normal((20, 5)))
    prior = Prior("half_t", (0.09,) * 5)
    effects = EffectSpace(predictor, y, v, prior.largest).log_marginal(tau)
    subgroups = SubgroupSpace(predictor, y, v).log_marginal(tau)
    assert np.ptp(effects - subgroups) < 1e-3


def test_mass_near_the_bound_of_that_space_fails_the_gate() -> None:
    predictor, v, z = crossed()
    prior = Prior("half_t", (0.09,) * 5)
    for spread, share in ((1.0, 0.0), (prior.largest, 0.9)):
        found = engine.gaussian(predictor, spread * z, v, prior, np.random.default_rng(1), draws=400)
        assert found.at_bound == pytest.approx(share, abs=0.1)


def test_no_space_of_subgroups_has_a_bound() -> None:
    predictor, v, z = crossed()
    few = replace(predictor, cells=predictor.cells[:, :40], covariates=predictor.covariates[:40])
    found = engine.gaussian(
        few, 1e4 * z[:40], v[:40], Prior("half_t", (0.09,) * 5), np.random.default_rng(1), draws=400
    )
    assert found.at_bound == 0
    assert np.median(found.tau[:, -1]) > 3e3


@pytest.mark.parametrize("seed", [2, 14, 15])
def test_a_few_rows_of_one_attribute_keep_the_tail_of_the_prior(seed: int) -> None:
    """Weighted draws of these rates were up to nine errors off, with weights that seemed good."""
    k, n = np.array([0, 2, 0, 1, 2, 0, 0, 1, 0, 4, 0, 1.0]), np.array([2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 3, 2.0])
    report = bg.estimate(bg.tally_from_counts(k, n, SITES), bg.CrossedEffects(), seed=seed)
    eta = logit(report["posterior"].to_dataset()["mu"].values.reshape(-1, 12))
    expected = quadrature.rates(k, n, overall_scale=OVERALL_LOGIT, tau_scale=LOGIT_SCALE, family="half_t").eta
    assert (np.abs(eta.mean(axis=0) - expected) / (eta.std(axis=0) / np.sqrt(len(eta)))).max() < 4.5
    assert report.attrs["inference"] == "collapsed"
