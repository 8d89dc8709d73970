"""Simulated designs with known truth, and the intervals that are tried on each.

``rates``
    32 subgroups of 2 to 956 rows, the sizes of a published evaluation set; rates uniform on (.15, .35), drawn
    anew in every replication.
``normal_01``, ``normal_002``
    12 subgroups of 4 to 80 rows, row variance .2 known; true means Normal(0, .01) or Normal(0, .002).
``two_point_01``
    The same with two values, the upper one in a tenth of the subgroups, variance .01.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.datasets import STUDY_SIZES
from bayesgroups.frequentist.intervals import Interval, bock, fab, means, moments, morris, proportions, robust
from bayesgroups.inference.collapsed import binomial, conjugate, gaussian
from bayesgroups.models.shared.scales import JEFFREYS
from bayesgroups.report.levels import LEVELS

Truth = Callable[[np.random.Generator, tuple[int, int]], FloatArray]
Tried = Iterator[tuple[str, list[Interval]]]

RATES = (0.15, 0.35)
ROW_VARIANCE = 0.2
POSTERIOR_DRAWS = 1000
BOOTSTRAP_DRAWS = 200
OF_COUNTS = (
    proportions.wilson,
    proportions.jeffreys,
    proportions.clopper_pearson,
    proportions.wald,
    proportions.percentile,
)
BAYESIAN_THINNING = 24
"""A posterior costs a hundred times an interval: it is tried in one of so many replications."""


@dataclass(frozen=True)
class Design:
    """A design: its sizes, how truth and data are drawn, and the intervals that are tried.

    Attributes
    ----------
    name : str
    sizes : array (subgroup,)
    draw : callable
        ``draw(rng, replications)`` gives truth and estimates, both (replication, subgroup).
    reference : callable
        ``reference(estimates, level)`` is the interval whose width the others are compared to.
    intervals : callable
        ``intervals(estimates, rng)`` yields names and one interval per level of `bayesgroups.report.levels.LEVELS`.
    thinning : int
        How many times fewer replications are made.
    """

    name: str
    sizes: FloatArray
    draw: Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]
    reference: Callable[[FloatArray, float], Interval]
    intervals: Callable[[FloatArray, np.random.Generator], Tried]
    thinning: int = 1


def designs() -> tuple[Design, ...]:
    """All designs, first with the frequentist intervals, then with the Bayesian ones.

    Examples
    --------
    >>> [design.name for design in designs()][:4]
    ['rates', 'normal_01', 'normal_002', 'two_point_01']
    """

    def normal(variance: float) -> Truth:
        return lambda rng, shape: rng.normal(0.0, np.sqrt(variance), shape)

    def two_point(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        share = 0.1
        upper = rng.random(shape) < share
        mean: FloatArray = 0.1 * (upper - share) / np.sqrt(share * (1 - share))
        return mean

    plain = (
        _rates(),
        _exchangeable("normal_01", normal(0.01)),
        _exchangeable("normal_002", normal(0.002)),
        _exchangeable("two_point_01", two_point),
    )
    bayesian = [
        dataclasses.replace(
            design, thinning=BAYESIAN_THINNING, intervals=_credible_rates if design.name == "rates" else _credible_means
        )
        for design in plain
    ]
    return (*plain, *bayesian)


def _rates() -> Design:
    """Rates of 32 subgroups, and every interval of `bayesgroups.frequentist.no_pooling`."""
    sizes = np.array(sorted(STUDY_SIZES), dtype=np.float64)
    # Every count there can be, so that intervals of counts are computed once for each.
    counts = np.concatenate([np.arange(size + 1) for size in sizes])
    totals, first = np.repeat(sizes, (sizes + 1).astype(np.int64)), np.cumsum(sizes + 1) - sizes - 1

    def draw(rng: np.random.Generator, replications: int) -> tuple[FloatArray, FloatArray]:
        truth = rng.uniform(*RATES, size=(replications, len(sizes)))
        return truth, rng.binomial(sizes.astype(np.int64), truth) / sizes

    def corrected(z: FloatArray) -> FloatArray:
        pooled: FloatArray = (sizes * z * (1 - z)).sum(axis=-1, keepdims=True) / (sizes - 1).sum() / sizes
        return pooled

    def intervals(z: FloatArray, _: np.random.Generator) -> Tried:
        n = np.broadcast_to(sizes, z.shape)
        plain, one = z * (1 - z), corrected(z)
        at = (first + np.round(z * n)).astype(np.int64)
        freedom = float((sizes - 1).sum())
        published = one * freedom / sizes.sum()
        yield "pooled_normal", [means.pooled_normal(z, one, level) for level in LEVELS]
        yield "pooled_normal_published", [means.pooled_normal(z, published, level) for level in LEVELS]
        yield "pooled_t", [means.pooled_t(z, one, freedom, level) for level in LEVELS]
        yield "separate_normal", [means.separate_normal(z, plain / n, level) for level in LEVELS]
        yield "t", [means.t(z, plain * n / (n - 1), n, level) for level in LEVELS]
        for function in OF_COUNTS:
            found = [function(counts, totals, level) for level in LEVELS]
            yield function.__name__, [Interval(each.lower[at], each.upper[at]) for each in found]

    def reference(z: FloatArray, level: float) -> Interval:
        return means.pooled_normal(z, corrected(z), level)

    return Design("rates", sizes, draw, reference, intervals)


def _exchangeable(name: str, truth: Truth) -> Design:
    """Twelve means with known sampling variances, and every interval of empirical Bayes and of James-Stein."""
    sizes = np.geomspace(4, 80, 12)
    variance = ROW_VARIANCE / sizes

    def draw(rng: np.random.Generator, replications: int) -> tuple[FloatArray, FloatArray]:
        mu = truth(rng, (replications, len(sizes)))
        return mu, mu + np.sqrt(variance) * rng.standard_normal(mu.shape)

    def intervals(z: FloatArray, rng: np.random.Generator) -> Tried:
        v = np.broadcast_to(variance, z.shape)
        plug_in, corrected, linear, guessed = moments.fit(z, v), morris.fit(z, v), robust.fit(z, v), fab.fit(z, v)
        unbounded = dataclasses.replace(linear, kurtosis=np.full_like(linear.kurtosis, np.inf))
        yield "unshrunk", [reference(z, level) for level in LEVELS]
        yield "plug_in", [moments.interval(plug_in, level) for level in LEVELS]
        yield "morris", [morris.interval(corrected, level) for level in LEVELS]
        yield "robust", [robust.interval(linear, level) for level in LEVELS]
        yield "robust_any_kurtosis", [robust.interval(unbounded, level) for level in LEVELS]
        yield "fab", [fab.interval(guessed, level) for level in LEVELS]
        shrunk, errors = bock.fit(z, v), bock.errors(z, v, rng, replicates=BOOTSTRAP_DRAWS)
        yield "james_stein_bootstrap", [bock.interval(shrunk, errors, level) for level in LEVELS]

    def reference(z: FloatArray, level: float) -> Interval:
        return means.pooled_normal(z, np.broadcast_to(variance, z.shape), level)

    return Design(name, sizes, draw, reference, intervals)


def _credible_rates(z: FloatArray, rng: np.random.Generator) -> Tried:
    """Posterior quantiles of rates: partial pooling with its default priors, and the Jeffreys posterior."""
    n = np.array(sorted(STUDY_SIZES), dtype=np.float64)
    k = np.round(z * n)
    pooled = [binomial.sample(row, n, rng, draws=POSTERIOR_DRAWS).mu for row in k]
    yield "bayesian_partial_pooling", _credible(pooled)
    alone = [conjugate.beta(row, n, rng, draws=POSTERIOR_DRAWS, prior=JEFFREYS) for row in k]
    yield "bayesian_no_pooling", _credible(alone)


def _credible_means(z: FloatArray, rng: np.random.Generator) -> Tried:
    """The same for means, with the priors of a metric without a range: the information of a single row."""
    n = np.geomspace(4, 80, 12)
    scale = float(np.sqrt(ROW_VARIANCE))
    pooled = [
        gaussian.sample(
            row, ROW_VARIANCE / n, rng, centre=float(np.average(row, weights=n)), overall_scale=scale,
            tau_scale=scale / 2, draws=POSTERIOR_DRAWS,
        ).mu
        for row in z
    ]  # fmt: skip
    yield "bayesian_partial_pooling", _credible(pooled)
    flat = [
        gaussian.sample(
            row,
            ROW_VARIANCE / n,
            rng,
            centre=0.0,
            overall_scale=scale,
            tau_scale=scale,
            draws=POSTERIOR_DRAWS,
            flat=True,
        ).mu
        for row in z
    ]
    yield "bayesian_james_stein", _credible(flat)


def _credible(draws: list[FloatArray]) -> list[Interval]:
    """Equal-tailed intervals from draws (draw, subgroup) of every replication.

    The quantile at p is where a new draw lies below with probability p, so that few draws cost no coverage.
    """
    tails = np.array([(1 - level) / 2 for level in LEVELS])
    at = np.concatenate([tails, 1 - tails])
    found = np.stack([np.quantile(each, at, axis=0, method="weibull") for each in draws], axis=1)
    return [Interval(lower, upper) for lower, upper in zip(found[: len(LEVELS)], found[len(LEVELS) :], strict=True)]
