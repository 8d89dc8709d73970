"""Exact posterior of the values of several systems on the same items, as means with correlated errors.

The covariance of a subgroup's means has the eigenvectors of the covariance pooled over subgroups and, along each of them, its own
variance drawn towards the others' (common principal components). Along the eigenvectors errors are independent, so the values
are crossed effects with a normal likelihood, one direction at a time, with the default priors of a mean. Flury (1984),
doi:10.1080/01621459.1984.10477108.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import crossed_effects
from bayesgroups.models.shared.ordered_levels import Ordered
from bayesgroups.report.diagnostics import Check
from bayesgroups.tallies.assembly import Description, assemble
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import of_tally
from bayesgroups.tallies.sums import Sums

PSEUDO_UNITS = 2.0
"""Units of the largest variance that a rate has, which are counted in all directions with those observed of graded answers: systems
that never differed are not one, and one item is no certainty."""
SMALLEST_SHARE = 1e-12
"""Smallest variance of a direction as a share of that of all, where systems are alike but for rounding."""
LARGEST_VARIANCE = 0.25
"""Largest variance of answers between 0 and 1."""


def sample(
    tally: xr.Dataset,
    mean: FloatArray,
    covariance: FloatArray,
    units: FloatArray,
    *,
    graded: bool,
    seed: int,
    draws: int = 4000,
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
) -> tuple[FloatArray, tuple[Check, ...]]:
    """Draws (draw, system, subgroup) of values, partially pooled, and the checks of the directions.

    ``mean`` (system, subgroup) are estimates from ``units`` (subgroup,) items or clusters, ``covariance`` (subgroup, system,
    system) theirs; ``graded`` answers lie between 0 and 1. NaN where nothing varies. Every direction has the ordered attributes of
    `bayesgroups.models.crossed_effects.build`.
    """
    order = np.lexsort(np.nan_to_num(mean)[:, ::-1].T)  # by the values: systems in any order get the same draws
    mean, covariance = mean[order], covariance[:, order[:, None], order]
    freedom = np.maximum(units - 1, 0.0)
    of_unit = np.where(freedom[:, None, None] > 0, np.nan_to_num(covariance) * units[:, None, None], 0.0)
    pseudo = PSEUDO_UNITS if graded else 0.0
    total = (of_unit * freedom[:, None, None]).sum(axis=0)
    pooled = (total + pseudo * LARGEST_VARIANCE * np.eye(len(total))) / max(freedom.sum() + pseudo, 1.0)
    if not np.trace(pooled) > 0:
        return np.full((draws, *mean.shape), np.nan), ()
    least = max(pseudo * LARGEST_VARIANCE / (freedom.sum() + pseudo or 1.0), SMALLEST_SHARE * float(np.trace(pooled)))
    directions = np.linalg.eigh(pooled)[1]
    checks: list[Check] = []
    projected = np.empty((draws, *mean.shape))
    for i, direction in enumerate(directions.T):
        variance = np.einsum("i,gij,j->g", direction, of_unit, direction) + least
        values = np.where(units > 0, direction @ np.nan_to_num(mean), np.nan)
        moments = Moments(units[None], units[None].copy(), values[None], (variance * freedom)[None])
        low = float(np.minimum(direction, 0.0).sum()) if graded else -np.inf
        high = float(np.maximum(direction, 0.0).sum()) if graded else np.inf
        described = [Description(f"direction {i + 1}", "mean", low, high, True, "no item")]
        sums = assemble(of_tally(tally), described, Sums(units, moments, weighted=False), settings={"source": "pairs"})
        shared = max(float(direction @ pooled @ direction), least)
        with np.errstate(divide="ignore"):
            error = np.where(units > 0, shared / units, np.nan)
        sums = sums.assign(
            pooled_variance=("metric", [shared]), sampling_variance=(("metric", "subgroup"), error[None])
        )
        fit = crossed_effects.sample(
            sums, seed=seed, draws=draws, binomial_likelihood=False, ordered=ordered, cyclic=cyclic
        )
        projected[:, i] = fit.draws["mu"].values.reshape(draws, -1)
        checks += fit.checks
    values = np.empty_like(projected)
    values[:, order] = np.einsum("si,dig->dsg", directions, projected)
    return values, tuple(checks)
