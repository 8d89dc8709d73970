"""The forest plot: both approaches side by side, one row per subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.readings import Order, Reading, Side, check_order, percent, read, whole

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IntArray = NDArray[np.intp]

# Okabe and Ito's blue and vermilion: told apart with any kind of colour vision, and by shape and dash too.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#595959"
_BAND = "#F3F4F6"
_STYLES = {"bayesian": (BLUE, "o", -0.19), "frequentist": (VERMILION, "D", 0.19)}


def forest(
    report: xr.DataTree,
    *,
    metric: str | None = None,
    level: float = 0.95,
    truth: xr.DataArray | None = None,
    order: Order = "size",
    limit: int | None = None,
    width: float = 9.0,
) -> Figure:
    """Draw the intervals of both approaches for every subgroup.

    Per subgroup a circle with a solid line (Bayesian) above a diamond with a dashed line (frequentist); the
    thick part of a line is the 50 % interval. Hollow markers: no row counts, so the model alone answers.
    The denominator and what is special about a subgroup stand on the right; a dotted line marks the value for
    everybody.

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
    width : float
        Width of the figure in inches; the height follows from the number of subgroups.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot: show it in a notebook by returning it, or call ``figure.savefig``.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the report lacks the metric or the level, the order is unknown, the limit is not
        positive, or the truth does not fit.

    References
    ----------
    Okabe and Ito (2008), "Color Universal Design", for the palette.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> figure = forest(bg.estimate(counts, bg.PartialPooling(), seed=1))
    >>> figure.axes[0].get_title(loc="left")
    'fnr'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_order(order)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, or None for all subgroups; got {limit}")
    reading = read(report, metric, level=level, truth=truth)
    rows = reading.order(order)[:limit]
    figure = Figure(figsize=(width, 1.5 + 0.27 * max(len(rows), 3)), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _paint_rows(axes, reading, rows)
    span = _span(reading, rows)
    axes.set_xlim(*span)
    handles = [_paint_side(axes, side, rows, span) for side in (reading.bayesian, reading.frequentist)]
    if reading.truth is not None:
        (ticks,) = axes.plot(
            reading.truth[rows], np.arange(len(rows)), linestyle="", marker="|", markersize=13,
            markeredgewidth=1.6, color="black", label="truth", zorder=4,
        )  # fmt: skip
        handles.append(ticks)
    if np.isfinite(reading.overall):
        line = axes.axvline(reading.overall, color=GREY, linestyle=":", lw=1.2, label=reading.overall_is, zorder=1)
        handles.append(line)
    axes.set_title(reading.metric, loc="left", fontsize=12, fontweight="bold", parse_math=False)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 2), frameon=False, fontsize=9)
    return figure


def _span(reading: Reading, rows: IntArray) -> tuple[float, float]:
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


def _paint_side(axes: Axes, side: Side, rows: IntArray, span: tuple[float, float]) -> Artist:
    """Draw the intervals and the points of one approach and return the handle for the legend."""
    colour, marker, shift = _STYLES[side.approach]
    place = np.arange(len(rows)) + shift
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
    words = side.interval_method.replace("_", " ")
    (points,) = axes.plot(
        side.estimate[rows][~alone], place[~alone], linestyle="", marker=marker, markersize=size,
        color=colour, zorder=3, label=f"{side.approach.capitalize()} ({side.interval_kind}, {words})",
    )  # fmt: skip
    return points


def _paint_rows(axes: Axes, reading: Reading, rows: IntArray) -> None:
    """Labels on the left, denominators and remarks on the right, bands to follow a row with the eye."""
    count = len(rows)
    for i in range(0, count, 2):
        axes.axhspan(i - 0.5, i + 0.5, color=_BAND, zorder=0, linewidth=0)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks(np.arange(count), [reading.subgroups[i] for i in rows], fontsize=9, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=9, top=count > 20, labeltop=count > 20)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_xlabel(f"{reading.metric}, {percent(reading.level)} intervals (thick: 50%)", fontsize=9, parse_math=False)
    remarks = reading.remarks()
    right = axes.get_yaxis_transform()
    axes.text(1.06, -0.65, "n", transform=right, ha="right", va="bottom", fontsize=9, color=GREY)
    for place, i in enumerate(rows):
        axes.text(1.06, place, whole(float(reading.count[i])), transform=right, ha="right", va="center", fontsize=9)
        if remarks[i]:
            axes.text(
                1.075, place, remarks[i], transform=right, ha="left", va="center", fontsize=8, color=GREY,
                style="italic", parse_math=False,
            )  # fmt: skip
