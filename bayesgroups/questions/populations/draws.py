"""Draws of targets from draws of cells: weighted sums, and ratios of weighted sums over confusion cells."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.models.shared.finite_population import finite_population, values_with_others
from bayesgroups.questions.populations.benchmarks import Benchmarked, Scale, benchmark
from bayesgroups.questions.populations.conditional import Confusion
from bayesgroups.questions.populations.plan import KnownTotal
from bayesgroups.questions.populations.sizes import Sizes
from bayesgroups.questions.populations.targets import Targets


def weighted_draws(values: FloatArray, sizes: Sizes, targets: Targets, drawn: FloatArray | None) -> FloatArray:
    """Means (draw, target) of cell values (draw, cell), with the sizes as they are, or ``drawn`` (draw, piece).

    NaN for a target of nobody, and where a cell with people has no value.
    """
    finite = np.isfinite(values)
    filled = np.where(finite, values, 0.0)
    lacking = (~finite).astype(np.float64)
    if drawn is None:
        weights = targets.weights(sizes, values.shape[1])
        means, lost = filled @ weights.T, lacking @ (weights > 0).T.astype(np.float64)
        return np.asarray(np.where(lost > 0, np.nan, means))
    inside = targets.members.T.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = ((drawn * filled[:, sizes.cell]) @ inside) / (drawn @ inside)
    lost = ((drawn > 0) * lacking[:, sizes.cell]) @ inside
    return np.asarray(np.where(lost > 0, np.nan, means))


def ratio_draws(confusion: Confusion, sizes: Sizes, targets: Targets, drawn: FloatArray | None) -> FloatArray:
    """Metrics (draw, target) of confusion cells with ``shares`` (draw, cell, kind): sums first, then their ratio, per draw."""
    above, below = confusion.parts
    with np.errstate(divide="ignore", invalid="ignore"):
        return weighted_draws(above, sizes, targets, drawn) / weighted_draws(below, sizes, targets, drawn)


def target_weights(sizes: Sizes, members: BoolArray, cells: int, drawn: FloatArray | None) -> FloatArray:
    """Weights (cell,) of one target, or (draw, cell) where sizes are drawn."""
    if drawn is None:
        return sizes.shares(members, cells)
    weights = np.zeros((len(drawn), cells))
    for piece in np.flatnonzero(members):
        weights[:, sizes.cell[piece]] += drawn[:, piece]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def benchmarked_draws(
    values: FloatArray, sizes: Sizes, targets: Targets, drawn: FloatArray | None, totals: tuple[KnownTotal, ...],
    scale: Scale, rng: np.random.Generator,
) -> Benchmarked:  # fmt: skip
    """Cell values (draw, cell) of which every draw meets the totals, or a draw of each total where it has an error."""
    weights = [target_weights(sizes, targets.members[total.target], values.shape[1], drawn) for total in totals]
    goals = [total.value + total.std_error * rng.standard_normal(len(values)) for total in totals]
    return benchmark(values, weights, goals, scale, values.var(axis=0, ddof=1))


def everybody_values(
    values: FloatArray, tally: xr.Dataset, position: int, size: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Values (draw, cell) of all people of finite cells, ``size`` (cell,) of them, given superpopulation values.

    Cells without people keep their superpopulation values, as those without draws stay NaN.
    """
    metric = tally.isel(metric=[position])
    evaluated = finite_population(metric, 0.0)
    rates = str(metric["kind"].values[0]) == "rate"
    finite = np.isfinite(values)
    filled = np.where(finite, np.clip(values, 0.0, 1.0) if rates else values, 0.5)
    drawn = values_with_others(filled, evaluated, np.maximum(size - evaluated.evaluated, 0.0), rng, rates=rates)
    # A cell that was evaluated in full is known without a draw.
    census = (size > 0) & (size == evaluated.evaluated)
    return np.asarray(np.where((finite & (size > 0)) | census, drawn, values))
