"""How far is one subgroup from another? Differences, ratios and odds ratios with intervals, one at a time and together."""

from bayesgroups.questions.contrasts.contrast import contrasts as contrasts
