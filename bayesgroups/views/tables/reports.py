"""One metric of a report for the terminal."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.report.view import Order, Reading, Side, check_order, number, percent, plain, read, whole
from bayesgroups.views.tables.layout import Footnotes, captioned, empty_table, interval_text, largest


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
    asks for; ``limit`` shows the largest subgroups only, largest first, when there are more.
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
    shown = largest(reading.count, limit, reading.order(order))
    for i in map(int, shown):
        cells = [Text(reading.subgroups[i]), Text(whole(float(reading.count[i])))]
        cells += [_held(reading, side, i, places) for side in (reading.bayesian, reading.frequentist)]
        if reading.truth is not None:
            cells.append(Text(number(float(reading.truth[i]), places)))
        table.add_row(*cells, notes.mark(remarks[i]))  # Text, not str: a label is no markup
    lines = ["* misses the truth"] if reading.truth is not None else []
    return captioned(table, [*lines, *notes.lines()], len(shown), len(reading.subgroups))


def _held(reading: Reading, side: Side, i: int, decimals: int) -> Text:
    """Estimate and interval, with a star where the interval misses a truth that is known."""
    text = interval_text(float(side.estimate[i]), float(side.lower[i]), float(side.upper[i]), decimals)
    cell = Text(text or side.status[i])
    misses = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
    if misses and not reading.inside(side)[i]:
        cell.append("*", style="bold red")
    return cell
