"""MAIHDA: differences between intersectional strata, split into main effects and interactions."""

from bayesgroups.questions.maihda.maihda import maihda as maihda
