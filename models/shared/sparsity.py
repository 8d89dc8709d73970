"""Expected sparsity: the scale of a global scale, from the information of the data about each coefficient.

No PyMC here, and one rule for the model and for the sampler.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

BISECTIONS = 80
"""Halvings of the interval of the logarithm that holds the answer."""


def global_scale(features: FloatArray, std_error: FloatArray, expected_effects: float) -> float:
    r"""Global scale at which a given number of coefficients is expected to escape shrinkage.

    With :math:`I_j = \sum_a x_{aj}^2 / v_a` the information about a coefficient, alone, and half-Cauchy local scales
    it solves

    .. math:: \sum_j \frac{\tau \sqrt{I_j}}{1 + \tau \sqrt{I_j}} = p_0.

    If all columns have the same information that is :math:`p_0 / (p - p_0) / \sqrt{I}`, the published rule, where
    :math:`I = n / \sigma^2`.

    Parameters
    ----------
    features : array (subgroup, column)
        Features without the intercept.
    std_error : array (subgroup,)
        Standard errors of the estimates, positive; NaN where there is none.
    expected_effects : float
        The number p0. If it is more than half of the columns that have information, that half is taken.

    Returns
    -------
    float
        In the units of ``std_error``. Without information about any coefficient it is 1.

    References
    ----------
    Piironen and Vehtari (2017), Eqs 3.8 to 3.12, doi:10.1214/17-EJS1337SI.

    Examples
    --------
    >>> import numpy as np
    >>> round(global_scale(np.eye(10), np.full(10, 0.2), 2.0), 4)  # 2 / 8 * 0.2
    0.05
    """
    observed = np.isfinite(std_error)
    root = np.sqrt(((features[observed] / std_error[observed, None]) ** 2).sum(axis=0))
    root = root[root > 0]
    if not len(root):
        return 1.0
    target = min(expected_effects, len(root) / 2)
    # As if all columns had the largest or the smallest information: the answer lies between.
    ratio = math.log(target / (len(root) - target))
    low, high = ratio - math.log(root.max()), ratio - math.log(root.min())
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        scaled = math.exp(middle) * root
        low, high = (middle, high) if (scaled / (1 + scaled)).sum() < target else (low, middle)
    return math.exp((low + high) / 2)
