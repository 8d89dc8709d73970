"""Certification: ``bayesgroups certify | simultaneous-intervals | ranks | discoveries ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, Imputed, RowOptions

Part = Literal["auto", "tally", "posterior", "bootstrap"]
Limits = Literal[
    "auto", "wald", "wilson", "jeffreys", "clopper_pearson", "pooled_t", "pooled_normal", "separate_normal"
]
Correction = Literal["none", "bonferroni", "holm", "simultaneous"]
Numbers = Annotated[tuple[float, ...], Parameter(name="--standard", negative=(), show_default=False)]


def certify(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    level: float = 0.95,
    standards: Numbers = (),
    correction: Correction = "none",
    critical_value: float | None = None,
    interval: Limits = "auto",
    margins: bool = False,
    part: Part = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say how good a system is for its worst subgroup, giving it or denying it the benefit of the doubt.

    For example:

        bayesgroups certify acc.nc --standard 0.8
        bayesgroups certify acc.tally.nc --interval wald --critical-value 1.64

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; of these a report or tally takes --larger-is-better alone, which replaces its directions.
    level
        One-sided confidence, or posterior probability.
    standards
        A value of the metric to decide about; repeat it for several.
    correction
        For the number of subgroups.
    critical_value
        Replaces the quantile of the level.
    interval
        Limits of a tally.
    margins
        Ask of every margin (women, Asian people) as well.
    part
        What of a report is read; auto is its posterior.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of, without_direction
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import certify as ask

    source = source_of(data, without_direction(rows, data))
    found = ask(
        source, level=level, standards=list(standards) or None, correction=correction, critical_value=critical_value,
        interval=interval, margins=margins, part=part, larger_is_better=rows.larger_is_better, imputed=imputed, seed=seed,
    )  # fmt: skip
    shown = {
        "optimist": "optimist", "decided by": "optimist_subgroup", "pessimist": "pessimist",
        "and by": "pessimist_subgroup", "worst estimate": "worst", "of": "worst_subgroup",
    }  # fmt: skip
    notes = []
    if standards:
        for metric in found["metric"].values:
            for standard in found["standard"].values:
                one = found.sel(metric=metric, standard=standard)
                said = "shown to be reached by all" if int(one["reaches"]) else "not shown to be reached by all"
                missed = ", and shown to be missed by one" if int(one["misses"]) else ""
                notes.append(f"{metric}, standard {float(standard):g}: {said}{missed}")
    return publish(found, "certify", answer, rows="metric", columns=shown, source=source, notes=notes)


def simultaneous_intervals(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    level: float = 0.95,
    interval: Limits = "auto",
    margins: bool = False,
    part: Part = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Give intervals of which all hold together, so that the worst subgroup may be picked.

    For example:

        bayesgroups simultaneous-intervals fnr.nc --level 0.9

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a report or tally.
    level
        Probability with which all intervals hold.
    interval
        Limits of a tally.
    margins
        Add every margin to the intersections.
    part
        What of a report is read; auto is its posterior.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import simultaneous_intervals as ask

    source = source_of(data, rows)
    found = ask(source, level=level, interval=interval, margins=margins, part=part, imputed=imputed, seed=seed)
    shown = {"estimate": ("estimate", "lower", "upper")}
    return publish(found, "simultaneous_intervals", answer, rows="subgroup", columns=shown, source=source)


def ranks(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    level: float = 0.95,
    part: Part = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Rank the subgroups, 1 for the best, and say how sure every rank is.

    For example:

        bayesgroups ranks fnr.nc

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; of these a report or tally takes --larger-is-better alone, which replaces its directions.
    level
        Probability of the limits.
    part
        What of a report is read; auto is its posterior.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of, without_direction
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import ranks as ask

    source = source_of(data, without_direction(rows, data))
    found = ask(source, level=level, part=part, larger_is_better=rows.larger_is_better, imputed=imputed, seed=seed)
    shown = {
        "rank": ("rank", "lower", "upper"), "expected": "expected_rank", "estimate": "estimate", "P(best)": "probability_best",
        "P(worst)": "probability_worst",
    }  # fmt: skip
    return publish(found, "ranks", answer, rows="subgroup", columns=shown, source=source)


def discoveries(
    data: Path,
    *,
    tolerance: float = 0.0,
    rows: RowOptions = ROWS,
    reference: Literal["overall", "rest"] | float = "overall",
    error: float = 0.05,
    margins: bool = False,
    part: Part = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """List the subgroups whose gap exceeds a tolerance, such that few are listed wrongly.

    For example:

        bayesgroups discoveries fnr.nc --tolerance 0.05

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    tolerance
        A gap up to here is no matter, in units of the metric.
    rows
        What is in the rows; of these a report or tally takes --larger-is-better alone, which replaces its directions.
    reference
        What a subgroup is compared with: everyone, everyone else, or a value.
    error
        Most expected share of false entries.
    margins
        Ask of every margin as well.
    part
        What of a report is read; auto is its posterior.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of, without_direction
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import discoveries as ask

    source = source_of(data, without_direction(rows, data))
    found = ask(
        source, tolerance, reference=reference, error=error, margins=margins, part=part,
        larger_is_better=rows.larger_is_better, imputed=imputed, seed=seed,
    )  # fmt: skip
    shown = {
        "gap": "gap",
        "std. error": "std_error",
        "P(beyond)": "probability",
        "p": "p_value",
        "listed": "discovered",
    }
    return publish(found, "discoveries", answer, rows="subgroup", columns=shown, source=source)


def margins(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    order: int | None = None,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Tally every margin beside the intersections: women, Asian people and Asian women.

    For example:

        bayesgroups margins fnr.tally.nc --order 1

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a tally.
    order
        Most attributes that a margin looks at; by default all.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import margins as ask

    found = ask(tally_of(data, rows), order=order)
    shown = {"n": "count", "estimate": "estimate", "attributes": "attributes_crossed"}
    return publish(found, "margins", answer, rows="subgroup", columns=shown, remark="reason")


def fairness_definitions(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    tolerance: float = 0.05,
    level: float = 0.95,
    part: Part = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say how unfair a table is by published definitions.

    For example:

        bayesgroups fairness-definitions acc.nc --tolerance 0.1

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a report or tally.
    tolerance
        Of the share of people beyond it, in units of the metric.
    level
        Of the intervals that draws give.
    part
        What of a report is read; auto is its posterior.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.certification import fairness_definitions as ask

    source = source_of(data, rows)
    found = ask(source, tolerance=tolerance, level=level, part=part, imputed=imputed, seed=seed)
    shown = {"value": ("value", "lower", "upper")}
    return publish(found, "fairness_definitions", answer, rows="definition", columns=shown, source=source)


def desiderata(
    data: Path,
    *,
    definition: str | None = None,
    rows: RowOptions = ROWS,
    tolerance: float = 0.05,
    standard: float = 0.8,
    level: float = 0.95,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Check what may be required of a definition of fairness, and say where it fails.

    For example:

        bayesgroups desiderata acc.tally.nc --definition equality_gap

    Parameters
    ----------
    data
        A tally of rates (.nc), or rows (.csv, .parquet).
    definition
        Name of a definition; a wrong one lists them. The first when left out.
    rows
        What is in the rows; leave these out for a tally.
    tolerance
        Of gaps and log ratios.
    standard
        What the optimist and the pessimist hold every subgroup to.
    level
        Their one-sided confidence.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.errors import InputError, near_misses
    from bayesgroups.questions.certification import definitions
    from bayesgroups.questions.certification import desiderata as ask

    known = {one.name: one for one in definitions(tolerance, standard=standard, level=level)}
    name = next(iter(known)) if definition is None else definition
    if name not in known:
        raise InputError(f"definition {name!r} does not exist; {near_misses(name, known)}")
    found = ask(known[name], tally_of(data, rows))
    shown = {"satisfied": "satisfied", "": "sentence"}
    return publish(found, "desiderata", answer, rows="check", columns=shown)
