"""The plot of an ordered attribute: a metric along its levels, with the other attributes as they are among all rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.models.shared.ordered_levels import order_of
from bayesgroups.questions.populations.poststratify import poststratify
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.schema import check
from bayesgroups.report.view import metrics_of, percent, plain, usable
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def along_levels(report: xr.DataTree, attribute: str, metric: str, levels: Sequence[str]) -> xr.Dataset:
    """Estimates (approach, level, subgroup) along the levels of an attribute, ``subgroup`` the levels in order.

    Estimand: the mean of the metric at a level if the other attributes were composed as among all rows that the metric counts,
    from `bayesgroups.poststratify`.
    """
    rows = report["constant_data"].to_dataset().sel(metric=metric)
    by = attributes_of(report["constant_data"].to_dataset())
    besides = [name for name in by if name != attribute]
    table = pd.DataFrame({name: np.asarray(rows[name].values, dtype=np.str_) for name in by})
    table["count"] = np.asarray(rows["count"].values, dtype=np.float64)
    weights = (
        table.groupby(besides, sort=False)["count"].transform("sum") if besides else pd.Series(np.ones(len(table)))
    )
    target = table[by].assign(count=weights)
    answer = poststratify(report, target, by=[attribute], population_of="denominator")["estimates"].to_dataset()
    chosen = answer.sel(metric=metric, subgroup=[f"{attribute}={level}" for level in levels])
    seen = [bool(table.loc[table[attribute] == level, "count"].sum() > 0) for level in levels]
    return chosen.assign_coords(subgroup=list(levels)).assign(seen=("subgroup", np.array(seen)))


@checked_keywords
def ordered_effect(
    report: xr.DataTree, attribute: str, *, metric: str | None = None, levels: Sequence[str] | None = None,
    level: float = 0.95, size: style.Size = "page", axes: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw a metric along the levels of an attribute, with the other attributes composed as among all rows.

    Estimand: the mean of the metric at each level under that composition, which is the same for all levels, so that the curve is
    that of the attribute alone. Bayesian estimates in their band of credible intervals; frequentist ones, weighted means of
    the subgroups' own rows, with confidence intervals where every subgroup of the level has rows. Each interval is for one level.

    Parameters
    ----------
    report : xr.DataTree
        A report, of `bayesgroups.CrossedEffects` with ``ordered=`` or any other.
    attribute : str
        One of the attributes of its subgroups.
    metric : str, optional
        One of its metrics; the first when left out.
    levels : sequence of str, optional
        Levels in order; those of the estimator's ``ordered``, or in the order of the tally, when left out.
    level : {0.5, 0.8, 0.9, 0.95}
        Of the intervals.
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
        If the report lacks the attribute, the metric, a level or the levels of intervals, or the size does not exist.

    References
    ----------
    Gelman, Hill, Vehtari (2020), Regression and Other Stories, section 17.1: standardisation over the other predictors.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> ages = pd.DataFrame({"age": ["18-29", "30-44", "45-64", "65+"]})
    >>> tally = bg.tally_from_counts([4, 9, 11, 20], [40, 50, 45, 60], ages, metric="fnr")
    >>> report = bg.estimate(tally, bg.CrossedEffects(ordered=("age",)), seed=1)
    >>> bg.plots.ordered_effect(report, "age").get_xlabel()
    'age'
    """
    check(report)
    by, names = attributes_of(report["constant_data"].to_dataset()), metrics_of(report)
    name = names[0] if metric is None else metric
    for value, available, kind in ((attribute, by, "attribute"), (name, names, "metric")):
        if value not in available:
            raise InputError(f"the report has no {kind} {value!r}; {near_misses(str(value), available)}")
    if level not in LEVELS:
        raise InputError(f"level={level!r} is not one of the report's levels {list(LEVELS)}")
    ordered, shape, owns_figure = levels_of(report, attribute, levels), style.look(size), axes is None
    table = along_levels(report, attribute, name, ordered).sel(level=level)
    axes = style.begin(axes, shape, 0.62)
    places = np.arange(len(ordered))
    bayesian, frequentist = (table.sel(approach=approach) for approach in ("bayesian", "frequentist"))
    handles: list[Artist] = []
    if np.isfinite(bayesian["estimate"].values).any():
        band = axes.fill_between(
            places, bayesian["lower"].values, bayesian["upper"].values, color=style.BLUE, alpha=0.18, lw=0,
            label=f"{percent(level)} credible",
        )  # fmt: skip
        (line,) = axes.plot(
            places, bayesian["estimate"].values, color=style.BLUE, lw=1.6 * shape.line, label="posterior mean"
        )
        axes.plot(places, bayesian["estimate"].values, ls="", marker="o", color=style.BLUE, markersize=shape.marker)
        handles += [line, band]
        absent = ~table["seen"].values
        if absent.any():
            (hollow,) = axes.plot(
                places[absent], bayesian["estimate"].values[absent], ls="", marker="o", color=style.BLUE,
                markerfacecolor="white", markersize=1.2 * shape.marker, label="level without rows", zorder=3,
            )  # fmt: skip
            handles.append(hollow)
    whole = np.isfinite(frequentist["lower"].values) & (frequentist["covered_share"].values > 1 - 1e-9)
    if whole.any():
        estimates = frequentist["estimate"].values[whole]
        axes.vlines(
            places[whole] + 0.08, frequentist["lower"].values[whole], frequentist["upper"].values[whole],
            color=style.VERMILION, lw=1.2 * shape.line,
        )  # fmt: skip
        (diamonds,) = axes.plot(
            places[whole] + 0.08, estimates, ls="", marker="D", color=style.VERMILION, markersize=shape.marker,
            label=f"own rows, {percent(level)} confidence",
        )  # fmt: skip
        handles.append(diamonds)
    axes.set_xticks(places, [style.short(plain(each), 14) for each in ordered], parse_math=False)
    axes.set_xlim(-0.4, len(ordered) - 0.6)
    rest = " and ".join(plain(each) for each in by if each != attribute)
    title = f"{plain(name)} by {plain(attribute)}" + (f", {rest} as among all rows" if rest else "")
    style.name(axes, shape, title=title, x=plain(attribute), y=plain(name), usable=usable(report))
    axes.grid(axis="y", color=style.RULE, lw=0.6)
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes


def levels_of(report: xr.DataTree, attribute: str, levels: Sequence[str] | None) -> list[str]:
    """Levels in order, of those that the report has."""
    tally = report["constant_data"].to_dataset()
    present = list(dict.fromkeys(str(each) for each in tally[attribute].values))
    settings = json.loads(str(report.attrs.get("settings", "{}"))).get("ordered", {})
    named = levels if levels is not None else (settings.get(attribute) if isinstance(settings, dict) else None)
    for each in levels or ():
        if str(each) not in present:
            raise InputError(f"attribute {attribute!r} has no level {each!r}; {near_misses(str(each), present)}")
    chosen = [str(each) for each in named or order_of(tally, attribute) if str(each) in present]
    return chosen if levels is not None else [*chosen, *(each for each in present if each not in chosen)]
