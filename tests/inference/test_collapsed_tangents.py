"""Draws under many tangents against numerical quadrature, and every loop of the fast draws with an end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import logit_normal, tangents

CASES = [
    (0.0, 0.0, 1.0, 2.0),
    (1.0, 1.0, 0.0, 31.0),
    (3.0, 10.0, -1.0, 0.5),
    (0.0, 1e9, 0.0, 31.0),
    (0.0, 1e9, -5.0, 0.01),
    (1e12, 1e12, 0.0, 3.0),
    (1e15, 1e15, 0.0, 31.0),
    (5e14, 1e15, 0.0, 50.0),
    (2.0, 1e12, -20.0, 1e-8),
]


def quantile_levels(eta: FloatArray, k: float, n: float, alpha: float, tau: float) -> FloatArray:
    """Distribution function at draws, by a fine sum around them in differences from the middle one."""
    middle, reach = float(np.median(eta)), float(np.ptp(eta))
    away = np.linspace(-2 * reach, 2 * reach, 100_001)
    smaller, sign, linear = (expit(middle), 1.0, k) if middle < 0 else (expit(-middle), -1.0, k - n)
    with np.errstate(over="ignore"):
        curved = n * np.log1p(smaller * np.expm1(sign * away))
    log = linear * away - curved - away * (0.5 * away + middle - alpha) / tau**2
    mass = np.cumsum(np.exp(log - log.max()))
    return np.asarray(np.interp(eta - middle, away, mass / mass[-1]), dtype=np.float64)


@pytest.mark.parametrize(("k", "n", "alpha", "tau"), CASES)
def test_draws_under_tangents_are_those_of_the_density(k: float, n: float, alpha: float, tau: float) -> None:
    entries = np.ones(4000)
    eta = tangents.draw(k * entries, n * entries, alpha * entries, tau * entries, np.random.default_rng(7))
    assert stats.kstest(quantile_levels(eta, k, n, alpha, tau), "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("k", "n", "alpha", "tau"), CASES)
def test_the_fast_draws_are_those_of_the_density_too(k: float, n: float, alpha: float, tau: float) -> None:
    shape = (4000, 1)
    rng = np.random.default_rng(8)
    eta = logit_normal.draw(np.array([k]), np.array([n]), np.full(shape, alpha), np.full(shape, tau), rng)[:, 0]
    assert stats.kstest(quantile_levels(eta, k, n, alpha, tau), "uniform").pvalue > 1e-3


def test_what_rejection_leaves_is_drawn_under_tangents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any rounds of rejection every draw that was not accepted at once comes from there."""
    monkeypatch.setattr(logit_normal, "ROUNDS", 0)
    for k, n, tau in ((3.0, 10.0, 0.3), (30.0, 100.0, 2.0)):
        shape = (4000, 1)
        eta = logit_normal.draw(
            np.array([k]), np.array([n]), np.full(shape, -1.0), np.full(shape, tau), np.random.default_rng(9)
        )[:, 0]
        assert stats.kstest(quantile_levels(eta, k, n, -1.0, tau), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("estimator", [bg.CrossedEffects(), bg.CrossedEffects(tau_scale=31.0), bg.PartialPooling()])
def test_one_row_beside_a_billion_has_an_answer(estimator: bg.CrossedEffects | bg.PartialPooling) -> None:
    tally = bg.tally_from_counts([1, 0], [1, 1e9], pd.DataFrame({"site": ["a", "b"]}))
    mu = bg.estimate(tally, estimator, seed=1, inference="collapsed")["posterior"].to_dataset()["mu"]
    assert np.isfinite(mu.values).all()
    assert float(mu.sel(subgroup="b").max()) < 1e-6


@pytest.mark.parametrize("scale", ["tau_scale", "overall_scale"])
def test_scales_that_are_none_of_logits_are_refused(scale: str) -> None:
    tally = bg.tally_from_counts([1e15, 0, 5e14], [1e15] * 3, pd.DataFrame({"site": list("abc")}))
    with pytest.raises(
        bg.InputError, match=rf"PartialPooling: {scale}=1e\+06 is a scale of logits, where 5 spans rates"
    ):
        bg.estimate(tally, bg.PartialPooling(**{scale: 1e6}), seed=1)  # type: ignore[arg-type]
    losses = bg.tally_from_estimates([1e6, 3e6, 2e6], [1e10] * 3, pd.DataFrame({"site": list("abc")}))
    assert bg.estimate(losses, bg.PartialPooling(**{scale: 1e6}), seed=1).attrs["usable"] == 1  # type: ignore[arg-type]


def test_the_same_scales_are_refused_by_the_other_words_of_logits() -> None:
    tally = bg.tally_from_counts([1, 3], [4, 9], pd.DataFrame({"site": ["a", "b"]}))
    with pytest.raises(bg.InputError, match="CrossedEffects: tau_scale=1000 is a scale of logits"):
        bg.estimate(tally, bg.CrossedEffects(tau_scale=1000.0), seed=1)
    with pytest.raises(ValueError, match="tau_scale=1000 is a scale of logits"):
        bg.CrossedEffects(tau_scale=1000.0).model(tally)
    with pytest.raises(bg.InputError, match="ConfusionModel: tau_scale=1000 is a scale of logits"):
        bg.ConfusionModel(tau_scale=1000.0)
    with pytest.raises(bg.InputError, match="DisagreementModel: tau_scale=1000 is a scale of logits"):
        bg.DisagreementModel(tau_scale=1000.0)


def test_largest_counts_end_with_a_right_answer_or_an_honest_one() -> None:
    """Counts of 1e15 at rates of 0, a half and 1; before, the rate of the first one was drawn as 0.2."""
    tally = bg.tally_from_counts([1e15, 0, 5e14, 3], [1e15] * 4, pd.DataFrame({"site": list("abcd")}))
    report = bg.estimate(tally, bg.PartialPooling(tau_scale=50.0), seed=1, inference="collapsed")
    estimate = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian").values[0]
    assert estimate == pytest.approx([1.0, 0.0, 0.5, 3e-15], abs=1e-6)
