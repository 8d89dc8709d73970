"""Marginal likelihoods of many counts at many draws, by interpolation.

The log likelihood of a count, its subgroup's residual effect integrated out, is a smooth function of the shared predictor and of
the residual effect's standard deviation. It is computed at a few Chebyshev nodes over the range that the draws span, subgroup by
subgroup, and interpolated between them; a sample of draws is computed directly, to know the error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed.predictor import chunks

Shared = Callable[[slice | IntArray], FloatArray]
"""The predictor of some draws, (draw, subgroup)."""
Sites = tuple[FloatArray, FloatArray]

ALONG, ACROSS = 12, 6
"""Nodes along the predictor and along the standard deviation."""
QUADRATURE = 11
CHECKED = 16
"""Draws that are computed directly."""
TOLERANCE = 0.02
"""Largest error of a log likelihood relative to the others; beyond it all draws are computed directly."""
NEGLIGIBLE = 1e-4
"""Terms of the interpolation that together are never larger are left out."""
CHUNK = 32_000


def log_likelihood(
    k: FloatArray, n: FloatArray, shared: Shared, residual_sd: FloatArray, extra: FloatArray, sites: Sites | None = None
) -> FloatArray:
    """Log likelihood (draw,) of all counts, up to a constant of the counts.

    ``shared`` gives the predictor (draw, subgroup) without the subgroups' residual effects at rows of draws,
    ``residual_sd`` (draw,) is the standard deviation of these, ``extra`` (subgroup,) known variances that they have
    besides. ``sites`` are normal observations of the predictor with residual effects, and their variances, whose log
    density is subtracted: the difference is smoother than either.
    """
    if len(residual_sd) <= 4 * ALONG * ACROSS:
        return direct(k, n, shared, residual_sd, extra, sites)
    log_density = _interpolated(k, n, shared, residual_sd, extra, sites)
    some = np.linspace(0, len(residual_sd) - 1, CHECKED).astype(np.int64)
    gap = log_density[some] - direct(k, n, lambda rows: shared(some[rows]), residual_sd[some], extra, sites)
    return log_density if np.ptp(gap) < TOLERANCE else direct(k, n, shared, residual_sd, extra, sites)


def direct(
    k: FloatArray, n: FloatArray, shared: Shared, residual_sd: FloatArray, extra: FloatArray, sites: Sites | None = None
) -> FloatArray:
    """The same by quadrature at every draw."""
    log_density = np.empty(len(residual_sd))
    for block in chunks(len(residual_sd), len(k), CHUNK):
        log_density[block] = _values(k, n, shared(block), residual_sd[block, None] ** 2 + extra, sites).sum(axis=1)
    return log_density


def _values(k: FloatArray, n: FloatArray, at: FloatArray, own_variance: FloatArray, sites: Sites | None) -> FloatArray:
    """Terms of the sum over subgroups; 0 without trials."""
    value = logit_normal.log_marginal(k, n, at, np.sqrt(own_variance), nodes=QUADRATURE)
    if sites is not None:
        y, v = (np.where(n > 0, part, 1.0) for part in sites)
        variance = v + own_variance
        value = value + 0.5 * np.log(variance) + 0.5 * (y - at) ** 2 / variance
    return np.where(n > 0, value, 0.0)


def _interpolated(
    k: FloatArray, n: FloatArray, shared: Shared, residual_sd: FloatArray, extra: FloatArray, sites: Sites | None
) -> FloatArray:
    blocks = chunks(len(residual_sd), len(k), CHUNK)
    low, high = np.full(len(k), np.inf), np.full(len(k), -np.inf)
    for block in blocks:
        part = shared(block)
        np.minimum(low, part.min(axis=0), out=low)
        np.maximum(high, part.max(axis=0), out=high)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-12)
    # Small standard deviations matter through their square; the square root of it all bends least.
    bottom, top = float(residual_sd.min()), float(residual_sd.max())
    centre, reach = (bottom + top) / 2, max((top - bottom) / 2, 1e-12)
    across_nodes = ACROSS if top > bottom else 1
    at = middle + half * _nodes(ALONG)[:, None, None]  # (along, across, subgroup)
    tau = np.maximum(centre + reach * _nodes(across_nodes), 0.0)[None, :, None]
    value = _values(k, n, at, np.broadcast_to(tau**2 + extra, (ALONG, across_nodes, len(k))), sites)
    table = np.einsum("ia,jb,abg->jig", _to_coefficients(ALONG), _to_coefficients(across_nodes), value)
    # What no draw can feel: the terms of the highest order, as long as they are small in all subgroups together.
    tail = np.cumsum(np.abs(table).sum(axis=(0, 2))[::-1])[::-1]
    terms = max(int((tail > NEGLIGIBLE).sum()), 2)
    table = table[:, :terms]
    across = np.cos(np.arange(across_nodes) * np.arccos(np.clip((residual_sd - centre) / reach, -1, 1))[:, None])
    log_density = np.empty(len(residual_sd))
    for block in blocks:
        t = shared(block) - middle
        t /= half
        if across_nodes == 1:
            log_density[block] = _clenshaw(table[0, :, None], t)
            continue
        each = (across[block] @ table.reshape(across_nodes, -1)).reshape(-1, terms, len(k))
        log_density[block] = _clenshaw(np.swapaxes(each, 0, 1), t)
    return log_density


def _clenshaw(coefficients: FloatArray, t: FloatArray) -> FloatArray:
    """Sums over subgroups of Chebyshev series, coefficients (term, draw or 1, subgroup), at t (draw, subgroup)."""
    twice = 2 * t
    later = np.broadcast_to(coefficients[-1], t.shape).copy()
    last = np.zeros_like(t)
    for each in coefficients[-2:0:-1]:
        # The array of the last but one is done with, and takes the next.
        np.subtract(each, last, out=last)
        later, last = last, later
        later += twice * last
    later *= t
    later -= last
    later += coefficients[0]
    return np.asarray(later.sum(axis=1), dtype=np.float64)


def _nodes(number: int) -> FloatArray:
    points: FloatArray = np.cos(np.pi * (np.arange(number) + 0.5) / number)
    return points


def _to_coefficients(number: int) -> FloatArray:
    """Matrix from values at Chebyshev nodes to coefficients."""
    order, node = np.arange(number)[:, None], np.arange(number) + 0.5
    matrix: FloatArray = np.cos(np.pi * order * node / number) * 2 / number
    matrix[0] /= 2
    return matrix
