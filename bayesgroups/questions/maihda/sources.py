"""Posterior draws that the Bayesian side is made from: fits of a tally, or one report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.estimators.crossed_effects import CrossedEffects
from bayesgroups.estimators.estimate import estimate
from bayesgroups.estimators.level_orders import Orders
from bayesgroups.estimators.partial_pooling import PartialPooling
from bayesgroups.questions.maihda.posterior import ModelDraws
from bayesgroups.questions.maihda.strata import Strata
from bayesgroups.report.schema import check
from bayesgroups.tallies.subgroups import attributes_of

Model = Literal["crossed", "main_effects", "regression"]


@dataclass(frozen=True)
class Draws:
    """Draws of models by name, and values (draw, stratum) that shares are projected from; ``usable`` is 0 if a fit is not."""

    models: Mapping[str, ModelDraws]
    mu: FloatArray
    usable: int


def fitted(strata: Strata, model: Model, orders: Orders, seed: int) -> Draws:
    """All models of a metric, fitted here, and the one that the shares are taken from."""
    reports = {
        name: estimate(strata.tally, PartialPooling(covariates=names), seed=seed)
        for name, names in strata.models.items()
    }
    if model == "regression":
        whole = reports["adjusted"]
    else:
        order = 1 if model == "main_effects" else None
        crossed = CrossedEffects(order=order, own_effects="learned", ordered=orders.ordered, cyclic=orders.cyclic)
        whole = estimate(strata.tally, crossed, seed=seed)
    usable = min(int(report.attrs["usable"]) for report in (*reports.values(), whole))
    return Draws(
        {name: _draws(report, strata.metric) for name, report in reports.items()}, _mu(whole, strata.metric), usable
    )


def reported(report: xr.DataTree, strata: Strata) -> Draws:
    """Draws of one report: its values, and its spread where it is that of a model named here."""
    posterior = report["posterior"].to_dataset()
    settings = json.loads(str(report.attrs["settings"]))
    models = {}
    if "component_sd" not in posterior:
        covariates = tuple(settings.get("covariates", ()))
        for name, names in strata.models.items():
            if sorted(covariates) == sorted(names):
                models[name] = _draws(report, strata.metric)
    return Draws(models, _mu(report, strata.metric), int(report.attrs["usable"]))


def check_report(report: xr.DataTree) -> None:
    """Refuse a report whose spread between subgroups is not learned on the scale of the predictor."""
    check(report)
    settings, estimator = json.loads(str(report.attrs["settings"])), report.attrs["estimator"]
    if "posterior" not in report.children or "tau" not in report["posterior"] or "likelihood" not in settings:
        raise InputError(
            f"the report of estimator {estimator!r} has no learned spread of strata; estimate with "
            f"bg.CrossedEffects(own_effects='learned') or bg.PartialPooling(), or give the tally"
        )
    tally = report["constant_data"].to_dataset()
    if settings["likelihood"] == "normal" and "rate" in [str(kind) for kind in tally["kind"].values]:
        raise InputError(
            "the report has a normal likelihood of rates (likelihood='normal'), whose spread is not on the logit scale; "
            "estimate with likelihood='auto'"
        )
    posterior = report["posterior"].to_dataset()
    residual = settings.get("own_effects")
    if residual in ("fixed", "floored") and "component_sd" in posterior and len(attributes_of(tally)) > 1:
        raise InputError(
            f"the effects of single strata have a known spread in this report (own_effects={residual!r}), so that no interaction "
            f"can be near 0; estimate with bg.CrossedEffects(own_effects='learned')"
        )


def _draws(report: xr.DataTree, metric: str) -> ModelDraws:
    posterior = report["posterior"].to_dataset().sel(metric=metric)
    tau, overall = (
        np.asarray(posterior[name].transpose("chain", "draw").values, dtype=np.float64).ravel()
        for name in ("tau", "overall")
    )
    return ModelDraws(_mu(report, metric), tau, overall)


def _mu(report: xr.DataTree, metric: str) -> FloatArray:
    mu = report["posterior"].to_dataset()["mu"].sel(metric=metric).transpose("chain", "draw", "subgroup").values
    return np.asarray(mu.reshape(-1, mu.shape[-1]), dtype=np.float64)
