"""Differences of two systems as a forest plot: how much better the first one is, for whom, with a line where both are level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.schema import KINDS
from bayesgroups.report.view import percent, plain
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

APART = 0.17
"""Distance of the two approaches from the middle of a row."""


@checked_keywords
def systems(
    answer: xr.Dataset,
    *,
    pair: str | None = None,
    limit: int | None = 40,
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw the differences of a pair of systems with their intervals, one row per subgroup.

    Parameters
    ----------
    answer : xr.Dataset
        Answer of `bayesgroups.compare_systems`.
    pair : str, optional
        One of its pairs; the first when left out.
    limit : int, optional
        Draw at most so many subgroups, those with the most items, in their order; ``None`` for all.
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
        If the answer is of another question, lacks the pair, has no finite difference, or the limit is not positive.

    References
    ----------
    Okabe and Ito (2008), "Color Universal Design", for the palette.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": list("fm") * 20, "new": [1] * 36 + [0] * 4, "old": [1, 0, 0, 1] * 10})
    >>> answer = bg.compare_systems(bg.paired_tally(rows, by=["sex"], systems=["new", "old"]), overall=True)
    >>> bg.plots.systems(answer).get_xlabel()
    'new - old'
    """
    part, shape, owns_figure = _part(answer, pair, limit), style.look(size), axes is None
    rows = np.arange(part.sizes["subgroup"], dtype=np.float64)
    axes = style.begin(axes, shape, max(0.4, (1.6 + 0.36 * len(rows)) / 5.6))
    for middle in rows[::2]:
        axes.axhspan(middle - 0.5, middle + 0.5, color=style.BAND, zorder=0, linewidth=0)
    handles: list[Artist] = [axes.axvline(0.0, color=style.INK, lw=shape.line, zorder=1, label="equal")]
    for i, approach in enumerate(KINDS):
        colour, marker = style.SEQUENCE[i]
        side, place = part.sel(approach=approach), rows + (2 * i - 1) * APART
        axes.hlines(
            place, side["lower"].values, side["upper"].values, colors=colour, lw=2.0 * shape.line, zorder=2
        )  # fmt: skip
        name = f"{approach.capitalize()}, {percent(float(answer.attrs['level']))} {KINDS[approach]}"
        handles += axes.plot(
            side["difference"].values,
            place,
            ls="",
            marker=marker,
            markersize=shape.marker,
            color=colour,
            zorder=3,
            label=name,
        )
    axes.set_ylim(rows[-1] + 0.5, -0.5)
    labels = [
        f"{style.short(plain(str(label)), 40)} ({items:g})"
        for label, items in zip(part["subgroup"].values, part["items"].values, strict=True)
    ]
    axes.set_yticks(rows, labels, fontsize=shape.small, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    style.name(
        axes,
        shape,
        title="Difference by subgroup (items)",
        x=plain(str(part["pair"].values)),
        y="",
        usable=bool(part["usable"].values.all()),
    )
    style.explain(axes, shape, handles, owns_figure=owns_figure)
    return axes


def _part(answer: xr.Dataset, pair: str | None, limit: int | None) -> xr.Dataset:
    """One pair, the subgroups with the most items."""
    if not {"approach", "pair", "subgroup"} <= set(answer.dims):
        raise InputError(
            "the answer is not of bayesgroups.compare_systems: it lacks the dims approach, pair and subgroup"
        )
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, or None for all subgroups; got {limit}")
    names = [str(each) for each in answer["pair"].values]
    if pair is not None and pair not in names:
        raise InputError(f"the answer has no pair {pair!r}; {near_misses(pair, names)}")
    part = answer.sel(pair=names[0] if pair is None else pair)
    if not np.isfinite(part["difference"].values).any():
        raise InputError(
            f"pair {str(part['pair'].values)!r} has no difference that can be drawn; see the variable 'reason'"
        )
    kept = np.sort(np.argsort(-part["items"].values, kind="stable")[:limit])
    return part.isel(subgroup=kept)
