"""Contrasts as a forest plot: how far every subgroup is from its reference, with a line where both are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import number, percent, plain
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FOUR_FIFTHS = (0.8, 1.25)
"""Ratios that are marked: four fifths, and its inverse."""
WORDS = {"difference": "difference", "ratio": "ratio", "odds_ratio": "odds ratio"}
APART = 0.17
"""Distance of the two approaches from the middle of a row."""


@checked_keywords
def contrasts(
    answer: xr.Dataset,
    *,
    metric: str | None = None,
    scale: str | None = None,
    limit: int | None = 40,
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw contrasts with their intervals, one row each; thin lines hold for all of them together.

    The line at 0 (or 1) is equality. Ratios have a logarithmic axis, with .8 and 1.25 marked: they are marks to read by, and
    no verdict.

    Parameters
    ----------
    answer : xr.Dataset
        Answer of `bayesgroups.contrasts`.
    metric : str, optional
        One of its metrics; the first when left out.
    scale : str, optional
        One of its scales; the first when left out.
    limit : int, optional
        Draw at most so many contrasts, the first ones; ``None`` for all.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the answer is of another question, lacks the metric or scale, has no finite contrast, or the limit is not positive.

    References
    ----------
    Okabe and Ito (2008), "Color Universal Design", for the palette.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([8, 30], [20, 100], pd.DataFrame({"site": ["a", "b"]}), metric="sel")
    >>> bg.plots.contrasts(bg.contrasts(counts)).get_xlabel()
    'difference in sel (subgroup - reference)'
    """
    import textwrap

    from matplotlib.lines import Line2D

    part, shape, owns_figure = _part(answer, metric, scale, limit), style.look(size), axes is None
    name, on = plain(str(part["metric"].values)), str(part["scale"].values)
    labels = [plain(str(label)) for label in part["contrast"].values]
    rows = np.arange(len(labels), dtype=np.float64)
    axes = style.begin(axes, shape, max(0.4, (1.6 + 0.36 * len(rows)) / 5.6))
    for middle in rows[::2]:
        axes.axhspan(middle - 0.5, middle + 0.5, color=style.BAND, zorder=0, linewidth=0)
    null = 0.0 if on == "difference" else 1.0
    low, high = _span(part, null, on)
    handles: list[Artist] = [axes.axvline(null, color=style.INK, lw=shape.line, zorder=1, label="equal")]
    if on == "ratio":
        marked = [
            axes.axvline(at, color=style.GREY, lw=0.8 * shape.line, ls=(0, (1, 2)), zorder=1, label="0.8 and 1.25")
            for at in FOUR_FIFTHS
        ]
        handles.append(marked[-1])
        low, high = min(low, 0.75), max(high, 1.33)
    approaches = [str(each) for each in part["approach"].values]
    for i, approach in enumerate(approaches):
        colour, marker = (style.BLUE, "o") if approach == "bayesian" else (style.VERMILION, "D")
        place = rows + (2 * i - 1) * APART * (len(approaches) > 1)
        side = part.sel(approach=approach)
        kind = str(side["interval_kind"].values)
        for names, width in ((("lower_simultaneous", "upper_simultaneous"), 0.7), (("lower", "upper"), 2.0)):
            ends = [np.clip(side[end].values.astype(float), low, high) for end in names]
            axes.hlines(place, ends[0], ends[1], colors=colour, lw=width * shape.line, zorder=2)
        (points,) = axes.plot(
            np.clip(side["estimate"].values, low, high), place, ls="", marker=marker, markersize=shape.marker, color=colour,
            zorder=3, label=f"{approach.capitalize()}, {percent(float(answer.attrs['level']))} {plain(kind)}",
        )  # fmt: skip
        handles.append(points)
    if np.isfinite(part["lower_simultaneous"].values).any():
        handles.append(Line2D([], [], color=style.GREY, lw=0.7 * shape.line, label="thin: all rows together"))
    blank = [i for i in range(len(rows)) if (part["status"].values[:, i] == "not estimable").all()]
    for i in blank:
        axes.text(null, rows[i], " not estimable", va="center", fontsize=shape.small, color=style.GREY, style="italic")
    if on != "difference":
        axes.set_xscale("log")
        _ticks(axes, low, high)
    axes.set_xlim(low, high)
    axes.set_ylim(rows[-1] + 0.5, -0.5)
    axes.set_yticks(
        rows, [textwrap.fill(style.short(label, 60), 30) for label in labels], fontsize=shape.small, parse_math=False
    )
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    between = "subgroup - reference" if on == "difference" else "subgroup / reference"
    title = f"{name}: {WORDS[on]} to {_reference(part)}"
    usable = "bayesian" not in approaches or bool(part["usable"])
    style.name(axes, shape, title=title, x=f"{WORDS[on]} in {name} ({between})", y="", usable=usable)
    style.explain(axes, shape, handles, owns_figure=owns_figure)
    return axes


def _part(answer: xr.Dataset, metric: str | None, scale: str | None, limit: int | None) -> xr.Dataset:
    """One metric on one scale, the first contrasts."""
    if not {"approach", "scale", "metric", "contrast"} <= set(answer.dims):
        raise InputError(
            "the answer is not of bayesgroups.contrasts: it lacks the dims approach, scale, metric and contrast"
        )
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, or None for all contrasts; got {limit}")
    chosen = {}
    for dim, value in (("metric", metric), ("scale", scale)):
        names = [str(each) for each in answer[dim].values]
        if value is not None and value not in names:
            raise InputError(f"the answer has no {dim} {value!r}; {near_misses(value, names)}")
        chosen[dim] = names[0] if value is None else value
    part = answer.sel(chosen).isel(contrast=slice(limit))
    if not np.isfinite(part["estimate"].values).any():
        raise InputError(f"metric {chosen['metric']!r} has no contrast that can be drawn; see the variable 'reason'")
    return part


def _span(part: xr.Dataset, null: float, scale: str) -> tuple[float, float]:
    """Limits of the axis: all finite ends and equality, and a margin; of ratios on the scale of logs."""
    names = ("estimate", "lower", "upper", "lower_simultaneous", "upper_simultaneous")
    ends = np.concatenate([np.ravel(part[name].values) for name in names] + [np.array([null])])
    if scale == "difference":
        ends = ends[np.isfinite(ends)]
        pad = 0.05 * (ends.max() - ends.min()) or 0.05
        return float(ends.min() - pad), float(ends.max() + pad)
    ends = np.log(np.clip(ends[np.isfinite(ends) & (ends > 0)], 0.02, 50.0))
    pad = 0.05 * (ends.max() - ends.min()) or 0.05
    return float(np.exp(ends.min() - pad)), float(np.exp(ends.max() + pad))


def _ticks(axes: Axes, low: float, high: float) -> None:
    """Plain numbers on a logarithmic axis, as many as there is room for."""
    from matplotlib.ticker import NullFormatter, NullLocator

    wide = high / low > 30
    choices = (0.02, 0.1, 0.5, 1, 2, 10, 50) if wide else (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 2, 3, 5, 10, 20)
    ticks = [tick for tick in choices if low <= tick <= high]
    axes.set_xticks(ticks, [number(tick, 2).rstrip("0").rstrip(".") for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _reference(part: xr.Dataset) -> str:
    names = list(dict.fromkeys(plain(str(name)) for name in part["reference"].values))
    return names[0] if len(names) == 1 else "the reference"
