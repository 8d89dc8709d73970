"""Posterior of model-based metrics by Gibbs sampling on the moments of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.inference import score_gibbs
from bayesgroups.inference.collapsed import binomial, score_covariates
from bayesgroups.inference.score_effects import Design
from bayesgroups.inference.score_gibbs import ScoreDraws, ScorePrior, Warped
from bayesgroups.inference.score_slopes import Slopes
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from bayesgroups.models.shared.score_cells import (
    EFFECT_SCALE,
    LOG_SD_SCALE,
    SPREAD_SCALE,
    ScoreCells,
    columns,
    score_cells,
)
from bayesgroups.models.shared.score_covariates import CovariateCells, covariate_cells, slope_columns, slope_scales
from bayesgroups.report.diagnostics import Check, chain_checks, usable
from bayesgroups.report.posterior import CHAINS, Posterior, generator, with_chains
from bayesgroups.scores.inputs import NO_WARP, with_scores
from bayesgroups.scores.laws import ScoreLaw, metric_of
from bayesgroups.scores.shapes import Residuals, binned, fit
from bayesgroups.scores.warps import Warp, apply, undo, warp
from bayesgroups.tallies.score_covariates import packets_of
from bayesgroups.tallies.score_moments import kept

Estimand = Literal["super", "finite"]

DRAWS = 1000
"""Draws per group of chains."""
FIRST, LONGER = (50, 1), (250, 4)
"""Iterations of warm-up and per draw: at first, and where the chains have not mixed."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    order: int = 1,
    covariates: Sequence[str] = (),
    row_covariates: Sequence[str] = (),
    effect_scale: float = EFFECT_SCALE,
    residuals: Residuals = "auto",
    population: Estimand = "super",
) -> Posterior:
    """Draws of all metrics of the tally, as functionals of the same draws of the law of the score.

    The same model as `bayesgroups.models.model_based_metrics`, with the settings of its ``build``. A metric has the same
    draws whichever others are asked for, and is NaN if it is undefined in every subgroup. InputError if the scores cannot
    be used.
    """
    source = with_scores(tally)
    scores = score_cells(source)

    def attempt(tune: int, thin: int) -> Posterior:
        score_laws = laws(
            source, scores, seed=seed, order=order, covariates=covariates, row_covariates=row_covariates,
            effect_scale=effect_scale, residuals=residuals, population=population, tune=tune, thin=thin,
        )  # fmt: skip
        return _posterior(tally, score_laws)

    first = attempt(*FIRST)
    return first if usable(first.checks) else attempt(*LONGER)


def _posterior(tally: xr.Dataset, score_laws: ScoreLaws) -> Posterior:
    """Draws of every metric of the tally, and whether the chains can be trusted."""
    metrics, defined = tally["metric"].values, np.isfinite(tally["estimate"].values).any(axis=1)
    overall = np.full((CHAINS * DRAWS, len(metrics)), np.nan)
    mu = np.empty((*overall.shape, tally.sizes["subgroup"]))
    mu[:, ~defined] = np.nan
    for i in np.flatnonzero(defined):  # of the others there is never a prior in disguise
        of_all, of_typical = score_laws.metric(str(metrics[i]), score_laws.scores.cut)
        mu[:, i], overall[:, i] = of_all.reshape(len(mu), -1), of_typical.ravel()
    draws = with_chains(tally, {"mu": ("metric subgroup", mu), "overall": ("metric", overall)})
    checks: list[Check] = []
    for i in np.flatnonzero(defined):
        # Among rows, a subgroup without any has no prevalence, and so nothing to check.
        answered = np.isfinite(mu[:, i]).all(axis=0)
        some = draws.isel(metric=[i])
        checks += chain_checks(some if answered.all() else some.isel(subgroup=answered), str(metrics[i]))
    return Posterior(draws, tuple(checks), "gibbs", latent=_latent(tally, score_laws))


def _latent(tally: xr.Dataset, score_laws: ScoreLaws) -> xr.Dataset:
    """Parameters of the likelihood of normal scores and of outcomes."""
    shape = (CHAINS * DRAWS, tally.sizes["subgroup"])
    data = {
        "score_cell_mean": ("subgroup score_outcome", score_laws.mean.reshape(*shape, 2)),
        "score_cell_sd": ("subgroup score_outcome", score_laws.sd.reshape(*shape, 2)),
        "outcome_share": ("subgroup", np.broadcast_to(score_laws.prevalence, (CHAINS, DRAWS, shape[1])).reshape(shape)),
    }
    return with_chains(tally, data, score_outcome=["0", "1"])


@dataclass(frozen=True)
class ScoreLaws:
    """Draws of the law of the warped score of every subgroup, and of a typical one, (chain, draw, 1).

    ``mean`` and ``sd`` are (chain, draw, subgroup, outcome), ``prevalence`` (chain, draw, subgroup) or (subgroup,); ``warps``
    (chain, draw) takes scores in standard units to the scale of the laws.
    """

    prevalence: FloatArray
    mean: FloatArray
    sd: FloatArray
    typical: ScoreLaw
    warps: Warp
    scores: ScoreCells

    @property
    def law(self) -> ScoreLaw:
        """The law of every subgroup, (chain, draw, subgroup)."""
        return ScoreLaw(self.prevalence, self.mean[..., 0], self.mean[..., 1], self.sd[..., 0], self.sd[..., 1])

    def metric(self, name: str, cut: float) -> tuple[FloatArray, FloatArray]:
        """Draws of a metric, (chain, draw, subgroup), and of its value in a typical subgroup, (chain, draw, 1).

        ``cut`` is the threshold in standard units.
        """
        where = apply(self.warps, np.array([cut]))
        mu = metric_of(name, self.law, where, link=self._score)
        overall = metric_of(name, self.typical, where, link=self._score)
        return mu, np.broadcast_to(overall, where.shape)

    def _score(self, value: FloatArray) -> FloatArray:
        return np.asarray(expit(self.scores.centre + self.scores.unit * undo(self.warps, value)), dtype=np.float64)


def laws(
    tally: xr.Dataset,
    scores: ScoreCells,
    *,
    seed: int,
    order: int = 1,
    covariates: Sequence[str] = (),
    row_covariates: Sequence[str] = (),
    effect_scale: float = EFFECT_SCALE,
    residuals: Residuals = "auto",
    population: Estimand = "super",
    tune: int = FIRST[0],
    thin: int = FIRST[1],
) -> ScoreLaws:
    """Draws of the laws of the score, from which every metric at every threshold follows.

    Given are the tally from `with_scores`, its cells, and settings as in `sample`; ``tune`` and ``thin`` are of the
    chains, see `bayesgroups.inference.score_gibbs.sample`. InputError if the tally keeps no such covariates of rows, or
    residuals are to be skewed as well.
    """
    design = columns(tally, order, covariates, effect_scale)
    plain = Design(design.x, design.owner, design.fixed, len(design.names))
    rows = None
    if row_covariates:
        if residuals == "skewed":
            raise InputError(NO_WARP)
        packets_of(tally, row_covariates)  # says what to do where the tally keeps none
        rows = covariate_cells(tally, scores, row_covariates)
        plain = Design(
            np.concatenate([design.x, slope_columns(rows)], axis=2),
            np.concatenate([design.owner, np.full(2 * rows.mean.shape[-1], -1)]),
            np.concatenate([design.fixed, slope_scales(rows)]),
            len(design.names),
        )
    prior = ScorePrior(effect_scale, LOG_SD_SCALE, SPREAD_SCALE)
    shape = shape_of(tally, scores) if rows is None else None
    skewed = shape is not None and (residuals == "skewed" or (residuals == "auto" and shape.start.worth))
    rng = generator(seed, "scores", "model_based_metrics")
    drawn = score_gibbs.sample(
        plain, scores.count, scores.mean, scores.scatter, prior, rng, warped=shape if skewed else None,
        slopes=None if rows is None else Slopes(rows.product, rows.cross), groups=CHAINS, draws=DRAWS, tune=tune, thin=thin,
    )  # fmt: skip
    share, typical = _prevalence(scores, seed, population)
    mean, sd = drawn.mean, drawn.sd
    centre, spread = drawn.theta[..., :2], np.exp(2 * drawn.hyper[..., :2])
    if rows is not None:
        mean, sd, centre, spread = _over_covariates(rows, drawn, centre, spread, seed, finite=population == "finite")
    spread = np.sqrt(spread)
    return ScoreLaws(
        share,
        mean,
        sd,
        ScoreLaw(typical[..., None], centre[..., :1], centre[..., 1:], spread[..., :1], spread[..., 1:]),
        warp(drawn.shape[..., 0], drawn.shape[..., 1]),
        scores,
    )


def _over_covariates(
    rows: CovariateCells, drawn: ScoreDraws, centre: FloatArray, spread: FloatArray, seed: int, *, finite: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Means and standard deviations of scores over the covariates of every subgroup, means and variances of a typical one.

    Covariates are taken for normal within a subgroup and outcome; whether scores then are is what the check of their shape
    looks at.
    """
    rng = generator(seed, "covariates", "model_based_metrics")
    nu, middle = score_covariates.sample(rows, rng, finite=finite, draws=CHAINS * DRAWS)
    nu, middle = (part.reshape(CHAINS, DRAWS, *part.shape[1:]) for part in (nu, middle))
    slope = Slopes(rows.product, rows.cross).of(drawn.theta)
    mean = drawn.mean + np.einsum("cdgyk,cdyk->cdgy", nu - rows.mean, slope)
    covariance = rows.covariance(finite=finite)
    variance = drawn.sd**2 + np.einsum("cdyi,gyij,cdyj->cdgy", slope, covariance, slope, optimize=True)
    return mean, np.sqrt(variance), centre + (middle * slope).sum(axis=-1), spread + (slope**2).sum(axis=-1)


def shape_of(tally: xr.Dataset, scores: ScoreCells) -> Warped:
    """The rows of a tally in bins, and the warp that fits them best."""
    bins = kept(tally)
    assert bins is not None, "with_scores() attaches them"
    rows = binned(bins, tally.sizes["subgroup"], scores.centre, scores.unit)
    return Warped(rows, fit(rows))


def _prevalence(scores: ScoreCells, seed: int, population: Estimand) -> tuple[FloatArray, FloatArray]:
    rows, positives = scores.count.sum(axis=1), scores.count[:, 1]
    if population == "finite":
        with np.errstate(invalid="ignore"):
            share = np.where(rows > 0, positives / rows, np.nan)
        return share, np.asarray(positives.sum() / rows.sum())
    rng = generator(seed, "prevalence", "model_based_metrics")
    drawn = binomial.sample(
        positives, rows, rng, draws=CHAINS * DRAWS, overall_scale=LOGIT_OVERALL_SCALE, tau_scale=LOGIT_TAU_SCALE
    )
    return drawn.mu.reshape(CHAINS, DRAWS, -1), drawn.overall.reshape(CHAINS, DRAWS)
