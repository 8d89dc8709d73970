"""Crossed effects over all plausible variances: posteriors mixed, so that intervals count what is not known of the variances.

    B = reference / (reference + variance)   uniform between 0 and 1, for every component by itself

where the reference is four times the sampling variance of a typical cell of the component, divided by the number of components:
many are not expected to make more than one does. This law of the variances is proper however few levels an attribute has,
favours no amount of shrinkage, and is known for intervals that cover in repeated sampling. It multiplies the restricted
likelihood; the mixture is summed over points drawn around the mode of the product, or around its mean where it is far from
normal, and weighted by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace, Posterior
from bayesgroups.frequentist.crossed.components import Components
from bayesgroups.frequentist.crossed.marginal_likelihood import deviance, information
from bayesgroups.frequentist.crossed.restricted import Restricted

REFERENCE = 4.0
"""Median of a lone component's variance, in sampling variances of a typical cell: a spread of two standard errors."""
DRAWS = 512
"""Points of a round."""
FREEDOM = 5
"""Degrees of freedom of the law that points are drawn from: its tails must reach further than those of what is summed."""
ROUNDS, MIN_EFFECTIVE_SHARE = 4, 0.2
"""Rounds of points, each from the moments of the last, and the effective share of equal weights that ends them."""
MIN_POINT_VARIANCE = 0.05
"""Variance that the law of the points keeps in every direction."""
MAX_LOG_RATIO = 20.0
"""Largest difference of a variance from its reference, in logarithms."""


@dataclass(frozen=True)
class Mixture:
    """Mean and variance of every group under the mixture, and the number of equally weighted points that would do as well."""

    posterior: Posterior
    effective: float


def mix(
    z: FloatArray, u: FloatArray, agreement: Components, *, seed: int = 0, draws: int = DRAWS,
    between: FloatArray | float = 0.0,
) -> Mixture:  # fmt: skip
    """Mean and variance of the groups over the uncertainty of the variances, summed over ``draws`` points.

    ``z`` and ``u`` (group,) are estimates and precisions 1/v, 0 where there are no data; ``agreement`` has the matrices
    C_S of a `Family`, or its `ComponentSpace`, without the shared level; the overall mean has a flat prior. ``between``
    (group, group) are covariances of errors, with 0 on the diagonal. Weights are
    cut at the average times the root of the number of points, so that no point speaks for all.

    Daniels (1999), doi:10.2307/3316112; Natarajan, Kass (2000), doi:10.1080/01621459.2000.10473916. Ionides (2008),
    doi:10.1198/106186008X320456, on cutting weights.

    >>> answer = mix(np.array([0.9, 1.0, 1.1, 1.4]), np.full(4, 10.0), np.eye(4)[None])
    >>> answer.posterior.estimate.round(2).tolist(), answer.posterior.variance.round(3).tolist()
    ([1.01, 1.05, 1.1, 1.24], [0.062, 0.06, 0.059, 0.065])
    """
    from scipy.special import expit

    reference = REFERENCE / len(agreement) * typical_noise(u, agreement)
    law = _law(z, u, agreement, between)
    centre, root = _mode(z, u, agreement, reference, between)
    selected, best = None, -1.0
    for turn in range(ROUNDS):
        t, log_density = _even_t(draws, len(agreement), seed + turn)
        points = np.clip(centre + t @ root.T, -MAX_LOG_RATIO, MAX_LOG_RATIO)
        likelihood, posteriors = law(reference * np.exp(points))
        log_weight = likelihood + np.log(expit(points) * expit(-points)).sum(axis=-1) - log_density
        weight = np.exp(log_weight - log_weight.max())
        weight = np.minimum(weight, weight.mean() * np.sqrt(draws))
        weight /= weight.sum()
        effective = float(1 / (weight**2).sum())
        if effective > best:
            selected, best = (weight, posteriors), effective
        if effective >= MIN_EFFECTIVE_SHARE * draws:
            break
        centre = weight @ points
        deviations = (points - centre) * np.sqrt(weight)[:, None]
        root = np.linalg.cholesky(deviations.T @ deviations + MIN_POINT_VARIANCE * np.eye(len(centre)))
    assert selected is not None  # the first round beats -1
    weight, each = selected[0], selected[1]()
    estimate = weight @ each.estimate
    return Mixture(Posterior(estimate, weight @ (each.variance + (each.estimate - estimate) ** 2)), best)


def typical_noise(u: FloatArray, agreement: Components) -> FloatArray:
    """Sampling variance of a typical cell of every component: the geometric mean over its cells that have data.

    >>> typical_noise(np.array([1.0, 4.0, 0.0]), np.stack([np.ones((3, 3)), np.eye(3)])).round(3).tolist()
    [0.2, 0.5]
    """
    if isinstance(agreement, ComponentSpace):
        return agreement.typical_noise(u)
    weight = np.abs(agreement)  # those of an order may be negative
    cells = weight @ u
    size = weight.sum(axis=-1)  # a cell of many groups counts once, not once for each
    some = cells > 0
    logs = np.where(some, np.log(np.where(some, cells, 1.0)), 0.0)
    noise: FloatArray = np.exp(-(logs / size).sum(axis=-1) / (some / size).sum(axis=-1))
    return noise


def _mode(
    z: FloatArray, u: FloatArray, agreement: Components, reference: FloatArray, between: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Mode in logarithms of variance over reference, and a root of the covariance around it."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        variances = reference * np.exp(x)
        value, slope = deviance(z, u, agreement, variances, between)
        return value / 2 - float(np.log(expit(x) * expit(-x)).sum()), slope / 2 * variances + np.tanh(x / 2)

    bounds = [(-MAX_LOG_RATIO, MAX_LOG_RATIO)] * len(reference)
    mode = minimize(objective, np.full(len(reference), -1.0), method="L-BFGS-B", jac=True, bounds=bounds).x
    variances = reference * np.exp(mode)
    curvature = information(u, agreement, variances, between) * np.outer(variances, variances)
    curvature += np.diag(2 * expit(mode) * expit(-mode) + 0.02)
    value, direction = np.linalg.eigh(curvature)
    return mode, direction / np.sqrt(value)


def _law(
    z: FloatArray, u: FloatArray, agreement: Components, between: FloatArray | float
) -> Callable[[FloatArray], tuple[FloatArray, Callable[[], Posterior]]]:
    """Log restricted likelihood at rows of variances, and the posteriors there: only the best round is asked for its own."""
    if isinstance(agreement, ComponentSpace):
        return partial(agreement.law, z, u)
    model = Restricted(z, u, agreement, between)
    return lambda variances: (model.log_likelihood(variances), partial(model.posterior, variances))


@lru_cache(maxsize=ROUNDS)
def _even_t(draws: int, dimensions: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Numbers of Student's law that fill the space evenly, array (draw, dimension), and their log density.

    Multiples of powers of the generalised golden ratio, the root of x^(d + 1) = x + 1, shifted at random. Metrics beside one
    another ask for the same.
    """
    from scipy.special import stdtrit

    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    step = ratio ** -np.arange(1.0, dimensions + 1)
    shift = np.random.default_rng(seed).random(dimensions)
    t: FloatArray = stdtrit(FREEDOM, (shift + np.arange(1, draws + 1)[:, None] * step) % 1)
    log_density: FloatArray = -(FREEDOM + 1) / 2 * np.log1p(t * t / FREEDOM).sum(axis=-1)
    t.flags.writeable = log_density.flags.writeable = False
    return t, log_density
