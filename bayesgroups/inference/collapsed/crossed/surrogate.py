"""Marginal likelihoods of many counts at many draws, by interpolation.

The log likelihood of a count, its subgroup's own effect integrated out, is a smooth function of the shared predictor and of the
own effect's standard deviation. It is computed at a few Chebyshev nodes over the range that the draws span, subgroup by
subgroup, and interpolated between them; a sample of draws is computed directly, to know the error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed.predictor import chunks

FloatArray = NDArray[np.float64]

ALONG, ACROSS = 12, 6
"""Nodes along the predictor and along the standard deviation."""
QUADRATURE = 11
CHECKED = 16
"""Draws that are computed directly."""
TOLERANCE = 0.02
"""Largest error of a log likelihood relative to the others; beyond it all draws are computed directly."""
CHUNK = 400_000


def log_likelihood(k: FloatArray, n: FloatArray, shared: FloatArray, own: FloatArray) -> FloatArray:
    """Log likelihood of all counts, up to a constant of the counts.

    Parameters
    ----------
    k, n : arrays (subgroup,)
        Successes and trials, all positive.
    shared : array (draw, subgroup)
        Predictor without the subgroup's own effect.
    own : array (draw,)
        Standard deviation of the own effect.

    Returns
    -------
    array (draw,)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> k, n = np.array([3.0, 0.0]), np.array([10.0, 4.0])
    >>> shared, own = rng.normal(-1, 0.3, (1000, 2)), rng.uniform(0.1, 0.5, 1000)
    >>> gap = log_likelihood(k, n, shared, own) - direct(k, n, shared, own)
    >>> bool(np.ptp(gap) < 1e-3)
    True
    """
    if len(shared) <= 4 * ALONG * ACROSS:
        return direct(k, n, shared, own)
    found = _interpolated(k, n, shared, own)
    some = np.linspace(0, len(shared) - 1, CHECKED).astype(int)
    gap = found[some] - direct(k, n, shared[some], own[some])
    return found if np.ptp(gap) < TOLERANCE else direct(k, n, shared, own)


def direct(k: FloatArray, n: FloatArray, shared: FloatArray, own: FloatArray) -> FloatArray:
    """The same by quadrature at every draw."""
    found = np.empty(len(shared))
    for block in chunks(len(shared), len(k), CHUNK):
        found[block] = logit_normal.log_marginal(k, n, shared[block], own[block, None], nodes=QUADRATURE).sum(axis=1)
    return found


def _interpolated(k: FloatArray, n: FloatArray, shared: FloatArray, own: FloatArray) -> FloatArray:
    low, high = shared.min(axis=0), shared.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-12)
    # Small standard deviations matter through their square; the square root of it all bends least.
    bottom, top = float(own.min()), float(own.max())
    centre, reach = (bottom + top) / 2, max((top - bottom) / 2, 1e-12)
    x, w = _nodes(ALONG), _nodes(ACROSS)
    at = middle + half * x[:, None, None]  # (along, across, subgroup)
    tau = np.maximum(centre + reach * w, 0.0)[None, :, None]
    value = logit_normal.log_marginal(k, n, at, np.broadcast_to(tau, (ALONG, ACROSS, len(k))), nodes=QUADRATURE)
    coefficients = np.einsum("ia,jb,abg->jig", _to_coefficients(ALONG), _to_coefficients(ACROSS), value)
    across = np.cos(np.arange(ACROSS) * np.arccos(np.clip((own - centre) / reach, -1, 1))[:, None])
    flat = np.ascontiguousarray(coefficients.reshape(ACROSS, -1))
    found = np.empty(len(shared))
    for block in chunks(len(shared), len(k) * ALONG, 4_000_000):
        each = (across[block] @ flat).reshape(-1, ALONG, len(k))
        t = (shared[block] - middle) / half
        twice, later, last = 2 * t, np.zeros_like(t), np.zeros_like(t)
        for i in range(ALONG - 1, 0, -1):  # Clenshaw
            later, last = each[:, i] + twice * later - last, later
        found[block] = (each[:, 0] + t * later - last).sum(axis=1)
    return found


def _nodes(number: int) -> FloatArray:
    found: FloatArray = np.cos(np.pi * (np.arange(number) + 0.5) / number)
    return found


def _to_coefficients(number: int) -> FloatArray:
    """Matrix from values at Chebyshev nodes to coefficients."""
    order, node = np.arange(number)[:, None], np.arange(number) + 0.5
    matrix: FloatArray = np.cos(np.pi * order * node / number) * 2 / number
    matrix[0] /= 2
    return matrix
