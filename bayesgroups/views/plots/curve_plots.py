"""Curves per subgroup: both approaches in one small picture each, with bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import percent, plain
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.tallies.participation import Imputed, check_imputed
from bayesgroups.views.plots.style import BLUE, GREY, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STYLES: dict[str, tuple[str, Literal["solid", "dashed"], str]] = {
    "bayesian": (BLUE, "solid", "o"),
    "frequentist": (VERMILION, "dashed", "D"),
}
_IMPUTED = (0, (1.0, 1.2))
"""Dashes of curves that the model alone answers."""
_SIDE = 2.5
_X = {"threshold": "threshold", "roc": "fpr", "calibration": "mean_score"}


@dataclass(frozen=True, eq=False)
class _Mode:
    """The way to draw a subgroup: with bands or not, from the model alone or not, and the mean over subgroups (point,)."""

    band: bool
    alone: bool
    mean: FloatArray


@checked_keywords
def curves(
    found: xr.Dataset,
    *,
    metric: str | None = None,
    subgroups: Sequence[str] | None = None,
    columns: int = 4,
    band: bool = True,
    imputed: Imputed = "leave_out",
) -> Figure:
    """Draw threshold, ROC or calibration curves, one small picture per subgroup.

    In each a solid line (Bayesian) and a dashed one (frequentist) in their bands: the dark part holds a point of the curve, the
    light part the whole curve, each with the level of the Dataset. A dotted grey line is the same for all: the mean over
    subgroups of the Bayesian curve, or for calibration the diagonal. A net benefit is beside those of
    selecting everyone and no one. Where no row of a subgroup counts the model alone answers: its line is dotted, and it is not in
    that mean.

    Parameters
    ----------
    found : xr.Dataset
        From `bayesgroups.threshold_curve`, `roc_curve` or `calibration_curve`.
    metric : str, optional
        One of the metrics of threshold curves; the first when left out.
    subgroups : sequence of str, optional
        The subgroups to draw, in this order; all when left out.
    columns : int
        Most pictures side by side.
    band : bool
        Draw the simultaneous bands.
    imputed : {"leave_out", "include"}
        Whether subgroups without rows that count are in the mean over subgroups.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot: show it in a notebook by returning it, or call ``figure.savefig``.

    Raises
    ------
    InputError
        If the Dataset has no curves, or lacks the metric or a subgroup; if there is no column, or ``imputed`` is something
        else.

    References
    ----------
    Okabe and Ito (2008), "Color Universal Design", for the palette; Tufte (1983), small multiples.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> figure = curves(bg.roc_curve(rows, ["s"], y_true="y", y_score="p", draws=100, seed=1))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['a', 'b']
    """
    check_imputed(imputed)
    kind, chosen = _choose(found, metric)
    names = [str(name) for name in found["subgroup"].values]
    wanted = names if subgroups is None else [str(name) for name in subgroups]
    for name in wanted:
        if name not in names:
            raise InputError(f"subgroup {name!r} has no curve; {near_misses(name, names)}")
    if columns < 1 or not wanted:
        raise InputError(f"at least one column and one subgroup can be drawn; got {columns} and {len(wanted)}")
    across = min(columns, len(wanted))
    down = math.ceil(len(wanted) / across)
    figure = new_figure(_SIDE * across + 0.6, _SIDE * down + 1.0)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    words = {"threshold": ("threshold", str(chosen.attrs.get("metric", ""))),
             "roc": ("false positive rate", "true positive rate"),
             "calibration": ("mean score", "share of positives")}[kind]  # fmt: skip
    shown = shown_labels(chosen)
    handles: list[Artist] = []
    alone = _without_rows(chosen)
    taking_part = np.flatnonzero(~alone | (imputed == "include"))
    mean = chosen["estimate"].sel(approach="bayesian").isel(subgroup=taking_part).mean("subgroup").values
    level = percent(float(found["level"]))
    for place, axes in enumerate(grid.ravel()):
        if place >= len(wanted):
            axes.remove()
            continue
        subgroup = names.index(wanted[place])
        handles = _paint(axes, kind, chosen, subgroup, _Mode(band, bool(alone[subgroup]), mean))
        axes.set_title(plain(shown[wanted[place]]), loc="left", fontsize=9, parse_math=False)
        if place + across >= len(wanted):
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(words[0], fontsize=8, parse_math=False)
    if any(alone[names.index(name)] for name in wanted):
        handles.append(_imputed_key())
    figure.supylabel(words[1], fontsize=9, parse_math=False)
    about = f"dark: {level} of points" + (f", light: {level} of whole curves" if band else "")
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9, title=about, title_fontsize=8
    )
    return figure


def _choose(table: xr.Dataset, metric: str | None) -> tuple[str, xr.Dataset]:
    """The kind of the curves, and those of one metric."""
    kind = str(table.attrs.get("curve", "")) if isinstance(table, xr.Dataset) else ""
    if kind not in _X:
        raise InputError("curves() draws what bg.threshold_curve(), bg.roc_curve() and bg.calibration_curve() return")
    if kind != "threshold":
        if metric is not None:
            raise InputError(f"metric={metric!r} is for threshold curves; these have none")
        return kind, table
    names = [str(name) for name in table["metric"].values]
    if metric is not None and metric not in names:
        raise InputError(f"metric {metric!r} has no curve; {near_misses(metric, names)}")
    chosen = table.sel(metric=metric or names[0])
    chosen.attrs["metric"] = metric or names[0]
    return kind, chosen


def _without_rows(curves_of_metric: xr.Dataset) -> NDArray[np.bool_]:
    """Subgroups (subgroup,) without a value anywhere on the frequentist curve: the model alone answers for them."""
    seen = curves_of_metric["estimate"].sel(approach="frequentist").notnull()
    return np.asarray(~seen.any([dim for dim in seen.dims if dim != "subgroup"]).values, dtype=bool)


def _key(colour: str, dash: Literal["solid", "dashed"], marker: str, approach: str) -> Artist:
    """The entry of the legend for an approach, as it is drawn where a subgroup has rows."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], color=colour, linestyle=dash, lw=1.4, marker=marker, markersize=3, label=approach.capitalize()
    )


def _imputed_key() -> Artist:
    """The entry of the legend for curves of subgroups without rows."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=BLUE, linestyle=_IMPUTED, lw=1.4, label="no rows: the model alone")


def _paint(axes: Axes, kind: str, table: xr.Dataset, subgroup: int, mode: _Mode) -> list[Artist]:
    """Draw one subgroup and return the handles for the legend."""
    curve = table.isel(subgroup=subgroup)
    handles: list[Artist] = []
    for approach, (colour, dash, marker) in _STYLES.items():
        side = curve.sel(approach=approach)
        x = _places(kind, side, approach)
        y = side["estimate"].values
        for name, alpha in (("band_", 0.13), ("", 0.22)):
            if name and not mode.band:
                continue
            axes.fill_between(
                x, side[f"{name}lower"].values, side[f"{name}upper"].values, color=colour, alpha=alpha, linewidth=0
            )  # fmt: skip
        (line,) = axes.plot(
            x, y, color=colour, linestyle=_IMPUTED if mode.alone else dash, lw=1.4, label=approach.capitalize(), zorder=3,
            marker=marker if kind == "calibration" else "", markersize=3, markerfacecolor="white" if mode.alone else colour,
        )  # fmt: skip
        handles.append(_key(colour, dash, marker if kind == "calibration" else "", approach) if mode.alone else line)
    x = np.array([0.0, 1.0]) if kind == "calibration" else table[_X[kind]].values
    y = x if kind == "calibration" else mode.mean
    words = "score = share" if kind == "calibration" else "mean of subgroups"
    (line,) = axes.plot(x, y, color=GREY, linestyle=":", lw=1.1, label=words, zorder=2)
    handles.append(line)
    status = str(curve["status"].values)
    if status != "ok":
        axes.text(0.97, 0.05, status, transform=axes.transAxes, ha="right", fontsize=8, color=GREY, style="italic")
    axes.set_ylim(*_heights(table))
    if "treat_all" in curve and table.attrs.get("metric") == "net_benefit":
        handles += _treatments(axes, curve, mode)
    if kind != "threshold":
        axes.set_xlim(-0.03, 1.03)
        axes.set_aspect("equal")
    axes.tick_params(labelsize=8)
    axes.spines[["right", "top"]].set_visible(False)
    return handles


def _heights(curves_of_metric: xr.Dataset) -> tuple[float, float]:
    """Ends of the axis of values; a net benefit is below 0 where it is not worth having, as far as one likes."""
    metric = str(curves_of_metric.attrs.get("metric", ""))
    if "net_benefit" not in metric:
        return -0.03, 1.03
    highest = float(curves_of_metric["upper"].max())
    return -0.35 * highest, 1.05 * highest


def _treatments(axes: Axes, curve: xr.Dataset, mode: _Mode) -> list[Artist]:
    """Net benefit of selecting everyone and of selecting no one, as handles for the legend."""
    everyone = curve["treat_all"].sel(approach="bayesian" if mode.alone else "frequentist").values
    (everybody,) = axes.plot(
        curve["threshold"].values, everyone, color="black", linestyle="-.", lw=0.9, label="everyone"
    )
    nobody = axes.axhline(0.0, color="black", lw=0.9, label="no one")
    return [everybody, nobody]


def _places(kind: str, side: xr.Dataset, approach: str) -> FloatArray:
    """Positions of the points of a curve: the mean score of a bin, or its middle where the bin is empty."""
    x: FloatArray = side[_X[kind]].values
    if kind == "calibration":
        middle = (side["bin_lower"] + side["bin_upper"]).values / 2
        # A gap in the data is a gap in the frequentist curve; the Bayesian one goes on.
        x = np.where(np.isfinite(x), x, middle)
    return x
