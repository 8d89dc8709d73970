"""Mean scores and variances in the form of their data: the same prior whatever these are, independent of all else given them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy import stats

from bayesgroups.models.latent_scores import latent_scores
from bayesgroups.models.latent_variances import latent_variances

QUICK = Mode(linker="py", optimizer="fast_compile")
NAMES = ("z", "z_common", "z_difference")
ESTIMATE = np.array([[0.9, -0.4], [0.0, 2.0], [0.3, 0.0]])
COUNT = np.array([[1000.0, 4.0], [0.0, 30.0], [0.0, 0.0]])
VARIANCE = np.array([[0.8, 1.3], [1.0, 0.5], [1.0, 2.0]])
HALF = np.array([-0.5, 0.5])
DESIGN = np.stack([np.column_stack([np.eye(2), site * np.ones(2), site * HALF]) for site in (1.0, 0.0, 1.0)])
SPREAD = np.array([3.0, 2.0, 0.4, 0.7])
COLUMNS = {"column": range(4), "subgroup": list("abc"), "outcome": ["0", "1"]}


def covariance(own: np.ndarray) -> np.ndarray:
    """Prior covariance (cell, cell) of the means of all cells."""
    x = DESIGN.reshape(6, 4)
    one = own[0] ** 2 + own[1] ** 2 * np.outer(HALF, HALF)
    return np.asarray(x @ np.diag(SPREAD**2) @ x.T + np.kron(np.eye(3), one))


def test_mean_scores_keep_their_prior() -> None:
    own = np.array([0.5, 1.5])
    with pm.Model(coords=COLUMNS):
        means = latent_scores(NAMES, DESIGN, ESTIMATE, COUNT, VARIANCE, SPREAD, own, ("column", "subgroup"))
    drawn = np.asarray(pm.draw(means.mean, draws=4000, random_seed=1, mode=QUICK)).reshape(4000, 6)
    expected = covariance(own)
    sd = np.sqrt(np.diag(expected))
    assert np.abs(drawn.mean(axis=0) / sd).max() < 0.06
    np.testing.assert_allclose(np.cov(drawn.T) / np.outer(sd, sd), expected / np.outer(sd, sd), atol=0.09)


@pytest.mark.parametrize("own", [(1e-3, 2e-3), (0.5, 1.5), (30.0, 50.0)])
def test_given_their_data_mean_scores_are_standard_normal(
    own: tuple[float, float], log_density: Callable[..., float]
) -> None:
    seen = np.nonzero(COUNT)
    with pm.Model(coords=COLUMNS) as model:
        spread = pm.HalfFlat("spread", shape=4)
        scales = pm.HalfFlat("own", shape=2)
        means = latent_scores(NAMES, DESIGN, ESTIMATE, COUNT, VARIANCE, spread, scales, ("column", "subgroup"))
        pm.Normal("y", means.mean[seen], np.sqrt(VARIANCE[seen] / COUNT[seen]), observed=ESTIMATE[seen])
    z = {
        "z": np.array([0.7, -1.2, 2.1, 0.3]),
        "z_common": np.array([0.4, -0.8, 1.1]),
        "z_difference": np.array([-0.2, 1.4, 0.6]),
    }
    at, around = (
        log_density(model, spread=SPREAD, own=own, **{name: factor * value for name, value in z.items()})
        for factor in (1.0, 0.0)
    )
    assert at - around == pytest.approx(-0.5 * sum((value**2).sum() for value in z.values()), abs=1e-5)


SCATTER = np.array([[700.0, 4.0], [0.0, 10.0], [0.0, 0.0]])
FREEDOM = np.array([[999.0, 3.0], [0.0, 29.0], [0.0, 0.0]])


@pytest.mark.parametrize("df", [4.0, 300.0])
def test_variances_keep_their_prior(df: float) -> None:
    with pm.Model(coords=COLUMNS):
        v = latent_variances("z", df, np.array([[0.7, 1.4]]), SCATTER, FREEDOM, ("subgroup", "outcome"))
    drawn = np.asarray(pm.draw(v, draws=4000, random_seed=1, mode=QUICK)).reshape(4000, 6)
    for column, typical in zip(drawn.T, np.tile([0.7, 1.4], 3), strict=True):
        assert stats.kstest(column, stats.invgamma(0.5 * df, scale=0.5 * df * typical).cdf).pvalue > 1e-3


@pytest.mark.parametrize("df", [1.5, 40.0, 199.0, 201.0, 1e5])
def test_the_density_of_variances_is_that_of_the_inverse_gamma(df: float, log_density: Callable[..., float]) -> None:
    typical = np.array([[0.7, 1.4]])
    with pm.Model(coords=COLUMNS) as model:
        latent_variances("z", df, typical, SCATTER, FREEDOM, ("subgroup", "outcome"))
    z = np.linspace(-2, 2, 6).reshape(3, 2)
    width = np.sqrt(2 / (df + FREEDOM))
    log_v = np.log((df * typical + SCATTER) / (df + FREEDOM)) + width * z
    expected = stats.invgamma.logpdf(np.exp(log_v), 0.5 * df, scale=0.5 * df * typical) + log_v + np.log(width)
    assert log_density(model, z=z) == pytest.approx(expected.sum(), rel=1e-8)


@pytest.mark.parametrize("df", [1e12, 1e18, 1e30])
def test_variances_that_are_all_alike_have_standard_normal_numbers(df: float) -> None:
    """No digit of the density is lost, however near to each other variances are: a hierarchy without spread is no mode of it."""
    with pm.Model(coords=COLUMNS) as model:
        freedom = pm.HalfFlat("df")
        latent_variances("z", freedom, np.array([[0.7, 1.4]]), SCATTER, FREEDOM, ("subgroup", "outcome"))
    z = np.linspace(-2, 2, 6).reshape(3, 2)
    point = {"df_log__": np.log(df), "z": z}
    assert float(model.compile_logp([model["z"]], mode=QUICK)(point)) == pytest.approx(
        stats.norm.logpdf(z).sum(), abs=1e-4
    )
    slope = np.asarray(model.compile_dlogp(model.free_RVs, mode=QUICK)(point))
    np.testing.assert_allclose(slope, [1.0, *-z.ravel()], atol=1e-4)  # that of the flat prior is 1


@pytest.mark.parametrize("df", [4.0, 300.0])
def test_given_their_data_variances_have_one_scale(df: float, log_density: Callable[..., float]) -> None:
    """Curvature of the posterior of every latent variance at its mode: that of a standard normal one."""
    some = np.nonzero(FREEDOM)
    with pm.Model(coords=COLUMNS) as model:
        v = latent_variances("z", df, np.array([[0.7, 1.4]]), SCATTER, FREEDOM, ("subgroup", "outcome"))
        pm.Gamma("scatter", alpha=0.5 * FREEDOM[some], beta=0.5 / v[some], observed=SCATTER[some])
    step, zero = 1e-3, np.zeros((3, 2))
    for cell in np.ndindex(3, 2):
        up = zero.copy()
        up[cell] = step
        below, middle, above = (log_density(model, z=z) for z in (-up, zero, up))
        assert (above - below) / (2 * step) == pytest.approx(0, abs=1e-4)
        assert (above - 2 * middle + below) / step**2 == pytest.approx(-1, abs=1e-3)
