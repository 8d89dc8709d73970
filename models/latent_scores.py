"""Mean scores of every subgroup and outcome in the form that their data allow: what subgroups share, then that of each.

Shared coefficients have the form of ``latent_coefficients`` with the effects of the subgroup itself as noise, which both outcomes
of a subgroup have in common. The two effects of a subgroup have the form of ``latent_effects``: the common one with the
difference between outcomes as noise, then that difference given the common one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from .latent_coefficients import coefficients_given
from .latent_effects import latent_effects
from .shared.score_cells import CONTRAST

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

HALF = np.array(CONTRAST)


class Means(NamedTuple):
    """``coefficient`` (column,) of the design, and ``mean`` (subgroup, outcome) with the effects of subgroups."""

    coefficient: Tensor
    mean: Tensor


def latent_scores(
    names: tuple[str, str, str],
    x: FloatArray,
    estimate: Tensor,
    count: FloatArray,
    variance: Tensor,
    spread: Tensor,
    own: Tensor,
    dims: tuple[str, str],
) -> Means:
    """Means of all cells, of the model in context.

    Parameters
    ----------
    names : tuple of str
        Names of the latent variables: of the coefficients, and of the effects of subgroups, common and differing.
    x : FloatArray
        Shape (subgroup, outcome, column): the design.
    estimate : Tensor
        Shape (subgroup, outcome): observed mean of each cell; any number where nothing was observed.
    count : FloatArray
        Rows of each cell, likewise.
    variance : Tensor
        Their variance, likewise.
    spread : Tensor
        Shape (column,): prior standard deviations of the coefficients.
    own : Tensor
        Shape (effect,): standard deviations of the effects of subgroups, common to both outcomes and differing between them.
    dims : tuple of str
        Dims of columns and subgroups.

    Returns
    -------
    Means

    Examples
    --------
    >>> x = np.stack([np.eye(2), np.eye(2), np.eye(2)])
    >>> with pm.Model(coords={"column": [0, 1], "subgroup": list("abc")}) as model:
    ...     own = pm.HalfNormal("own", shape=2)
    ...     names, cells = ("z", "z_common", "z_difference"), np.ones((3, 2))
    ...     found = latent_scores(names, x, 0 * cells, cells, cells, np.ones(2), own, ("column", "subgroup"))
    >>> [variable.name for variable in model.free_RVs]
    ['own', 'z', 'z_common', 'z_difference']
    """
    column, subgroup = dims
    information, score = _without_own(x, estimate, count, variance, own)
    coefficient = coefficients_given(names[0], information, score, spread, x.shape[-1], (column,))
    shared = (x * coefficient).sum(axis=-1)
    precision = count / variance
    # Of both outcomes together, and of the difference between them, which is noise to the common effect.
    left = precision * (estimate - shared)
    total, differing = precision.sum(axis=1), (precision * HALF**2).sum(axis=1)
    noise = 1 + own[1] ** 2 * differing
    known = (total + own[1] ** 2 * precision.prod(axis=1)) / noise
    pull = left.sum(axis=1) - own[1] ** 2 * (precision * HALF).sum(axis=1) * (left * HALF).sum(axis=1) / noise
    common = latent_effects(names[1], pull, known, own[0], (subgroup,))
    rest = ((left - precision * common[:, None]) * HALF).sum(axis=1)
    difference = latent_effects(names[2], rest, differing, own[1], (subgroup,))
    return Means(coefficient, shared + common[:, None] + difference[:, None] * HALF)


def _without_own(
    x: FloatArray, estimate: Tensor, count: FloatArray, variance: Tensor, own: Tensor
) -> tuple[Tensor, Tensor]:
    """Information of the data on the coefficients, and its score at 0, with the effects of subgroups integrated out."""
    # Not the root of the precision, which has no slope where that is 0.
    precision, root = count / variance, np.sqrt(count) / pm.math.sqrt(variance)
    common, differing = own[0] ** 2, own[1] ** 2
    # Noise of both outcomes of a subgroup in their standard errors: 1 + first, 1 + second, and the product they share.
    first, second = (precision[:, k] * (common + HALF[k] ** 2 * differing) for k in range(2))
    both = root[:, 0] * root[:, 1] * (common + HALF[0] * HALF[1] * differing)
    # The determinant without cancellation: that of the effects alone is the product of their variances.
    determinant = 1 + first + second + precision[:, 0] * precision[:, 1] * common * differing
    left, right = pm.math.sqrt(1 + first), pm.math.sqrt(determinant / (1 + first))
    lower = both / left
    scaled, value = root[..., None] * x, root * estimate
    rows = [scaled[:, 0] / left[:, None]]
    rows.append((scaled[:, 1] - lower[:, None] * rows[0]) / right[:, None])
    values = [value[:, 0] / left]
    values.append((value[:, 1] - lower * values[0]) / right)
    white, target = pm.math.concatenate(rows), pm.math.concatenate(values)
    return white.T @ white, target @ white
