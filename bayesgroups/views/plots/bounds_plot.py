"""Plot of bounds on rates from disagreement between critics alone, with the estimates inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.report.view import plain
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked_keywords
def disagreement_bounds(found: xr.Dataset, *, size: style.Size = "page", axes: Axes | None = None) -> Axes:
    """Draw the bounds of a rate for every subgroup and label.

    A line joins the lower and the upper bound, of which no value is likelier than another; where it shrinks to a point the
    rate is known. Labels differ by colour and marker.

    Parameters
    ----------
    found : xr.Dataset
        From `bayesgroups.disagreement_bounds`, of pooled critics, per subgroup.
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
        If the Dataset has no bounds along label and subgroup, or more labels than can be told apart.

    References
    ----------
    Manski (2003), Partial Identification of Probability Distributions, https://doi.org/10.1007/b97478.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import disagreement_bounds
    >>> rows = pd.DataFrame({"sex": ["f"] * 10, "label": ["a"] * 5 + ["b"] * 3 + ["c"] * 2,
    ...                      "disagrees": [0, 0, 0, 0, 1, 0, 0, 1, 0, 1]})
    >>> found = bg.disagreement_bounds(bg.disagreement_tally(rows, ["sex"], "label", "disagrees"), "equal_opportunity")
    >>> disagreement_bounds(found).get_xlabel()
    'tpr, bounds'
    """
    wanted = {"lower", "upper"}
    if (
        not isinstance(found, xr.Dataset)
        or not wanted <= set(found)
        or set(found["lower"].dims) != {"label", "subgroup"}
    ):
        raise InputError("bounds must come from bg.disagreement_bounds() without across= and critics=")
    labels, names = ([str(x) for x in found[dim].values] for dim in ("label", "subgroup"))
    if len(labels) > len(style.SEQUENCE):
        raise InputError(
            f"a picture tells {len(style.SEQUENCE)} labels apart; got {len(labels)}: choose some with .sel(label=...)"
        )
    shape, owns_figure = style.look(size), axes is None
    lower, upper = (found[name].transpose("label", "subgroup").values for name in ("lower", "upper"))
    axes = style.begin(axes, shape, max(0.3, 0.12 + 0.06 * len(names) * max(1.0, 0.4 * len(labels))))
    step = 0.8 / len(labels)
    handles = []
    for i, label in enumerate(labels):
        colour, marker = style.SEQUENCE[i]
        place = np.arange(len(names)) + (i - (len(labels) - 1) / 2) * step
        axes.hlines(place, lower[i], upper[i], color=colour, lw=1.6 * shape.line)
        defined = np.isfinite(lower[i])
        caption = "" if label == "all" and len(labels) == 1 else plain(label)
        for ends in (lower[i], upper[i]):
            (handle,) = axes.plot(
                ends[defined], place[defined], ls="", marker=marker, color=colour, markersize=0.9 * shape.marker, label=caption
            )  # fmt: skip
        handles.append(handle)
    shown = shown_labels(found)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(
        range(len(names)), [style.short(plain(shown[x])) for x in names], fontsize=shape.small, parse_math=False
    )
    for i in range(0, len(names), 2):
        axes.axhspan(i - 0.5, i + 0.5, color=style.BAND, zorder=0, lw=0)
    axes.set_xlim(-0.02, 1.02)
    notion = str(found.attrs.get("notion", "")).replace("_", " ")
    style.name(
        axes,
        shape,
        title=f"{notion[:1].upper()}{notion[1:]}: what is known",
        x=f"{found.attrs.get('metric', 'rate')}, bounds",
        y="",
    )
    if len(labels) > 1:
        style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes
