"""Section on certification: statements that hold for every subgroup."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.questions.certification import certify
from bayesgroups.report.view import percent, plain
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.pictures import picture
from bayesgroups.views.html.sections.worst import only
from bayesgroups.views.plots import certification


def promise(context: Context) -> dict[str, Any] | None:
    """The best standards that all subgroups reach, by probability, and what rows alone can show."""
    if not context.defined:
        return None
    found = certify(only(context), level=context.level, using="posterior", imputed=context.imputed).isel(metric=0)
    alone = certify(context.tally.isel(metric=[context.place]), level=context.level).isel(metric=0)
    sense = "at least" if context.larger_is_better else "at most"
    name = context.reading.metric
    rows = [
        {"probability": percent(float(p)), "standard": f"{sense} {context.text(float(value))}"}
        for p, value in zip(found["probability"].values, found["certified"].values, strict=True)
    ]
    certified = context.text(float(found["pessimist"]))
    pessimist, optimist = (_clipped(context, float(alone[word])) for word in ("pessimist", "optimist"))
    deciding = plain(str(alone["pessimist_subgroup"].values))
    sentences = [
        f"With a posterior probability of {percent(context.level)} every subgroup has {name} {sense} {certified}."
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
