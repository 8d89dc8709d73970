"""Exact posterior of the confusion model: its factors are crossed binomials, and one may follow the selection rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.processes import MAX_SUBGROUPS, on_processors
from bayesgroups.data.threads import side_by_side
from bayesgroups.inference.collapsed.confusion_factors import OwnEffects, decision_shares
from bayesgroups.inference.collapsed.crossed import chains, engine
from bayesgroups.inference.collapsed.crossed.draws import CrossedDraws, divergence_check
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.logit_normal import expit
from bayesgroups.models.shared.confusion_offsets import SLOPE_SCALE, offsets
from bayesgroups.models.shared.confusion_tree import (
    SELECTION_SLOPE_MEAN,
    SELECTION_SLOPE_SD,
    Tree,
    factor_scales,
    follower,
    own_spreads,
    shares,
    tree,
)
from bayesgroups.models.shared.judged_rate import SLOPE_SD, judged_rates, uses_judged_rate
from bayesgroups.models.shared.ordered_levels import Ordered, OrderedBlocks, ordered_blocks
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.shared.subsets import Subsets, subsets
from bayesgroups.report.diagnostics import AT_BOUND, IS_ESS, K_HAT, Check, Mixing, at_least, at_most
from bayesgroups.report.draw_blocks import blocks
from bayesgroups.report.posterior import Posterior, generator, with_chains

WORST: dict[str, Callable[[Iterable[float]], float]] = {"r_hat": max, "bulk": min, "tail": min}
"""What is the worst value of each of the statistics of mixing."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    draws: int = 4000,
    order: int | None = None,
    tau_scale: float | None = None,
    own_effects: OwnEffects | None = None,
    follow_selection: bool = True,
    score_offsets: bool = False,
    judged_rate: bool | None = None,
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
    component_sd: FloatArray | None = None,
) -> Posterior:
    """Draws of the cells of every subgroup, and of every metric of the tally from them.

    The same model as `bayesgroups.models.confusion` without correlations, with the settings of its ``build``. The draws
    have ``mu``, ``overall``, ``cell_share(chain, draw, subgroup, outcome, decision)`` and the hyper-parameters of the
    factors. They are the same whichever metrics the tally has. ``component_sd`` (factor, component) are standard deviations of
    all components, where they are known, in the place of their priors and of those that are fixed. ValueError if the tally has
    no cells, a metric is no function of them, or there are not so many factors and components.
    """
    confusion_tree, components = tree(tally), subsets(tally, order)
    judged = uses_judged_rate(tally, judged_rate)
    own_effects = own_effects or ("floored" if judged else "fixed")
    fixed, floored = (own_effects == kind and len(components.names) > 1 for kind in ("fixed", "floored"))
    along = ordered_blocks(tally, components, ordered or {}, cyclic)
    along = along.without(len(components.names) - 1) if fixed else along
    x = offsets(tally, components) if score_offsets and not judged else {}
    followed = follower(confusion_tree, own_fixed=fixed) if follow_selection and not judged else None
    scales, residual_scales = (
        scale_of(confusion_tree, tau_scale, followed=followed, judged=judged)
        for scale_of in (factor_scales, own_spreads)
    )
    if component_sd is not None:
        if component_sd.shape != (len(confusion_tree.names), len(components.names)):
            raise ValueError(
                f"component_sd must have {len(confusion_tree.names)} rows, as {', '.join(confusion_tree.names)}, of "
                f"{len(components.names)} numbers, as {', '.join(components.names)}"
            )
        residual_scales = component_sd[:, -1]

    def spread_of(factor: int, number: int, residual_sd: float | None) -> Prior:
        """Prior of the standard deviations of the first components of a factor."""
        if component_sd is not None:
            return Prior("known", tuple(component_sd[factor, :number].tolist()))
        return Prior("half_normal", (float(scales[factor]),) * number, residual_sd)

    without = np.empty((tally.sizes["subgroup"], 0))
    covariates = [x[name][:, None] if name in x else without for name in confusion_tree.names]
    names = confusion_tree.names
    # Two factors at once have chains, and then so has the third: one engine of a report.
    binomial: Callable[..., CrossedDraws] = engine.binomial if followed is None else chains.binomial

    def call_of(i: int) -> Callable[[], CrossedDraws]:
        """Draws of a factor that follows none."""
        spread = spread_of(i, len(components.names), float(residual_scales[i]) if fixed else None)
        predictor = Predictor(components.cells, covariates[i], LOGIT_OVERALL_SCALE, SLOPE_SD if judged else SLOPE_SCALE)
        floor = np.full(tally.sizes["subgroup"], residual_scales[i] ** 2) if floored and component_sd is None else None
        k, n, rng = confusion_tree.successes[i], confusion_tree.count[i], generator(seed, names[i], "confusion")
        return partial(binomial, predictor, k, n, spread, rng, draws=draws, known=floor, ordered=along)

    pair = [] if followed is None else [names.index("sel"), followed]
    apart = [i for i in range(len(names)) if i not in pair]
    first = [i for i in apart if confusion_tree.decides[i] or not judged]  # the others follow the rates of decisions
    calls = [call_of(i) for i in first]
    if followed is not None:
        spreads = [spread_of(i, len(components.names) - 1, None) for i in pair]
        rng = generator(seed, f"sel and {names[followed]}", "confusion")
        joint = _following(
            confusion_tree, pair, components, covariates[followed], spreads, residual_scales[pair], along, rng, draws
        )
        calls = [joint, *calls]
    draws_of_calls = _on_processors(calls, tally.sizes["subgroup"])
    selection_slope: FloatArray | None = None
    drawn = dict(zip(first, draws_of_calls[len(calls) - len(first) :], strict=True))
    if followed is not None:
        drawn[pair[0]], drawn[pair[1]], selection_slope = _parted(draws_of_calls[0], len(components.names) - 1, along)
    rates: dict[str, FloatArray] = {}
    later = [i for i in apart if i not in drawn]
    if later:
        rates = judged_rates(decision_shares(confusion_tree, drawn), confusion_tree)
        covariates = [rates[each][:, None] if each in rates else without for each in names]
        draws_of_calls = _on_processors([call_of(i) for i in later], tally.sizes["subgroup"])
        drawn |= zip(later, draws_of_calls, strict=True)
    factors = [drawn[i] for i in range(len(confusion_tree.names))]
    middle = expit(np.stack([factor.overall for factor in factors]))
    cells, mu = _answers(tally, confusion_tree, [factor.eta for factor in factors])
    learned = components.names[:-1] if fixed else components.names
    factor_sd = np.stack([factor.tau[:, : len(learned)] for factor in factors], axis=1)
    data = {
        "mu": ("metric subgroup", mu),
        "overall": ("metric", metrics_of(tally, shares(middle, confusion_tree.paths))),
        "cell_share": ("subgroup outcome decision", cells),
        "factor_overall": ("factor", middle.T),
        "factor_sd": ("factor component", factor_sd),
    }
    labels = list(confusion_tree.labels)
    coordinates = {
        "outcome": labels,
        "decision": labels,
        "factor": list(confusion_tree.names),
        "component": list(learned),
    }
    if x:
        data["slope"] = ("factor_with_score", np.concatenate([factor.beta for factor in factors], axis=1))
        coordinates["factor_with_score"] = [name for name in confusion_tree.names if name in x]
    if rates:
        slopes = [factor.beta for name, factor in zip(confusion_tree.names, factors, strict=True) if name in rates]
        data["judged_rate_slope"] = ("judged_factor", np.concatenate(slopes, axis=1))
        coordinates["judged_factor"] = list(rates)
    if along.shares:
        data["ordered_share"] = ("factor ordered", np.stack([factor.share for factor in factors], axis=1))
        coordinates["ordered"] = list(along.shares)
    if selection_slope is not None and followed is not None:
        data["selection_slope"] = ("follower", selection_slope[:, None])
        coordinates["follower"] = [confusion_tree.names[followed]]
    laid_out = with_chains(tally, data, **coordinates)
    checks = [check for name in tally["metric"].values for check in _checks(factors, str(name))]
    engines = sorted({factor.engine for factor in factors})
    return Posterior(laid_out, tuple(checks), ", ".join(engines))


def _checks(factors: list[CrossedDraws], metric: str) -> list[Check]:
    """The worst of all factors: of weights where draws are weighed, of mixing where they are chains."""
    checks: list[Check] = []
    weighed = [factor for factor in factors if factor.mixing is None]
    if weighed:
        k_hat, ess = max(factor.k_hat for factor in weighed), min(factor.ess for factor in weighed)
        at_bound = max(factor.at_bound for factor in weighed)
        checks += [
            at_most("Pareto k-hat", metric, k_hat, K_HAT, "the largest k-hat of the factors' importance weights"),
            at_least("importance ESS", metric, ess, IS_ESS, "the smallest effective number of a factor's draws"),
            at_most(
                "mass at a bound", metric, at_bound, AT_BOUND, "the share of a factor's draws near a numerical bound"
            ),
        ]
    mixing = [factor.mixing for factor in factors if factor.mixing is not None]
    if mixing:
        worst = Mixing(*(function(getattr(each, name) for each in mixing) for name, function in WORST.items()))
        checks += [
            *worst.checks(metric),
            divergence_check(sum(factor.divergences for factor in factors), metric),
        ]
    return checks


def _answers(tally: xr.Dataset, confusion_tree: Tree, logits: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Shares of cells (draw, subgroup, outcome, decision) and metrics (draw, metric, subgroup), from logits of every factor."""
    draws, subgroups = logits[0].shape
    classes = len(confusion_tree.labels)
    cells, mu = np.empty((draws, subgroups, classes, classes)), np.empty((draws, tally.sizes["metric"], subgroups))
    for some in blocks(draws, subgroups * classes**2):
        cells[some] = shares(expit(np.stack([each[some] for each in logits])), confusion_tree.paths)
        mu[some] = np.swapaxes(metrics_of(tally, cells[some]), 1, 2)
    return cells, mu


def metrics_of(tally: xr.Dataset, cells: FloatArray) -> FloatArray:
    """Every metric of the tally from shares (..., outcome, decision) of the cells, (..., metric)."""
    above, below = (
        tally[name].values.reshape(tally.sizes["metric"], -1) for name in ("cell_numerator", "cell_denominator")
    )
    flat = cells.reshape(*cells.shape[:-2], -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # One by one, so that the digits of a metric do not depend on which others there are.
        each = [(flat @ numerator) / (flat @ denominator) for numerator, denominator in zip(above, below, strict=True)]
    values: FloatArray = np.stack(each, axis=-1)
    return values


def _on_processors(calls: list[Callable[[], CrossedDraws]], subgroups: int) -> list[CrossedDraws]:
    """Draws of factors that share nothing."""
    with on_processors(calls) if subgroups <= MAX_SUBGROUPS else side_by_side(calls, 1) as results:
        return list(results)


def _following(
    confusion_tree: Tree,
    pair: list[int],
    components: Subsets,
    covariate: FloatArray,
    spreads: Sequence[Prior],
    residual_scales: FloatArray,
    along: OrderedBlocks,
    rng: np.random.Generator,
    draws: int,
) -> Callable[[], CrossedDraws]:
    """Draws of the selection rate and of the factor that follows it, subgroups and columns of both in turn."""
    predictor = FollowingPredictor(components.cells[:-1], covariate, LOGIT_OVERALL_SCALE, SLOPE_SCALE)
    first, second = spreads
    prior = FollowingPrior(first, second, SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD)
    k, n = (np.concatenate(values[pair]) for values in (confusion_tree.successes, confusion_tree.count))
    floor = np.repeat(residual_scales**2, confusion_tree.count.shape[1])
    return partial(chains.binomial, predictor, k, n, prior, rng, draws=draws, known=floor, ordered=along)


def _parted(both: CrossedDraws, number: int, along: OrderedBlocks) -> tuple[CrossedDraws, CrossedDraws, FloatArray]:
    """Draws of the selection rate, of the factor that follows it, and of the slope by which it does, (draw,)."""
    eta, share = np.split(both.eta, 2, axis=1), np.split(both.share, [len(along.shares)], axis=1)
    tau = np.split(both.tau, [number, 2 * number], axis=1)
    leading, other = (
        replace(both, eta=eta[i], overall=both.overall[:, i], beta=beta, tau=tau[i], share=share[i])
        for i, beta in enumerate((both.beta[:, :0], both.beta))
    )
    return leading, other, tau[2][:, 0]
