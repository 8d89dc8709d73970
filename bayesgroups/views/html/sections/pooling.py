"""Shrinkage from raw to estimated values, subgroup by subgroup."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.report.view import whole
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.pictures import picture
from bayesgroups.views.plots import shrinkage


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
