"""Distance to the optimum: how far a candidate is from an ideal point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.tradeoffs.points import goals, pair, read_points

if TYPE_CHECKING:
    import pandas as pd

PERFECT = (1.0, 1.0)


@checked_keywords
def distance_to_optimum(
    points: pd.DataFrame | xr.Dataset,
    *,
    utopia: tuple[float, float] | None = None,
    weights: tuple[float, float] = (1.0, 1.0),
    normalise: bool = False,
) -> xr.DataArray:
    """Measure how far each candidate is from the ideal point, smaller the better.

    Estimand: ``sqrt(w_p (p_u - p)^2 + w_f (f_u - f)^2)``; normalised, with ``1 - p / p_u`` and ``1 - f / f_u`` instead.

    Parameters
    ----------
    points : pandas DataFrame or xr.Dataset
        ``performance`` and ``fairness``, per candidate, with or without draws.
    utopia : (performance, fairness), optional
        The ideal point, at least as good as every candidate in both goals. (1, 1) where left out, and the best observed of
        each goal (in each draw) when normalised. Moving it to higher performance favours the better performing.
    weights : (performance, fairness)
        What a unit of each goal counts, 0 or more, not both 0.
    normalise : bool
        Divide each goal by its ideal; use it where the scales differ.

    Returns
    -------
    xr.DataArray
        Along the dims of the points; NaN where a goal is. Attributes ``normalise`` and, where it was not observed per
        draw, ``utopia``: distances can only be compared where both are the same.

    Raises
    ------
    InputError
        If points cannot be read, a candidate surpasses the ideal, weights are negative or all 0, or a divisor is not positive.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, section 4.3; its tables have (1, 1), raw.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> points = pd.DataFrame({"performance": [0.8135435, 0.69734659], "fairness": [0.6244258, 0.78820603]})
    >>> bg.distance_to_optimum(points).values.round(6).tolist()
    [0.419311, 0.369399]
    """
    table = read_points(points)
    shares = pair(weights, "weights")
    if min(shares) < 0 or max(shares) == 0:
        raise InputError(f"weights must be 0 or more and not both 0; got {weights!r}")
    performance, fairness = goals(table)
    ideal: tuple[float | FloatArray, float | FloatArray] = PERFECT if utopia is None else pair(utopia, "utopia")
    observed = utopia is None and normalise
    if observed:
        finite = np.isfinite(performance) & np.isfinite(fairness)
        best = [np.where(finite, goal, -np.inf).max(axis=-1, keepdims=True) for goal in (performance, fairness)]
        ideal = (best[0], best[1])
    else:
        check_dominates(pair(utopia or PERFECT, "utopia"), performance, fairness)
    return xr.DataArray(
        distance(performance, fairness, ideal, weights=shares, normalise=normalise),
        table["performance"].coords,
        table["performance"].dims,
        name="distance_to_optimum",
        attrs={"normalise": int(normalise), "weights": list(shares)}
        | ({} if observed else {"utopia": list(utopia or PERFECT)}),
    )


def distance(
    performance: FloatArray,
    fairness: FloatArray,
    utopia: tuple[float | FloatArray, float | FloatArray],
    *,
    weights: tuple[float, float] = (1.0, 1.0),
    normalise: bool = False,
) -> FloatArray:
    """Distances of arrays of any shape, see `distance_to_optimum`."""
    apart = []
    for values, ideal in zip((performance, fairness), utopia, strict=True):
        if normalise and not np.all((np.asarray(ideal) > 0) | np.isneginf(ideal)):
            raise InputError(f"an ideal of {np.min(ideal):g} cannot be divided by; give utopia=, or normalise=False")
        apart.append(1 - values / ideal if normalise else ideal - values)
    return np.asarray(np.sqrt(weights[0] * apart[0] ** 2 + weights[1] * apart[1] ** 2))


def check_dominates(utopia: tuple[float, float], performance: FloatArray, fairness: FloatArray) -> None:
    """Refusal, as an InputError, of an ideal point that a candidate surpasses: going beyond it would count as a fault."""
    for goal, ideal, values in zip(("performance", "fairness"), utopia, (performance, fairness), strict=True):
        best = np.max(values, initial=-np.inf, where=np.isfinite(values))
        if best > ideal:
            raise InputError(
                f"a candidate has {goal} {best:g}, beyond the utopia of {ideal:g}; move it there or further"
            )
