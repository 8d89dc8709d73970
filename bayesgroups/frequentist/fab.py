"""FAB intervals: exact coverage in every subgroup, shorter where the other subgroups guess well."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import Interval

FloatArray = NDArray[np.float64]


def fab(z: FloatArray, v: FloatArray, guess: FloatArray, spread: FloatArray, level: float) -> Interval:
    """Frequentist interval assisted by a guess theta ~ Normal(guess, spread) that did not see z.

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, positive.
    guess, spread : arrays (subgroup,)
        Mean and variance (positive) of the guess.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval
        Coverage is the level for every theta and any guess; a good guess makes the interval shorter.

    References
    ----------
    Yu, Hoff (2018), doi:10.1093/biomet/asy009.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.fab import fab
    >>> found = fab(np.array([0.5]), np.array([0.04]), np.array([0.3]), np.array([0.01]), 0.95)
    >>> found.lower.round(6).tolist(), found.upper.round(6).tolist()
    ([0.171029], [0.828971])
    """
    from scipy.special import ndtri

    alpha, s = 1 - level, np.sqrt(v)

    def ends(odds: FloatArray, upper: bool) -> FloatArray:
        # theta(w) - z - s q(...), increasing in w; w = expit(odds) keeps both w and 1 - w away from rounding.
        w, rest = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(odds))
        theta = guess + spread / (2 * s) * (ndtri(alpha * w) - ndtri(alpha * rest))
        return theta - z + (s * ndtri(alpha * w) if upper else -s * ndtri(alpha * rest))

    found = []
    for upper in (False, True):
        low, high = np.full(z.shape, -700.0), np.full(z.shape, 700.0)
        for _ in range(70):
            middle = (low + high) / 2
            below = ends(middle, upper) < 0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        w, rest = 1 / (1 + np.exp(-low)), 1 / (1 + np.exp(low))
        found.append(z - s * ndtri(alpha * w) if upper else z + s * ndtri(alpha * rest))
    return Interval(found[0], found[1])


def leave_one_out(z: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A guess for each subgroup from all others: their centre and moment estimate of tau^2.

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, positive; three subgroups or more.

    Returns
    -------
    guess, spread : arrays (subgroup,)
        The spread adds the variance of the centre and is at least a thousandth of the subgroup's own variance.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.fab import leave_one_out
    >>> guess, spread = leave_one_out(np.array([0.1, 0.2, 0.6]), np.full(3, 0.01))
    >>> guess.round(2).tolist()
    [0.4, 0.35, 0.15]
    """
    unit = v.min()
    w = unit / v
    total, square = w.sum() - w, (w**2).sum() - w**2
    centre = ((w * z).sum() - w * z) / total
    raw_square = (w * z**2).sum() - w * z**2
    q = raw_square - total * centre**2
    tau2 = np.maximum((q - (len(z) - 2) * unit) / (total - square / total), 0.0)
    return centre, np.maximum(tau2 + unit / total, 1e-3 * v)
