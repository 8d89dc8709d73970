"""One frozen class per estimator, each joining a frequentist reference and a Bayesian model."""

from bayesgroups.estimators.base import Estimator as Estimator
from bayesgroups.estimators.complete_pooling import CompletePooling as CompletePooling
from bayesgroups.estimators.confusion import ConfusionModel as ConfusionModel
from bayesgroups.estimators.crossed_effects import CrossedEffects as CrossedEffects
from bayesgroups.estimators.disagreement import DisagreementModel as DisagreementModel
from bayesgroups.estimators.james_stein import JamesStein as JamesStein
from bayesgroups.estimators.model_based_metrics import ModelBasedMetrics as ModelBasedMetrics
from bayesgroups.estimators.no_pooling import NoPooling as NoPooling
from bayesgroups.estimators.partial_pooling import PartialPooling as PartialPooling
from bayesgroups.estimators.structured_regression import StructuredRegression as StructuredRegression

ESTIMATORS: tuple[type[Estimator], ...] = (
    NoPooling, CompletePooling, JamesStein, PartialPooling, CrossedEffects, StructuredRegression,
    ModelBasedMetrics, ConfusionModel, DisagreementModel,
)  # fmt: skip
"""Every estimator there is, from no pooling to the most structured."""
