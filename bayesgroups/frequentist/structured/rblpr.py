"""Bootstrap lasso + partial ridge: intervals for the mean of every subgroup after a lasso.

Around the fit of least squares on the selected columns, estimates are drawn again; each draw repeats lasso and
partial ridge. In that world the truth is the fit they were drawn around, so the distance of the draws from it
imitates the distance of the partial ridge from the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.frequentist.structured.linear import RANK, centred, line
from bayesgroups.frequentist.structured.partial_ridge import Scale, lasso_ols, penalised
from bayesgroups.frequentist.structured.together import solve_together

Errors = Literal["known_variance", "residual"]


@dataclass(frozen=True)
class Bootstrap:
    """Fits and draws, at the features that were asked for.

    ``ols`` and ``ridge`` (subgroup,) are least squares on the selected columns and partial ridge, ``draws`` (replicate,
    subgroup) partial ridge of the estimates drawn again.
    """

    ols: FloatArray
    ridge: FloatArray
    draws: FloatArray

    @property
    def std_error(self) -> FloatArray:
        """Standard deviation of the draws, (subgroup,)."""
        return np.asarray(self.draws.std(axis=0, ddof=1))


def saturated(x: FloatArray, z: FloatArray, w: FloatArray, selected: BoolArray) -> bool:
    """True if least squares on the selected columns leaves no residuals.

    With an indicator for every subgroup a small penalty lets it reproduce every estimate, where several have the same one also with
    degrees of freedom left; a bootstrap of residuals of 0 claims certainty.
    """
    residual = np.sqrt(w) * (z - lasso_ols(x, z, w, selected).at(x))
    return bool(np.abs(residual).max() <= RANK * np.abs(np.sqrt(w) * z).max())


def run(
    x: FloatArray,
    z: FloatArray,
    w: FloatArray,
    penalty: float,
    rng: np.random.Generator,
    *,
    selected: BoolArray,
    at: FloatArray | None = None,
    errors: Errors = "known_variance",
    scale: Scale = "variance",
    replicates: int = 500,
) -> Bootstrap:
    """Estimates drawn again, and lasso and partial ridge of each draw, at one penalty.

    ``selected`` (column,) are the columns that the lasso of the estimates keeps.

    Answers are for the features ``at`` (any, column), those of ``x`` by default. Errors are drawn from the normal law
    with the sampling variances, or with replacement from the centred residuals of least squares on the scale where all
    subgroups have one variance; residuals are drawn even where a selection is `saturated` and they are nothing: see to
    that before. InputError if the errors do not exist, there are fewer than two replicates, or an argument does not fit.

    Liu, Xu, Li (2020), Statistica Sinica 30, 1333-1355 (residual bootstrap, equal weights); Herlihy, Truong,
    Chouldechova, Dudik (2024), section 4.1. Weights, and errors of known variance, are our choice.
    """
    if errors not in get_args(Errors):
        raise InputError(f"errors={errors!r} does not exist; it is 'known_variance' or 'residual'")
    if replicates < 2:
        raise InputError(f"replicates={replicates} must be 2 or more")
    points = x if at is None else at
    of = centred(x, w)
    mean, y = of.response(z)
    ols = lasso_ols(x, z, w, selected)
    fitted = ols.at(x)
    if errors == "residual":
        residual = np.sqrt(w) * (z - fitted)
        noise = rng.choice(residual - residual.mean(), size=(replicates, len(z)))
    else:
        noise = rng.standard_normal((replicates, len(z)))
    again_mean, again = of.response(fitted + noise / np.sqrt(w))
    chosen = solve_together(of, again, penalty) != 0
    coefficients = np.empty_like(chosen, dtype=np.float64)
    partial = penalised(of, scale)
    patterns, which = np.unique(chosen, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        members = np.flatnonzero(which.ravel() == i)
        coefficients[members] = partial.coefficient(again[members], pattern)
    draws = again_mean[:, None] + coefficients @ (points - of.mean).T
    ridge = line(of, float(mean), partial.coefficient(y[None], selected)[0])
    return Bootstrap(ols.at(points), ridge.at(points), draws)


def interval(bootstrap: Bootstrap, level: float) -> Interval:
    """Interval of a subgroup's mean: partial ridge, less the quantiles of its error in the bootstrap.

    ridge + ols - upper quantile, ridge + ols - lower quantile, arrays (subgroup,).

    >>> draws = np.array([[0.0], [0.5], [1.0]])
    >>> interval(Bootstrap(np.array([0.25]), np.array([0.5]), draws), 0.5)
    Interval(lower=array([0.]), upper=array([0.5]))
    """
    outside = tail(level)
    low, high = np.quantile(bootstrap.draws, [outside / 2, 1 - outside / 2], axis=0)
    centre = bootstrap.ridge + bootstrap.ols
    return Interval(centre - high, centre - low)
