"""Bounds of one rate from shares of agreement and disagreement, as functions on arrays.

With a_k = P(y = k, z = k) and d_k = P(y = k, z != k) for label k within a subgroup, the data say nothing of where the
disagreement d_l at another label l goes, except that it stays at label l. So P(z = k, y = l) is anything in [0, d_l],
each l on its own, if there is a third label to take the rest; with two labels it is d_l itself.

Arrays have the label on the last axis but one and the subgroup on the last; axes before those (critics, draws) pass
through. Shares may be given as counts: every rate is a ratio.

References
----------
Telukunta, Nadendla, fairness evaluation from non-expert disagreement feedback, Props 1-5; where ``sharp`` departs from it,
see `bayesgroups.tallies.disagreement_notions.ERRATA`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.disagreement_notions import Form, Notion


@dataclass(frozen=True)
class Bounds:
    """Smallest and largest value of a rate, arrays (..., label, subgroup); NaN where it is undefined."""

    lower: FloatArray
    upper: FloatArray

    @property
    def midpoint(self) -> FloatArray:
        """Half way between the ends, the value with the smallest worst error."""
        return (self.lower + self.upper) / 2


def bounds(agree: FloatArray, disagree: FloatArray, notion: Notion, form: Form = "sharp") -> Bounds:
    """Bounds (..., label, subgroup) of the rate of one notion, with one label for ``accuracy_equality``.

    Shares or counts of agreement and disagreement have the label that the system gave, at least two of them. ``form`` is the
    identified set, or the formula as printed, errors included. A rate whose condition certainly has probability 0 is NaN; where
    that probability may be 0 the bounds are those of the tables in which it is not.
    """
    if notion == "accuracy_equality":
        right, wrong = agree.sum(axis=-2, keepdims=True), disagree.sum(axis=-2, keepdims=True)
        return _exactly(_ratio(right, right + wrong))
    if notion == "calibration":
        return _exactly(_ratio(agree, agree + disagree))
    if form == "published":
        return _published(agree, disagree, notion)
    if notion == "predictive_equality":
        return _sharp_predictive(agree, disagree)
    opportunity = _sharp_opportunity(agree, disagree)
    return opportunity if notion == "equal_opportunity" else Bounds(1 - opportunity.upper, 1 - opportunity.lower)


def sum_others(values: FloatArray) -> FloatArray:
    """The sum over all other labels, for each label."""
    # Summed, not subtracted from the total: a difference would leave rounding where the sum is 0.
    swap = 1.0 - np.eye(values.shape[-2])
    return np.asarray(swap @ values, dtype=np.float64)


def _sharp_opportunity(agree: FloatArray, disagree: FloatArray) -> Bounds:
    """P(y = k | z = k) = a_k / (a_k + what other labels send to k)."""
    sent = sum_others(disagree)
    lower = _ratio(agree, agree + sent)
    if agree.shape[-2] == 2:
        return _exactly(lower)
    # With nothing sent the rate is 1, unless nobody has k in mind.
    return Bounds(lower, np.where(agree > 0, 1.0, lower))


def _sharp_predictive(agree: FloatArray, disagree: FloatArray) -> Bounds:
    """P(y = k | z != k) = d_k / (d_k + what stays away from k at other labels)."""
    upper = _ratio(disagree, disagree + sum_others(agree))
    if agree.shape[-2] == 2:
        return _exactly(upper)
    lower = _ratio(disagree, disagree + sum_others(agree + disagree))
    # Nothing of d_k and only disagreement elsewhere: 0 wherever the rate exists at all.
    return Bounds(lower, np.where(np.isnan(upper), lower, upper))


def _published(agree: FloatArray, disagree: FloatArray, notion: Notion) -> Bounds:
    """The formulas as printed, with 1 for every upper end."""
    rest = sum_others(agree + disagree)
    numerator, base = {
        "equal_opportunity": (agree, agree),
        "predictive_equality": (disagree, disagree),
        "overall_misclassification": (rest, agree),
    }[notion]
    lower = _ratio(numerator, base + rest)
    return Bounds(lower, np.where(np.isnan(lower), np.nan, 1.0))


def _exactly(rate: FloatArray) -> Bounds:
    return Bounds(rate, rate)


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    some = denominator > 0
    return np.where(some, numerator / np.where(some, denominator, 1.0), np.nan)
