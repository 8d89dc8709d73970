"""Exact posterior of disagreement feedback: every factor of the model is drawn by itself.

Given the tally, shares of labels, disagreement rates of each label and destinations of disagreement are independent: a
Dirichlet posterior, the exact engine of partial pooling, and the prior.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import binomial
from bayesgroups.inference.collapsed.partial_pooling import EDGE_MASS, GRID_ERROR, quadrature_check
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from bayesgroups.report.diagnostics import Check, at_most, independent_draws
from bayesgroups.report.posterior import Posterior, generator, with_chains


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    draws: int = 4000,
    destination: float = 1.0,
    overall_scale: float | None = None,
    tau_scale: float | None = None,
) -> Posterior:
    """Independent draws from the posterior of every metric of a tally of disagreement.

    The same model as `bayesgroups.models.disagreement` without critics. ``destination`` is the parameter of the Dirichlet
    prior of where disagreement goes; scales are those of the disagreement rates, on the logit scale, by default those of
    `bayesgroups.models.shared.scales`.
    """
    disagree = tally["disagreements"].values
    total = disagree + tally["agreements"].values
    size, subgroups = total.shape
    rate, fits = np.empty((draws, size, subgroups)), []
    for label, name in enumerate(tally["label"].values):
        fit = binomial.sample(
            disagree[label], total[label], generator(seed, str(name), "disagreement rate"), draws=draws,
            overall_scale=overall_scale or LOGIT_OVERALL_SCALE, tau_scale=tau_scale or LOGIT_TAU_SCALE,
        )  # fmt: skip
        rate[:, label] = fit.mu
        fits.append(fit)
    rng = generator(seed, "", "disagreement shares")
    shares = _dirichlet(rng, np.broadcast_to(JEFFREYS + total, (draws, size, subgroups)), axis=1)
    sent = destinations(size, subgroups, destination, generator(seed, "", "disagreement destinations"), draws)
    laid_out = with_chains(tally, {"mu": ("metric subgroup", metrics(tally, rate, shares, sent))})
    checks = [check for name in tally["metric"].values for check in _checks(str(name), draws, fits)]
    law = {"disagreement_rate": ("label subgroup", rate), "label_share": ("label subgroup", shares)}
    latent = with_chains(tally, law, label=tally["label"].values)
    return Posterior(laid_out, tuple(checks), "collapsed", latent=latent)


def destinations(size: int, subgroups: int, concentration: float, rng: np.random.Generator, draws: int) -> FloatArray:
    """Prior draws (draw, from, to, subgroup) of where disagreement goes; sums to 1 over ``to``, 0 from a label to itself."""
    shares = np.zeros((draws, size, size, subgroups))
    for label in range(size):
        targets = [to for to in range(size) if to != label]
        law = np.full((draws, size - 1, subgroups), concentration)
        shares[:, label, targets] = _dirichlet(rng, law, axis=1)
    return shares


def metrics(tally: xr.Dataset, rate: FloatArray, shares: FloatArray, sent: FloatArray) -> FloatArray:
    """Draws (draw, metric, subgroup) of every metric of the tally.

    Rates of disagreement and shares of labels are (draw, label, subgroup), ``sent`` (draw, from, to, subgroup) is where
    disagreement goes.
    """
    agree, disagree = (1 - rate) * shares, rate * shares
    arrived = (sent * disagree[:, :, None]).sum(axis=1)
    opportunity = agree / (agree + arrived)
    stays = np.maximum(1 - shares - arrived, 0.0)
    values = {
        "calibration": 1 - rate,
        "equal_opportunity": opportunity,
        "overall_misclassification": 1 - opportunity,
        "predictive_equality": disagree / (disagree + stays),
    }
    labels = tally["label"].values.tolist()
    draws_of_metrics = np.empty((len(rate), tally.sizes["metric"], rate.shape[-1]))
    for i, (notion, label) in enumerate(zip(tally["notion"].values, tally["metric_label"].values, strict=True)):
        name = str(notion)
        draws_of_metrics[:, i] = (
            agree.sum(axis=1) if name == "accuracy_equality" else values[name][:, labels.index(label)]
        )
    return draws_of_metrics


def _dirichlet(rng: np.random.Generator, law: FloatArray, *, axis: int) -> FloatArray:
    mass = np.maximum(rng.standard_gamma(law), np.finfo(np.float64).tiny)
    return np.asarray(mass / mass.sum(axis=axis, keepdims=True), dtype=np.float64)


def _checks(metric: str, draws: int, fits: list[binomial.BinomialDraws]) -> list[Check]:
    """The checks of the disagreement rates, the worst over labels; shares and destinations are exact."""
    edge = max(fit.surface.edge_mass for fit in fits)
    grid = max(fit.surface.interpolation_error for fit in fits)
    error = max(fit.quadrature_error for fit in fits)
    return [
        at_most("grid edge mass", metric, edge, EDGE_MASS, "the posterior mass at the edge of the grid"),
        at_most("grid error", metric, grid, GRID_ERROR, "the numerical error of the grid"),
        quadrature_check(metric, error),
        independent_draws(metric, draws),
    ]
