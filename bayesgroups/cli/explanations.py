"""``bayesgroups goodness-of-fit | variance-attribution``: which attributes explain the differences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, RowOptions


def goodness_of_fit(
    data: Path,
    *,
    formulas: Annotated[tuple[str, ...], Parameter(name="--formula", negative=(), show_default=False)] = (),
    rows: RowOptions = ROWS,
    weigh_by: Literal["precision", "count"] = "precision",
    answer: AnswerOptions = ANSWER,
) -> int:
    """Test whether features explain how a metric differs between subgroups.

    Models are nested and named from the smallest to the largest:

        bayesgroups goodness-of-fit fnr.tally.nc --formula 1 --formula race --formula "race + sex"

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    formulas
        A model; give at least two, each within the next. 1 is the intercept alone.
    rows
        What is in the rows; leave these out for a tally.
    weigh_by
        Weights of the subgroups: their precision, or their denominators.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.explanation.nested_models import goodness_of_fit as test

    found = test(tally_of(data, rows), formulas, weights=weigh_by)
    shown = {
        "F": "f", "df": "df1", "of": "df2", "p": "p_value", "p (Holm)": "p_value_holm",
        "p against noise": "pure_error_p_value",
    }  # fmt: skip
    return publish(found, "goodness_of_fit", answer, rows="comparison", columns=shown, remark="reason")


def variance_attribution(report: Path, *, answer: AnswerOptions = ANSWER) -> int:
    """Say which share of the variance between subgroups each attribute and interaction has.

    The report must be of crossed effects whose components are all learned:

        bayesgroups estimate fnr.tally.nc --estimator crossed_effects --set own_effects=learned -o fnr.nc
        bayesgroups variance-attribution fnr.nc

    Parameters
    ----------
    report
        A report (.nc).
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.explanation.attribution import variance_attribution as attribute

    source = report_of(report)
    found = attribute(source)
    # The table has one level, the largest; JSON and files have all.
    largest = found.sel(level=found["level"].values.max(), drop=True) if "level" in found.dims else found
    shown = {"share": ("share", "lower", "upper"), "P(largest)": "probability_largest", "sd": "sd"}
    if not answer.json and answer.output is None:
        found = largest
    return publish(found, "variance_attribution", answer, rows="component", columns=shown, source=source)
