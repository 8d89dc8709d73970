"""Disagreement feedback: rates of a system whose critics say only whether they disagree.

For label l that the system gave and subgroup g, with label shares S and disagreement rates D,

    S[g, .] ~ Dirichlet(1/2, ..., 1/2)                       judgements[g, .] ~ Multinomial(n[g], S[g, .])
    logit D[l, g] = a[l] + t[l] z[l, g],   z ~ Normal(0, 1)  disagreements[l, g] ~ Binomial(judgements[g, l], D[l, g])
    a[l] ~ Normal(0, 1.5),   t[l] ~ HalfNormal(0.5)

With critics c, each of whom has a leniency of its own for each label,

    logit D[l, g, c] = a[l] + t[l] z[l, g] + u[l] w[l, c],   u[l] ~ HalfNormal(0.5),   w[l, c] ~ Normal(0, 1)

and D[l, g] is the mean of D[l, g, c] over the population of critics.

A critic who disagrees has another label in mind. Which one is never seen; its law

    Q[l, g, .] ~ Dirichlet(destination, ..., destination)    over the labels other than l

is the prior and stays the prior, however many judgements there are. With agreement A[k] = (1 - D[k]) S[k], disagreement
E[k] = D[k] S[k] and V[l, k] = Q[l, k] E[l], the joint law of label l and the label k in mind, each metric is

    acc = sum_k A[k]                     tpr[k] = A[k] / (A[k] + sum_l V[l, k])       fnr[k] = 1 - tpr[k]
    ppv[k] = A[k] / S[k]                 fpr[k] = E[k] / (E[k] + sum_l (S[l] - V[l, k]))       sums over l other than k

Parameters: ``mu(metric, subgroup)``; latent ``z(label, subgroup)`` and those named ``z_``. With two labels there is one
destination and every metric is known as well as D and S are.

What the prior of destinations implies for the share of the disagreement at a label that goes to one given label, of three
in all (quantiles):

===========  ======  =====  =====  =====  ======
destination  2.5 %   25 %   50 %   75 %   97.5 %
===========  ======  =====  =====  =====  ======
0.2          .000    .024   .50    .976   1.000
1            .025    .25    .50    .75    .975
20           .348    .446   .50    .554   .652
===========  ======  =====  =====  =====  ======

References
----------
Telukunta and Nadendla, fairness evaluation from non-expert disagreement feedback (rates and what is known of them). Gustafson
(2010), "Bayesian inference for partially identified models", doi:10.2202/1557-4679.1206.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from .shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, check_scale

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

DESTINATION = 1.0
"""Every law of where disagreement goes is as likely as any other."""
NOTIONS = ("calibration", "equal_opportunity", "predictive_equality", "overall_misclassification")
"""Of the metrics of each label, in the order in which they are computed."""
NODES = 21
"""Of the quadrature over the population of critics."""


def build(
    tally: xr.Dataset,
    *,
    destination: float = DESTINATION,
    overall_scale: float | None = None,
    tau_scale: float | None = None,
    critics: bool = True,
) -> pm.Model:
    """Build the model of all metrics of a tally of disagreement; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        With ``agreements`` and ``disagreements`` (label, subgroup), ``notion`` and ``metric_label`` (metric), and, where
        critics are known, ``critic_agreements`` and ``critic_disagreements`` (critic, label, subgroup).
    destination : float
        Parameter of the Dirichlet prior of where disagreement goes: below 1 to few labels, above 1 to all alike.
    overall_scale : float, optional
        Standard deviation of the prior of ``a``; by default 1.5.
    tau_scale : float, optional
        Scale of the half-normal priors of ``t`` and ``u``; by default 0.5.
    critics : bool
        Give critics a leniency of their own where the tally has them, or take judgements for independent.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``.

    Raises
    ------
    ValueError
        If the tally is no tally of disagreement or a number is not positive and finite.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"agreements": (("label", "subgroup"), [[8.0], [5.0]]), "disagreements": (("label", "subgroup"), [[1.0], [4.0]]),
    ...      "notion": ("metric", ["equal_opportunity"]), "metric_label": ("metric", ["high"])},
    ...     coords={"metric": ["tpr[high]"], "label": ["low", "high"], "subgroup": ["f"]})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['z_overall', 'z_tau', 'z', 'z_share']
    """
    if "agreements" not in tally:
        raise ValueError("the tally has no agreements and disagreements per label")
    size = tally.sizes["label"]
    each = critics and "critic_agreements" in tally
    spread = _positive("tau_scale", tau_scale, LOGIT_TAU_SCALE)
    coords: dict[str, Any] = {name: tally[name].values for name in ("metric", "label", "subgroup")}
    with pm.Model(coords=coords) as model:
        centre = pm.Normal(
            "z_overall", sigma=_positive("overall_scale", overall_scale, LOGIT_OVERALL_SCALE), dims="label"
        )
        tau = pm.HalfNormal("z_tau", sigma=spread, dims="label")
        eta = centre[:, None] + tau[:, None] * pm.Normal("z", dims=("label", "subgroup"))
        leniency = pm.HalfNormal("z_leniency", sigma=spread, dims="label") if each else None
        shares = pm.Dirichlet(
            "z_share", a=np.full((tally.sizes["subgroup"], size), JEFFREYS), dims=("subgroup", "label")
        )
        sent = _destinations(size, tally.sizes["subgroup"], _positive("destination", destination, DESTINATION))
        if leniency is None:
            rate = pm.math.invlogit(eta)
            _observe(tally, eta, shares)
        else:
            model.add_coord("critic", tally["critic"].values)
            own = leniency[:, None] * pm.Normal("z_critic", dims=("label", "critic"))
            rate = _over_critics(eta, leniency)
            _observe_critics(tally, eta, own, shares)
        pm.Deterministic("mu", _metrics(tally, rate, shares.T, sent), dims=("metric", "subgroup"))
    return model


def _destinations(size: int, subgroups: int, concentration: float) -> Tensor:
    """Where disagreement goes: (from, subgroup, to), 0 from a label to itself."""
    # place[from, d, to] says which label is the d-th of the others.
    place = np.stack([np.delete(np.eye(size), label, axis=0) for label in range(size)])
    if size == 2:
        return np.broadcast_to(place, (size, subgroups, size))
    model: Any = pm.modelcontext(None)
    model.add_coord("destination", np.arange(size - 1))
    law = np.full((size, subgroups, size - 1), concentration)
    dirichlet: Any = pm.Dirichlet
    drawn = dirichlet("z_destination", a=law, dims=("label", "subgroup", "destination"))
    return (drawn[..., None] * place[:, None]).sum(axis=2)


def _over_critics(eta: Tensor, leniency: Tensor) -> Tensor:
    """Mean of the rate over the population of critics, by Gauss-Hermite quadrature."""
    node, weight = np.polynomial.hermite_e.hermegauss(NODES)
    inverse: Any = pm.math.invlogit
    return (inverse(eta[:, :, None] + leniency[:, None, None] * node) * (weight / weight.sum())).sum(axis=-1)


def _observe(tally: xr.Dataset, eta: Tensor, shares: Tensor) -> None:
    disagree = tally["disagreements"].values.astype(np.int64)
    total = disagree + tally["agreements"].values.astype(np.int64)
    label, subgroup = np.nonzero(total)
    if len(label):
        _observe_labels(total, shares)
        model: Any = pm.modelcontext(None)
        model.add_coord("binomial_cell", np.arange(len(label)))
        p = pm.math.invlogit(eta[label, subgroup])
        n = total[label, subgroup]
        pm.Binomial("disagreements", n=n, p=p, observed=disagree[label, subgroup], dims="binomial_cell")


def _observe_critics(tally: xr.Dataset, eta: Tensor, own: Tensor, shares: Tensor) -> None:
    disagree = tally["critic_disagreements"].values.astype(np.int64)
    total = disagree + tally["critic_agreements"].values.astype(np.int64)
    critic, label, subgroup = np.nonzero(total)
    if len(label):
        _observe_labels(total.sum(axis=0), shares)
        model: Any = pm.modelcontext(None)
        model.add_coord("binomial_cell", np.arange(len(label)))
        p = pm.math.invlogit(eta[label, subgroup] + own[label, critic])
        n, seen = total[critic, label, subgroup], disagree[critic, label, subgroup]
        pm.Binomial("disagreements", n=n, p=p, observed=seen, dims="binomial_cell")


def _observe_labels(total: np.ndarray, shares: Tensor) -> None:
    some = np.flatnonzero(total.sum(axis=0))
    model: Any = pm.modelcontext(None)
    model.add_coord("judged_subgroup", some)
    counts = total[:, some].T
    pm.Multinomial(
        "judgements", n=counts.sum(axis=1), p=shares[some], observed=counts, dims=("judged_subgroup", "label")
    )


def _metrics(tally: xr.Dataset, rate: Tensor, shares: Tensor, sent: Tensor) -> Tensor:
    """Every metric (metric, subgroup) from rates and shares (label, subgroup) and destinations (from, subgroup, to)."""
    agree, disagree = (1 - rate) * shares, rate * shares
    arrived = (sent * disagree[:, :, None]).sum(axis=0).T
    opportunity = agree / (agree + arrived)
    # All that is not at k, less what has k in mind.
    predictive = disagree / (disagree + (1 - shares) - arrived)
    every: Tensor = pt.concatenate([agree.sum(axis=0)[None, :], 1 - rate, opportunity, predictive, 1 - opportunity])
    labels = ["all", *(f"{notion} {label}" for notion in NOTIONS for label in tally["label"].values)]
    about = zip(tally["notion"].values, tally["metric_label"].values, strict=True)
    rows = [0 if notion == "accuracy_equality" else labels.index(f"{notion} {label}") for notion, label in about]
    return every[np.array(rows)]


def _positive(name: str, given: float | None, default: float) -> float:
    value = default if given is None else given
    check_scale(value, name, logit=name != "destination")
    return value
