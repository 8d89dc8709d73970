"""One common contrast across strata with the weights of Mantel and Haenszel: its values, and the factor of its errors.

With weights w = n1 n2 / (n1 + n2) of the strata and values a and b of both sides there, the common difference is
sum w (a - b) / sum w, the ratio sum w a / sum w b and the odds ratio sum w a (1 - b) / sum w b (1 - a). Mantel, Haenszel (1959),
doi:10.1093/jnci/22.4.719. They are functions of the values of cells, so that draws have them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.linear_contrasts import weighted_sum
from bayesgroups.frequentist.intervals.mantel_haenszel import (
    difference_error,
    log_odds_ratio_error,
    log_ratio_error,
    stratum_weights,
)
from bayesgroups.questions.contrasts.estimates import CellEstimates
from bayesgroups.questions.contrasts.scales import Scale

Across = Literal["standardised", "mantel_haenszel"]
ERRORS = {"difference": difference_error, "ratio": log_ratio_error, "odds_ratio": log_odds_ratio_error}


@dataclass(frozen=True, eq=False)
class CommonEffect:
    """Weights (stratum, cell) of both sides in the strata that have rows of both, and weights (stratum,) of these."""

    first: FloatArray
    second: FloatArray
    weights: FloatArray

    def odds_ratio(self, values: FloatArray) -> FloatArray:
        """Common odds ratio (...) of values (..., cell); NaN where it is 0 over 0."""
        a, b = weighted_sum(self.first, values), weighted_sum(self.second, values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((a * (1 - b) @ self.weights) / (b * (1 - a) @ self.weights))

    def factor(self, cells: CellEstimates, scale: Scale) -> FloatArray:
        """Factor (cell,) of errors (of logs but for differences), as long as the standard error of counts.

        Rates of weighted or clustered rows have tables of effective counts; those that share clusters the error by their
        covariance.
        """
        a, b = weighted_sum(self.first, cells.value), weighted_sum(self.second, cells.value)
        w = self.weights / self.weights.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            if scale == "difference":
                slopes = w, w
            elif scale == "ratio":
                slopes = w / (w @ a), w / (w @ b)
            else:
                up, down = w @ (a * (1 - b)), w @ (b * (1 - a))
                slopes = w * ((1 - b) / up + b / down), w * (a / up + (1 - a) / down)
            gradient = slopes[0] @ self.first - slopes[1] @ self.second
            used = self.first.any(axis=0) | self.second.any(axis=0)
            if cells.covariance is not None:
                return np.asarray(cells.correlated_factor(np.where(used, gradient, 0.0)[None])[0])
            along = np.where(used, gradient * np.sqrt(cells.variance), 0.0)
            if not cells.rate:
                return along
            length = np.sqrt((along**2).sum())
            return along if length == 0 else np.asarray(along * (ERRORS[scale](*self._tables(cells)) / length))

    def _tables(self, cells: CellEstimates) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Successes and rows (stratum,) of both sides."""
        k1, n1, k2, n2 = (
            weighted_sum((side != 0).astype(np.float64), counts)
            for side in (self.first, self.second)
            for counts in (cells.successes, cells.count)
        )
        return k1, n1, k2, n2


def common_effect(first: FloatArray, second: FloatArray, rows: FloatArray) -> CommonEffect:
    """Common effect of sides (stratum, cell) whose weights add up to 1 in each stratum, by the rows (cell,)."""
    sizes = [(side != 0) @ rows for side in (first, second)]
    return CommonEffect(first, second, stratum_weights(sizes[0], sizes[1]))


def check_across(across: str, *, within: bool, people: bool) -> None:
    """Refusal of a word that does not exist, of a common effect without strata, and of one with another population."""
    if across == "standardised":
        return
    if not within:
        raise InputError("across='mantel_haenszel' needs strata; give within=, such as within='race'")
    if people:
        raise InputError("across='mantel_haenszel' weights strata by their rows; leave population= out")
