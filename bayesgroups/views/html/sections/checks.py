"""Sensitivity to the priors, and checks of the computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.priors import prior_sensitivity
from bayesgroups.questions.priors.sensitivity import MATTERS
from bayesgroups.report.view import plain
from bayesgroups.views.html.sections.context import Context, only

SHOWN = 5
"""So many of the most sensitive subgroups are listed."""
WORDS = {
    "overall": "Centre of the subgroups (overall)",
    "tau": "Spread between subgroups (tau)",
    "worst": "Value of the worst subgroup",
    "gap": "Gap, largest minus smallest",
}


def priors(context: Context) -> dict[str, Any] | None:
    """Sensitivities, and means under wider and narrower priors; or the reason why there are none."""
    if not context.defined:
        return None
    labels = context.labels
    asked = [int(i) for i in context.drawn()]
    sensitivity = prior_sensitivity(only(context), subgroups=[labels[i] for i in asked], imputed=context.imputed).isel(
        metric=0
    )
    if str(sensitivity["reason"].values):
        return {"reason": plain(str(sensitivity["reason"].values)), "rows": [], "sentence": ""}
    rows = []
    for i, name in enumerate(sensitivity["quantity"].values):
        asked_of = context.directed or str(name) != "worst"
        if asked_of and np.isfinite(float(sensitivity["quantity_prior"][i])):
            rows.append(_row(context, WORDS[str(name)], sensitivity, "quantity_", i, raw=str(name) == "tau"))
    most = np.argsort(-np.nan_to_num(sensitivity["prior"].values), kind="stable")[:SHOWN]
    rows += [
        _row(context, context.reading.subgroups[asked[int(g)]], sensitivity, "", int(g))
        for g in most
        if np.isfinite(sensitivity["prior"].values[g])
    ]
    moved = np.abs(sensitivity["mean_at"].values - sensitivity["mean"].values)
    largest = float(np.nanmax(moved)) if np.isfinite(moved).any() else float("nan")
    strong = int((np.nan_to_num(sensitivity["prior"].values) >= MATTERS).sum())
    sentence = (
        f"The prior matters (sensitivity {MATTERS:g} or more) for {strong} of {len(asked)} subgroups."
        if strong
        else f"The prior matters little: no sensitivity of a subgroup reaches {MATTERS:g}."
    )
    if np.isfinite(largest):
        sentence += (
            " With priors to the power 1/4 or 4, wider and narrower, no estimate of these would move by more than "
            f"{context.text(largest)}."
        )
    return {"reason": "", "rows": rows, "sentence": sentence}


def _row(
    context: Context, label: str, sensitivity: xr.Dataset, part: str, i: int, *, raw: bool = False
) -> dict[str, str]:
    def text(value: float) -> str:
        return (f"{value:.3g}" if np.isfinite(value) else "–") if raw else context.text(value)

    wide, narrow = (float(sensitivity[f"{part}mean_at"].values[j, i]) for j in (0, 1))
    likelihood = float(sensitivity[f"{part}likelihood"].values[i])
    return {
        "label": label,
        "prior": f"{float(sensitivity[f'{part}prior'].values[i]):.2f}",
        "likelihood": f"{likelihood:.2f}" if np.isfinite(likelihood) else "–",
        "mean": text(float(sensitivity[f"{part}mean"].values[i])),
        "wide": text(wide),
        "narrow": text(narrow),
        "said": str(sensitivity[f"{part}diagnosis"].values[i]),
    }


def diagnostics(report: xr.DataTree) -> list[dict[str, Any]]:
    """Every check as text, those that failed first."""
    table = report["diagnostics"].to_dataset()
    columns = (table[name].values for name in ("check", "value", "threshold", "passed", "sentence"))
    checks = [
        {
            "name": plain(str(name)),
            "value": f"{float(value):.4g}",
            "threshold": f"{float(threshold):g}",
            "passed": bool(passed),
            "sentence": plain(str(sentence)),
        }
        for name, value, threshold, passed, sentence in zip(*columns, strict=True)
    ]
    return sorted(checks, key=lambda check: check["passed"])
