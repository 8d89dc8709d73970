"""Common difference, ratio and odds ratio of two rates across strata by Mantel and Haenszel, with standard errors.

Tables are arrays (stratum,): ``k1`` successes of ``n1`` rows on the first side, ``k2`` of ``n2`` on the second. Strata have the
weights n1 n2 / (n1 + n2). The errors hold with few large strata and with many small ones.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def stratum_weights(n1: FloatArray, n2: FloatArray) -> FloatArray:
    """Weights n1 n2 / (n1 + n2), 0 where a side has no rows."""
    rows = n1 + n2
    return np.where(rows > 0, n1 * n2 / np.where(rows > 0, rows, 1.0), 0.0)


def difference_error(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray) -> float:
    """Standard error of the common difference, consistent with few large and with many small strata.

    Sato, Greenland, Robins (1989), doi:10.2307/2531784.

    >>> table = (np.array([18.0, 18]), np.array([60.0, 40]), np.array([30.0, 6]), np.array([150.0, 25]))
    >>> round(difference_error(*table), 6)
    0.059044
    """
    rows, total = n1 + n2, stratum_weights(n1, n2).sum()
    difference = ((k1 * n2 - k2 * n1) / rows).sum() / total
    slope = (n1**2 * k2 - n2**2 * k1 + n1 * n2 * (n2 - n1) / 2) / rows**2
    base = (k1 * (n2 - k2) + k2 * (n1 - k1)) / (2 * rows)
    return float(np.sqrt(difference * slope.sum() + base.sum()) / total)


def log_ratio_error(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray) -> float:
    """Standard error of the log of the common ratio; NaN or infinite if a side has no success. Greenland, Robins (1985), Eq 13.

    >>> table = (np.array([18.0, 18]), np.array([60.0, 40]), np.array([30.0, 6]), np.array([150.0, 25]))
    >>> round(log_ratio_error(*table), 6)
    0.215289
    """
    rows = n1 + n2
    ends = (k1 * n2 / rows).sum() * (k2 * n1 / rows).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sqrt(((n1 * n2 * (k1 + k2) - k1 * k2 * rows) / rows**2).sum() / ends))


def log_odds_ratio_error(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray) -> float:
    """Standard error of the log of the common odds ratio; NaN or infinite if that is 0 or infinite.

    Robins, Breslow, Greenland (1986), doi:10.2307/2531052.

    >>> table = (np.array([18.0, 18]), np.array([60.0, 40]), np.array([30.0, 6]), np.array([150.0, 25]))
    >>> round(log_odds_ratio_error(*table), 6)
    0.294151
    """
    rows = n1 + n2
    along, across = k1 * (n2 - k2) / rows, k2 * (n1 - k1) / rows
    agree, differ = (k1 + n2 - k2) / rows, (k2 + n1 - k1) / rows
    up, down = along.sum(), across.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (
            (agree * along).sum() / (2 * up**2),
            (agree * across + differ * along).sum() / (2 * up * down),
            (differ * across).sum() / (2 * down**2),
        )
        return float(np.sqrt(sum(terms)))
