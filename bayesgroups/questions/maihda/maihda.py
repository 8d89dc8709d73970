"""The question of MAIHDA: of the differences between intersectional strata, what main effects add up to and what they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.estimators.level_orders import Orders, orders_of
from bayesgroups.questions.maihda import bootstrap, likelihood, posterior
from bayesgroups.questions.maihda.sources import Draws, Model, check_report, fitted, reported
from bayesgroups.questions.maihda.strata import Method, Strata, Weights, people_of, strata_of
from bayesgroups.questions.values import NOT_USABLE
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.posterior import generator
from bayesgroups.report.schema import APPROACHES, KINDS, check
from bayesgroups.tallies.assembly import SCHEMA

ESTIMAND = "variance of the superpopulation values between strata, and what main effects explain of it"
LIMITS, RESAMPLED = "profile_likelihood (AUC: DeLong", "; PCV and shares: parametric bootstrap)"
"""Methods of the frequentist limits."""
NOTE = (
    "Shares split a variance on one scale, among these strata and with these weights. They are no causal shares; shares of rates "
    "and of means, or on different scales, cannot be compared; and a small share does not excuse a large gap of one stratum."
)
WITH_LIMITS = ("between", "residual", "vpc", "vpc_linearised", "vpc_response", "vpc_realised", "mor", "pcv", "auc")
ALONG_MODEL = (*(f"{name}{end}" for name in WITH_LIMITS for end in ("", "_lower", "_upper")), "loglik", "boundary")
SHARES = ("additive_share", "interaction_share", "auc_gain")
ALONG_METRIC = (*(f"{name}{end}" for name in SHARES for end in ("", "_lower", "_upper")), "p_value_zero")
OF_STRATA = ("value", "additive", "interaction", "interaction_response")
ALONG_SUBGROUP = (
    *(f"{name}{end}" for name in OF_STRATA for end in ("", "_lower", "_upper")), "probability_positive", "discovered",
)  # fmt: skip


@checked_keywords
def maihda(
    source: xr.Dataset | xr.DataTree,
    *,
    adjust: Sequence[str] | None = None,
    weights: Weights = "strata",
    population: pd.DataFrame | None = None,
    model: Model = "crossed",
    ordered: Sequence[str] | Mapping[str, Sequence[str]] = (),
    cyclic: Sequence[str] = (),
    method: Method = "reml",
    tau_scale: float | None = None,
    replicates: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> xr.Dataset:
    """Split the differences between intersectional strata into main effects and interactions, as MAIHDA does.

    Estimand: the variance between the values of strata, on the logit scale for rates, and the share of it that remains beside
    the main effects of the attributes. The null model has strata drawn from one population; the adjusted model draws them around
    the sum of main effects.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally, from which everything is fitted; or a report of ``bg.CrossedEffects(own_effects="learned")`` or
        ``bg.PartialPooling()``, whose draws are then the Bayesian side, as far as they go, and whose tally the frequentist side.
    adjust : sequence of str, optional
        Attributes of the adjusted model; all of them when left out.
    weights : {"strata", "rows"}
        Weights of strata in the shares and in ``vpc_realised``: all alike, or by rows.
    population : DataFrame, optional
        Number of people in every stratum, with a column per attribute and ``count``: weights in place of ``weights``.
    model : {"crossed", "main_effects", "regression"}
        Of a tally, the Bayesian model that shares and strata are taken from: crossed effects, in which main effects are shrunk as
        well; main effects, shrunk, and one effect per stratum, which expects no interaction of pairs and covers small shares
        better; or the adjusted model, whose main effects are hardly shrunk and whose limits of shares are too short where strata
        are small.
    ordered : sequence of str, or mapping from str to sequence of str
        Attributes whose levels have an order, in that of the tally or as named, of the models with shrunk main effects: a share of
        what crosses one follows it, as in `bayesgroups.CrossedEffects`.
    cyclic : sequence of str
        Ordered attributes whose last level is beside the first.
    method : {"reml", "ml"}
        Of the frequentist side of means; rates are fitted by maximum likelihood with adaptive quadrature.
    tau_scale : float, optional
        Of a tally, the prior scale of the standard deviation between strata in the null and the adjusted models, as in
        `bayesgroups.PartialPooling`.
    replicates : int
        Replicates of a parametric bootstrap for the frequentist limits of ``pcv`` and the shares; none by default.
    level : float
        Probability of the limits.
    seed : int
        Source of randomness.

    Returns
    -------
    xr.Dataset
        Along ``approach``, ``metric`` and ``model`` (``null``, ``adjusted``, and ``only:<attribute>`` for one attribute alone):

        - ``between``, ``residual``: variance between strata and of rows (pi^2/3 on the logit scale),
        - ``vpc``: between over their sum; of rates, for the null model, ``vpc_linearised``, ``vpc_response`` (integrated over
          the population of strata) and ``vpc_realised`` (over those at hand) on the scale of the rate,
        - ``mor``: median odds ratio of two strata, ``pcv``: proportional change of the variance from the null model,
        - ``auc`` of the strata's rates for single rows, or of the main effects' in the models with these; frequentist on the rows
          the scores were made from, Bayesian for rows from the same strata,
        - ``loglik`` (without the binomial constant), ``boundary`` (1 where ``between`` is estimated as 0), ``reason`` (why there
          is no fit, no ``pcv`` or no limit of an area, and which checks a Bayesian fit did not pass).

        Along ``approach`` and ``metric``: ``additive_share`` and ``interaction_share``, ``auc_gain`` of strata over main effects,
        and ``p_value_zero``, of the hypothesis that all strata are the same; ``share_reason``, why there are no shares: where the
        null model finds no variance between strata there is nothing to share out; and which checks the fit of the Bayesian shares
        did not pass.

        Along ``approach``, ``metric`` and ``subgroup``: ``value``, ``additive`` (what main effects predict), ``interaction``
        (the rest, on the scale of the predictor), ``interaction_response`` (on the scale of the metric),
        ``probability_positive``, and ``discovered``, 1 for strata whose sign of the interaction is listed with an expected
        share of false entries of at most 5 %.

        Limits of a name end in ``_lower`` and ``_upper``; along ``approach`` are their ``interval_kind`` and ``interval_method``.
        NaN is what a side does not say, and an infinite upper limit of a variance, with its odds ratio and its ``vpc`` of 1, lies
        beyond 100 squared logits; ``usable`` is 0 if a Bayesian fit did not pass its diagnostics.

    Raises
    ------
    InputError
        If the population lacks a column or has nobody in strata that main effects need, there is one attribute only, main
        effects are not estimable, a metric is neither a rate nor a mean, no stratum has it or its rows do not differ, a report
        has no learned spread on the scale of the predictor, or an order or a scale cannot be meant.
    SchemaError
        If ``source`` is neither a tally nor a report.

    Notes
    -----
    Bayesian variances and what follows from them are posterior medians, shares and strata posterior means. The Bayesian shares
    come from draws: in each the predictor of the strata is projected on main effects, and the variances of both parts add up. The
    frequentist ones are the between variance of the adjusted model over its sum with the variance of the main effects. A Bayesian
    ``pcv`` is one minus the ratio of two medians and has no limits, because the two fits are drawn apart from each other. With
    weights of rows, counts are effective numbers and the likelihood is a pseudo-likelihood.

    References
    ----------
    Evans et al. (2024), doi:10.1016/j.ssmph.2024.101664; Merlo (2018), doi:10.1016/j.socscimed.2017.12.026; Goldstein, Browne,
    Rasbash (2002), doi:10.1207/S15328031US0104_02; Larsen, Merlo (2005), doi:10.1093/aje/kwi017.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
    >>> counts = bg.tally_from_counts([100, 110, 500, 520, 300, 310], [1000] * 6, who)
    >>> answer = bg.maihda(counts).sel(metric="rate")
    >>> answer["pcv"].sel(approach="frequentist").round(3).to_series().to_dict()
    {'null': nan, 'only:race': 1.0, 'only:sex': 0.002, 'adjusted': 1.0}
    >>> bool(answer["interaction_share"].sel(approach="bayesian") < 0.1)
    True
    """
    _check(source, replicates, level)
    report = source if isinstance(source, xr.DataTree) else None
    tally = source if isinstance(source, xr.Dataset) else source["constant_data"].to_dataset()
    people = None if population is None else people_of(population, tally, weights)
    every = [strata_of(tally.isel(metric=[i]), adjust, weights, people) for i in range(tally.sizes["metric"])]
    if report is not None:
        check_report(report)
    orders = orders_of("maihda", ordered, cyclic)
    _check_orders(orders, model, given=report is not None)
    if report is not None and tau_scale is not None:
        raise InputError(
            f"maihda: a report has its own prior, so that tau_scale={tau_scale!r} says nothing; estimate it with such a scale, as "
            "bg.PartialPooling(tau_scale=...)"
        )
    drawn = (
        fitted(every, model, orders, tau_scale, seed) if report is None else [reported(report, each) for each in every]
    )
    sides = [
        (_bayesian(each, draws, level, seed), _frequentist(each, method, replicates, level, seed))
        for each, draws in zip(every, drawn, strict=True)
    ]
    labels = list(every[0].models)

    def stacked(where: str, name: str, length: int | None) -> np.ndarray:
        nothing = np.nan if length is None else np.full(length, np.nan)
        return np.array(
            [[side[where].get(name, nothing) for side in pair] for pair in sides], dtype=np.float64
        ).swapaxes(0, 1)

    along: dict[str, Any] = {
        name: (
            ("approach", "metric", "model"),
            np.stack([stacked(label, name, None) for label in labels], axis=-1),
        )
        for name in ALONG_MODEL
    }
    along |= {name: (("approach", "metric"), stacked("metric", name, None)) for name in ALONG_METRIC}
    strata = tally.sizes["subgroup"]
    along |= {name: (("approach", "metric", "subgroup"), stacked("strata", name, strata)) for name in ALONG_SUBGROUP}
    reasons = [[[side["reasons"].get(label, "") for label in labels] for side in pair] for pair in sides]
    along["interval_kind"] = ("approach", np.array(list(KINDS.values())))
    along["interval_method"] = ("approach", np.array(["equal_tailed", LIMITS + (RESAMPLED if replicates else ")")]))
    along["reason"] = (("approach", "metric", "model"), np.array(reasons, dtype=str).swapaxes(0, 1))
    told = [[str(side["shares"]["reason"]) for side in pair] for pair in sides]
    along["share_reason"] = (("approach", "metric"), np.array(told, dtype=str).T)
    coordinates = {str(name): x.variable for name, x in tally.coords.items() if x.dims == ("subgroup",)}
    return xr.Dataset(
        {**along, "usable": np.int8(min(draws.usable for draws in drawn)), "count": tally["count"]},
        coords={"approach": list(APPROACHES), "metric": tally["metric"].values, "model": labels, **coordinates},
        attrs={
            "weights": weights if population is None else "population", "method": method, "level": level, "note": NOTE,
            "estimand": ESTIMAND,
            "scale": ", ".join("logit" if each.rate else "metric" for each in every),
            "shares_from": model if report is None else str(report.attrs["estimator"]),
        },
    )  # fmt: skip


def _bayesian(strata: Strata, draws: Draws, level: float, seed: int) -> dict[str, Mapping[str, Any]]:
    """Variables by where they go: a model by its name, ``metric``, ``strata``, ``reasons`` and ``shares``."""
    shares, areas = posterior.of_shares(strata, draws.mu, level)
    made: dict[str, Mapping[str, Any]] = {"metric": shares, "strata": posterior.of_strata(strata, draws.mu, level)}
    models = {
        name: posterior.of_model(strata, name, model, level, generator(seed, strata.metric, f"maihda {name}"))
        for name, model in draws.models.items()
    }
    for name in strata.models:
        scalars = {**models.get(name, {}), **areas.get(name, {})}
        if name != "null" and name in models and "null" in models:
            scalars["pcv"] = 1 - models[name]["between"] / models["null"]["between"]
        made[name] = scalars
    absent = dict.fromkeys(set(strata.models) - set(models), "the report has no draws of this model")
    failed = {name: NOT_USABLE + told for name, told in draws.failures.items() if told}
    return {
        **made,
        "reasons": absent | failed,
        "shares": {"reason": NOT_USABLE + draws.share_failure if draws.share_failure else ""},
    }


def _frequentist(
    strata: Strata, method: Method, replicates: int, level: float, seed: int
) -> dict[str, Mapping[str, Any]]:
    """The same of the other side."""
    models = likelihood.fits(strata, method)
    made: dict[str, Mapping[str, Any]] = dict(likelihood.of_models(strata, models, method, level))
    of_metric = likelihood.of_metric(strata, models, method)
    if strata.rate and not models["null"].boundary:
        of_metric["auc_gain"] = made["null"].get("auc", np.nan) - made["adjusted"].get("auc", np.nan)
    reason = models["adjusted"].reason or (likelihood.NO_VARIANCE if models["null"].boundary else "")
    if replicates and not reason:
        rng = generator(seed, strata.metric, "maihda bootstrap")
        limits = bootstrap.limits(strata, models["adjusted"], method, replicates, level, rng)
        made["adjusted"] = {**made["adjusted"], **{name: end for name, end in limits.items() if name.startswith("pcv")}}
        of_metric |= {name: end for name, end in limits.items() if not name.startswith("pcv")}
    told = likelihood.reasons(strata, models)
    of_strata = likelihood.of_strata(strata, models, level)
    return {**made, "metric": of_metric, "strata": of_strata, "reasons": told, "shares": {"reason": reason}}


def _check_orders(orders: Orders, model: str, *, given: bool) -> None:
    """Refuse orders where nothing would follow them."""
    if orders.levels and given:
        raise InputError("maihda: a report has its own model; estimate it with bg.CrossedEffects(ordered=...) instead")
    if orders.levels and model == "regression":
        raise InputError(
            "maihda: model='regression' hardly shrinks main effects, so that none follows an order; take model='crossed' or "
            "'main_effects', or leave ordered= out"
        )


def _check(source: object, replicates: object, level: float) -> None:
    refuse_overlapping(source, "maihda")
    if not isinstance(source, xr.DataTree) and not (
        isinstance(source, xr.Dataset) and source.attrs.get("schema") == SCHEMA
    ):
        raise SchemaError(f"maihda takes a tally or a report; got {type(source).__name__}")
    if isinstance(source, xr.DataTree):
        check(source)
    if not 0 < level < 1:
        raise InputError(f"maihda: level={level!r} must lie strictly between 0 and 1, such as 0.95")
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or replicates < 0:
        raise InputError(f"maihda: replicates={replicates!r} must be a whole number, 0 or larger")
