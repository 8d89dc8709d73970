"""Target population of a poststratified report: shares of people and rows, and the words of its page."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.report.view import number, plain, whole
from bayesgroups.views.html.sections.context import Context, picture
from bayesgroups.views.plots.population_plot import population as drawn

ESTIMAND = (
    "What is estimated is the value in a target population: the values of its cells, weighted by how many of its people are in "
    "each, and not by how many happened to be evaluated. Every target is answered twice, by draws of a Bayesian model and by "
    "weighted standard estimates."
)


def population(context: Context) -> dict[str, Any]:
    """Picture and table of the targets of a metric of a poststratified report."""
    table = context.report["estimates"].to_dataset().sel(metric=context.name)
    facts = context.tally.sel(metric=context.name)
    everybody, rows = float(table["population"].values[0]), float(facts["rows"].values[0])
    bayesian, frequentist = context.reading.bayesian, context.reading.frequentist
    modelled = bool(np.isfinite(bayesian.estimate).any())  # not those of a tally
    side, name = (bayesian, "Bayesian") if modelled else (frequentist, "frequentist")
    lines = []
    for i, label in enumerate(context.reading.subgroups):
        share = float(table["imputed_share"].values[i])
        lines.append(
            {
                "label": label,
                "people": _share(float(table["population"].values[i]), everybody),
                "rows": _share(float(facts["rows"].values[i]), rows),
                "empty": f"{100 * share:.1f}%" if np.isfinite(share) else "–",
                "sample": context.text(float(table["sample_estimate"].values[i])),
                "weighted": context.text(float(side.estimate[i])),
            }
        )
    sentence = (
        f"The rows say {lines[0]['sample']} as they are; weighted to the target population the {name} "
        f"estimate is {lines[0]['weighted']}. {_covered(float(table['imputed_share'].values[0]), modelled)}"
    )
    return {
        "rows": lines,
        "sentence": sentence,
        "everybody": everybody_of(context),
        "side": name,
        "picture": picture(
            lambda: drawn(context.report, metric=context.name),
            f"Shares of cells among evaluated rows and among the people of the target population. {sentence}",
            "Share of every cell among the evaluated rows (diamond) and among the people of the target population (circle); a "
            "hollow circle is a cell without rows.",
        ),
    }


def _covered(share: float, modelled: bool) -> str:
    """Sentence on the people in cells without rows, of whom a model speaks where there is one."""
    if not share > 0:
        return "Every cell with people has rows."
    spoken = "about whom the model alone speaks" if modelled else "about whom no row speaks"
    return f"{100 * share:.1f}% of the people are in cells without rows, {spoken}."


def everybody_of(context: Context) -> dict[str, str]:
    """Both answers for everybody, for the head of the page."""
    table = context.report["estimates"].to_dataset().sel(metric=context.name)
    sides = {side.approach: side for side in (context.reading.bayesian, context.reading.frequentist)}
    told = {
        name: f"{context.text(float(side.estimate[0]))} ({context.span(side.lower[0], side.upper[0])})"
        for name, side in sides.items()
    }
    share = float(table["imputed_share"].values[0])
    return told | {"empty": f"{100 * share:.1f}%" if np.isfinite(share) else "–"}


def words(report: xr.DataTree, titles: str, by: list[str]) -> dict[str, Any]:
    """Question, estimand and facts at the head of the page."""
    tally = report["constant_data"].to_dataset()
    targets = tally.sizes["subgroup"]
    parts = f" and in {targets - 1} parts of it, by {', '.join(map(plain, by))}" if targets > 1 else ""
    facts = {
        "Estimator": str(report.attrs["estimator"]).replace("_", " "),
        "Targets": str(targets),
        "Cells": str(tally.sizes["cell"]),
        "Rows": whole(float(tally["rows"].values[0])) or "not known",
        "People": number(float(report["estimates"].to_dataset()["population"].values[0, 0]), 0),
    }
    return {
        "asked": f"What is the {titles} in the target population{parts}, and how sure is that?",
        "estimand": ESTIMAND,
        "facts": facts,
    }


def _share(part: float, total: float) -> str:
    return f"{100 * part / total:.1f}%" if total > 0 else "–"
