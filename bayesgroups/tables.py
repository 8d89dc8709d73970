"""Reports, tallies and comparisons as tables: pandas for further work, rich for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from rich import box
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError, near_misses
from bayesgroups.readings import (
    Order,
    Reading,
    Side,
    check_level,
    check_order,
    metrics_of,
    number,
    percent,
    plain,
    read,
    whole,
)
from bayesgroups.tallies.subgroups import attributes_of

if TYPE_CHECKING:
    import pandas as pd

Approach = Literal["bayesian", "frequentist"]


def report_frame(report: xr.DataTree, *, level: float = 0.95, truth: xr.DataArray | None = None) -> pd.DataFrame:
    """A report as one row per metric and subgroup.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    level : float
        Level of the intervals.
    truth : xr.DataArray, optional
        True values along ``subgroup`` (and ``metric``).

    Returns
    -------
    pandas.DataFrame
        Columns ``metric``, ``subgroup``, one per attribute, ``count``, ``remark``; per approach ``<approach>``
        (the estimate), ``<approach>_lower``, ``<approach>_upper``, ``<approach>_status``; with a truth ``truth`` and
        ``<approach>_covers``. An attribute with the name of such a column gives way to it.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the level is not in the report or the truth does not fit it.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> frame = report_frame(bg.estimate(counts, bg.NoPooling(), seed=1))
    >>> frame[["site", "count", "frequentist"]].values.tolist()
    [['a', 2.0, 0.5], ['b', 100.0, 0.3]]
    """
    import pandas as pd

    readings = {name: read(report, name, level=level, truth=truth) for name in metrics_of(report)}
    table = report["estimates"].to_dataset()
    attributes = {name: table[name].values.astype(str) for name in attributes_of(table)}
    blocks = []
    for name, reading in readings.items():
        columns: dict[str, Any] = {**attributes, "metric": name, "subgroup": table["subgroup"].values.astype(str)}
        columns |= {"count": reading.count, "remark": reading.remarks()}
        for side in (reading.bayesian, reading.frequentist):
            columns |= {
                side.approach: side.estimate,
                f"{side.approach}_lower": side.lower,
                f"{side.approach}_upper": side.upper,
                f"{side.approach}_status": list(side.status),
            }
            if reading.truth is not None:
                columns |= {"truth": reading.truth, f"{side.approach}_covers": reading.inside(side)}
        blocks.append(pd.DataFrame(columns))
    first = ["metric", "subgroup", *[name for name in attributes if name not in ("metric", "subgroup")]]
    frame: pd.DataFrame = pd.concat(blocks, ignore_index=True)
    return frame[first + [name for name in frame.columns if name not in first]]


def report_table(
    report: xr.DataTree,
    metric: str | None = None,
    *,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
    order: Order = "tally",
    decimals: int | None = None,
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
    table = _table(reading.metric)
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
    for i in reading.order(order):
        cells = [Text(reading.subgroups[i]), Text(whole(reading.count[i]))]
        cells += [_held(reading, side, i, places) for side in (reading.bayesian, reading.frequentist)]
        if reading.truth is not None:
            cells.append(Text(number(reading.truth[i], places)))
        table.add_row(*cells, notes.mark(remarks[i]))  # Text, not str: a label is no markup
    misses = "* misses the truth\n" if reading.truth is not None else ""
    table.caption = Text(misses + notes.text(), style="not italic dim") if misses or notes.text() else None
    return table


def tally_table(tally: xr.Dataset, metric: str, *, decimals: int = 3) -> Table:
    """One metric of a tally for the terminal.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    metric : str
        One of its metrics.
    decimals : int
        Decimals of estimates and standard errors.

    Returns
    -------
    rich.table.Table
        Rows, effective denominator ``n``, estimate, standard error (pooled row variance) and reason per subgroup.

    Raises
    ------
    InputError
        If the tally lacks the metric.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> tally_table(counts, "fnr").row_count
    2
    """
    names = [str(name) for name in tally["metric"].values]
    if metric not in names:
        raise InputError(f"the tally has no metric {metric!r}; {near_misses(metric, names)}")
    one = tally.sel(metric=metric)
    table = _table(plain(metric))
    table.add_column("subgroup", overflow="fold", min_width=12)
    for heading in ("rows", "n", "estimate", "std. error"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    notes = Footnotes()
    spread = np.sqrt(one["sampling_variance"].values)
    for i, label in enumerate(tally["subgroup"].values):
        table.add_row(
            Text(plain(str(label))),
            whole(float(one["rows"].values[i])),
            whole(float(one["count"].values[i])),
            number(float(one["estimate"].values[i]), decimals),
            number(float(spread[i]), decimals),
            notes.mark(str(one["reason"].values[i])),
        )
    table.caption = Text(notes.text(), style="not italic dim") if notes.text() else None
    return table


def comparison_table(
    compared: xr.Dataset,
    metric: str,
    *,
    level: float = 0.95,
    approach: Approach = "bayesian",
    decimals: int | None = None,
) -> Table:
    """One metric of several reports for the terminal, one column per report.

    Parameters
    ----------
    compared : xr.Dataset
        From `bayesgroups.compare`.
    metric : str
        One of its metrics.
    level : float
        Level of the intervals.
    approach : {"bayesian", "frequentist"}
        Which answer of each report.
    decimals : int, optional
        Decimals of all numbers; 3 when left out.

    Returns
    -------
    rich.table.Table

    Raises
    ------
    InputError
        If the comparison lacks the metric, the level or the approach.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> reports = {"alone": bg.estimate(counts, bg.NoPooling(), seed=1)}
    >>> [column.header for column in comparison_table(bg.compare(reports), "fnr").columns]
    ['subgroup', 'n', 'alone']
    """
    names = [str(name) for name in compared["metric"].values]
    if metric not in names:
        raise InputError(f"the reports have no metric {metric!r}; {near_misses(metric, names)}")
    check_level(level)
    if approach not in compared["approach"].values:
        raise InputError(f"approach {approach!r} is not one of 'bayesian', 'frequentist'")
    one = compared.sel(metric=metric, approach=approach, level=level)
    table = _table(f"{plain(metric)}: {approach.capitalize()}, {percent(level)} intervals")
    table.add_column("subgroup", overflow="fold", min_width=12)
    table.add_column("n", justify="right", no_wrap=True)
    for name in compared["estimator"].values:
        table.add_column(Text(plain(str(name))), overflow="fold")
    count = one["count"].isel(estimator=0) if "estimator" in one["count"].dims else one["count"]
    places = 3 if decimals is None else decimals
    bounds = [one[name].transpose("estimator", "subgroup").values for name in ("estimate", "lower", "upper")]
    for i, label in enumerate(compared["subgroup"].values):
        cells = [_interval(*(float(values[j, i]) for values in bounds), places) for j in range(len(bounds[0]))]
        table.add_row(Text(plain(str(label))), whole(float(count.values[i])), *map(Text, cells))
    return table


def interval_text(side: Side, i: int, decimals: int) -> str:
    """Estimate and interval of one subgroup, such as ``0.412 [0.280, 0.553]``; the status where there is none."""
    return _interval(side.estimate[i], side.lower[i], side.upper[i], decimals) or side.status[i]


def _interval(estimate: float, lower: float, upper: float, decimals: int) -> str:
    if np.isnan(estimate):
        return ""
    if np.isnan(lower) or np.isnan(upper):
        return number(estimate, decimals)
    return f"{number(estimate, decimals)} [{number(lower, decimals)}, {number(upper, decimals)}]"


def _held(reading: Reading, side: Side, i: int, decimals: int) -> Text:
    """Estimate and interval, with a star where the interval misses a truth that is known."""
    cell = Text(interval_text(side, i, decimals))
    misses = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
    if misses and not reading.inside(side)[i]:
        cell.append("*", style="bold red")
    return cell


class Footnotes:
    """Letters for the remarks of a table: one per distinct remark, in the order they come."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def mark(self, remark: str) -> Text:
        """The letter of a remark; nothing for an empty one."""
        if not remark:
            return Text("")
        position = len(self._letters)
        letter = "abcdefghijklmnopqrstuvwxyz"[position] if position < 26 else str(position)
        return Text(self._letters.setdefault(remark, letter), style="dim")

    def text(self) -> str:
        """What the letters stand for, one line each."""
        return "\n".join(f"{letter} {plain(remark)}" for remark, letter in self._letters.items())


def _table(title: str) -> Table:
    heading = Text(title, style="bold")
    return Table(
        title=heading, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD,
        show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
