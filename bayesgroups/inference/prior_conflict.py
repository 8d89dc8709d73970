"""Prior-data conflict: differences between subgroups that the prior of their spread holds to be next to impossible.

The spread T is the standard deviation of the linear predictor over the subgroups with rows, its posterior median. Its prior
probability P(T > t) is bounded by that of one component k of K reaching t / sqrt(K), where a component with standard deviation
tau over C cells spreads them by tau sqrt(chi2(C - 1) / C). A prior that gives such a spread less than one in a million pulls
towards differences that are not in the data, and is not the analyst's.

References
----------
Evans, Moshonov (2006), "Checking for prior-data conflict", Bayesian Analysis 1, doi:10.1214/06-BA129.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.models.shared.area_design import area_design
from bayesgroups.models.shared.component_scales import DEGREES, ScaleByOrder, scales_by_order
from bayesgroups.models.shared.confusion_tree import Path, factor_scales, follower, own_spreads, tree
from bayesgroups.models.shared.covariates import standardised
from bayesgroups.models.shared.judged_rate import judged_rates, uses_judged_rate
from bayesgroups.models.shared.scales import LARGEST_LOGIT_SCALE
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.diagnostics import Check, at_least
from bayesgroups.report.draw_blocks import blocks

Family = Literal["half_t", "half_normal", "r2d2"]

CONFLICT = 1e-6
"""Smallest prior probability of a spread as large as that of the subgroups."""
NODES = 4000
"""Nodes of the integral over a component's spread."""
MAX_SERIES_ARGUMENT = 0.02
"""Argument of the closed form of a tail below which its series says more."""


@dataclass(frozen=True)
class SpreadPrior:
    """Prior of the spread of subgroups: ``scale`` and number of ``cells`` of every component, and the family."""

    family: Family
    scale: tuple[float, ...]
    cells: tuple[int, ...]

    def exceeds(self, spread: float) -> float:
        """Upper bound of the prior probability that subgroups differ by a larger standard deviation.

        >>> wide, narrow = (SpreadPrior(family, (0.25,), (1000,)) for family in ("half_t", "half_normal"))
        >>> round(wide.exceeds(1.0), 3), f"{narrow.exceeds(1.0):.1e}", wide.exceeds(0.0)
        (0.028, '6.6e-05', 1.0)
        """
        if spread <= 0:
            return 1.0
        if self.family == "r2d2":  # the total has a prior of its own
            total = float(np.sqrt(np.square(self.scale).sum()))
            return SpreadPrior("half_t", (total,), (max(self.cells),)).exceeds(spread)
        share = spread / np.sqrt(len(self.scale))
        parts = [self._component(share / scale, cells) for scale, cells in zip(self.scale, self.cells, strict=True)]
        return float(min(sum(parts), 1.0))

    def _component(self, spread: float, cells: int) -> float:
        """Probability that a component of scale 1 spreads its cells by more.

        The integral runs over log chi2(C - 1), and the standard deviation has its closed form, so that no library is loaded.
        """
        if cells < 2:
            return 0.0
        freedom = cells - 1
        # Beyond these ends the chi-squared density has less mass than a double tells apart.
        width = 40 * max(1.0, math.sqrt(2 / freedom)) / math.sqrt(max(freedom, 1))
        log_chi = np.linspace(math.log(freedom) - 2 * width - 40 / freedom, math.log(freedom) + width, NODES)
        chi = np.exp(log_chi)
        log_density = (freedom * (log_chi - math.log(2)) - chi) / 2 - math.lgamma(freedom / 2)
        larger = _tail(spread * np.sqrt(cells / chi), self.family)
        return float(np.trapezoid(np.exp(log_density) * larger, log_chi))


def _tail(tau: FloatArray, family: Family) -> FloatArray:
    """Prior probability of a standard deviation above ``tau``, for a scale of 1.

    >>> _tail(np.array([0.0, 1.0, 1e4]), "half_t").round(14).tolist()
    [1.0, 0.39100221895577, 2.21e-12]
    """
    if family == "half_normal":
        return np.array([math.erfc(value / math.sqrt(2)) for value in tau.tolist()])
    assert DEGREES == 3, "the closed form is that of three degrees of freedom"
    u = math.sqrt(DEGREES) / np.maximum(tau, 1e-300)
    small = np.minimum(u, MAX_SERIES_ARGUMENT)
    series = small**3 * (2 / 3 - small**2 * (4 / 5 - small**2 * (6 / 7 - small**2 * 8 / 9)))
    with np.errstate(over="ignore"):
        exact = np.arctan(u) - u / (1 + u * u)
    return np.asarray(2 / math.pi * np.where(u < MAX_SERIES_ARGUMENT, series, exact))


def conflict_check(metric: str, predictor: FloatArray, prior: SpreadPrior, *, unit: str, setting: str) -> Check:
    """Check of the spread of subgroups against its prior.

    ``predictor`` (draw, subgroup) are draws of the linear predictor of the subgroups with rows, without what covariates
    explain. For the sentence: ``unit`` of the predictor, which may be empty, and the name of the ``setting`` that widens
    the prior.
    """
    return worst_conflict(metric, [predictor], [prior], unit=unit, setting=setting)


def worst_conflict(
    metric: str, predictors: Sequence[FloatArray], priors: Sequence[SpreadPrior], *, unit: str, setting: str
) -> Check:
    """The same of several predictors, the one in the worst conflict; with none, or with single subgroups, there is none."""
    spreads = [float(np.median(_spread(each))) if each.shape[1] > 1 else 0.0 for each in predictors]
    values = [prior.exceeds(spread) for prior, spread in zip(priors, spreads, strict=True)]
    position = int(np.argmin(values)) if values else 0
    spread, value = (spreads[position], values[position]) if values else (0.0, 1.0)
    quantity = f"the prior probability that subgroups differ as they do, by a standard deviation of {spread:.2g}{unit},"
    check = at_least("prior-data conflict", metric, value, CONFLICT, quantity)
    if check.passed:
        return check
    wide = min(spread, LARGEST_LOGIT_SCALE) if "logit" in unit else spread
    advice = f" Prior and data are in conflict: set {setting} to about {wide:.2g} to expect such differences."
    return replace(check, sentence=check.sentence + advice)


def _spread(predictor: FloatArray) -> FloatArray:
    """Standard deviation (draw,) over the subgroups, a block of draws at a time."""
    return np.concatenate([predictor[block].std(axis=1) for block in blocks(*predictor.shape)])


def crossed_conflict(
    tally: xr.Dataset,
    draws: xr.Dataset,
    *,
    binomial: bool,
    order: int | None,
    covariates: Sequence[str],
    prior: Family,
    tau_scale: ScaleByOrder,
    tasks: bool,
) -> tuple[Check, ...]:
    """The check of crossed effects, settings as in `bayesgroups.models.crossed_effects.build`; none with tasks.

    What covariates explain is taken out of the predictor.
    """
    if tasks:
        return ()
    components = subsets(tally, order)
    scales, _ = scales_by_order(tally, np.array([binomial]), tau_scale, components.attributes)
    predictor = subgroup_draws(draws, tally, binomial=binomial)
    if covariates:
        x = np.asarray(standardised(tally, covariates).values)[np.isfinite(tally["estimate"].values[0])]
        beta = draws["beta"].transpose("chain", "draw", "metric", "covariate").values[:, :, 0]
        predictor = predictor - beta.reshape(-1, len(covariates)) @ x.T
    spread = SpreadPrior(prior, tuple(float(scale) for scale in scales[0]), components.sizes)
    unit = " logits" if binomial else ""
    return (conflict_check(str(tally["metric"].values[0]), predictor, spread, unit=unit, setting="tau_scale"),)


def factor_conflict(
    tally: xr.Dataset,
    draws: xr.Dataset,
    *,
    order: int | None,
    tau_scale: float | None,
    follow_selection: bool,
    own_effects: str | None,
    judged_rate: bool | None = None,
) -> tuple[Check, ...]:
    """The check of every metric of the confusion model, settings as in `bayesgroups.models.confusion.build`, over all factors.

    What judged rates explain is taken out of the predictor.
    """
    confusion_tree, components = tree(tally), subsets(tally, order)
    judged = uses_judged_rate(tally, judged_rate)
    several = len(components.names) > 1
    fixed = own_effects in (("fixed",) if judged else (None, "fixed")) and several
    residual = fixed or (own_effects in ((None, "floored") if judged else ("floored",)) and several)
    followed = follower(confusion_tree, own_fixed=fixed) if follow_selection and not judged else None
    scales = factor_scales(confusion_tree, tau_scale, followed=followed, judged=judged)
    residual_scales = own_spreads(confusion_tree, tau_scale, followed=followed, judged=judged)
    stacked = draws["cell_share"].stack(sample=("chain", "draw"), create_index=False)
    share = stacked.transpose("sample", "subgroup", "outcome", "decision").values
    x = judged_rates(share.sum(axis=2), confusion_tree) if "judged_rate_slope" in draws else {}
    slopes = (
        {str(each.values): draws["judged_rate_slope"].sel(judged_factor=each) for each in draws["judged_factor"]}
        if x
        else {}
    )
    predictors, priors = [], []
    for factor, count in enumerate(confusion_tree.count):
        name = confusion_tree.names[factor]
        passed, succeeded = (_mass(share, confusion_tree.paths, factor, successes) for successes in (None, True))
        some = count > 0
        predictor = logit(succeeded[:, some] / passed[:, some])
        if name in x:
            slope = slopes[name].stack(sample=("chain", "draw"), create_index=False).values
            predictor = predictor - slope[:, None] * x[name][some]
        predictors.append(predictor)
        # The known residual effects are part of what is expected.
        scale = math.hypot(scales[factor], residual_scales[factor] if residual else 0.0)
        priors.append(SpreadPrior("half_normal", (scale,) * len(components.names), components.sizes))
    return tuple(
        worst_conflict(str(metric), predictors, priors, unit=" logits", setting="tau_scale")
        for metric in tally["metric"].values
    )


def _mass(share: FloatArray, paths: Sequence[Sequence[Path]], factor: int, success: bool | None) -> FloatArray:
    """Share of the rows that reach a factor, or pass it on one side, (draw, subgroup)."""
    total = np.zeros(share.shape[:2])
    for outcome, row in enumerate(paths):
        for decision, path in enumerate(row):
            if any(step == factor and success in (None, side) for step, side in path):
                total += share[:, :, outcome, decision]
    return total


def subgroup_draws(draws: xr.Dataset, tally: xr.Dataset, *, binomial: bool) -> FloatArray:
    """Draws (draw, subgroup) of one metric where it has rows, as logits if the likelihood is binomial."""
    with_rows = np.isfinite(tally["estimate"].values[0])
    mu = draws["mu"].transpose("chain", "draw", "metric", "subgroup").values[:, :, 0]
    if not with_rows.all():
        mu = mu[..., with_rows]
    flat = np.asarray(mu.reshape(-1, int(with_rows.sum())), dtype=np.float64)
    return logit(flat) if binomial else flat


def explained(draws: xr.Dataset, tally: xr.Dataset, covariates: Sequence[str]) -> FloatArray:
    """Draws (draw, subgroup) of what covariates add to the centre of `bayesgroups.models.partial_pooling`, where there are rows."""
    columns = area_design(tally, covariates).values[np.isfinite(tally["estimate"].values[0])]
    beta = draws["beta"].transpose("chain", "draw", "metric", "covariate").values[:, :, 0]
    return np.asarray(beta.reshape(-1, columns.shape[1]) @ columns.T, dtype=np.float64)


def logit(share: FloatArray) -> FloatArray:
    """Logits of shares, those of 0 and 1 at the ends of what a double holds."""
    rate = inside(share)
    return np.asarray(np.log(rate) - np.log1p(-rate))


def inside(share: FloatArray) -> FloatArray:
    """Shares at least as far from 0 and 1 as a double tells apart."""
    return np.asarray(np.clip(share, np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg))
