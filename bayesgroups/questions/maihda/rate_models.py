"""Multilevel logistic models of counts in strata, by maximum likelihood with adaptive quadrature.

k_g ~ Binomial(n_g, expit(x_g . b + sd z_g)),   z_g ~ Normal(0, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.maihda.stratum_fit import StratumFit, without_fit
from bayesgroups.questions.maihda.variance_scales import LOGISTIC

NODES = 31
"""Gauss-Hermite nodes around the mode of every effect."""
NEWTON_STEPS = 60
"""Newton steps towards that mode, at most."""
SEPARATED_LOGIT = 15.0
"""Logit of a fitted rate beyond which main effects separate successes from failures, and have no finite estimate."""
START = 0.4
"""Standard deviation of effects that the search starts from."""


@dataclass(frozen=True)
class Counts:
    """Counts of strata with rows (stratum,) and the columns of a model."""

    successes: FloatArray
    count: FloatArray
    columns: FloatArray


@dataclass(frozen=True)
class _Marginal:
    """Log likelihood up to a constant, its gradient in (b, sd), and moments of the effects."""

    height: float
    gradient: FloatArray
    effect: FloatArray
    effect_sd: FloatArray
    rate: FloatArray


def fit(data: Counts) -> StratumFit:
    """Maximum likelihood; where the variance is at its bound, the logistic regression.

    >>> data = Counts(np.array([2.0, 12, 13, 40, 3]), np.array([15.0, 37, 34, 63, 20]), np.ones((5, 1)))
    >>> strata = fit(data)
    >>> round(strata.between, 4), strata.value.round(3).tolist()
    (0.6115, [0.207, 0.325, 0.373, 0.605, 0.205])
    """
    plain, height_at_zero = _maximum(data, 0.0)
    b, sd = _search(data, plain)
    if not np.isfinite(b).all() or np.abs(data.columns @ b).max() > SEPARATED_LOGIT:
        return without_fit(
            len(data.count), data.columns.shape[1],
            "the main effects separate rows with successes from rows without, so that their maximum likelihood is infinite",
        )  # fmt: skip
    here = _marginal(b, sd, data)
    boundary = here.height <= height_at_zero + 1e-8
    if boundary:
        b, sd, here = plain, 0.0, _marginal(plain, 0.0, data)
    return StratumFit(
        between=sd * sd,
        residual=LOGISTIC,
        log_likelihood=here.height,
        coefficients=b,
        covariance=np.full((len(b), len(b)), np.nan),
        effect=here.effect,
        effect_sd=here.effect_sd,
        value=here.rate,
        boundary=boundary,
    )


def profile(between: float, data: Counts) -> float:
    """Log likelihood at a between-stratum variance, at its highest over the coefficients."""
    return _maximum(data, float(np.sqrt(between)))[1]


def _search(data: Counts, start: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients and standard deviation of the highest likelihood."""
    from scipy.optimize import minimize

    def height(at: FloatArray) -> tuple[float, FloatArray]:
        here = _marginal(at[:-1], at[-1], data)
        return -here.height, -here.gradient

    best = minimize(
        height, np.r_[start, START], jac=True, method="L-BFGS-B",
        bounds=[(None, None)] * len(start) + [(0.0, None)], options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500},
    )  # fmt: skip
    return np.asarray(best.x[:-1], dtype=np.float64), float(best.x[-1])


def _maximum(data: Counts, sd: float) -> tuple[FloatArray, float]:
    """Coefficients of the highest likelihood at a standard deviation, and that likelihood."""
    from scipy.optimize import minimize

    pooled = (data.successes.sum() + 0.5) / (data.count.sum() + 1)
    start = np.linalg.lstsq(data.columns, np.full(len(data.count), np.log(pooled / (1 - pooled))), rcond=None)[0]

    def height(b: FloatArray) -> tuple[float, FloatArray]:
        here = _marginal(b, sd, data)
        return -here.height, -here.gradient[:-1]

    best = minimize(height, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 500})
    return np.asarray(best.x, dtype=np.float64), float(-best.fun)


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Gauss-Hermite nodes and weights, which every step of the search asks for."""
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    points.flags.writeable = weights.flags.writeable = False
    return points, weights


def _marginal(b: FloatArray, sd: float, data: Counts) -> _Marginal:
    """The likelihood with effects integrated out; its gradient by Fisher's identity."""
    k, n, location = data.successes[:, None], data.count[:, None], (data.columns @ b)[:, None]
    mode = np.zeros_like(location)
    for _ in range(NEWTON_STEPS):
        rate = expit(location + sd * mode)
        step = (sd * (k - n * rate) - mode) / (1 + sd * sd * n * rate * (1 - rate))
        step = np.clip(step, -2, 2)
        mode = mode + step
        if np.abs(step).max() < 1e-10:
            break
    rate = expit(location + sd * mode)
    width = 1 / np.sqrt(1 + sd * sd * n * rate * (1 - rate))
    points, weights = _quadrature()
    z = mode + width * points
    eta = location + sd * z
    log_weight = np.log(weights) + 0.5 * points**2 + np.log(width) - 0.5 * np.log(2 * np.pi)
    terms = k * eta - n * np.logaddexp(0, eta) - 0.5 * z**2 + log_weight
    top = terms.max(axis=1, keepdims=True)
    mass = np.exp(terms - top)
    total = mass.sum(axis=1, keepdims=True)
    mass /= total
    rates = expit(eta)
    score = k - n * rates
    first = (mass * z).sum(axis=1)
    spread = np.sqrt(np.maximum((mass * z**2).sum(axis=1) - first**2, 0.0))
    gradient = np.r_[data.columns.T @ (mass * score).sum(axis=1), (mass * score * z).sum()]
    height = float((top + np.log(total)).sum())
    return _Marginal(height, gradient, sd * first, sd * spread, (mass * rates).sum(axis=1))
