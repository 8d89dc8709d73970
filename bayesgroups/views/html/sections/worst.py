"""Section on the worst subgroups, and the probability that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.certification import ranks
from bayesgroups.report.view import whole
from bayesgroups.views.html.sections.context import Context

SHOWN = 8
"""So many of the likeliest are listed."""
PAIRS = 64
"""Up to so many subgroups are compared pair by pair on the frequentist side."""


def worst(context: Context) -> dict[str, Any] | None:
    """The subgroups that are worst with the largest probability; nothing where there is no posterior."""
    if not context.defined:
        return None
    found = ranks(only(context), level=context.level, using="posterior", imputed=context.imputed).isel(metric=0)
    probability = np.nan_to_num(np.asarray(found["probability_worst"].values, dtype=np.float64))
    reading, side = context.reading, context.reading.bayesian
    few = len(reading.subgroups) <= PAIRS
    alone = ranks(context.tally.isel(metric=[context.place]), level=context.level).isel(metric=0) if few else None
    order = np.argsort(-probability, kind="stable")[: min(SHOWN, len(probability))]
    rows = [
        {
            "label": reading.subgroups[i],
            "n": whole(float(reading.count[i])),
            "estimate": context.text(side.estimate[i]),
            "interval": context.span(side.lower[i], side.upper[i]),
            "probability": chance(float(probability[i])),
            "bar": f"{100 * probability[i]:.1f}",
            "ranks": _ranks(found, int(i)),
            "alone": _ranks(alone, int(i)) if alone is not None else "",
        }
        for i in map(int, order)
        if probability[i] > 0
    ]
    groups = int(found["groups"])
    top = int(order[0])
    return {
        "direction": "lowest" if context.larger_is_better else "highest",
        "groups": groups,
        "rows": rows,
        "alone": alone is not None,
        "sentence": _sentence(reading.subgroups[top], float(probability[top]), groups),
        "top": {"label": reading.subgroups[top], "probability": chance(float(probability[top]))},
        "rest": chance(float(1 - probability[order].sum())) if groups > len(rows) else "",
    }


def chance(probability: float) -> str:
    """A probability in per cent; small and large ones are not rounded to nothing and to certainty.

    >>> chance(0.123), chance(0.0004), chance(0.9999), chance(0.0), chance(1.0)
    ('12%', '<1%', '>99%', '<1%', '>99%')
    """
    if probability < 0.005:
        return "<1%"
    return ">99%" if probability > 0.995 else f"{100 * probability:.0f}%"


def only(context: Context) -> xr.DataTree:
    """The report with the metric of the context alone."""
    kept = {}
    for name, group in context.report.children.items():
        data = group.to_dataset()
        kept[name] = data.isel(metric=[context.place]) if "metric" in data.dims else data
    tree = xr.DataTree.from_dict(kept)
    tree.attrs = dict(context.report.attrs)
    return tree


def _sentence(label: str, probability: float, groups: int) -> str:
    if groups == 1:
        return f"{label} is the only subgroup with an answer."
    if probability >= 0.5:
        return f"Most likely the worst is {label}, with a probability of {chance(probability)}."
    return (
        f"No subgroup is clearly the worst: the likeliest, {label}, is so with a probability of {chance(probability)} "
        f"(a guess among {groups} would have {chance(1 / groups)})."
    )


def _ranks(found: xr.Dataset, i: int) -> str:
    limits = [float(found[name].values[i]) for name in ("lower", "upper")]
    return f"{limits[0]:.0f} to {limits[1]:.0f}" if np.isfinite(limits).all() else "–"
