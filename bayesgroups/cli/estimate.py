"""``bayesgroups estimate``: from rows or a tally to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from bayesgroups.cli.estimators import Word, chosen
from bayesgroups.cli.options import ORDERS, REPORT, ROWS, Imputed, Names, ReportOptions, RowOptions, Sort

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

Settings = Annotated[tuple[str, ...], Parameter(name="--set", negative=(), show_default=False)]


def estimate(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    estimator: Word = "partial_pooling",
    settings: Settings = (),
    ordered: Names = (),
    cyclic: Names = (),
    seed: int = 0,
    inference: Literal["auto", "collapsed", "nuts", "nuts_jax"] = "auto",
    form: ReportOptions = REPORT,
) -> int:
    r"""Estimate every metric in every subgroup, the Bayesian and the frequentist way.

    From rows, or from a tally:

        bayesgroups estimate rows.csv --by race --by sex --metric fnr \
            --y-true outcome --y-score risk --threshold 0.2 --html fnr.html
        bayesgroups estimate fnr.tally.nc --output fnr.nc --html fnr.html

    The exit code is 1 when a diagnostic failed and the report is not usable.

    Parameters
    ----------
    data
        Rows as .csv, .csv.gz or .parquet, or a tally as .nc.
    rows
        What is in the rows; leave these out for a tally.
    estimator
        How subgroups inform one another; the documentation has a page for each. A class of yours is named as module:Class.
    settings
        A setting of the estimator, as --set tau_scale=1 or --set interval=robust; repeat it for several.
    ordered
        Attribute whose levels have an order, that of the tally, for an estimator that takes one; repeat it for several.
    cyclic
        Ordered attribute whose last level is beside the first, as months have.
    seed
        Source of all randomness.
    inference
        collapsed is the exact engine, nuts and nuts_jax sample; auto takes the exact one where its checks pass.
    """
    from json import dumps

    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.invocations import signed
    from bayesgroups.estimators.estimate import estimate as fit
    from bayesgroups.report.view import check_level

    check_level(form.level)
    orders = [f"{name}={dumps(names)}" for name, names in (("ordered", ordered), ("cyclic", cyclic)) if names]
    leaf = chosen(estimator, (*settings, *orders))
    with consoles.counting("fitting", first="reading") as progress:
        report = signed(fit(tally_of(data, rows), leaf, seed=seed, inference=inference, progress=progress))
    return deliver(report, form)


def deliver(report: xr.DataTree, form: ReportOptions) -> int:
    """Write the files of a report, then print it; the exit code."""
    from bayesgroups.cli import consoles

    written = save(report, form.output, form.html, level=form.level)
    if form.json:
        return as_json(report)
    console = consoles.output()
    show_report(console, report, level=form.level, show=form.show, sort=form.sort)
    for line in written:
        console.print(Text(line))
    return verdict(console, report)


def parsed(settings: tuple[str, ...]) -> dict[str, object]:
    """Settings as name=value, each once and each value as TOML has it, or else as text."""
    from bayesgroups.cli.values import pairs

    return pairs(settings, option="--set", kind=_toml) or {}


def _toml(text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def as_json(report: xr.DataTree) -> int:
    """Print a report as JSON; the exit code."""
    from bayesgroups.cli.results import print_text
    from bayesgroups.views.tables.records import as_text
    from bayesgroups.views.tables.report_documents import report_document

    print_text(as_text(report_document(report)))
    return 0 if int(report.attrs["usable"]) else 1


def show_report(console: Console, report: xr.DataTree, *, level: float, show: int, sort: Sort) -> None:
    """Print one table per metric and the notes."""
    import json

    from bayesgroups.cli.consoles import decimals
    from bayesgroups.report.view import metrics_of
    from bayesgroups.views.tables import report_table

    for metric in metrics_of(report) if show else ():
        table = report_table(report, metric, level=level, order=ORDERS[sort], decimals=decimals(console), limit=show)
        console.print(table)
        console.print()
    for note in json.loads(str(report.attrs.get("notes", "[]"))):
        console.print(Text(f"Note: {note}"))


def save(
    report: xr.DataTree,
    output: Path | None,
    html: Path | None,
    *,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
    imputed: Imputed = "leave_out",
    reference: str | float | dict[str, str] | None = None,
    population: Any = None,
) -> list[str]:
    """Write what was asked for, before anything is printed, and give the lines that say where."""
    lines = []
    if output is not None:
        from bayesgroups.report.schema import save_report

        lines.append(f"Wrote the report to {save_report(report, output)}")
    if html is not None:
        from bayesgroups.views.html import write_html

        page = write_html(
            report, html, level=level, truth=truth, imputed=imputed, reference=reference, population=population
        )
        lines.append(f"Wrote the page to {page}")
    return lines


def verdict(console: Console, report: xr.DataTree) -> int:
    """Say whether a report is usable; the exit code."""
    from bayesgroups.report.view import failures, usable

    number = report["diagnostics"].sizes["check"]
    if usable(report):
        passed = {0: "there was nothing to check", 1: "the one check of the computation passed"}
        checked = passed.get(number, f"all {number} checks of the computation passed")
        console.print(Text.assemble(("Usable", "bold green"), f": {checked}."))
        return 0
    failed = failures(report)
    console.print(Text.assemble(("NOT usable", "bold red"), f": {len(failed)} of {number} checks failed."))
    for sentence in failed:
        console.print(Text(f"  {sentence}"))
    return 1
