"""One pass over the rows: the sums of every metric per combination of levels, laid out over all subgroups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.frames import Roles, Rows, level_text
from bayesgroups.metrics import Metric
from bayesgroups.tallies import auc
from bayesgroups.tallies.assembly import Sums
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import Subgroups

FloatArray = NDArray[np.float64]


def _expression(value: nw.Expr | str) -> nw.Expr:
    return nw.col(value) if isinstance(value, str) else value


def sum_rows(
    rows: Rows, roles: Roles, metrics: Sequence[Metric]
) -> tuple[list[tuple[Any, ...]], dict[str, FloatArray]]:
    """One pass over the rows: the sums of every metric per observed combination of levels."""
    frame, weighted = rows.frame, roles.weights is not None
    weight = nw.col("__weight__") if weighted else nw.lit(1.0)
    keys = [f"__by_{i}__" for i in range(len(roles.by))]
    aggregates = [nw.len().alias("rows")]
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        frame = _with_values(frame, metric, i)
        counts, value = nw.col(f"__c{i}__"), nw.col(f"__v{i}__")
        # Deviations from the overall mean keep the sum of squares accurate however far the values lie from 0.
        shift = float(frame.select((counts * value).sum() / counts.sum()).item()) if metric.kind == "mean" else 0.0
        shift = shift if np.isfinite(shift) else 0.0
        frame = frame.with_columns(
            (weight * counts).alias(f"__w{i}__"),
            (weight * weight * counts).alias(f"__ww{i}__"),
            (weight * counts * (value - shift)).alias(f"__wv{i}__"),
            (weight * counts * (value - shift) * (value - shift)).alias(f"__wvv{i}__"),
        )
        aggregates += [nw.col(f"__{part}{i}__").sum().alias(f"{part}{i}") for part in ("w", "ww", "wv", "wvv")]
        frame = frame.with_columns(nw.lit(shift).alias(f"__shift{i}__"))
        aggregates.append(nw.col(f"__shift{i}__").max().alias(f"shift{i}"))
        aggregates.append(nw.col(f"__v{i}__").min().alias(f"low{i}"))
    for i in range(len(roles.features)):
        frame = frame.with_columns((weight * nw.col(f"__feature_{i}__")).alias(f"__wf{i}__"))
        aggregates.append(nw.col(f"__wf{i}__").sum().alias(f"feature{i}"))
    if roles.features:
        frame = (
            frame.with_columns((weight * 1.0).alias("__fw__"))
            if weighted
            else frame.with_columns(nw.lit(1.0).alias("__fw__"))
        )
        aggregates.append(nw.col("__fw__").sum().alias("feature_weight"))
    grouped = frame.group_by(*keys).agg(*aggregates)
    found = list(zip(*[grouped[key].to_list() for key in keys], strict=True))
    order = sorted(range(len(found)), key=lambda j: tuple(str(value) for value in found[j]))
    names = [name for name in grouped.columns if name not in keys]
    return [found[j] for j in order], {name: grouped[name].to_numpy().astype(np.float64)[order] for name in names}


def _with_values(frame: nw.DataFrame[Any], metric: Metric, i: int) -> nw.DataFrame[Any]:
    """Add the value of each row and whether it counts, checked against the promises of the metric."""
    try:
        counts = nw.lit(1.0) if metric.where is None else metric.where.cast(nw.Float64)
        frame = frame.with_columns(
            counts.alias(f"__c{i}__"), _expression(metric.value).cast(nw.Float64).alias(f"__v{i}__")
        )
    except Exception as problem:  # each dataframe engine has its own exceptions for a bad expression
        raise InputError(f"metric {metric.name!r} cannot be computed on this frame: {problem}") from problem
    counted = frame.filter(nw.col(f"__c{i}__") > 0)[f"__v{i}__"]
    if bool((counted.is_null() | counted.is_nan()).any()):
        raise InputError(f"metric {metric.name!r} is missing in rows that count; fill or drop them, or narrow where=")
    if len(counted):
        low, high = float(counted.min()), float(counted.max())
        if low < metric.lower or high > metric.upper or not np.isfinite([low, high]).all():
            culprit = low if low < metric.lower or not np.isfinite(low) else high
            raise InputError(
                f"metric {metric.name!r} has the value {culprit}, outside its range [{metric.lower}, {metric.upper}]; "
                "mend the column, or give the Metric its true range"
            )
        if metric.kind == "rate" and not bool(counted.is_in([0.0, 1.0]).all()):
            raise InputError(f"metric {metric.name!r} is a rate but has values other than 0 and 1; use kind='mean'")
    # Rows that do not count may hold anything, even nothing.
    return frame.with_columns(
        nw.when(nw.col(f"__c{i}__") > 0).then(nw.col(f"__v{i}__")).otherwise(nw.lit(0.0)).alias(f"__v{i}__")
    )


def lay_out(
    table: Mapping[str, FloatArray], position: NDArray[np.intp], size: int, rows: Rows, roles: Roles,
    metrics: Sequence[Metric], subgroups: Subgroups,
) -> Sums:  # fmt: skip
    """Lay the sums out over all subgroups, empty ones included."""

    def spread(values: FloatArray) -> FloatArray:
        full = np.zeros(size)
        full[position] = values
        return full

    shape = (len(metrics), size)
    weight, squares, mean, scatter = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan), np.zeros(shape)
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        weight[i], squares[i] = spread(table[f"w{i}"]), spread(table[f"ww{i}"])
        total, total_squares = spread(table[f"wv{i}"]), spread(table[f"wvv{i}"])
        some = weight[i] > 0
        centred = total[some] / weight[i][some]
        mean[i, some] = centred + (table[f"shift{i}"][0] if metric.kind == "mean" else 0.0)
        scatter[i, some] = np.maximum(total_squares[some] - total[some] * centred, 0.0)
        if metric.kind != "mean":  # 0/1 values: exact, so that a saturated rate has exactly no spread
            scatter[i, some] = weight[i][some] * mean[i, some] * (1 - mean[i, some])
    features = (
        np.stack([spread(table[f"feature{i}"]) for i in range(len(roles.features))], axis=1) if roles.features else None
    )
    cluster = _clusters(rows, roles, metrics, subgroups) if roles.cluster is not None else {}
    return Sums(
        rows=spread(table["rows"]),
        moments=Moments(weight, squares, mean, scatter),
        weighted=roles.weights is not None,
        scores=_scores(rows, roles, subgroups) if any(metric.kind == "auc" for metric in metrics) else None,
        features=features,
        feature_weight=spread(table["feature_weight"]) if roles.features else None,
        feature_names=roles.features,
        **cluster,
    )


def _grouped(
    rows: Rows, roles: Roles, extra: str, aggregates: Iterable[Any], columns: Iterable[Any], subgroups: Subgroups
) -> tuple[NDArray[np.intp], nw.DataFrame[Any]]:
    keys = [f"__by_{i}__" for i in range(len(roles.by))]
    grouped = rows.frame.with_columns(*columns).group_by(*keys, extra).agg(*aggregates)
    found = zip(*[[level_text(value) for value in grouped[key].to_list()] for key in keys], strict=True)
    return subgroups.codes(list(found)), grouped


def _scores(rows: Rows, roles: Roles, subgroups: Subgroups) -> auc.ScoreCells:
    weight = nw.col("__weight__") if roles.weights is not None else nw.lit(1.0)
    truth = nw.col("__y_true__")
    columns = [
        (weight * truth).alias("__p__"),
        (weight * (1 - truth)).alias("__n__"),
        (weight * weight * truth).alias("__pp__"),
        (weight * weight * (1 - truth)).alias("__nn__"),
        (nw.col("__y_score__") + 0.0).alias("__key__"),  # one zero: -0.0 and 0.0 are different keys in some engines
    ]
    parts = ("__p__", "__n__", "__pp__", "__nn__")
    position, grouped = _grouped(rows, roles, "__key__", [nw.col(part).sum() for part in parts], columns, subgroups)
    score, *sums = (grouped[name].to_numpy().astype(np.float64) for name in ("__key__", *parts))
    return auc.sort_cells(auc.ScoreCells(position, score, *sums))


def _clusters(rows: Rows, roles: Roles, metrics: Sequence[Metric], subgroups: Subgroups) -> dict[str, Any]:
    weight = nw.col("__weight__") if roles.weights is not None else nw.lit(1.0)
    columns, aggregates = [], [nw.len().alias("rows")]
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        counts = nw.lit(1.0) if metric.where is None else metric.where.cast(nw.Float64)
        value = nw.when(counts > 0).then(_expression(metric.value).cast(nw.Float64)).otherwise(nw.lit(0.0))
        columns += [(weight * counts).alias(f"__w{i}__"), (weight * counts * value).alias(f"__wv{i}__")]
        aggregates += [nw.col(f"__w{i}__").sum().alias(f"w{i}"), nw.col(f"__wv{i}__").sum().alias(f"wv{i}")]
    position, grouped = _grouped(rows, roles, "__cluster__", aggregates, columns, subgroups)
    labels = np.array(grouped["__cluster__"].to_list(), dtype=str)
    order = np.lexsort((labels, position))
    sums = {name: grouped[name].to_numpy().astype(np.float64)[order] for name in grouped.columns if name[0] in "rw"}
    nothing = np.full(len(order), np.nan)
    return {
        "cluster_subgroup": position[order],
        "cluster_label": labels[order],
        "cluster_rows": sums["rows"],
        "cluster_weight": np.stack([sums.get(f"w{i}", nothing) for i in range(len(metrics))]),
        "cluster_sum": np.stack([sums.get(f"wv{i}", nothing) for i in range(len(metrics))]),
    }
