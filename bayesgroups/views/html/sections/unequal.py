"""Section on the disparity of the subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.questions.disparities.disparity import disparity
from bayesgroups.report.view import number, percent
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.pictures import picture
from bayesgroups.views.html.sections.worst import only
from bayesgroups.views.plots import disparity_posterior

WORDS = {
    "max_min_difference": ("Gap", "largest minus smallest value"),
    "max_min_ratio": ("Ratio", "largest over smallest value; 1 is equality"),
    "mean_absolute_deviation": ("Mean deviation", "average distance of a subgroup from their mean"),
    "worst_group_gap": ("Worst subgroup's gap", "distance of the worst from the mean"),
}


def unequal(context: Context) -> dict[str, Any] | None:
    """Measures from the posterior and from the raw estimates, and the picture of the gap."""
    if not context.defined:
        return None
    tally = context.tally.isel(metric=[context.place])
    names = list(WORDS)
    known = disparity(only(context), names, level=context.level, imputed=context.imputed).isel(metric=0)  # type: ignore[arg-type]
    raw = disparity(tally, names).isel(metric=0)  # type: ignore[arg-type]
    rows = []
    for i, name in enumerate(names):
        values = [float(known[part].values[i]) for part in ("value", "lower", "upper")]
        rows.append(
            {
                "name": WORDS[name][0],
                "what": WORDS[name][1],
                "value": _text(context, name, values[0]),
                "interval": " to ".join(_text(context, name, bound) for bound in values[1:]),
                "raw": _text(context, name, float(raw["value"].values[i])),
                "equal": _text(context, name, float(raw["expected_if_equal"].values[i])),
            }
        )  # fmt: skip
    gap = rows[0]
    if gap["value"] == "–":
        return None
    p = float(raw["p_value_if_equal"].values[0])
    sentence = (
        f"The gap between the largest and the smallest value is {gap['value']} ({percent(context.level)} credible interval "
        f"{gap['interval']}). Raw estimates show {gap['raw']}; they would show {gap['equal']} on average if all subgroups "
        "were the same" + (f", and as much as they do with a probability of {_p(p)}." if np.isfinite(p) else ".")
    )
    return {
        "rows": rows,
        "gap": gap,
        "sentence": sentence,
        "picture": picture(
            lambda: disparity_posterior(
                context.report, metric=context.name, level=context.level, imputed=context.imputed
            ),
            f"Posterior of the gap between subgroups in {context.reading.metric}. {sentence}",
            "Posterior of the gap (filled), its median and interval (circle and bar), the gap of the raw estimates (diamond), "
            "and what raw estimates would show if all subgroups were the same (dashed).",
        ),
    }


def _text(context: Context, name: str, value: float) -> str:
    if name == "max_min_ratio":
        return "infinite" if np.isinf(value) else number(value, 2) or "–"
    return context.text(value)


def _p(value: float) -> str:
    return "less than 0.001" if value < 0.001 else f"{value:.3f}"
