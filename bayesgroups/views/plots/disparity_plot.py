"""Disparity of subgroups as a distribution rather than a number."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.disparities import named_measures
from bayesgroups.questions.disparities.disparity import disparity
from bayesgroups.questions.disparities.named_measures import MEASURES, MeasureName, Settings
from bayesgroups.questions.values import open_source
from bayesgroups.report.view import headline, number, percent, plain, read
from bayesgroups.tallies.participation import Imputed
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

BINS = 60
_SHORT = {"max_min_difference": "gap", "max_min_ratio": "largest over smallest value"}


@checked_keywords
def disparity_posterior(
    report: xr.DataTree,
    *,
    measure: MeasureName = "max_min_difference",
    metric: str | None = None,
    level: float = 0.95,
    imputed: Imputed = "leave_out",
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw the posterior of a disparity between subgroups, beside what the raw estimates say.

    The histogram has the draws; the bar under it is the credible interval with the median. The diamond is the measure of the
    raw estimates, and the dashed line is what raw estimates would show on average if all subgroups were the same.

    Parameters
    ----------
    report : xr.DataTree
        A report with a posterior.
    measure : str
        One of the measures of `bayesgroups.disparity`.
    metric : str, optional
        One of its metrics; the first when left out.
    level : float
        Of the interval.
    imputed : {"leave_out", "include"}
        Whether subgroups without rows that count for the metric take part; the legend says how many do not.
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
        If the tree is not a report.
    InputError
        If the report lacks the metric, the measure does not exist or has no value in any draw, or ``imputed`` is something
        else.

    References
    ----------
    Lum, Zhang, Bower (2022), https://doi.org/10.1145/3531146.3533105: raw disparities are biased upwards.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import disparity_posterior
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}), metric="fnr")
    >>> disparity_posterior(bg.estimate(counts, bg.PartialPooling(), seed=1)).get_xlabel()
    'gap of fnr'
    """
    if measure not in MEASURES:
        raise InputError(f"there is no measure {measure!r}; {near_misses(measure, MEASURES)}")
    reading, shape, owns_figure = read(report, metric), style.look(size), axes is None
    names = [str(name) for name in report["estimates"].to_dataset()["metric"].values]
    place = names.index(reading.metric)
    values = open_source(report, "posterior", imputed=imputed).read(place, unanswered="keep")
    tally = report["constant_data"].to_dataset().isel(metric=[place])
    settings = Settings(None, values.sign > 0)
    drawn = np.empty(0)
    if values.included.any():
        drawn = values.by_draw(partial(named_measures.measure, measure, settings=settings))
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        raise InputError(f"{measure} of {names[place]!r} has no finite value in any draw")
    raw = disparity(tally, [measure]).isel(metric=0, measure=0)
    axes = style.begin(axes, shape, 0.5)
    spots = [float(raw[name]) for name in ("value", "expected_if_equal")]
    low, high = (float(v) for v in np.quantile(drawn, [0.0005, 0.9995]))
    heights, edges = np.histogram(drawn, bins=BINS, range=(low, high if high > low else low + 1e-9))
    top = float(heights.max())
    steps = axes.stairs(heights / top, edges, fill=True, color=style.BLUE, alpha=0.35, label="posterior")
    side = tail(level) / 2
    lower, middle, upper = (float(v) for v in np.quantile(drawn, [side, 0.5, 1 - side]))
    axes.hlines(-0.07, lower, upper, color=style.BLUE, lw=2 * shape.line)
    caption = f"median {number(middle, reading.decimals())}, {percent(level)} credible"
    (dot,) = axes.plot(
        [middle], [-0.07], ls="", marker="o", color=style.BLUE, markersize=1.2 * shape.marker, label=caption
    )
    handles: list[Artist] = [steps, dot]
    if np.isfinite(spots[0]):
        (diamond,) = axes.plot(
            spots[0], -0.07, ls="", marker="D", color=style.VERMILION, markersize=1.2 * shape.marker, clip_on=False,
            label=f"raw estimates: {number(spots[0], reading.decimals())}",
        )  # fmt: skip
        handles.append(diamond)
    if np.isfinite(spots[1]):
        handles.append(
            axes.axvline(
                spots[1],
                color=style.VERMILION,
                ls="--",
                lw=shape.line,
                label=f"raw, if all were the same: {number(spots[1], reading.decimals())}",
            )
        )
    handles += style.left_out(int((~values.included).sum()))
    axes.set_ylim(-0.16, 1.05)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    words = _SHORT.get(measure, plain(measure.replace("_", " ")))
    answers = [(values.estimand, "credible", ["equal_tailed"])]
    title = headline(reading.metric, level, answers, f"{words} between {int(values.included.sum())} subgroups")
    style.name(axes, shape, title=title, x=f"{words} of {reading.metric}", y="", usable=reading.usable)
    style.explain(axes, shape, handles, owns_figure=owns_figure)
    return axes
