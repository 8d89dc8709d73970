"""Model-based metrics: a model of the score given outcome and subgroup, and every metric as a functional of it.

For row i with outcome y in subgroup g, scores in standard units (see ``score_cells``) on the logit scale or their own,

    score[i] ~ Normal(m[g, y], sd[g, y])
    m[g, y] = intercept[y] + sum of effects of attributes + h[y] sum of their differences + b[g] + h[y] e[g],  h = -1/2, 1/2
    intercept ~ Normal(0, 3),  effects of a component ~ Normal(0, its scale),  scales ~ HalfNormal(0.3)
    sd[g, y]^2 ~ InverseGamma(df / 2, df sigma[y]^2 / 2),  df = 1 / (2 spread^2)
    log sigma[y] ~ Normal(0, 0.5),  spread ~ HalfNormal(0.25)
    outcomes in g ~ Binomial(rows, invlogit(alpha + tau z[g])),  alpha ~ Normal(0, 1.5),  tau ~ HalfNormal(0.5)

Covariates c of the rows, if given, are made uncorrelated with variance 1 within cells (see ``score_covariates``), and then

    score[i] ~ Normal(m[g, y] + c[i] . slope[y], sd[g, y]),    slope[y] = shared + h[y] difference
    shared ~ Normal(0, 1),  difference ~ Normal(0, 0.5)
    mean of c among the rows ~ Normal(nu[g, y], 1 / rows),  nu[g, y] = centre[y] + common[g] + h[y] differing[g]
    centre ~ Normal(0, 3),  common, differing ~ Normal(0, tau),  tau ~ HalfNormal(1), HalfNormal(0.3)

Metrics are those of the scores over the covariates, Normal(m + nu . slope, sd^2 + slope . C slope) with C their covariance in
the cell, shrunk to the pooled one.

With skewed residuals the same holds of warped scores, one warp for all of them (see ``score_warps``), with epsilon and
log delta ~ Normal(0, 0.5). What is observed are sufficient: counts, means and sums of squares of scores by subgroup and
outcome, or narrow bins of scores with a warp. ``mu`` and ``overall`` are metrics of these laws in closed form: with t the
threshold, TPR = Phi((m[g, 1] - t) / sd[g, 1]), FPR likewise, AUC = Phi((m[g, 1] - m[g, 0]) / sqrt(sd[g, 1]^2 + sd[g, 0]^2)),
and the others by Bayes' rule. ``overall`` is the metric where all effects are 0. Several metrics of one tally are functionals
of one model; they are not independent of each other.

Parameters: ``overall(metric)``, ``mu(metric, subgroup)``; latent ``z_scale``, ``z_coefficient`` (intercepts, effects of
attributes, features), ``z_common``, ``z_difference``, ``z_log_sd``, ``z_spread``, ``z_log_variance``, ``z_alpha``, ``z_tau``,
``z_outcome``, ``z_warp``, and with covariates of the rows ``z_slope``, ``z_covariate``, ``z_covariate_centre``,
``z_covariate_tau``; derived ``z_mean`` and ``z_variance``, m[g, y] and sd[g, y]^2. Means, variances and prevalences have the forms
of ``latent_scores``, ``latent_variances`` and ``latent_effects``, which follow from how much each cell says.

What the priors imply if half of the rows are positive and the threshold is at the middle (quantiles):

=============================================  ======  =====  =====  =====  ======
quantity                                       2.5 %   25 %   50 %   75 %   97.5 %
=============================================  ======  =====  =====  =====  ======
scale of effects                               .01     .10    .20    .35    .67
spread of log standard deviations              .008    .08    .17    .29    .56
AUC of a typical subgroup                      .00     .04    .50    .96    1.00
=============================================  ======  =====  =====  =====  ======

References
----------
Miller, Gatys, Futoma and Fox (2021), model-based metrics. Herlihy et al. (2024), section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .latent_effects import latent_effects, pseudo_data
from .latent_scores import latent_scores
from .latent_variances import latent_variances
from .likelihoods import observe_successes
from .score_functionals import Scale, metric_of
from .score_warps import WARP_SCALE, ScoreBins, Warp, log_density, score_bins, warp, warped_moments
from .shared.cells import BinomialCells, NormalCells
from .shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from .shared.score_cells import CONTRAST, EFFECT_SCALE, LOG_SD_SCALE, SPREAD_SCALE, ScoreCells, columns, score_cells
from .shared.score_covariates import CENTRE_SCALE, SLOPE_SCALE, TAU_SCALES, CovariateCells, covariate_cells

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

NO_ESTIMATES = NormalCells(np.zeros(0, np.intp), np.zeros(0, np.intp), [], np.zeros(0), np.zeros(0))
"""Outcomes are counts, none of which has an estimate alone."""

Residuals = Literal["normal", "skewed"]
Estimand = Literal["super", "finite"]
CELL = ("subgroup", "score_outcome")
"""Dims of what every subgroup and outcome has."""


def build(
    tally: xr.Dataset,
    *,
    order: int = 1,
    covariates: Sequence[str] = (),
    row_covariates: Sequence[str] = (),
    effect_scale: float = EFFECT_SCALE,
    residuals: Residuals = "normal",
    population: Estimand = "super",
) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally that keeps score moments, with dims ``metric`` and ``subgroup``.
    order : int
        Attributes are crossed at most so often in the effects, beside the effect of every subgroup; 0 for none.
    covariates : sequence of str
        Features of the tally whose subgroup means describe the scores.
    row_covariates : sequence of str
        Covariates of the rows that the tally keeps, with normal residuals.
    effect_scale : float
        Half-normal scale of the standard deviations of effects, in standard units.
    residuals : {"normal", "skewed"}
        Normal scores, or scores that are normal after a warp.
    population : {"super", "finite"}
        Whether the prevalence of outcomes is that of the population of a subgroup or of its rows.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)`` and ``overall(metric)``.

    Raises
    ------
    ValueError
        If the tally keeps no score moments, a metric is no functional of the score, or a setting is out of range.

    Examples
    --------
    >>> cell = ("score_outcome", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"score_count": (cell, [[30.0, 9.0], [20.0, 5.0]]), "score_mean": (cell, [[-1.0, -0.5], [1.5, 1.0]]),
    ...      "score_variance": (cell, [[4.0, 3.0], [4.0, 5.0]])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a", "b"], "site": ("subgroup", ["a", "b"])},
    ...     attrs={"settings": '{"score_scale": "logit", "threshold": 0.5}', "by": '{"by": ["site"]}'})
    >>> [variable.name for variable in build(tally).observed_RVs]
    ['score_mean', 'score_scatter', 'successes']
    """
    for name, value, choices in (
        ("population", population, get_args(Estimand)),
        ("residuals", residuals, get_args(Residuals)),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    if not (math.isfinite(effect_scale) and effect_scale > 0):
        raise ValueError(f"effect_scale must be a positive number; got {effect_scale!r}")
    if row_covariates and residuals != "normal":
        raise ValueError("row_covariates= needs residuals='normal': sums of products say nothing of warped scores")
    scores, design = score_cells(tally), columns(tally, order, covariates, effect_scale)
    rows = covariate_cells(tally, scores, row_covariates) if row_covariates else None
    bins = score_bins(tally, scores) if residuals == "skewed" else None
    coords = {
        "metric": tally["metric"].values,
        "subgroup": tally["subgroup"].values,
        "score_outcome": ["0", "1"],
        "score_component": [*design.names, "subgroup", "subgroup:outcome"],
        "score_column": np.arange(len(design.owner)),
        "score_effect": ["common", "difference"],
        "score_hyper": ["all"],
        "score_warp": ["epsilon", "log_delta"],
        "slope_effect": ["shared", "difference"],
        "row_covariate": np.arange(len(row_covariates)),
    }
    with pm.Model(coords=coords) as model:
        scale = pm.HalfNormal("z_scale", sigma=effect_scale, dims="score_component")
        log_sd: Tensor = pm.Normal("z_log_sd", sigma=LOG_SD_SCALE, dims="score_outcome")
        spread = pm.HalfNormal("z_spread", sigma=SPREAD_SCALE, dims="score_hyper")
        sigma: Tensor = pm.math.exp(log_sd)
        one = None if bins is None else warp(pm.Normal("z_warp", sigma=WARP_SCALE, dims="score_warp"))
        slope = None if rows is None else _slopes()
        cells = _statistics(scores, bins, one, rows, slope)
        freedom = np.maximum(scores.count - 1, 0.0)
        variance = latent_variances(
            "z_log_variance", 0.5 / spread[0] ** 2, (sigma**2)[None, :], cells.scatter, freedom, CELL
        )
        pm.Deterministic("z_variance", variance, dims=CELL)
        owned = pm.math.switch(design.owner >= 0, scale[np.maximum(design.owner, 0)], design.fixed)
        means = latent_scores(
            ("z_coefficient", "z_common", "z_difference"), design.x, cells.mean, scores.count, variance, owned, scale[-2:],
            ("score_column", "subgroup"),
        )  # fmt: skip
        mean, intercept = means.mean, means.coefficient[:2]
        pm.Deterministic("z_mean", mean, dims=CELL)
        centre_mean, centre_variance, over_mean, over_variance = intercept, sigma**2, mean, variance
        if rows is None or slope is None:
            scale_of = _observe(scores, mean, variance, model, bins, one)
        else:
            scale_of = _observe_given(scores, cells, mean, variance)
            nu, middle = _covariates(rows, finite=population == "finite")
            over_mean = mean + (nu * slope[None]).sum(axis=-1)
            around = slope[None, :, None, :] * rows.covariance(finite=population == "finite")
            over_variance = variance + (around.sum(axis=-1) * slope[None]).sum(axis=-1)
            centre_mean = intercept + (middle * slope).sum(axis=-1)
            centre_variance = sigma**2 + (slope**2).sum(axis=-1)
        prevalence, typical = _prevalence(scores, tally, population)
        sd: Tensor = pm.math.sqrt(over_variance)
        typical_sd: Tensor = pm.math.sqrt(centre_variance)
        laws = (prevalence, over_mean[:, 0], over_mean[:, 1], sd[:, 0], sd[:, 1])
        centre = (typical, centre_mean[0], centre_mean[1], typical_sd[0], typical_sd[1])
        names = [str(name) for name in tally["metric"].values]
        mu = [metric_of(name, laws, scale_of) for name in names]
        pm.Deterministic("mu", pm.math.stack(mu), dims=("metric", "subgroup"))
        pm.Deterministic("overall", pm.math.stack([metric_of(name, centre, scale_of) for name in names]), dims="metric")
    return model


class Statistics(NamedTuple):
    """Mean of every cell and sum of squares about it, (subgroup, outcome), of scores that the normal law describes."""

    mean: Tensor
    scatter: Tensor


def _statistics(
    scores: ScoreCells, bins: ScoreBins | None, one: Warp | None, rows: CovariateCells | None, slope: Tensor
) -> Statistics:
    """Statistics of scores as they are, of warped ones, or of what covariates leave of them."""
    if bins is not None and one is not None:
        return Statistics(*warped_moments(bins, one, scores.count))
    if rows is None:
        return Statistics(scores.mean, scores.scatter)
    around = slope[None, :, None, :] * rows.product
    explained = 2 * (slope[None] * rows.cross).sum(axis=-1) - (around.sum(axis=-1) * slope[None]).sum(axis=-1)
    return Statistics(scores.mean - (slope[None] * rows.mean).sum(axis=-1), scores.scatter - explained)


def _observe(
    scores: ScoreCells, mean: Tensor, variance: Tensor, model: Any, bins: ScoreBins | None, one: Warp | None
) -> Scale:
    """Add the likelihood of the scores; return the scale they are modelled on."""
    cut = None if math.isnan(scores.cut) else scores.cut
    if bins is not None and one is not None:
        pm.Potential("score_density", log_density(bins, one, mean, variance))
        return Scale(None if cut is None else one.apply(cut), _probability(scores, one) if scores.logit else None)
    some = np.nonzero(scores.count > 0)
    if len(some[0]):
        model.add_coord("score_cell", np.arange(len(some[0])))
        sd = pm.math.sqrt(variance[some] / scores.count[some])
        pm.Normal("score_mean", mu=mean[some], sigma=sd, observed=scores.mean[some], dims="score_cell")
    several = np.nonzero((scores.count > 1) & (scores.scatter > 0))
    if len(several[0]):
        model.add_coord("score_spread_cell", np.arange(len(several[0])))
        pm.Gamma(
            "score_scatter",
            alpha=0.5 * (scores.count[several] - 1),
            beta=0.5 / variance[several],
            observed=scores.scatter[several],
            dims="score_spread_cell",
        )
    return Scale(cut, _probability(scores, None) if scores.logit else None)


def _slopes() -> Tensor:
    """Slopes of the covariates (outcome, covariate)."""
    z: Tensor = pm.Normal("z_slope", sigma=np.array(SLOPE_SCALE)[:, None], dims=("slope_effect", "row_covariate"))
    return z[0][None, :] + np.array(CONTRAST)[:, None] * z[1][None, :]


def _observe_given(scores: ScoreCells, cells: Statistics, mean: Tensor, variance: Tensor) -> Scale:
    """Add the likelihood of the scores given covariates; ``mean`` is that at covariates of 0."""
    squares = cells.scatter + scores.count * (cells.mean - mean) ** 2
    log_variance: Tensor = pm.math.log(variance)
    density = -0.5 * scores.count * log_variance - 0.5 * squares / variance
    pm.Potential("score_density", density.sum())
    probability = _probability(scores, None) if scores.logit else None
    return Scale(None if math.isnan(scores.cut) else scores.cut, probability)


def _covariates(rows: CovariateCells, *, finite: bool) -> tuple[Tensor, Tensor]:
    """Means of the covariates in the population of every cell (subgroup, outcome, covariate), and their centres."""
    centre = pm.Normal("z_covariate_centre", sigma=CENTRE_SCALE, dims=("score_outcome", "row_covariate"))
    spread = np.array(TAU_SCALES)[:, None]
    tau = pm.HalfNormal("z_covariate_tau", sigma=spread, dims=("score_effect", "row_covariate"))
    own = tau[:, None, :] * pm.Normal("z_covariate", dims=("score_effect", "subgroup", "row_covariate"))
    nu = centre[None] + own[0][:, None, :] + np.array(CONTRAST)[None, :, None] * own[1][:, None, :]
    some = rows.count > 0
    sd = np.where(some, 1 / np.sqrt(np.maximum(rows.count, 1e-300)), 1.0)
    density = -0.5 * ((rows.mean - nu) / sd[..., None]) ** 2 * some[..., None]
    pm.Potential("covariate_density", density.sum())
    return (pm.math.switch(some[..., None], rows.mean, nu) if finite else nu), centre


def _probability(scores: ScoreCells, one: Warp | None) -> Callable[[Tensor], Tensor]:
    def back(value: Tensor) -> Tensor:
        return pm.math.invlogit(scores.centre + scores.unit * (value if one is None else one.undo(value)))

    return back


def _prevalence(scores: ScoreCells, tally: xr.Dataset, population: Estimand) -> tuple[Tensor, Tensor]:
    """Prevalence of every subgroup and of a typical one."""
    rows = scores.count.sum(axis=1)
    if population == "finite":
        share = np.where(rows > 0, scores.count[:, 1] / np.maximum(rows, 1e-300), np.nan)
        return share, float(scores.count[:, 1].sum() / rows.sum())
    alpha = pm.Normal("z_alpha", sigma=LOGIT_OVERALL_SCALE, dims="score_hyper")
    tau = pm.HalfNormal("z_tau", sigma=LOGIT_TAU_SCALE, dims="score_hyper")
    some = np.flatnonzero(rows > 0)
    labels = [f"outcome | {tally['subgroup'].values[i]}" for i in some]
    counts = BinomialCells(np.zeros(len(some), dtype=np.int64), some, labels, scores.count[some, 1], rows[some])
    data = pseudo_data((1, len(rows)), counts, NO_ESTIMATES, np.array([LOGIT_TAU_SCALE]))
    precision = data.precision[0]
    eta = alpha[0] + latent_effects(
        "z_outcome", precision * (data.estimate[0] - alpha[0]), precision, tau[0], ("subgroup",)
    )
    observe_successes(counts, pm.math.invlogit(eta[some]))
    return pm.math.invlogit(eta), pm.math.invlogit(alpha[0])
