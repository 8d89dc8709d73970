"""Coverage of the intervals of structured regression, and errors of its estimates.

    python -m tests.recovery.studies.structured_coverage --output tests/recovery/records/structured_coverage.csv

takes about ten minutes on one core. 32 subgroups by race, sex and age, with the sizes of a published evaluation set; two truths:

``additive``
    Rates .25 plus an effect of age and one of race: .10 for one age, -.08 for one race.
``rough``
    Rates uniform on (.15, .35), drawn anew in every replication; features say nothing of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.datasets import STUDY_SIZES
from bayesgroups.frequentist.intervals import means
from bayesgroups.frequentist.structured import cross_validation, lasso, rblpr
from bayesgroups.frequentist.structured.cross_validation import Split
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies.dealing import deal_counts
from examples.commands import parser, record
from examples.coverage_loop import Judgement, covers, judgements, mean_and_error, require, size_classes

PROGRAM = "tests.recovery.studies.structured_coverage"

REPLICATIONS = 240
BOOTSTRAPS = 200
SEED = 20_250_310
FOLDS = 10
SHARES = (0.30, 0.05, 0.01)
"""Penalties, as shares of the one that pools completely."""
CV_THINNING = 3
"""Cross-validation is tried in one of so many replications."""
SMALL = 25


@dataclass(frozen=True)
class Coverage:
    """One line of the record.

    Attributes
    ----------
    truth, penalty, errors, size_class : str
        ``penalty`` is a share of the largest or ``cv``; ``size_class`` is ``all``, ``small`` (at most 25 rows) or ``large``.
    level, coverage, mc_error : float
        Nominal coverage; share of (replication, subgroup) pairs covered, and its Monte Carlo standard error.
    width_ratio : float
        Mean of the widths relative to those of the pooled normal interval.
    mae_ratio : float
        Mean absolute error of the estimate, the fit of the lasso, relative to that of the standard estimate.
    selected_share : float
        Mean number of selected columns per subgroup.
    replications, seed : int
    """

    truth: str
    penalty: str
    errors: str
    size_class: str
    level: float
    coverage: float
    mc_error: float
    width_ratio: float
    mae_ratio: float
    selected_share: float
    replications: int
    seed: int


def study(
    replications: int = REPLICATIONS, seed: int = SEED, bootstraps: int = BOOTSTRAPS, *, executor: Executor = HERE
) -> list[Coverage]:
    """Measure coverage, width and error for every truth, penalty and kind of errors.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per truth, at least 2.
    seed : int
        Source of randomness; every replication has its own stream.
    bootstraps : int
        Replicates of the bootstrap.
    executor : Executor
        Where replications are tried, each of them a piece, and what they found is kept.

    Returns
    -------
    list of Coverage
        The same numbers for the same arguments.

    Raises
    ------
    InputError
        If there are fewer than two replications.

    Examples
    --------
    >>> found = study(replications=2, seed=1, bootstraps=10)
    >>> sorted({(line.truth, line.penalty) for line in found})[:3]
    [('additive', '0.01'), ('additive', '0.05'), ('additive', '0.3')]
    """
    require(replications)
    sizes = np.array(STUDY_SIZES, dtype=np.float64)
    lines: list[Coverage] = []
    crossed = max(replications // CV_THINNING, 2)
    for name in _truths():
        judge = partial(_judge, name, seed, bootstraps, crossed)
        settings = {"seed": seed, "bootstraps": bootstraps, "cross_validated": crossed}
        title = f"coverage of structured regression, {name}"
        judged = judgements(title, judge, replications, settings=settings, executor=executor)
        for (penalty, errors), values in judged.items():
            lines += _summarise(name, penalty, errors, values, sizes <= SMALL, seed)
    return lines


def _judge(truth: str, seed: int, bootstraps: int, crossed: int, number: int) -> list[Judgement]:
    """Penalty and kind of errors, and parts (part, subgroup) of one replication; the first ``crossed`` ones cross-validate.

    Parts are whether intervals cover at every level, widths at every level relative to the pooled normal interval, absolute errors
    of the fit and of the standard estimate, and, the same in every subgroup, selected columns per subgroup.
    """
    sizes, truths = np.array(STUDY_SIZES, dtype=np.float64), _truths()
    rng = np.random.default_rng([seed, list(truths).index(truth), number])
    mu = truths[truth](rng)
    hits = rng.binomial(sizes.astype(np.int64), mu).astype(np.float64)
    return _try(_features(), hits, sizes, mu, rng, bootstraps, number < crossed)


def _features() -> FloatArray:
    """Indicators of four races, two sexes, four ages and of every subgroup."""
    cells = np.array(list(itertools.product(range(4), range(2), range(4))))
    blocks = [np.eye(levels)[cells[:, i]] for i, levels in enumerate((4, 2, 4))]
    return np.concatenate([*blocks, np.eye(len(cells))], axis=1)


def _truths() -> dict[str, Callable[[np.random.Generator], FloatArray]]:
    x = _features()
    additive: FloatArray = 0.25 + 0.10 * x[:, 7] - 0.08 * x[:, 2]
    return {"additive": lambda _: additive, "rough": lambda rng: rng.uniform(0.15, 0.35, size=len(x))}


def _try(
    x: FloatArray,
    hits: FloatArray,
    sizes: FloatArray,
    mu: FloatArray,
    rng: np.random.Generator,
    bootstraps: int,
    cross_validated: bool,
) -> list[Judgement]:
    z = hits / sizes
    pooled = float((sizes * z * (1 - z)).sum() / (sizes - 1).sum())
    w = sizes / pooled
    largest = lasso.penalty_max(x, z, w)
    penalties = {str(share): share * largest for share in SHARES}
    if cross_validated:
        penalties["cv"] = _cross_validate(x, hits, sizes, w, pooled, largest, rng)
    usual = [means.pooled_normal(z, 1 / w, level) for level in LEVELS]
    judged: list[Judgement] = []
    for name, penalty in penalties.items():
        line = lasso.fit(x, z, w, penalty)
        error = np.abs(line.at(x) - mu)
        kinds: tuple[rblpr.Errors, ...] = ("known_variance", "residual")
        for errors in kinds:
            drawn = rblpr.run(x, z, w, penalty, rng, selected=line.selected, errors=errors, replicates=bootstraps)
            intervals = [rblpr.interval(drawn, level) for level in LEVELS]
            covered = [covers(interval.lower, interval.upper, mu) for interval in intervals]
            ratio = [(a.upper - a.lower) / (b.upper - b.lower) for a, b in zip(intervals, usual, strict=True)]
            selected = np.full(len(z), line.selected.sum() / len(z))
            parts = np.array([*covered, *ratio, error, np.abs(z - mu), selected], dtype=np.float64)
            judged.append(((name, errors), parts.tolist()))
    return judged


def _cross_validate(
    x: FloatArray,
    hits: FloatArray,
    sizes: FloatArray,
    w: FloatArray,
    pooled: float,
    largest: float,
    rng: np.random.Generator,
) -> float:
    """The penalty of smallest loss over ten folds of the rows."""
    count, mean = deal_counts(hits, sizes, FOLDS, rng)
    splits = []
    for left, share in zip(count, mean, strict=True):
        rest = sizes - left
        with np.errstate(invalid="ignore"):
            fitted = (hits - left * np.nan_to_num(share)) / rest
        splits.append(Split(x, fitted, rest / pooled, share, left / pooled))
    grid = cross_validation.grid(largest)
    return float(grid[cross_validation.choose(cross_validation.losses(splits, grid, float(w.sum())))])


def _summarise(
    truth: str, penalty: str, errors: str, values: FloatArray, small: NDArray[np.bool_], seed: int
) -> list[Coverage]:
    """Lines of one penalty and kind of errors from judgements (replication, part, subgroup)."""
    lines = []
    for size_class, members in size_classes(small).items():
        parts = np.array([[part[members].mean() for part in replication] for replication in values]).T
        covered, ratio, (error, plain, _) = parts[: len(LEVELS)], parts[len(LEVELS) : -3], parts[-3:]
        for i, level in enumerate(LEVELS):
            coverage, mc_error = mean_and_error(covered[i])
            lines.append(
                Coverage(
                    truth,
                    penalty,
                    errors,
                    size_class,
                    level,
                    coverage=coverage,
                    mc_error=mc_error,
                    width_ratio=float(np.mean(ratio[i])),
                    mae_ratio=float(np.mean(error) / np.mean(plain)),
                    selected_share=float(np.mean(values[:, -1, 0])),
                    replications=len(values),
                    seed=seed,
                )
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Coverage of the intervals of structured regression.", REPLICATIONS, SEED)
    asked.add_argument("--bootstraps", type=int, default=BOOTSTRAPS)
    given = asked.parse_args(arguments)
    record(given, partial(study, bootstraps=given.bootstraps))


if __name__ == "__main__":
    main()
