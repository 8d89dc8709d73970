"""Multilevel logistic models of counts in strata, by maximum likelihood with adaptive quadrature.

k_g ~ Binomial(n_g, expit(x_g . b + sd z_g)),   z_g ~ Normal(0, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.maihda.stratum_fit import StratumFit, without_fit
from bayesgroups.questions.maihda.variance_scales import LOGISTIC

NODES, MORE_NODES = 41, 161
"""Gauss-Hermite nodes around the mode of every effect, up to a standard deviation of `WIDE` logits and beyond: integrals are exact
to 1e-10 up to 3 logits, and to 1e-6 at 10, where strata have successes alone or none."""
WIDE = 2.0
"""Standard deviation in logits from which more nodes are needed."""
SPREADS = np.geomspace(0.0001, 10, 11)
"""Standard deviations of effects between which the highest likelihood is looked for, beside none."""
MAX_BETWEEN = float(SPREADS[-1] ** 2)
"""Largest variance whose likelihood is computed."""
SEPARATED_LOGIT = 15.0
"""Logit of a fitted rate beyond which main effects separate successes from failures, and have no finite estimate."""
NEWTON_STEPS, LAST_GAIN, SURE_GAIN = 100, 1e-10, 1e-6
"""Newton steps, at most; gain of a step of the coefficients (twice, by its parabola) after which none is needed, and beyond which
it must raise the likelihood."""
MODE_ERROR = 0.1
"""Length of the last step towards the mode of an effect, in standard deviations; quadrature needs no better mode."""
ROUNDING = 1e-8
"""Difference of log likelihoods that may be rounding."""
SEPARATED = (
    "the main effects separate rows with successes from rows without, so that their maximum likelihood is infinite"
)
UNBOUNDED = (
    f"the likelihood still rises at a standard deviation between strata of {SPREADS[-1]:.0f} logits, as where most strata have "
    "successes alone or none, so that there is no finite estimate"
)


@dataclass(frozen=True)
class Counts:
    """Counts of strata with rows (stratum,) and the columns of a model."""

    successes: FloatArray
    count: FloatArray
    columns: FloatArray


@dataclass(frozen=True)
class _Place:
    """The likelihood at coefficients ``b`` and a standard deviation ``sd``.

    ``height`` is its log without the binomial constant and ``slope`` the derivative in ``sd``; along (stratum,) are the derivatives
    ``score`` in the logits and, second and negative, ``bend``, ``mean`` and ``variance`` of z given a count, and ``value``, the
    expected rate.
    """

    b: FloatArray
    sd: float
    height: float
    slope: float
    score: FloatArray
    bend: FloatArray
    mean: FloatArray
    variance: FloatArray
    value: FloatArray


def fit(data: Counts) -> StratumFit:
    """Maximum likelihood; where the variance is at its bound, the logistic regression.

    >>> data = Counts(np.array([2.0, 12, 13, 40, 3]), np.array([15.0, 37, 34, 63, 20]), np.ones((5, 1)))
    >>> strata = fit(data)
    >>> round(strata.between, 4), strata.value.round(3).tolist()
    (0.6115, [0.207, 0.325, 0.373, 0.605, 0.205])
    """
    strata, columns = data.columns.shape
    none = _maximum(data, 0.0)
    if _separated(none, data):
        return without_fit(strata, columns, SEPARATED)
    along = [none]
    for sd in SPREADS:
        along.append(_maximum(data, float(sd), along[-1].b))
    rising = [place.slope * place.sd for place in along]
    peaks = [
        _peak(data, *along[i : i + 2])
        for i, (at, ahead) in enumerate(pairwise(rising))
        if at > ROUNDING > -ROUNDING > ahead
    ]
    best = max([none, *peaks], key=lambda place: place.height)
    if rising[-2] > ROUNDING and along[-1].height > best.height:
        return without_fit(strata, columns, UNBOUNDED)
    if best.height <= none.height + ROUNDING:
        best = none
    return StratumFit(
        between=best.sd**2,
        residual=LOGISTIC,
        log_likelihood=best.height,
        coefficients=best.b,
        covariance=np.full((columns, columns), np.nan),
        effect=best.sd * best.mean,
        effect_sd=best.sd * np.sqrt(best.variance),
        value=best.value,
        boundary=best.sd == 0.0,
    )


def profile(between: float, data: Counts, start: FloatArray | None = None) -> float:
    """Log likelihood at a between-stratum variance, at its highest over the coefficients, which are looked for from ``start``."""
    return _maximum(data, float(np.sqrt(between)), start).height


def _peak(data: Counts, low: _Place, high: _Place) -> _Place:
    """The highest likelihood between two standard deviations, where it no longer rises."""
    from scipy.optimize import brentq

    def slope(sd: float) -> float:
        return _maximum(data, sd, low.b).slope

    tolerance: Any = 1e-10  # stubs of SciPy ask for a NumPy number
    root: Any = brentq(slope, low.sd, high.sd, xtol=1e-12, rtol=tolerance)
    return _maximum(data, float(root), low.b)


def _maximum(data: Counts, sd: float, start: FloatArray | None = None) -> _Place:
    """The highest likelihood at a standard deviation, which is concave in the coefficients, by Newton steps."""
    pooled = (data.successes.sum() + 0.5) / (data.count.sum() + 1)
    level = np.full(len(data.count), np.log(pooled / (1 - pooled)))
    b = np.linalg.lstsq(data.columns, level, rcond=None)[0] if start is None else start
    here = _at(b, sd, data)
    for _ in range(NEWTON_STEPS):
        step = np.linalg.solve((data.columns.T * here.bend) @ data.columns, data.columns.T @ here.score)
        gain = float(step @ (data.columns.T @ here.score))
        ahead = _at(here.b + step, sd, data)
        while gain > SURE_GAIN and ahead.height < here.height:
            step = step / 2
            ahead = _at(here.b + step, sd, data)
        if gain < LAST_GAIN:
            return ahead
        if ahead.height <= here.height:
            return here
        here = ahead
        if sd == 0 and _separated(here, data):
            return here
    return here


def _separated(here: _Place, data: Counts) -> bool:
    """True where a rate goes to 0 or 1."""
    return bool(np.abs(data.columns @ here.b).max() > SEPARATED_LOGIT)


def _at(b: FloatArray, sd: float, data: Counts) -> _Place:
    """The likelihood with effects integrated out, by adaptive quadrature; its derivatives by the identities of Fisher and Louis."""
    k, n, location = data.successes[:, None], data.count[:, None], (data.columns @ b)[:, None]
    mode, width = _modes(location, sd, k, n)
    points, log_weights = _quadrature(NODES if sd <= WIDE else MORE_NODES)
    z = mode + width * points
    eta = location + sd * z
    terms = k * eta - n * np.logaddexp(0, eta) - 0.5 * z**2 + log_weights
    top = terms.max(axis=1, keepdims=True)
    mass = np.exp(terms - top)
    total = mass.sum(axis=1, keepdims=True)
    mass /= total
    rate = expit(eta)
    rest = k - n * rate
    score = (mass * rest).sum(axis=1)
    bend = (mass * (n * rate * (1 - rate) - (rest - score[:, None]) ** 2)).sum(axis=1)
    mean = (mass * z).sum(axis=1)
    variance = (mass * (z - mean[:, None]) ** 2).sum(axis=1)
    height = float((top + np.log(total * width)).sum())
    return _Place(
        b, sd, height, float((mass * rest * z).sum()), score, bend, mean, variance, value=(mass * rate).sum(axis=1)
    )


def _modes(location: FloatArray, sd: float, k: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mode of z given a count, and the standard deviation of the normal law that bends alike there."""
    logit, share = np.log((k + 0.5) / (n - k + 0.5)), (k + 0.5) / (n + 1)
    information = sd * n * share * (1 - share)
    z = (logit - location) * information / (1 + sd * information)
    bend = np.ones_like(z)
    for _ in range(NEWTON_STEPS):
        rate = expit(location + sd * z)
        bend = 1 + sd**2 * n * rate * (1 - rate)
        # A long step into the flat part of the logistic overshoots.
        step = np.clip((sd * (k - n * rate) - z) / bend, -1 - 2 / max(sd, 1e-3), 1 + 2 / max(sd, 1e-3))
        z = z + step
        if (step**2 * bend).max() < MODE_ERROR**2:
            break
    return z, 1 / np.sqrt(bend)


@cache
def _quadrature(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Hermite nodes, and logarithms of their weights for an integral over the standard normal law."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    log_weights = np.log(weights) + 0.5 * points**2 - 0.5 * np.log(2 * np.pi)
    points.flags.writeable = log_weights.flags.writeable = False
    return points, log_weights
