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
    """One metric of a report for the terminal, both approaches side by side.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str, optional
        One of its metrics; the first when left out.
    level : float
        Level of the intervals.
    truth : xr.DataArray, optional
        True values; adds the column ``truth``, and a star to every interval that misses it.
    order : {"tally", "size", "estimate"}
        Order of the subgroups.
    decimals : int, optional
        Decimals of all numbers; by default as the range of the metric asks for.
    limit : int, optional
        Show only so many subgroups when there are more: the largest, largest first.

    Returns
    -------
    rich.table.Table

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the report lacks the metric or the level, the order is unknown, or the truth does not fit.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> report_table(bg.estimate(counts, bg.NoPooling(), seed=1)).row_count
    2
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
