"""Ordered attributes of a report: the metric along their levels, and the share of the differences that follows the order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bayesgroups.report.view import percent, plain
from bayesgroups.views.html.sections.context import Context, picture
from bayesgroups.views.plots.ordered_plot import along_levels, levels_of, ordered_effect

FACTORS = {"sel": "decisions", "ppv": "outcomes of positive decisions", "for": "outcomes of negative decisions"}
"""Factors of confusion cells in words; others by their names."""


def orders(context: Context) -> list[dict[str, Any]]:
    """Title, sentences and picture of every attribute of which a share follows the order of its levels."""
    posterior = context.report["posterior"].to_dataset() if "posterior" in context.report.children else None
    if posterior is None or "ordered_share" not in posterior or not context.defined:
        return []
    names = [str(name) for name in posterior["ordered"].values]
    attributes = list(dict.fromkeys(attribute for name in names for attribute in name.split(":")))
    return [_order(context, attribute) for attribute in attributes]


def _order(context: Context, attribute: str) -> dict[str, Any]:
    levels = levels_of(context.report, attribute, None)
    table = along_levels(context.report, attribute, context.name, levels).sel(approach="bayesian", level=context.level)
    ends = [
        f"{context.text(float(end['estimate']))} ({context.span(float(end['lower']), float(end['upper']))}) at {plain(level)}"
        for level, end in ((level, table.sel(subgroup=level)) for level in (levels[0], levels[-1]))
    ]
    sentence = (
        f"With the other attributes composed as among all rows, the Bayesian estimate is {ends[0]} and {ends[1]}."
    )
    shares = _shares(context, attribute)
    share = f"Of the variance of what crosses {plain(attribute)}, the share that follows the order is {shares}."
    caption = (
        f"{percent(context.level)} credible intervals along the levels, each for its own level; hollow: no rows. Diamonds: "
        "weighted means of the rows, with confidence intervals."
    )
    draw = partial(ordered_effect, context.report, attribute, metric=context.name, level=context.level)
    drawn = picture(draw, f"{context.words.title} along the levels of {plain(attribute)}. {sentence}", caption)
    return {"title": f"Along {plain(attribute)}", "sentences": [sentence, share], "picture": drawn}


def _shares(context: Context, attribute: str) -> str:
    """Posterior means of the shares that are about an attribute, with equal-tailed intervals."""
    draws = context.report["posterior"].to_dataset()["ordered_share"]
    draws = draws.sel(metric=context.name) if "metric" in draws.dims else draws
    words = []
    for name in (str(each) for each in draws["ordered"].values if attribute in str(each).split(":")):
        chosen = draws.sel(ordered=name)
        parts = (
            [("", chosen)]
            if "factor" not in draws.dims
            else [(FACTORS.get(str(each), str(each)), chosen.sel(factor=each)) for each in draws["factor"].values]
        )
        for factor, part in parts:
            tail = (1 - context.level) / 2
            low, high = np.quantile(part.values, [tail, 1 - tail])
            about = [f"for {factor}" if factor else "", f"together with {plain(name)}" if name != attribute else ""]
            told = f"{part.mean().item():.0%} ({low:.0%} to {high:.0%})"
            words.append(" ".join([told, *filter(None, about)]))
    return ", ".join(words)
