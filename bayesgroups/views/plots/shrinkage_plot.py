"""The shrinkage plot: where pooling takes each subgroup from where its own rows put it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Using, approach_shown
from bayesgroups.report.view import Reading, read
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


NAMED = 4
"""So many subgroups, the ones that move farthest, have their names written beside them."""


@renamed_keyword("approach", "using", bayesian="auto", frequentist="tally")
@checked_keywords
def shrinkage(
    report: xr.DataTree,
    *,
    metric: str | None = None,
    using: Using = "auto",
    named: int = NAMED,
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw the raw estimate of every subgroup against its estimate in the report.

    The area of a circle is in proportion to the subgroup's n. On the diagonal nothing was moved; the farther from it, the more
    a subgroup was pulled towards the others. The grey vertical line is how far. Ticks at the left are subgroups without a
    value of their own.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str, optional
        One of its metrics; the first when left out.
    using : {"auto", "posterior", "tally"}
        Whose estimates: the Bayesian ones (``auto``, ``posterior``), or the frequentist ones, which are made from the tally.
    named : int
        Write the names of so many subgroups, those that move farthest.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``axes.figure``.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the report lacks the metric, or a setting does not exist.

    References
    ----------
    Efron and Morris (1977), Stein's paradox in statistics, https://doi.org/10.1038/scientificamerican0577-119.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import shrinkage
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}), metric="fnr")
    >>> shrinkage(bg.estimate(counts, bg.PartialPooling(), seed=1)).get_xlabel()
    'fnr from the rows of the subgroup alone'
    """
    approach = approach_shown(using)
    if named < 0:
        raise InputError(f"named must be 0 or more; got {named}")
    reading, shape, owns_figure = read(report, metric), style.look(size), axes is None
    label = metric if metric is not None else str(report["estimates"].to_dataset()["metric"].values[0])
    raw = np.asarray(report["constant_data"].to_dataset()["estimate"].sel(metric=label).values, dtype=np.float64)
    side = reading.bayesian if approach == "bayesian" else reading.frequentist
    axes = style.begin(axes, shape, 0.72)
    seen = np.isfinite(raw) & np.isfinite(side.estimate)
    alone = ~np.isfinite(raw) & np.isfinite(side.estimate)
    count = np.where(np.isfinite(reading.count), reading.count, 1.0)
    largest = float(count[seen].max(initial=1.0))
    area = (9 * shape.marker) ** 2 * 0.35 * count / largest + shape.marker**2 / 3
    values = np.concatenate([raw[seen], side.estimate[seen], side.estimate[alone]])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    pad = 0.06 * (high - low) or 0.05
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(low - pad, high + pad)
    (diagonal,) = axes.plot(
        [low - pad, high + pad], [low - pad, high + pad], color=style.GREY, lw=0.8 * shape.line, ls="--",
        label="not moved", zorder=1,
    )  # fmt: skip
    axes.vlines(raw[seen], raw[seen], side.estimate[seen], color="#B6BCC6", lw=0.7 * shape.line, zorder=1)
    approach_name = "Bayesian" if approach == "bayesian" else approach
    colour = style.BLUE if approach == "bayesian" else style.VERMILION
    axes.scatter(
        raw[seen], side.estimate[seen], s=area[seen], facecolor=colour, alpha=0.45, edgecolor=colour,
        linewidth=0.6 * shape.line, zorder=3,
    )  # fmt: skip
    handles: list[Artist] = [diagonal, _key(shape, colour)]
    if np.isfinite(reading.overall):
        handles.append(axes.axhline(reading.overall, color=style.GREY, ls=":", lw=shape.line, label=reading.overall_is))
    if alone.any():
        (ticks,) = axes.plot(
            np.full(alone.sum(), low - pad), side.estimate[alone], ls="", marker=">", color=colour,
            markersize=shape.marker, markerfacecolor="white", clip_on=False, label="no value of its own", zorder=4,
        )  # fmt: skip
        handles.append(ticks)
    _names(axes, shape, reading, raw, side.estimate, np.where(seen, abs(raw - side.estimate), -1.0), named)
    style.name(
        axes, shape, title=f"{reading.metric}: raw and {approach_name} estimates{style.of_estimand(side)}",
        x=f"{reading.metric} from the rows of the subgroup alone", y=f"{reading.metric}, {approach_name} estimate",
        usable=approach != "bayesian" or reading.usable,
    )  # fmt: skip
    axes.grid(color=style.RULE, lw=0.6)
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=2)
    return axes


def _key(shape: style.Look, colour: str) -> Artist:
    """A handle for the legend only."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], ls="", marker="o", color=colour, alpha=0.6, markersize=1.4 * shape.marker,
        label="subgroup, area in proportion to n",
    )  # fmt: skip


def _names(
    axes: Axes,
    shape: style.Look,
    reading: Reading,
    raw: FloatArray,
    estimate: FloatArray,
    moved: FloatArray,
    named: int,
) -> None:
    """Names of the subgroups that move farthest, kept apart from each other along the vertical, on a white rim."""
    from matplotlib.patheffects import withStroke

    chosen = [int(i) for i in np.argsort(-moved, kind="stable")[:named] if moved[i] > 0]
    low, high = axes.get_ylim()
    least, last = 0.05 * (high - low), -np.inf
    middle = float(np.mean(axes.get_xlim()))
    for i in sorted(chosen, key=lambda i: float(estimate[i])):
        at = max(float(estimate[i]), last + least)
        last = at
        left = raw[i] > middle
        axes.annotate(
            style.short(reading.subgroups[i], 32), (raw[i], estimate[i]), xytext=(raw[i], at), fontsize=0.85 * shape.small,
            textcoords="data", ha="right" if left else "left", va="center", color=style.INK, zorder=5, parse_math=False,
            path_effects=[withStroke(linewidth=0.3 * shape.small, foreground="white")],
        )  # fmt: skip
