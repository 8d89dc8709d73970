"""Disaggregated evaluation: the performance of an AI system for each group of people.

Rows reduce once to a tally per intersectional subgroup; every estimator answers twice, as a Bayesian model and as a
frequentist reference, in one report. Names load when they are first used, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bayesgroups.forwarding import MOVED_MODULES, MOVED_NAMES, install, moved_name

if TYPE_CHECKING:
    from bayesgroups import datasets, frequentist, interop, models
    from bayesgroups.cli.analysis_files import run_analysis
    from bayesgroups.data import metrics
    from bayesgroups.data.metrics import Metric
    from bayesgroups.errors import BayesgroupsError, InputError, MissingDependencyError, NotUsableError, SchemaError
    from bayesgroups.estimators import (
        CompletePooling,
        ConfusionModel,
        CrossedEffects,
        DisagreementModel,
        JamesStein,
        ModelBasedMetrics,
        NoPooling,
        PartialPooling,
        StructuredRegression,
    )
    from bayesgroups.estimators.estimate import estimate
    from bayesgroups.estimators.groups import add_groups
    from bayesgroups.frequentist.bounds import disagreement_bounds, disagreement_tally
    from bayesgroups.interop import report_from_draws, tally_from_estimator, word_errors
    from bayesgroups.questions.certification import (
        certify,
        discoveries,
        fairness_definitions,
        margins,
        ranks,
        simultaneous_intervals,
    )
    from bayesgroups.questions.compare import compare
    from bayesgroups.questions.contrasts import contrasts, impact_ratios
    from bayesgroups.questions.curves import auc_intervals, calibration_curve, roc_curve, threshold_curve
    from bayesgroups.questions.disparities.aggregation import aggregate
    from bayesgroups.questions.disparities.between_group_variance import between_group_variance
    from bayesgroups.questions.disparities.disparity import disparity
    from bayesgroups.questions.disparities.reporting import reporting_checklist
    from bayesgroups.questions.explanation.attribution import variance_attribution
    from bayesgroups.questions.explanation.nested_models import goodness_of_fit
    from bayesgroups.questions.explanation.row_models import goodness_of_fit_rows
    from bayesgroups.questions.judges import judge_corrected, rows_to_label
    from bayesgroups.questions.loo import loo
    from bayesgroups.questions.maihda.maihda import maihda
    from bayesgroups.questions.populations import PopulationSample, poststratify
    from bayesgroups.questions.priors import prior_predictive, prior_sensitivity
    from bayesgroups.questions.systems import compare_systems, leaderboard
    from bayesgroups.questions.tradeoffs.areas import auc_pfc
    from bayesgroups.questions.tradeoffs.distances import distance_to_optimum
    from bayesgroups.questions.tradeoffs.frontier import pareto_frontier
    from bayesgroups.questions.tradeoffs.selection import select_model
    from bayesgroups.questions.tradeoffs.uncertainty import compare_auc_pfc
    from bayesgroups.report.schema import open_report, save_report
    from bayesgroups.studies.calibrate import calibrate
    from bayesgroups.studies.populations import Population
    from bayesgroups.studies.resampling import study
    from bayesgroups.studies.subsampling import subsampling
    from bayesgroups.tallies import add_tallies, tally, tally_from_counts, tally_from_estimates
    from bayesgroups.tallies.files import open_tally, save_tally
    from bayesgroups.tallies.given_cells import tally_from_cells
    from bayesgroups.tallies.gold_scores import gold_score_tally
    from bayesgroups.tallies.labels import name_levels
    from bayesgroups.tallies.paired_rows import paired_tally
    from bayesgroups.tallies.two_way_clusters import two_way_clusters
    from bayesgroups.views import plots
    from bayesgroups.views.html import write_html, write_systems_html
    from bayesgroups.views.tables.citations import citations

__version__ = "0.1.0"

_NAMES = {
    "tallies": ("tally", "tally_from_counts", "tally_from_estimates", "add_tallies"),
    "data.metrics": ("Metric",),
    "estimators.estimate": ("estimate",),
    "estimators.groups": ("add_groups",),
    "estimators": (
        "NoPooling", "CompletePooling", "ConfusionModel", "CrossedEffects", "DisagreementModel", "JamesStein",
        "ModelBasedMetrics", "PartialPooling", "StructuredRegression",
    ),
    "questions.compare": ("compare",),
    "questions.loo": ("loo",),
    "questions.explanation.attribution": ("variance_attribution",),
    "questions.maihda.maihda": ("maihda",),
    "questions.explanation.nested_models": ("goodness_of_fit",),
    "questions.explanation.row_models": ("goodness_of_fit_rows",),
    "frequentist.bounds": ("disagreement_tally", "disagreement_bounds"),
    "questions.disparities.between_group_variance": ("between_group_variance",),
    "questions.disparities.disparity": ("disparity",),
    "questions.contrasts": ("impact_ratios", "contrasts"),
    "questions.certification": (
        "simultaneous_intervals", "ranks", "margins", "fairness_definitions", "discoveries", "certify",
    ),
    "studies.populations": ("Population",),
    "studies.calibrate": ("calibrate",),
    "studies.resampling": ("study",),
    "studies.subsampling": ("subsampling",),
    "questions.curves": ("auc_intervals", "calibration_curve", "roc_curve", "threshold_curve"),
    "questions.disparities.aggregation": ("aggregate",),
    "questions.disparities.reporting": ("reporting_checklist",),
    "questions.tradeoffs.areas": ("auc_pfc",),
    "questions.tradeoffs.distances": ("distance_to_optimum",),
    "questions.tradeoffs.frontier": ("pareto_frontier",),
    "questions.tradeoffs.selection": ("select_model",),
    "questions.tradeoffs.uncertainty": ("compare_auc_pfc",),
    "questions.populations": ("PopulationSample", "poststratify"),
    "questions.priors": ("prior_predictive", "prior_sensitivity"),
    "report.schema": ("save_report", "open_report"),
    "tallies.files": ("save_tally", "open_tally"),
    "tallies.labels": ("name_levels",),
    "tallies.paired_rows": ("paired_tally",),
    "tallies.two_way_clusters": ("two_way_clusters",),
    "questions.systems": ("compare_systems", "leaderboard"),
    "tallies.given_cells": ("tally_from_cells",),
    "tallies.gold_scores": ("gold_score_tally",),
    "questions.judges": ("judge_corrected", "rows_to_label"),
    "interop.scikit_learn": ("tally_from_estimator",),
    "interop.draws": ("report_from_draws",),
    "interop.transcripts": ("word_errors",),
    "cli.analysis_files": ("run_analysis",),
    "views.html": ("write_html", "write_systems_html"),
    "views.tables.citations": ("citations",),
    "errors": ("BayesgroupsError", "InputError", "MissingDependencyError", "NotUsableError", "SchemaError"),
}  # fmt: skip
"""Names of the package by the modules in which they are defined."""
_HOME = {name: home for home, names in _NAMES.items() for name in names}
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
    "contrasts", "disparity", "between_group_variance", "variance_attribution", "maihda", "goodness_of_fit",
    "goodness_of_fit_rows", "aggregate", "impact_ratios", "reporting_checklist", "poststratify", "PopulationSample",
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
