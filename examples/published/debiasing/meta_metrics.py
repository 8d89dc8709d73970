"""Accuracy of estimates of the variance between subgroups, on the designs of Lum, Zhang, Bower (2022).

    python -m examples.published.debiasing.meta_metrics --output tests/recovery/records/between_group_variance.csv

takes about four minutes on one core, most of it for posteriors with a binomial likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import Interval
from bayesgroups.inference.collapsed import binomial, gaussian
from bayesgroups.questions.disparities import finite_population, heterogeneity, q_profile, q_unified, tau_likelihood
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from examples.coverage_loop import covers, lines_of_designs, require, share_and_error

PROGRAM = "examples.published.debiasing.meta_metrics"

SUBGROUPS = 100
REPLICATIONS = 1000
BOOTSTRAP = 500
NORMAL_POSTERIORS = 250
BINOMIAL_POSTERIORS = 150
LEVEL = 0.95
SEED = 20_220_621
CHUNK = 25
"""Replications whose bootstrap is held at once."""


@dataclass(frozen=True)
class VarianceDesign:
    """Rows and true rates (subgroup,); estimates are binomial."""

    name: str
    size: FloatArray
    rate: FloatArray

    @property
    def truth(self) -> float:
        """Variance of the true rates of these subgroups, divisor K - 1."""
        return float(self.rate.var(ddof=1))


@dataclass(frozen=True)
class Answers:
    """Answers of a method in every replication: raw estimates and limits, (replication,)."""

    name: str
    raw: FloatArray
    interval: Interval


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    design, method : str
    truth, bias, rmse : float
        Variance of the true rates; mean of the raw estimates less that; root mean squared error of the truncated ones.
    coverage, mc_error : float
        Share of the 95 % intervals that hold the truth, and its Monte Carlo standard error.
    missed_below, missed_above : float
        Shares of the intervals that lie above the truth, and below it.
    width : float
        Mean length.
    replications, seed : int
    """

    design: str
    method: str
    truth: float
    bias: float
    rmse: float
    coverage: float
    mc_error: float
    missed_below: float
    missed_above: float
    width: float
    replications: int
    seed: int


def designs() -> list[VarianceDesign]:
    """Equal and unequal sizes by equal and unequal rates; in the last the small subgroups have the low rates.

    Examples
    --------
    >>> from examples.published.debiasing.meta_metrics import designs
    >>> [(design.name, int(design.size.sum()), round(design.truth, 6)) for design in designs()][-1]
    ('unequal sizes, unequal rates', 5000, 0.05496)
    """
    share = np.arange(SUBGROUPS) / (SUBGROUPS - 1)
    sizes = {"equal": np.full(SUBGROUPS, 50.0), "unequal": np.round(10 + 80 * share)}
    rates = {"equal": np.full(SUBGROUPS, 0.8), "unequal": 0.1 + 0.8 * share}
    return [
        VarianceDesign(f"{size} sizes, {rate} rates", sizes[size], rates[rate])
        for rate in ("equal", "unequal")
        for size in ("equal", "unequal")
    ]


def study(
    replications: int = REPLICATIONS, seed: int = SEED, *, normal_posteriors: int = NORMAL_POSTERIORS,
    binomial_posteriors: int = BINOMIAL_POSTERIORS, executor: Executor = HERE,
) -> list[Line]:  # fmt: skip
    """Coverage, width and error of every estimate of the variance between subgroups in every design.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per design, at least 2.
    seed : int
        Source of randomness; every design has its own stream.
    normal_posteriors, binomial_posteriors : int
        Of how many sets posteriors are computed.
    executor : Executor
        Where designs are tried, each of them a piece, and their lines kept.

    Returns
    -------
    list of Line

    Raises
    ------
    InputError
        If there are fewer than two replications or posteriors of a kind.

    Examples
    --------
    >>> from examples.published.debiasing.meta_metrics import study
    >>> len({line.method for line in study(2, 1, normal_posteriors=2, binomial_posteriors=2)})
    25
    """
    sizes = (replications, normal_posteriors, binomial_posteriors)
    require(min(sizes))
    measure, settings = partial(_measure, sizes, seed), {"seed": seed, "sizes": list(sizes)}
    name, number = "variances between subgroups", len(designs())
    return lines_of_designs(Line, name, measure, number, settings=settings, executor=executor)


def _measure(sizes: tuple[int, int, int], seed: int, position: int) -> list[Line]:
    replications, *posteriors = sizes
    design, rng = designs()[position], np.random.default_rng([seed, position])
    drawn = rng.binomial(design.size.astype(np.int64), design.rate, size=(replications, SUBGROUPS))
    answers = _answers(design, drawn.astype(np.float64), rng, *posteriors)
    return [_line(design, each, seed) for each in answers]


def _answers(
    design: VarianceDesign, successes: FloatArray, rng: np.random.Generator, normal: int, counts: int
) -> Iterator[Answers]:
    n = design.size
    y = successes / n
    own_variance = y * (1 - y) / (n - 1)
    pooled = (n * y * (1 - y)).sum(axis=1, keepdims=True) / (n - 1).sum() / n
    yield from bootstrapped(y, n, rng)
    spread = finite_population.of_rates(successes, n, own_variance, pooled)
    yield Answers("corrected, unified", spread.raw, finite_population.interval(spread, LEVEL))
    yield Answers("corrected, upper", spread.raw, finite_population.interval(spread, LEVEL, upper_only=True))
    for which, v in (
        ("own", np.where(own_variance > 0, own_variance, pooled)),
        ("pooled", np.broadcast_to(pooled, y.shape)),
    ):
        yield from _classic(which, y, v)
    v = np.where(own_variance > 0, own_variance, pooled)
    yield from _normal_posterior(y[:normal], v[:normal], rng)
    yield from _binomial_posterior(successes[:counts], n, rng)


def bootstrapped(y: FloatArray, n: FloatArray, rng: np.random.Generator, draws: int = BOOTSTRAP) -> list[Answers]:
    """Percentile and basic intervals of the parametric bootstrap, which is the bootstrap of the rows of a rate.

    Parameters
    ----------
    y : array (replication, subgroup)
        Rates.
    n : array (subgroup,)
        Rows.
    rng : numpy Generator
    draws : int
        Bootstrap replicates.

    Returns
    -------
    list of Answers
        Uncorrected, corrected and double-corrected, as published and without bias.

    Examples
    --------
    >>> import numpy as np
    >>> from examples.published.debiasing.meta_metrics import bootstrapped
    >>> y, n = np.array([[0.2, 0.4, 0.9]]), np.full(3, 10.0)
    >>> [answers.name for answers in bootstrapped(y, n, np.random.default_rng(1), 50)][:2]
    ['uncorrected, percentile', 'corrected, percentile (published)']
    """
    plain = y * (1 - y)
    spread = y.var(axis=1, ddof=1)
    points = {"published": spread - (plain / n).mean(axis=1), "unbiased": spread - (plain / (n - 1)).mean(axis=1)}
    factors = {
        "uncorrected, percentile": np.zeros(len(n)),
        "corrected, percentile (published)": 1 / n,
        "double_corrected, percentile (published)": (2 * n - 1) / n**2,
        "double_corrected, percentile": (2 * n - 1) / (n - 1) ** 2,
    }
    limits = {name: np.empty((2, len(y))) for name in factors}
    for start in range(0, len(y), CHUNK):
        part = y[start : start + CHUNK]
        again = rng.binomial(n.astype(np.int64), part[:, None], size=(len(part), draws, len(n))) / n
        variance, rows = again.var(axis=2, ddof=1), again * (1 - again)
        for name, factor in factors.items():
            values = variance - rows @ factor / len(n)
            limits[name][:, start : start + CHUNK] = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    answers = []
    for name, (low, high) in limits.items():
        raw = spread if name.startswith("uncorrected") else points["published" if "published" in name else "unbiased"]
        answers.append(Answers(name, raw, Interval(np.maximum(low, 0.0), np.maximum(high, 0.0))))
    low, high = limits["double_corrected, percentile"]
    point = points["unbiased"]
    basic = Interval(np.maximum(2 * point - high, 0.0), np.maximum(2 * point - low, 0.0))
    return [*answers, Answers("double_corrected, basic", point, basic)]


def _classic(which: str, y: FloatArray, v: FloatArray) -> Iterator[Answers]:
    profile, unified = q_profile.two_sided(y, v, LEVEL), q_unified.interval(y, v, LEVEL)
    reml, ml = (tau_likelihood.maximise(y, v, restricted=restricted) for restricted in (True, False))
    sj = heterogeneity.sidik_jonkman(y, v)
    error = 1 - LEVEL
    yield Answers(f"dl, q_profile ({which})", heterogeneity.dersimonian_laird(y, v), profile)
    yield Answers(f"pm, unified ({which})", heterogeneity.paule_mandel(y, v), unified)
    upper = Interval(np.zeros(len(y)), q_profile.upper_limit(y, v, LEVEL))
    yield Answers(f"he, upper ({which})", heterogeneity.hedges(y, v), upper)
    yield Answers(f"sj, sidik_jonkman ({which})", sj, q_profile.of_sidik_jonkman(sj, y.shape[1], LEVEL))
    for name, estimate in (("ml", ml), ("reml", reml)):
        limits = tau_likelihood.interval(y, v, estimate, error, restricted=name == "reml")
        yield Answers(f"{name}, profile_likelihood ({which})", estimate, limits)


def _summary(name: str, draws: FloatArray) -> Iterator[Answers]:
    """Equal-tailed interval and upper limit of posterior draws (replication, draw), with the median."""
    low, middle, high, upper = np.quantile(draws, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2, LEVEL], axis=1)
    yield Answers(f"{name}, equal_tailed", middle, Interval(low, high))
    yield Answers(f"{name}, upper", middle, Interval(np.zeros(len(low)), upper))


def _normal_posterior(y: FloatArray, v: FloatArray, rng: np.random.Generator) -> Iterator[Answers]:
    """Half-normal tau of scale 0.25, overall ~ Normal(0.5, 0.5), sampling variances taken as known."""
    finite, population = [], []
    for rates, variance in zip(y, v, strict=True):
        posterior = gaussian.sample(
            rates, variance, rng, centre=0.5, overall_scale=0.5, tau_scale=0.25, draws=1000, nodes=512
        )
        finite.append(posterior.mu.var(axis=1, ddof=1))
        population.append(posterior.tau**2)
    yield from _summary("normal posterior of tau^2", np.array(population))
    yield from _summary("normal posterior of these", np.array(finite))


def _binomial_posterior(successes: FloatArray, n: FloatArray, rng: np.random.Generator) -> Iterator[Answers]:
    """The default of partial pooling: normal logits, their scale HalfNormal(1)."""
    variances = [
        binomial.sample(counts, n, rng, draws=1000, tau_scale=1.0).mu.var(axis=1, ddof=1) for counts in successes
    ]
    yield from _summary("binomial posterior of these", np.array(variances))


def _line(design: VarianceDesign, answers: Answers, seed: int) -> Line:
    truth = design.truth if design.rate.min() < design.rate.max() else 0.0
    low, high = answers.interval.lower, answers.interval.upper
    share, error = share_and_error(covers(low, high, truth))
    return Line(
        design.name, answers.name, truth, float(answers.raw.mean() - truth),
        float(np.sqrt(((np.maximum(answers.raw, 0.0) - truth) ** 2).mean())), share,
        error, float((low > truth).mean()), float((high < truth).mean()),
        float((high - low).mean()), len(low), seed,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Variances between subgroups on published designs.", REPLICATIONS, SEED)
    asked.add_argument("--normal-posteriors", type=int, default=NORMAL_POSTERIORS)
    asked.add_argument("--binomial-posteriors", type=int, default=BINOMIAL_POSTERIORS)
    given = asked.parse_args(arguments)
    posteriors = {
        "normal_posteriors": given.normal_posteriors,
        "binomial_posteriors": given.binomial_posteriors,
    }
    record(given, partial(study, **posteriors))


if __name__ == "__main__":
    main()
