"""Along thresholds: ``bayesgroups threshold-curve | roc-curve | calibration-curve | auc-intervals``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, RowOptions

CURVE = {"estimate": ("estimate", "lower", "upper"), "whole curve from": "band_lower", "to": "band_upper"}
Thresholds = Annotated[tuple[float, ...], Parameter(name="--at", negative=(), show_default=False)]


def threshold_curve(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    thresholds: Thresholds = (),
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Show metrics as functions of the threshold, in every subgroup.

    For example:

        bayesgroups threshold-curve rows.csv --by sex --metric tpr --y-true sick --y-score risk --at 0.5 --at 0.8
        bayesgroups threshold-curve auc.tally.nc --output curve.nc

    Parameters
    ----------
    data
        A tally with an auc (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows, with the metrics that are wanted.
    thresholds
        A threshold; repeat it for several. 51 of them when left out.
    level
        Of limits and bands.
    draws
        Posterior draws.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import auc_tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.curves import threshold_curve as curve

    metrics = rows.metric or ("sel", "tpr", "fpr")
    found = curve(
        auc_tally_of(data, rows),
        metrics=metrics,
        thresholds=list(thresholds) or None,
        level=level,
        draws=draws,
        seed=seed,
    )
    return publish(found, "threshold_curve", answer, rows="threshold", columns=CURVE)


def roc_curve(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    fpr: Thresholds = (),
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Show the ROC curve of every subgroup.

    For example:

        bayesgroups roc-curve rows.csv --by sex --y-true sick --y-score risk --at 0.1 --at 0.2

    Parameters
    ----------
    data
        A tally with an auc (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows.
    fpr
        A false positive rate; repeat it for several. 0, 0.01 ... 1 when left out.
    level
        Of limits and bands.
    draws
        Posterior draws.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import auc_tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.curves import roc_curve as curve

    found = curve(auc_tally_of(data, rows), fpr=list(fpr) or None, level=level, draws=draws, seed=seed)
    return publish(found, "roc_curve", answer, rows="fpr", columns=CURVE)


def calibration_curve(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    bins: int = 10,
    edges: Literal["uniform", "quantile"] = "uniform",
    shape: Literal["free", "isotonic"] = "free",
    interval: Literal["wilson", "jeffreys"] = "wilson",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Show the share of positives per bin of the score, in every subgroup.

    For example:

        bayesgroups calibration-curve rows.csv --by sex --y-true sick --y-score risk --bins 5

    Parameters
    ----------
    data
        A tally with an auc (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows.
    bins
        Number of bins.
    edges
        Bins of equal width, or of about as many rows.
    shape
        Bins by themselves, or a curve that never falls.
    interval
        Of the frequentist side.
    level
        Of limits and bands.
    draws
        Posterior draws.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import auc_tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.curves import calibration_curve as curve

    found = curve(
        auc_tally_of(data, rows),
        bins=bins,
        edges=edges,
        shape=shape,
        interval=interval,
        level=level,
        draws=draws,
        seed=seed,
    )
    shown = {"score from": "bin_lower", "to": "bin_upper", "n": "count", **CURVE}
    return publish(found, "calibration_curve", answer, rows="bin", columns=shown)


def auc_intervals(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    interval: Literal["newcombe", "logit", "wald"] = "newcombe",
    level: float = 0.95,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Give the AUC of every subgroup from its own rows, with an interval of choice.

    For example:

        bayesgroups auc-intervals rows.csv --by sex --y-true sick --y-score risk --interval logit

    Parameters
    ----------
    data
        A tally with an auc (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows.
    interval
        Newcombe's and the logit interval stay inside [0, 1].
    level
        Nominal coverage.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import auc_tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.curves import auc_intervals as ask

    found = ask(auc_tally_of(data, rows), interval=interval, level=level)
    shown = {"positives": "positives", "negatives": "negatives", "AUC": ("estimate", "lower", "upper")}
    return publish(found, "auc_intervals", answer, rows="subgroup", columns=shown)
