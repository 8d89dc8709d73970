"""The certification curve: with which probability every subgroup reaches a standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import certify
from bayesgroups.questions.certification.worst import of_draws, probability_all
from bayesgroups.questions.values import open_source
from bayesgroups.report.view import headline, number, percent, plain, read
from bayesgroups.tallies.participation import Imputed
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

POINTS = 401
"""So many standards make the curve."""


@checked_keywords
def certification(
    report: xr.DataTree,
    *,
    metric: str | None = None,
    level: float = 0.95,
    imputed: Imputed = "leave_out",
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw the posterior probability that all subgroups are as good as a standard or better, by the standard.

    The curve is of the worst subgroup, whichever it is. Where it crosses the level is the best standard that is certified
    (circle). Dashed and dotted lines are the frequentist answer from the rows of each subgroup alone: between pessimist (all
    subgroups are shown to reach the standard) and optimist (none is shown to miss it) the data do not tell.

    Parameters
    ----------
    report : xr.DataTree
        A report with a posterior.
    metric : str, optional
        One of its metrics; the first when left out.
    level : float
        Probability and one-sided confidence.
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
        If the report lacks the metric, no subgroup takes part, or ``imputed`` is something else.

    References
    ----------
    Himmelreich, Hsu, Lum, Veomett, The Intersectionality Problem for Algorithmic Fairness,
    https://doi.org/10.48550/arXiv.2411.02569 (optimist and pessimist).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import certification
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}), metric="fnr")
    >>> certification(bg.estimate(counts, bg.PartialPooling(), seed=1)).get_xlabel()
    'standard c: fnr at most'
    """
    reading, shape, owns_figure = read(report, metric), style.look(size), axes is None
    names = [str(name) for name in report["estimates"].to_dataset()["metric"].values]
    place = names.index(reading.metric)
    numbers = open_source(report, "posterior", imputed=imputed).read(place)
    if numbers.draws is None or not numbers.included.any():
        raise InputError(
            f"metric {names[place]!r} is undefined in every subgroup that takes part, so there is nothing to certify"
        )
    worst = of_draws(numbers.sign * numbers.draws[:, numbers.included])
    alone = certify(report["constant_data"].to_dataset(), level=level).isel(metric=place)
    limits = {
        viewpoint: float(np.clip(float(alone[viewpoint]), min(numbers.range), max(numbers.range)))
        for viewpoint in ("pessimist", "optimist")
    }
    ends = [
        *(numbers.sign * value for value in limits.values() if np.isfinite(value)),
        float(worst.min()),
        float(worst.max()),
    ]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 0.05
    standards = np.linspace(low - pad, high + pad, POINTS)
    axes = style.begin(axes, shape, 0.55)
    x, p = numbers.sign * standards, probability_all(worst, standards)
    (curve,) = axes.plot(x, p, color=style.BLUE, lw=1.6 * shape.line, label="posterior probability", zorder=3)
    axes.fill_between(x, 0, p, color=style.BLUE, alpha=0.12, lw=0)
    certified = numbers.sign * float(np.quantile(worst, 1 - level))
    (point,) = axes.plot(
        [certified], [level], ls="", marker="o", color=style.BLUE, markersize=1.3 * shape.marker, zorder=4,
        label=f"certified with {percent(level)}: {number(certified, reading.decimals())}",
    )  # fmt: skip
    handles: list[Artist] = [curve, point]
    for viewpoint, dash in (("pessimist", (0, (5, 2))), ("optimist", (0, (1, 1.5)))):
        value = limits[viewpoint]
        if np.isfinite(value):
            label = f"{viewpoint}, from rows alone: {number(value, reading.decimals())}"
            handles.append(axes.axvline(value, color=style.VERMILION, lw=shape.line, ls=dash, label=label, zorder=2))
    handles += style.left_out(len(numbers.labels) - int(numbers.included.sum()))
    axes.set_ylim(0, 1.03)
    sense = "at least" if numbers.sign > 0 else "at most"
    answers = [(numbers.estimand, "credible", ["one_sided"])]
    answers += [
        (
            str(alone["estimand"].values),
            str(alone["interval_kind"].values),
            [f"one_sided {alone['interval_method'].values}"],
        )
    ]
    title = headline(reading.metric, level, answers, f"worst of {int(numbers.included.sum())} subgroups")
    style.name(
        axes, shape, title=title,
        x=f"standard c: {plain(names[place])} {sense}", y="P(all reach c)", usable=reading.usable,
    )  # fmt: skip
    axes.grid(color=style.RULE, lw=0.6)
    style.explain(axes, shape, handles, owns_figure=owns_figure)
    return axes
