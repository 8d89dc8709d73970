"""The likelihood of the draws that a report keeps, given the values of the subgroups."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.models.shared.cells import binomial_metrics
from bayesgroups.models.shared.variances import with_shrunk_variances

FloatArray = NDArray[np.float64]

_KNOWN = (
    "no_pooling",
    "complete_pooling",
    "partial_pooling",
    "crossed_effects",
    "james_stein",
    "structured_regression",
)
_SMALLEST = 1e-6


def log_likelihood(report: xr.DataTree, metric: str) -> FloatArray | None:
    """Log likelihood of every subgroup at the draws of one metric, up to a constant.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str
        One of its metrics.

    Returns
    -------
    array (draw, subgroup) or None
        0 where nothing was observed; ``None`` for words whose likelihood is not one of the metric itself.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> log_likelihood(bg.estimate(counts, bg.PartialPooling(), seed=1), "fnr").shape
    (4000, 2)
    """
    word, tally = str(report.attrs["estimator"]), report["constant_data"].to_dataset()
    posterior = report["posterior"].to_dataset()
    if word == "confusion":
        return _cells(posterior, tally)
    if word not in _KNOWN:
        return None
    settings: dict[str, Any] = json.loads(str(report.attrs["settings"]))
    stacked = posterior["mu"].sel(metric=metric).stack(sample=("chain", "draw"), create_index=False)
    mu = np.asarray(stacked.transpose("sample", "subgroup").values, dtype=np.float64)
    normal = word in ("james_stein", "structured_regression")
    one = tally.sel(metric=[metric])
    if not normal and binomial_metrics(one, settings.get("likelihood", "auto"))[0]:
        return binomial(mu, *(_floats(one[name]) for name in ("successes", "count")))
    if word == "crossed_effects":
        one = with_shrunk_variances(one)
    return _normal(mu, _floats(one["estimate"]), _floats(one["sampling_variance"]))


def binomial(p: FloatArray, successes: FloatArray, count: FloatArray) -> FloatArray:
    """Log likelihood (draw, subgroup) of successes among a count, at rates ``p`` (draw, subgroup).

    Examples
    --------
    >>> import numpy as np
    >>> found = binomial(np.array([[0.5, 0.3, 0.0]]), np.array([1.0, np.nan, 0.0]), np.array([2.0, 0.0, 4.0]))
    >>> (found.round(3) + 0.0).tolist()
    [[-1.386, 0.0, 0.0]]
    """
    observed = (count > 0) & np.isfinite(successes)
    k, n = np.where(observed, successes, 0.0), np.where(observed, count, 0.0)
    inside = np.clip(np.where(np.isfinite(p), p, 0.5), np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)
    return np.asarray(k * np.log(inside) + (n - k) * np.log1p(-inside))


def _normal(mu: FloatArray, estimate: FloatArray, variance: FloatArray) -> FloatArray:
    observed = np.isfinite(estimate) & np.isfinite(variance)
    spread = float(np.nanmax(np.where(observed, variance, np.nan), initial=0.0)) or 1.0
    precision = np.where(observed, 1 / np.maximum(np.where(observed, variance, 1.0), _SMALLEST**2 * spread), 0.0)
    away = np.where(observed, mu - np.where(observed, estimate, 0.0), 0.0)
    return np.asarray(-0.5 * precision * away**2)


def _cells(posterior: xr.Dataset, tally: xr.Dataset) -> FloatArray:
    """Multinomial of the cells that all metrics share."""
    stacked = posterior["cell_share"].stack(sample=("chain", "draw"), create_index=False)
    share = np.asarray(stacked.transpose("sample", "subgroup", "outcome", "decision").values, dtype=np.float64)
    count = np.asarray(tally["cell_count"].transpose("subgroup", "outcome", "decision").values, dtype=np.float64)
    inside = np.log(np.maximum(share, np.finfo(np.float64).tiny))
    return np.asarray((count * inside).sum(axis=(2, 3)))


def _floats(values: xr.DataArray) -> FloatArray:
    return np.asarray(values.values[0], dtype=np.float64)
