"""Tables for the terminal: a tally, a report, and errors of reports where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import Order, Reading, Side, check_order, metrics_of, number, percent, plain, read, whole
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.views.tables.layout import Footnotes, captioned, empty_table, interval_text, largest

_WHICH: Mapping[Order, str] = {
    "tally": "those with the largest n", "size": "those with the largest n", "estimate": "those with the largest estimates",
}  # fmt: skip
"""The subgroups of a table that does not show all, by its order."""


def tally_table(
    tally: xr.Dataset, metric: str, *, order: Order = "tally", decimals: int = 3, limit: int | None = None
) -> Table:
    """One metric of a tally for the terminal.

    Rows, effective denominator ``n``, estimate, standard error (from the pooled row variance) and remark per subgroup; ``limit``
    shows the largest subgroups only, largest first, when there are more, and with ``order="estimate"`` those first in that order.
    """
    check_order(order)
    names = [str(name) for name in tally["metric"].values]
    if metric not in names:
        raise InputError(f"the tally has no metric {metric!r}; {near_misses(metric, names)}")
    metric_tally = tally.sel(metric=metric)
    table = empty_table(plain(metric))
    table.add_column("subgroup", overflow="fold", min_width=12)
    for heading in ("rows", "n", "estimate", "std. error"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    notes = Footnotes()
    spread = np.sqrt(metric_tally["sampling_variance"].values)
    shown_as = list(shown_labels(tally).values())
    key = {
        "tally": np.zeros(len(shown_as)),
        "size": metric_tally["count"].values,
        "estimate": metric_tally["estimate"].values,
    }
    places = np.argsort(-np.nan_to_num(key[order], nan=-np.inf), kind="stable")
    shown = largest(metric_tally["count"].values, limit, places, answers=order == "estimate")
    for i in shown:
        table.add_row(
            Text(plain(shown_as[i])),
            whole(float(metric_tally["rows"].values[i])),
            whole(float(metric_tally["count"].values[i])),
            number(float(metric_tally["estimate"].values[i]), decimals),
            number(float(spread[i]), decimals),
            notes.mark(str(metric_tally["reason"].values[i])),
        )
    return captioned(table, notes.lines(), len(shown), len(shown_as), _WHICH[order])


def report_table(
    report: xr.DataTree,
    metric: str | None = None,
    *,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
    order: Order = "tally",
    decimals: int | None = None,
    limit: int | None = None,
) -> Table:
    """One metric of a report (the first by default) for the terminal, both approaches side by side.

    The truth adds a column, and a star to every interval that misses it; ``decimals`` are by default as the range of the metric
    asks for; ``limit`` shows the largest subgroups only, largest first, when there are more, and with ``order="estimate"`` those
    with the largest Bayesian estimates.
    """
    check_order(order)
    reading = read(report, metric, level=level, truth=truth)
    places = reading.decimals() if decimals is None else decimals
    table = empty_table(reading.headline())
    table.add_column("subgroup", overflow="fold", min_width=12)
    table.add_column("n", justify="right", no_wrap=True)
    for side in (reading.bayesian, reading.frequentist):
        name = side.approach.capitalize()
        kind = (f"\n{percent(level)} {plain(side.interval_kind)}", "not bold dim")
        table.add_column(Text.assemble(name, kind), overflow="fold")
    if reading.truth is not None:
        table.add_column("truth", justify="right", no_wrap=True)
    table.add_column("")
    remarks = reading.remarks()
    notes = Footnotes()
    shown = largest(reading.count, limit, reading.order(order), answers=order == "estimate")
    for i in map(int, shown):
        cells = [Text(reading.subgroups[i]), Text(whole(float(reading.count[i])))]
        cells += [_held(reading, side, i, places) for side in (reading.bayesian, reading.frequentist)]
        if reading.truth is not None:
            cells.append(Text(number(float(reading.truth[i]), places)))
        table.add_row(*cells, notes.mark(remarks[i]))  # Text, not str: a label is no markup
    lines = ["* misses the truth"] if reading.truth is not None else []
    return captioned(table, [*lines, *notes.lines()], len(shown), len(reading.subgroups), _WHICH[order])


def _held(reading: Reading, side: Side, i: int, decimals: int) -> Text:
    """Estimate and interval, with a star where the interval misses a truth that is known."""
    text = interval_text(float(side.estimate[i]), float(side.lower[i]), float(side.upper[i]), decimals)
    cell = Text(text or side.status[i])
    misses = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
    if misses and not reading.inside(side)[i]:
        cell.append("*", style="bold red")
    return cell


def truth_table(reports: Mapping[str, xr.DataTree], truth: xr.DataArray, *, level: float = 0.95) -> Table:
    """Errors of reports where the truth (metric, subgroup) is known, in one row per metric, report and approach.

    Mean absolute error of the estimates, how many intervals hold the truth, and their mean width, over the subgroups that have
    an answer and a truth.
    """
    if not reports:
        raise InputError("truth_table() got no report; give at least one")
    table = empty_table(f"Against the truth ({percent(level)} intervals, subgroups with an answer)")
    for heading in ("metric", "estimates"):
        table.add_column(heading, overflow="fold")
    for heading in ("mean error", "truth inside", "mean width"):
        table.add_column(heading, justify="right")
    for metric in metrics_of(next(iter(reports.values()))):
        for name, report in reports.items():
            reading = read(report, metric, level=level, truth=truth)
            if reading.truth is None:
                raise InputError(f"the truth lacks the metric {metric!r}")
            for side in (reading.frequentist, reading.bayesian):
                scored = np.isfinite(reading.truth) & np.isfinite(side.estimate) & np.isfinite(side.lower)
                error = np.abs(side.estimate - reading.truth)[scored]
                held = f"{int(reading.inside(side)[scored].sum())} of {int(scored.sum())}"
                width = (side.upper - side.lower)[scored]
                numbers = [number(float(values.mean())) if len(values) else "" for values in (error, width)]
                words = Text(f"{plain(name)}, {side.approach.capitalize()}")
                table.add_row(Text(reading.metric), words, numbers[0], held, numbers[1])
    return table
