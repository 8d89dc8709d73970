"""Means of covariates of the rows in the population of every subgroup and outcome.

    mean of a covariate among rows ~ Normal(nu[g, y], 1 / rows)
    nu[g, y] = centre[y] + common[g] + h[y] differing[g],   h = (-1/2, 1/2)
    centre ~ Normal(0, 3),  common, differing ~ Normal(0, scales),  scales ~ HalfNormal(1), HalfNormal(0.3)

for each of the uncorrelated covariates of `bayesgroups.models.shared.score_covariates`, independently. The score
model says nothing of covariates, so that they are sampled apart from it: both scales on a grid that closes in on their mass, all
else exactly.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import score_effects
from bayesgroups.inference.score_effects import Cells, Design
from bayesgroups.models.shared.score_covariates import CENTRE_SCALE, TAU_SCALES, CovariateCells

NODES = 32
"""Nodes of the grid, for each scale."""
PASSES = 5
WIDEST = (-10.0, 3.0)
"""Range of the logarithms of scales that is searched."""
DROP = 12.0
"""Nodes whose log density is that much below the largest are left outside the next grid."""
CHUNK = 256_000
"""Numbers handled at once."""


def sample(
    covariates: CovariateCells, rng: np.random.Generator, *, finite: bool, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Draws of the means of the covariates (draw, subgroup, outcome, covariate), and of their centres (draw, outcome, covariate).

    ``finite``: the population are the rows themselves, whose means are known; cells without rows are drawn.

    >>> count, mean = np.full((3, 2), 400.0), np.array([[0.0, 1.0], [0.5, 1.5], [0.2, 1.2]])[..., None]
    >>> cells = CovariateCells(count, mean, np.ones((3, 2, 1, 1)), np.zeros((3, 2, 1)))
    >>> means, centre = sample(cells, np.random.default_rng(1), finite=False, draws=1000)
    >>> means.mean(axis=0)[..., 0].round(1).tolist()
    [[0.0, 1.0], [0.5, 1.5], [0.2, 1.2]]
    """
    count = covariates.count
    design = Design(np.broadcast_to(np.eye(2), (len(count), 2, 2)), np.array([-1, -1]), np.full(2, CENTRE_SCALE), 0)
    drawn, centre = np.empty((draws, *covariates.mean.shape)), np.empty((draws, 2, covariates.mean.shape[-1]))
    for k in range(covariates.mean.shape[-1]):
        mean = covariates.mean[None, ..., k]
        log_scale = _scales(design, mean, count, rng, draws)
        for block in _blocks(draws, len(count)):
            precision = np.broadcast_to(count, (len(log_scale[block]), *count.shape))
            solved = score_effects.solve(design, log_scale[block], Cells.of(mean, precision))
            nu, theta = score_effects.draw(design, solved, log_scale[block], rng)
            drawn[block, :, :, k] = np.where(count > 0, mean[0], nu) if finite else nu
            centre[block, :, k] = theta
    return drawn, centre


def _scales(design: Design, mean: FloatArray, count: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Draws of the logarithms of both scales, (draw, 2), from a grid; even within its cells."""

    def log_density(point: FloatArray) -> FloatArray:
        value = np.empty(len(point))
        for block in _blocks(len(point), len(count)):
            precision = np.broadcast_to(count, (len(point[block]), *count.shape))
            value[block] = score_effects.solve(design, point[block], Cells.of(mean, precision)).value
        prior = point - 0.5 * (np.exp(point) / np.array(TAU_SCALES)) ** 2
        return np.asarray(value + prior.sum(axis=1), dtype=np.float64)

    bounds = np.array([WIDEST, WIDEST])
    grid, width = _grid(bounds)
    value = log_density(grid)
    for _ in range(PASSES):
        near = grid[value >= value.max() - DROP]
        closer = np.stack([near.min(axis=0) - 1.5 * width, near.max(axis=0) + 1.5 * width], axis=1)
        closer = np.clip(closer, *WIDEST)
        if (closer[:, 1] - closer[:, 0] > 0.8 * (bounds[:, 1] - bounds[:, 0])).all():
            break
        bounds = closer
        grid, width = _grid(bounds)
        value = log_density(grid)
    mass = np.exp(value - value.max())
    chosen = grid[rng.choice(len(grid), size=draws, p=mass / mass.sum())]
    return np.asarray(chosen + width * (rng.random(chosen.shape) - 0.5), dtype=np.float64)


def _grid(bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles of the cells of a grid (node, 2), and their widths (2,)."""
    width = (bounds[:, 1] - bounds[:, 0]) / NODES
    nodes = bounds[:, :1] + width[:, None] * (np.arange(NODES) + 0.5)
    return np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, 2), width


def _blocks(size: int, subgroups: int) -> list[slice]:
    step = max(1, CHUNK // (8 * subgroups))
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]
