"""The log density of the flat-prior hierarchy, written out from its docstring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats

from bayesgroups.inference.collapsed.gaussian import MIN_ESTIMATES_FOR_FLAT_PRIORS
from bayesgroups.models import james_stein

RTOL = 1e-7
COUNT = [[20, 7, 9, 30, 0]]
ESTIMATE = np.array([[0.2, 0.6, 0.5, 0.3, np.nan]])
STD_ERROR = np.sqrt(0.16 / np.array([20.0, 7, 9, 30]))
Z = np.array([[-0.4, 1.1, 0.3, 0.0, -2.0]])

PRECISION = np.append(STD_ERROR**-2, 0)[None]
PSEUDO = np.nan_to_num(ESTIMATE)

MakeTally = Callable[..., xr.Dataset]
Form = Callable[..., tuple[np.ndarray, float]]


@pytest.fixture
def five(make_tally: MakeTally) -> xr.Dataset:
    """A rate of four subgroups and an empty one: centre .5, scale .5."""
    return make_tally(COUNT, estimate=ESTIMATE.tolist(), kind=["rate"])


@pytest.fixture
def both(make_tally: MakeTally) -> xr.Dataset:
    """A metric of two subgroups before one of four, the first without a bound."""
    return make_tally(
        [[30, 10, 0, 0, 0], *COUNT], estimate=[[0.3, 1.9, np.nan, np.nan, np.nan], *ESTIMATE.tolist()],
        kind=["mean", "rate"], upper=[np.inf, 1.0],
    )  # fmt: skip


def deterministic(model: Any, names: list[str], **point: np.ndarray) -> list[np.ndarray]:
    logs = ("z_tau", "z_tau_known")
    start = model.initial_point() | {f"{name}_log__" if name in logs else name: at for name, at in point.items()}
    outputs = model.replace_rvs_by_values([model[name] for name in names])
    mode = Mode(linker="py", optimizer="fast_run")
    function = model.compile_fn(outputs, inputs=model.value_vars, mode=mode, on_unused_input="ignore")
    return [np.asarray(value) for value in function(start)]


def test_flat_priors_and_normal_estimates(
    five: xr.Dataset, log_density: Callable[..., float], latent_form: Form
) -> None:
    alpha, tau = 0.5 + 0.5 * 0.2, 0.5 * 0.6
    theta = alpha + tau * Z[0]
    expected = np.log(0.6) + stats.norm.logpdf(Z).sum() + stats.norm.logpdf(ESTIMATE[0, :4], theta[:4], STD_ERROR).sum()
    z, change = latent_form(Z, alpha, tau, PSEUDO, PRECISION)
    got = log_density(james_stein.build(five), z_overall=[0.2], z_tau=[0.6], z=z)
    np.testing.assert_allclose(got, expected + change, rtol=RTOL)


def test_values_are_brought_into_the_range(five: xr.Dataset, latent_form: Form) -> None:
    model = james_stein.build(five)
    z, _ = latent_form(Z, 0.6, 0.3, PSEUDO, PRECISION)
    point = {"z_overall": np.array([0.2]), "z_tau": np.log([0.6]), "z": z}
    mu, overall, tau = deterministic(model, ["mu", "overall", "tau"], **point)
    np.testing.assert_allclose(mu, np.clip(0.6 + 0.3 * Z, 0, 1), rtol=RTOL)
    np.testing.assert_allclose((overall, tau), ([0.6], [0.3]), rtol=RTOL)
    assert (deterministic(model, ["overall"], **point | {"z_overall": np.array([3.0])})[0] == 1).all()


def test_few_subgroups_stand_alone(both: xr.Dataset, log_density: Callable[..., float]) -> None:
    """Centre .7 and scale .4; two are observed and three keep the weak prior."""
    few = both.isel(metric=[0])
    z = np.array([[0.1, 0.9, -3.0, 2.0, 0.5]])
    theta, error = 0.7 + 0.4 * z[0], np.sqrt(0.16 / np.array([30.0, 10]))
    model = james_stein.build(few)
    expected = stats.norm.logpdf([0.3, 1.9], theta[:2], error).sum() - 0.5 * (z[0, 2:] ** 2).sum() / 16
    np.testing.assert_allclose(log_density(model, z_alone=z), expected, rtol=RTOL)
    mu, overall, tau = deterministic(model, ["mu", "overall", "tau"], z_alone=z)
    np.testing.assert_allclose(mu[0], np.maximum(theta, 0), rtol=RTOL)
    np.testing.assert_allclose(overall, np.average(theta[:2], weights=[30, 10]), rtol=RTOL)
    np.testing.assert_allclose(tau, theta[:2].std(ddof=1), rtol=RTOL)


@pytest.mark.parametrize(("observed", "overall"), [(0, 0.5), (1, 0.6)])
def test_one_subgroup_or_none(make_tally: MakeTally, observed: int, overall: float) -> None:
    tally = make_tally([[9, 0][: observed + 1]], estimate=[[0.3, np.nan][1 - observed :]])
    model = james_stein.build(tally)
    found = deterministic(model, ["overall", "tau"], z_alone=np.full((1, observed + 1), 0.2))
    np.testing.assert_allclose(found, [[overall], [0.0]], rtol=RTOL)
    assert bool(model.observed_RVs) == bool(observed)


def test_metrics_are_independent_and_in_their_order(
    both: xr.Dataset, log_density: Callable[..., float], latent_form: Form
) -> None:
    alone = np.array([[0.1, 0.9, -3.0, 2.0, 0.5]])
    model = james_stein.build(both)
    together = log_density(model, z_overall=[0.2], z_tau=[0.6], z=Z, z_alone=alone)
    first = log_density(james_stein.build(both.isel(metric=[0])), z_alone=alone)
    second = log_density(james_stein.build(both.isel(metric=[1])), z_overall=[0.2], z_tau=[0.6], z=Z)
    np.testing.assert_allclose(together, first + second, rtol=RTOL)
    z, _ = latent_form(Z, 0.6, 0.3, PSEUDO, PRECISION)
    point = {"z_overall": np.array([0.2]), "z_tau": np.log([0.6]), "z": z, "z_alone": alone}
    mu, tau = deterministic(model, ["mu", "tau"], **point)
    np.testing.assert_allclose(mu[1], np.clip(0.6 + 0.3 * Z[0], 0, 1), rtol=RTOL)
    np.testing.assert_allclose(tau[1], 0.3, rtol=RTOL)


@pytest.mark.parametrize("name", ["rates", "means", "mixed", "weighted"])
def test_names_dims_and_gradient(name: str, request: pytest.FixtureRequest) -> None:
    tally = request.getfixturevalue(name)
    model = james_stein.build(tally)
    along = model.named_vars_to_dims
    assert (along["mu"], along["overall"], along["tau"]) == (("metric", "subgroup"), ("metric",), ("metric",))
    assert list(model.coords["metric"]) == tally["metric"].values.tolist()
    gradient = model.compile_dlogp(mode=Mode(linker="py", optimizer="fast_run"))(model.initial_point())
    assert np.isfinite(gradient).all()


def test_both_engines_need_as_many_estimates() -> None:
    assert james_stein.FEWEST == MIN_ESTIMATES_FOR_FLAT_PRIORS


# --- a known centre ---------------------------------------------------------------------------------------------------


def test_a_known_centre_takes_the_place_of_alpha(
    five: xr.Dataset, log_density: Callable[..., float], latent_form: Form
) -> None:
    """Three subgroups are enough."""
    three, z = five.isel(subgroup=[0, 1, 2, 4]), Z[:, [0, 1, 2, 4]]
    tau = 0.5 * 0.6
    theta = 0.9 + tau * z[0]
    expected = np.log(0.6) + stats.norm.logpdf(z).sum()
    expected += stats.norm.logpdf(ESTIMATE[0, :3], theta[:3], STD_ERROR[:3]).sum()
    model = james_stein.build(three, centre=0.9)
    some = [0, 1, 2, 4]
    latent, change = latent_form(z, 0.9, tau, PSEUDO[:, some], PRECISION[:, some])
    np.testing.assert_allclose(log_density(model, z_tau_known=[0.6], z_known=latent), expected + change, rtol=RTOL)
    point = {"z_tau_known": np.log([0.6]), "z_known": latent}
    mu, overall, spread = deterministic(model, ["mu", "overall", "tau"], **point)
    np.testing.assert_allclose(mu, np.clip(0.9 + 0.3 * z, 0, 1), rtol=RTOL)
    assert overall.tolist() == [0.9]
    np.testing.assert_allclose(spread, [0.3], rtol=RTOL)


def test_two_subgroups_stand_alone_beside_a_known_centre(both: xr.Dataset) -> None:
    few = both.isel(metric=[0])
    z = np.array([[0.1, 0.9, -3.0, 2.0, 0.5]])
    theta = 1.5 + 0.4 * z[0]
    mu, overall, tau = deterministic(james_stein.build(few, centre=1.5), ["mu", "overall", "tau"], z_alone=z)
    np.testing.assert_allclose(mu[0], theta, rtol=RTOL)
    np.testing.assert_allclose(overall, [1.5], rtol=RTOL)
    np.testing.assert_allclose(tau, [np.sqrt(((theta[:2] - 1.5) ** 2).mean())], rtol=RTOL)


def test_known_and_estimated_centres_side_by_side(
    make_tally: MakeTally, log_density: Callable[..., float], latent_form: Form
) -> None:
    """Alone, known, estimated, in the order of the tally."""
    tally = make_tally(
        [[30, 10, 0, 0, 0], *COUNT, *COUNT], estimate=[[0.3, 0.9, np.nan, np.nan, np.nan], *ESTIMATE.tolist() * 2],
        kind=["mean", "rate", "auc"], upper=[1.0, 1.0, 1.0],
    )  # fmt: skip
    alone = np.array([[0.1, 0.9, -3.0, 2.0, 0.5]])
    model = james_stein.build(tally, centre=np.array([np.nan, 0.25, np.nan]))
    point = {"z_overall": [0.2], "z_tau": [0.6], "z": Z, "z_tau_known": [0.4], "z_known": Z / 2, "z_alone": alone}
    first = log_density(james_stein.build(tally.isel(metric=[0])), z_alone=alone)
    second = log_density(james_stein.build(tally.isel(metric=[1]), centre=0.25), z_tau_known=[0.4], z_known=Z / 2)
    third = log_density(james_stein.build(tally.isel(metric=[2])), z_overall=[0.2], z_tau=[0.6], z=Z)
    np.testing.assert_allclose(log_density(model, **point), first + second + third, rtol=RTOL)
    arrays = {name: np.asarray(value) for name, value in point.items()}
    arrays |= {name: np.log(arrays[name]) for name in ("z_tau", "z_tau_known")}
    arrays["z_known"], _ = latent_form(Z / 2, 0.25, 0.2, PSEUDO, PRECISION)
    mu, overall, tau = deterministic(model, ["mu", "overall", "tau"], **arrays)
    np.testing.assert_allclose(overall[1:], [0.25, 0.6], rtol=RTOL)
    np.testing.assert_allclose(tau[1:], [0.2, 0.3], rtol=RTOL)
    np.testing.assert_allclose(mu[1], np.clip(0.25 + 0.1 * Z[0], 0, 1), rtol=RTOL)
    assert all(model.named_vars_to_dims[variable.name] for variable in model.basic_RVs)
