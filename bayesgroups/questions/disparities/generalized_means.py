"""The generalised (power) mean of numbers that are not negative, weighted or not, with any exponent."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray

_MAX_POWER_SPREAD = 0.5
"""Below this |power| times spread of the logarithms the mean is taken as a factor on the geometric mean."""


def generalised_mean(values: FloatArray, power: float, weights: FloatArray | None = None) -> FloatArray:
    """Take the generalised mean over the last axis.

    Estimand: ``(sum_i w_i v_i^p)^(1/p)`` with weights that sum to 1; its limits are the minimum (p = -inf), the geometric
    mean (p = 0) and the maximum (p = inf). It does not fall in p, and rises unless all values are equal.

    Parameters
    ----------
    values : array (..., n)
        Numbers in any unit, which is the unit of the mean. Infinite ones are allowed.
    power : float
        The exponent p: -inf, -1 (harmonic), 0, 1 (arithmetic), 2 (quadratic), inf or any between; not NaN.
    weights : array that broadcasts to (..., n), optional
        Not negative, of any sum above 0; equal where left out. A value of weight 0 does not take part, NaN or not.

    Returns
    -------
    array (...)
        NaN where a value that takes part is NaN, where none takes part, and where one is negative unless p is 1, -inf or
        inf. A value of 0 gives 0 for p <= 0.

    References
    ----------
    Han, Baldwin, Cohn (2023), "Fair Enough", https://doi.org/10.18653/v1/2023.eacl-main.23, section 3.3. The weighted mean
    printed there divides by n besides weights that sum to 1; the factor is left out here, so that equal weights change nothing.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([0.1, 0.2, 0.4])
    >>> [round(float(generalised_mean(gaps, p)), 6) for p in (-np.inf, -5, -1, 0, 1, 2, np.inf)]
    [0.1, 0.123785, 0.171429, 0.2, 0.233333, 0.264575, 0.4]
    >>> round(float(generalised_mean(gaps, 2, np.array([0.5, 0.3, 0.2]))), 6)
    0.221359
    """
    v = np.asarray(values, dtype=np.float64)
    w = np.ones(v.shape) if weights is None else np.broadcast_to(np.asarray(weights, dtype=np.float64), v.shape)
    taken = w > 0
    unknown = (np.isnan(v) & taken).any(axis=-1) | ~taken.any(axis=-1)
    # Something harmless stands where nothing counts, so that no arithmetic warns.
    filled = np.where(taken & ~np.isnan(v), v, 1.0)
    total = w.sum(axis=-1, keepdims=True)
    share = np.divide(w, total, out=np.zeros(v.shape), where=total > 0)
    if power == np.inf:
        mean = np.where(taken, filled, -np.inf).max(axis=-1, initial=-np.inf)
    elif power == -np.inf:
        mean = np.where(taken, filled, np.inf).min(axis=-1, initial=np.inf)
    elif power == 1:
        mean = np.where(taken, share * filled, 0.0).sum(axis=-1)
    else:
        negative = ((filled < 0) & taken).any(axis=-1)
        mean = np.where(negative, np.nan, _power_mean(np.abs(filled), float(power), share))
    return np.where(unknown, np.nan, mean)


def _power_mean(v: FloatArray, power: float, share: FloatArray) -> FloatArray:
    """Take the mean by logarithms, which neither overflow nor lose the values that matter."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.log(v)
        inner = np.where(share > 0, share * logs, 0.0).sum(axis=-1, keepdims=True)
        if power == 0:
            return np.asarray(np.exp(inner[..., 0]))
        # Far from 0: the largest term in front. Infinite where a 0 or an infinite value decides alone.
        terms = np.where(share > 0, power * logs, -np.inf)
        largest = terms.max(axis=-1, keepdims=True, initial=-np.inf)
        rest = np.log(np.where(share > 0, share * np.exp(terms - largest), 0.0).sum(axis=-1))
        far = np.exp((largest[..., 0] + np.where(np.isfinite(largest[..., 0]), rest, 0.0)) / power)
        # Near 0: 1/p magnifies rounding, so that the mean is a factor on the geometric one.
        shifted = np.where(share > 0, logs - inner, 0.0)
        near = np.abs(power) * np.abs(shifted).max(axis=-1, initial=0.0) < _MAX_POWER_SPREAD
        excess = (share * np.expm1(np.where(near[..., None], power * shifted, 0.0))).sum(axis=-1)
        close = np.exp(inner[..., 0] + np.log1p(excess) / power)
    return np.where(near, close, far)
