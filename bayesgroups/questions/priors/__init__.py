"""What priors say before there are data, and how much they still say afterwards."""

from bayesgroups.questions.priors.predictive import prior_predictive as prior_predictive
from bayesgroups.questions.priors.sensitivity import prior_sensitivity as prior_sensitivity
