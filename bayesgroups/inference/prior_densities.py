"""Log densities of hyper-priors at the draws of a posterior, up to a constant.

Priors that a person sets are in them: of the centre and of the spreads. The population of subgroups is part of the model and
stays out. Densities are those of the parameters that the models are written in: logits for binomial likelihoods.

Draws are those of one metric, along ``sample``; ``tally`` has that metric alone unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.prior_conflict import inside, logit
from bayesgroups.models.shared.area_design import COEFFICIENT_LOGIT
from bayesgroups.models.shared.cells import normal_cells
from bayesgroups.models.shared.component_scales import (
    COEFFICIENT,
    DEGREES,
    OVERALL_LOGIT,
    ScaleByOrder,
    scales_by_order,
)
from bayesgroups.models.shared.confusion_offsets import SLOPE_SCALE
from bayesgroups.models.shared.confusion_tree import SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD, factor_scales, tree
from bayesgroups.models.shared.judged_rate import SLOPE_SD, uses_judged_rate
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, WEAK, natural_scale
from bayesgroups.models.shared.sparsity import global_scale
from bayesgroups.models.shared.subsets import subsets


@dataclass(frozen=True)
class LogPrior:
    """Log prior density of the draws of one metric, up to a constant, or the reason why there is none.

    ``value`` is (draw,), or (draw, subgroup) where every subgroup has a prior of its own and nothing is shared.
    """

    value: FloatArray | None
    reason: str = ""


def value_density(values: FloatArray, tally: xr.Dataset, *, binomial: bool) -> FloatArray:
    """Density of values that have a weak prior and no population: Jeffreys' for rates, wide and normal otherwise."""
    if binomial:
        rate = inside(values)  # as a density of the logit, in which the ends are far away
        return np.asarray(JEFFREYS * (np.log(rate) + np.log1p(-rate)))
    natural = natural_scale(tally).isel(metric=0)
    return normal(values, natural["centre"], WEAK * natural["scale"])


def population_density(
    draws: xr.Dataset, tally: xr.Dataset, *, binomial: bool, overall_scale: float | None, tau_scale: float | None,
    coefficient_scale: float | None = None,
) -> FloatArray:  # fmt: skip
    """Density of centre, spread and coefficients of a population, settings as in `bayesgroups.models.partial_pooling.build`.

    With coefficients of covariates those priors that are flat have none.
    """
    natural = natural_scale(tally).isel(metric=0)
    wide = overall_scale or (LOGIT_OVERALL_SCALE if binomial else float(natural["scale"]))
    scale = tau_scale or (LOGIT_TAU_SCALE if binomial else float(natural["tau_scale"]))
    density = half_normal(draws["tau"].values, scale)
    if "beta" not in draws:
        return _centre(draws, natural, wide, binomial=binomial) + density
    steep = coefficient_scale or (COEFFICIENT_LOGIT if binomial else None)
    if steep is not None:
        beta = draws["beta"].transpose("sample", "covariate").values
        density = density + normal(beta, 0.0, steep).sum(axis=1)
    if binomial or overall_scale is not None:
        density = density + _centre(draws, natural, wide, binomial=binomial)
    return density


def component_density(
    draws: xr.Dataset, tally: xr.Dataset, *, binomial: bool, prior: str, tau_scale: ScaleByOrder,
    order: int | None = None,
) -> FloatArray:  # fmt: skip
    """Density of the centre, the components' standard deviations and the coefficients of covariates of crossed effects.

    Settings are those of `bayesgroups.models.crossed_effects.build`; of tasks the tally is the stacked one.
    """
    natural = natural_scale(tally).isel(metric=0)
    every, main = scales_by_order(tally, np.array([binomial]), tau_scale, subsets(tally, order).attributes)
    scale = every[0, : draws.sizes["component"]]
    wide = OVERALL_LOGIT if binomial else float(natural["scale"])
    spread = np.asarray(draws["component_sd"].transpose("sample", "component").values, dtype=np.float64)
    if prior == "half_normal":
        components = half_normal(spread, scale).sum(axis=1)
    elif prior == "half_t":
        components = half_t(spread, scale).sum(axis=1)
    else:  # the split of the total is uniform, so that only the total has a density that changes
        components = half_t(np.sqrt((spread**2).sum(axis=1)), float(scale[0]) * np.sqrt(spread.shape[1]))
    if "beta" in draws and "covariate" in draws["beta"].dims:
        beta = draws["beta"].transpose("sample", "covariate").values
        components = components + normal(beta, 0.0, COEFFICIENT * float(main[0])).sum(axis=1)
    return _centre(draws, natural, wide, binomial=binomial) + np.asarray(components)


def factor_density(
    draws: xr.Dataset, tally: xr.Dataset, *, tau_scale: float | None, judged_rate: bool | None = None
) -> FloatArray:
    """Density of centres, spreads and slopes of the factors of confusion cells, which all metrics share."""
    factors, judged = tree(tally), uses_judged_rate(tally, judged_rate)
    followed = factors.names.index(str(draws["follower"].item())) if "selection_slope" in draws else None
    scales = np.asarray(factor_scales(factors, tau_scale, followed=followed, judged=judged), dtype=np.float64)
    spread = draws["factor_sd"].transpose("sample", "factor", "component").values
    centre = logit(draws["factor_overall"].transpose("sample", "factor").values)
    density = normal(centre, 0.0, LOGIT_OVERALL_SCALE).sum(axis=1)
    density = density + half_normal(spread, scales[:, None]).sum(axis=(1, 2))
    if "slope" in draws:
        density = density + normal(draws["slope"].transpose("sample", ...).values, 0.0, SLOPE_SCALE).sum(axis=1)
    if "selection_slope" in draws:
        slope = draws["selection_slope"].transpose("sample", ...).values
        density = density + normal(slope, SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD).sum(axis=1)
    if "judged_rate_slope" in draws:
        slope = draws["judged_rate_slope"].transpose("sample", ...).values
        density = density + normal(slope, 0.0, SLOPE_SD).sum(axis=1)
    return np.asarray(density)


def coefficient_density(
    draws: xr.Dataset, tally: xr.Dataset, *, prior: str, features: FloatArray, expected_effects: float
) -> FloatArray:
    """Density of the intercept and of the scale that all coefficients share; their law given it is the population.

    Settings are those of `bayesgroups.models.structured_regression.build`.
    """
    natural = natural_scale(tally).isel(metric=0)
    overall = normal(draws["overall"].values, natural["centre"], natural["scale"])
    tau = np.asarray(draws["tau"].values, dtype=np.float64)
    if prior == "laplace":
        return overall + half_normal(tau, float(natural["tau_scale"]) / np.sqrt(2))
    cells = normal_cells(tally, np.ones(1, dtype=np.bool_), natural["scale"].values.reshape(1))
    error = np.full(tally.sizes["subgroup"], np.nan)
    error[cells.subgroup] = cells.std_error
    return overall - np.log1p((tau / global_scale(features, error, expected_effects)) ** 2)  # half-Cauchy


def normal(x: FloatArray, centre: xr.DataArray | float, scale: xr.DataArray | float) -> FloatArray:
    """Normal log density.

    >>> normal(np.array([1.0, 3.0]), 1.0, 2.0).tolist()
    [-0.0, -0.5]
    """
    return np.asarray(-0.5 * ((x - float(centre)) / float(scale)) ** 2)


def half_normal(x: FloatArray, scale: FloatArray | float) -> FloatArray:
    """Half-normal log density of positive values.

    >>> half_normal(np.array([2.0]), 2.0).tolist()
    [-0.5]
    """
    return np.asarray(-0.5 * (x / scale) ** 2)


def half_t(x: FloatArray, scale: FloatArray | float) -> FloatArray:
    """Half-t log density of positive values, with 3 degrees of freedom.

    >>> half_t(np.array([3.0**0.5]), 1.0).round(6).tolist()  # -2 log(2)
    [-1.386294]
    """
    return np.asarray(-0.5 * (DEGREES + 1) * np.log1p((x / scale) ** 2 / DEGREES))


def _centre(draws: xr.Dataset, natural: xr.Dataset, wide: float, *, binomial: bool) -> FloatArray:
    overall = np.asarray(draws["overall"].values, dtype=np.float64)
    return normal(logit(overall), 0.0, wide) if binomial else normal(overall, natural["centre"], wide)
