"""How often the intervals of structured regression cover, and how far its estimates are from the truth.

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
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesgroups.datasets import STUDY_SIZES
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import means
from bayesgroups.frequentist.structured import cross_validation, lasso, rblpr
from bayesgroups.frequentist.structured.cross_validation import Split
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies.dealing import deal_counts
from examples.commands import parser, record

PROGRAM = "tests.recovery.studies.structured_coverage"
FloatArray = NDArray[np.float64]

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


@dataclass(frozen=True)
class _Trial:
    """What one replication found, of one penalty and one kind of errors: (level, subgroup) and (subgroup,)."""

    covered: NDArray[np.bool_]
    width_ratio: FloatArray
    error: FloatArray
    plain_error: FloatArray
    selected: float

    @classmethod
    def of(cls, parts: dict[str, Any]) -> _Trial:
        """The trial that `plain` wrote."""
        covered, width_ratio, error, plain_error = (
            np.array(parts[name]) for name in ("covered", "width_ratio", "error", "plain_error")
        )
        return cls(covered, width_ratio, error, plain_error, parts["selected"])

    def plain(self) -> dict[str, Any]:
        """What was found, as lists and numbers."""
        return {name: np.asarray(value).tolist() for name, value in asdict(self).items()}


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
    if replications < 2:
        raise InputError(f"replications={replications} must be 2 or more, to have a Monte Carlo error")
    sizes = np.array(STUDY_SIZES, dtype=np.float64)
    lines: list[Coverage] = []
    crossed = max(replications // CV_THINNING, 2)
    for name in _truths():
        work = partial(_trials, name, seed, bootstraps, crossed)
        settings = {"seed": seed, "bootstraps": bootstraps, "cross_validated": crossed}
        found = executor.run(f"coverage of structured regression, {name}", work, replications, settings=settings)
        trials: dict[tuple[str, str], list[_Trial]] = {}
        for each in found:
            for penalty, errors, parts in each:
                trials.setdefault((penalty, errors), []).append(_Trial.of(parts))
        for (penalty, errors), tried in trials.items():
            lines += _summarise(name, penalty, errors, tried, sizes, seed)
    return lines


def _trials(truth: str, seed: int, bootstraps: int, crossed: int, number: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Penalty, kind of errors and what was found, of one replication; the first ``crossed`` of them cross-validate."""
    sizes, truths = np.array(STUDY_SIZES, dtype=np.float64), _truths()
    rng = np.random.default_rng([seed, list(truths).index(truth), number])
    mu = truths[truth](rng)
    hits = rng.binomial(sizes.astype(np.int64), mu).astype(np.float64)
    found = _try(_features(), hits, sizes, mu, rng, bootstraps, number < crossed)
    return [(*key, trial.plain()) for key, trial in found]


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
) -> list[tuple[tuple[str, str], _Trial]]:
    z = hits / sizes
    pooled = float((sizes * z * (1 - z)).sum() / (sizes - 1).sum())
    w = sizes / pooled
    largest = lasso.penalty_max(x, z, w)
    penalties = {str(share): share * largest for share in SHARES}
    if cross_validated:
        penalties["cv"] = _cross_validate(x, hits, sizes, w, pooled, largest, rng)
    usual = [means.pooled_normal(z, 1 / w, level) for level in LEVELS]
    found: list[tuple[tuple[str, str], _Trial]] = []
    for name, penalty in penalties.items():
        error = np.abs(lasso.fit(x, z, w, penalty).at(x) - mu)
        kinds: tuple[rblpr.Errors, ...] = ("known_variance", "residual")
        for errors in kinds:
            drawn = rblpr.run(x, z, w, penalty, rng, errors=errors, replicates=bootstraps)
            intervals = [rblpr.interval(drawn, level) for level in LEVELS]
            covered = np.stack([(one.lower <= mu) & (mu <= one.upper) for one in intervals])
            ratio = np.stack([(a.upper - a.lower) / (b.upper - b.lower) for a, b in zip(intervals, usual, strict=True)])
            trial = _Trial(covered, ratio, error, np.abs(z - mu), drawn.selected.sum() / len(z))
            found.append(((name, errors), trial))
    return found


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
    truth: str, penalty: str, errors: str, trials: Sequence[_Trial], sizes: FloatArray, seed: int
) -> list[Coverage]:
    small = sizes <= SMALL
    lines = []
    for size_class, members in {"all": np.ones(len(small), dtype=bool), "small": small, "large": ~small}.items():
        error = np.mean([trial.error[members].mean() for trial in trials])
        plain = np.mean([trial.plain_error[members].mean() for trial in trials])
        for i, level in enumerate(LEVELS):
            share = np.array([trial.covered[i, members].mean() for trial in trials])
            lines.append(
                Coverage(
                    truth,
                    penalty,
                    errors,
                    size_class,
                    level,
                    coverage=float(share.mean()),
                    mc_error=float(share.std(ddof=1) / np.sqrt(len(share))),
                    width_ratio=float(np.mean([trial.width_ratio[i, members].mean() for trial in trials])),
                    mae_ratio=float(error / plain),
                    selected_share=float(np.mean([trial.selected for trial in trials])),
                    replications=len(trials),
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
