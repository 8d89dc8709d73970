"""Likelihood of the between-group variance: its maximum, and the interval of values nearly as likely.

The model is that of `bayesgroups.questions.disparities.heterogeneity`. The likelihood can have several maxima when the sampling
variances differ much, so a grid is scanned before one of them is refined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.questions.disparities.heterogeneity import BISECTIONS

NODES = 240
"""Nodes of the scan, evenly spaced on a logarithmic scale, and 0."""


def log_likelihood(y: FloatArray, v: FloatArray, t: FloatArray, *, restricted: bool) -> FloatArray:
    """Log likelihood, or restricted likelihood, which allows for the estimation of mu, of tau^2 = t, (...), up to a constant.

    mu is maximised out.
    """
    total = v + t[..., None]
    w = 1 / total
    sum_w = w.sum(axis=-1)
    m = (w * y).sum(axis=-1) / sum_w
    value = -0.5 * (np.log(total).sum(axis=-1) + (w * (y - m[..., None]) ** 2).sum(axis=-1))
    return np.asarray(value - 0.5 * np.log(sum_w) if restricted else value, dtype=np.float64)


def maximise(y: FloatArray, v: FloatArray, *, restricted: bool) -> FloatArray:
    """Maximum likelihood (ML) or restricted maximum likelihood (REML) estimate of tau^2, 0 included, (...); v > 0."""
    nodes = _nodes(y, v, 0.0)
    values = np.stack([log_likelihood(y, v, t, restricted=restricted) for t in nodes])
    best = values.argmax(axis=0)
    low, high = _at(nodes, np.maximum(best - 1, 0)), _at(nodes, np.minimum(best + 1, len(nodes) - 1))
    rises = _score(y, v, low, restricted) > 0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        up = _score(y, v, middle, restricted) > 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.where(rises, (low + high) / 2, 0.0)


def interval(y: FloatArray, v: FloatArray, estimate: FloatArray, error: float, *, restricted: bool) -> Interval:
    """Profile-likelihood interval (...): all t whose log likelihood is within half a chi-square quantile of the largest.

    It runs from the smallest such t to the largest. 1 - ``error`` is held where tau^2 is far from 0 and the subgroups are
    many. Hardy, Thompson (1996), doi:10.1002/(SICI)1097-0258(19960330)15:6<619::AID-SIM188>3.0.CO;2-A.
    """
    quantile = float(chdtri(1, error))
    floor = log_likelihood(y, v, estimate, restricted=restricted) - quantile / 2
    nodes = np.sort(np.concatenate([_nodes(y, v, quantile), estimate[None]]), axis=0)
    inside = np.stack([log_likelihood(y, v, t, restricted=restricted) >= floor for t in nodes])
    inside |= nodes == estimate
    first, last = inside.argmax(axis=0), len(nodes) - 1 - inside[::-1].argmax(axis=0)

    def edge(kept: FloatArray, lost: FloatArray) -> FloatArray:
        for _ in range(BISECTIONS):
            middle = (kept + lost) / 2
            stays = log_likelihood(y, v, middle, restricted=restricted) >= floor
            kept, lost = np.where(stays, middle, kept), np.where(stays, lost, middle)
        return (kept + lost) / 2

    lower = edge(_at(nodes, first), _at(nodes, np.maximum(first - 1, 0)))
    upper = edge(_at(nodes, last), _at(nodes, np.minimum(last + 1, len(nodes) - 1)))
    return Interval(lower, upper)


def std_error(v: FloatArray, t: FloatArray, *, restricted: bool) -> FloatArray:
    """Standard error of the estimate t by the expected information, (...): sqrt(2 / sum w^2), sqrt(2 / sum P^2) for REML."""
    w = 1 / (v + t[..., None])
    sum_1, sum_2, sum_3 = ((w**power).sum(axis=-1) for power in (1, 2, 3))
    information = sum_2 - 2 * sum_3 / sum_1 + (sum_2 / sum_1) ** 2 if restricted else sum_2
    return np.asarray(np.sqrt(2 / information), dtype=np.float64)


def _score(y: FloatArray, v: FloatArray, t: FloatArray, restricted: bool) -> FloatArray:
    """Twice the slope of the log likelihood, times the smallest total variance."""
    total = v + t[..., None]
    least = total.min(axis=-1, keepdims=True)
    w = least / total
    sum_w = w.sum(axis=-1)
    m = (w * y).sum(axis=-1) / sum_w
    slope = (w**2 * (y - m[..., None]) ** 2).sum(axis=-1) / least[..., 0] - sum_w
    if restricted:
        slope = slope + (w**2).sum(axis=-1) / sum_w
    return np.asarray(slope, dtype=np.float64)


def _nodes(y: FloatArray, v: FloatArray, quantile: float) -> FloatArray:
    """Values of t (node, ...), 0 first, up to beyond the maximum, or beyond an interval of that quantile."""
    spread = (y.max(axis=-1) - y.min(axis=-1)) ** 2
    least, most = v.min(axis=-1), v.max(axis=-1)
    reach = 2.0 if quantile == 0 else np.exp(2 * quantile / (y.shape[-1] - 1) + 2) * y.shape[-1]
    top = (spread + (most if quantile else 0.0)) * reach
    top = np.maximum(top, least * 1e-3)
    bottom = np.minimum(least * 1e-3, top * 1e-3)
    power = np.linspace(0.0, 1.0, NODES).reshape(-1, *([1] * top.ndim))
    rising = bottom * (top / bottom) ** power
    return np.concatenate([np.zeros((1, *top.shape)), rising])


def _at(nodes: FloatArray, position: NDArray[np.intp]) -> FloatArray:
    return np.asarray(np.take_along_axis(nodes, position[None], axis=0)[0], dtype=np.float64)
