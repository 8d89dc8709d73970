"""Contrasts of one metric with a reference: per scale a forest plot about equality, and a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.contrasts.comparisons import Reference
from bayesgroups.questions.contrasts.contrast import contrasts as ask
from bayesgroups.questions.contrasts.scales import Scale, equality
from bayesgroups.report.view import headline, number, percent, plain
from bayesgroups.views.html.sections.context import DRAWN, Context, only, picture
from bayesgroups.views.html.sections.questions import chance
from bayesgroups.views.plots.contrasts_plot import contrasts as drawn

LISTED = 5000
"""At most so many contrasts are listed, those farthest from equality."""
NAMED = 5
"""At most so many subgroups are named in the sentence."""


def contrasts(context: Context, reference: Reference | None) -> list[dict[str, Any]]:
    """Differences to the reference and, where the metric cannot be negative, ratios; nothing where none is asked for."""
    if reference is None:
        return []
    scales: tuple[Scale, ...] = ("difference", "ratio") if context.reading.bounds[0] >= 0 else ("difference",)
    answer = ask(
        only(context), reference, scale=scales, thresholds={}, level=context.level, imputed=context.imputed,
        seed=int(context.report.attrs["seed"]),
    ).isel(metric=[0])  # fmt: skip
    against = list(dict.fromkeys(map(str, answer["reference"].values)))
    reference_name = plain(context.shown.get(against[0], against[0])) if len(against) == 1 else "the reference"
    labels = [plain(context.shown.get(label, label)) for label in map(str, answer["subgroup"].values)]
    answer = answer.assign_coords(contrast=labels)
    return [_on(context, answer.sel(scale=[scale]), scale, reference_name) for scale in scales]


def _on(context: Context, answer: xr.Dataset, scale: Scale, reference: str) -> dict[str, Any]:
    """Sentences, picture and table of one scale."""
    part = answer.isel(metric=0, scale=0)
    sides = [part.sel(approach=name) for name in part["approach"].values]
    best = bool(np.isfinite(part["probability_best"].values).any())
    word = "difference" if scale == "difference" else "ratio"
    told = headline(
        context.reading.metric, context.level,
        [(str(part["estimand"].values), str(side["interval_kind"].values), _methods(side)) for side in sides],
        quantity=f"{word} to {reference}",
    )  # fmt: skip
    far = _distance(sides[0], scale)
    kept = np.sort(np.argsort(-far, kind="stable")[:DRAWN])
    listed = np.sort(np.argsort(-far, kind="stable")[:LISTED])
    sentences = [f"{told}.", *(_likely_worse(sides[0], context.level, reference) if context.directed else [])]
    return {
        "title": f"{word.capitalize()} to {reference}",
        "sentences": sentences,
        "picture": _picture(context, answer.isel(contrast=kept), scale, len(far), sentences, reference),
        "level": percent(context.level),
        "left": len(far) - len(listed),
        "sides": [_head(side, best=best, directed=context.directed) for side in sides],
        "rows": [_row(context, sides, int(i), scale, best=best) for i in listed],
    }


def _methods(side: xr.Dataset) -> list[str]:
    """Interval methods of the contrasts that have an interval."""
    return [str(method) for method in side["interval_method"].values[np.isfinite(side["estimate"].values)]]


def _distance(side: xr.Dataset, scale: Scale) -> np.ndarray:
    """Distance from equality, of ratios on the scale of logs; contrasts without a value come last."""
    estimate = np.asarray(side["estimate"].values, dtype=np.float64)
    if scale == "difference":
        return np.nan_to_num(np.abs(estimate), nan=-1.0)
    with np.errstate(divide="ignore"):
        return np.nan_to_num(np.abs(np.log(estimate)), nan=-1.0, posinf=np.inf)


def _likely_worse(side: xr.Dataset, level: float, reference: str) -> list[str]:
    """Sentence that names those who are worse than the reference with the probability of the level or more."""
    worse = np.asarray(side["probability_worse"].values, dtype=np.float64)
    if not np.isfinite(worse).any():
        return []
    order = np.argsort(-np.nan_to_num(worse, nan=-1.0), kind="stable")
    sure = [int(i) for i in order if worse[i] >= level]
    if not sure:
        return [f"None is worse than {reference} with a probability of {percent(level)} or more."]
    names = "; ".join(f"{side['contrast'].values[i]} ({chance(float(worse[i]))})" for i in sure[:NAMED])
    more = f"; and {len(sure) - NAMED} more" if len(sure) > NAMED else ""
    return [f"Worse than {reference} with a probability of {percent(level)} or more, each by itself: {names}{more}."]


def _picture(
    context: Context, answer: xr.Dataset, scale: Scale, many: int, sentences: list[str], reference: str
) -> Any:
    """Forest plot of the contrasts; nothing where none has a value."""
    if not np.isfinite(answer["estimate"].values).any():
        return None
    few = answer.sizes["contrast"]
    caption = (
        f"{'Differences' if scale == 'difference' else 'Ratios'} to {reference}; the upright line at "
        f"{equality(scale):g} is equality. Circle: Bayesian; diamond: frequentist; thin lines hold for all rows together."
    )
    caption += f" Drawn are the {few} of {many} farthest from equality." if few < many else ""
    alternative = f"Forest plot of contrasts in {context.reading.metric}. {' '.join(sentences)}"
    return picture(lambda: drawn(answer, metric=context.name, scale=scale, limit=None), alternative, caption)


def _head(side: xr.Dataset, *, best: bool, directed: bool) -> dict[str, str]:
    """Names of the columns of one approach; without a direction a larger value is just that."""
    bayesian = str(side["approach"].values) == "bayesian"
    probability = "P(best)" if best else "P(worse)" if directed else "P(larger)"
    evidence = probability if bayesian else "May be best" if best else "p, Holm"
    return {
        "name": str(side["approach"].values).capitalize(),
        "kind": str(side["interval_kind"].values),
        "evidence": evidence,
    }


def _row(context: Context, sides: list[xr.Dataset], i: int, scale: Scale, *, best: bool) -> dict[str, Any]:
    """One contrast as text."""
    cells = []
    for side in sides:
        values = {str(name): side[name].values[i] for name in side.data_vars if side[name].dims == ("contrast",)}
        ends = [_text(context, float(values[name]), scale) for name in ("lower", "upper")]
        together = [_text(context, float(values[f"{name}_simultaneous"]), scale) for name in ("lower", "upper")]
        width = float(values["upper"]) - float(values["lower"]) if np.isfinite(float(values["upper"])) else np.inf
        cells.append(
            {
                "estimate": _text(context, float(values["estimate"]), scale) or "–",
                "interval": " to ".join(ends) if all(ends) else "–",
                "width": f"{width:.6g}" if all(ends) else "",
                "together": " to ".join(together) if all(together) else "",
                "evidence": _evidence(values, bayesian=str(side["approach"].values) == "bayesian", best=best),
            }
        )
    return {"label": str(sides[0]["contrast"].values[i]), "remarks": _remarks(sides, i), "sides": cells}


def _remarks(sides: list[xr.Dataset], i: int) -> list[str]:
    """Statuses other than ``ok`` with their reasons; of one approach alone with its name."""
    told: dict[str, list[str]] = {}
    for side in sides:
        status, reason = str(side["status"].values[i]), plain(str(side["reason"].values[i]))
        if status != "ok":
            text = f"{status}: {reason}" if reason else status
            told.setdefault(text, []).append(str(side["approach"].values))
    return [text if len(names) == len(sides) else f"{names[0].capitalize()}: {text}" for text, names in told.items()]


def _evidence(values: dict[str, Any], *, bayesian: bool, best: bool) -> str:
    """Probability of being worse (or the best), or its frequentist counterpart."""
    if bayesian:
        probability = float(values["probability_best" if best else "probability_worse"])
        return chance(probability) if np.isfinite(probability) else "–"
    value = float(values["may_be_best" if best else "p_value_adjusted"])
    if not np.isfinite(value):
        return "–"
    if best:
        return "yes" if value else "no"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _text(context: Context, value: float, scale: Scale) -> str:
    if scale == "difference":
        return number(value, context.reading.decimals())
    return "infinite" if np.isinf(value) else number(value, 2)
