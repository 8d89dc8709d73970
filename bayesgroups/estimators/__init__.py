"""One frozen leaf per word, each joining a frequentist reference and a Bayesian model."""

from bayesgroups.estimators.base import Estimator as Estimator
from bayesgroups.estimators.complete_pooling import CompletePooling as CompletePooling
from bayesgroups.estimators.no_pooling import NoPooling as NoPooling
from bayesgroups.estimators.partial_pooling import PartialPooling as PartialPooling

ESTIMATORS: tuple[type[Estimator], ...] = (NoPooling, CompletePooling, PartialPooling)
"""Every estimator there is, from no pooling to the most structured."""
