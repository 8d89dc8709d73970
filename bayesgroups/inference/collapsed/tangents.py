"""Exact draws of the logit of a binomial count with a normal prior, by rejection under many tangents.

    log f(eta) = k eta - n log(1 + e^eta) - (eta - alpha)^2 / (2 tau^2)

is strictly concave, so that tangents lie above it. They touch where f has fallen by fixed factors from its top, on either side,
whatever its skewness: at least nine in ten proposals are accepted. Slow beside `bayesgroups.inference.collapsed.logit_normal`,
which leaves to it what its own envelopes miss.

References
----------
Gilks and Wild (1992), doi:10.2307/2347565.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray

FALLS = (0.02, 0.1, 0.25, 0.5, 0.85, 1.3, 2.0, 3.0, 4.5, 7.0, 11.0, 18.0, 30.0)
"""Falls of the log density from its top at which tangents touch."""
HALVINGS = 200
"""Steps of a bisection: from any bracket of doubles to their last digit but few."""
DOUBLINGS = 1100
"""Steps from the smallest bracket to the largest double."""
ROUNDS = 400
"""Rounds of rejection; the probability that a draw needs more is below 1e-300."""


def draw(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Exact draws, one per entry, with positive tau on the logit scale.

    >>> entries = np.zeros(10_000)
    >>> eta = draw(entries, entries, entries + 0.3, entries + 2.0, np.random.default_rng(1))  # no trials: the prior
    >>> bool(abs(eta.mean() - 0.3) < 0.06), bool(abs(eta.std() - 2) < 0.05)
    (True, True)
    """
    top = _mode(k, n, alpha, tau)
    points = np.stack([top, *(_fallen(k, n, alpha, tau, top, fall, side) for side in (-1.0, 1.0) for fall in FALLS)])
    points = np.sort(points, axis=0)
    height = _relative(points, k, n, alpha, tau, top)
    slope = _slope(points, k, n, alpha, tau)
    # Neighbouring tangents meet between the points where they touch; the outermost ones run on.
    gap = np.diff(points, axis=0)
    steeper = slope[:-1] - slope[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = points[:-1] + (height[1:] - height[:-1] - slope[1:] * gap) / np.where(steeper > 0, steeper, 1.0)
    meet = np.where(steeper > 0, np.clip(meet, points[:-1], points[1:]), points[:-1])
    far = np.full((1, len(top)), np.inf)
    left, right = np.concatenate([-far, meet]), np.concatenate([meet, far])
    log_mass = _log_mass(left, right, points, height, slope)
    share = np.exp(log_mass - log_mass.max(axis=0))
    cumulative = np.cumsum(share, axis=0) / share.sum(axis=0)
    drawn = top.copy()
    todo = np.arange(len(top))
    for _ in range(ROUNDS):
        if not len(todo):
            break
        segment = (rng.random(len(todo)) > cumulative[:, todo]).sum(axis=0).clip(max=len(points) - 1)
        at = (segment, todo)
        proposed = _within(left[at], right[at], points[at], slope[at], rng.random(len(todo)))
        envelope = height[at] + slope[at] * (proposed - points[at])
        density = _relative(proposed, k[todo], n[todo], alpha[todo], tau[todo], top[todo])
        accept = envelope - density < rng.standard_exponential(len(todo))
        drawn[todo[accept]] = proposed[accept]
        todo = todo[~accept]
    return drawn


def _mode(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray) -> FloatArray:
    """Root of the slope, by bisection: it lies no farther from alpha than the count can pull it."""
    low, high = alpha - tau**2 * (n - k), alpha + tau**2 * k
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        rising = _slope(middle, k, n, alpha, tau) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return low + (high - low) / 2


def _fallen(
    k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, top: FloatArray, fall: float, side: float
) -> FloatArray:
    """Point on one side of the top where the log density has fallen by that much."""
    step = np.minimum(tau, 1.0) * 1e-12
    for _ in range(DOUBLINGS):
        short = _relative(top + side * step, k, n, alpha, tau, top) > -fall
        if not short.any():
            break
        step = np.where(short, 2 * step, step)
    near, far = np.zeros_like(step), step
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        short = _relative(top + side * middle, k, n, alpha, tau, top) > -fall
        near, far = np.where(short, middle, near), np.where(short, far, middle)
    return np.asarray(top + side * far, dtype=np.float64)


def _slope(eta: FloatArray, k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray) -> FloatArray:
    p = 0.5 * (1 + np.tanh(0.5 * eta))
    return np.asarray(k * (1 - p) - (n - k) * p - (eta - alpha) / tau**2, dtype=np.float64)


def _relative(
    eta: FloatArray, k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, top: FloatArray
) -> FloatArray:
    """Log density relative to that at ``top``, in differences, so that large counts keep their digits."""
    # With p, the share at the top, or 1 - p as the smaller of the two, and what cancels left out.
    deviation = eta - top
    smaller, mirrored = np.exp(-np.logaddexp(0, np.abs(top))), np.where(top < 0, deviation, -deviation)
    with np.errstate(over="ignore"):
        curved = n * np.log1p(smaller * np.expm1(mirrored))
    linear = np.where(top < 0, k, k - n) * deviation
    return np.asarray(linear - curved - deviation * (0.5 * deviation + top - alpha) / tau**2, dtype=np.float64)


def _log_mass(
    left: FloatArray, right: FloatArray, point: FloatArray, height: FloatArray, slope: FloatArray
) -> FloatArray:
    """Log of the integral of exp(height + slope (eta - point)) from left to right; the slope points inwards at infinite ends."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        finite = np.isfinite(left) & np.isfinite(right)
        length = np.where(finite, right - left, 1.0)
        product = slope * length
        near_flat = np.abs(product) < 1e-6
        # From the higher end, where the exponential is 1.
        end = np.where(np.isinf(left) | (np.isfinite(right) & (slope > 0)), right, left)
        level = height + slope * (np.where(np.isfinite(end), end, point) - point)
        decay = -np.expm1(-np.abs(product)) / np.where(near_flat, 1.0, np.abs(slope))
        inside = np.where(near_flat, length, decay)
        integral = np.where(finite, inside, 1 / np.abs(slope))
        return np.asarray(level + np.log(integral), dtype=np.float64)


def _within(left: FloatArray, right: FloatArray, point: FloatArray, slope: FloatArray, u: FloatArray) -> FloatArray:
    """Quantile ``u`` of the density proportional to exp(slope eta) from left to right."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        from_right = np.isinf(left) | (np.isfinite(right) & (slope > 0))
        anchor = np.where(from_right, right, left)
        length = np.where(np.isfinite(left) & np.isfinite(right), right - left, np.inf)
        steep = np.abs(slope)
        distance = -np.log1p(u * np.expm1(-steep * length)) / np.where(steep > 0, steep, 1.0)
        distance = np.where(steep * length < 1e-6, u * np.where(np.isfinite(length), length, 0.0), distance)
        return np.asarray(np.where(from_right, anchor - distance, anchor + distance), dtype=np.float64)
