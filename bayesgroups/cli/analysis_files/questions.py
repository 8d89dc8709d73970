"""The questions that an analysis can ask: public functions by their names, their settings by their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

import xarray as xr

from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.bounds import disagreement_bounds
from bayesgroups.questions.certification import (
    certify,
    discoveries,
    fairness_definitions,
    margins,
    minimum_detectable_gap,
    probability_of_finding_worst,
    ranks,
    rows_to_certify,
    rows_to_narrow,
    simultaneous_intervals,
)
from bayesgroups.questions.contrasts import contrasts, impact_ratios
from bayesgroups.questions.curves import auc_intervals, calibration_curve, roc_curve, threshold_curve
from bayesgroups.questions.disparities.between_group_variance import between_group_variance
from bayesgroups.questions.disparities.disparity import disparity
from bayesgroups.questions.disparities.posterior_variance import posterior_variance
from bayesgroups.questions.explanation.attribution import variance_attribution
from bayesgroups.questions.explanation.nested_models import goodness_of_fit
from bayesgroups.questions.loo import loo
from bayesgroups.questions.maihda.maihda import maihda
from bayesgroups.questions.priors import prior_sensitivity
from bayesgroups.questions.systems import compare_systems, leaderboard

Question = Callable[..., xr.Dataset]
Kind = Literal["tally", "report", "either"]

QUESTIONS: tuple[Question, ...] = (
    disparity, between_group_variance, posterior_variance, goodness_of_fit, variance_attribution, maihda, certify,
    simultaneous_intervals, ranks, discoveries, margins, fairness_definitions, rows_to_certify, rows_to_narrow,
    minimum_detectable_gap, probability_of_finding_worst, threshold_curve, roc_curve, calibration_curve, auc_intervals,
    disagreement_bounds, prior_sensitivity, loo, contrasts, impact_ratios,
    compare_systems, leaderboard,
)  # fmt: skip
"""Every function that takes one tally or report and gives a Dataset."""

_OF_TALLIES = (threshold_curve, roc_curve, calibration_curve, compare_systems, leaderboard)
"""Questions of a tally that call it their source: curves also take rows, and a tally of systems is no other tally."""
_NOT_SETTINGS = frozenset({"truth", "by", "y_true", "y_score", "positive", "population"})
"""Arguments that hold data or say what is in rows; a file of an analysis has a tally by then."""


def question_named(name: str) -> Question:
    """The public function of a name; an error has the nearest one."""
    questions = {question.__name__: question for question in QUESTIONS}
    if name not in questions:
        raise InputError(f"question {name!r} does not exist; {near_misses(name, questions)}")
    return questions[name]


def kind_of(question: Question) -> Kind:
    """Input of a question: a tally, a report or either.

    >>> kind_of(disparity), kind_of(goodness_of_fit), kind_of(variance_attribution)
    ('either', 'tally', 'report')
    """
    first = next(iter(inspect.signature(question).parameters))
    if first == "report":
        return "report"
    return "tally" if first == "tally" or question in _OF_TALLIES else "either"


def settings_of(question: Question) -> list[str]:
    """Names of the settings of a question.

    >>> settings_of(auc_intervals)
    ['interval', 'variance', 'level']
    """
    return [name for name in list(inspect.signature(question).parameters)[1:] if name not in _NOT_SETTINGS]


def ask(question: Question, source: xr.Dataset | xr.DataTree, settings: Mapping[str, Any], *, seed: int) -> xr.Dataset:
    """Put a question, with the seed of the analysis unless it has its own."""
    given: dict[str, Any] = dict(settings)
    if "seed" in inspect.signature(question).parameters:
        given.setdefault("seed", seed)
    return question(source, **given)
