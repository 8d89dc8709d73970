"""Strata in order of their values: what main effects predict against the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.questions.values import NOT_USABLE, Using
from bayesgroups.report.view import plain
from bayesgroups.views.plots import style
from bayesgroups.views.tables.maihda_tables import selected

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked_keywords
def maihda(
    answer: xr.Dataset,
    *,
    metric: str | None = None,
    using: Using = "auto",
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw the values of strata in their order, and beside each what main effects alone predict.

    The distance between the two markers of a stratum is its interaction on the scale of the metric; strata whose interaction is
    discovered are in bold. Bars are limits of the value.

    Parameters
    ----------
    answer : xr.Dataset
        From `bayesgroups.maihda`.
    metric : str, optional
        One of its metrics; the first when left out.
    using : {"auto", "posterior", "tally"}
        Whose numbers: the Bayesian ones (``auto``, ``posterior``), or the frequentist ones, which are made from the tally.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    SchemaError
        If it is no such answer.
    InputError
        If it has no such metric.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
    >>> counts = bg.tally_from_counts([100, 110, 500, 520, 300, 310], [1000] * 6, who, metric="fnr")
    >>> axes = bg.plots.maihda(bg.maihda(counts))
    >>> [label.get_text() for label in axes.get_yticklabels()][:2]
    ['a | f', 'a | m']
    """
    chosen, shape, owns_figure = selected(answer, metric, using), style.look(size), axes is None
    chosen = chosen.isel(subgroup=np.flatnonzero(np.isfinite(chosen["additive"].values)))
    value, additive = chosen["value"].values, chosen["additive"].values
    chosen = chosen.isel(subgroup=np.argsort(np.where(np.isfinite(value), value, additive), kind="stable"))
    value, additive = chosen["value"].values, chosen["additive"].values
    places = np.arange(len(value))
    axes = style.begin(axes, shape, max(0.3, 0.055 * len(value) + 0.12))
    side = "Bayesian" if str(chosen["approach"].values) == "bayesian" else "frequentist"
    axes.hlines(places, additive, value, color="#B6BCC6", lw=2.4 * shape.line, zorder=2)
    handles = [
        axes.hlines(
            places, chosen["value_lower"].values, chosen["value_upper"].values, color=style.BLUE, lw=0.8 * shape.line, zorder=1,
            label=f"{100 * float(chosen.attrs['level']):g} % limits",
        ),
        *axes.plot(value, places, ls="", marker="o", color=style.BLUE, markersize=shape.marker, label="stratum", zorder=4),
        *axes.plot(
            additive, places, ls="", marker="D", color=style.VERMILION, markersize=0.8 * shape.marker, markerfacecolor="white",
            label="main effects alone", zorder=3,
        ),
    ]  # fmt: skip
    if not np.isfinite(chosen["value_lower"].values).any():
        handles[0].remove()
        handles = handles[1:]
    labels = [style.short(plain(str(label))) for label in chosen["subgroup"].values]
    axes.set_yticks(places, labels, fontsize=shape.small, parse_math=False)
    for label, discovered in zip(axes.get_yticklabels(), chosen["discovered"].values, strict=True):
        label.set_fontweight("bold" if discovered == 1 else "normal")
    share = float(chosen["interaction_share"])
    told = f": interaction share {share:.0%}" if np.isfinite(share) else ""
    name = plain(str(chosen["metric"].values))
    usable = not str(chosen["share_reason"].values).startswith(NOT_USABLE)
    style.name(axes, shape, title=f"{name}, {side}{told}", x=name, y="", usable=usable)
    axes.grid(axis="x", color=style.RULE, lw=0.6)
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes
