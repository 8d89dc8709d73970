"""Densities of subgroups under a sparse regression, the coefficient of the subgroup's indicator integrated out.

Given tau the coefficient of the indicator is a mixture of Normal(0, s) over the local scale, so that the estimate of the subgroup
is a mixture of normal distributions around what the other coefficients say, integrated by the trapezoid rule in the logarithm of
the local scale. Where a subgroup has several indicators of its own, as with a single attribute, the last is integrated out and
the others stay at their draws.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.left_out.answer import ESTIMATES, LeftOut, spread_out, without_answer
from bayesgroups.inference.left_out.conjugate import normal_density
from bayesgroups.models.shared.cells import normal_cells
from bayesgroups.models.shared.scales import natural_scale

STEP = 0.25
"""Step of the logarithm of the local scale."""
LOCAL_RANGE = (-12.0, 26.0)
"""Logarithms of local scales, beyond which a half-Cauchy has a mass of 1e-5 below and 1e-11 above."""


def structured_regression(
    draws: xr.Dataset, tally: xr.Dataset, features: FloatArray, *, prior: Literal["horseshoe", "laplace"],
    slab_scale: float | None, local_df: float,
) -> LeftOut:  # fmt: skip
    """Densities of one metric; ``features`` (subgroup, coefficient) hold an indicator of every subgroup."""
    natural = natural_scale(tally)
    scale = float(natural["scale"][0])
    cells = normal_cells(tally, np.array([True]), natural["scale"].values)
    drawn = draws.isel(metric=0)
    tau = np.asarray(drawn["tau"].transpose("sample").values, dtype=np.float64)
    beta = np.asarray(drawn["beta"].transpose("sample", "coefficient").values, dtype=np.float64)
    fitted = beta @ features.T
    intercept = _intercept(drawn, fitted, tally)
    if np.isnan(intercept).any():
        return without_answer(
            "in some draws all values lie beyond the range of the metric, and are not kept in the report"
        )
    single = (np.count_nonzero(features, axis=0) == 1) & (features.sum(axis=0) == 1)
    column = np.array([np.flatnonzero(single & (features[g] == 1))[-1] for g in cells.subgroup], dtype=np.intp)
    residual = cells.estimate - (intercept[:, None] + fitted[:, cells.subgroup] - beta[:, column])
    slab = None if prior == "laplace" else slab_scale or scale
    local, log_weight = laplace_scales() if slab is None else half_t_scales(local_df)
    density = np.empty(residual.shape)
    for cell, variance in enumerate(cells.std_error**2):
        spread = (tau[:, None] * local) ** 2
        spread = spread if slab is None else spread * slab**2 / (slab**2 + spread)
        terms = normal_density(residual[:, cell, None], 0.0, spread + variance)
        density[:, cell] = logsumexp(terms + log_weight, axis=1)
    return LeftOut("integrated", ESTIMATES, spread_out(density, cells.subgroup, (1, tally.sizes["subgroup"])))


def half_t_scales(df: float) -> tuple[FloatArray, FloatArray]:
    """Half-t local scales and the logarithms of their weights.

    >>> scales, log_weight = half_t_scales(1.0)
    >>> round(float(np.exp(log_weight)[scales < 1].sum() + 0.5 * np.exp(log_weight)[scales == 1].sum()), 4)
    0.5
    """
    grid = np.arange(*LOCAL_RANGE, STEP)
    log_weight = grid - 0.5 * (df + 1) * np.log1p(np.exp(2 * grid) / df)
    return np.exp(grid), np.asarray(log_weight - logsumexp(log_weight))


def laplace_scales() -> tuple[FloatArray, FloatArray]:
    """Local scales of a Laplace distribution, roots of twice an exponential variable, and the logarithms of their weights.

    >>> scales, log_weight = laplace_scales()
    >>> round(float((np.exp(log_weight) * scales**2).sum()), 4)
    2.0
    """
    grid = np.arange(LOCAL_RANGE[0] * 2, 6.0, STEP)
    log_weight = grid - np.exp(grid)
    return np.sqrt(2 * np.exp(grid)), np.asarray(log_weight - logsumexp(log_weight))


def _intercept(draws: xr.Dataset, fitted: FloatArray, tally: xr.Dataset) -> FloatArray:
    """Intercepts (draw,) before they are brought into the range, from any value inside it; NaN where there is none."""
    low, high = (float(tally[name].values[0]) for name in ("range_lower", "range_upper"))
    overall = np.asarray(draws["overall"].transpose("sample").values, dtype=np.float64)
    mu = np.asarray(draws["mu"].transpose("sample", "subgroup").values, dtype=np.float64)
    candidates = np.column_stack([overall, mu - fitted])
    inside = np.column_stack([(overall > low) & (overall < high), (mu > low) & (mu < high)])
    first = np.argmax(inside, axis=1)
    return np.where(inside.any(axis=1), candidates[np.arange(len(first)), first], np.nan)
