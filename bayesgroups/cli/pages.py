"""Reports that are there: ``bayesgroups show | write-html | export | compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bayesgroups.cli.options import ORDERS, Escape, Imputed, Json, Output, PageFile, Show, Shown, SortTable

if TYPE_CHECKING:
    from bayesgroups.questions.values import Using


def show(data: Path, *, level: float = 0.95, json: Json = False, show: Show = 50, sort: SortTable = "label") -> int:
    """Print a report or a tally that was saved.

    For example:

        bayesgroups show fnr.nc

    Parameters
    ----------
    data
        A report or a tally (.nc).
    level
        Level of the intervals shown: 0.5, 0.8, 0.9 or 0.95.
    """
    import xarray as xr

    from bayesgroups.cli import consoles
    from bayesgroups.cli.estimate import show_report, verdict
    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.options import ROWS
    from bayesgroups.cli.results import print_json, print_text
    from bayesgroups.report.view import check_level
    from bayesgroups.views.tables import report_document, tally_table
    from bayesgroups.views.tables.records import as_text

    check_level(level)
    source = source_of(data, ROWS)
    console = consoles.output()
    if isinstance(source, xr.DataTree):
        if json:
            print_text(as_text(report_document(source)))
            return 0 if int(source.attrs["usable"]) else 1
        show_report(console, source, level=level, show=show, sort=sort)
        return verdict(console, source)
    if json:
        print_json(source, "tally", usable=None)
    for metric in source["metric"].values if show and not json else ():
        console.print(tally_table(source, str(metric), order=ORDERS[sort], limit=show))
        console.print()
    return 0


def write_html(
    report: Path,
    *,
    output: PageFile,
    level: float = 0.95,
    imputed: Imputed = "leave_out",
    reference: str | None = None,
    population: str | None = None,
) -> int:
    """Write a saved report as one page that needs nothing else.

    For example:

        bayesgroups write-html fnr.nc --output fnr.html
        bayesgroups write-html acc.nc --output acc.html --reference overall --population census.csv

    The exit code is 1 when the report is not usable.

    Parameters
    ----------
    report
        A report (.nc).
    output
        The page.
    level
        Level of the intervals shown.
    imputed
        Whether subgroups without rows take part in the questions of the page.
    reference
        Add the contrasts to this reference: overall, rest, best, the label of a subgroup, levels as sex=male, or a value.
    population
        Add the values in a target population: a table with the attributes and a column count (.csv, .parquet), a tally of the
        population or a report of poststratify (.nc), or the word rows for the evaluated rows themselves.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.estimate import save, verdict
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.questions.contrast_readers import reference as read_reference
    from bayesgroups.cli.questions.populations import served as read_population

    opened = report_of(report)
    compared = None if reference is None else read_reference(reference)
    served = None if population is None else read_population(population)
    written = save(opened, None, output, level=level, imputed=imputed, reference=compared, population=served)
    console = consoles.output()
    for line in written:
        console.print(Text(line))
    return verdict(console, opened)


def export(report: Path, *, output: Output, level: float = 0.95, escape_formulas: Escape = True) -> int:
    """Write the estimates of a report as a tidy table, one row per metric and subgroup.

    For example:

        bayesgroups export fnr.nc --output fnr.csv

    The exit code is 1 when the report is not usable.

    Parameters
    ----------
    report
        A report (.nc).
    output
        The table (.csv, .parquet, .json; .html and .tex with Great Tables).
    level
        Level of the intervals.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.estimate import verdict
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.data.outputs import check_ending
    from bayesgroups.views.tables.exports import ENDINGS, export_report

    check_ending(output, "a table", ENDINGS)
    opened = report_of(report)
    export_report(opened, output, level=level, escape_formulas=escape_formulas)
    console = consoles.output()
    console.print(f"Wrote the table to {output}", markup=False)
    return verdict(console, opened)


def compare(
    *reports: Path,
    using: Shown = "auto",
    level: float = 0.95,
    imputed: Imputed = "leave_out",
    loo: bool = False,
    json: Json = False,
    show: Show = 50,
    sort: SortTable = "label",
) -> int:
    """Print several reports of the same metrics and subgroups side by side.

    The first one is what the others are compared with:

        bayesgroups compare alone.nc pooled.nc
        bayesgroups compare alone.nc pooled.nc --using tally --level 0.8
        bayesgroups compare alone.nc pooled.nc --loo

    The exit code is 1 when one of them is not usable.

    Parameters
    ----------
    reports
        Reports as written by 'bayesgroups estimate --output'.
    level
        Level of the intervals: 0.5, 0.8, 0.9 or 0.95.
    imputed
        Whether means over subgroups take those without rows.
    loo
        Whether to add how well each report predicts a subgroup from the others.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.results import print_json
    from bayesgroups.errors import InputError
    from bayesgroups.questions.compare import compare as lay_side_by_side
    from bayesgroups.views.tables import comparison_summary, comparison_table, predictive_table

    if not reports:
        raise InputError("name the reports to compare, as bayesgroups compare alone.nc pooled.nc")
    stems = [path.stem for path in reports]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in reports]
    if len(set(names)) < len(names):
        raise InputError(f"report {next(name for name in names if names.count(name) > 1)!r} is named twice")
    table = lay_side_by_side(
        {name: report_of(path) for name, path in zip(names, reports, strict=True)}, imputed=imputed, loo=loo
    )
    broken = [str(name) for name in table["estimator"].values if not int(table["usable"].sel(estimator=name))]
    if json:
        print_json(table, "compare", usable=not broken)
        return 1 if broken else 0
    console = consoles.output()
    place: Using = "tally" if using in ("tally", "frequentist") else "auto"
    for metric in table["metric"].values if show else ():
        shown = comparison_table(
            table,
            str(metric),
            level=level,
            using=place,
            order=ORDERS[sort],
            decimals=consoles.decimals(console),
            limit=show,
        )
        console.print(shown)
        console.print()
    console.print(comparison_summary(table, level=level, using=place))
    if loo:
        console.print()
        console.print(predictive_table(table))
    if "note" in table.attrs:
        console.print(Text(f"Note: {table.attrs['note']}"))
    if broken:
        console.print(Text(f"NOT usable: {', '.join(broken)}; the tables of these reports must not be relied on."))
    return 1 if broken else 0
