"""Sample sizes: ``bayesgroups rows-to-certify | rows-to-narrow | minimum-detectable-gap | probability-of-finding-worst``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, RowOptions

if TYPE_CHECKING:
    import xarray as xr

Truth = Annotated[Path | None, Parameter(name="--assume")]
Correction = Literal["none", "bonferroni", "holm", "simultaneous"]
ROWS_SHOWN = {"assumed": "assumed", "needed": "needed", "more": "more"}


def rows_to_certify(
    data: Path,
    *,
    standard: float,
    truth: Truth = None,
    rows: RowOptions = ROWS,
    power: float = 0.8,
    level: float = 0.95,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say how many more rows each subgroup needs for the pessimist to certify a standard.

    For example:

        bayesgroups rows-to-certify acc.tally.nc --standard 0.8 --assume acc.nc

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    standard
        Value of the metric that every subgroup is to be shown to reach.
    truth
        A report whose Bayesian estimates are assumed; the estimates of the tally when left out.
    rows
        What is in the rows; leave these out for a tally.
    power
        Probability that all subgroups are certified together.
    level
        One-sided confidence.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import rows_to_certify as ask

    found = ask(tally_of(data, rows), standard, truth=_assumed(truth), power=power, level=level)
    return publish(found, "rows_to_certify", answer, rows="subgroup", columns=ROWS_SHOWN, notes=_totals(found))


def rows_to_narrow(
    data: Path,
    *,
    factor: float = 0.5,
    truth: Truth = None,
    rows: RowOptions = ROWS,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say how many more rows, and where, make the widest interval so much narrower.

    For example:

        bayesgroups rows-to-narrow acc.tally.nc --factor 0.5

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    factor
        Of the widest interval, between 0 and 1.
    truth
        A report whose Bayesian estimates are assumed; the estimates of the tally when left out.
    rows
        What is in the rows; leave these out for a tally.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import rows_to_narrow as ask

    found = ask(tally_of(data, rows), factor=factor, truth=_assumed(truth))
    return publish(found, "rows_to_narrow", answer, rows="subgroup", columns=ROWS_SHOWN, notes=_totals(found))


def minimum_detectable_gap(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    power: float = 0.8,
    level: float = 0.95,
    correction: Correction = "bonferroni",
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say which gap between a subgroup and everyone else the table would probably show.

    For example:

        bayesgroups minimum-detectable-gap acc.tally.nc

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a tally.
    power
        Probability that a gap of that size is shown.
    level
        One-sided confidence.
    correction
        For the number of subgroups that are looked at.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import minimum_detectable_gap as ask

    found = ask(tally_of(data, rows), power=power, level=level, correction=correction)
    return publish(found, "minimum_detectable_gap", answer, rows="subgroup", columns={"gap": "gap"})


def probability_of_finding_worst(
    data: Path,
    *,
    truth: Truth = None,
    factors: Annotated[tuple[float, ...], Parameter(name="--factor", negative=())] = (1.0, 2.0, 5.0, 10.0),
    rows: RowOptions = ROWS,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say how probably the subgroup with the worst estimate is the worst, as the table grows.

    For example:

        bayesgroups probability-of-finding-worst acc.tally.nc --factor 1 --factor 10

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    truth
        A report whose Bayesian estimates are assumed; the estimates of the tally when left out.
    factors
        How many times the rows; repeat it for several.
    rows
        What is in the rows; leave these out for a tally.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import probability_of_finding_worst as ask

    found = ask(tally_of(data, rows), truth=_assumed(truth), factors=factors)
    shown = {"P(found)": "probability", "the worst": "worst_subgroup"}
    return publish(found, "probability_of_finding_worst", answer, rows="factor", columns=shown)


def _assumed(path: Path | None) -> xr.DataArray | None:
    if path is None:
        return None
    from bayesgroups.cli.inputs import report_of

    return report_of(path)["estimates"].to_dataset()["estimate"].sel(approach="bayesian", drop=True)


def _totals(found: xr.Dataset) -> list[str]:
    values = [float(value) for value in found["total"].values]
    said = [f"{value:,.0f}" if value < float("inf") else "no number of" for value in values]
    return [f"{metric}: {text} more rows in all" for metric, text in zip(found["metric"].values, said, strict=True)]
