"""``bayesgroups estimate``: from rows or a tally to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich.text import Text

from bayesgroups.cli.options import ROWS, RowOptions

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

Word = Literal["partial_pooling", "no_pooling", "complete_pooling"]


def estimate(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    estimator: Word = "partial_pooling",
    seed: int = 0,
    inference: Literal["auto", "collapsed", "nuts"] = "auto",
    level: float = 0.95,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    html: Path | None = None,
    show: int = 50,
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
        How subgroups inform one another: partly, not at all, or one value for all.
    seed
        Source of all randomness.
    inference
        collapsed is the exact engine, nuts samples; auto takes the exact one where its checks pass.
    level
        Level of the intervals shown: 0.5, 0.8, 0.9 or 0.95. The report has them all.
    output
        Write the report to this NetCDF file, which ArviZ can open.
    html
        Write the report to this page.
    show
        Print at most so many subgroups per metric, the largest; 0 prints none.
    """
    from bayesgroups import estimators
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.estimation import estimate as fit
    from bayesgroups.readings import check_level

    check_level(level)
    words = {leaf.word: leaf for leaf in estimators.ESTIMATORS}
    with consoles.fitting() as progress:
        report = fit(tally_of(data, rows), words[estimator](), seed=seed, inference=inference, progress=progress)
    console = consoles.output()
    show_report(console, report, level=level, show=show)
    save(console, report, output, html, level=level)
    return verdict(console, report)


def show_report(console: Console, report: xr.DataTree, *, level: float, show: int) -> None:
    """Print one table per metric and the notes."""
    import json

    from bayesgroups.cli.consoles import decimals
    from bayesgroups.readings import metrics_of
    from bayesgroups.tables import report_table

    for metric in metrics_of(report) if show else ():
        console.print(report_table(report, metric, level=level, decimals=decimals(console), limit=show))
        console.print()
    for note in json.loads(str(report.attrs.get("notes", "[]"))):
        console.print(Text(f"Note: {note}"))


def save(
    console: Console,
    report: xr.DataTree,
    output: Path | None,
    html: Path | None,
    *,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
) -> None:
    """Write what was asked for and say where."""
    if output is not None:
        from bayesgroups.report import save_report

        console.print(Text(f"Wrote the report to {save_report(report, output)}"))
    if html is not None:
        from bayesgroups.html import write_html

        console.print(Text(f"Wrote the page to {write_html(report, html, level=level, truth=truth)}"))


def verdict(console: Console, report: xr.DataTree) -> int:
    """Say whether a report is usable; the exit code."""
    from bayesgroups.readings import failures, usable

    number = report["diagnostics"].sizes["check"]
    if usable(report):
        passed = {0: "there was nothing to check", 1: "the one check of the computation passed"}
        said = passed.get(number, f"all {number} checks of the computation passed")
        console.print(Text.assemble(("Usable", "bold green"), f": {said}."))
        return 0
    failed = failures(report)
    console.print(Text.assemble(("NOT usable", "bold red"), f": {len(failed)} of {number} checks failed."))
    for sentence in failed:
        console.print(Text(f"  {sentence}"))
    return 1
