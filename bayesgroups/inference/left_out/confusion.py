"""Densities of the confusion cells of subgroups: binomial factors, the effects of the subgroup on all of them integrated out.

Factors are independent given their standard deviations, and crossed as in ``crossed``, except the pair of the selection rate and
the outcomes that follow it. Given the other subgroups the two logits of a subgroup are jointly normal, and their likelihood is
integrated over the first by Gauss-Hermite quadrature around its posterior given its own count, and at each node over the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import gammaln, logsumexp

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.inference.collapsed.logit_normal import moments
from bayesgroups.inference.left_out.answer import LeftOut, Method
from bayesgroups.inference.left_out.conjugate import normal_density
from bayesgroups.inference.left_out.crossed import RESOLVED_SHARE
from bayesgroups.inference.left_out.crossed_normal import BLOCK, Precision, design
from bayesgroups.inference.left_out.moved import count_densities
from bayesgroups.inference.left_out.population import NODES, binomial_density
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.inference.value_nodes import confusion_nodes, factor_rates
from bayesgroups.models.shared.confusion_offsets import SLOPE_SCALE, offsets
from bayesgroups.models.shared.confusion_tree import Tree, factor_scales, follower, own_spreads, tree
from bayesgroups.models.shared.judged_rate import SLOPE_SD, judged_rates, uses_judged_rate
from bayesgroups.models.shared.ordered_levels import Ordered, ordered_blocks, split_scales
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.shared.subsets import subsets

CELLS = "cells of outcome and decision"
"""Data that a density is of."""
OUTER_NODES = 9
"""Gauss-Hermite nodes of the first of two logits."""


class _Factor(NamedTuple):
    """One factor: counts (cell,) of the subgroups with trials, their logits (draw, cell), and their law.

    ``noise`` (draw,) is the variance of residual effects, ``z`` (cell, effect) and ``widths`` (draw, effect) as in `design`.
    """

    subgroup: IndexArray
    k: FloatArray
    n: FloatArray
    eta: FloatArray
    noise: FloatArray
    z: FloatArray
    widths: FloatArray


def confusion_cells(
    draws: xr.Dataset, tally: xr.Dataset, *, order: int | None, tau_scale: float | None, own_effects: str | None,
    follow_selection: bool, score_offsets: bool, judged_rate: bool | None, ordered: Ordered, cyclic: Sequence[str],
) -> LeftOut:  # fmt: skip
    """Densities of the cells, (draw, 1, subgroup), for they are those of all metrics."""
    factors, components = tree(tally), subsets(tally, order)
    judged = uses_judged_rate(tally, judged_rate)
    own_effects = own_effects or ("floored" if judged else "fixed")
    fixed, floored = (own_effects == kind and len(components.names) > 1 for kind in ("fixed", "floored"))
    followed = follower(factors, own_fixed=fixed) if follow_selection and not judged else None
    x = offsets(tally, components) if score_offsets and not judged else {}
    if "judged_rate_slope" in draws:
        shares = draws["cell_share"].transpose("sample", "subgroup", "outcome", "decision").values
        x = judged_rates(shares.sum(axis=2), factors)
    sds = np.asarray(draws["factor_sd"].transpose("sample", "factor", "component").values, dtype=np.float64)
    along = ordered_blocks(tally, components, ordered, cyclic)
    along = along.without(len(components.names) - 1) if fixed else along
    share = np.empty((len(sds), len(factors.names), 0))
    if along.shares:
        share = np.asarray(draws["ordered_share"].transpose("sample", "factor", "ordered").values, dtype=np.float64)
    scales = factor_scales(factors, tau_scale, followed=followed, judged=judged)
    residual_scales = own_spreads(factors, tau_scale, followed=followed, judged=judged)
    rates = factor_rates(draws, factors)
    without = np.empty((tally.sizes["subgroup"], 0))
    laws = []
    for i, name in enumerate(factors.names):
        every, following_order = split_scales(sds[:, i], share[:, i], along)
        learned = every if fixed else every[:, :-1]
        residual = np.full(len(sds), residual_scales[i]) if fixed else every[:, -1]
        residual = np.hypot(residual, residual_scales[i]) if floored else residual
        covariate = x[name][:, None] if name in x else without
        steep = SLOPE_SD if judged else SLOPE_SCALE
        z, widths = design(components, covariate, learned, LOGIT_OVERALL_SCALE, steep, along, following_order)
        some = np.flatnonzero(factors.count[i] > 0)
        noise = np.maximum(residual, RESOLVED_SHARE * scales[i]) ** 2
        k, n = factors.successes[i, some], factors.count[i, some]
        laws.append(_Factor(some, k, n, logit(rates[:, i, some]), noise, z[some], widths))
    shape = (len(sds), tally.sizes["subgroup"])
    plain, weight, density = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    if followed is not None:
        leading = factors.names.index("sel")
        slope = np.asarray(draws["selection_slope"].transpose("sample", "follower").values[:, 0], dtype=np.float64)
        plain += _following(laws[leading], laws[followed], slope, tally.sizes["subgroup"])
        weight, density = weight - plain, density + plain
    for i, law in enumerate(laws):
        if followed is None or i not in (factors.names.index("sel"), followed):
            parts = count_densities(law.eta, law.k, law.n, law.noise, law.z, law.widths)
            for total, part in zip((plain, weight, density), parts, strict=True):
                total[:, law.subgroup] += part
    return _answer("integrated", plain, factors, (weight, density))


def at_shares(draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
    """Densities of the cells at plain draws, for correlated factors, whose correlations are not in a report."""
    factors = tree(tally)
    (node,) = confusion_nodes(draws, tally).nodes
    values = node.log_density()
    _, subgroup = np.nonzero(factors.count > 0)
    density = np.zeros((len(values), tally.sizes["subgroup"]))
    for cell, place in enumerate(subgroup):
        density[:, place] += values[:, cell]
    return _answer("psis", density, factors)


def _answer(
    method: Method, density: FloatArray, factors: Tree, moved: tuple[FloatArray, FloatArray] | None = None
) -> LeftOut:
    rows = (factors.count > 0).any(axis=0)
    empty = np.where(rows, 0.0, np.nan)
    both = None if moved is None else ((moved[0] + empty)[:, None], (moved[1] + empty)[:, None])
    return LeftOut(method, CELLS, (density + empty)[:, None], moved=both, together=True)


def _following(first: _Factor, second: _Factor, slope: FloatArray, subgroups: int) -> FloatArray:
    """Densities (draw, subgroup) of the selection rate and of the outcomes that follow it."""
    number, shared = len(first.n), first.z.shape[1] - 1
    both = np.searchsorted(first.subgroup, second.subgroup)  # who is selected, or not, has rows
    density = np.zeros((len(slope), subgroups))
    y = np.concatenate([first.eta, second.eta], axis=1)
    noise = np.repeat(np.stack([first.noise, second.noise], axis=1), [number, len(second.n)], axis=1)
    cells = second.z[:, second.z.shape[1] - shared :]
    rows = max(BLOCK // max(y.shape[1] * (first.z.shape[1] + second.z.shape[1]), 1), 1)
    for start in range(0, len(y), rows):
        part = slice(start, start + rows)
        leading, widths = first.z * first.widths[part, None], first.widths[part, None, 1:]
        lent = np.concatenate([np.zeros((len(cells), 1)), cells], axis=1) * slope[part, None, None]
        lent = lent * np.concatenate([np.zeros_like(widths[:, :, :1]), widths], axis=2)
        following = np.concatenate([lent, second.z * second.widths[part, None]], axis=2)
        nothing = np.zeros((len(leading), number, second.z.shape[1]))
        w = np.concatenate([np.concatenate([leading, nothing], axis=2), following], axis=1)
        precision = Precision(noise[part], w)
        diagonal, score = precision.diagonal(), precision.times(y[part])
        mean, variance = y[part] - score / diagonal, 1 / diagonal
        single = binomial_density(first.k, first.n, mean[:, :number], np.sqrt(variance[:, :number]))
        at = number + np.arange(len(both))
        cross = precision.between(both, at)
        determinant = diagonal[:, both] * diagonal[:, at] - cross**2
        covariance = (diagonal[:, at] / determinant, -cross / determinant, diagonal[:, both] / determinant)
        step = (score[:, both], score[:, at])
        means = (
            y[part][:, both] - covariance[0] * step[0] - covariance[1] * step[1],
            y[part][:, at] - covariance[1] * step[0] - covariance[2] * step[1],
        )
        single[:, both] = pair_density((first.k[both], first.n[both]), (second.k, second.n), means, covariance)
        density[part, first.subgroup] = single
    return density


def pair_density(
    first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray], mean: tuple[FloatArray, FloatArray],
    covariance: tuple[FloatArray, FloatArray, FloatArray],
) -> FloatArray:  # fmt: skip
    """Log probability (draw, cell) of two counts, successes and trials (cell,), whose logits are jointly normal.

    ``covariance`` has the variance of the first logit, the covariance, and the variance of the second.

    >>> count, zero = (np.array([1.0]), np.array([2.0])), np.zeros((1, 1))
    >>> together = pair_density(count, count, (zero, zero), (zero + 1, zero, zero + 1))
    >>> bool(np.allclose(together, 2 * binomial_density(*count, zero, zero + 1), atol=1e-6))
    True
    """
    k, n = first
    centre, spread = moments(k[None], n[None], mean[0], np.sqrt(covariance[0]), nodes=NODES)
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    left = np.sqrt(np.maximum(covariance[2] - covariance[1] ** 2 / covariance[0], 0.0))
    points, weights = np.polynomial.hermite_e.hermegauss(OUTER_NODES)
    terms = []
    for point, weight in zip(points, np.log(weights), strict=True):
        eta = centre + np.sqrt(spread) * point
        likelihood = choose - k * np.logaddexp(0, -eta) - (n - k) * np.logaddexp(0, eta)
        prior = normal_density(eta, mean[0], covariance[0])
        given = mean[1] + covariance[1] / covariance[0] * (eta - mean[0])
        node = weight + 0.5 * point**2 + 0.5 * np.log(spread)
        terms.append(node + likelihood + prior + binomial_density(*second, given, left))
    return np.asarray(logsumexp(np.stack(terms), axis=0))
