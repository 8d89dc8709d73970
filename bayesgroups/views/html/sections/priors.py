"""Section on the sensitivity of the report to its priors."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.priors import prior_sensitivity
from bayesgroups.questions.priors.sensitivity import MATTERS
from bayesgroups.report.view import plain
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.worst import only

SHOWN = 5
"""So many of the most sensitive subgroups are listed."""
WORDS = {
    "overall": "Value for everybody (centre)",
    "tau": "Spread between subgroups (tau)",
    "worst": "Value of the worst subgroup",
    "gap": "Gap, largest minus smallest",
}


def priors(context: Context) -> dict[str, Any] | None:
    """Sensitivities, and means under priors twice and half as wide; or the reason why there are none."""
    if not context.defined:
        return None
    labels = context.labels
    asked = [int(i) for i in context.drawn()]
    found = prior_sensitivity(only(context), subgroups=[labels[i] for i in asked], imputed=context.imputed).isel(
        metric=0
    )
    if str(found["reason"].values):
        return {"reason": plain(str(found["reason"].values)), "rows": [], "sentence": ""}
    rows = []
    for i, name in enumerate(found["quantity"].values):
        if np.isfinite(float(found["quantity_prior"][i])):
            rows.append(_row(context, WORDS[str(name)], found, "quantity_", i, raw=str(name) == "tau"))
    most = np.argsort(-np.nan_to_num(found["prior"].values), kind="stable")[:SHOWN]
    rows += [
        _row(context, context.reading.subgroups[asked[int(g)]], found, "", int(g))
        for g in most
        if np.isfinite(found["prior"].values[g])
    ]
    moved = np.abs(found["mean_at"].values - found["mean"].values)
    largest = float(np.nanmax(moved)) if np.isfinite(moved).any() else float("nan")
    strong = int((np.nan_to_num(found["prior"].values) >= MATTERS).sum())
    sentence = (
        f"The prior matters (sensitivity {MATTERS:g} or more) for {strong} of {len(asked)} subgroups."
        if strong
        else f"The prior matters little: no sensitivity of a subgroup reaches {MATTERS:g}."
    )
    if np.isfinite(largest):
        sentence += (
            f" With priors twice or half as wide no estimate of these would move by more than {context.text(largest)}."
        )
    return {"reason": "", "rows": rows, "sentence": sentence}


def _row(context: Context, label: str, found: xr.Dataset, part: str, i: int, *, raw: bool = False) -> dict[str, str]:
    def text(value: float) -> str:
        return (f"{value:.3g}" if np.isfinite(value) else "–") if raw else context.text(value)

    wide, narrow = (float(found[f"{part}mean_at"].values[j, i]) for j in (0, 1))
    likelihood = float(found[f"{part}likelihood"].values[i])
    return {
        "label": label,
        "prior": f"{float(found[f'{part}prior'].values[i]):.2f}",
        "likelihood": f"{likelihood:.2f}" if np.isfinite(likelihood) else "–",
        "mean": text(float(found[f"{part}mean"].values[i])),
        "wide": text(wide),
        "narrow": text(narrow),
        "said": str(found[f"{part}diagnosis"].values[i]),
    }
