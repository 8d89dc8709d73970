"""Verdict and question at the head of the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.report.overlap import overlaps
from bayesgroups.report.view import failures, plain, usable, whole
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html.sections.context import Context
from bayesgroups.views.html.sections.population import words as population_words
from bayesgroups.views.html.words import json_of


def verdict(report: xr.DataTree) -> dict[str, Any]:
    """Verdict on the report: usable or not, the number of checks, and the sentences of those that failed."""
    return {
        "usable": usable(report),
        "checks": int(report["diagnostics"].sizes.get("check", 0)),
        "failures": failures(report),
    }


_SETTINGS = {
    "y_true": "Outcome", "y_pred": "Decision", "y_score": "Score", "threshold": "Threshold",
    "positive": "Positive label", "loss": "Loss", "weights": "Weights", "cluster": "Clusters",
    "rows_dropped": "Rows dropped (missing attribute)",
}  # fmt: skip


def question(report: xr.DataTree, metrics: list[Context]) -> dict[str, Any]:
    """Title, question, estimand, and the facts of the data."""
    tally = report["constant_data"].to_dataset()
    by = [plain(name) for name in attributes_of(report["estimates"].to_dataset())]
    subgroups = tally.sizes["subgroup"]
    titles = [metric.words.title for metric in metrics]
    if overlaps(report):
        what = listed([lower_first(title) for title in titles])
        return {"title": f"{_title(titles, by)}, target population", **population_words(report, what, by)}
    return {
        "title": _title(titles, by),
        "asked": _asked(titles, by, subgroups),
        "estimand": (
            "What is estimated is the value in the people that the rows of a subgroup stand for, not the value in the rows "
            "themselves: a subgroup of few rows can look far better or worse than it is. Every subgroup is answered twice, by "
            "a Bayesian model and by a frequentist reference, from the same counts."
        ),
        "facts": _facts(report, tally),
    }


def _title(titles: list[str], by: list[str]) -> str:
    shown = [*titles[:3], f"{len(titles) - 3} more"] if len(titles) > 4 else list(titles)
    subject = listed([shown[0], *(lower_first(title) for title in shown[1:])])
    return f"{subject} by {listed(by)}" if by else f"{subject} by subgroup"


def _asked(titles: list[str], by: list[str], subgroups: int) -> str:
    what = listed([f"the {lower_first(title)}" for title in titles])
    several = "are" if len(titles) > 1 else "is"
    where = f"each of the {subgroups} combinations of {listed(by)}" if len(by) > 1 else f"each of {subgroups} subgroups"
    if len(by) == 1:
        where += f" by {by[0]}"
    return f"What {several} {what} in {where}, and how sure is that?"


def _facts(report: xr.DataTree, tally: xr.Dataset) -> dict[str, str]:
    rows = tally["rows"].values if "rows" in tally else np.array([np.nan])
    facts = {
        "Estimator": str(report.attrs["estimator"]).replace("_", " "),
        "Subgroups": str(tally.sizes["subgroup"]),
        "Rows": whole(float(rows.sum())) or "not known",
        "Attributes": ", ".join(plain(name) for name in attributes_of(tally)),
    }
    settings = json_of(tally, "settings", {})
    facts |= {label: plain(str(settings[key])) for key, label in _SETTINGS.items() if settings.get(key) is not None}
    return {label: fact for label, fact in facts.items() if fact}


def listed(names: list[str]) -> str:
    """Names as a phrase.

    >>> listed(["race", "age", "sex"])
    'race, age and sex'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def lower_first(title: str) -> str:
    """A title within a sentence; names of capitals stay as they are.

    >>> lower_first("Selection rate"), lower_first("F1 score"), lower_first("WER")
    ('selection rate', 'F1 score', 'WER')
    """
    first = title.partition(" ")[0]
    return title if not first[1:].islower() else title[:1].lower() + title[1:]
