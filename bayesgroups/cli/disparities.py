"""``bayesgroups disparity | between-group-variance | posterior-variance``: how unequal subgroups are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, Imputed, RowOptions

Measure = Literal[
    "max_min_difference", "max_min_ratio", "max_absolute_difference", "mean_absolute_deviation", "variance",
    "generalised_entropy", "gini", "worst_group_gap",
]  # fmt: skip
Measures = Annotated[tuple[Measure, ...], Parameter(name="--measure", negative=(), show_default=False)]
Variance = Literal["double_corrected", "corrected", "uncorrected", "dl", "pm", "he", "sj", "ml", "reml"]
VarianceInterval = Literal[
    "auto", "percentile", "basic", "q_profile", "sidik_jonkman", "profile_likelihood", "unified", "upper"
]


def disparity(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    measures: Measures = (),
    level: float = 0.95,
    weights: Annotated[Literal["group", "population"], Parameter(name="--weigh-by")] = "group",
    approach: Literal["bayesian", "frequentist"] = "bayesian",
    corrected: bool = False,
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Measure how unequal subgroups are.

    For example:

        bayesgroups disparity fnr.nc
        bayesgroups disparity fnr.tally.nc --measure variance --corrected

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a report or tally.
    measures
        Which measure; repeat it for several. All when left out.
    level
        Level of the intervals.
    weights
        Whether all subgroups count the same, or by their rows.
    approach
        Of a report: its posterior or its bootstrap.
    corrected
        Of a tally: take off the bias that sampling noise makes.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.disparities.disparity import disparity as measure

    source = source_of(data, rows)
    found = measure(
        source,
        measures or None,
        level=level,
        weights=weights,
        using="auto" if approach == "bayesian" else "bootstrap",
        corrected=corrected,
        imputed=imputed,
        seed=seed,
    )
    shown = {
        "value": ("value", "lower", "upper"), "mean": "mean", "if all were equal": "expected_if_equal",
        "p of so much then": "p_value_if_equal",
    }  # fmt: skip
    return publish(found, "disparity", answer, rows="measure", columns=shown, source=source, remark="note")


def between_group_variance(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    method: Variance = "double_corrected",
    level: float = 0.95,
    interval: VarianceInterval = "auto",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Estimate the variance of the true values of every metric between subgroups.

    For example:

        bayesgroups between-group-variance fnr.tally.nc --method reml

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a tally.
    method
        How sampling noise is taken off: published corrections, or estimators of meta-analysis.
    level
        Level of the interval.
    interval
        Kind of the interval; auto takes the first that the method has.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.disparities.between_group_variance import between_group_variance as variance

    found = variance(tally_of(data, rows), method, level=level, interval=interval, seed=seed)
    shown = {
        "variance": ("truncated", "lower", "upper"),
        "raw": "raw",
        "I squared": "i_squared",
        "subgroups": "subgroups",
    }
    return publish(found, "between_group_variance", answer, rows="metric", columns=shown, remark="note")


def posterior_variance(
    report: Path, *, level: float = 0.95, imputed: Imputed = "leave_out", answer: AnswerOptions = ANSWER
) -> int:
    """Summarise the posterior of the variance of a metric between subgroups.

    For example:

        bayesgroups posterior-variance fnr.nc

    Parameters
    ----------
    report
        A report with its draws (.nc).
    level
        Probability of the intervals.
    imputed
        Whether subgroups without rows take part.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.disparities.posterior_variance import posterior_variance as variance

    source = report_of(report)
    found = variance(source, level=level, imputed=imputed)
    shown = {"mean": ("mean", "lower", "upper"), "median": "median", "upper limit": "upper_limit"}
    return publish(found, "posterior_variance", answer, rows="estimand", columns=shown, source=source)
