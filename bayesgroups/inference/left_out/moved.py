r"""Draws of the other subgroups moved towards their posterior without one subgroup, and importance weights of the moved draws.

The data of g move the predictors of subgroups that share attributes with it, and weights have to bring them back. Given the
standard deviations, a normal approximation of the likelihoods (precision :math:`\pi_h` and estimate :math:`\tilde y_h` of every
subgroup) has the posterior covariance :math:`U = (P + \Pi)^{-1}` and mean m. Without g both change along one direction, column
u of U: with :math:`c = \pi_g / (1 - \pi_g u_g)`,

.. math:: \eta'_{-g} = \eta_{-g} + \delta u_{-g}, \qquad \delta = \alpha t_g + c (m_g - \tilde y_g),

where :math:`t_g`, of variance s, is the deviation from :math:`m_g` of the mean of :math:`\eta_g` given the others, and
:math:`\alpha = c / (1 + \sqrt{1 + c s})` widens the draws. The determinant of the map is :math:`\sqrt{1 + c s}`. Weights are those
of the model itself, prior and likelihoods before and after, so that the approximation decides how even they are and not what is
estimated.

References
----------
Paananen, Piironen, Burkner and Vehtari (2021), Implicitly adaptive importance sampling, doi:10.1007/s11222-020-09982-2.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.left_out.crossed_normal import conditional, covariance, more_effects
from bayesgroups.inference.left_out.population import binomial_density

BLOCK = 1_000_000
"""Numbers of a table (draw, subgroup, subgroup) held at once."""
MOVED_SUBGROUPS = 300
"""Subgroups up to which draws are moved, which takes a time that grows with the square of their number; where there are more a
single one moves the others less."""

Densities = tuple[FloatArray, FloatArray, FloatArray]
"""Log densities at plain draws; log weights of other draws, or of the same, and log densities there; all (draw, cell)."""


def count_densities(
    eta: FloatArray, k: FloatArray, n: FloatArray, noise: FloatArray, z: FloatArray, widths: FloatArray
) -> Densities:
    """Densities of counts given the others, at moved draws where there are few enough of them; arguments as in `moved`."""
    if eta.shape[1] <= MOVED_SUBGROUPS:
        return moved(eta, k, n, noise, z, widths)
    mean, variance = conditional(eta, np.broadcast_to(noise[:, None], eta.shape), z, widths)
    plain = binomial_density(k, n, mean, np.sqrt(variance))
    return plain, -plain, plain


def moved(
    eta: FloatArray, k: FloatArray, n: FloatArray, noise: FloatArray, z: FloatArray, widths: FloatArray
) -> Densities:
    """Log densities (draw, cell) of counts given the others at plain draws, and log weights and densities at moved ones.

    ``eta`` (draw, cell) are logits, ``noise`` (draw,) the variance of residual effects, ``z`` and ``widths`` as in `design`.

    >>> eta = np.random.default_rng(1).normal(size=(5, 2))
    >>> k, n, column = np.array([2.0, 0.0]), np.array([5.0, 3.0]), np.ones((2, 1))
    >>> plain, weight, density = moved(eta, k, n, np.ones(5), column, np.ones((5, 1)))
    >>> plain.shape == weight.shape == density.shape == (5, 2)
    True
    """
    centre = eta.mean(axis=0)
    rate = expit(centre)
    precision = n * rate * (1 - rate)
    estimate = centre + (k - n * rate) / precision
    means, variances = conditional(eta, np.broadcast_to(noise[:, None], eta.shape), z, widths)
    plain = binomial_density(k, n, means, np.sqrt(variances))
    weight, density = np.empty(eta.shape), np.empty(eta.shape)
    rows = max(BLOCK // max(eta.shape[1] * max(eta.shape[1], z.shape[1]), 1), 1)
    for start in range(0, len(eta), rows):
        part = slice(start, start + rows)
        r, variance, w = eta[part], noise[part, None], z * widths[part, None]
        mean, diagonal = means[part], 1 / variances[part]
        score = (r - mean) * diagonal
        u = posterior_covariance(precision, variance, w)
        q = np.diagonal(u, axis1=1, axis2=2)
        residual_share = 1 - precision * q  # the column of the prior's precision times u, at g
        posterior_mean = u @ (precision * estimate)
        pull = precision / residual_share
        total = diagonal + precision
        deviation = r - posterior_mean - (score + precision * (r - estimate)) / total
        root = np.sqrt(1 + pull * np.maximum(q - 1 / total, 0.0))
        step = pull / (1 + root) * deviation + pull * (posterior_mean - estimate)
        slope = r - (u @ (precision * r)[:, :, None])[:, :, 0] - residual_share * score / diagonal
        curvature = q - (u**2 @ precision) - residual_share**2 / diagonal
        change = _others(r, step, u, k, n)
        weight[part] = np.log(root) - step * slope - 0.5 * step**2 * curvature + change - plain[part]
        density[part] = binomial_density(k, n, mean + step * (q - residual_share / diagonal), 1 / np.sqrt(diagonal))
    return plain, weight, density


def posterior_covariance(precision: FloatArray, variance: FloatArray, w: FloatArray) -> FloatArray:
    """Inverse (draw, cell, cell) of (W W' + variance I)^-1 + diag(precision).

    >>> posterior_covariance(np.array([1.0]), np.ones((1, 1)), np.ones((1, 1, 1))).round(6).tolist()
    [[[0.666667]]]
    """
    if more_effects(w):
        whole = covariance(variance, w)
        return np.linalg.solve(np.eye(w.shape[1]) + whole * precision, whole)
    shrunk = 1 / (1 + precision * variance)
    factor = w * shrunk[:, :, None]
    middle = np.eye(w.shape[2]) + np.swapaxes(w, 1, 2) @ (factor * precision[:, None])
    u = factor @ np.linalg.solve(middle, np.swapaxes(factor, 1, 2))
    places = np.arange(w.shape[1])
    u[:, places, places] += variance * shrunk
    return np.asarray(u)


def _others(r: FloatArray, step: FloatArray, u: FloatArray, k: FloatArray, n: FloatArray) -> FloatArray:
    """Change (draw, cell) of the log likelihoods of all others where each cell's step is taken along its column."""
    after = r[:, None] + step[:, :, None] * u
    change = k * after - n * np.logaddexp(0, after)
    change -= (k * r - n * np.logaddexp(0, r))[:, None]
    return np.asarray(change.sum(axis=2) - np.diagonal(change, axis1=1, axis2=2))
