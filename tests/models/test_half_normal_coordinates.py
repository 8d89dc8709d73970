"""Coordinates of half-normal numbers: both ways, their derivative, and the law of the numbers in them."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr
from pymc.util import get_untransformed_name
from pytensor.compile.mode import Mode
from scipy import integrate, stats

from bayesgroups.inference.collapsed.crossed import positive_numbers
from bayesgroups.models.half_normal_coordinates import NearlyNormal

QUICK = Mode(linker="py", optimizer="fast_compile")
SIGMA = 0.5
U = np.array([-12.0, -6.0, -3.0, -1.0, -0.2, 0.0, 0.4, 1.0, 4.0, 20.0, 1e3])


def test_both_ways_are_inverse() -> None:
    change = NearlyNormal()
    x = change.backward(U, SIGMA).eval(mode=QUICK)
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(x[1:], SIGMA * positive_numbers.positive(U[1:]).value, rtol=1e-12)
    np.testing.assert_allclose(change.forward(x, SIGMA).eval(mode=QUICK), U, rtol=1e-9, atol=1e-9)


def test_pymc_knows_the_variable_by_its_name() -> None:
    assert get_untransformed_name("z_tau_nearlynormal__") == "z_tau"
    with pm.Model() as model:
        tau = pm.HalfNormal("z_tau", sigma=SIGMA, default_transform=NearlyNormal())
        pm.Normal("y", 0.0, tau, observed=[0.3])
        drawn = xr.DataTree.from_dict({"posterior": xr.Dataset({"z_tau": (("chain", "draw"), [[0.2, 0.7]])})})
        found = pm.compute_log_likelihood(drawn, progressbar=False, compile_kwargs={"mode": QUICK})
    assert [variable.name for variable in model.value_vars] == ["z_tau_nearlynormal__"]
    expected = stats.norm.logpdf(0.3, 0.0, [0.2, 0.7])
    np.testing.assert_allclose(found["log_likelihood"]["y"].values.ravel(), expected, rtol=1e-12)


def test_the_derivative_is_a_difference() -> None:
    change, inner, step = NearlyNormal(), U[2:-1], 1e-5
    above, below = (change.backward(inner + sign * step, SIGMA).eval(mode=QUICK) for sign in (1, -1))
    slope = np.exp(change.log_jac_det(inner, SIGMA).eval(mode=QUICK))
    np.testing.assert_allclose((above - below) / (2 * step), slope, rtol=1e-6)


def test_slopes_are_numbers_far_out() -> None:
    u = pt.dvector("u")
    total = NearlyNormal().backward(u, SIGMA).sum() + NearlyNormal().log_jac_det(u, SIGMA).sum()
    slope = pt.grad(total, u).eval({u: np.array([-30.0, 60.0, 1e4])}, mode=QUICK)
    np.testing.assert_allclose(slope, [30 + 1 / 30, SIGMA, SIGMA], rtol=1e-4)


def test_numbers_keep_their_law() -> None:
    """The density of the coordinate has the mass of the half-normal below every number, and little far out."""
    with pm.Model() as model:
        pm.HalfNormal("tau", sigma=SIGMA, default_transform=NearlyNormal())
    density = model.compile_logp(mode=QUICK)

    def at(u: float) -> float:
        return float(np.exp(density({"tau_nearlynormal__": np.array(u)})))

    for x in (1e-3, 0.2, 0.7, 1.5):
        u = float(positive_numbers.numbers(np.array(x / SIGMA)))
        mass = integrate.quad(at, -10, u, epsabs=1e-9)[0]
        assert mass == pytest.approx(stats.halfnorm.cdf(x, scale=SIGMA), abs=1e-7)
    assert at(-5.0) < 1e-5
