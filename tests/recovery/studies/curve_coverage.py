"""Coverage of limits and bands of curves, where scores are binormal.

    python -m tests.recovery.studies.curve_coverage --output tests/recovery/records/curve_coverage.csv

takes about six minutes on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.questions.curves import calibration_curve, roc_curve, threshold_curve
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies import tally
from examples.commands import parser, record
from examples.coverage_loop import Judgement, covers, judgements, mean_and_error, require, size_classes

PROGRAM = "tests.recovery.studies.curve_coverage"
FloatArray = NDArray[np.float64]

REPLICATIONS = 60
SEED = 20_250_303
LEVEL = 0.9
DRAWS = 1000
SIZES = np.array([15, 25, 40, 60, 100, 150, 250, 400, 600, 1000])
FEW = 50
"""Most rows of a small subgroup."""
THRESHOLDS = np.round(np.linspace(0.1, 0.9, 17), 2)
RATES = np.round(np.linspace(0.05, 0.95, 19), 2)
BINS = 10


@dataclass(frozen=True)
class Coverage:
    """One line of the record, at the level .90.

    Attributes
    ----------
    curve, approach, size_class : str
        ``curve`` is a metric along thresholds, ``roc``, ``calibration`` or ``isotonic``; ``size_class`` is ``all``, ``small``
        (at most 50 rows) or ``large``.
    pointwise, pointwise_error : float
        Share of points inside their limits, and its Monte Carlo error.
    simultaneous, simultaneous_error : float
        Share of curves that lie in their band everywhere, and its Monte Carlo error.
    width, band_width : float
        Mean widths.
    error : float
        Mean absolute error of the estimate.
    replications, seed : int
    """

    curve: str
    approach: str
    size_class: str
    pointwise: float
    pointwise_error: float
    simultaneous: float
    simultaneous_error: float
    width: float
    band_width: float
    error: float
    replications: int
    seed: int


@dataclass(frozen=True, eq=False)
class Truth:
    """Logit scores are Normal(mean, 1) among negatives and Normal(mean + gap, 1) among positives; all (subgroup,)."""

    prevalence: FloatArray
    mean: FloatArray
    gap: FloatArray

    def curve(self, name: str) -> FloatArray:
        """The curve of every subgroup at `THRESHOLDS`, `RATES` or bins, (point, subgroup).

        Examples
        --------
        >>> one = np.ones(1)
        >>> [round(float(Truth(0.3 * one, -one, one).curve(name)[8, 0]), 3) for name in ("tpr", "fpr", "roc")]
        [0.5, 0.159, 0.809]
        """
        from scipy.special import ndtr, ndtri

        def above(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            return ndtr(self.mean + self.gap - t[:, None]), ndtr(self.mean - t[:, None])

        if name == "roc":
            return np.asarray(ndtr(self.gap + ndtri(RATES)[:, None]))
        binned = name in ("calibration", "isotonic")
        ones, zeros = above(_logit(np.linspace(0, 1, BINS + 1) if binned else THRESHOLDS))
        share = self.prevalence
        match name:
            case "tpr":
                return ones
            case "fpr":
                return zeros
            case "ppv":
                return np.asarray(share * ones / (share * ones + (1 - share) * zeros))
        positives, negatives = -share * np.diff(ones, axis=0), -(1 - share) * np.diff(zeros, axis=0)
        return np.asarray(positives / (positives + negatives))


def _logit(share: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share) - np.log1p(-share))


def draw(rng: np.random.Generator) -> tuple[Truth, xr.Dataset]:
    """A law for every subgroup and the tally of one evaluation set."""
    groups = len(SIZES)
    truth = Truth(
        1 / (1 + np.exp(0.8 - 0.3 * rng.standard_normal(groups))),
        -0.7 + 0.25 * rng.standard_normal(groups),
        1.3 + 0.25 * rng.standard_normal(groups),
    )
    g = np.repeat(np.arange(groups), SIZES)
    y = (rng.random(len(g)) < truth.prevalence[g]).astype(int)
    score = 1 / (1 + np.exp(-(truth.mean[g] + y * truth.gap[g] + rng.standard_normal(len(g)))))
    frame = pd.DataFrame({"subgroup_number": g.astype(str), "y": y, "score": score})
    levels = [str(i) for i in range(groups)]
    return truth, tally(frame, {"subgroup_number": levels}, ["auc"], y_true="y", y_score="score")


def answers(source: xr.Dataset, seed: int) -> dict[str, xr.Dataset]:
    """Curves (approach, point, subgroup) by name."""
    along = threshold_curve(
        source, metrics=("tpr", "fpr", "ppv"), thresholds=THRESHOLDS, level=LEVEL, draws=DRAWS, seed=seed
    )
    found = {name: along.sel(metric=name) for name in ("tpr", "fpr", "ppv")}
    found["roc"] = roc_curve(source, fpr=RATES, level=LEVEL, draws=DRAWS, seed=seed)
    found["calibration"] = calibration_curve(source, bins=BINS, level=LEVEL, draws=DRAWS, seed=seed)
    found["isotonic"] = calibration_curve(source, bins=BINS, shape="isotonic", level=LEVEL, draws=DRAWS, seed=seed)
    return found


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Coverage]:
    """Measure limits and bands of every curve.

    Parameters
    ----------
    replications : int
        Evaluation sets, at least 2.
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
        If there are fewer than two replications.
    """
    require(replications)
    judge, settings = partial(_judgements, seed), {"seed": seed}
    judged = judgements("coverage of curves", judge, replications, settings=settings, executor=executor)
    lines = []
    for (name, approach), values in judged.items():  # (replication, part, subgroup)
        for size_class, members in size_classes(SIZES <= FEW).items():
            parts = map(mean_and_error, np.nanmean(values[..., members], axis=2).T)
            pointwise, simultaneous, (width, _), (band_width, _), (error, _) = parts
            lines.append(
                Coverage(
                    name, approach, size_class, *pointwise, *simultaneous, width, band_width, error, replications, seed
                )
            )
    return lines


def _judgements(seed: int, number: int) -> list[Judgement]:
    """Curve, approach and what `_judge` says, of one evaluation set."""
    truth, source = draw(np.random.default_rng([seed, number]))
    return [
        ((name, approach), _judge(found.sel(approach=approach), truth.curve(name)).tolist())
        for name, found in answers(source, number).items()
        for approach in ("bayesian", "frequentist")
    ]


def _judge(found: xr.Dataset, truth: FloatArray) -> FloatArray:
    """Points inside, whole curve inside, width, width of the band, absolute error: (5, subgroup); NaN without a curve."""
    lower, upper, low, high, estimate = (
        found[name].values for name in ("lower", "upper", "band_lower", "band_upper", "estimate")
    )
    some = np.isfinite(estimate)
    inside = covers(lower, upper, truth)
    whole = (~some | covers(low, high, truth)).all(axis=0)
    points = some.sum(axis=0)

    def mean(values: FloatArray | NDArray[np.bool_]) -> FloatArray:
        total = np.where(some, values, 0.0).sum(axis=0)
        return np.asarray(
            np.divide(total, points, out=np.full(len(points), np.nan), where=points > 0), dtype=np.float64
        )

    parts = (mean(inside), np.where(points > 0, whole, np.nan), mean(upper - lower), mean(high - low))
    return np.asarray(np.stack([*parts, mean(np.abs(estimate - truth))]), dtype=np.float64)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Coverage of limits and bands of curves.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
