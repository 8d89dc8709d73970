"""Plots of priors in units of the metric, and of the change of a report under other priors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import number, plain
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


BINS = 50
MAX_VALUES = 100_000
"""Values drawn, at most; of more an even selection."""


@checked_keywords
def prior_predictive(
    found: xr.Dataset,
    *,
    metric: str | None = None,
    observed: bool = True,
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw what the priors say about values of subgroups and about the gap between them.

    In units of the metric: the prior of the value of a subgroup (filled), of the estimate that one would see of it in as many rows
    as it has (line), and of the gap between the largest and the smallest value (dashed). Ticks below are the estimates that
    were seen; look at them to spot a prior that rules them out, not to make it fit them.

    Parameters
    ----------
    found : xr.Dataset
        From `bayesgroups.prior_predictive`.
    metric : str, optional
        One of its metrics; the first when left out.
    observed : bool
        Draw the ticks.
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
        If the Dataset is of another kind or lacks the metric.

    References
    ----------
    Gabry et al. (2019), Visualization in Bayesian workflow, https://doi.org/10.1111/rssa.12378.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import prior_predictive
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> prior_predictive(bg.prior_predictive(counts, bg.PartialPooling(), seed=1, draws=200)).get_xlabel()
    'fnr'
    """
    if not isinstance(found, xr.Dataset) or not {"mu", "predicted", "gap", "observed"} <= set(found):
        raise InputError("a prior predictive view starts from bg.prior_predictive(tally, estimator, seed=1)")
    names = [str(name) for name in found["metric"].values]
    label = names[0] if metric is None else metric
    if label not in names:
        raise InputError(f"there is no metric {label!r}; {near_misses(label, names)}")
    metric_values = found.sel(metric=label)
    mu, predicted, gap, seen = (_known(metric_values[name].values) for name in ("mu", "predicted", "gap", "observed"))
    shape, owns_figure = style.look(size), axes is None
    axes = style.begin(axes, shape, 0.55)
    ends = [float(metric_values[name]) for name in ("range_lower", "range_upper")]
    low, high = (float(v) for v in np.quantile(np.concatenate([mu, predicted, gap]), [0.002, 0.998]))
    low, high = max(low, ends[0]), min(high, ends[1])
    low, high = min(low, float(seen.min(initial=low))), max(high, float(seen.max(initial=high)))
    edges = np.linspace(low, high if high > low else low + 1e-9, BINS + 1)
    top = 0.0
    handles: list[Artist] = []
    for values, colour, dash, filled, legend_text in (
        (mu, style.BLUE, "solid", True, "value of a subgroup"),
        (predicted, style.INK, "solid", False, "its estimate, from as many rows"),
        (gap, style.VERMILION, "dashed", False, "gap, largest minus smallest"),
    ):
        if len(values):
            heights = np.histogram(values, edges)[0] / len(values)
            top = max(top, float(heights.max()))
            middle = np.quantile(values, [0.025, 0.5, 0.975])
            words = (
                f"{legend_text}: {number(float(middle[1]))} ({number(float(middle[0]))} to {number(float(middle[2]))})"
            )
            drawn = axes.stairs(
                heights, edges, color=colour, fill=filled, alpha=0.3 if filled else 1.0, ls=dash, lw=shape.line, label=words
            )  # fmt: skip
            handles.append(drawn)
    if observed and len(seen):
        (ticks,) = axes.plot(
            seen, np.full(len(seen), -0.04 * top), ls="", marker="|", color=style.INK, markersize=2 * shape.marker,
            label="estimates that were seen",
        )  # fmt: skip
        handles.append(ticks)
    axes.set_ylim(-0.09 * top, 1.05 * top)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    word = plain(str(found.attrs.get("estimator", "")).replace("_", " "))
    style.name(axes, shape, title=f"{plain(label)}: what the priors of {word} say", x=plain(label), y="")
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=1)
    return axes


def _known(values: FloatArray) -> FloatArray:
    """The finite values, an even selection of very many."""
    finite = np.ravel(values)
    finite = finite[np.isfinite(finite)]
    return finite[:: max(1, len(finite) // MAX_VALUES)]
