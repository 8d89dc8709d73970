"""The log density of partial pooling, written out from its docstring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats
from scipy.special import expit, gammaln, logit

from bayesgroups.models import partial_pooling
from bayesgroups.models.latent_effects import PseudoData, pseudo_data
from bayesgroups.models.shared.cells import NormalCells, binomial_cells

# PyTensor holds constants such as 1.5 or log(2) in float32 where it thinks that exact enough: 1e-8 is lost.
RTOL = 1e-7

Z = np.array([[-0.4, 1.1, 0.3]])
Form = Callable[..., tuple[np.ndarray, float]]


def pseudo(tally: xr.Dataset) -> PseudoData:
    """Pseudo-counts in place of the counts of one rate."""
    whole = np.zeros(0, dtype=np.intp)
    nothing = NormalCells(whole, whole, [], np.zeros(0), np.zeros(0))
    return pseudo_data((1, 3), binomial_cells(tally, np.array([True])), nothing, np.array([0.5]))


def test_rates(rates: xr.Dataset, log_density: Callable[..., float], latent_form: Form) -> None:
    p = expit(-0.7 + 0.6 * Z[0])
    expected = (
        stats.norm.logpdf(-0.7, 0, 1.5)
        + stats.halfnorm.logpdf(0.6, scale=0.5)
        + stats.norm.logpdf(Z).sum()
        + stats.binom.logpmf([4, 6], [20, 7], p[:2]).sum()
    )
    data = pseudo(rates)
    z, change = latent_form(Z, -0.7, 0.6, data.estimate, data.precision)
    got = log_density(partial_pooling.build(rates), alpha=[-0.7], tau=[0.6], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)


def test_means(means: xr.Dataset, log_density: Callable[..., float], latent_form: Form) -> None:
    mu = 0.2 + 0.3 * Z[0]
    expected = (
        stats.norm.logpdf(0.2, 0.35, 0.4)
        + stats.halfnorm.logpdf(0.3, scale=0.2)
        + stats.norm.logpdf(Z).sum()
        + stats.norm.logpdf([0.3, 0.5], mu[:2], [np.sqrt(0.16 / 30), np.sqrt(0.16 / 10)]).sum()
    )
    z, change = latent_form(Z, 0.2, 0.3, np.array([[0.3, 0.5, 0]]), np.array([[30, 10, 0]]) / 0.16)
    got = log_density(partial_pooling.build(means), overall=[0.2], tau=[0.3], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)


def test_counts_that_are_not_whole(weighted: xr.Dataset, log_density: Callable[..., float], latent_form: Form) -> None:
    n, k, p = np.array([20.5, 7.25]), np.array([4.5, 6.0]), expit(-0.7 + 0.6 * Z[0, :2])
    expected = (
        stats.norm.logpdf(-0.7, 0, 1.5)
        + stats.halfnorm.logpdf(0.6, scale=0.5)
        + stats.norm.logpdf(Z).sum()
        + (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * np.log(p) + (n - k) * np.log1p(-p)).sum()
    )
    data = pseudo(weighted)
    z, change = latent_form(Z, -0.7, 0.6, data.estimate, data.precision)
    got = log_density(partial_pooling.build(weighted), alpha=[-0.7], tau=[0.6], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)


def test_metrics_of_several_kinds_are_independent(mixed: xr.Dataset, log_density: Callable[..., float]) -> None:
    alpha, tau, z = np.array([-0.7, 0.2, 0.6]), np.array([0.6, 0.3, 0.1]), np.vstack([Z, -Z, 2 * Z])
    together = log_density(partial_pooling.build(mixed), alpha=alpha, tau=tau, z=z)
    apart = [
        log_density(
            partial_pooling.build(mixed.isel(metric=[m])),
            **{"alpha" if m == 0 else "overall": alpha[[m]]},
            tau=tau[[m]],
            z=z[[m]],
        )
        for m in range(3)
    ]
    np.testing.assert_allclose(together, sum(apart), rtol=RTOL)


def test_scales_can_be_set(means: xr.Dataset, log_density: Callable[..., float]) -> None:
    model = partial_pooling.build(means, overall_scale=3.0, tau_scale=2.0)
    usual = log_density(partial_pooling.build(means), overall=[0.2], tau=[0.3], z=Z)
    change = stats.norm.logpdf(0.2, 0.35, 3) - stats.norm.logpdf(0.2, 0.35, 0.4)
    change += stats.halfnorm.logpdf(0.3, scale=2) - stats.halfnorm.logpdf(0.3, scale=0.2)
    np.testing.assert_allclose(log_density(model, overall=[0.2], tau=[0.3], z=Z), usual + change, rtol=RTOL)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_must_be_positive(rates: xr.Dataset, scale: float) -> None:
    with pytest.raises(ValueError, match="overall_scale must be a positive number; got"):
        partial_pooling.build(rates, overall_scale=scale)
    with pytest.raises(ValueError, match="tau_scale must be a positive number; got"):
        partial_pooling.build(rates, tau_scale=scale)


@pytest.mark.parametrize("tally", ["rates", "weighted"])
def test_density_and_gradient_survive_extreme_logits(
    tally: str, request: pytest.FixtureRequest, latent_form: Form
) -> None:
    given = request.getfixturevalue(tally)
    data, tau = pseudo(given), 0.6
    model = partial_pooling.build(given)
    z, _ = latent_form(np.zeros((1, 3)), 60.0, tau, data.estimate, data.precision)
    start = model.initial_point() | {"alpha": np.array([60.0]), "tau_log__": np.log([tau]), "z": z}
    mode = Mode(linker="py", optimizer="fast_run")
    assert np.isfinite(model.compile_logp(mode=mode)(start))
    # At 60 every row is expected to be a success: each failure pulls with weight one, as far as its logit moves with alpha.
    gradient = model.compile_dlogp(vars=[model["alpha"]], mode=mode)(start)
    failures = {"rates": [16.0, 1.0, 0.0], "weighted": [16.0, 1.25, 0.0]}[tally]
    moved = np.dot(failures, 1 / (1 + tau**2 * data.precision[0]))
    np.testing.assert_allclose(gradient, -moved - 60 / 1.5**2, rtol=1e-6)


def test_subgroups_without_rows_follow_the_population(rates: xr.Dataset, log_density: Callable[..., float]) -> None:
    model = partial_pooling.build(rates)
    moved = Z.copy()
    moved[0, 2] = 0.0
    gain = log_density(model, alpha=[logit(0.3)], tau=[0.6], z=moved) - log_density(
        model, alpha=[logit(0.3)], tau=[0.6], z=Z
    )
    np.testing.assert_allclose(gain, 0.3**2 / 2, rtol=1e-6)


def with_sites(tally: xr.Dataset) -> xr.Dataset:
    """Three subgroups of one attribute, with a feature 1, 2, 3."""
    labels = [str(label) for label in tally["subgroup"].values]
    tally = tally.assign_coords(site=("subgroup", labels), feature=["x"]).assign_attrs(by='{"by": ["site"]}')
    tally["feature_mean"] = (("subgroup", "feature"), np.array([[1.0], [2.0], [3.0]]))
    return tally


@pytest.mark.parametrize(("given", "scale"), [(None, 2.5), (0.7, 0.7)])
def test_rates_around_a_regression(
    rates: xr.Dataset, log_density: Callable[..., float], latent_form: Form, given: float | None, scale: float
) -> None:
    location = -0.7 + 0.4 * np.array([-1, 0, 1]) * np.sqrt(1.5)
    p = expit(location + 0.6 * Z[0])
    expected = (
        stats.norm.logpdf(-0.7, 0, 1.5)
        + stats.norm.logpdf(0.4, 0, scale)
        + stats.halfnorm.logpdf(0.6, scale=0.5)
        + stats.norm.logpdf(Z).sum()
        + stats.binom.logpmf([4, 6], [20, 7], p[:2]).sum()
    )
    data = pseudo(rates)
    z, change = latent_form(Z, location[None], 0.6, data.estimate, data.precision)
    model = partial_pooling.build(with_sites(rates), covariates=("x",), coefficient_scale=given)
    got = log_density(model, alpha=[-0.7], tau=[0.6], beta=[[0.4]], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)


def test_means_around_a_regression_with_flat_priors(
    means: xr.Dataset, log_density: Callable[..., float], latent_form: Form
) -> None:
    location = 0.2 + 0.05 * np.array([-1, 0, 1]) * np.sqrt(1.5)
    mu = location + 0.3 * Z[0]
    expected = (
        stats.halfnorm.logpdf(0.3, scale=0.2)
        + stats.norm.logpdf(Z).sum()
        + stats.norm.logpdf([0.3, 0.5], mu[:2], [np.sqrt(0.16 / 30), np.sqrt(0.16 / 10)]).sum()
    )
    z, change = latent_form(Z, location[None], 0.3, np.array([[0.3, 0.5, 0]]), np.array([[30, 10, 0]]) / 0.16)
    model = partial_pooling.build(with_sites(means), covariates=("x",))
    got = log_density(model, overall=[0.2], tau=[0.3], beta=[[0.05]], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)
