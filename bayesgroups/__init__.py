"""Disaggregated evaluation: the performance of an AI system for each group of people.

Rows reduce once to a tally per intersectional subgroup; every estimator answers twice, as a Bayesian model and as a
frequentist reference, in one report. Names load when they are first used, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bayesgroups.forwarding import MOVED_MODULES, MOVED_NAMES, install, moved_name

if TYPE_CHECKING:
    from bayesgroups import datasets as datasets
    from bayesgroups import frequentist as frequentist
    from bayesgroups import interop as interop
    from bayesgroups import models as models
    from bayesgroups.cli.analysis_files import run_analysis as run_analysis
    from bayesgroups.data import metrics as metrics
    from bayesgroups.data.metrics import Metric as Metric
    from bayesgroups.errors import BayesgroupsError as BayesgroupsError
    from bayesgroups.errors import InputError as InputError
    from bayesgroups.errors import MissingDependencyError as MissingDependencyError
    from bayesgroups.errors import NotUsableError as NotUsableError
    from bayesgroups.errors import SchemaError as SchemaError
    from bayesgroups.estimators import CompletePooling as CompletePooling
    from bayesgroups.estimators import ConfusionModel as ConfusionModel
    from bayesgroups.estimators import CrossedEffects as CrossedEffects
    from bayesgroups.estimators import DisagreementModel as DisagreementModel
    from bayesgroups.estimators import JamesStein as JamesStein
    from bayesgroups.estimators import ModelBasedMetrics as ModelBasedMetrics
    from bayesgroups.estimators import NoPooling as NoPooling
    from bayesgroups.estimators import PartialPooling as PartialPooling
    from bayesgroups.estimators import StructuredRegression as StructuredRegression
    from bayesgroups.estimators.estimate import estimate as estimate
    from bayesgroups.estimators.groups import add_groups as add_groups
    from bayesgroups.frequentist.bounds import disagreement_bounds as disagreement_bounds
    from bayesgroups.frequentist.bounds import disagreement_tally as disagreement_tally
    from bayesgroups.interop import report_from_draws as report_from_draws
    from bayesgroups.interop import tally_from_estimator as tally_from_estimator
    from bayesgroups.interop import word_errors as word_errors
    from bayesgroups.questions.certification import certify as certify
    from bayesgroups.questions.certification import discoveries as discoveries
    from bayesgroups.questions.certification import fairness_definitions as fairness_definitions
    from bayesgroups.questions.certification import margins as margins
    from bayesgroups.questions.certification import ranks as ranks
    from bayesgroups.questions.certification import simultaneous_intervals as simultaneous_intervals
    from bayesgroups.questions.compare import compare as compare
    from bayesgroups.questions.contrasts import contrasts as contrasts
    from bayesgroups.questions.contrasts import impact_ratios as impact_ratios
    from bayesgroups.questions.curves import auc_intervals as auc_intervals
    from bayesgroups.questions.curves import calibration_curve as calibration_curve
    from bayesgroups.questions.curves import roc_curve as roc_curve
    from bayesgroups.questions.curves import threshold_curve as threshold_curve
    from bayesgroups.questions.disparities.aggregation import aggregate as aggregate
    from bayesgroups.questions.disparities.between_group_variance import (
        between_group_variance as between_group_variance,
    )
    from bayesgroups.questions.disparities.disparity import disparity as disparity
    from bayesgroups.questions.disparities.reporting import reporting_checklist as reporting_checklist
    from bayesgroups.questions.explanation.attribution import variance_attribution as variance_attribution
    from bayesgroups.questions.explanation.nested_models import goodness_of_fit as goodness_of_fit
    from bayesgroups.questions.judges import judge_corrected as judge_corrected
    from bayesgroups.questions.judges import rows_to_label as rows_to_label
    from bayesgroups.questions.loo import loo as loo
    from bayesgroups.questions.maihda.maihda import maihda as maihda
    from bayesgroups.questions.populations import PopulationSample as PopulationSample
    from bayesgroups.questions.populations import poststratify as poststratify
    from bayesgroups.questions.priors import prior_predictive as prior_predictive
    from bayesgroups.questions.priors import prior_sensitivity as prior_sensitivity
    from bayesgroups.questions.systems import compare_systems as compare_systems
    from bayesgroups.questions.systems import leaderboard as leaderboard
    from bayesgroups.questions.tradeoffs.areas import auc_pfc as auc_pfc
    from bayesgroups.questions.tradeoffs.distances import distance_to_optimum as distance_to_optimum
    from bayesgroups.questions.tradeoffs.frontier import pareto_frontier as pareto_frontier
    from bayesgroups.questions.tradeoffs.selection import select_model as select_model
    from bayesgroups.questions.tradeoffs.uncertainty import compare_auc_pfc as compare_auc_pfc
    from bayesgroups.report.schema import open_report as open_report
    from bayesgroups.report.schema import save_report as save_report
    from bayesgroups.studies.calibrate import calibrate as calibrate
    from bayesgroups.studies.populations import Population as Population
    from bayesgroups.studies.resampling import study as study
    from bayesgroups.studies.subsampling import subsampling as subsampling
    from bayesgroups.tallies import add_tallies as add_tallies
    from bayesgroups.tallies import tally as tally
    from bayesgroups.tallies import tally_from_counts as tally_from_counts
    from bayesgroups.tallies import tally_from_estimates as tally_from_estimates
    from bayesgroups.tallies.files import open_tally as open_tally
    from bayesgroups.tallies.files import save_tally as save_tally
    from bayesgroups.tallies.given_cells import tally_from_cells as tally_from_cells
    from bayesgroups.tallies.gold_scores import gold_score_tally as gold_score_tally
    from bayesgroups.tallies.labels import name_levels as name_levels
    from bayesgroups.tallies.paired_rows import paired_tally as paired_tally
    from bayesgroups.tallies.two_way_clusters import two_way_clusters as two_way_clusters
    from bayesgroups.views import plots as plots
    from bayesgroups.views.html import write_html as write_html
    from bayesgroups.views.html import write_systems_html as write_systems_html
    from bayesgroups.views.tables.citations import citations as citations

__version__ = "0.1.0"

_HOME = {
    "tally": "tallies",
    "tally_from_counts": "tallies",
    "tally_from_estimates": "tallies",
    "add_tallies": "tallies",
    "Metric": "data.metrics",
    "estimate": "estimators.estimate",
    "add_groups": "estimators.groups",
    "NoPooling": "estimators",
    "CompletePooling": "estimators",
    "ConfusionModel": "estimators",
    "CrossedEffects": "estimators",
    "DisagreementModel": "estimators",
    "JamesStein": "estimators",
    "ModelBasedMetrics": "estimators",
    "PartialPooling": "estimators",
    "StructuredRegression": "estimators",
    "compare": "questions.compare",
    "loo": "questions.loo",
    "variance_attribution": "questions.explanation.attribution",
    "maihda": "questions.maihda.maihda",
    "goodness_of_fit": "questions.explanation.nested_models",
    "disagreement_tally": "frequentist.bounds",
    "disagreement_bounds": "frequentist.bounds",
    "between_group_variance": "questions.disparities.between_group_variance",
    "disparity": "questions.disparities.disparity",
    "impact_ratios": "questions.contrasts",
    "simultaneous_intervals": "questions.certification",
    "ranks": "questions.certification",
    "margins": "questions.certification",
    "fairness_definitions": "questions.certification",
    "discoveries": "questions.certification",
    "certify": "questions.certification",
    "contrasts": "questions.contrasts",
    "Population": "studies.populations",
    "calibrate": "studies.calibrate",
    "study": "studies.resampling",
    "subsampling": "studies.subsampling",
    "auc_intervals": "questions.curves",
    "calibration_curve": "questions.curves",
    "roc_curve": "questions.curves",
    "threshold_curve": "questions.curves",
    "aggregate": "questions.disparities.aggregation",
    "reporting_checklist": "questions.disparities.reporting",
    "auc_pfc": "questions.tradeoffs.areas",
    "distance_to_optimum": "questions.tradeoffs.distances",
    "pareto_frontier": "questions.tradeoffs.frontier",
    "select_model": "questions.tradeoffs.selection",
    "compare_auc_pfc": "questions.tradeoffs.uncertainty",
    "PopulationSample": "questions.populations",
    "poststratify": "questions.populations",
    "prior_predictive": "questions.priors",
    "prior_sensitivity": "questions.priors",
    "save_report": "report.schema",
    "open_report": "report.schema",
    "save_tally": "tallies.files",
    "open_tally": "tallies.files",
    "name_levels": "tallies.labels",
    "paired_tally": "tallies.paired_rows",
    "two_way_clusters": "tallies.two_way_clusters",
    "compare_systems": "questions.systems",
    "leaderboard": "questions.systems",
    "tally_from_cells": "tallies.given_cells",
    "gold_score_tally": "tallies.gold_scores",
    "judge_corrected": "questions.judges",
    "rows_to_label": "questions.judges",
    "tally_from_estimator": "interop.scikit_learn",
    "report_from_draws": "interop.draws",
    "word_errors": "interop.transcripts",
    "run_analysis": "cli.analysis_files",
    "write_html": "views.html",
    "write_systems_html": "views.html",
    "citations": "views.tables.citations",
    "BayesgroupsError": "errors",
    "InputError": "errors",
    "MissingDependencyError": "errors",
    "NotUsableError": "errors",
    "SchemaError": "errors",
}
_MODULES = {
    "datasets": "datasets",
    "frequentist": "frequentist",
    "interop": "interop",
    "metrics": "data.metrics",
    "models": "models",
    "plots": "views.plots",
}

__all__ = [  # noqa: RUF022
    # Tally
    "tally", "tally_from_counts", "tally_from_estimates", "tally_from_cells", "tally_from_estimator", "disagreement_tally",
    "gold_score_tally", "paired_tally", "two_way_clusters", "add_tallies", "save_tally", "open_tally", "name_levels",
    "word_errors", "Metric", "metrics",
    # Estimators
    "estimate", "NoPooling", "CompletePooling", "PartialPooling", "JamesStein", "StructuredRegression",
    "CrossedEffects", "ConfusionModel", "ModelBasedMetrics", "DisagreementModel", "models", "frequentist",
    # Report
    "compare", "loo", "save_report", "open_report", "add_groups", "report_from_draws", "write_html", "write_systems_html",
    "citations", "plots", "run_analysis", "interop",
    # Questions
    "contrasts", "disparity", "between_group_variance", "variance_attribution", "maihda", "goodness_of_fit", "aggregate",
    "impact_ratios", "reporting_checklist", "poststratify", "PopulationSample",
    "certify", "discoveries", "fairness_definitions", "margins", "ranks", "simultaneous_intervals",
    "auc_intervals", "calibration_curve", "roc_curve", "threshold_curve", "disagreement_bounds",
    "auc_pfc", "compare_auc_pfc", "distance_to_optimum", "pareto_frontier", "select_model",
    "prior_predictive", "prior_sensitivity", "compare_systems", "leaderboard",
    "judge_corrected", "rows_to_label",
    # Studies
    "study", "calibrate", "subsampling", "Population", "datasets",
    # Errors
    "BayesgroupsError", "InputError", "MissingDependencyError", "NotUsableError", "SchemaError",
    "__version__",
]  # fmt: skip

install()


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"bayesgroups.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"bayesgroups.{_MODULES[name]}")
    if name in MOVED_NAMES:
        return moved_name(name)
    if name in MOVED_MODULES:
        return import_module(f"bayesgroups.{name}")
    raise AttributeError(f"module 'bayesgroups' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
