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
    from bayesgroups import neighbours as neighbours
    from bayesgroups import plots as plots
    from bayesgroups.analyses import run_analysis as run_analysis
    from bayesgroups.attribution import variance_attribution as variance_attribution
    from bayesgroups.certification import certify as certify
    from bayesgroups.certification import discoveries as discoveries
    from bayesgroups.certification import fairness_definitions as fairness_definitions
    from bayesgroups.certification import margins as margins
    from bayesgroups.certification import ranks as ranks
    from bayesgroups.certification import simultaneous_intervals as simultaneous_intervals
    from bayesgroups.comparison import compare as compare
    from bayesgroups.curves import auc_intervals as auc_intervals
    from bayesgroups.curves import calibration_curve as calibration_curve
    from bayesgroups.curves import roc_curve as roc_curve
    from bayesgroups.curves import threshold_curve as threshold_curve
    from bayesgroups.disagreement import disagreement_bounds as disagreement_bounds
    from bayesgroups.disagreement import disagreement_tally as disagreement_tally
    from bayesgroups.disparities.aggregation import aggregate as aggregate
    from bayesgroups.disparities.between_group_variance import between_group_variance as between_group_variance
    from bayesgroups.disparities.disparity import disparity as disparity
    from bayesgroups.disparities.reporting import reporting_checklist as reporting_checklist
    from bayesgroups.errors import BayesgroupsError as BayesgroupsError
    from bayesgroups.errors import InputError as InputError
    from bayesgroups.errors import MissingDependencyError as MissingDependencyError
    from bayesgroups.errors import NotUsableError as NotUsableError
    from bayesgroups.errors import SchemaError as SchemaError
    from bayesgroups.estimation import estimate as estimate
    from bayesgroups.estimators import CompletePooling as CompletePooling
    from bayesgroups.estimators import ConfusionModel as ConfusionModel
    from bayesgroups.estimators import CrossedEffects as CrossedEffects
    from bayesgroups.estimators import DisagreementModel as DisagreementModel
    from bayesgroups.estimators import JamesStein as JamesStein
    from bayesgroups.estimators import ModelBasedMetrics as ModelBasedMetrics
    from bayesgroups.estimators import NoPooling as NoPooling
    from bayesgroups.estimators import PartialPooling as PartialPooling
    from bayesgroups.estimators import StructuredRegression as StructuredRegression
    from bayesgroups.html import write_html as write_html
    from bayesgroups.metrics import Metric as Metric
    from bayesgroups.neighbours import report_from_draws as report_from_draws
    from bayesgroups.neighbours import tally_from_estimator as tally_from_estimator
    from bayesgroups.nested_models import goodness_of_fit as goodness_of_fit
    from bayesgroups.priors import prior_predictive as prior_predictive
    from bayesgroups.priors import prior_sensitivity as prior_sensitivity
    from bayesgroups.report import open_report as open_report
    from bayesgroups.report import save_report as save_report
    from bayesgroups.studies.populations import Population as Population
    from bayesgroups.studies.resampling import study as study
    from bayesgroups.tallies import add_tallies as add_tallies
    from bayesgroups.tallies import tally as tally
    from bayesgroups.tallies import tally_from_counts as tally_from_counts
    from bayesgroups.tallies import tally_from_estimates as tally_from_estimates
    from bayesgroups.tallies.auc_variances import auc_as_rate as auc_as_rate
    from bayesgroups.tallies.auc_variances import with_auc_variance as with_auc_variance
    from bayesgroups.tallies.score_histograms import auc_error_bound as auc_error_bound
    from bayesgroups.tallies.score_histograms import bin_scores as bin_scores
    from bayesgroups.tally_files import open_tally as open_tally
    from bayesgroups.tally_files import save_tally as save_tally
    from bayesgroups.tradeoffs.areas import auc_pfc as auc_pfc
    from bayesgroups.tradeoffs.distances import distance_to_optimum as distance_to_optimum
    from bayesgroups.tradeoffs.frontier import pareto_frontier as pareto_frontier
    from bayesgroups.tradeoffs.reports import points_from_reports as points_from_reports
    from bayesgroups.tradeoffs.selection import select_model as select_model
    from bayesgroups.tradeoffs.uncertainty import compare_auc_pfc as compare_auc_pfc

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
    "ConfusionModel": "estimators",
    "CrossedEffects": "estimators",
    "DisagreementModel": "estimators",
    "JamesStein": "estimators",
    "ModelBasedMetrics": "estimators",
    "PartialPooling": "estimators",
    "StructuredRegression": "estimators",
    "compare": "comparison",
    "variance_attribution": "attribution",
    "goodness_of_fit": "nested_models",
    "disagreement_tally": "disagreement",
    "disagreement_bounds": "disagreement",
    "between_group_variance": "disparities.between_group_variance",
    "disparity": "disparities.disparity",
    "simultaneous_intervals": "certification",
    "ranks": "certification",
    "margins": "certification",
    "fairness_definitions": "certification",
    "discoveries": "certification",
    "certify": "certification",
    "Population": "studies.populations",
    "study": "studies.resampling",
    "auc_intervals": "curves",
    "calibration_curve": "curves",
    "roc_curve": "curves",
    "threshold_curve": "curves",
    "auc_as_rate": "tallies.auc_variances",
    "with_auc_variance": "tallies.auc_variances",
    "auc_error_bound": "tallies.score_histograms",
    "bin_scores": "tallies.score_histograms",
    "aggregate": "disparities.aggregation",
    "reporting_checklist": "disparities.reporting",
    "auc_pfc": "tradeoffs.areas",
    "distance_to_optimum": "tradeoffs.distances",
    "pareto_frontier": "tradeoffs.frontier",
    "select_model": "tradeoffs.selection",
    "points_from_reports": "tradeoffs.reports",
    "compare_auc_pfc": "tradeoffs.uncertainty",
    "prior_predictive": "priors",
    "prior_sensitivity": "priors",
    "save_report": "report",
    "open_report": "report",
    "save_tally": "tally_files",
    "open_tally": "tally_files",
    "tally_from_estimator": "neighbours.scikit_learn",
    "report_from_draws": "neighbours.draws",
    "run_analysis": "analyses",
    "write_html": "html",
    "BayesgroupsError": "errors",
    "InputError": "errors",
    "MissingDependencyError": "errors",
    "NotUsableError": "errors",
    "SchemaError": "errors",
}
_MODULES = ("datasets", "frequentist", "metrics", "models", "neighbours", "plots")

__all__ = [
    "BayesgroupsError",
    "CompletePooling",
    "ConfusionModel",
    "CrossedEffects",
    "DisagreementModel",
    "InputError",
    "JamesStein",
    "Metric",
    "MissingDependencyError",
    "ModelBasedMetrics",
    "NoPooling",
    "NotUsableError",
    "PartialPooling",
    "Population",
    "SchemaError",
    "StructuredRegression",
    "__version__",
    "add_tallies",
    "aggregate",
    "auc_as_rate",
    "auc_error_bound",
    "auc_intervals",
    "auc_pfc",
    "between_group_variance",
    "bin_scores",
    "calibration_curve",
    "certify",
    "compare",
    "compare_auc_pfc",
    "datasets",
    "disagreement_bounds",
    "disagreement_tally",
    "discoveries",
    "disparity",
    "distance_to_optimum",
    "estimate",
    "fairness_definitions",
    "frequentist",
    "goodness_of_fit",
    "margins",
    "metrics",
    "models",
    "neighbours",
    "open_report",
    "open_tally",
    "pareto_frontier",
    "plots",
    "points_from_reports",
    "prior_predictive",
    "prior_sensitivity",
    "ranks",
    "report_from_draws",
    "reporting_checklist",
    "roc_curve",
    "run_analysis",
    "save_report",
    "save_tally",
    "select_model",
    "simultaneous_intervals",
    "study",
    "tally",
    "tally_from_counts",
    "tally_from_estimates",
    "tally_from_estimator",
    "threshold_curve",
    "variance_attribution",
    "with_auc_variance",
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
