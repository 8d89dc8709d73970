"""Estimates of both approaches: what they show, and the forest plot."""

from __future__ import annotations

from typing import Any

from bayesgroups.report.view import percent, plain
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html import summary
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.pictures import picture
from bayesgroups.views.plots import forest


def estimates(context: Context, heading: str) -> dict[str, Any]:
    """Sentences, and the forest plot sorted by estimate and grouped by the first attribute."""
    reading, drawn = context.reading, context.drawn()
    labels = context.labels
    by = attributes_of(context.report["estimates"].to_dataset())
    group = by[0] if len(by) > 1 else None
    many = len(reading.subgroups)
    caption = (
        f"{heading}: {percent(context.level)} intervals, thick parts 50%. Circle and solid line: Bayesian; diamond and "
        "dashed line: frequentist. Hollow markers are answers from the model alone."
    )
    if group is not None:
        caption += f" Grouped by {plain(group)}, the highest first in each."
    if len(drawn) < many:
        caption += (
            f" Drawn are {len(drawn)} of {many} subgroups: the {len(drawn) // 2} worst estimates and the largest others; "
            "the table has all."
        )
    shown = picture(
        lambda: forest(
            context.report, metric=context.name, level=context.level, truth=context.truth, order="estimate",
            subgroups=[labels[i] for i in drawn], group_by=group, width=7.6,
        ),
        summary.alternative(reading, len(drawn)),
        caption,
    )  # fmt: skip
    return {"sentences": summary.sentences(reading), "picture": shown}
