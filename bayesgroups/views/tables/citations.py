"""Citations of a report: BibTeX of estimator, intervals, engine and software that made it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.report.schema import check
from bayesgroups.views.html.sections.provenance import INTERVAL_PAPERS, NUTS_PAPER

_BROWN = "Brown, Cai, DasGupta (2001), Interval estimation for a binomial proportion, doi:10.1214/ss/1009213286"
_EFRON = "Efron (1979), Bootstrap methods: another look at the jackknife, doi:10.1214/aos/1176344552"
_MORRIS = "Morris (1983), Parametric empirical Bayes inference, doi:10.1080/01621459.1983.10477920"
_HERLIHY = "Herlihy et al. (2024), Structured regression for disaggregated evaluation"
_LIU = (
    "Liu, Xu, Li (2020), A bootstrap lasso + partial ridge method to construct confidence intervals for parameters in "
    "high-dimensional sparse linear models"
)
_BOUNDS = "Gustafson (2010), Bayesian inference for partially identified models, doi:10.2202/1557-4679.1206"
_SUREMAP = "Khodak, Mackey, Chouldechova, Dudik (2024), SureMap, doi:10.48550/arXiv.2411.09730"

PAPERS = {
    **INTERVAL_PAPERS,
    "equal_tailed": _BROWN, "one_sided": _BROWN, "jeffreys": _BROWN, "wald": _BROWN,
    "percentile": _EFRON, "bootstrap": _EFRON, "bootstrap_normal": _EFRON, "multinomial_bootstrap": _EFRON,
    "morris": _MORRIS, "plug_in": _MORRIS, "unshrunk": _MORRIS,
    "pooled_t": _HERLIHY, "pooled_normal": _HERLIHY, "separate_normal": _HERLIHY, "t": _HERLIHY,
    "rblpr_known_variance": _LIU, "rblpr_residual": _LIU, "corrected": _SUREMAP, "dirichlet": _BOUNDS,
    "anytime": INTERVAL_PAPERS["anytime_normal"],
    "delta": "Agresti (2013), Categorical data analysis",
    "score_regression_fast": "Miller, Gatys, Futoma, Fox (2021), Model-based metrics",
    "score_regression_full": "Miller, Gatys, Futoma, Fox (2021), Model-based metrics",
    "cluster_robust": "Liang, Zeger (1986), Longitudinal data analysis using generalized linear models, doi:10.1093/biomet/73.1.13",
}  # fmt: skip
"""Sources of interval methods, as the docstrings name them."""
ENGINES = {
    "gibbs": "Nishimura, Suchard (2023), Shrinkage with shrunken shoulders, doi:10.1214/22-BA1308",
    "hamiltonian": "Neal (2011), MCMC using Hamiltonian dynamics, arXiv:1206.1901",
    "nuts": NUTS_PAPER,
}
"""Sources of engines; independent draws from the exact posterior have none of their own."""
CHAINS = "Vehtari et al. (2021), Rank-normalization, folding, and localization, doi:10.1214/20-BA1221"
ARVIZ = "Kumar, Carroll, Hartikainen, Martin (2019), ArviZ, doi:10.21105/joss.01143"
PYMC = "Abril-Pla et al. (2023), PyMC, doi:10.7717/peerj-cs.1516"
_WITH_COVARIATES = " (with covariates)"
_TEXT = re.compile(
    r"(?P<authors>.+?) \((?P<year>\d{4})[^)]*\), (?P<title>.+?)(?:, (?:doi:(?P<doi>\S+)|arXiv:(?P<arxiv>\S+)))?"
)


@checked_keywords
def citations(report: xr.DataTree) -> str:
    r"""BibTeX of the papers and programs behind a report.

    Sources of the estimator (as `Estimator.references` names them), of every interval method in the report, of the engine, and
    of this package, ArviZ, and PyMC where it drew. Entries have authors' surnames, year, title and DOI or arXiv number; the
    DOI completes them in any reference manager.

    Parameters
    ----------
    report : xr.DataTree
        From `estimate`, `open_report` or `report_from_draws`.

    Returns
    -------
    str
        BibTeX, one entry per source, in the order of estimator, intervals, engine, software; none comes twice.

    Raises
    ------
    SchemaError
        If it is not a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> sites = pd.DataFrame({"site": ["a", "b", "c"]})
    >>> tally = bg.tally_from_counts([12, 30, 9], [60, 100, 40], sites, metric="fnr")
    >>> text = bg.citations(bg.estimate(tally, bg.NoPooling(interval="wilson"), seed=1))
    >>> print(text.split("\n\n")[1])
    @misc{wilson1927,
      author = {Wilson},
      year = {1927},
      title = {{Probable inference}},
      doi = {10.1080/01621459.1927.10502953},
    }
    """
    check(report)
    settings = json.loads(report.attrs.get("settings", "{}"))
    named = [str(paper) for paper in json.loads(report.attrs.get("references", "[]"))]
    if not settings.get("covariates"):
        named = [paper for paper in named if not paper.endswith(_WITH_COVARIATES)]
    texts = [paper.removesuffix(_WITH_COVARIATES) for paper in named]
    methods = report["estimates"].to_dataset()["interval_method"].values.ravel()
    texts += [PAPERS[name] for name in dict.fromkeys(_kind(str(method)) for method in methods) if name in PAPERS]
    engines = dict.fromkeys(name.removesuffix("_jax") for name in str(report.attrs["inference"]).split(", "))
    texts += [ENGINES[name] for name in engines if name in ENGINES]
    texts += [CHAINS] if set(engines) & set(ENGINES) else []
    texts += [ARVIZ, *([PYMC] if "nuts" in engines else [])]
    version = json.loads(report.attrs.get("versions", "{}")).get("bayesgroups", "")
    ours = _entry(
        "software",
        "bayesgroups",
        {"author": "{The bayesgroups developers}", "title": "bayesgroups", "version": version},
    )
    return "\n\n".join([*_entries(dict.fromkeys(texts)), ours]) + "\n"


def _kind(method: str) -> str:
    """Name of a method without what stands in brackets behind it."""
    return method.partition(" (")[0]


def _entries(texts: Iterable[str]) -> list[str]:
    """An entry per text, each under a key of its own; a DOI that comes again is left out."""
    entries: dict[str, str] = {}
    seen: set[str] = set()
    for text in texts:
        fields = _fields(text)
        number = fields.get("doi") or fields.get("eprint")
        if number is not None and number in seen:
            continue
        seen.update([number] if number else [])
        key = _key(text)
        while key in entries:
            key += "a"
        entries[key] = _entry("misc", key, fields)
    return list(entries.values())


def _fields(text: str) -> dict[str, str]:
    """Fields of "Author, Author (year), Title, doi:..."; a text of another form is a note.

    >>> _fields("Efron, Morris (1975), Data analysis, doi:10.1080/x")
    {'author': 'Efron and Morris', 'year': '1975', 'title': '{Data analysis}', 'doi': '10.1080/x'}
    >>> _fields("a manual")
    {'note': 'a manual'}
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        return {"note": text}
    people = match["authors"].replace(" et al.", ", others").split(", ")
    fields = {"author": " and ".join(people), "year": match["year"], "title": f"{{{match['title']}}}"}
    if match["doi"]:
        fields["doi"] = match["doi"]
    if match["arxiv"]:
        fields |= {"eprint": match["arxiv"], "archiveprefix": "arXiv"}
    return fields


def _key(text: str) -> str:
    """First author and year in ASCII letters and digits.

    >>> _key("Efron, Morris (1975), Data analysis"), _key("a manual")
    ('efron1975', 'amanual')
    """
    match = _TEXT.fullmatch(text)
    name = text if match is None else re.split(r",| et al", match["authors"])[0] + match["year"]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain)[:40] or "source"


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
