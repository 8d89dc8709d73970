"""A binomial count whose logit is normal: its marginal likelihood and exact draws of the logit.

    k ~ Binomial(n, expit(eta)),   eta = alpha + tau z,   z ~ Normal(0, 1)

As a function of z the log density k eta - n log(1 + e^eta) - z^2 / 2 is strictly concave, which gives a safe mode,
an accurate quadrature around it, and an exact rejection sampler from three tangents. Likelihoods are taken relative to
the count's own logit, so that a count of 1e12 keeps the digits that matter (5e-4 of a log likelihood at worst).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import tangents

NODES = (11, 21, 41)
"""Gauss-Hermite nodes, tried in turn until twice as many change nothing."""
ROUGH = 7
"""Nodes that suffice to find where the mass lies."""
NEWTON_TOLERANCE = 0.1
"""Length of the last Newton step, in standard deviations; quadrature and tangents need no better mode."""
INFORMED = 2.0
"""Information of a count, in units of the prior's, from which its draws are not proposed from the prior."""
TANGENT_TOLERANCE = 0.3
"""Distance from the mode at which a tangent may touch, in standard deviations, for draws."""
BLOCK = 8_000
"""Numbers handled at once, so that they stay in the cache."""
MAX_DISTANCE = 700.0
"""Distance in logits from a mode up to which odds have an exponential."""
MAX_LOG_TERM = 600.0
"""Largest logarithm of a term of an integral over the density at its mode, which is about 0 at most."""
NEWTON_STEPS, USUAL_STEPS = 100, 8
"""Newton steps towards a mode, at most, and usually; 3 or 4 do for most."""
ROUNDS = 60
"""Rounds of rejection, of which 10 are usual, before the rest is drawn under tangents."""
REACH = 14.0
"""Square of how many standard deviations an envelope's parabola reaches, at least."""


class _Count(NamedTuple):
    """A count and its own logit and share, half a success and half a failure added."""

    k: FloatArray
    n: FloatArray
    logit: FloatArray
    share: FloatArray


class _Mode(NamedTuple):
    """Mode of z, and the standard deviation of the normal law that bends alike there."""

    z: FloatArray
    spread: FloatArray
    side: FloatArray
    """1 where successes are the rarer outcome there, else -1."""
    logit: FloatArray
    """Of the share of the rarer outcome."""
    rarer: FloatArray
    """That share."""


def log_marginal(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, *, nodes: int) -> FloatArray:
    """Log of the integral over z of Binomial(k | n, expit(alpha + tau z)) Normal(z), up to a constant of (k, n).

    Relative to the likelihood at the logit of (k + 1/2) / (n + 1). Arrays broadcast to one shape; n may be fractional,
    tau may be 0. ``nodes`` are Gauss-Hermite nodes around the mode.

    >>> two, zero = np.array([2.0]), np.array([0.0])
    >>> abs(log_marginal(two, 2 * two, zero, zero, nodes=11)).round(6).tolist()  # 2 of 4 at its own logit
    [0.0]
    """
    count = _count(k, n)
    near = _mode(count, alpha, tau)
    total = np.zeros(near.z.shape)
    for _, weight in _weights(near, count, tau, nodes):
        total += weight
    log_density = _log_density(near.z, count, alpha, tau)
    return np.asarray(log_density + np.log(total * near.spread) - 0.5 * np.log(2 * np.pi), dtype=np.float64)


def moments(
    k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, *, nodes: int
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of eta given the count; arguments as in `log_marginal`, with positive tau.

    >>> unit = np.array([1.0])
    >>> mean, variance = moments(0 * unit, 0 * unit, unit, 2 * unit, nodes=11)  # without trials: the prior
    >>> mean.round(6).tolist(), variance.round(6).tolist()
    ([1.0], [4.0])
    """
    count = _count(k, n)
    near = _mode(count, alpha, tau)
    total, first, second = np.zeros((3, *near.z.shape))
    for point, weight in _weights(near, count, tau, nodes):
        # Around the mode in units of the spread, where the moments have no digits to lose.
        total += weight
        first += point * weight
        second += point**2 * weight
    first *= near.side / total
    second /= total
    return alpha + tau * (near.z + near.spread * first), (tau * near.spread) ** 2 * (second - first**2)


def draw(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Exact draws of eta given the count, one per entry; arrays broadcast to one shape.

    Rejection from normal envelopes. The log likelihood lies below its tangent near the mode, so the prior, moved by the
    slope of the tangent, dominates; where counts say little it is proposed from, and accepted with a probability of about
    1 / sqrt(1 + tau^2 information). Elsewhere the log likelihood also lies below a parabola as far as some standard
    deviations from the mode, for the information p (1 - p) of a trial changes by no more than a factor e per unit of eta,
    and below a constant from there on: two normal distributions, of which 0.65 to 0.95 of the proposals are accepted,
    whatever the count, if the mode is well found. What `ROUNDS` rounds leave is drawn under many tangents.
    """
    shape = np.broadcast_shapes(k.shape, n.shape, alpha.shape, tau.shape)
    if 0 in shape:
        return np.empty(shape)
    count = _Count(*(_rows(part, shape) for part in _count(k, n)))
    alpha, tau = _rows(alpha, shape), _rows(tau, shape)
    # Half a success more, for a count of none says more where the prior expects some.
    seen = np.minimum(count.k, count.n - count.k) + 1
    informed = np.broadcast_to((tau**2 * seen).mean(axis=0) > INFORMED, shape[-1:] or (1,))
    if not informed.any():
        return _draw_near_prior(count, alpha, tau, rng).reshape(shape)
    if informed.all():
        return _draw_informed(count, alpha, tau, rng).reshape(shape)
    eta = np.empty(np.broadcast_shapes(count.k.shape, alpha.shape, tau.shape))
    for columns, drawn in ((np.flatnonzero(~informed), _draw_near_prior), (np.flatnonzero(informed), _draw_informed)):
        *parts, centre, spread = (part if part.shape[1] == 1 else part[:, columns] for part in (*count, alpha, tau))
        eta[:, columns] = drawn(_Count(*parts), centre, spread, rng)
    return eta.reshape(shape)


def _rows(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """The array with two axes, of which the first may be of length 1 where it is the same all along ``shape``."""
    if len(shape) > 2:
        return np.broadcast_to(values, shape).reshape(-1, shape[-1])
    return values.reshape((1,) * (2 - values.ndim) + values.shape)


def _part(values: FloatArray, rows: slice) -> FloatArray:
    return values if len(values) == 1 else values[rows]


def _draw_near_prior(count: _Count, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws from the prior moved by the tangent of the log likelihood at the mode, (row, column)."""
    shape = np.broadcast_shapes(count.k.shape, alpha.shape, tau.shape)
    drawn = np.empty(shape)
    flat, refused = drawn.reshape(-1), []
    size = max(BLOCK // max(shape[1], 1), 1)
    for start in range(0, shape[0], size):
        rows = slice(start, start + size)
        part, centre, spread = _Count(*(_part(each, rows) for each in count)), _part(alpha, rows), _part(tau, rows)
        block = drawn[rows]
        near, _ = _near_mode(part, centre, spread)
        moved = _residual(part.k, part.n, near)
        moved *= spread**2
        moved += centre
        moved -= near
        normals = rng.standard_normal(block.shape)
        normals *= spread
        normals += moved
        no = np.nonzero(_loss(normals, near, part.n) >= rng.standard_exponential(block.shape))
        np.add(normals, near, out=block)
        n, tau_there = (np.broadcast_to(each, block.shape)[no] for each in (part.n, spread))
        place = start * shape[1] + np.ravel_multi_index(no, block.shape)
        refused.append((place, moved[no], near[no], n, tau_there))
    place, moved, near, n, spread = (np.concatenate(each) for each in zip(*refused, strict=True))
    for _ in range(ROUNDS):
        if not len(place):
            return drawn
        normals = moved + spread * rng.standard_normal(len(place))
        flat[place] = normals + near
        again = _loss(normals, near, n) >= rng.standard_exponential(len(place))
        place, moved, near, n, spread = (each[again] for each in (place, moved, near, n, spread))
    k, centre = (np.broadcast_to(each, shape).ravel()[place] for each in (count.k, alpha))
    flat[place] = tangents.draw(k, n, centre, spread, rng)
    return drawn


def _draw_informed(count: _Count, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws from two normal distributions, the parabola's near the mode and the prior's far from it, (row, column)."""
    shape = np.broadcast_shapes(count.k.shape, alpha.shape, tau.shape)
    count = _Count(*(np.broadcast_to(part, shape).ravel() for part in count))
    alpha, tau = np.broadcast_to(alpha, shape).ravel(), np.broadcast_to(tau, shape).ravel()
    near, p = _near_mode(count, alpha, tau)
    variance = tau**2
    information = count.n * p * (1 - p)
    # Far enough that the second distribution has little mass, and no farther, for the parabola widens with the reach.
    reach = np.sqrt((REACH + 2 * np.log1p(variance * information)) * variance / (1 + variance * information))
    curvature = information * _least_information(reach)
    level = 0.5 * curvature * reach**2
    narrow = 1 / (1 + variance * curvature)
    slope = alpha - near + variance * _residual(count.k, count.n, near)  # times tau^2, so that tau may be small
    # From the mass of the far distribution over the near one's, both centred where the slope moves them.
    far_share = _share(0.5 * slope**2 * curvature * narrow - level - 0.5 * np.log(narrow))
    drawn = np.empty(len(near))
    todo = np.arange(len(near))
    for _ in range(ROUNDS):
        if not len(todo):
            break
        wide = rng.random(len(todo)) < far_share[todo]
        shrink = np.where(wide, 1.0, narrow[todo])
        deviation = slope[todo] * shrink + tau[todo] * np.sqrt(shrink) * rng.standard_normal(len(todo))
        envelope = np.logaddexp(-0.5 * curvature[todo] * deviation**2, -level[todo])
        accept = _loss(deviation, near[todo], count.n[todo]) + envelope < rng.standard_exponential(len(todo))
        drawn[todo[accept]] = deviation[accept] + near[todo[accept]]
        todo = todo[~accept]
    if len(todo):
        drawn[todo] = tangents.draw(count.k[todo], count.n[todo], alpha[todo], tau[todo], rng)
    return drawn.reshape(shape)


def _loss(deviation: FloatArray, near: FloatArray, n: FloatArray) -> FloatArray:
    """Fall of the log likelihood below its tangent at ``near``, at a distance d (``deviation``): n log(1 - p + p e^d) - n p d.

    By symmetry p is the smaller of the two shares, so that neither it nor the difference from 1 is lost to rounding.
    """
    smaller, mirrored = _share(-np.abs(near)), np.where(near < 0, deviation, -deviation)
    with np.errstate(over="ignore"):
        loss = np.expm1(mirrored)
        loss *= smaller
        np.log1p(loss, out=loss)
        smaller *= mirrored
        loss -= smaller
        loss *= n
    return np.asarray(loss, dtype=np.float64)


def _residual(k: FloatArray, n: FloatArray, eta: FloatArray, rarer: FloatArray | None = None) -> FloatArray:
    """Successes less those expected at ``eta``, k - n p, from the smaller of the two shares, ``rarer`` where it is at hand."""
    expected = n * (_share(-np.abs(eta)) if rarer is None else rarer)
    return np.asarray(np.where(eta < 0, k - expected, (k - n) + expected), dtype=np.float64)


def _least_information(reach: FloatArray) -> FloatArray:
    """Smallest curvature of a parabola below n^-1 `_loss` within the reach, over p (1 - p): 2 (e^-r - 1 + r) / r^2."""
    small = reach < 1e-3
    safe = np.where(small, 1.0, reach)
    return np.where(small, 1 - reach / 3, 2 * (np.expm1(-safe) + safe) / safe**2)


def _near_mode(count: _Count, alpha: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A point near the mode of eta, and the share there; any point makes exact draws, this one makes them fast."""
    variance = tau**2
    weight, weighted_successes = variance * count.n, variance * count.k
    information = weight * (count.share * (1 - count.share))
    eta = (count.logit - alpha) * (information / (1 + information))
    eta += alpha
    step, gain = _newton(eta, alpha, tau, weight, weighted_successes)
    eta += step
    step *= step
    step *= gain
    p = _share(eta)
    far = np.nonzero(step > TANGENT_TOLERANCE**2 * variance)
    if len(far[0]):
        some, *rest = (np.broadcast_to(each, eta.shape)[far] for each in (eta, alpha, tau, weight, weighted_successes))
        for _ in range(NEWTON_STEPS):
            step, gain = _newton(some, *rest)
            some = some + step
            if np.all(step**2 * gain <= TANGENT_TOLERANCE**2 * rest[1] ** 2):
                break
        eta[far], p[far] = some, _share(some)
    return eta, p


def _newton(
    eta: FloatArray, alpha: FloatArray, tau: FloatArray, weight: FloatArray, weighted_successes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A step towards the mode, and minus the second derivative times tau^2; ``weight`` is tau^2 n, the last is tau^2 k."""
    step = _share(eta)
    curvature = 1 - step
    curvature *= step
    curvature *= weight
    curvature += 1
    step *= weight
    step += eta
    np.subtract(weighted_successes, step, out=step)
    step += alpha
    step /= curvature
    # A long step into the flat part of the logistic overshoots.
    np.clip(step, -2 - tau, 2 + tau, out=step)
    return step, curvature


def _share(eta: FloatArray) -> FloatArray:
    """The logistic function, which may not be 1 - 1e-17 where it is 1: none that needs such a share calls this."""
    share = np.negative(eta)
    with np.errstate(over="ignore"):
        np.exp(share, out=share)
    share += 1
    return np.asarray(np.reciprocal(share, out=share), dtype=np.float64)


def _count(k: FloatArray, n: FloatArray) -> _Count:
    k, n = np.broadcast_arrays(k, n)
    logit = np.log((k + 0.5) / (n - k + 0.5))
    return _Count(k, n, logit, (k + 0.5) / (n + 1))


def _log_density(z: FloatArray, count: _Count, alpha: FloatArray, tau: FloatArray) -> FloatArray:
    deviation = alpha + tau * z - count.logit
    # The same expression from either side, so that the exponential never overflows.
    below = deviation < 0
    share = np.where(below, count.share, 1 - count.share)
    weight = np.where(below, count.k, count.k - count.n)
    return np.asarray(
        weight * deviation - count.n * np.log1p(share * np.expm1(-np.abs(deviation))) - 0.5 * z * z, dtype=np.float64
    )


def expit(eta: FloatArray) -> FloatArray:
    """Rates of logits, without a warning however far out.

    >>> expit(np.array([-800.0, 0.0])).tolist()
    [0.0, 0.5]
    """
    rate = np.asarray(0.5 * eta, dtype=np.float64)
    np.tanh(rate, out=rate)
    rate += 1
    rate *= 0.5
    return rate


def _mode(count: _Count, alpha: FloatArray, tau: FloatArray) -> _Mode:
    """Mode in z by Newton steps from the count's own logit."""
    weight = tau**2 * count.n
    information = weight * (count.share * (1 - count.share))
    positive = np.where(tau > 0, tau, 1.0)
    z = np.where(tau > 0, (count.logit - alpha) / positive, 0.0) * (information / (1 + information))
    # A long step into the flat part of the logistic overshoots; about two units of eta at a time do not.
    limit = 1 + 2 / np.maximum(tau, 1e-300)
    squares = np.full_like(z, np.inf)
    for _ in range(USUAL_STEPS):
        step, curvature = _step(z, count.k, count.n, alpha, tau)
        z += np.clip(step, -limit, limit, out=step)
        squares = step**2 * curvature
        if np.max(squares, initial=0.0) < NEWTON_TOLERANCE**2:
            break
    far = np.nonzero(squares >= NEWTON_TOLERANCE**2)
    if len(far[0]):
        z[far] = _mode_between(
            z[far], *(np.broadcast_to(each, z.shape)[far] for each in (count.k, count.n, alpha, tau))
        )
    eta = tau * z + alpha
    logit = -np.abs(eta)
    rarer = _share(logit)
    return _Mode(z, 1 / np.sqrt(weight * (rarer * (1 - rarer)) + 1), np.where(eta < 0, 1.0, -1.0), logit, rarer)


def _mode_between(z: FloatArray, k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray) -> FloatArray:
    """Mode in z from far off, all arrays (place,): tau (k - n p) by Newton steps that do not leave where it must lie."""
    low, high = tau * (k - n), tau * k
    z = np.clip(z, low, high)
    for _ in range(NEWTON_STEPS):
        step, curvature = _step(z, k, n, alpha, tau)
        if np.all(step * step * curvature < NEWTON_TOLERANCE**2):
            break
        low, high = np.where(step > 0, z, low), np.where(step < 0, z, high)
        z = z + step
        z = np.where((z > low) & (z < high), z, (low + high) / 2)
    return z


def _step(
    z: FloatArray, k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Newton step towards the mode in z, and minus the second derivative."""
    eta = tau * z + alpha
    rarer = _share(-np.abs(eta))
    curvature = tau**2 * n * (rarer * (1 - rarer)) + 1
    return (tau * _residual(k, n, eta, rarer) - z) / curvature, curvature


def _weights(near: _Mode, count: _Count, tau: FloatArray, nodes: int) -> Iterator[tuple[float, FloatArray]]:
    """Points in spreads from a mode, towards a share of one half and away from it, and terms of the integral there.

    They are in units of the density at the mode, which is the highest; no digits are lost, since the share is the smaller one.
    """
    points, log_weights = _hermite(nodes)
    reach, slope, square = tau * near.spread, near.side * near.z * near.spread, 0.5 * near.spread**2
    cases = np.where(near.side > 0, count.k, count.n - count.k)
    if nodes % 2:
        yield 0.0, np.full(near.z.shape, np.exp(log_weights[nodes // 2]))
    for point, log_weight in list(zip(points, log_weights, strict=True))[(nodes + 1) // 2 :]:
        distance = point * reach
        further = np.expm1(np.minimum(distance, MAX_DISTANCE))
        tilt, level = cases * distance - point * slope, log_weight - point**2 * square
        for sign, change in ((1, further), (-1, -further / (1 + further))):
            term = near.rarer * change
            np.log1p(term, out=term)
            if sign > 0 and distance.max(initial=0.0) > MAX_DISTANCE:
                np.copyto(term, np.maximum(near.logit + distance, 0.0), where=distance > MAX_DISTANCE)
            term *= -count.n
            term += level
            term += sign * tilt
            # Where the prior expects logits of 1e14 or so, their rounding misses the mode.
            np.minimum(term, MAX_LOG_TERM, out=term)
            yield sign * point, np.exp(term, out=term)


@cache
def _hermite(nodes: int) -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return points, np.log(weights) + 0.5 * points**2
