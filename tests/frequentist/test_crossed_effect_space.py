"""Crossed effects of many groups by their effects: the same numbers as from matrices of groups, on less memory."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.frequentist import crossed_effects
from bayesgroups.frequentist.crossed import effect_space, marginal_likelihood, mixture, sure
from bayesgroups.frequentist.crossed.effect_space import EffectSpace, components_of
from bayesgroups.frequentist.crossed.families import family
from bayesgroups.frequentist.crossed.joint_fit import Choice, Method

LEVELS = list(itertools.product(range(3), range(2), range(4)))
FAMILY = family(LEVELS, ["a", "b", "c"], order=2)
ALL, APART = EffectSpace.of(FAMILY), EffectSpace.of(FAMILY.without("shared"))
RNG = np.random.default_rng(4)
Z = RNG.normal(0.3, 1, len(LEVELS))
U = np.where(np.arange(len(LEVELS)) % 7 == 3, 0.0, RNG.gamma(2, 2, len(LEVELS)))
POINTS = [RNG.gamma(0.7, 0.5, len(FAMILY.names)), np.where(np.arange(len(FAMILY.names)) % 2, 0.0, 0.4), np.zeros(8)]


@pytest.mark.parametrize("variances", POINTS, ids=["all", "some", "none"])
def test_objectives_are_those_of_the_matrices(variances: np.ndarray) -> None:
    dense, apart = FAMILY.agreement(), FAMILY.without("shared").agreement()
    for ours, theirs in (
        (sure.risk(Z, U, ALL, variances, centre=0.1), sure.risk(Z, U, dense, variances, centre=0.1)),
        (
            marginal_likelihood.deviance(Z, U, APART, variances[1:]),
            marginal_likelihood.deviance(Z, U, apart, variances[1:]),
        ),
    ):
        assert ours[0] == pytest.approx(theirs[0], rel=1e-10)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        marginal_likelihood.information(U, APART, variances[1:]),
        marginal_likelihood.information(U, apart, variances[1:]),
        rtol=1e-8,
        atol=1e-9,
    )
    np.testing.assert_allclose(mixture.typical_noise(U, ALL), mixture.typical_noise(U, dense), rtol=1e-12)


@pytest.mark.parametrize("method", ["suremap", "marginal_likelihood"])
@pytest.mark.parametrize("interval", ["corrected", "plug_in"])
def test_answers_are_those_of_the_matrices(method: Method, interval: Choice, monkeypatch: pytest.MonkeyPatch) -> None:
    variance = np.where(U > 0, 1 / np.where(U > 0, U, 1), np.nan)
    table = pd.DataFrame(LEVELS, columns=["a", "b", "c"]).astype(str)
    tally = bg.tally_from_estimates(np.where(U > 0, Z, np.nan), variance, table)
    theirs = crossed_effects.estimate(tally, method=method, interval=interval, order=1)
    monkeypatch.setattr(effect_space, "MIN_GROUPS", 8)
    monkeypatch.setattr(effect_space, "GROUPS_PER_EFFECT", 1)
    assert isinstance(components_of(family(LEVELS, ["a", "b", "c"], 1), joint=False), EffectSpace)
    ours = crossed_effects.estimate(tally, method=method, interval=interval, order=1)
    for name in ("estimate", "std_error", "lower", "upper", "overall", "tau", "risk", "component_sd"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-3, atol=2e-4, err_msg=name)


def test_tasks_and_few_groups_keep_their_matrices() -> None:
    assert isinstance(components_of(FAMILY, joint=False), np.ndarray)
    wide = family(list(itertools.product(range(10), range(5), range(6))), ["a", "b", "c"], order=1)
    assert isinstance(components_of(wide, joint=False), EffectSpace)
    assert isinstance(components_of(wide, joint=True), np.ndarray)


def test_thousands_of_groups_need_no_matrix_of_groups() -> None:
    """A matrix of 8,000 groups alone would take .5 GB, and one factor of it minutes."""
    import tracemalloc

    who = pd.DataFrame(itertools.product(range(20), range(20), range(20)), columns=list("abc")).astype(str)
    rng = np.random.default_rng(2)
    effects = sum(rng.normal(0, 0.3, 20)[who[name].astype(int)] for name in who)
    tally = bg.tally_from_estimates(effects + rng.normal(0, 0.2, len(who)), np.full(len(who), 0.04), who)
    tracemalloc.start()
    answer = crossed_effects.estimate(tally, order=1, interval="plug_in").isel(metric=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    components = answer["component_sd"].values
    assert components[1:4] == pytest.approx(np.full(3, 0.3), abs=0.12)
    assert float(np.sqrt(((answer["estimate"].values - effects) ** 2).mean())) < 0.03
