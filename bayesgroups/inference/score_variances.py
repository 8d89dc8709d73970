"""Variances of scores by subgroup and outcome: a hierarchy of inverse gammas, integrated out exactly.

    v[g, y] ~ InverseGamma(df / 2, df sigma[y]^2 / 2),    df = 1 / (2 spread^2)

``sigma[y]`` is the typical standard deviation and ``spread`` about the standard deviation of log sd between subgroups. With
``count`` rows and ``scatter`` the sum of their squared distances from the mean of the cell, v is inverse gamma again; what is
left are three hyper-parameters, logarithms of ``sigma[0]``, ``sigma[1]`` and ``spread``, along the last axis.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import digamma, gammaln

from bayesgroups.data.arrays import FloatArray

SMALLEST_SD = 1e-3
"""Floor of a standard deviation, in units of the pooled one: cells whose scores are all equal."""
SMALLEST_GAMMA = 1e-12
"""Floor of a gamma variable, which is 0 to the computer in cells without rows where the spread is beyond all measure."""
STIRLING = 60.0
"""Half the degrees of freedom from which on logarithms of gamma functions are replaced by their series."""
SERIES_UP_TO = 0.1
"""Below it log(1 + x) - x has a series of its own."""
NODES = 16
"""Nodes of a piece of length 1 of logarithms of half the degrees of freedom."""
LARGEST_LOG_HALF = 100.0
"""Largest absolute logarithm of half the degrees of freedom that has a likelihood."""


class Rows:
    """Rows ``count`` (subgroup, outcome) of every cell, and sums over cells of what depends on nothing but them and the spread.

    These are smooth functions of one number, interpolated between Chebyshev nodes of pieces so short that the error is that of
    rounding.
    """

    def __init__(self, count: FloatArray) -> None:
        self.count, self.half, self.half_of_all = count, 0.5 * count, 0.5 * count.sum(axis=0)
        self._pieces: dict[int, FloatArray] = {}

    def rising(self, log_half: FloatArray) -> FloatArray:
        """Sums over cells (2, ...) of `_log_rising` and of its derivative, NaN where the spread is beyond all measure.

        ``log_half`` (...) are logarithms of half the degrees of freedom before the rows.
        """
        sums = np.full((2, log_half.size), np.nan)
        place = log_half.ravel()
        with np.errstate(invalid="ignore"):
            some = np.flatnonzero(np.abs(place) < LARGEST_LOG_HALF)
        if not len(some):
            return sums.reshape(2, *log_half.shape)
        place = place[some]
        piece, which = np.unique(np.floor(place), return_inverse=True)
        coefficients = np.stack([self._coefficients(int(each)) for each in piece], axis=2)
        angle = np.arccos(np.clip(2 * (place - piece[which]) - 1, -1.0, 1.0))
        turned = np.cos(np.arange(NODES)[:, None] * angle)
        sums[:, some] = np.einsum("kni,ni->ki", coefficients[..., which], turned)
        return sums.reshape(2, *log_half.shape)

    def _coefficients(self, piece: int) -> FloatArray:
        """Chebyshev coefficients (2, node) of the sums, computed where a piece is met first."""
        if piece not in self._pieces:
            self._pieces[piece] = self._piece(piece)
        return self._pieces[piece]

    def _piece(self, piece: int) -> FloatArray:
        """Chebyshev coefficients (2, node) of the sums."""
        nodes = chebyshev.chebpts1(NODES)
        at = np.exp(piece + 0.5 * (nodes + 1))[:, None, None]
        values = np.stack([part(at, self.half).sum(axis=(1, 2)) for part in (_log_rising, _slope_of_log_rising)])
        turn = chebyshev.chebvander(nodes, NODES - 1) * (2 / NODES)
        turn[:, 0] /= 2
        return np.asarray(values @ turn)


def log_likelihood(hyper: FloatArray, rows: Rows, scatter: FloatArray) -> FloatArray:
    """Log likelihood (...) of the hyper-parameters (..., 3) with the variances integrated out.

    ``scatter`` (..., subgroup, outcome) are sums of squared distances from the mean.

    >>> log_likelihood(np.zeros((1, 3)), Rows(np.array([[3.0, 0.0]])), np.array([[[3.0, 0.0]]])).round(4).tolist()
    [-2.6983]
    """
    half, u = _parts(hyper, scatter)
    log = np.log1p(u, out=u)
    value = half * log.sum(axis=(-1, -2))
    log *= rows.half
    value += log.sum(axis=(-1, -2))
    return np.asarray(rows.rising(np.log(half))[0] - 2 * hyper[..., :2] @ rows.half_of_all - value)


def slope(hyper: FloatArray, rows: Rows, scatter: FloatArray) -> FloatArray:
    """Gradient (..., 3) of `log_likelihood`.

    >>> (slope(np.zeros((1, 3)), Rows(np.array([[3.0, 0.0]])), np.array([[[3.0, 0.0]]])).round(4) + 0).tolist()
    [[0.0, 0.0, -1.2645]]
    """
    half, u = _parts(hyper, scatter)
    share = u / (1 + u)
    more = (rows.half * share).sum(axis=-2)
    by_sigma = 2 * (half[..., None] * share.sum(axis=-2) + more - rows.half_of_all)
    by_half = rows.rising(np.log(half))[1] + more.sum(axis=-1) / half - (_log1p_less(u) + u * share).sum(axis=(-1, -2))
    return np.concatenate([by_sigma, (-2 * half * by_half)[..., None]], axis=-1)


def _parts(hyper: FloatArray, scatter: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Half the degrees of freedom before (...), and scatter / (df sigma^2), which may be tiny.

    Next to no spread must not become a difference of large numbers.
    """
    half = 0.25 * np.exp(-2 * hyper[..., 2])
    return half, scatter * (0.5 * np.exp(-2 * hyper[..., :2]) / half[..., None])[..., None, :]


def _log_rising(a: FloatArray, c: FloatArray) -> FloatArray:
    """Log of gamma(a + c) / gamma(a) / a^c; 0 for large a.

    >>> bool(np.abs(_log_rising(np.array([2.0, 1e15]), np.array([1.0, 1.0]))).max() < 1e-12)
    True
    """
    small = a < STIRLING
    if small.all():
        return np.asarray(gammaln(a + c) - gammaln(a) - c * np.log(a))
    # Stirling's series, of which the terms beyond are below 1e-12.
    large = np.maximum(a, STIRLING)
    x, inverse, before = c / large, 1 / (large + c), 1 / large
    value = large * _log1p_less(x) + (c - 0.5) * np.log1p(x)
    value = value + (inverse - before) / 12 - (inverse**3 - before**3) / 360
    if small.any():
        value = np.where(small, gammaln(a + c) - gammaln(a) - c * np.log(a), value)
    return value


def _slope_of_log_rising(a: FloatArray, c: FloatArray) -> FloatArray:
    """Derivative of `_log_rising` with respect to a; 0 for large a.

    >>> bool(np.abs(_slope_of_log_rising(np.array([2.0, 1e15]), np.array([1.0, 1.0]))).max() < 1e-12)
    True
    """
    small = a < STIRLING
    if small.all():
        return np.asarray(digamma(a + c) - digamma(a) - c / a)
    large = np.maximum(a, STIRLING)
    x, inverse, before = c / large, 1 / (large + c), 1 / large
    slope = _log1p_less(x) + 0.5 * x * inverse
    slope = slope - (inverse**2 - before**2) / 12 + (inverse**4 - before**4) / 120
    if small.any():
        slope = np.where(small, digamma(a + c) - digamma(a) - c / a, slope)
    return np.asarray(slope)


def _log1p_less(x: FloatArray) -> FloatArray:
    """log(1 + x) - x, without the loss of digits where x is small.

    >>> (_log1p_less(np.array([1e-12, 1.0])) / np.array([-5e-25, np.log(2) - 1])).round(9).tolist()
    [1.0, 1.0]
    """
    near = x < SERIES_UP_TO
    if not near.any():
        return np.asarray(np.log1p(x) - x)
    r = x / (2 + x)
    square = r * r
    series = 2 * r * square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square / 9))) - x * r
    return series if near.all() else np.where(near, series, np.log1p(x) - x)


def log_prior(hyper: FloatArray, variance: FloatArray) -> FloatArray:
    """Log density (chain,) of variances (chain, subgroup, outcome) given hyper-parameters (chain, 3), but for a factor of spread.

    >>> log_prior(np.zeros((1, 3)), np.ones((1, 1, 2))).round(4).tolist()
    [-0.5]
    """
    half = 0.25 * np.exp(-2 * hyper[:, 2])[:, None, None]
    ratio = np.log(variance) - 2 * hyper[:, None, :2]
    return np.asarray((-np.log(variance) - half * (ratio + np.exp(-ratio))).sum(axis=(1, 2)))


def draw(hyper: FloatArray, count: FloatArray, scatter: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the variances (chain, subgroup, outcome) given the hyper-parameters."""
    df = 0.5 * np.exp(-2 * hyper[:, 2])[:, None, None]
    rate = 0.5 * (df * np.exp(2 * hyper[:, None, :2]) + scatter)
    drawn = np.maximum(rng.standard_gamma(np.broadcast_to(0.5 * (df + count), rate.shape)), SMALLEST_GAMMA)
    variance = rate / drawn
    return np.asarray(np.maximum(variance, SMALLEST_SD**2), dtype=np.float64)


def redraw_sigma(hyper: FloatArray, variance: FloatArray, log_sd: float, rng: np.random.Generator) -> FloatArray:
    """Hyper-parameters (chain, 3) with sigma drawn given the variances of all cells (chain, subgroup, outcome).

    The proposal is exact but for the prior of log sigma, a normal one with standard deviation ``log_sd``.
    """
    half = 0.25 * np.exp(-2 * hyper[:, 2:])
    drawn = rng.standard_gamma(np.broadcast_to(half * variance.shape[1], hyper[:, :2].shape))
    drawn = np.maximum(drawn, np.finfo(np.float64).tiny)
    proposal = 0.5 * np.log(drawn / (half * (1 / variance).sum(axis=1)))
    chance = 0.5 * (hyper[:, :2] ** 2 - proposal**2) / log_sd**2
    moved = np.log(rng.random(proposal.shape)) < chance
    return np.concatenate([np.where(moved, proposal, hyper[:, :2]), hyper[:, 2:]], axis=1)
