"""Posterior draws that the Bayesian side is made from: fits of a tally, or one report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.processes import MAX_SUBGROUPS, on_processors
from bayesgroups.data.threads import side_by_side
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.checked_fits import posterior
from bayesgroups.estimators.crossed_effects import CrossedEffects
from bayesgroups.estimators.level_orders import Orders
from bayesgroups.estimators.partial_pooling import PartialPooling
from bayesgroups.questions.maihda.posterior import ModelDraws
from bayesgroups.questions.maihda.strata import Strata
from bayesgroups.report.posterior import Posterior
from bayesgroups.report.schema import check
from bayesgroups.report.view import failures, plain
from bayesgroups.tallies.subgroups import attributes_of

Model = Literal["crossed", "main_effects", "regression"]


@dataclass(frozen=True)
class Draws:
    """Draws of models by name, and values (draw, stratum) that shares are projected from.

    ``failures`` are the sentences of the checks that models did not pass, by name, and ``share_failure`` those of the model of the
    shares; empty where all passed.
    """

    models: Mapping[str, ModelDraws]
    mu: FloatArray
    failures: Mapping[str, str]
    share_failure: str

    @property
    def usable(self) -> int:
        """0 if a fit is not."""
        return int(not any((*self.failures.values(), self.share_failure)))


def fitted(every: Sequence[Strata], model: Model, orders: Orders, tau_scale: float | None, seed: int) -> list[Draws]:
    """All models of all metrics, fitted here on the processors that there are, and the one that shares are taken from."""
    names = list(every[0].models)
    estimators: list[Estimator] = [
        PartialPooling(covariates=covariates, tau_scale=tau_scale) for covariates in every[0].models.values()
    ]
    if model != "regression":
        order = 1 if model == "main_effects" else None
        estimators.append(
            CrossedEffects(order=order, own_effects="learned", ordered=orders.ordered, cyclic=orders.cyclic)
        )
    fits = [partial(posterior, strata.tally, estimator, seed=seed) for strata in every for estimator in estimators]
    few = every[0].tally.sizes["subgroup"] <= MAX_SUBGROUPS
    made = []
    with on_processors(fits) if few else side_by_side(fits, 1) as results:
        for strata in every:
            of_metric = [next(results) for _ in estimators]
            models = {
                name: _draws(fit.draws, strata.metric) for name, fit in zip(names, of_metric, strict=False)
            }  # that of the shares may be one more
            told = [_failed(fit) for fit in of_metric]
            mu = _mu(of_metric[-1].draws, strata.metric)
            made.append(Draws(models, mu, dict(zip(names, told, strict=False)), told[-1]))
    return made


def reported(report: xr.DataTree, strata: Strata) -> Draws:
    """Draws of one report: its values, and its spread where it is that of a model named here."""
    draws = report["posterior"].to_dataset()
    settings = json.loads(str(report.attrs["settings"]))
    models = {}
    if "component_sd" not in draws:
        covariates = tuple(settings.get("covariates", ()))
        for name, names in strata.models.items():
            if sorted(covariates) == sorted(names):
                models[name] = _draws(draws, strata.metric)
    failed = "; ".join(failures(report))
    return Draws(models, _mu(draws, strata.metric), dict.fromkeys(models, failed), failed)


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


def _failed(fit: Posterior) -> str:
    """Sentences of the checks that a fit did not pass."""
    return "; ".join(plain(check.sentence) for check in fit.checks if not check.passed)


def _draws(draws: xr.Dataset, metric: str) -> ModelDraws:
    tau, overall = (
        np.asarray(draws[name].sel(metric=metric).transpose("chain", "draw").values, dtype=np.float64).ravel()
        for name in ("tau", "overall")
    )
    return ModelDraws(_mu(draws, metric), tau, overall)


def _mu(draws: xr.Dataset, metric: str) -> FloatArray:
    mu = draws["mu"].sel(metric=metric).transpose("chain", "draw", "subgroup").values
    return np.asarray(mu.reshape(-1, mu.shape[-1]), dtype=np.float64)
