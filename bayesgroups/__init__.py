"""How well an AI system works for each group of people.

Rows reduce once to a tally per intersectional subgroup; every estimator answers twice, as a Bayesian model and as a
frequentist reference, in one report. Names load when they are first used, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesgroups import datasets as datasets
    from bayesgroups import frequentist as frequentist
    from bayesgroups import metrics as metrics
    from bayesgroups import models as models
    from bayesgroups import plots as plots
    from bayesgroups.attribution import variance_attribution as variance_attribution
    from bayesgroups.comparison import compare as compare
    from bayesgroups.errors import BayesgroupsError as BayesgroupsError
    from bayesgroups.errors import InputError as InputError
    from bayesgroups.errors import MissingDependencyError as MissingDependencyError
    from bayesgroups.errors import NotUsableError as NotUsableError
    from bayesgroups.errors import SchemaError as SchemaError
    from bayesgroups.estimation import estimate as estimate
    from bayesgroups.estimators import CompletePooling as CompletePooling
    from bayesgroups.estimators import CrossedEffects as CrossedEffects
    from bayesgroups.estimators import JamesStein as JamesStein
    from bayesgroups.estimators import NoPooling as NoPooling
    from bayesgroups.estimators import PartialPooling as PartialPooling
    from bayesgroups.estimators import StructuredRegression as StructuredRegression
    from bayesgroups.html import write_html as write_html
    from bayesgroups.metrics import Metric as Metric
    from bayesgroups.nested_models import goodness_of_fit as goodness_of_fit
    from bayesgroups.report import open_report as open_report
    from bayesgroups.report import save_report as save_report
    from bayesgroups.studies.populations import Population as Population
    from bayesgroups.studies.resampling import study as study
    from bayesgroups.tallies import add_tallies as add_tallies
    from bayesgroups.tallies import tally as tally
    from bayesgroups.tallies import tally_from_counts as tally_from_counts
    from bayesgroups.tallies import tally_from_estimates as tally_from_estimates

__version__ = "0.1.0"

_HOME = {
    "tally": "tallies",
    "tally_from_counts": "tallies",
    "tally_from_estimates": "tallies",
    "add_tallies": "tallies",
    "Metric": "metrics",
    "estimate": "estimation",
    "NoPooling": "estimators",
    "CompletePooling": "estimators",
    "CrossedEffects": "estimators",
    "JamesStein": "estimators",
    "PartialPooling": "estimators",
    "StructuredRegression": "estimators",
    "compare": "comparison",
    "variance_attribution": "attribution",
    "goodness_of_fit": "nested_models",
    "Population": "studies.populations",
    "study": "studies.resampling",
    "save_report": "report",
    "open_report": "report",
    "write_html": "html",
    "BayesgroupsError": "errors",
    "InputError": "errors",
    "MissingDependencyError": "errors",
    "NotUsableError": "errors",
    "SchemaError": "errors",
}
_MODULES = ("datasets", "frequentist", "metrics", "models", "plots")

__all__ = [
    "BayesgroupsError",
    "CompletePooling",
    "CrossedEffects",
    "InputError",
    "JamesStein",
    "Metric",
    "MissingDependencyError",
    "NoPooling",
    "NotUsableError",
    "PartialPooling",
    "Population",
    "SchemaError",
    "StructuredRegression",
    "__version__",
    "add_tallies",
    "compare",
    "datasets",
    "estimate",
    "frequentist",
    "goodness_of_fit",
    "metrics",
    "models",
    "open_report",
    "plots",
    "save_report",
    "study",
    "tally",
    "tally_from_counts",
    "tally_from_estimates",
    "variance_attribution",
    "write_html",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"bayesgroups.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"bayesgroups.{name}")
    raise AttributeError(f"module 'bayesgroups' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
