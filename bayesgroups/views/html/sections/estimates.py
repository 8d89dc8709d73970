"""Estimates of one metric: sentences and forest plot, shrinkage, and the table of all subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.report.view import number, percent, plain, whole
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html import summary
from bayesgroups.views.html.sections.context import Context, picture
from bayesgroups.views.plots import forest, shrinkage


def estimates(context: Context, heading: str) -> dict[str, Any]:
    """Sentences, and the forest plot sorted by estimate and grouped by the first attribute."""
    reading, drawn = context.reading, context.drawn()
    labels = context.labels
    by = attributes_of(context.report["estimates"].to_dataset())
    group = by[0] if len(by) > 1 and not reading.overlapping else None
    many = len(reading.subgroups)
    from_model = "that rest in part on the model alone" if reading.overlapping else "from the model alone"
    caption = (
        f"{heading}: {percent(context.level)} intervals, thick parts 50%. Circle and solid line: Bayesian; diamond and "
        f"dashed line: frequentist. Hollow markers are answers {from_model}."
    )
    if group is not None:
        caption += f" Grouped by {plain(group)}, the highest first in each."
    if len(drawn) < many:
        farthest = "worst estimates" if context.directed else "estimates farthest from 0"
        caption += (
            f" Drawn are {len(drawn)} of {many} subgroups: the {len(drawn) // 2} {farthest} and the largest others; "
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


def pooling(context: Context) -> dict[str, Any] | None:
    """The shrinkage plot and the subgroup that moves farthest; nothing where no subgroup has both numbers."""
    raw = np.asarray(context.tally["estimate"].sel(metric=context.name).values, dtype=np.float64)
    estimate = context.reading.bayesian.estimate
    moved = np.where(np.isfinite(raw) & np.isfinite(estimate), abs(estimate - raw), -1.0)
    if not (moved >= 0).any():
        return None
    i = int(np.argmax(moved))
    count = whole(float(context.reading.count[i]))
    rows = f" (n {count})" if count else ""
    sentence = (
        f"{context.reading.subgroups[i]}{rows} moves farthest: its own rows say {context.text(raw[i])}, "
        f"the Bayesian estimate is {context.text(estimate[i])}."
    )
    typical = float(np.median(moved[moved >= 0]))
    caption = (
        f"Raw estimates across, Bayesian estimates upwards, the area of a circle in proportion to n. Half of the subgroups move by "
        f"at most {context.text(typical)}. Small subgroups move most, for they know least of themselves."
    )
    half = f"Half of the subgroups move by at most {context.text(typical)}."
    alternative = f"Shrinkage plot of {context.reading.metric}. {sentence} {half}"
    return {
        "sentence": sentence,
        "picture": picture(lambda: shrinkage(context.report, metric=context.name, named=3), alternative, caption),
    }


ROWS = 5000
"""At most so many subgroups are listed, those with the largest n."""


def table(context: Context) -> dict[str, Any]:
    """Both approaches as text, with what sorts them, in the order of the tally; subgroups without rows apart.

    A target population that is imputed has rows of some of its people, so that none stands apart.
    """
    reading = context.reading
    places = reading.decimals()
    order = reading.order("size")[:ROWS]
    alone = [status == "imputed" and not reading.overlapping for status in reading.bayesian.status]
    listed = [(alone[i], _row(context, int(i), places)) for i in np.sort(order)]
    return {
        "unit": "target" if reading.overlapping else "subgroup",
        "level": percent(context.level),
        "sides": [
            {"name": side.approach.capitalize(), "kind": plain(side.interval_kind), "method": plain(side.methods)}
            for side in (reading.bayesian, reading.frequentist)
        ],
        "rows": [row for apart, row in listed if not apart],
        "imputed": [row for apart, row in listed if apart],
        "listed": len(listed),
        "truth": reading.truth is not None,
        "left": len(reading.subgroups) - len(listed),
    }


def _rows(context: Context, i: int) -> str:
    """Rows of a subgroup, whether they count for the metric or not; empty where their number is not known."""
    return whole(float(context.tally["rows"].values[i])) if "rows" in context.tally else ""


def _row(context: Context, i: int, places: int) -> dict[str, Any]:
    reading = context.reading
    cells = []
    for side in (reading.bayesian, reading.frequentist):
        compared = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
        bounds = number(side.lower[i], places), number(side.upper[i], places)
        cells.append(
            {
                "estimate": number(side.estimate[i], places),
                "interval": " to ".join(bounds) if all(bounds) else "",
                "width": f"{side.upper[i] - side.lower[i]:.6g}" if all(bounds) else "",
                "status": side.status[i],
                "misses": bool(compared and not reading.inside(side)[i]),
            }
        )
    return {
        "label": reading.subgroups[i],
        "n": whole(float(reading.count[i])),
        "of": _rows(context, i) if context.words.effective else "",
        "sides": cells,
        "truth": "" if reading.truth is None else number(float(reading.truth[i]), places),
        "reason": plain(reading.reason[i]),
    }
