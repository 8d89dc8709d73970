"""The forest plot: both approaches side by side, one row per subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import Order, Reading, Side, check_order, percent, plain, read, whole
from bayesgroups.tallies.labels import shown_level
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.plots.style import BAND, BLUE, GREY, VERMILION, new_figure, short

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


# Told apart by shape and dash too.
LABEL_INCHES, TITLE_INCHES, LEGEND_INCHES = 0.078, 0.092, 0.065
"""Width of a letter of the labels, of the bold title and of the legend, on average."""
KEY_INCHES = 0.55
"""Width of a mark of the legend, with the space about it."""
_STYLES = {"bayesian": (BLUE, "o", -0.19), "frequentist": (VERMILION, "D", 0.19)}


@checked_keywords
def forest(
    report: xr.DataTree,
    *,
    metric: str | None = None,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
    order: Order = "size",
    limit: int | None = None,
    subgroups: Sequence[str] | None = None,
    group_by: str | None = None,
    width: float = 9.0,
) -> Axes:
    """Draw the intervals of both approaches for every subgroup.

    Per subgroup a circle with a solid line (Bayesian) above a diamond with a dashed line (frequentist); the thick part of a
    line is the 50 % interval. Hollow markers: no row counts, so the model alone answers, as the legend says. The denominator
    and what is special about a subgroup stand on the right; a dotted line marks the centre of the subgroups.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str, optional
        One of its metrics; the first when left out.
    level : float
        Level of the intervals.
    truth : xr.DataArray, optional
        True values along ``subgroup`` (and ``metric``), drawn as black ticks.
    order : {"size", "estimate", "tally"}
        Largest subgroup first, largest Bayesian estimate first, or as tallied.
    limit : int, optional
        Draw only so many subgroups, the first in that order; all when left out.
    subgroups : sequence of str, optional
        Draw only these.
    group_by : str, optional
        An attribute: its levels stand one below the other, each with its subgroups in the order asked for.
    width : float
        Width of the figure in inches; the height follows from the number of subgroups.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``axes.figure``, which pyplot does not know: show it in a notebook by returning it, or call
        ``axes.figure.savefig``.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the report lacks the metric, the level, a subgroup or the attribute, the order is unknown, the limit is not
        positive, or the truth does not fit.

    References
    ----------
    Okabe and Ito (2008), "Color Universal Design", for the palette.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> forest(bg.estimate(counts, bg.PartialPooling(), seed=1)).get_title(loc="left").partition(" per")[0]
    'fnr: superpopulation rate'
    """
    import textwrap

    check_order(order)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, or None for all subgroups; got {limit}")
    reading = read(report, metric, level=level, truth=truth)
    rows = _chosen(report, reading.order(order), subgroups)[:limit]
    rows, heads = _grouped(report, rows, group_by)
    at = np.arange(len(rows), dtype=np.float64)
    for place, _ in heads:  # a line of its own for the name of each level
        at[place:] += 0.9
    lines = float(at[-1]) + 1 if len(at) else 0.0
    figure = new_figure(width, 1.5 + 0.27 * max(lines, 3))
    axes = figure.add_subplot()
    _paint_rows(axes, reading, rows, at)
    for place, text in heads:
        axes.text(
            -0.01, at[place] - 0.9, text, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=9,
            fontweight="bold", parse_math=False,
        )  # fmt: skip
    span = _span(reading, rows)
    axes.set_xlim(*span)
    handles = [_paint_side(axes, side, rows, at, span) for side in (reading.bayesian, reading.frequentist)]
    if reading.truth is not None:
        (ticks,) = axes.plot(
            reading.truth[rows], at, linestyle="", marker="|", markersize=13,
            markeredgewidth=1.6, color="black", label="truth", zorder=4,
        )  # fmt: skip
        handles.append(ticks)
    if np.isfinite(reading.overall):
        line = axes.axvline(reading.overall, color=GREY, linestyle=":", lw=1.2, label=reading.overall_is, zorder=1)
        handles.append(line)
    handles += _imputed_key(reading, rows)
    labels = max((len(short(reading.subgroups[i])) for i in rows), default=0)
    title = textwrap.fill(reading.headline(), max(int((width - LABEL_INCHES * labels) / TITLE_INCHES), 30))
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", parse_math=False)
    across = _columns([str(handle.get_label()) for handle in handles], width)
    figure.legend(handles=handles, loc="outside lower center", ncols=across, frameon=False, fontsize=9)
    return axes


def _columns(labels: list[str], width: float) -> int:
    """Columns of the legend: two where their longest labels, and a mark before each, are as wide as the figure at most."""
    half = (len(labels) + 1) // 2
    columns = [column for column in (labels[:half], labels[half:]) if column]
    needed = sum(KEY_INCHES + LEGEND_INCHES * max(map(len, column)) for column in columns)
    return len(columns) if needed <= width else 1


def _imputed_key(reading: Reading, rows: IndexArray) -> list[Artist]:
    """The entry of the legend for hollow markers, where there are any."""
    from matplotlib.lines import Line2D

    sides = (reading.bayesian, reading.frequentist)
    alone = [side for side in sides if any(side.status[i] == "imputed" for i in rows)]
    if not alone:
        return []
    colour, marker, _ = _STYLES[alone[0].approach]
    rests = (
        "people without rows, on whom the model alone speaks"
        if reading.overlapping
        else "no rows, the model alone answers"
    )
    label = f"hollow: {rests}"
    return [Line2D([], [], ls="", marker=marker, markerfacecolor="white", markeredgecolor=colour, label=label)]


def _chosen(report: xr.DataTree, rows: IndexArray, subgroups: Sequence[str] | None) -> IndexArray:
    """The rows that are asked for, in their order."""
    if subgroups is None:
        return rows
    names = [str(name) for name in report["estimates"].to_dataset()["subgroup"].values]
    for name in subgroups:
        if str(name) not in names:
            raise InputError(f"the report has no subgroup {name!r}; {near_misses(str(name), names)}")
    wanted = {names.index(str(name)) for name in subgroups}
    return np.array([i for i in rows if int(i) in wanted], dtype=np.intp)


def _grouped(report: xr.DataTree, rows: IndexArray, attribute: str | None) -> tuple[IndexArray, list[tuple[int, str]]]:
    """Rows with those of one level together, and where each level begins."""
    if attribute is None:
        return rows, []
    table = report["estimates"].to_dataset()
    attributes = attributes_of(table)
    if attribute not in attributes:
        raise InputError(f"the report has no attribute {attribute!r}; {near_misses(attribute, attributes)}")
    tally = report["constant_data"].to_dataset()
    level = [str(table[attribute].values[i]) for i in rows]
    ordered: list[int] = []
    heads: list[tuple[int, str]] = []
    for value in dict.fromkeys(level):
        heads.append((len(ordered), short(f"{plain(attribute)}: {plain(shown_level(tally, attribute, value))}")))
        ordered += [int(i) for i, row_level in zip(rows, level, strict=True) if row_level == value]
    return np.array(ordered, dtype=np.intp), heads


def _span(reading: Reading, rows: IndexArray) -> tuple[float, float]:
    """Limits of the axis: all that is drawn and a margin, but little beyond the range of the metric."""
    sides = (reading.bayesian, reading.frequentist)
    drawn = [values[rows] for side in sides for values in (side.estimate, side.lower, side.upper)]
    drawn += [np.array([reading.overall])] + ([] if reading.truth is None else [reading.truth[rows]])
    values = np.concatenate(drawn)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.04 * (high - low) if high > low else max(0.1 * abs(high), 1e-9)
    lower, upper = reading.bounds
    return max(low - margin, lower - margin / 2), min(high + margin, upper + margin / 2)


def _paint_side(axes: Axes, side: Side, rows: IndexArray, at: FloatArray, span: tuple[float, float]) -> Artist:
    """Draw the intervals and the points of one approach and return the handle for the legend."""
    colour, marker, shift = _STYLES[side.approach]
    place = at + shift
    # An unbounded interval ends at the edge of the picture.
    outer = [np.clip(values[rows], *span) for values in (side.lower, side.upper)]
    inner = [np.clip(values[rows], *span) for values in (side.inner_lower, side.inner_upper)]
    dash: Literal["solid", "dashed"] = "solid" if side.approach == "bayesian" else "dashed"
    axes.hlines(place, outer[0], outer[1], colors=colour, linestyles=dash, lw=1.2, zorder=2)
    axes.hlines(place, inner[0], inner[1], colors=colour, lw=3.2, alpha=0.55, zorder=2)
    alone = np.array([side.status[i] == "imputed" for i in rows], dtype=bool)
    size = 5.0 if side.approach == "bayesian" else 4.2
    axes.plot(
        side.estimate[rows][alone], place[alone], linestyle="", marker=marker, markersize=size,
        markerfacecolor="white", markeredgecolor=colour, zorder=3,
    )  # fmt: skip
    (points,) = axes.plot(
        side.estimate[rows][~alone], place[~alone], linestyle="", marker=marker, markersize=size,
        color=colour, zorder=3, label=f"{side.approach.capitalize()} ({side.interval_kind}, {side.methods})",
    )  # fmt: skip
    return points


def _paint_rows(axes: Axes, reading: Reading, rows: IndexArray, at: FloatArray) -> None:
    """Labels on the left, denominators and remarks on the right, bands to follow a row with the eye."""
    count = len(rows)
    for middle in at[::2]:
        axes.axhspan(middle - 0.5, middle + 0.5, color=BAND, zorder=0, linewidth=0)
    axes.set_ylim((float(at[-1]) if count else 0.0) + 0.5, -0.5)
    axes.set_yticks(at, [short(reading.subgroups[i]) for i in rows], fontsize=9, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=9, top=count > 20, labeltop=count > 20)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_xlabel(f"{reading.metric}, {percent(reading.level)} intervals (thick: 50%)", fontsize=9, parse_math=False)
    remarks = reading.remarks()
    right = axes.get_yaxis_transform()
    axes.text(1.06, -0.65, "n", transform=right, ha="right", va="bottom", fontsize=9, color=GREY)
    for place, i in zip(at, rows, strict=True):
        axes.text(1.06, place, whole(float(reading.count[i])), transform=right, ha="right", va="center", fontsize=9)
        if remarks[i]:
            axes.text(
                1.075, place, remarks[i], transform=right, ha="left", va="center", fontsize=8, color=GREY,
                style="italic", parse_math=False,
            )  # fmt: skip
