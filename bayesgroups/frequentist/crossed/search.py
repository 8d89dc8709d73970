"""Minimum over component variances: bounded at 0, from several starts, for objectives with more than one valley."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value and gradient at variances (component,)."""

MAX_VARIANCE = 1e8
"""Upper bound on a variance, in units of the search."""
REMEMBERED = 40
"""Steps that a descent remembers: more than five crossed attributes have variances. With the usual ten, long valleys take it
several times as many."""
ROUGH = {"maxcor": REMEMBERED, "maxiter": 200, "ftol": 1e-7, "gtol": 1e-6}
FINE = {"maxcor": REMEMBERED, "maxiter": 500, "ftol": 1e-14, "gtol": 1e-8}
"""Stopping rules of a descent from each start, and of the last one from the best end. A descent that stops on a slope, as at 1e-5
many do, says little of its valley, and the last one then ends in another."""


def minimise(objective: Objective, starts: FloatArray, unit: FloatArray) -> tuple[FloatArray, float]:
    """Non-negative variances (component,) with the smallest value that L-BFGS-B reaches, and the value.

    From each of the starts (start, component) the search goes down roughly, and from the lowest of the ends finely, in
    multiples of ``unit``, the typical size of every variance. The optimiser's report of its own success is not needed:
    the value is computed anew at every point it returns, and compared with those of the starts.
    """
    from scipy.optimize import minimize

    def scaled(x: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(x * unit)
        return value, gradient * unit

    def descend(begin: FloatArray, options: dict[str, float]) -> tuple[FloatArray, float]:
        end = minimize(scaled, begin, method="L-BFGS-B", jac=True, bounds=bounds, options=options).x
        return min(((x, scaled(x)[0]) for x in (begin, end)), key=lambda met: met[1])

    bounds = [(0.0, MAX_VARIANCE)] * starts.shape[1]
    rough = [descend(np.clip(start / unit, 0.0, MAX_VARIANCE), ROUGH) for start in starts]
    best, value = descend(min(rough, key=lambda met: met[1])[0], FINE)
    return best * unit, value
