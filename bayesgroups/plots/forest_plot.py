"""The forest plot: both approaches side by side, one row per subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.readings import Order, Reading, Side, check_order, percent, read, whole

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IntArray = NDArray[np.intp]

# Okabe and Ito's blue and vermilion: told apart with any kind of colour vision, and by shape, dash and place as well.
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
    width: float = 9.0,
) -> Figure:
    """Draw the intervals of both approaches for every subgroup.

    Per subgroup a filled circle with a solid line (Bayesian) above a diamond with a dashed line (frequentist); the thick
    part of a line is the 50 % interval. Hollow markers are answers from the model alone (no row counts). The
    denominator and what is special about a subgroup stand on the right; a dotted line marks the value for everybody.

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
        If the report lacks the metric or the level, the order is unknown, or the truth does not fit.

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
    reading = read(report, metric, level=level, truth=truth)
    rows = reading.order(order)
    figure = Figure(figsize=(width, 1.5 + 0.27 * max(len(rows), 3)), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _paint_rows(axes, reading, rows)
    handles = [_paint_side(axes, side, rows) for side in (reading.bayesian, reading.frequentist)]
    if reading.truth is not None:
        (ticks,) = axes.plot(
            reading.truth[rows], np.arange(len(rows)), linestyle="", marker="|", markersize=13,
            markeredgewidth=1.6, color="black", label="truth", zorder=4,
        )  # fmt: skip
        handles.append(ticks)
    if np.isfinite(reading.overall):
        handles.append(axes.axvline(reading.overall, color=GREY, linestyle=":", lw=1.2, label=reading.overall_is, zorder=1))
    axes.set_title(reading.metric, loc="left", fontsize=12, fontweight="bold", parse_math=False)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 2), frameon=False, fontsize=9)
    return figure


def _paint_side(axes: Axes, side: Side, rows: IntArray) -> Artist:
    """Draw the intervals and the points of one approach and return the handle for the legend."""
    colour, marker, shift = _STYLES[side.approach]
    place = np.arange(len(rows)) + shift
    dash = "solid" if side.approach == "bayesian" else (0, (4, 1.5))
    axes.hlines(place, side.lower[rows], side.upper[rows], colors=colour, linestyles=[dash], lw=1.2, zorder=2)
    axes.hlines(place, side.inner_lower[rows], side.inner_upper[rows], colors=colour, lw=3.2, alpha=0.55, zorder=2)
    alone = np.array([side.status[i] == "imputed" for i in rows], dtype=bool)
    size = 5.0 if side.approach == "bayesian" else 4.2
    axes.plot(
        side.estimate[rows][alone], place[alone], linestyle="", marker=marker, markersize=size,
        markerfacecolor="white", markeredgecolor=colour, zorder=3,
    )  # fmt: skip
    words = side.interval_method.replace("_", " ")
    (points,) = axes.plot(
        side.estimate[rows][~alone], place[~alone], linestyle="", marker=marker, markersize=size, color=colour,
        zorder=3, label=f"{side.approach.capitalize()} ({side.interval_kind}, {words})",
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
    lower, upper = reading.bounds
    if np.isfinite([lower, upper]).all():
        margin = 0.02 * (upper - lower)
        axes.set_xlim(lower - margin, upper + margin)
    remarks = reading.remarks()
    right = axes.get_yaxis_transform()
    header = -0.5 - 0.15 if count <= 20 else -0.5 - 0.15
    axes.text(1.06, header, "n", transform=right, ha="right", va="bottom", fontsize=9, color=GREY)
    for place, i in enumerate(rows):
        axes.text(1.06, place, whole(reading.count[i]), transform=right, ha="right", va="center", fontsize=9)
        if remarks[i]:
            axes.text(
                1.075, place, remarks[i], transform=right, ha="left", va="center", fontsize=8, color=GREY,
                style="italic", parse_math=False,
            )  # fmt: skip
