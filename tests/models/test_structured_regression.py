"""Sparse regression on features as a PyMC model: its density, its prior, its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats

from bayesgroups.models.shared.sparsity import global_scale
from bayesgroups.models.structured_regression import build

QUICK = Mode(linker="py", optimizer="fast_compile")


def identities(tally: xr.Dataset) -> xr.DataArray:
    size = tally.sizes["subgroup"]
    values = np.column_stack([np.arange(size) == 0, np.linspace(-1, 1, size), np.eye(size)]).astype(np.float64)
    return xr.DataArray(
        values, {"subgroup": tally["subgroup"].values, "coefficient": [f"c{i}" for i in range(size + 2)]}
    )


@pytest.mark.parametrize("prior", ["horseshoe", "laplace"])
def test_density(
    prior: Any, means: xr.Dataset, log_density: Callable[..., float], joint_form: Callable[..., Any]
) -> None:
    """Centre .35, scale .4; standard errors sqrt(.16 / 30), sqrt(.16 / 10); the last subgroup is empty."""
    features = identities(means)
    rng = np.random.default_rng(1)
    overall, tau, local, noise = 0.3, 0.07, rng.uniform(0.5, 3.0, (1, 5)), rng.standard_normal((1, 5))
    model = build(means, features=features, prior=prior, expected_effects=1.5, slab_scale=0.3, local_df=4.0)
    std_error = np.sqrt(0.16 / np.array([30.0, 10.0]))
    if prior == "horseshoe":
        s = 1 / np.sqrt((tau * local) ** -2 + 0.3**-2)
        tau0 = global_scale(features.values, np.array([*std_error, np.nan]), 1.5)
        scales = stats.halfcauchy(scale=tau0).logpdf(tau) + (np.log(2) + stats.t(4).logpdf(local)).sum()
    else:
        s = tau * np.sqrt(2 * local)
        scales = stats.halfnorm(scale=0.2 / np.sqrt(2)).logpdf(tau) + stats.expon.logpdf(local).sum()
    mu = overall + (features.values @ (s * noise)[0])
    expected = scales + stats.norm.logpdf(noise).sum() + stats.norm(0.35, 0.4).logpdf(overall)
    expected += stats.norm(mu[:2], std_error).logpdf([0.3, 0.5]).sum()
    precision, estimate = np.array([[30.0, 10.0, 0.0]]) / 0.16, np.array([[0.3, 0.5, 0.0]])
    z, change = joint_form(noise, features.values, precision * (estimate - overall), precision, s)
    point = {"z_intercept": [overall], "tau": [tau], "z_local": local, "z_beta": z}
    assert log_density(model, **point) == pytest.approx(expected + change)


def test_a_laplace_prior_is_one(rates: xr.Dataset) -> None:
    model = build(rates.isel(subgroup=[2]), features=identities(rates).isel(subgroup=[2]), prior="laplace")
    tau, beta = pm.draw([model["tau"], model["beta"]], draws=1000, random_seed=3, mode=QUICK)
    assert stats.kstest(beta[:, 0, 0] / tau[:, 0], stats.laplace.cdf).pvalue > 1e-3
    assert stats.kstest(np.sqrt(2) * tau[:, 0], stats.halfnorm(scale=0.25).cdf).pvalue > 1e-3


def test_the_slab_bounds_coefficients(rates: xr.Dataset) -> None:
    features = identities(rates).isel(subgroup=[2])
    model = build(rates.isel(subgroup=[2]), features=features, local_df=1.0, slab_scale=0.02)
    beta = pm.draw(model["beta"], draws=1000, random_seed=3, mode=QUICK)
    assert np.abs(beta).max() < 0.02 * 5


def test_names_dims_and_metrics(mixed: xr.Dataset) -> None:
    model = build(mixed, features=identities(mixed))
    assert model.named_vars_to_dims == {
        "z_intercept": ("metric",),
        "overall": ("metric",),
        "tau": ("metric",),
        "z_local": ("metric", "coefficient"),
        "z_beta": ("metric", "coefficient"),
        "beta": ("metric", "coefficient"),
        "mu": ("metric", "subgroup"),
        "estimate": ("normal_cell",),
    }
    point = model.initial_point()
    gradient = model.compile_dlogp(mode=Mode(linker="py", optimizer="fast_run"))(point)
    assert np.isfinite(gradient).all()
    nodes = [model[name] for name in ("mu", "overall", "z_intercept", "beta")]
    mu, overall, intercept, beta = pm.draw(nodes, random_seed=1, mode=QUICK)
    high = np.array([1.0, np.inf, 1.0])
    assert overall == pytest.approx(np.clip(intercept, 0, high))
    theta = intercept[:, None] + beta @ identities(mixed).values.T
    assert mu == pytest.approx(np.clip(theta, 0, high[:, None]))


def test_without_columns_there_is_the_intercept(rates: xr.Dataset) -> None:
    nothing = xr.DataArray(
        np.empty((3, 0)), {"subgroup": rates["subgroup"].values, "coefficient": np.empty(0, dtype=str)}
    )
    model = build(rates, features=nothing)
    assert [variable.name for variable in model.free_RVs] == ["z_intercept", "tau"]
    mu, overall = pm.draw([model["mu"], model["overall"]], random_seed=1, mode=QUICK)
    assert (mu == overall[:, None]).all()


@pytest.mark.parametrize("name", ["expected_effects", "slab_scale", "local_df"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_numbers_must_be_positive(name: str, value: float, rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a positive number; got"):
        build(rates, features=identities(rates), **{name: value})  # type: ignore[arg-type]


def test_other_arguments_are_checked(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="prior must be one of horseshoe, laplace; got 'spike'"):
        build(rates, features=identities(rates), prior="spike")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the features must have the subgroups of the tally, in the same order"):
        build(rates, features=identities(rates).isel(subgroup=[1, 0, 2]))
