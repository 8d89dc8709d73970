"""From tallies to the arrays of structured regression, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.features import FeatureMatrix, feature_matrix
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured.cross_validation import Split
from bayesgroups.tallies.folds import Fold, deal, fold_tallies

CELL = ("metric", "subgroup")


@dataclass(frozen=True)
class MetricArrays:
    """Estimates, variances and weights (subgroup,) of one metric.

    Weights are 1 / sampling variance, or the count where the pooled row variance is 0; 0 without an estimate. A published
    estimate of variance 0 weighs as much as the most precise other one.
    """

    name: str
    z: FloatArray
    v: FloatArray
    w: FloatArray


def metrics_of(tally: xr.Dataset) -> list[MetricArrays]:
    """Arrays of every metric of a tally."""
    z, d, v = (tally[name].transpose(*CELL).values for name in ("estimate", "count", "sampling_variance"))
    metrics = []
    for i, name in enumerate(tally["metric"].values):
        w = _weights(tally, i, d[i], _positive(v[i]))
        metrics.append(MetricArrays(str(name), z[i], v[i], np.where(np.isfinite(z[i]) & np.isfinite(v[i]), w, 0.0)))
    return metrics


def _positive(v: FloatArray) -> FloatArray:
    """Variances with the smallest positive one for 0, or 1 if there is none."""
    least = v[v > 0].min() if (v > 0).any() else 1.0
    return np.where(v == 0, least, v)


def _weights(tally: xr.Dataset, i: int, count: FloatArray, v: FloatArray) -> FloatArray:
    """1 / sampling variance of metric i, for counts of the tally or of a part of it; NaN or 0 where there are none."""
    if tally["kind"].values[i] == "estimate":
        return np.nan_to_num(1 / v)
    pooled = float(tally["pooled_variance"].values[i])
    return np.nan_to_num(count / (pooled if pooled > 0 else 1.0))


def splits_of(
    tally: xr.Dataset,
    metrics: Sequence[MetricArrays],
    features: FeatureMatrix,
    formula: str | None,
    folds: Sequence[xr.Dataset] | int,
    seed: int,
) -> list[list[Split]]:
    """Splits for cross-validation, by metric, then by fold.

    ``folds`` is a number, or tallies of the parts; ``seed`` is that of the split. Features are made again from
    ``formula`` where rows decide them and are known by fold. InputError if the folds do not add up to the tally.
    """
    dealt = isinstance(folds, int | np.integer)
    if isinstance(folds, int | np.integer):
        kept = np.stack([_positive(metric.v) for metric in metrics])
        sides = deal(tally.assign(sampling_variance=(CELL, kept)), int(folds), seed)
    else:
        sides = [_align(fold, tally) for fold in fold_tallies(folds)]
    splits: list[list[Split]] = [[] for _ in metrics]
    for fold in sides:
        x = features.values
        if not dealt and "feature_mean" in tally.data_vars:
            # A subgroup that is all left out has the means of the rows left out.
            fitted, left = (side["feature_mean"] for side in (fold.training, fold.validation))
            x = feature_matrix(fold.training.assign(feature_mean=fitted.fillna(left)), formula).values
        arrays = []
        for side in (fold.training, fold.validation):
            names = ("estimate", "count", "sampling_variance")
            arrays.append([side[name].transpose(*CELL).values for name in names])
        for i in range(len(metrics)):
            z, w, z_left, w_left = (
                part
                for metric_arrays, count, v in arrays
                for part in (
                    metric_arrays[i],
                    np.where(np.isfinite(metric_arrays[i]), _weights(tally, i, count[i], v[i]), 0.0),
                )
            )
            splits[i].append(Split(x, z, w, z_left, w_left))
    return splits


def _align(fold: Fold, tally: xr.Dataset) -> Fold:
    """Both sides of a fold over the subgroups of the tally and in their order."""
    rows = fold.training["rows"] + fold.validation["rows"]
    mine, theirs = tally["subgroup"].values.tolist(), rows["subgroup"].values.tolist()
    same = sorted(mine) == sorted(theirs) and fold.training["metric"].values.tolist() == tally["metric"].values.tolist()
    if not same or not np.array_equal(rows.sel(subgroup=mine).values, tally["rows"].values):
        raise InputError(
            "folds= do not add up to the tally: they must have its metrics and subgroups, and together its rows; "
            "split the rows that were tallied with bayesgroups.tallies.folds.split_rows"
        )
    return Fold(fold.training.sel(subgroup=mine), fold.validation.sel(subgroup=mine))
