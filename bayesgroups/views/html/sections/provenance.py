"""Method with references, and provenance: the lines of code, the seed, the versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import xarray as xr

from bayesgroups.report.view import percent, plain
from bayesgroups.views.html import words
from bayesgroups.views.html.sections.code import report_code
from bayesgroups.views.html.words import json_of

_ENGINES = {
    "collapsed": "independent draws from the exact posterior",
    "hamiltonian": "Hamiltonian Monte Carlo of the exact posterior, along its directions",
    "gibbs": "Gibbs sampling",
    "nuts": "Hamiltonian Monte Carlo (NUTS)",
    "nuts_jax": "Hamiltonian Monte Carlo (NUTS), compiled by JAX",
}


def method(report: xr.DataTree, level: float) -> dict[str, Any]:
    """Sentences, references and the notes of the report."""
    table = report["estimates"].to_dataset()
    inference = str(report.attrs["inference"])
    how = ", ".join(_ENGINES.get(engine, engine) for engine in inference.split(", "))
    sentences = [words.estimator_words(report)]
    sentences += [f"Bayesian model, {sentence}" for sentence in words.model_words(report)]
    sentences.append(f"The posterior was computed by {plain(how)}; the Bayesian estimate is the posterior mean.")
    for approach in ("bayesian", "frequentist"):
        side = table.sel(approach=approach)
        used = side["interval_method"].sel(level=level).transpose("metric", "subgroup").values
        methods = dict.fromkeys(str(name) for name in used.ravel())
        for interval in methods:
            which = [str(name) for name in side["metric"].values[(used == interval).any(axis=1)]]
            about = f" for {', '.join(plain(name) for name in which)}" if len(methods) > 1 else ""
            sentences.append(f"{approach.capitalize()} intervals{about}: {words.interval_words(interval)}.")
    sentences.append(
        "Frequentist intervals are clipped to the range of the metric. Each holds for its own subgroup: among many, some "
        f"{percent(level)} intervals miss by chance, and the most extreme one looks more extreme than it is."
    )
    intervals = {str(name).partition(" (")[0] for name in table["interval_method"].values.ravel()}
    papers = [plain(str(paper)) for paper in json_of(report, "references", [])]
    return {
        "sentences": sentences,
        "references": references(papers, intervals, inference),
        "notes": [plain(str(note)) for note in json_of(report, "notes", [])],
    }


INTERVAL_PAPERS = {
    "wilson": "Wilson (1927), Probable inference, doi:10.1080/01621459.1927.10502953",
    "clopper_pearson": "Clopper, Pearson (1934), Confidence or fiducial limits, doi:10.1093/biomet/26.4.404",
    "anytime_beta": "Waudby-Smith, Ramdas (2020), Confidence sequences for sampling without replacement, arXiv:2006.04347",
    "anytime_normal": "Howard, Ramdas, McAuliffe, Sekhon (2021), Confidence sequences, doi:10.1214/20-AOS1991",
    "robust": "Armstrong, Kolesar, Plagborg-Moller (2022), Robust empirical Bayes intervals, doi:10.3982/ECTA18597",
    "fab": "Yu, Hoff (2018), Adaptive multigroup confidence intervals, doi:10.1093/biomet/asy009",
    "imbens_manski_bounds": "Imbens, Manski (2004), Partially identified parameters, doi:10.1111/j.1468-0262.2004.00555.x",
    "mover": "Zou, Donner (2008), Construction of confidence limits about effect measures, doi:10.1002/sim.3095",
    "satterthwaite_t": "Satterthwaite (1946), Estimates of variance components, doi:10.2307/3002019",
    "imbens_manski": "Imbens, Manski (2004), Partially identified parameters, doi:10.1111/j.1468-0262.2004.00555.x",
}
_PAGE = (
    "Lum, Zhang, Bower (2022), De-biasing bias measurement, doi:10.1145/3531146.3533105 (disparity)",
    "Himmelreich, Hsu, Lum, Veomett, The intersectionality problem, doi:10.48550/arXiv.2411.02569 (certification)",
    "Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks, doi:10.1093/restud/rdad006 (ranks)",
    "Kallioinen, Paananen, Burkner, Vehtari (2024), Power-scaling, doi:10.1007/s11222-023-10366-5 (sensitivity to the prior)",
)
NUTS_PAPER = "Hoffman, Gelman (2014), The No-U-Turn sampler, JMLR 15"


def references(estimator: Collection[str], intervals: Collection[str], inference: str) -> list[str]:
    """References of the estimator, of interval methods, of the engine and of the questions that the page answers.

    >>> references(["Efron, Morris (1975)"], {"wilson"}, "collapsed")[:2]
    ['Efron, Morris (1975)', 'Wilson (1927), Probable inference, doi:10.1080/01621459.1927.10502953']
    """
    papers = [*estimator, *(paper for name, paper in INTERVAL_PAPERS.items() if name in intervals)]
    return [*papers, *([NUTS_PAPER] if "nuts" in inference else []), *_PAGE]


def origin(report: xr.DataTree, page: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The code, and facts by name; ``page`` are arguments of `bayesgroups.write_html` that are not the usual ones."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(json_of(report, "versions", {}).items()))
    facts = {
        "Made at": plain(str(report.attrs.get("created_at", ""))),
        "Command": plain(str(report.attrs.get("command", ""))),
        "Seed": _seeds(report),
        "Inference": plain(str(report.attrs.get("inference", ""))),
        "Versions": plain(versions),
        "Schema": f"{report.attrs['schema']} {report.attrs['schema_version']}",
    }
    return {"code": report_code(report, page or {}), "facts": {name: fact for name, fact in facts.items() if fact}}


def _seeds(report: xr.DataTree) -> str:
    """The seed, of a target population after that of the fit behind it."""
    fit = json_of(report, "poststratification", {}).get("source", {}).get("seed")
    seed = str(report.attrs.get("seed", ""))
    return seed if fit is None else f"{fit} of the fit, {seed} of the target population"
