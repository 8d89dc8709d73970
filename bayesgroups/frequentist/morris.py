"""Morris's empirical Bayes: shrinkage and variances that count the uncertainty of the hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-12
ITERATIONS = 10_000


@dataclass(frozen=True)
class Morris:
    """``centre``, ``tau_squared`` and its variance-like weight; arrays (subgroup,) ``estimate``, ``variance``, ``shrinkage``.

    ``centre_variance`` is the sampling variance of the centre. ``shrunk`` is False when there are too few subgroups.
    """

    centre: float
    centre_variance: float
    tau_squared: float
    estimate: FloatArray
    variance: FloatArray
    shrinkage: FloatArray
    shrunk: bool


def morris(z: FloatArray, v: FloatArray) -> Morris:
    """Morris-corrected empirical Bayes.

    Estimand: mu_a in mu_a ~ Normal(mu, A), z_a ~ Normal(mu_a, v_a).

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, finite and positive.

    Returns
    -------
    Morris
        With K <= 3 subgroups the estimates unshrunk. Shrinkage is at most (K - 3)/(K - 1), so no variance is ever 0.

    References
    ----------
    Morris (1983), doi:10.1080/01621459.1983.10477920. The formulas are checked by their coverage, see the recorded study.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.morris import morris
    >>> found = morris(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.full(5, 0.01))
    >>> round(found.tau_squared, 6), found.estimate.round(2).tolist(), found.variance.round(4).tolist()
    (0.015, [0.14, 0.22, 0.3, 0.38, 0.46], [0.01, 0.0088, 0.0084, 0.0088, 0.01])
    """
    k = len(z)
    if k <= 3:
        centre = float((z / v).sum() / (1 / v).sum()) if k else np.nan
        variance = float(1 / (1 / v).sum()) if k else np.nan
        return Morris(centre, variance, np.nan, z.copy(), v.copy(), np.zeros(k), False)
    unit = float(v.mean())  # everything in units of the typical variance, whatever the scale of the metric
    scale = np.sqrt(unit)
    y, s2 = (z - z.mean()) / scale, v / unit
    a = max(float(y.var(ddof=1) - s2.mean()), 0.0)
    for _ in range(ITERATIONS):
        w = 1 / (s2 + a)
        m = (w * y).sum() / w.sum()
        new = max(float((w * (k / (k - 1) * (y - m) ** 2 - s2)).sum() / w.sum()), 0.0)
        a, change = new, abs(new - a)
        if change < TOLERANCE * max(1.0, a):
            break
    w = 1 / (s2 + a)
    m = float((w * y).sum() / w.sum())
    shrinkage = (k - 3) / (k - 1) * s2 / (s2 + a)
    typical = (w * s2).sum() / w.sum()
    extra = 2 / (k - 3) * shrinkage**2 * (typical + a) / (s2 + a)
    share = k * w / w.sum()
    variance = s2 * (1 - (k - share) / k * shrinkage) + extra * (y - m) ** 2
    return Morris(
        centre=m * scale + float(z.mean()),
        centre_variance=unit / float(w.sum()),
        tau_squared=a * unit,
        estimate=z.mean() + scale * (m + (1 - shrinkage) * (y - m)),
        variance=unit * variance,
        shrinkage=shrinkage,
        shrunk=True,
    )
