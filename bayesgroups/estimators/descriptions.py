"""The estimator of a report: its class, description, references and priors as attributes, and the estimator made from them."""

from __future__ import annotations

import json

import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.named import class_name, estimator_class


def describe(estimator: Estimator, tally: xr.Dataset) -> dict[str, str]:
    """Attributes of a report that say in words which estimator made it, so that a page needs no class.

    ``estimator_class`` is the class as ``module:Class``, ``description`` a sentence, ``references`` a list as JSON, and
    ``prior_description`` likelihood and priors, which depend on the tally, by the name of the metric as JSON.
    """
    name, references = type(estimator).__name__, estimator.references
    priors = {str(metric): estimator.describe_priors(tally.sel(metric=[metric])) for metric in tally["metric"].values}
    if not isinstance(references, tuple) or not all(isinstance(paper, str) for paper in references):
        raise InputError(f"{name}: references={references!r} must be a tuple of texts, as ('Author (2020), Title',)")
    for label, text in {
        "description": estimator.description,
        **{f"priors of {m!r}": p for m, p in priors.items()},
    }.items():
        if not isinstance(text, str):
            raise InputError(f"{name}: the {label} must be a text; got {text!r}")
    return {
        "estimator_class": class_name(type(estimator)),
        "description": estimator.description,
        "references": json.dumps(references, ensure_ascii=False),
        "prior_description": json.dumps(priors, ensure_ascii=False),
    }


def estimator_of(report: xr.DataTree) -> Estimator:
    """The estimator that made a report, from the class and the settings that the report names.

    A class from outside the package must be imported already: nothing is imported because a file says so.
    """
    from bayesgroups.estimators import ESTIMATORS

    name = str(report.attrs.get("estimator_class") or report.attrs["estimator"])
    if ":" not in name and name not in {word.word for word in ESTIMATORS}:
        raise InputError(
            f"{name!r} is the name of a model of one's own, which the report does not have, so that neither its likelihood nor its "
            "priors can be computed; groups that its draws came with are kept for ArviZ, such as az.loo(report)"
        )
    try:
        return estimator_class(name)(**json.loads(str(report.attrs["settings"])))
    except (TypeError, ValueError) as problem:
        raise InputError(f"the settings of the report are not those of {name}: {problem}") from problem
