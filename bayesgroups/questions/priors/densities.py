"""The hyper-priors of every word as log densities of the draws that a report keeps.

What is scaled are the priors that a person sets: of the centre and of the spreads. The population of subgroups is part of
the model and stays. Densities are those of the parameters that the models are written in: logits for binomial likelihoods.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.features import feature_matrix
from bayesgroups.models.shared.cells import binomial_metrics, normal_cells
from bayesgroups.models.shared.component_scales import COEFFICIENT, DEGREES, OVERALL_LOGIT, component_scales
from bayesgroups.models.shared.confusion_offsets import SLOPE_SCALE
from bayesgroups.models.shared.confusion_tree import SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD, factor_scales, tree
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, WEAK, natural_scale
from bayesgroups.models.shared.sparsity import global_scale
from bayesgroups.models.shared.tasks import stack
from bayesgroups.models.shared.variances import with_shrunk_variances
from bayesgroups.tallies.subgroups import attributes_of

FloatArray = NDArray[np.float64]

_NO_DENSITY = {
    "james_stein": "its priors are flat, and a flat prior to any power is the same",
    "disagreement": (
        "where disagreement goes is known from the prior alone, whatever the data; the bounds say what any other prior could do"
    ),
    "model_based_metrics": "the report keeps the metrics and not the parameters of the scores, which the priors are of",
}


@dataclass(frozen=True)
class LogPrior:
    """Log prior density of the draws of one metric.

    Attributes
    ----------
    value : array (draw,) or (draw, subgroup) or None
        Up to a constant; with ``subgroup`` where every subgroup has a prior of its own and nothing is shared.
    reason : str
        Why there is none; empty where there is.
    """

    value: FloatArray | None
    reason: str = ""


def log_prior(report: xr.DataTree, metric: str) -> LogPrior:
    """Log density of the hyper-priors of one metric at the draws of its posterior.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str
        One of its metrics.

    Returns
    -------
    LogPrior

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> log_prior(bg.estimate(counts, bg.PartialPooling(), seed=1), "fnr").value.shape
    (4000,)
    >>> log_prior(bg.estimate(counts, bg.JamesStein(), seed=1), "fnr").reason[:10]
    'its priors'
    """
    word = str(report.attrs["estimator"])
    if word in _NO_DENSITY:
        return LogPrior(None, _NO_DENSITY[word])
    tally = report["constant_data"].to_dataset()
    settings: dict[str, Any] = json.loads(str(report.attrs["settings"]))
    posterior = report["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)
    binomial = bool(binomial_metrics(tally.sel(metric=[metric]), settings.get("likelihood", "auto"))[0])
    own = natural_scale(tally.sel(metric=[metric])).isel(metric=0)
    one = posterior.sel(metric=metric)
    if not np.isfinite(one["mu"].values).any():
        return LogPrior(None, "the metric is undefined in every subgroup")
    if word in ("no_pooling", "complete_pooling"):
        drawn = one["mu"].transpose("sample", "subgroup").values if word == "no_pooling" else one["overall"].values
        return LogPrior(_beta(drawn) if binomial else _normal(drawn, own["centre"], WEAK * own["scale"]))
    if word == "confusion":
        return LogPrior(_confusion(posterior, tally, settings))
    if word == "structured_regression":
        return LogPrior(_structured(one, tally.sel(metric=[metric]), settings, own))
    if word not in ("partial_pooling", "crossed_effects"):
        return LogPrior(None, f"the priors of {word.replace('_', ' ')} are not known here")
    wide = settings.get("overall_scale") or (LOGIT_OVERALL_SCALE if binomial else float(own["scale"]))
    if word == "partial_pooling":
        scale = settings.get("tau_scale") or (LOGIT_TAU_SCALE if binomial else float(own["tau_scale"]))
        return LogPrior(_centre(one, own, wide, binomial=binomial) + _half_normal(one["tau"].values, scale))
    source = with_shrunk_variances(stack(tally) if settings.get("tasks") else tally.sel(metric=[metric]))
    own = natural_scale(source).isel(metric=0)
    wide = OVERALL_LOGIT if binomial else float(own["scale"])
    scale = float(component_scales(source, np.array([binomial]), settings.get("tau_scale"))[0])
    return LogPrior(_centre(one, own, wide, binomial=binomial) + _components(one, settings, scale))


def _components(one: xr.Dataset, settings: dict[str, Any], scale: float) -> FloatArray:
    """Of the components' standard deviations and of the coefficients of covariates."""
    spread = np.asarray(one["component_sd"].transpose("sample", "component").values, dtype=np.float64)
    family = settings.get("prior", "half_t")
    if family == "half_normal":
        found = _half_normal(spread, scale).sum(axis=1)
    elif family == "half_t":
        found = _half_t(spread, scale).sum(axis=1)
    else:  # the split of the total is uniform, so that only the total has a density that changes
        found = _half_t(np.sqrt((spread**2).sum(axis=1)), scale * np.sqrt(spread.shape[1]))
    if "beta" in one and "covariate" in one["beta"].dims:
        beta = one["beta"].transpose("sample", "covariate").values
        found = found + _normal(beta, 0.0, COEFFICIENT * scale).sum(axis=1)
    return np.asarray(found)


def _confusion(posterior: xr.Dataset, tally: xr.Dataset, settings: dict[str, Any]) -> FloatArray:
    """Of centres, spreads, and slopes of the factors, which all metrics share."""
    found = tree(tally)
    followed = found.names.index(str(posterior["follower"].item())) if "selection_slope" in posterior else None
    scales = np.asarray(factor_scales(found, settings.get("tau_scale"), followed=followed), dtype=np.float64)
    spread = posterior["factor_sd"].transpose("sample", "factor", "component").values
    centre = _logit(posterior["factor_overall"].transpose("sample", "factor").values)
    density = _normal(centre, 0.0, LOGIT_OVERALL_SCALE).sum(axis=1)
    density = density + _half_normal(spread, scales[:, None]).sum(axis=(1, 2))
    if "slope" in posterior:
        density = density + _normal(posterior["slope"].transpose("sample", ...).values, 0.0, SLOPE_SCALE).sum(axis=1)
    if "selection_slope" in posterior:
        density = density + _normal(
            posterior["selection_slope"].transpose("sample", ...).values, SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD
        ).sum(axis=1)
    return np.asarray(density)


def _structured(one: xr.Dataset, tally: xr.Dataset, settings: dict[str, Any], own: xr.Dataset) -> FloatArray:
    """Of the intercept and of the scale that all coefficients share; their law given that scale is the population."""
    overall = _normal(one["overall"].values, own["centre"], own["scale"])
    tau = np.asarray(one["tau"].values, dtype=np.float64)
    if settings.get("prior") == "laplace":
        return overall + _half_normal(tau, float(own["tau_scale"]) / np.sqrt(2))
    cells = normal_cells(tally, np.ones(1, dtype=np.bool_), own["scale"].values.reshape(1))
    error = np.full(tally.sizes["subgroup"], np.nan)
    error[cells.subgroup] = cells.std_error
    features = feature_matrix(tally, settings.get("formula"), identities=True).values
    expected = settings.get("expected_effects") or float(len(attributes_of(tally)))
    return overall - np.log1p((tau / global_scale(features, error, expected)) ** 2)  # half-Cauchy


def _centre(one: xr.Dataset, own: xr.Dataset, wide: float, *, binomial: bool) -> FloatArray:
    overall = np.asarray(one["overall"].values, dtype=np.float64)
    return _normal(_logit(overall), 0.0, wide) if binomial else _normal(overall, own["centre"], wide)


def _normal(x: FloatArray, centre: xr.DataArray | float, scale: xr.DataArray | float) -> FloatArray:
    return np.asarray(-0.5 * ((x - float(centre)) / float(scale)) ** 2)


def _half_normal(x: FloatArray, scale: FloatArray | float) -> FloatArray:
    return np.asarray(-0.5 * (x / scale) ** 2)


def _half_t(x: FloatArray, scale: float) -> FloatArray:
    return np.asarray(-0.5 * (DEGREES + 1) * np.log1p((x / scale) ** 2 / DEGREES))


def _beta(p: FloatArray) -> FloatArray:
    """Of rates that stand alone, as a density of the logit, in which the ends are far away."""
    inside = np.clip(p, np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)
    return np.asarray(JEFFREYS * (np.log(inside) + np.log1p(-inside)))


def _logit(p: FloatArray) -> FloatArray:
    inside = np.clip(p, np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)
    return np.asarray(np.log(inside) - np.log1p(-inside))
