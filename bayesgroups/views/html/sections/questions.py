"""Questions about one metric: the worst subgroups, their disparity, and certification."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.certification import certify, ranks
from bayesgroups.questions.disparities.disparity import disparity
from bayesgroups.report.view import number, percent, plain, whole
from bayesgroups.views.html.sections.context import Context, only, picture
from bayesgroups.views.plots import certification, disparity_posterior

SHOWN = 8
"""So many of the likeliest are listed."""
PAIRS = 64
"""Up to so many subgroups are compared pair by pair on the frequentist side."""


def worst(context: Context) -> dict[str, Any] | None:
    """The subgroups that are worst with the largest probability; nothing where there is no posterior or no direction."""
    if not (context.defined and context.directed):
        return None
    ranked = ranks(only(context), level=context.level, using="posterior", imputed=context.imputed).isel(metric=0)
    probability = np.nan_to_num(np.asarray(ranked["probability_worst"].values, dtype=np.float64))
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
            "ranks": _ranks(ranked, int(i)),
            "alone": _ranks(alone, int(i)) if alone is not None else "",
        }
        for i in map(int, order)
        if probability[i] > 0
    ]
    groups = int(ranked["groups"])
    top = int(order[0])
    return {
        "direction": f"{'lowest' if context.larger_is_better else 'highest'} one{_by_default(context, ': ')}",
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


def _sentence(label: str, probability: float, groups: int) -> str:
    if groups == 1:
        return f"{label} is the only subgroup with an answer."
    if probability >= 0.5:
        return f"Most likely the worst is {label}, with a probability of {chance(probability)}."
    return (
        f"No subgroup is clearly the worst: the likeliest, {label}, is so with a probability of {chance(probability)} "
        f"(a guess among {groups} would have {chance(1 / groups)})."
    )


def _ranks(ranked: xr.Dataset, i: int) -> str:
    limits = [float(ranked[name].values[i]) for name in ("lower", "upper")]
    return f"{limits[0]:.0f} to {limits[1]:.0f}" if np.isfinite(limits).all() else "–"


def _by_default(context: Context, opening: str) -> str:
    """Words on a direction that was taken for want of one; nothing where one was given."""
    taken = "smaller values are taken to be better, for no direction was given (larger_is_better= in the tally)"
    return f"{opening}{taken}" if context.assumed else ""


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
    names = [name for name in WORDS if context.directed or name != "worst_group_gap"]
    posterior = disparity(only(context), names, level=context.level, imputed=context.imputed).isel(metric=0)  # type: ignore[arg-type]
    raw = disparity(tally, names).isel(metric=0)  # type: ignore[arg-type]
    rows = []
    for i, name in enumerate(names):
        values = [float(posterior[part].values[i]) for part in ("value", "lower", "upper")]
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
    probability = "less than 0.001" if p < 0.001 else f"{p:.3f}"
    sentence = (
        f"The gap between the largest and the smallest value is {gap['value']} ({percent(context.level)} credible interval "
        f"{gap['interval']}). Raw estimates show {gap['raw']}; they would show {gap['equal']} on average if all subgroups "
        "were the same" + (f", and as much as they do with a probability of {probability}." if np.isfinite(p) else ".")
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


def promise(context: Context) -> dict[str, Any] | None:
    """The best standards that all subgroups reach, by probability, and what rows alone can show; nothing without a direction."""
    if not (context.defined and context.directed):
        return None
    certificate = certify(only(context), level=context.level, using="posterior", imputed=context.imputed).isel(metric=0)
    alone = certify(context.tally.isel(metric=[context.place]), level=context.level).isel(metric=0)
    sense = "at least" if context.larger_is_better else "at most"
    name = context.reading.metric
    rows = [
        {"probability": percent(float(p)), "standard": f"{sense} {context.text(float(value))}"}
        for p, value in zip(certificate["probability"].values, certificate["certified"].values, strict=True)
    ]
    certified = context.text(float(certificate["pessimist"]))
    pessimist, optimist = (_clipped(context, float(alone[word])) for word in ("pessimist", "optimist"))
    deciding = str(alone["pessimist_subgroup"].values)
    deciding = plain(context.shown.get(deciding, deciding))
    sentences = [
        f"With a posterior probability of {percent(context.level)} every subgroup has {name} {sense} {certified}"
        f"{_by_default(context, '; ')}."
    ]
    if np.isfinite(float(alone["pessimist"])):
        sentences.append(
            f"From the rows of each subgroup alone, {percent(context.level)} confidence: all are shown to have {sense} {pessimist} "
            f"(the pessimist's standard, decided by {deciding}), and none is shown to miss {optimist} (the optimist's). Between "
            "the two the rows do not tell."
        )
    return {
        "rows": rows,
        "standard": f"{sense} {certified}",
        "sentences": sentences,
        "picture": picture(
            lambda: certification(context.report, metric=context.name, level=context.level, imputed=context.imputed),
            f"Certification curve of {name}. {' '.join(sentences)}",
            "Posterior probability that all subgroups reach a standard, by the standard; the circle is what is certified. Lines: "
            "pessimist and optimist from the rows of each subgroup alone.",
        ),
    }


def _clipped(context: Context, value: float) -> str:
    return context.text(float(np.clip(value, *context.reading.bounds))) if np.isfinite(value) else "–"
