r"""Densities of subgroups with crossed effects, given the other subgroups and the components' standard deviations.

Given the standard deviations the predictors of all subgroups are jointly normal,

.. math:: \eta \sim N(c, \Sigma), \qquad \Sigma = W W^\top + D,

where a row of W has the standard deviations of the components, of the centre and of the coefficients in the cells of its
subgroup, and the diagonal D the variance of its residual effect. With :math:`P = \Sigma^{-1}`,

.. math:: \eta_g \mid \eta_{-g} \sim N\bigl(\eta_g - (P (\eta - c))_g / P_{gg},\; 1 / P_{gg}\bigr),

which does not depend on :math:`\eta_g`. Rates: the likelihood of g is integrated over that distribution at every draw of the
others, which are moved to where they would be without g (``moved``). Estimates: D has their sampling variances besides, the same
formula holds of them, and nothing but the standard deviations is left of a draw. Centre and coefficients are integrated out with
the effects; subgroups without data, of which draws say nothing, are left out of both.

References
----------
Sundararajan and Keerthi (2001), doi:10.1162/08997660151134343: leave-one-out of a Gaussian process. Merkle, Furr and
Rabe-Hesketh (2019), doi:10.1007/s11336-019-09679-0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.left_out.answer import ESTIMATES, SUCCESSES, LeftOut, spread_out
from bayesgroups.inference.left_out.conjugate import normal_density
from bayesgroups.inference.left_out.crossed_normal import conditional, design
from bayesgroups.inference.left_out.moved import count_densities
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.models.shared.cells import binomial_cells, normal_cells
from bayesgroups.models.shared.component_scales import (
    COEFFICIENT,
    OVERALL_LOGIT,
    OWN_EFFECT,
    ScaleByOrder,
    scales_by_order,
)
from bayesgroups.models.shared.covariates import standardised
from bayesgroups.models.shared.ordered_levels import Ordered, ordered_blocks, split_scales
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.models.shared.subsets import subsets

RESOLVED_SHARE = 1e-5
"""Standard deviation of residual effects, as a share of the scale of their prior, that smaller ones are raised to: the inverse
of the covariance keeps its digits, and a density changes by less than draws can tell."""


def crossed_effects(
    draws: xr.Dataset, tally: xr.Dataset, source: xr.Dataset, *, binomial: bool, order: int | None,
    covariates: Sequence[str], tau_scale: ScaleByOrder, residual: Literal["floored", "fixed", "learned"],
    ordered: Ordered, cyclic: Sequence[str],
) -> LeftOut:  # fmt: skip
    """Densities of one metric or of all tasks; ``source`` is the tally as one metric, with the variances of the model."""
    natural, components = natural_scale(source), subsets(source, order)
    every, main = scales_by_order(source, np.array([binomial]), tau_scale, components.attributes)
    scale = float(every[0, -1])
    wide = OVERALL_LOGIT if binomial else float(natural["scale"][0])
    sds = _array(draws["component_sd"].isel(metric=0), "sample", "component")
    fixed_scale = OWN_EFFECT * scale
    with_fixed = len(components.names) > 1 and residual != "learned"
    if with_fixed and residual == "fixed":
        sds = np.column_stack([sds, np.full(len(sds), fixed_scale)])
    along = ordered_blocks(source, components, ordered, cyclic)
    along = along.without(len(components.names) - 1) if with_fixed and residual == "fixed" else along
    following_order = np.empty((len(sds), 0))
    if along.blocks:
        sds, following_order = split_scales(
            sds, _array(draws["ordered_share"].isel(metric=0), "sample", "ordered"), along
        )
    residual_variance = sds[:, -1] ** 2 + (fixed_scale**2 if with_fixed and residual == "floored" else 0.0)
    residual_variance = np.maximum(residual_variance, (RESOLVED_SHARE * scale) ** 2)
    x = standardised(source, covariates).values if covariates else np.empty((source.sizes["subgroup"], 0))
    z, widths = design(components, x, sds[:, :-1], wide, COEFFICIENT * float(main[0]), along, following_order)
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])
    if binomial:
        counts = binomial_cells(source, np.array([True]))
        mu = _array(draws["mu"], "sample", "metric", "subgroup").reshape(len(sds), -1)[:, counts.subgroup]
        parts = count_densities(
            logit(mu), counts.successes, counts.count, residual_variance, z[counts.subgroup], widths
        )
        plain, weight, density = (spread_out(values, counts.subgroup, shape) for values in parts)
        return LeftOut("integrated", SUCCESSES, plain, moved=(weight, density))
    cells = normal_cells(source, np.array([True]), natural["scale"].values)
    noise = residual_variance[:, None] + cells.std_error**2
    deviation = np.broadcast_to(cells.estimate - float(natural["centre"][0]), noise.shape)
    mean, variance = conditional(deviation, noise, z[cells.subgroup], widths)
    return LeftOut(
        "integrated", ESTIMATES, spread_out(normal_density(deviation, mean, variance), cells.subgroup, shape)
    )


def _array(values: xr.DataArray, *dims: str) -> FloatArray:
    return np.asarray(values.transpose(*dims).values, dtype=np.float64)
