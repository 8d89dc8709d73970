"""Distances of one subgroup from another: differences, ratios and odds ratios with intervals, one at a time and together."""

from bayesgroups.questions.contrasts.contrast import contrasts as contrasts
from bayesgroups.questions.contrasts.impact_ratios import impact_ratios as impact_ratios
