"""SureMap for several tasks: the same groups, one covariance between them, and a centre per group that tasks share.

    z_t ~ Normal(mu_t, diag(v_t)),   mu_t ~ Normal(theta, K)

=============  =====================================================================================================
variant        the centre theta
=============  =====================================================================================================
``zero``       known: a perfect model
``metamap``    theta ~ Normal(perfect model, Gamma), Gamma of the same family with variances of its own
``solve``      whatever makes the estimated risk smallest
=============  =====================================================================================================

Every task is smoothed linearly, so an unbiased estimate of the risk summed over tasks tunes the variances. With W_t of
`precision.weigh`, A_t = I - K W_t and M_t the derivative of theta by z_t,

    SURE = sum_t ( groups + sum r_t^2 / v_t + 2 tr(A_t M_t) - 2 tr(A_t) ),   r_t = A_t (z_t - theta)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.precision import against, combine, noise, weigh
from bayesgroups.frequentist.crossed.search import minimise
from bayesgroups.frequentist.crossed.sure import starts

Variant = Literal["zero", "metamap", "solve"]

RANK = 1e-10
"""Directions in which tasks say less than this share of the most they say, and nothing is solved for."""


@dataclass(frozen=True)
class MultiTaskFit:
    """Fit of several tasks, with SURE at its minimum.

    ``variances`` and ``centre_variances`` (component,) are those of K and of Gamma, the latter 0 unless the variant is
    ``metamap``; ``theta`` (group,) is the centre that tasks share; ``estimate`` is (task, group).
    """

    variances: FloatArray
    centre_variances: FloatArray
    theta: FloatArray
    estimate: FloatArray
    risk: float


@dataclass(frozen=True)
class Smoothed:
    """Data after smoothing with known variances.

    ``weights`` (task, group, group) are W_t, ``sensitivity`` (task, group, group) is M_t = d theta / d z_t.
    """

    weights: FloatArray
    sensitivity: FloatArray
    theta: FloatArray
    estimate: FloatArray


def fit(
    z: FloatArray, u: FloatArray, agreement: FloatArray, *, variant: Variant = "metamap", centre: float = 0.0
) -> MultiTaskFit:
    """Variances tuned over all tasks, and each task shrunk.

    ``z`` and ``u`` (task, group) are estimates and precisions 1/v, 0 where a task has no data on a group; ``agreement``
    has the matrices C_S of a `Family`; ``centre`` is a perfect model. With one task ``solve`` returns z. Khodak, Mackey,
    Chouldechova, Dudik (2024), section 4, arXiv:2411.09730.
    """
    components = len(agreement)
    begin, unit = _starts(z - centre, u, components, variant)
    variances, value = minimise(lambda x: risk(z, u, agreement, x, variant=variant, centre=centre), begin, unit)
    smoothed = smooth(z, u, agreement, variances, variant=variant, centre=centre)
    specific, shared = variances[:components], variances[components:]
    return MultiTaskFit(
        specific, shared if shared.size else np.zeros(components), smoothed.theta, smoothed.estimate, value
    )


def smooth(
    z: FloatArray,
    u: FloatArray,
    agreement: FloatArray,
    variances: FloatArray,
    *,
    variant: Variant = "metamap",
    centre: float = 0.0,
) -> Smoothed:
    """Estimates at given variances: those of K, then with ``metamap`` those of Gamma; the rest is as in `fit`.

    With ``metamap`` they are the mean of the joint normal posterior of the centre and all tasks. With ``solve`` a group
    that no task has data on has the average centre of the others.

    >>> smoothed = smooth(np.array([[0.4, 0.2], [0.2, 0.2]]), np.ones((2, 2)), np.eye(2)[None], np.array([1.0, 1.0]))
    >>> smoothed.theta.round(6).tolist(), smoothed.estimate.round(6).tolist()
    ([0.15, 0.1], [[0.275, 0.15], [0.175, 0.15]])
    """
    covariance = combine(variances[: len(agreement)], agreement)
    w = weigh(u, covariance)
    groups = u.shape[-1]
    residual = z - centre
    if variant == "zero":
        theta, sensitivity = np.zeros(groups), np.zeros_like(w)
    elif variant == "metamap":
        joint, _ = _posterior_of_centre(combine(variances[len(agreement) :], agreement), w.sum(axis=0))
        sensitivity = joint @ w
        theta = np.einsum("tgh,th->g", sensitivity, residual)
    else:
        x = (w * noise(u)[:, None, :]) @ w
        sensitivity = _inverse(x.sum(axis=0)) @ x
        theta = np.einsum("tgh,th->g", sensitivity, residual)
        empty = ~(u > 0).any(axis=0)
        if empty.any() and not empty.all():
            theta[empty] = np.average(theta, weights=u.sum(axis=0))
    estimate = centre + theta + np.einsum("gh,thk,tk->tg", covariance, w, residual - theta, optimize=True)
    return Smoothed(w, sensitivity, centre + theta, estimate)


def risk(
    z: FloatArray,
    u: FloatArray,
    agreement: FloatArray,
    variances: FloatArray,
    *,
    variant: Variant = "metamap",
    centre: float = 0.0,
) -> tuple[float, FloatArray]:
    """SURE over all tasks and its gradient by the variances; arguments as in `smooth`.

    >>> z, u = np.array([[0.4, 0.2], [0.2, 0.2]]), np.ones((2, 2))
    >>> value, slope = risk(z, u, np.eye(2)[None], np.array([1.0, 1.0]))
    >>> round(value, 6), slope.round(6).tolist()
    (1.02125, [1.236875, 0.48375])
    """
    components = len(agreement)
    v = noise(u)
    w = weigh(u, combine(variances[:components], agreement))
    x = (w * v[:, None, :]) @ w
    wide = x.sum(axis=0)
    residual = z - centre
    empty = np.count_nonzero(u == 0)
    plain = float(u.size - 2 * (np.einsum("tg,tgg->", v, w) + empty))

    def rest(theta: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Fit to the data, and the matrices whose traces with C_S are the slopes at a fixed centre."""
        q = np.einsum("tgh,th->tg", w, residual - theta)
        p = np.einsum("tgh,th->tg", w, v * q)
        return plain + float((v * q * q).sum()), q, p, 2 * (wide - np.einsum("tg,th->gh", p, q))

    if variant == "zero":
        value, _, _, slope = rest(np.zeros(u.shape[-1]))
        return value, against(slope, agreement)
    if variant == "metamap":
        total, h = w.sum(axis=0), np.einsum("tgh,th->g", w, residual)
        joint, own_inverse = _posterior_of_centre(combine(variances[components:], agreement), total)
        value, q, p, slope = rest(joint @ h)
        value += 2 * float((wide * joint).sum())
        pull = p.sum(axis=0)
        slope = slope + 2 * np.einsum("tgh,h,tk->gk", w, joint @ pull, q, optimize=True)
        slope += 2 * (w @ (joint @ wide @ joint) @ w).sum(axis=0) - 4 * (w @ joint @ x).sum(axis=0)
        back, forth = own_inverse.T @ pull, own_inverse.T @ h
        of_centre = 2 * (own_inverse.T @ wide @ own_inverse - back[:, None] * forth)
        return value, np.concatenate([against(slope, agreement), against(of_centre, agreement)])
    inverse = _inverse(wide)
    y = (x * v[:, None, :]) @ w
    value, _, _, slope = rest(inverse @ np.einsum("tgh,th->g", x, residual))
    value += 2 * float((inverse * y.sum(axis=0)).sum())
    twice = inverse @ y.sum(axis=0) @ inverse
    slope = (
        slope - 4 * (w @ inverse @ y).sum(axis=0) - 2 * (x @ inverse @ x).sum(axis=0) + 4 * (w @ twice @ x).sum(axis=0)
    )
    return value, against(slope, agreement)


def _posterior_of_centre(covariance: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(Gamma^-1 + sum W)^-1, and (I + Gamma sum W)^-1, without an inverse of Gamma."""
    inverse = np.linalg.inv(np.eye(len(weights)) + covariance @ weights)
    joint = inverse @ covariance
    return (joint + joint.T) / 2, inverse


def _inverse(x: FloatArray) -> FloatArray:
    """Pseudo-inverse: groups without data in any task have no say."""
    inverse: FloatArray = np.linalg.pinv(x, rcond=RANK, hermitian=True)
    return inverse


def _starts(residual: FloatArray, u: FloatArray, components: int, variant: Variant) -> tuple[FloatArray, FloatArray]:
    """Starts as for one task, from all tasks together, and units of the search.

    With ``metamap`` all in the tasks, all in the centre, and halves.
    """
    pooled = starts(residual.ravel(), u.ravel(), components)
    spread, zero = pooled[1], np.zeros(components)
    if variant != "metamap":
        return pooled, spread
    return np.array([[*spread, *zero], [*zero, *spread], [*spread / 2, *spread / 2]]), np.array([*spread, *spread])
