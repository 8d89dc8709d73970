"""Confusion cells: every metric of outcome and decision from one model of both.

Per subgroup g the cells are a multinomial, cut into binomial factors f by ``confusion_tree``; with two classes

    selected[g]            ~ Binomial(rows[g], sel[g])
    true positives[g]      ~ Binomial(selected[g], ppv[g])
    false negatives[g]     ~ Binomial(rows[g] - selected[g], for[g])

and each factor has crossed effects, components k as in ``subsets``,

    logit p[f, g] = alpha[f] + sum over k of factor_sd[f, k] effect[f, k, cell_k(g)] (+ slope[f] offset[f, g])
    alpha ~ Normal(0, 1.5),   effect ~ Normal(0, 1),   factor_sd[f, k] ~ HalfNormal(s[f])
    s = 0.5 for decisions, 0.2 for outcomes, 0.15 for those that follow; the last of several components, the
    subgroup itself, has 0.5 s[f] for decisions and 0.8 s[f] for outcomes
    follow_selection: the outcomes given the more frequent decision have selection_slope times the learned effects of the
    selection rate besides, selection_slope ~ Normal(0.3, 0.3)
    score_offsets: slope ~ Normal(0, 1.1), where the cells have a score, see ``confusion_offsets``
    judged_rate: nothing follows; outcomes have s = 0.4 and a slope on the judged rate of the subgroup, see ``judged_rate``; that
    is so by itself where outcomes are known of some rows only, which then are all rows of ppv and for, while sel has all rows
    ordered: a share of the variance of every component that crosses an ordered attribute follows the order, in every factor
    one of its own, ordered_share[f, o] ~ Uniform(0, 1), see ``ordered_levels``; what follows selection has both parts of it
    correlated: nothing follows, and the effects of one cell are correlated across factors, with one LKJ(2) matrix

The shares of the cells are products of the p, and a metric is a ratio of two sums of shares.

Parameters: ``mu(metric, subgroup)``, ``overall(metric)`` the metric where no effect is, ``cell_share(subgroup, outcome,
decision)``, ``factor_sd(factor, component)``, ``factor_overall(factor)``, ``selection_slope(follower)``,
``slope(factor_with_score)``, ``judged_rate_slope(judged_factor)``, ``ordered_share(factor, ordered)``. ``alpha`` is the
logit of ``factor_overall``. Latent are ``z`` and ``z_residual``, the effects summed and moved as in ``crossed_latents``,
``z_follower`` and ``z_follower_residual`` for the factor that follows, and ``z_ordered``; with correlated effects ``z`` as above
and ``z_partial``, from which correlations are made.

References
----------
Gelman (2006), doi:10.1214/06-BA117A. Lewandowski, Kurowicka and Joe (2009), doi:10.1016/j.jmva.2009.04.008. Platt (1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray

from .crossed_latents import crossed_latents
from .half_normal_coordinates import NearlyNormal
from .latent_effects import PseudoData, pseudo_data
from .likelihoods import observe_successes
from .ordered_effects import ordered_effects
from .shared.cells import BinomialCells, NormalCells
from .shared.confusion_offsets import SLOPE_SCALE, offsets
from .shared.confusion_tree import (
    SELECTION_SLOPE_MEAN,
    SELECTION_SLOPE_SD,
    Tree,
    factor_scales,
    follower,
    own_spreads,
    share,
    tree,
)
from .shared.judged_rate import SLOPE_SD, judged_rates, shares_of_counts, uses_judged_rate
from .shared.ordered_levels import Ordered, ordered_blocks
from .shared.scales import LOGIT_OVERALL_SCALE
from .shared.subsets import Subsets, subsets

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

NONE = NormalCells(np.zeros(0, np.intp), np.zeros(0, np.intp), [], np.zeros(0), np.zeros(0))
"""No estimates: all that is seen of factors are counts."""
CONCENTRATION = 2.0
"""Of the LKJ prior of the correlations."""


def build(
    tally: xr.Dataset,
    *,
    order: int | None = None,
    tau_scale: float | None = None,
    own_effects: str | None = None,
    follow_selection: bool = True,
    correlated: bool = False,
    score_offsets: bool = False,
    judged_rate: bool | None = None,
    decision_share: FloatArray | None = None,
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with confusion cells.
    order : int, optional
        Cross at most so many attributes, beside all of them together; by default every subset.
    tau_scale : float, optional
        Scale of the priors of the standard deviations of all factors, on the logit scale.
    own_effects : {"floored", "fixed", "learned"}, optional
        Whether the standard deviation of the last of several components is fixed, learned, or both beside each other; by default
        fixed, and floored where outcomes depend on the judged rate.
    follow_selection : bool
        Whether outcomes given the more frequent decision follow the selection rate; with two classes, several components and
        fixed own effects.
    correlated : bool
        Whether effects are correlated across factors instead.
    score_offsets : bool
        Whether the mean recalibrated scores of the subgroups inform the outcomes, where the cells have a score.
    judged_rate : bool, optional
        Whether outcomes depend on the judged rate, and have the priors of few labels; by default where some row has no outcome.
    decision_share : array (draw, subgroup, decision), optional
        Shares of the decisions among all rows, from which judged rates come; by default those of the counts, with half a row
        more. Posterior draws of the same model's decisions are better where few rows are judged.
    ordered : mapping of str to sequence of str or None, optional
        Levels of attributes in order; None for those of the tally.
    cyclic : sequence of str
        Ordered attributes whose last level is beside the first.

    Returns
    -------
    pm.Model

    Raises
    ------
    ValueError
        If the tally has no cells, a metric is no function of them, or a setting does not exist.

    Examples
    --------
    >>> counts = [[[5.0, 1.0], [2.0, 3.0]], [[9.0, 0.0], [1.0, 1.0]]]
    >>> forms = ("metric", "outcome", "decision")
    >>> tally = xr.Dataset(
    ...     {"cell_count": (("subgroup", "outcome", "decision"), counts),
    ...      "cell_numerator": (forms, [[[0.0, 0.0], [0.0, 1.0]]]), "cell_denominator": (forms, [[[0.0, 1.0], [0.0, 1.0]]])},
    ...     coords={"metric": ["ppv"], "subgroup": ["f", "m"], "sex": ("subgroup", ["f", "m"]), "outcome": ["0", "1"],
    ...             "decision": ["0", "1"]}, attrs={"by": '{"by": ["sex"]}'})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['alpha', 'factor_sd', 'z_residual']
    """
    if own_effects not in (None, "floored", "fixed", "learned"):
        raise ValueError(f"own_effects must be one of floored, fixed, learned; got {own_effects!r}")
    found, components = tree(tally), subsets(tally, order)
    judged = uses_judged_rate(tally, judged_rate)
    if judged and correlated:
        raise ValueError("correlated effects have no judged rate; give judged_rate=False or leave correlated out")
    if ordered and correlated:
        raise ValueError("correlated effects have no ordered attributes; leave ordered or correlated out")
    own_effects = own_effects or ("floored" if judged else "fixed")
    fixed, floored = (own_effects == kind and len(components.names) > 1 for kind in ("fixed", "floored"))
    followed = follower(found, own_fixed=fixed) if follow_selection and not (correlated or judged) else None
    along = ordered_blocks(tally, components, ordered or {}, cyclic)
    along = along.without(len(components.names) - 1) if fixed else along
    scale = factor_scales(found, tau_scale, followed=followed, judged=judged)
    own = own_spreads(found, tau_scale, followed=followed, judged=judged)
    learned = components.names[:-1] if fixed else components.names
    factor, subgroup = np.nonzero(found.count > 0)
    labels = [f"{found.names[f]} | {tally['subgroup'].values[g]}" for f, g in zip(factor, subgroup, strict=True)]
    seen = found.count > 0
    counts = BinomialCells(factor, subgroup, labels, found.successes[seen], found.count[seen])
    coords = {
        "metric": tally["metric"].values, "subgroup": tally["subgroup"].values, "factor": list(found.names),
        "outcome": list(found.labels), "decision": list(found.labels), "component": list(learned),
    }  # fmt: skip
    with pm.Model(coords=coords) as model:
        alpha: Tensor = pm.Normal("alpha", sigma=LOGIT_OVERALL_SCALE, dims="factor")
        spread: Tensor = pm.HalfNormal(
            "factor_sd", sigma=scale[:, None], dims=("factor", "component"), default_transform=NearlyNormal()
        )
        every = pt.concatenate([spread, own[:, None]], axis=1) if fixed else spread
        following = None
        if along.shares:
            every, following = ordered_effects(along, every, len(components.names), "ordered_share", "factor")
        if floored:
            last = np.arange(len(components.names)) == len(components.names) - 1
            every = pt.sqrt(every**2 + own[:, None] ** 2 * last)
        eta = alpha[:, None] + np.zeros(found.count.shape)
        x = offsets(tally, components) if score_offsets and not judged else {}
        if x:
            eta = eta + _offsets(x, found, tally.sizes["subgroup"], model)
        rates = judged_rates(shares_of_counts(found) if decision_share is None else decision_share, found)
        if judged and rates:
            eta = eta + _judged(rates, found, tally.sizes["subgroup"], model)
        if correlated:
            eta = eta + _correlated_effects(components, every, found)
        else:
            data = pseudo_data(seen.shape, counts, NONE, scale)
            eta = _with_effects(eta, components, data, every, found, followed, following)
        p: Tensor = pm.math.invlogit(eta)
        cells = [[share(p, path) for path in row] for row in found.paths]
        middle = [[share(pm.math.invlogit(alpha), path) for path in row] for row in found.paths]
        pm.Deterministic(
            "cell_share",
            pt.stack([pt.stack(row, axis=-1) for row in cells], axis=-2),
            dims=("subgroup", "outcome", "decision"),
        )
        pm.Deterministic("mu", _metrics(tally, cells), dims=("metric", "subgroup"))
        pm.Deterministic("overall", _metrics(tally, middle), dims="metric")
        pm.Deterministic("factor_overall", pm.math.invlogit(alpha), dims="factor")
        observe_successes(counts, p[factor, subgroup])
    return model


def _correlation_root(number: int) -> Tensor:
    """Cholesky factor of a correlation matrix with an LKJ prior, from partial correlations that are independent."""
    pairs = [(i, j) for i in range(1, number) for j in range(i)]
    shape = np.array([CONCENTRATION + (number - 2 - j) / 2 for _, j in pairs])
    partial = 2 * pm.Beta("z_partial", alpha=shape, beta=shape, dims="pair") - 1
    rows: list[list[Tensor]] = [[pt.constant(1.0)]]
    for i in range(1, number):
        row: list[Tensor] = []
        left: Tensor = pt.constant(1.0)
        for j in range(i):
            row.append(partial[pairs.index((i, j))] * pt.sqrt(left))
            left = left - row[j] ** 2
        rows.append([*row, pt.sqrt(left)])
    return pt.stack([pt.stack([*row, *[pt.constant(0.0)] * (number - len(row))]) for row in rows])


def _correlated_effects(components: Subsets, spread: Tensor, found: Tree) -> Tensor:
    """Sum of the effects of every subgroup, (factor, subgroup), those of a cell correlated across factors."""
    model: Any = pm.modelcontext(None)
    number = len(found.names)
    sizes = zip(components.names, components.sizes, strict=True)
    model.add_coord("effect", [f"{name} {cell}" for name, size in sizes for cell in range(size)])
    model.add_coord("pair", [f"{one}, {other}" for i, one in enumerate(found.names) for other in found.names[:i]])
    root = _correlation_root(number)
    free: Tensor = pm.Normal("z", dims=("factor", "effect"))
    z: Tensor = pm.math.sum(root[:, :, None] * free[None], axis=1)
    start, total = 0, 0.0
    for k, (cells, size) in enumerate(zip(components.cells, components.sizes, strict=True)):
        total = total + spread[:, k, None] * z[:, start + cells]
        start += size
    return total


def _with_effects(
    eta: Tensor, components: Subsets, data: PseudoData, spread: Tensor, found: Tree, followed: int | None,
    ordered: Tensor | None,
) -> Tensor:  # fmt: skip
    """The predictor ``eta`` (factor, subgroup) with the effects of every factor, of which one may follow the selection rate.

    ``ordered`` (factor, subgroup) are effects that follow an order, if any do.
    """
    model: Any = pm.modelcontext(None)
    eta = eta if ordered is None else eta + ordered
    if followed is None:
        dims = ("factor", "direction", "residual")
        return eta + crossed_latents(("z", "z_residual"), components, data, eta, spread, dims).total
    leading = np.delete(np.arange(len(found.names)), followed)
    model.add_coord("leading_factor", [found.names[i] for i in leading])
    model.add_coord("follower", [found.names[followed]])
    dims = ("leading_factor", "direction", "residual")
    first = crossed_latents(("z", "z_residual"), components, data.of(leading), eta[leading], spread[leading], dims)
    slope: Tensor = pm.Normal("selection_slope", mu=SELECTION_SLOPE_MEAN, sigma=SELECTION_SLOPE_SD, dims="follower")
    at = [followed]
    selection = found.names.index("sel")
    shared = first.shared[leading.tolist().index(selection)]
    shared = shared if ordered is None else shared + ordered[selection]
    following = eta[at] + slope[:, None] * shared
    names, dims = ("z_follower", "z_follower_residual"), ("follower", "direction", "residual")
    second = crossed_latents(names, components, data.of(at), following, spread[at], dims)
    order = np.argsort(np.append(leading, followed))
    every: Tensor = pt.concatenate([eta[leading] + first.total, following + second.total])
    return every[order]


def _offsets(x: dict[str, FloatArray], found: Tree, subgroups: int, model: Any) -> Tensor:
    """What the scores add to the predictor, (factor, subgroup)."""
    model.add_coord("factor_with_score", list(x))
    slope = pm.Normal("slope", sigma=SLOPE_SCALE, dims="factor_with_score")
    return pt.stack(
        [slope[list(x).index(name)] * x[name] if name in x else np.zeros(subgroups) for name in found.names]
    )


def _judged(x: dict[str, FloatArray], found: Tree, subgroups: int, model: Any) -> Tensor:
    """What judged rates add to the predictor, (factor, subgroup)."""
    model.add_coord("judged_factor", list(x))
    slope = pm.Normal("judged_rate_slope", sigma=SLOPE_SD, dims="judged_factor")
    names = list(x)
    return pt.stack([slope[names.index(name)] * x[name] if name in x else np.zeros(subgroups) for name in found.names])


def _metrics(tally: xr.Dataset, cells: list[list[Tensor]]) -> Tensor:
    """All metrics from the shares of the cells, (metric, ...)."""
    rows = []
    for i in range(tally.sizes["metric"]):
        above, below = (tally[name].values[i] for name in ("cell_numerator", "cell_denominator"))
        rows.append(_sum(above, cells) / _sum(below, cells))
    return pt.stack(rows)


def _sum(weights: FloatArray, cells: list[list[Tensor]]) -> Tensor:
    return sum(float(weights[i, j]) * cells[i][j] for i, j in np.argwhere(weights != 0))
