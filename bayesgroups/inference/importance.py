"""Adaptive multiple importance sampling against a standard normal prior, with its own diagnosis.

The target is N(u; 0, I) times a likelihood. Parameters that the likelihood does not care about keep the prior's normal tail,
so a proposal that mixes in the prior itself has bounded weights; the rest of it is a mixture of multivariate t
distributions, fitted again after every round to all the draws so far (Cornuet, Marin, Mira and Robert 2012,
doi:10.1111/j.1467-9469.2011.00756.x). Draws that a proposal was fitted to are not used again: weighed with that proposal they
make light of a tail that few of them fell into (Marin, Pudlo and Sedki 2019, doi:10.3150/18-BEJ1042). A fresh sample is drawn
from the mixture of all proposals and weighed with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray

LogLikelihood = Callable[[FloatArray], FloatArray]
Slope = Callable[[FloatArray], FloatArray]
"""Derivatives of a log likelihood, (parameter,) to (parameter,)."""

DEFENCE = 0.15
"""Share of the prior in every proposal."""
COMPONENTS = 3
DEGREES = 7.0
"""Degrees of freedom of the t distributions, at least; there are as many as dimensions."""
MAX_DIMENSIONS_FOR_WIDE_PROPOSALS = 6
"""Dimensions up to which the first proposals are up to four times as wide as the curvature says, and fits stand alone."""
INFLATION = 1.1
"""Factor on the covariances of a fit, for proposals must be wider than their targets."""
ADAPTATION_ROUNDS = 3
"""Rounds of draws that proposals are fitted to."""
FINAL_ROUNDS = 3
"""Size of the sample that is kept, in rounds."""
SHARE_OF_EARLIER = 0.25
"""Share of the sample that is kept that comes from the proposals before the last."""
ATTEMPTS = 2
"""Times that a sample of twice the size is drawn, from proposals fitted to the one before, while the weights are not good."""
GOOD = 0.5
"""Pareto k-hat up to which weights are good."""
MIN_ESS = 1000.0
"""Effective number of draws from which on weights are good."""
START_DISTANCES = (2.0, 4.0, 6.0, 8.0, 12.0, 20.0, 35.0, 60.0)
"""Distances from the middle of the prior at which a mode is looked for, beside the middle itself."""
REACH, MOVES = 4.0, 40
"""Half the side of the box in which a mode is searched for, and the times that the box can move."""
UNKNOWN = 1e100
"""Minus log density where it cannot be computed."""
COMPARABLE = 30.0
"""Log density within which a start far out is as good as the best one."""
APART = 0.1
"""Distance in any coordinate from which modes differ."""
RESCUED = 0.25
"""Share of the draws around a mode that the draw of largest weight has led to."""
NEGLIGIBLE = 8.0
"""Log density below the highest mode at which another one is left out."""
USABLE = 0.7
"""Pareto k-hat up to which weighted averages can be trusted."""


@dataclass(frozen=True)
class Weighted:
    """Draws ``u`` (draw, parameter) with ``log_weight`` (draw,), the k-hat of the weights and their effective number."""

    u: FloatArray
    log_weight: FloatArray
    k_hat: float
    ess: float


def sample(
    log_likelihood: LogLikelihood,
    dimension: int,
    rng: np.random.Generator,
    *,
    start: FloatArray | None = None,
    slope: Slope | None = None,
    size: int = 1500,
) -> Weighted:
    """Weighted draws from the posterior of standard normal parameters.

    The log likelihood takes (draw, parameter) and gives (draw,); minus infinity is allowed. ``start`` (parameter,) is
    where the search for the mode begins, by default the middle of the prior; ``slope`` gives derivatives of the log
    likelihood, by default found by differences; ``size`` is the number of draws in a round of adaptation.

    >>> posterior = sample(lambda u: -0.5 * ((u - 1) ** 2).sum(axis=1), 2, np.random.default_rng(1))
    >>> weight = np.exp(posterior.log_weight - posterior.log_weight.max())
    >>> np.average(posterior.u, axis=0, weights=weight).round(1).tolist(), posterior.k_hat < 0.5
    ([0.5, 0.5], True)
    """
    proposals = [_first_proposal(log_likelihood, dimension, start, slope)]
    u, likelihood, densities = np.empty((0, dimension)), np.empty(0), np.empty((0, 0))
    for _ in range(ADAPTATION_ROUNDS):
        fresh = _propose(proposals[-1], size, dimension, rng)
        rows = np.column_stack([_log_proposal(each, fresh) for each in proposals])
        columns = [densities, _log_proposal(proposals[-1], u)] if len(u) else []
        densities = np.concatenate([np.column_stack(columns), rows]) if columns else rows
        u, likelihood = np.concatenate([u, fresh]), np.concatenate([likelihood, log_likelihood(fresh)])
        proposals.append(_fit(u, likelihood + _log_normal(u) - _log_mean_exp(densities), proposals[-1]))
    weighted = _weighted(log_likelihood, proposals, FINAL_ROUNDS * size, rng)
    for _ in range(ATTEMPTS):
        if weighted.k_hat <= GOOD and weighted.ess >= MIN_ESS:
            break
        fitted = _fit(weighted.u, weighted.log_weight, proposals[-1])
        proposals.append(_with_mode(fitted, log_likelihood, weighted.u[np.argmax(weighted.log_weight)], slope))
        weighted = min(
            weighted, _weighted(log_likelihood, proposals, 2 * FINAL_ROUNDS * size, rng), key=lambda each: each.k_hat
        )
    return weighted


def _weighted(
    log_likelihood: LogLikelihood, proposals: list[_Mixture], size: int, rng: np.random.Generator
) -> Weighted:
    """Fresh draws from all proposals, most of them from the last, weighed with their mixture."""
    share = np.full(len(proposals), SHARE_OF_EARLIER / (len(proposals) - 1))
    share[-1] = 1 - SHARE_OF_EARLIER
    ends = np.round(np.cumsum(share) * size).astype(int)
    dimension = proposals[0].location.shape[1]
    numbers = np.diff(ends, prepend=0)
    u = np.concatenate([_propose(each, n, dimension, rng) for each, n in zip(proposals, numbers, strict=True)])
    density = np.column_stack([_log_proposal(each, u) for each in proposals]) + np.log(share)
    log_weight = log_likelihood(u) + _log_normal(u) - np.logaddexp.reduce(density, axis=1)
    return Weighted(u, log_weight, pareto_k(log_weight), effective(log_weight))


def _with_mode(mixture: _Mixture, log_likelihood: LogLikelihood, heaviest: FloatArray, slope: Slope | None) -> _Mixture:
    """The mixture with the mode that is reached from the draw of largest weight, for a heavy tail is often a mode not seen."""
    centre = mode(log_likelihood, heaviest, slope)
    covariance = _curvature(log_likelihood, centre) if slope is None else curvature_of(slope, centre)
    return _Mixture(
        np.append(mixture.weight * (1 - RESCUED), RESCUED),
        np.concatenate([mixture.location, centre[None]]),
        np.concatenate([mixture.covariance, 2 * covariance[None]]),
        mixture.degrees,
    )


def _first_proposal(
    log_likelihood: LogLikelihood, dimension: int, start: FloatArray | None, slope: Slope | None
) -> _Mixture:
    """Distributions around the mode, or around every mode that matters where the posterior lies far out in the prior."""
    where = starts(log_likelihood, dimension, start)
    modes = [mode(log_likelihood, each, slope) for each in where]
    height = np.array([log_likelihood(each[None])[0] - 0.5 * each @ each for each in modes])
    centres: list[FloatArray] = []
    for position in np.argsort(-height, kind="stable"):
        each = modes[position]
        duplicate = any(np.abs(each - other).max() < APART for other in centres)
        if height[position] > height.max() - NEGLIGIBLE and not duplicate:
            centres.append(each)
    covariances = [_curvature(log_likelihood, each) if slope is None else curvature_of(slope, each) for each in centres]
    # In many dimensions twice the variance is far away, and so is a heavy tail.
    wider = 2.0 ** min(1.0, MAX_DIMENSIONS_FOR_WIDE_PROPOSALS / dimension)
    number = COMPONENTS * len(centres)
    return _Mixture(
        np.full(number, 1 / number),
        np.repeat(np.stack(centres), COMPONENTS, axis=0),
        np.stack([covariance * wider**j for covariance in covariances for j in range(COMPONENTS)]),
        max(DEGREES, float(dimension)),
    )


def starts(log_likelihood: LogLikelihood, dimension: int, start: FloatArray | None = None) -> list[FloatArray]:
    """Points from which modes are searched for, best first.

    The given one, or the middle of the prior, unless some point far out along one parameter, or along all, has a higher
    density: then all of those that come near it, for the mass that one parameter explains another may explain as well.

    >>> [each.tolist() for each in starts(lambda u: -0.5 * (u[:, 0] - 12) ** 2, 1)]
    [[6.0]]
    """
    middle = np.zeros(dimension) if start is None else start
    lines = np.concatenate([np.ones((1, dimension)), np.eye(dimension)]) if dimension > 1 else np.ones((1, 1))
    far = np.concatenate([distance * lines for distance in START_DISTANCES])
    at = np.concatenate([middle[None], far])
    with np.errstate(over="ignore", invalid="ignore"):
        height = np.nan_to_num(log_likelihood(at) - 0.5 * (at**2).sum(axis=1), nan=-np.inf)
    best = int(np.argmax(height))
    if best == 0:
        return [middle]
    order = np.argsort(-height, kind="stable")
    along = {int((position - 1) % len(lines)): at[position] for position in order[::-1] if position > 0}
    top = {line: height[[1 + line + len(lines) * i for i in range(len(START_DISTANCES))]].max() for line in along}
    return [along[line] for line in sorted(along, key=lambda line: -top[line]) if top[line] > height[best] - COMPARABLE]


def resample(log_weight: FloatArray, number: int, rng: np.random.Generator) -> IntArray:
    """Positions of draws (number,), each taken as often as its unnormalised weight says, in random order.

    Systematically, so that a draw is taken the expected number of times, rounded up or down.

    >>> sorted(resample(np.log([0.25, 0.75]), 4, np.random.default_rng(1)).tolist())
    [0, 1, 1, 1]
    """
    weight = np.exp(log_weight - log_weight.max())
    at = (np.arange(number) + rng.random()) / number
    taken = np.searchsorted(np.cumsum(weight) / weight.sum(), at).clip(max=len(weight) - 1)
    rng.shuffle(taken)
    return taken.astype(np.int64)


def effective(log_weight: FloatArray) -> float:
    """Kish's effective number of weighted draws."""
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight**2).sum())


def pareto_k(log_weight: FloatArray) -> float:
    """Shape of the generalised Pareto distribution fitted to the largest of 25 or more unnormalised importance weights.

    Below 0.7 the weighted averages can be trusted; infinity if a weight is not finite or the tail is too short to be
    fitted, minus infinity if all large weights are equal.

    Vehtari, Simpson, Gelman, Yao and Gabry (2024), "Pareto smoothed importance sampling", JMLR 25(72). Zhang and Stephens
    (2009), doi:10.1198/tech.2009.08017.
    """
    number = len(log_weight)
    tail = int(min(math.ceil(0.2 * number), math.ceil(3 * math.sqrt(number))))
    if tail < 5 or np.isnan(log_weight).any() or not np.isfinite(log_weight.max()):
        return math.inf
    ordered = np.sort(np.exp(log_weight - log_weight.max()))
    x = ordered[-tail:] - ordered[-tail - 1]
    if x[-1] <= 0:
        return -math.inf
    x = x[x > 0]
    if len(x) < 5:
        return math.inf
    grid = 30 + int(math.sqrt(len(x)))
    quartile = x[max(int(len(x) / 4 + 0.5) - 1, 0)]
    theta = 1 / x[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    profile = len(x) * (np.log(-theta / shape) - shape - 1)
    weight = np.exp(profile - profile.max())
    best = float((theta * weight).sum() / weight.sum())
    k = float(np.log1p(-best * x).mean())
    # A weak prior at 0.5 with the weight of ten draws steadies short tails, as in the paper.
    return (len(x) * k + 5) / (len(x) + 10)


@dataclass(frozen=True)
class _Mixture:
    """Weights (component,), locations (component, parameter) and covariances (component, parameter, parameter)."""

    weight: FloatArray
    location: FloatArray
    covariance: FloatArray
    degrees: float


def _propose(mixture: _Mixture, size: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    factor = np.linalg.cholesky(mixture.covariance)
    component = rng.choice(len(mixture.weight), size=size, p=mixture.weight)
    z = rng.standard_normal((size, dimension))
    stretch = np.sqrt(mixture.degrees / rng.chisquare(mixture.degrees, size=size))
    t = mixture.location[component] + stretch[:, None] * np.einsum("nij,nj->ni", factor[component], z)
    defensive = rng.random(size) < DEFENCE
    return np.where(defensive[:, None], rng.standard_normal((size, dimension)), t)


def _log_proposal(mixture: _Mixture, u: FloatArray) -> FloatArray:
    terms = np.column_stack([np.log(mixture.weight) + _log_t(mixture, u)[0] + math.log1p(-DEFENCE),
                             _log_normal(u) + math.log(DEFENCE)])  # fmt: skip
    log_density: FloatArray = np.logaddexp.reduce(terms, axis=1)
    return log_density


def _log_t(mixture: _Mixture, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log densities and squared distances (draw, component) of the t distributions."""
    dimension = u.shape[1]
    factor = np.linalg.cholesky(mixture.covariance)
    log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    standardised = np.linalg.solve(factor, np.moveaxis(u[:, None] - mixture.location, 0, -1))
    distance = (standardised**2).sum(axis=1).T
    degrees = mixture.degrees
    constant = (
        math.lgamma((degrees + dimension) / 2)
        - math.lgamma(degrees / 2)
        - 0.5 * dimension * math.log(degrees * math.pi)
    )
    return constant - log_root - 0.5 * (degrees + dimension) * np.log1p(distance / degrees), distance


def _fit(u: FloatArray, log_weight: FloatArray, mixture: _Mixture) -> _Mixture:
    """Weighted expectation-maximisation of the mixture, 15 steps from where it was."""
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    dimension = u.shape[1]
    some = weight > 1e-12
    u, weight = u[some], weight[some]
    mean = weight @ u
    spread = (weight[:, None] * (u - mean)).T @ (u - mean)
    ridge = 0.02 * np.diag(np.diag(spread)) + 1e-6 * np.eye(dimension)
    before, effective_number = mixture.covariance / INFLATION, 1 / (weight**2).sum()
    for _ in range(15):
        log_density, distance = _log_t(mixture, u)
        joint = log_density + np.log(mixture.weight)
        share = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)) * weight[:, None]
        latent = share * (mixture.degrees + dimension) / (mixture.degrees + distance)
        total = share.sum(axis=0)
        locations, covariances = [], []
        for j in range(len(total)):
            location = latent[:, j] @ u / latent[:, j].sum()
            around = u - location
            fitted = (latent[:, j, None] * around).T @ around / total[j] + ridge
            # Few draws do not know a large matrix: what was before stands in for as many draws as there are dimensions.
            kept = (
                dimension / (dimension + effective_number * total[j])
                if dimension > MAX_DIMENSIONS_FOR_WIDE_PROPOSALS
                else 0.0
            )
            covariances.append((1 - kept) * fitted + kept * before[j])
            locations.append(location)
        share_of = np.maximum(total, 0.02)
        mixture = _Mixture(share_of / share_of.sum(), np.stack(locations), np.stack(covariances), mixture.degrees)
    return replace(mixture, covariance=mixture.covariance * INFLATION)


def mode(log_likelihood: LogLikelihood, start: FloatArray, slope: Slope | None = None) -> FloatArray:
    """Mode of the posterior, (parameter,); the slope is found by differences where none is given."""
    from scipy.optimize import minimize

    step = 1e-3 * np.eye(len(start))

    def objective(u: FloatArray) -> tuple[float, FloatArray]:
        if slope is not None:
            value, gradient = float(0.5 * u @ u - log_likelihood(u[None])[0]), u - slope(u)
        else:
            at = np.concatenate([u[None], u + step, u - step])
            values = 0.5 * (at**2).sum(axis=1) - log_likelihood(at)
            value, gradient = float(values[0]), (values[1 : len(u) + 1] - values[len(u) + 1 :]) / 2e-3
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return (value, gradient) if finite else (UNKNOWN, np.zeros_like(u))

    # A box that moves: a first step that overshoots ends where standard deviations are beyond what doubles can factor.
    at = np.asarray(start, dtype=np.float64)
    for _ in range(MOVES):
        box = [(value - REACH, value + REACH) for value in at]
        before, at = at, np.asarray(minimize(objective, at, jac=True, method="L-BFGS-B", bounds=box).x)
        if np.abs(at - before).max(initial=0.0) < REACH:
            break
    return at


def _curvature(log_likelihood: LogLikelihood, at: FloatArray) -> FloatArray:
    """Covariance from the curvature of the log posterior, no wider than the prior's by a factor of 2."""
    wide, dimension = 0.05, len(at)
    first, second = np.triu_indices(dimension)
    ahead, across = wide * np.eye(dimension)[first], wide * np.eye(dimension)[second]
    corners = np.concatenate([at + ahead + across, at + ahead - across, at - ahead + across, at - ahead - across])
    value = (0.5 * (corners**2).sum(axis=1) - log_likelihood(corners)).reshape(4, -1)
    curvature = np.zeros((dimension, dimension))
    curvature[first, second] = curvature[second, first] = (value[0] - value[1] - value[2] + value[3]) / (4 * wide**2)
    return _covariance_of(curvature)


def curvature_of(slope: Slope, at: FloatArray) -> FloatArray:
    """The same from differences of the slope."""
    steps = 0.05 * np.eye(len(at))
    rows = np.stack([slope(at - step) - slope(at + step) for step in steps]) / 0.1
    return _covariance_of(np.eye(len(at)) + 0.5 * (rows + rows.T))


def _covariance_of(curvature: FloatArray) -> FloatArray:
    roots, vectors = np.linalg.eigh(np.where(np.isfinite(curvature), curvature, np.eye(len(curvature))))
    covariance: FloatArray = (vectors / np.maximum(roots, 0.5)) @ vectors.T
    return covariance


def _log_normal(u: FloatArray) -> FloatArray:
    log_density: FloatArray = -0.5 * (u**2).sum(axis=1) - 0.5 * u.shape[1] * math.log(2 * math.pi)
    return log_density


def _log_mean_exp(values: FloatArray) -> FloatArray:
    log_mean: FloatArray = np.logaddexp.reduce(values, axis=1) - math.log(values.shape[1])
    return log_mean
