"""Method of the report, in sentences, with references."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.report.view import percent, plain
from bayesgroups.views.html import words
from bayesgroups.views.html.sections.attributes import json_of
from bayesgroups.views.html.sections.references import references

_ENGINES = {
    "collapsed": "independent draws from the exact posterior",
    "gibbs": "Gibbs sampling",
    "nuts": "Hamiltonian Monte Carlo (NUTS)",
    "nuts_jax": "Hamiltonian Monte Carlo (NUTS), compiled by JAX",
}


def method(report: xr.DataTree, level: float) -> dict[str, Any]:
    """Sentences, references and the notes of the report."""
    table = report["estimates"].to_dataset()
    inference = str(report.attrs["inference"])
    how = ", ".join(_ENGINES.get(engine, engine) for engine in inference.split(", "))
    said = [words.estimator_words(report)]
    said += [f"Bayesian model, {sentence}" for sentence in words.model_words(report)]
    said.append(f"The posterior was computed by {plain(how)}; the Bayesian estimate is the posterior mean.")
    for approach in ("bayesian", "frequentist"):
        own = table.sel(approach=approach)
        used = own["interval_method"].sel(level=level).transpose("metric", "subgroup").values
        methods = dict.fromkeys(str(name) for name in used.ravel())
        for one in methods:
            which = [str(name) for name in own["metric"].values[(used == one).any(axis=1)]]
            about = f" for {', '.join(plain(name) for name in which)}" if len(methods) > 1 else ""
            said.append(f"{approach.capitalize()} intervals{about}: {words.interval_words(one)}.")
    said.append(
        "Frequentist intervals are clipped to the range of the metric. Each holds for its own subgroup: among many, some "
        f"{percent(level)} intervals miss by chance, and the most extreme one looks more extreme than it is."
    )
    intervals = {str(name).partition(" (")[0] for name in table["interval_method"].values.ravel()}
    papers = [plain(str(paper)) for paper in json_of(report, "references", [])]
    return {
        "sentences": said,
        "references": references(papers, intervals, inference),
        "notes": [plain(str(note)) for note in json_of(report, "notes", [])],
    }
