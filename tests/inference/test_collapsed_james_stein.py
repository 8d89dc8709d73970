"""The exact engine with flat priors: closed forms, James and Stein's factor, sums done another way, propriety."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate, stats

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import bock
from bayesgroups.inference.collapsed import gaussian, james_stein

Z = np.array([0.20, 0.25, 0.40, 0.10, 0.75])
V = 0.16 / np.array([50.0, 30, 15, 8, 4])
DRAWS = 100_000
MAX_STANDARD_ERRORS = 4.5


def flat(z: FloatArray, v: FloatArray, *, draws: int = DRAWS, centre: float = 0.5) -> gaussian.GaussianDraws:
    return gaussian.sample(
        z, v, np.random.default_rng(1), draws=draws, centre=centre, overall_scale=0.5, tau_scale=0.25, flat=True
    )


def published(z: FloatArray, v: FloatArray) -> xr.Dataset:
    return bg.tally_from_estimates(z, v, pd.DataFrame({"site": [f"s{i}" for i in range(len(z))]}), metric="mae")


def share(q: float, k: int) -> float:
    """Posterior mean of v / (v + tau^2) for k estimates of equal variance v."""
    return (k - 3) / q * float(stats.chi2.cdf(q, k - 1) / stats.chi2.cdf(q, k - 3))


@pytest.mark.parametrize(("size", "spread"), [(4, 1.5), (5, 1.0), (12, 0.3), (12, 1.0), (40, 1.5)])
def test_equal_variances_have_a_closed_form(size: int, spread: float) -> None:
    z = np.random.default_rng(size).normal(0, np.sqrt(1 + spread**2), size)
    q = float(((z - z.mean()) ** 2).sum())
    found = flat(z, np.ones(size), draws=40_000, centre=0.0)
    expected = z + share(q, size) * (z.mean() - z)
    error = found.mu.std(axis=0) / np.sqrt(len(found.mu))
    assert (np.abs(found.mu.mean(axis=0) - expected) < MAX_STANDARD_ERRORS * error).all()
    shrink = 1 / (1 + found.tau**2)
    error = shrink.std() / np.sqrt(len(shrink))
    assert abs(shrink.mean() - share(q, size)) < MAX_STANDARD_ERRORS * error


def test_many_subgroups_have_the_factor_of_james_and_stein() -> None:
    """The draws have the error of a mean of four thousand; the factors themselves differ by less than 1e-6."""
    z = np.random.default_rng(1).normal(3.0, np.sqrt(1.5), 200)
    found = james_stein.sample(published(z, np.ones(200)), seed=1)
    frequentist = bock.fit(z, np.ones(200))
    assert 1 - share(float(frequentist.q), 200) == pytest.approx(float(frequentist.factor), abs=1e-3)
    mu = found.draws["mu"].values.reshape(-1, 200)
    error = mu.std(axis=0) / np.sqrt(len(mu))
    assert (np.abs(mu.mean(axis=0) - frequentist.estimate) < MAX_STANDARD_ERRORS * error + 1e-3).all()


def test_the_share_never_reaches_one() -> None:
    """Where James and Stein cut off, the posterior mean stops at (K - 3) / (K - 1)."""
    found = flat(np.full(9, 0.3), np.full(9, 0.01), draws=40_000)
    shrink = 0.01 / (0.01 + found.tau**2)
    assert shrink.mean() == pytest.approx(6 / 8, abs=MAX_STANDARD_ERRORS * shrink.std() / 200)


def test_sums_done_another_way() -> None:
    """Over a lattice of (overall, tau), with no integral in closed form; tau far out falls as tau^-3 and is kept."""
    overall = np.sinh(np.linspace(-9, 9, 3001))[:, None] * 0.05 + 0.3
    tau = np.sinh((np.arange(1500) + 0.5)[None] / 1500 * 9) * 0.05
    log = np.log(tau) + np.log(np.hypot(1, (overall - 0.3) / 0.05)) + np.log(np.hypot(1, tau / 0.05))
    for estimate, variance in zip(Z, V, strict=True):
        log = log + stats.norm.logpdf(estimate, overall, np.sqrt(variance + tau**2))
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    found = flat(Z, V)
    for a in range(5):
        own = tau**2 / (tau**2 + V[a])
        first = float((mass * (overall + own * (Z[a] - overall))).sum())
        second = float((mass * (own * V[a] + (overall + own * (Z[a] - overall) - first) ** 2)).sum())
        assert abs(found.mu[:, a].mean() - first) < MAX_STANDARD_ERRORS * np.sqrt(second / DRAWS) + 1e-4
        assert found.mu[:, a].std() == pytest.approx(np.sqrt(second), rel=0.02)
    for bound in (0.05, 0.2, 0.5, 2.0):
        below = float((mass * (tau < bound)).sum())
        assert (found.tau < bound).mean() == pytest.approx(below, abs=MAX_STANDARD_ERRORS * 0.5 / np.sqrt(DRAWS) + 2e-3)
    assert found.edge_mass < 1e-12
    assert found.grid_error < 1e-5


@pytest.mark.parametrize("size", [4, 5, 8])
def test_the_tail_of_tau_is_a_power(size: int) -> None:
    """P(tau > t) falls as t^(3 - K): the least K for which it falls at all is 4."""
    found = flat(np.linspace(0, 1, size), np.full(size, 0.01), draws=400_000)
    far = np.quantile(found.tau, 0.99)
    slope = np.log((found.tau > 2 * far).mean() / (found.tau > far).mean()) / np.log(2)
    assert slope == pytest.approx(3 - size, abs=0.7)


@pytest.mark.parametrize(("size", "proper"), [(2, False), (3, False), (4, True), (5, True)])
def test_flat_priors_need_four_estimates(size: int, proper: bool) -> None:
    """The integral of the marginal posterior over decades of tau goes to 0, or does not."""

    def density(tau: float) -> float:
        weight = 1 / (V[:size] + tau**2)
        mean = (weight * Z[:size]).sum() / weight.sum()
        around = (weight * (Z[:size] - mean) ** 2).sum()
        return float(tau * np.sqrt(np.prod(weight) / weight.sum()) * np.exp(-around / 2))

    def decade(n: int) -> float:
        return float(integrate.quad(density, 10.0**n, 10.0 ** (n + 1), limit=200)[0])

    falling = decade(6) / decade(5)
    assert falling == pytest.approx(10.0 ** (3 - size), rel=1e-3)
    if proper:
        assert np.isfinite(flat(Z[:size], V[:size], draws=100).mu).all()
    else:
        with pytest.raises(
            InputError, match=f"flat priors need 4 estimates or more to have a posterior; there are {size}"
        ):
            flat(Z[:size], V[:size])


def test_subgroups_without_an_estimate_are_drawn_from_the_population() -> None:
    with_one, without = flat(np.append(Z, np.nan), np.append(V, np.nan)), flat(Z, V)
    np.testing.assert_allclose(with_one.tau, without.tau)
    new = (with_one.mu[:, -1] - with_one.overall) / with_one.tau
    assert stats.kstest(new[:20_000], "norm").pvalue > 1e-4


@pytest.mark.parametrize("unit", [1e-120, 1e-6, 1e12])
def test_any_unit_will_do(unit: float) -> None:
    plain = flat(Z, V, draws=500)
    found = gaussian.sample(
        unit * Z, unit**2 * V, np.random.default_rng(1), draws=500, centre=0.5 * unit, overall_scale=0.5 * unit,
        tau_scale=0.25 * unit, flat=True,
    )  # fmt: skip
    np.testing.assert_allclose(found.mu / unit, plain.mu, rtol=1e-9)
    np.testing.assert_allclose(found.tau / unit, plain.tau, rtol=1e-9)


def test_units_are_no_priors() -> None:
    """Another centre and other scales move the grid and not the posterior."""
    one = flat(Z, V)
    rng = np.random.default_rng(2)
    two = gaussian.sample(Z, V, rng, draws=DRAWS, centre=-40.0, overall_scale=1e-3, tau_scale=30.0, flat=True)
    for a in range(5):
        assert stats.ks_2samp(one.mu[:, a], two.mu[:, a]).pvalue > 1e-4
    assert stats.ks_2samp(one.tau, two.tau).pvalue > 1e-4


@pytest.mark.parametrize(
    ("z", "v"),
    [
        ([0.3] * 4, [0.0] * 4),
        ([0.2, 0.3, 0.9, 0.9], [0.0, 0.0, 0.1, 0.1]),
        ([0.2, 0.3, 0.9, 0.1], [1e-300, 1.0, 1e12, 1.0]),
        ([0.4] * 40, [0.01] * 40),
        ([1e12, -1e12, 3.0, 4.0], [1.0] * 4),
        ([0.4, 0.5, 0.6, 0.7], [1e12] * 4),
    ],
)
def test_hostile_values_stay_finite_and_are_watched(z: list[float], v: list[float]) -> None:
    found = flat(np.array(z), np.array(v), draws=400)
    assert np.isfinite(found.mu).all()
    assert np.isfinite([found.overall, found.tau]).all()
    assert found.edge_mass < 1e-6
    assert found.grid_error < 1e-3


def test_a_fourth_estimate_that_says_nothing_is_noticed() -> None:
    """Proper, but over so many decades of tau that the grid ends before the posterior does."""
    found = flat(np.array([0.2, 0.3, 0.9, 0.1]), np.array([1.0, 1.0, 1e300, 1.0]), draws=400)
    assert np.isfinite(found.mu).all()
    assert found.edge_mass > 1e-6


# --- the word ---------------------------------------------------------------------------------------------------------


def test_three_subgroups_stand_alone() -> None:
    z, v = np.array([1.0, 2.0, 4.0, np.nan]), np.array([0.1, 0.2, 0.4, np.nan])
    found = james_stein.sample(published(z, v), seed=1, draws=20_000)
    mu = found.draws["mu"].values.reshape(-1, 4)
    for a in range(3):
        assert stats.kstest(mu[:, a], stats.norm(z[a], np.sqrt(v[a])).cdf).pvalue > 1e-3
    centre = float((z[:3] / v[:3]).sum() / (1 / v[:3]).sum())
    scale = np.sqrt(v[:3].mean() + z[:3].var())
    assert stats.kstest(mu[:, 3], stats.norm(centre, 4 * scale).cdf).pvalue > 1e-3
    overall = found.draws["overall"].values.ravel()
    assert stats.kstest(overall, stats.norm(centre, (1 / v[:3]).sum() ** -0.5).cdf).pvalue > 1e-3
    np.testing.assert_allclose(found.draws["tau"].values.ravel(), mu[:, :3].std(axis=1, ddof=1))
    assert [check.name for check in found.checks] == ["independent draws"]


@pytest.mark.parametrize(("size", "spread"), [(0, 0.0), (1, 0.0), (2, None)])
def test_fewer_still(size: int, spread: float | None) -> None:
    n = [9, 5, 0][:size] + [0]
    found = james_stein.sample(
        bg.tally_from_counts([3, 4, 0][:size] + [0], n, pd.DataFrame({"site": list("abc")[: size + 1]})), seed=1
    )
    tau = found.draws["tau"].values
    assert (tau > 0).all() if spread is None else (tau == spread).all()
    assert np.isfinite(found.draws["overall"].values).all()
    if not size:
        assert (found.draws["overall"].values == 0.5).all()


def test_values_stay_in_the_range_of_the_metric() -> None:
    counts = bg.tally_from_counts([0, 1, 9, 0, 4, 0], [2, 1, 10, 3, 40, 0], pd.DataFrame({"site": list("abcdef")}))
    found = james_stein.sample(counts, seed=1)
    for name in ("mu", "overall"):
        values = found.draws[name].values
        assert ((values >= 0) & (values <= 1)).all()
    assert (found.draws["mu"].sel(subgroup="a") == 0).any()
