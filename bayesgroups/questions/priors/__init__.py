"""Prior predictive distributions, and the sensitivity of a posterior to its priors."""

from bayesgroups.questions.priors.predictive import prior_predictive as prior_predictive
from bayesgroups.questions.priors.sensitivity import prior_sensitivity as prior_sensitivity
