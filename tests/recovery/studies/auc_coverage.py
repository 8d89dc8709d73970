"""Coverage of intervals for the AUC, and errors of its estimates, where scores are binormal.

    python -m tests.recovery.studies.auc_coverage --output tests/recovery/records/auc_coverage.csv

takes about three minutes on one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.datasets.binormal import Binormal
from bayesgroups.frequentist import no_pooling, partial_pooling
from bayesgroups.inference.collapsed.partial_pooling import sample
from bayesgroups.questions.curves.areas import auc_intervals
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies import tally
from bayesgroups.tallies.auc_variances import auc_as_rate
from examples.commands import parser, record
from examples.coverage_loop import Judgement, covers, judgements, mean_and_error, require, size_classes

PROGRAM = "tests.recovery.studies.auc_coverage"
FloatArray = NDArray[np.float64]

LEVELS = (0.8, 0.95)
REPLICATIONS = 300
THINNING = 4
"""Bayesian answers are asked for in one replication of so many."""
SEED = 20_250_302
FEW = 5
"""Most rows of the smaller class in a small subgroup."""
SIZES = np.tile(np.array([8, 12, 20, 35, 60, 110, 250, 600]), 3)
UNEQUAL = 1.8
"""Spread of the scores of positives in the design of that name."""
DRAWS = 2000


@dataclass(frozen=True)
class Coverage:
    """One line of the record.

    Attributes
    ----------
    design, interval, size_class : str
        ``alike``: an AUC of .80 everywhere; ``apart``: from .53 to .96; ``excellent``: from .88 to .998, where small
        subgroups are often separated; ``unequal``: as ``apart``, with scores of positives spread 1.8 times as wide.
        ``size_class`` is ``all``, ``small`` (at most 5 rows expected of the smaller class) or ``large``.
    level : float
        Nominal coverage.
    coverage, mc_error : float
        Share of (replication, subgroup) pairs with both classes whose truth is covered, and its Monte Carlo error.
    width : float
        Mean width of what of the interval lies in [0, 1].
    outside : float
        Share of intervals with a limit outside [0, 1].
    none : float
        Share of pairs without an interval, or with one of no width, which counts as not covering.
    error : float
        Mean absolute error of the estimate.
    replications, seed : int
    """

    design: str
    interval: str
    size_class: str
    level: float
    coverage: float
    mc_error: float
    width: float
    outside: float
    none: float
    error: float
    replications: int
    seed: int


def aucs() -> dict[str, FloatArray]:
    """The AUCs of every design, evenly spaced quantiles of a normal law of their probits; dealt anew in every replication.

    Examples
    --------
    >>> {name: values[[0, 12, 23]].round(3).tolist() for name, values in aucs().items()}
    {'alike': [0.8, 0.8, 0.8], 'apart': [0.534, 0.821, 0.957], 'excellent': [0.882, 0.978, 0.998], 'unequal': [0.534, 0.821, 0.957]}
    """
    from scipy.special import ndtr, ndtri

    normal = ndtri((np.arange(len(SIZES)) + 0.5) / len(SIZES))
    apart = ndtr(0.9 + 0.4 * normal)
    return {"alike": 0.8 * np.ones_like(normal), "apart": apart, "excellent": ndtr(2 + 0.4 * normal), "unequal": apart}


def law(auc: FloatArray, sd: float) -> Binormal:
    """Scores with these AUCs, 30 % positive, those of positives spread ``sd`` times as wide as those of negatives.

    Examples
    --------
    >>> from bayesgroups.datasets import binormal_metrics
    >>> binormal_metrics(law(np.array([0.75]), 1.8), 0.5)["auc"].round(6).tolist()
    [0.75]
    """
    from scipy.special import ndtri

    one = np.ones(len(auc))
    return Binormal(0.3 * one, -one, np.hypot(1.0, sd) * ndtri(auc) - one, one, sd * one)


def draw(scores: Binormal, rng: np.random.Generator) -> xr.Dataset:
    """The tally of one evaluation set."""
    g = np.repeat(np.arange(len(SIZES)), SIZES)
    y = (rng.random(len(g)) < scores.prevalence[g]).astype(int)
    mean = np.where(y == 1, scores.mean_positive[g], scores.mean_negative[g])
    score = mean + np.where(y == 1, scores.sd_positive[g], scores.sd_negative[g]) * rng.standard_normal(len(g))
    frame = pd.DataFrame({"subgroup_number": np.char.zfill(g.astype(str), 2), "y": y, "score": score})
    levels = [f"{i:02d}" for i in range(len(SIZES))]
    return tally(frame, {"subgroup_number": levels}, ["auc"], y_true="y", y_score="score")


def answers(drawn: xr.Dataset, *, bayesian: bool, seed: int) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Name, estimates (subgroup,) and limits (level, 2, subgroup) of every interval."""
    z = drawn["estimate"].values[0]
    unpooled = (
        ("wald_delong", "wald", "delong"),
        ("logit_delong", "logit", "delong"),
        ("logit_hanley_mcneil", "logit", "hanley_mcneil"),
        ("newcombe", "newcombe", None),
        ("newcombe_calibrated", "newcombe", "calibrated"),
    )
    for name, interval, variance in unpooled:
        found = [auc_intervals(drawn, interval=interval, variance=variance, level=level) for level in LEVELS]  # type: ignore[arg-type]
        yield name, z, np.stack([[each["lower"].values[0], each["upper"].values[0]] for each in found])
    rates = {"rate": auc_as_rate(drawn, "hanley_mcneil_pooled"), "rate_calibrated": auc_as_rate(drawn, "calibrated")}
    for name, source in {"own_scale": drawn, **rates}.items():
        for word, answer in (
            ("no_pooling", no_pooling.estimate(source)),
            ("empirical_bayes", partial_pooling.estimate(source)),
        ):
            one = answer.sel(metric="auc", level=list(LEVELS))
            limits = np.stack([one["lower"].values.T, one["upper"].values.T], axis=1)
            yield f"{word}_{name}", one["estimate"].values, limits
        if bayesian:
            fit = sample(source, seed=seed, draws=DRAWS, binomial_likelihood=name != "own_scale")
            mu = fit.draws["mu"].values.reshape(-1, len(z))
            tails = np.array([[(1 - level) / 2, (1 + level) / 2] for level in LEVELS])
            yield f"bayesian_{name}", mu.mean(axis=0), np.quantile(mu, tails, axis=0)


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Coverage]:
    """Measure every interval in every design.

    Parameters
    ----------
    replications : int
        Evaluation sets per design, at least 8.
    seed : int
        Source of randomness; every evaluation set has its own stream.
    executor : Executor
        Where evaluation sets are judged, each of them a piece, and their judgements kept.

    Returns
    -------
    list of Coverage
        The same numbers for the same arguments.

    Raises
    ------
    InputError
        If there are fewer than eight replications.
    """
    require(replications, 2 * THINNING)
    lines: list[Coverage] = []
    for design in aucs():
        name, judge = f"coverage of intervals for the AUC, {design}", partial(_judgements, design, seed)
        judged = judgements(name, judge, replications, settings={"seed": seed}, executor=executor)
        lines += _lines(design, {interval: values for (interval,), values in judged.items()}, seed)
    return lines


def _judgements(design: str, seed: int, number: int) -> list[Judgement]:
    """Interval and what `_judge` says of it at every level, of one evaluation set."""
    known = aucs()
    rng = np.random.default_rng([seed, list(known).index(design), number])
    truth = rng.permutation(known[design])
    drawn = draw(law(truth, UNEQUAL if design == "unequal" else 1.0), rng)
    defined = np.isfinite(drawn["estimate"].values[0])
    found: list[Judgement] = []
    for name, estimate, limits in answers(drawn, bayesian=number % THINNING == 0, seed=number):
        parts = np.stack([_judge(estimate, limit, truth) for limit in limits])
        found.append(((name,), np.where(defined, parts, np.nan).tolist()))
    return found


def _judge(estimate: FloatArray, limits: FloatArray, truth: FloatArray) -> FloatArray:
    """Covered, width inside [0, 1], outside, none, absolute error: (5, subgroup)."""
    lower, upper = limits
    none = ~(upper > lower)
    covered = ~none & covers(lower, upper, truth)
    width = np.nan_to_num(np.clip(upper, 0, 1) - np.clip(lower, 0, 1))
    outside = ~none & ((lower < 0) | (upper > 1))
    return np.stack([covered, width, outside, none, np.abs(estimate - truth)])


def _lines(design: str, kept: dict[str, FloatArray], seed: int) -> list[Coverage]:
    lines = []
    for name, values in kept.items():  # (replication, level, part, subgroup)
        for i, level in enumerate(LEVELS):
            for size_class, members in size_classes(0.3 * SIZES <= FEW).items():
                chosen = values[:, i][..., members]
                mean = np.nanmean(chosen, axis=(0, 2))
                _, error = mean_and_error(np.nanmean(chosen[:, 0], axis=1))
                lines.append(
                    Coverage(
                        design, name, size_class, level, float(mean[0]), error, float(mean[1]), float(mean[2]),
                        float(mean[3]), float(mean[4]),
                        len(values), seed,
                    )
                )  # fmt: skip
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Coverage of intervals for the AUC, binormal scores.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
