"""Latent effects and coefficients: the same prior whatever the pseudo-data, and independent of all else where these are exact."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy import stats
from scipy.special import expit

from bayesgroups.models.crossed_latents import crossed_latents, shared_columns
from bayesgroups.models.latent_coefficients import latent_coefficients
from bayesgroups.models.latent_effects import PseudoData, latent_effects, pseudo_data
from bayesgroups.models.shared.cells import BinomialCells, NormalCells
from bayesgroups.models.shared.subsets import Subsets

QUICK = Mode(linker="py", optimizer="fast_compile")
ESTIMATE = np.array([[0.9, -0.4, 0.0, 2.0]])
PRECISION = np.array([[1e6, 4.0, 0.0, 0.3]])
DESIGN = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.5, 0.0, -1.0]])
CROSSED = {
    "one attribute": Subsets(("race", "race:sex"), np.array([[0, 0, 1, 1], [0, 1, 2, 3]]), (2, 4), (1, 2)),
    "two": Subsets(
        ("race", "sex", "race:sex"), np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]]), (2, 2, 4), (1, 1, 2)
    ),
}
NOTHING = NormalCells(np.zeros(0, np.intp), np.zeros(0, np.intp), [], np.zeros(0), np.zeros(0))


def coordinates() -> dict[str, Any]:
    return {"metric": ["fnr"], "subgroup": list("abcd"), "effect": list("xyz")}


def test_effects_keep_their_prior() -> None:
    with pm.Model(coords=coordinates()):
        alpha = pm.Normal("alpha", 0.3, 0.5)
        tau = pm.HalfNormal("tau", 0.7)
        effects = latent_effects("z", PRECISION * (ESTIMATE - alpha), PRECISION, tau)
    standard = np.asarray(pm.draw(effects / tau, draws=4000, random_seed=1, mode=QUICK))[:, 0]
    assert all(stats.kstest(column, stats.norm.cdf).pvalue > 1e-3 for column in standard.T)
    assert np.abs(np.corrcoef(standard.T) - np.eye(4)).max() < 0.06


def test_coefficients_keep_their_prior() -> None:
    with pm.Model(coords=coordinates()):
        tau = pm.HalfNormal("tau", 0.7, shape=(1, 3))
        beta = latent_coefficients("z", DESIGN, PRECISION * ESTIMATE, PRECISION, tau, ("metric", "effect"))
    standard = np.asarray(pm.draw(beta / tau, draws=4000, random_seed=1, mode=QUICK))[:, 0]
    assert all(stats.kstest(column, stats.norm.cdf).pvalue > 1e-3 for column in standard.T)
    assert np.abs(np.corrcoef(standard.T) - np.eye(3)).max() < 0.06


@pytest.mark.parametrize("spread", [1e-3, 0.6, 50.0])
def test_given_exact_pseudo_data_effects_are_standard_normal(spread: float, log_density: Callable[..., float]) -> None:
    seen = PRECISION[0] > 0
    with pm.Model(coords=coordinates()) as model:
        alpha, tau = pm.Flat("alpha"), pm.HalfFlat("tau")
        eta = alpha + latent_effects("z", PRECISION * (ESTIMATE - alpha), PRECISION, tau)
        pm.Normal("y", eta[0, seen], PRECISION[0, seen] ** -0.5, observed=ESTIMATE[0, seen])
    z = np.array([[0.7, -1.2, 2.1, 0.4]])
    at, around = (log_density(model, alpha=-0.2, tau=spread, z=value) for value in (z, 0 * z))
    assert at - around == pytest.approx(-0.5 * (z**2).sum(), abs=1e-5)


@pytest.mark.parametrize("spread", [1e-3, 0.6, 50.0])
def test_given_exact_pseudo_data_coefficients_are_standard_normal(
    spread: float, log_density: Callable[..., float]
) -> None:
    precision = np.minimum(PRECISION, 100.0)
    seen = precision[0] > 0
    with pm.Model(coords=coordinates()) as model:
        alpha, tau = pm.Flat("alpha"), pm.HalfFlat("tau", shape=(1, 3))
        score = precision * (ESTIMATE - alpha)
        beta = latent_coefficients("z", DESIGN, score, precision, tau, ("metric", "effect"))
        eta = alpha + beta @ DESIGN.T
        pm.Normal("y", eta[0, seen], precision[0, seen] ** -0.5, observed=ESTIMATE[0, seen])
    z, tau_at = np.array([[0.7, -1.2, 2.1]]), np.array([[spread, 0.3, 2 * spread]])
    at, around = (log_density(model, alpha=-0.2, tau=tau_at, z=value) for value in (z, 0 * z))
    assert at - around == pytest.approx(-0.5 * (z**2).sum(), abs=1e-5)


@pytest.mark.parametrize("who", CROSSED.values(), ids=CROSSED)
def test_given_exact_pseudo_data_crossed_effects_are_standard_normal(
    who: Subsets, log_density: Callable[..., float]
) -> None:
    seen = PRECISION[0] > 0
    with pm.Model(coords={"metric": ["fnr"]}) as model:
        alpha, tau = pm.Flat("alpha"), pm.HalfFlat("tau", shape=(1, len(who.names)))
        data = PseudoData(ESTIMATE, PRECISION)
        dims = ("metric", "direction", "residual")
        eta = alpha + crossed_latents(("z", "z_residual"), who, data, alpha, tau, dims).total
        pm.Normal("y", eta[0, seen], PRECISION[0, seen] ** -0.5, observed=ESTIMATE[0, seen])
    rng = np.random.default_rng(1)
    z, residual = rng.standard_normal((1, len(model.coords["direction"]))), rng.standard_normal((1, 4))
    spread = [[0.3, 0.5, 0.8][: len(who.names)]]
    at, around = (log_density(model, alpha=0.4, tau=spread, z=f * z, z_residual=f * residual) for f in (1.0, 0.0))
    assert at - around == pytest.approx(-0.5 * ((z**2).sum() + (residual**2).sum()), abs=1e-5)


@pytest.mark.parametrize("left_out", [(), (3, 17, 40, 41)], ids=["all combinations", "some"])
def test_columns_have_the_covariance_of_effects(left_out: tuple[int, ...]) -> None:
    levels = np.delete(np.array([*itertools.product(range(5), range(4), range(3))]), left_out, axis=0)
    chosen = [each for size in (1, 2) for each in itertools.combinations(range(3), size)]
    cells = [np.unique(levels[:, each], axis=0, return_inverse=True)[1].ravel() for each in chosen]
    sizes = tuple(int(cell.max()) + 1 for cell in cells)
    every = np.stack([*cells, np.arange(len(levels))])
    who = Subsets(("",) * 7, every, (*sizes, len(levels)), (1, 1, 1, 2, 2, 2, 3))
    x, power = shared_columns(who)
    assert x.shape == (len(levels), 5 * 4 * 3 - 4 * 3 * 2)  # no contrast of three attributes
    assert x.shape[1] < sum(sizes)
    for component, cell in enumerate(cells):
        np.testing.assert_allclose((x * power[:, component]) @ x.T, cell[:, None] == cell, atol=1e-12)


def test_where_directions_are_no_fewer_columns_are_effects() -> None:
    race = CROSSED["one attribute"]
    x, power = shared_columns(race)
    np.testing.assert_array_equal(x, race.cells[0][:, None] == np.arange(2))
    np.testing.assert_array_equal(power, np.ones((2, 1)))
    nested = Subsets(
        ("state", "town", "all"), np.array([[0, 0, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]), (2, 3, 4), (1, 2, 3)
    )
    x, power = shared_columns(nested)
    np.testing.assert_array_equal(x.sum(axis=1), [2, 2, 2, 2])
    np.testing.assert_array_equal(power, [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])


@pytest.mark.parametrize(("successes", "count"), [(0.0, 1000.0), (3.0, 3.0), (40.0, 90.0), (1.25, 7.5)])
def test_pseudo_data_have_the_slope_and_curvature_of_the_counts(successes: float, count: float) -> None:
    """At the mode under the reference population, which is no worse defined without successes or failures."""
    where = np.array([0, 0]), np.array([1, 0])
    cells = BinomialCells(*where, ["fnr | b", "fnr | a"], np.array([successes, 20.0]), np.array([count, 100.0]))
    data = pseudo_data((1, 3), cells, NOTHING, np.array([0.5]))
    pooled = (successes + 20.5) / (count + 101)
    centre = np.log(pooled / (1 - pooled))
    estimate, precision = data.estimate[0, 1], data.precision[0, 1]
    mode = (precision * estimate + centre / 0.25) / (precision + 4)
    rate = expit(mode)
    assert precision == pytest.approx(count * rate * (1 - rate), rel=1e-9)
    assert precision * (estimate - mode) == pytest.approx(successes - count * rate, abs=1e-8 * count)
    assert (data.estimate[0, 2], data.precision[0, 2]) == (0.0, 0.0)


def test_estimates_are_taken_as_they_are() -> None:
    cells = NormalCells(np.array([1]), np.array([0]), ["auc | a"], np.array([0.8]), np.array([0.1]))
    counts = BinomialCells(np.zeros(0, np.intp), np.zeros(0, np.intp), [], np.zeros(0), np.zeros(0))
    data = pseudo_data((2, 2), counts, cells, np.ones(2))
    assert data.estimate.tolist() == [[0, 0], [0.8, 0]]
    assert data.precision == pytest.approx(np.array([[0, 0], [100, 0]]))
    assert data.of([1]).estimate.tolist() == [[0.8, 0]]
