"""Minimum over component variances: bounded at 0, from several starts, for objectives with more than one valley."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value and gradient at variances (component,)."""

MAX_VARIANCE = 1e8
"""Upper bound on a variance, in units of the search."""
ROUGH = {"maxiter": 60, "ftol": 1e-5, "gtol": 1e-4}
FINE = {"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8}
"""Stopping rules of a descent from each start, and of the last one from the best end."""


def minimise(objective: Objective, starts: FloatArray, unit: FloatArray) -> tuple[FloatArray, float]:
    """Smallest value that L-BFGS-B finds over non-negative variances.

    Parameters
    ----------
    objective : callable
        Value and gradient.
    starts : array (start, component)
        Where to begin. From each the search goes down roughly, and from the lowest of the ends finely.
    unit : array (component,)
        Typical size of every variance: the search runs in multiples of it.

    Returns
    -------
    variances : array (component,)
        The best of where descents began and ended.
    value : float

    Notes
    -----
    What an optimiser says about its own success is not needed: the value is computed anew at every point it
    returns, and compared with those of the starts.

    Examples
    --------
    >>> import numpy as np
    >>> def bowl(x):
    ...     return float(((x - np.array([2.0, -1.0])) ** 2).sum()), 2 * (x - np.array([2.0, -1.0]))
    >>> found, value = minimise(bowl, np.ones((1, 2)), np.ones(2))
    >>> found.round(6).tolist(), round(value, 6)
    ([2.0, 0.0], 1.0)
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
