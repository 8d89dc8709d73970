"""Priors of the factors of confusion cells, in words."""

from __future__ import annotations

from bayesgroups.models.shared.confusion_tree import (
    DECISION_SCALE,
    FEW_LABELS_SCALE,
    FOLLOWER_SCALE,
    OUTCOME_SCALE,
    SELECTION_SLOPE_MEAN,
    SELECTION_SLOPE_SD,
)
from bayesgroups.models.shared.judged_rate import SLOPE_SD

_FOLLOWERS = {"for": "outcomes where the decision is negative", "ppv": "outcomes where it is positive"}


def factor_prior_words(tau_scale: float | None, *, follows: str | None, correlated: bool, judged: bool = False) -> str:
    """Priors of the standard deviations of the components of every factor, and of the slope of the dependent one.

    ``tau_scale`` is the scale that was set, None for the default ones; ``follows`` the factor whose effects follow those of the
    selection rate; with ``correlated`` effects are correlated across factors, with ``judged`` outcomes depend on the judged
    rate.

    >>> factor_prior_words(0.4, follows="ppv", correlated=False).partition("; ")[2]
    'outcomes where it is positive follow the selection rate, slope ~ Normal(0.3, 0.3)'
    """
    default = f"{DECISION_SCALE:g} for decisions and {FEW_LABELS_SCALE if judged else OUTCOME_SCALE:g} for outcomes given them"
    scale = f"{tau_scale:.3g}" if tau_scale else default
    words = (
        f"half-normal priors of scale {scale} on the standard deviations of the components of the logits of the cells"
    )
    if judged:
        return f"{words}; outcomes depend on the judged rate of the subgroup, slopes ~ Normal(0, {SLOPE_SD:g})"
    if correlated:
        return f"{words}, correlated across them with an LKJ prior"
    if follows is None:
        return words
    slope = f"Normal({SELECTION_SLOPE_MEAN:g}, {SELECTION_SLOPE_SD:g})"
    besides = "" if tau_scale else f", and a scale of {FOLLOWER_SCALE:g} besides"
    return f"{words}; {_FOLLOWERS[follows]} follow the selection rate, slope ~ {slope}{besides}"
