"""Errors of statements about all subgroups, on the 32 subgroups of the standard design.

    python -m tests.recovery.studies.family_wise --output tests/recovery/records/family_wise.csv

takes about one minute on one core.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.datasets.demonstrations import STUDY_SIZES
from bayesgroups.estimators import NoPooling, PartialPooling
from bayesgroups.estimators.estimate import estimate
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.questions.certification import discoveries, margins, multiplicity, simultaneous_intervals
from bayesgroups.questions.certification.bounds import limits
from bayesgroups.questions.certification.multiplicity import Correction
from bayesgroups.questions.certification.overlapping import deviations
from bayesgroups.questions.certification.rank_intervals import critical_value_of_pairs, rank_limits
from bayesgroups.questions.subgroup_values import Sample
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies import tally_from_counts
from examples.commands import parser, record
from examples.coverage_loop import lines_of_designs, mean_and_error, require

PROGRAM = "tests.recovery.studies.family_wise"
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SIZES = np.array(STUDY_SIZES, dtype=np.float64)
LEVEL = 0.95
STANDARD = 0.8
"""What subgroups are held to, and where they are when they just reach it."""
ABOVE = 0.995
"""Where the others are when the pessimist could err in one."""
ROW_SD = 0.4
"""Of the rows of means."""
SPREAD = 0.05
"""Standard deviation of the subgroups of a table that is drawn with its truth."""
BEHIND = 8
"""Subgroups that are far behind where discoveries are made: the largest."""
REPLICATIONS = 20_000
THINNING = 50
"""A report is made in one of so many replications."""
SEED = 20_240_711


@dataclass(frozen=True)
class Error:
    """One line of the record.

    Attributes
    ----------
    statement : str
        What is said: by the optimist or the pessimist, a band for all subgroups, ranks, discoveries.
    method, correction : str
        Limits and what they are corrected by.
    groups : int
        Subgroups that the statement is about.
    error, mc_error : float
        Share of tables in which it is false (of discoveries, mean share of false ones), and its Monte Carlo error.
    replications, seed : int
    """

    statement: str
    method: str
    correction: str
    groups: int
    error: float
    mc_error: float
    replications: int
    seed: int


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Error]:
    """Measure the error of every statement, 5 % by intention.

    Parameters
    ----------
    replications : int
        Simulated tables, at least 2 * `THINNING`.
    seed : int
        Source of randomness; every kind of statement has its own stream.
    executor : Executor
        Where they are tried, each kind a piece, and their lines kept.

    Returns
    -------
    list of Error
        The same numbers for the same arguments.

    Raises
    ------
    InputError
        If there are too few replications.

    Examples
    --------
    >>> from tests.recovery.studies.family_wise import study
    >>> found = study(replications=100, seed=1)
    >>> sorted({line.statement for line in found})[:2]
    ['band', 'band of margins']
    """
    require(replications, 2 * THINNING, "to have reports as well")
    measure, settings = partial(_measure, replications, seed), {"seed": seed, "replications": replications}
    name, number = "errors of statements about all subgroups", len(_parts())
    return lines_of_designs(Error, name, measure, number, settings=settings, executor=executor)


def _parts() -> list[Callable[[np.random.Generator, int, int], list[Error]]]:
    return [_optimist, _pessimist, _means, _margins, _ranks, _reports, _discoveries]


def _measure(replications: int, seed: int, position: int) -> list[Error]:
    return _parts()[position](np.random.default_rng([seed, position]), replications, seed)


def _line(statement: str, method: str, correction: str, groups: int, wrong: FloatArray | BoolArray, seed: int) -> Error:
    return Error(statement, method, correction, groups, *mean_and_error(wrong), len(wrong), seed)


def _rates(rng: np.random.Generator, truth: FloatArray, replications: int) -> Sample:
    hits = rng.binomial(SIZES.astype(int), truth, size=(replications, len(SIZES))).astype(np.float64)
    nothing = np.full(hits.shape, np.nan)
    return Sample(hits / SIZES, np.broadcast_to(SIZES, hits.shape), hits, nothing, nothing, float("nan"))


def _limits(sample: Sample, method: str, z: float) -> Interval:
    """Limits of rates, computed once for every pair of counts that occurs."""
    pairs = sample.successes * (SIZES.max() + 1) + sample.count
    _, first, place = np.unique(pairs, return_index=True, return_inverse=True)
    count, hits = sample.count.ravel()[first], sample.successes.ravel()[first]
    nothing = np.full(hits.shape, np.nan)
    found = limits(Sample(hits / count, count, hits, nothing, nothing, float("nan")), method, z)
    return Interval(found.lower[place].reshape(pairs.shape), found.upper[place].reshape(pairs.shape))


def _optimist(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """All subgroups just reach the standard: the optimist errs when he denies it."""
    sample = _rates(rng, np.full(len(SIZES), STANDARD), replications)
    corrections: tuple[Correction, ...] = ("none", "bonferroni", "simultaneous")
    lines = []
    for method, correction in itertools.product(("wald", "wilson", "jeffreys", "clopper_pearson"), corrections):
        z = multiplicity.critical_value(correction, LEVEL, len(SIZES))
        wrong = (_limits(sample, method, z).upper < STANDARD).any(axis=1)
        lines.append(_line("optimist", method, correction, len(SIZES), wrong, seed))
    return lines


def _pessimist(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """One subgroup of 58 rows just misses the standard, all others are far above: the pessimist errs when he certifies it."""
    truth = np.full(len(SIZES), ABOVE)
    truth[int(np.argmax(SIZES == 58))] = STANDARD
    sample = _rates(rng, truth, replications)
    lines = []
    corrections: tuple[Correction, ...] = ("none", "bonferroni")
    for method, correction in itertools.product(("wald", "wilson", "clopper_pearson"), corrections):
        z = multiplicity.critical_value(correction, LEVEL, len(SIZES))
        # Subgroups of a few rows can never be shown to reach the standard; those of 25 and more can.
        shown = (_limits(sample, method, z).lower >= STANDARD)[:, SIZES >= 25]
        lines.append(_line("pessimist", method, correction, shown.shape[1], shown.all(axis=1), seed))
    return lines


def _means(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """Means of normal rows, all alike, with the pooled variance: what is exact by theory."""
    noise = rng.standard_normal((replications, len(SIZES))) * ROW_SD / np.sqrt(SIZES)
    freedom = float((SIZES - 1).sum())
    variance = ROW_SD**2 * rng.chisquare(freedom, (replications, 1)) / freedom / SIZES
    nothing = np.full(noise.shape, np.nan)
    sample = Sample(STANDARD + noise, nothing, nothing, variance, nothing, freedom)
    lines = []
    corrections: tuple[Correction, ...] = ("none", "bonferroni", "simultaneous")
    for correction in corrections:
        z = multiplicity.critical_value(correction, LEVEL, len(SIZES))
        wrong = (limits(sample, "pooled_t", z).upper < STANDARD).any(axis=1)
        lines.append(_line("optimist", "pooled_t", correction, len(SIZES), wrong, seed))
    z = multiplicity.critical_value("simultaneous", LEVEL, len(SIZES), sides=2)
    band = limits(sample, "pooled_t", z)
    outside = ((band.lower > STANDARD) | (band.upper < STANDARD)).any(axis=1)
    return [*lines, _line("band", "pooled_t", "simultaneous", len(SIZES), outside, seed)]


def _margins(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """The 32 subgroups and their 42 margins, which share rows."""
    table = margins(_tally(np.round(STANDARD * SIZES)))
    members = table["members"].values.astype(bool)
    same = np.full(len(SIZES), STANDARD)
    factor = deviations(same, SIZES, ROW_SD**2, members)
    noise = rng.standard_normal((replications, len(SIZES))) * ROW_SD / np.sqrt(SIZES)
    share = members * SIZES
    share /= share.sum(axis=1, keepdims=True)
    distance = (noise @ share.T) / np.sqrt((factor**2).sum(axis=1))
    lines = []
    for correction, z in (
        ("simultaneous", multiplicity.correlated_critical_value(factor, LEVEL, rng, sides=2)),
        ("bonferroni", multiplicity.critical_value("bonferroni", LEVEL, len(factor), sides=2)),
        ("none", multiplicity.critical_value("none", LEVEL, 1, sides=2)),
    ):
        wrong = (np.abs(distance) > z).any(axis=1)
        lines.append(_line("band of margins", "pooled_normal", correction, len(factor), wrong, seed))
    return lines


def _ranks(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """Subgroups that are all alike: a rank is wrong when a pair is ordered at all."""
    covariance = np.diag(ROW_SD**2 / SIZES)
    z = critical_value_of_pairs(covariance, LEVEL, rng)
    fewer = replications // THINNING * 5
    noise = rng.standard_normal((fewer, len(SIZES))) * ROW_SD / np.sqrt(SIZES)
    wrong = np.array([(rank_limits(values, covariance, z)[0] > 1).any() for values in noise])
    return [_line("ranks", "pairs", "simultaneous", len(SIZES), wrong, seed)]


def _reports(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """Bands from draws: of a posterior over tables drawn with their truth, and of a bootstrap."""
    wrong: dict[str, list[bool]] = {"posterior_max_t": [], "bootstrap_max_t": [], "clopper_pearson": []}
    for one in range(replications // THINNING):
        truth = 1 / (1 + np.exp(-(np.log(STANDARD / (1 - STANDARD)) + SPREAD / 0.16 * rng.standard_normal(len(SIZES)))))
        table = _tally(rng.binomial(SIZES.astype(int), truth).astype(np.float64))
        pooled = estimate(table, PartialPooling(), seed=one)
        alone = estimate(table, NoPooling(bootstrap=1000), seed=one)
        bands = {
            "posterior_max_t": simultaneous_intervals(pooled),
            "bootstrap_max_t": simultaneous_intervals(alone, using="bootstrap"),
            "clopper_pearson": simultaneous_intervals(alone, using="tally"),
        }
        for name, intervals in bands.items():
            band = intervals.isel(metric=0)
            outside = (band["lower_unclipped"].values > truth) | (band["upper_unclipped"].values < truth)
            wrong[name].append(bool(outside.any()))
    return [_line("band", name, "simultaneous", len(SIZES), np.array(found), seed) for name, found in wrong.items()]


def _discoveries(rng: np.random.Generator, replications: int, seed: int) -> list[Error]:
    """The largest subgroups are far behind, the others just reach what is tolerated: the share of false discoveries."""
    behind = np.zeros(len(SIZES), dtype=bool)
    behind[np.argsort(SIZES)[-BEHIND:]] = True
    truth = np.where(behind, STANDARD - 0.15, STANDARD)
    shares = []
    for _ in range(replications // THINNING):
        table = _tally(rng.binomial(SIZES.astype(int), truth).astype(np.float64))
        chosen = discoveries(table, reference=STANDARD)["discovered"].values[0] == 1
        shares.append((chosen & ~behind).sum() / max(chosen.sum(), 1))
    return [_line("discoveries", "pooled_normal", "benjamini_hochberg", len(SIZES), np.array(shares), seed)]


def _tally(successes: FloatArray) -> xr.Dataset:
    import pandas as pd

    levels = itertools.product("abcd", "fm", "1234")
    who = pd.DataFrame(list(levels), columns=["race", "sex", "age"])
    return tally_from_counts(successes, SIZES, who, metric="acc")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Errors of statements about all subgroups at once.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
