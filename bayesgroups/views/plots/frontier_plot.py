"""The frontier plot: candidates of several methods, their frontiers, and the area that is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.tradeoffs.areas import Within, auc_pfc
from bayesgroups.questions.tradeoffs.curves import curve
from bayesgroups.questions.tradeoffs.points import goals, mean_points, pair, read_points, without_unknown
from bayesgroups.questions.tradeoffs.uncertainty import frontier_band
from bayesgroups.views.plots.style import SEQUENCE, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LEVEL = 0.95


@checked_keywords
def frontier(
    methods: Mapping[str, pd.DataFrame | xr.Dataset],
    *,
    anchor: float | tuple[float, float],
    shade: str | None = None,
    within: Within | None = None,
    utopia: tuple[float, float] = (1.0, 1.0),
    width: float = 7.0,
) -> Axes:
    """Draw fairness against performance.

    Faint markers are candidates, full ones those that no other of the method beats, joined by lines from the anchor on.
    With draws a band has the 95 % limits of each curve, as far as half of the draws go. A star marks the ideal point where
    a distance bounds the shaded part.

    Parameters
    ----------
    methods : mapping
        Candidates by the name of their method, up to six; those with draws at their means.
    anchor : float or (performance, fairness)
        Where the curves begin, as in `bayesgroups.auc_pfc`.
    shade : str, optional
        The method under whose curve the area is filled; its value stands in the legend.
    within : mapping, optional
        Fill only the part that meets these constraints, as in `bayesgroups.auc_pfc`.
    utopia : (performance, fairness)
        The ideal point of a distance in ``within``.
    width : float
        Width of the figure in inches.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``axes.figure``, which pyplot does not know: show it in a notebook by returning it, or call
        ``axes.figure.savefig``.

    Raises
    ------
    InputError
        If there is no method, there are more than six, ``shade`` is none of them, ``within`` comes without ``shade``, or as
        in `bayesgroups.auc_pfc`.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, Figures 3-5.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.views.plots import frontier
    >>> points = pd.DataFrame({"performance": [0.8, 0.7, 0.6], "fairness": [0.6, 0.9, 0.7]})
    >>> axes = frontier({"debiased": points}, anchor=0.5, shade="debiased", within={"fairness": 0.75})
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('performance', 'fairness')
    """
    if not 1 <= len(methods) <= len(SEQUENCE):
        raise InputError(f"a frontier plot has room for 1 to {len(SEQUENCE)} methods; got {len(methods)}")
    if shade is not None and shade not in methods:
        raise InputError(f"shade={shade!r} is none of the methods; {near_misses(shade, methods)}")
    if within is not None and shade is None:
        raise InputError("within= bounds a shaded area; give shade=, the method under whose curve it lies")
    start = pair(anchor, "anchor", fairness=1.0)
    tables = {name: without_unknown(read_points(points)) for name, points in methods.items()}
    figure = new_figure(width, 0.75 * width)
    axes = figure.add_subplot()
    for (name, table), (colour, marker) in zip(tables.items(), SEQUENCE, strict=False):
        _paint(axes, name, table, start, colour, marker)
    if shade is not None:
        colour = SEQUENCE[list(tables).index(shade)][0]
        _fill(axes, mean_points(tables[shade]), start, within, pair(utopia, "utopia"), colour)
    axes.plot(*start, linestyle="", marker="X", markersize=8, color="black", label="anchor", zorder=4)
    axes.set_xlabel("performance")
    axes.set_ylabel("fairness")
    axes.grid(color="#E5E7EB", lw=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return axes


def _paint(axes: Axes, name: str, table: xr.Dataset, start: tuple[float, float], colour: str, marker: str) -> None:
    """Candidates, curve and band of one method."""
    performance, fairness = goals(mean_points(table))
    axes.plot(performance, fairness, linestyle="", marker=marker, markersize=3.5, color=colour, alpha=0.25, zorder=2)
    corners = curve(performance, fairness, start)
    axes.plot(
        corners.performance, corners.fairness, marker=marker, markersize=5, color=colour, lw=1.4, zorder=3, label=name
    )  # fmt: skip
    if table.sizes.keys() != {"candidate"}:
        band = frontier_band(table, anchor=start)
        seen = band["probability_reached"].values >= 0.5
        limits = band.sel(level=_LEVEL)
        axes.fill_between(
            band["performance"].values[seen], limits["lower"].values[seen], limits["upper"].values[seen],
            color=colour, alpha=0.15, linewidth=0, zorder=1,
        )  # fmt: skip


def _fill(
    axes: Axes, points: xr.Dataset, start: tuple[float, float], within: Within | None, utopia: tuple[float, float],
    colour: str,
) -> None:  # fmt: skip
    """Fill the area under the curve where the constraints hold."""
    area = auc_pfc(points, anchor=start, within=within, utopia=utopia)
    corners = curve(*goals(points), start)
    low, high = float(corners.performance.min()), float(corners.performance.max())
    # Corners themselves and enough places between them to show where a bound cuts.
    p = np.unique(np.concatenate([np.linspace(low, high, 2001), corners.performance]))
    f = np.interp(p, corners.performance, corners.fairness)
    bounds = within or {}
    met = (p >= bounds.get("performance", -np.inf)) & (f >= bounds.get("fairness", -np.inf))
    met &= np.hypot(utopia[0] - p, utopia[1] - f) <= bounds.get("dto", np.inf)
    axes.fill_between(
        p, 0.0, f, where=met.tolist(), color=colour, alpha=0.25, linewidth=0, zorder=1, label=f"area {float(area):.4f}"
    )  # fmt: skip
    if "dto" in bounds:
        axes.plot(*utopia, linestyle="", marker="*", markersize=11, color="black", label="utopia", zorder=4)
