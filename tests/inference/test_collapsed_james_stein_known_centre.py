"""The exact engine around a known centre: the closed form, integrals done another way, propriety, few subgroups."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

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
CENTRE = 0.3
DRAWS = 100_000
MAX_STANDARD_ERRORS = 4.5


class Even(np.random.Generator):
    """Uniform numbers that are spread evenly, in order the first time and at random later: draws are quantiles."""

    asked = 0

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        self.asked += 1
        even = (np.arange(size) + 0.5) / size
        return even if self.asked == 1 else self.permutation(even)


def around(
    z: FloatArray, v: FloatArray, rng: np.random.Generator | None = None, *,
    centre: float = CENTRE, draws: int = DRAWS, unit: float = 1.0,
) -> gaussian.GaussianDraws:  # fmt: skip
    return gaussian.sample(
        z, v, rng or np.random.default_rng(1), draws=draws, centre=centre, overall_scale=unit, tau_scale=unit / 4, flat=True,
        overall_known=True,
    )  # fmt: skip


def share(q: float, k: int) -> float:
    """Posterior mean of v / (v + tau^2) for k estimates of equal variance v."""
    return (k - 2) / q * float(stats.chi2.cdf(q, k) / stats.chi2.cdf(q, k - 2))


def published(z: FloatArray, v: FloatArray) -> xr.Dataset:
    return bg.tally_from_estimates(z, v, pd.DataFrame({"site": [f"s{i}" for i in range(len(z))]}), metric="mae")


def density(tau: float, z: FloatArray, v: FloatArray, centre: float) -> float:
    """Marginal posterior of tau, up to a constant."""
    total = v + tau**2
    return float(tau * np.exp(-0.5 * (np.log(total / v[0]) + (z - centre) ** 2 / total).sum()))


def mean_over_tau(function: Any, z: FloatArray, v: FloatArray, centre: float) -> float:
    """Posterior mean of a function of tau, by quadrature over x = tau / (1 + tau)."""
    edges = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0])

    def integral(weight: Any) -> float:
        def inside(x: float) -> float:
            tau = x / (1 - x)
            return float(weight(tau)) * density(tau, z, v, centre) / (1 - x) ** 2

        return float(sum(integrate.quad(inside, a, b, limit=200)[0] for a, b in pairwise(edges)))

    return integral(function) / integral(lambda tau: 1.0)


# --- the closed form --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "spread"), [(3, 1.0), (4, 0.2), (5, 1.5), (12, 0.5), (40, 1.0)])
def test_equal_variances_have_a_closed_form(size: int, spread: float) -> None:
    """By quadrature to nine digits; by the engine, its uniform numbers spread evenly, to three."""
    z = 2 + np.random.default_rng(size).normal(0, np.sqrt(1 + spread**2), size)
    expected = share(float(((z - 2) ** 2).sum()), size)
    quadrature = mean_over_tau(lambda tau: 1 / (1 + tau**2), z, np.ones(size), 2.0)
    assert quadrature == pytest.approx(expected, rel=1e-9)
    found = around(z, np.ones(size), Even(np.random.PCG64(1)), centre=2.0, draws=20_000)
    assert (1 / (1 + found.tau**2)).mean() == pytest.approx(expected, abs=3e-4)
    error = found.mu.std(axis=0) / np.sqrt(20_000)
    assert (np.abs(found.mu.mean(axis=0) - (z + expected * (2 - z))) < MAX_STANDARD_ERRORS * error).all()


def test_the_share_never_reaches_one() -> None:
    """Where James and Stein cut off, the posterior mean stops at (K - 2) / K."""
    found = around(np.full(9, CENTRE), np.full(9, 0.01), Even(np.random.PCG64(1)), draws=20_000)
    assert (0.01 / (0.01 + found.tau**2)).mean() == pytest.approx(7 / 9, abs=3e-4)
    assert share(1e-6, 9) == pytest.approx(7 / 9, rel=1e-5)


def test_many_subgroups_have_the_factor_of_james_and_stein() -> None:
    z = np.random.default_rng(1).normal(3.0, np.sqrt(1.5), 200)
    frequentist = bock.fit(z, np.ones(200), centre=2.5)
    assert 1 - share(float(frequentist.q), 200) == pytest.approx(float(frequentist.factor), abs=1e-3)
    found = james_stein.sample(published(z, np.ones(200)), seed=1, centre=2.5)
    mu = found.draws["mu"].values.reshape(-1, 200)
    error = mu.std(axis=0) / np.sqrt(len(mu))
    assert (np.abs(mu.mean(axis=0) - frequentist.estimate) < MAX_STANDARD_ERRORS * error + 1e-3).all()


# --- unequal variances ------------------------------------------------------------------------------------------------


def test_quadrature_agrees() -> None:
    found, even = around(Z, V), around(Z, V, Even(np.random.PCG64(1)))
    for a in range(5):
        own = mean_over_tau(lambda tau, a=a: tau**2 / (tau**2 + V[a]), Z, V, CENTRE)
        square = mean_over_tau(lambda tau, a=a: (tau**2 / (tau**2 + V[a])) ** 2, Z, V, CENTRE)
        first = CENTRE + own * (Z[a] - CENTRE)
        second = own * V[a] + (square - own**2) * (Z[a] - CENTRE) ** 2
        assert (even.tau**2 / (even.tau**2 + V[a])).mean() == pytest.approx(own, abs=1e-4)
        assert abs(found.mu[:, a].mean() - first) < MAX_STANDARD_ERRORS * np.sqrt(second / DRAWS)
        assert found.mu[:, a].var() == pytest.approx(second, rel=0.03)
    for bound in (0.05, 0.2, 0.5, 2.0):
        below = mean_over_tau(lambda tau, bound=bound: float(tau < bound), Z, V, CENTRE)
        assert (even.tau < bound).mean() == pytest.approx(below, abs=1e-3)
    assert (found.overall == CENTRE).all()
    assert found.edge_mass < 1e-12
    assert found.grid_error < 1e-5


def test_subgroups_without_an_estimate_are_drawn_around_the_centre() -> None:
    found = around(np.append(Z, np.nan), np.append(V, np.nan), draws=20_000)
    assert stats.kstest((found.mu[:, -1] - CENTRE) / found.tau, "norm").pvalue > 1e-4


@pytest.mark.parametrize("size", [3, 4, 7])
def test_the_tail_of_tau_is_a_power(size: int) -> None:
    """P(tau > t) falls as t^(2 - K): the least K for which it falls at all is 3."""
    found = around(np.linspace(0, 1, size), np.full(size, 0.01), Even(np.random.PCG64(1)))
    far = np.quantile(found.tau, 0.99)
    slope = np.log((found.tau > 2 * far).mean() / (found.tau > far).mean()) / np.log(2)
    assert slope == pytest.approx(2 - size, abs=0.3)


@pytest.mark.parametrize(("size", "proper"), [(1, False), (2, False), (3, True), (4, True)])
def test_flat_priors_need_three_estimates(size: int, proper: bool) -> None:
    """The integral of the marginal posterior over decades of tau goes to 0, or does not."""
    z, v = Z[:size], V[:size]
    decades = [integrate.quad(density, 10.0**n, 10.0 ** (n + 1), (z, v, CENTRE), limit=200)[0] for n in (5, 6)]
    assert decades[1] / decades[0] == pytest.approx(10.0 ** (2 - size), rel=1e-3)
    if proper:
        assert np.isfinite(around(z, v, draws=100).mu).all()
    else:
        with pytest.raises(
            InputError, match=f"flat priors need 3 estimates or more to have a posterior; there are {size}"
        ):
            around(z, v)


def test_moved_together_data_and_centre_move_the_draws() -> None:
    plain, moved = around(Z, V, draws=500), around(40 + 3 * Z, 9 * V, draws=500, centre=40 + 3 * CENTRE, unit=3.0)
    np.testing.assert_allclose(moved.mu, 40 + 3 * plain.mu, rtol=1e-9)
    np.testing.assert_allclose(moved.tau, 3 * plain.tau, rtol=1e-9)
    order = [3, 0, 4, 2, 1]
    np.testing.assert_allclose(around(Z[order], V[order], draws=500).tau, plain.tau, rtol=1e-9)


def test_units_are_no_priors() -> None:
    """Other scales move the grid and not the posterior."""
    found = [around(Z, V, Even(np.random.PCG64(1)), unit=unit).tau for unit in (1.0, 1e-3, 200.0)]
    for other in found[1:]:
        np.testing.assert_allclose(
            np.quantile(other, [0.1, 0.5, 0.9]), np.quantile(found[0], [0.1, 0.5, 0.9]), rtol=5e-3
        )


@pytest.mark.parametrize("centre", [0.3, -1e6, 1e100])
@pytest.mark.parametrize(
    ("z", "v"), [([0.3] * 3, [0.0] * 3), ([0.2, 0.3, 0.9], [1e-300, 1.0, 1e12]), ([1e12, -1e12, 3.0], [1.0] * 3)]
)
def test_hostile_values_stay_finite_and_are_watched(z: list[float], v: list[float], centre: float) -> None:
    found = around(np.array(z), np.array(v), centre=centre, draws=400)
    assert np.isfinite(found.mu).all()
    assert np.isfinite(found.tau).all()
    assert found.grid_error < 1e-3


# --- the word ---------------------------------------------------------------------------------------------------------


def test_two_subgroups_stand_alone() -> None:
    z, v = np.array([1.0, 2.0, np.nan]), np.array([0.1, 0.2, np.nan])
    found = james_stein.sample(published(z, v), seed=1, draws=20_000, centre=5.0)
    mu = found.draws["mu"].values.reshape(-1, 3)
    for a in range(2):
        assert stats.kstest(mu[:, a], stats.norm(z[a], np.sqrt(v[a])).cdf).pvalue > 1e-3
    scale = np.sqrt(v[:2].mean() + z[:2].var())
    assert stats.kstest(mu[:, 2], stats.norm(5, 4 * scale).cdf).pvalue > 1e-3
    assert (found.draws["overall"] == 5).all()
    tau = np.sqrt(((mu[:, :2] - 5) ** 2).mean(axis=1))
    np.testing.assert_allclose(found.draws["tau"].values.ravel(), tau)
    assert [check.name for check in found.checks] == ["independent draws"]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_the_centre_is_overall_in_every_draw(size: int) -> None:
    n = [9, 5, 20][:size] + [0]
    counts = bg.tally_from_counts([3, 4, 2][:size] + [0], n, pd.DataFrame({"site": list("abcd")[: size + 1]}))
    found = james_stein.sample(counts, seed=1, centre=0.9)
    assert (found.draws["overall"] == 0.9).all()
    tau = found.draws["tau"].values
    assert (tau > 0).all() if size else (tau == 0).all()
    checks = ["grid edge mass", "grid error"] if size == 3 else []
    assert [check.name for check in found.checks] == [*checks, "independent draws"]
