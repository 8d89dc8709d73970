"""One pass over the rows: the sums of every metric per combination of levels, laid out over all subgroups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from bayesgroups.data import expressions
from bayesgroups.data.frames import Rows
from bayesgroups.data.metrics import Metric
from bayesgroups.data.roles import Roles
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError
from bayesgroups.tallies import auc
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import Subgroups
from bayesgroups.tallies.sums import Clusters, Features, Sums

FloatArray = NDArray[np.float64]


def sum_rows(
    rows: Rows, roles: Roles, metrics: Sequence[Metric]
) -> tuple[list[tuple[Any, ...]], dict[str, FloatArray]]:
    """One pass over the rows: the sums of every metric per observed combination of levels.

    Returns the combinations and, by name, arrays along them: ``rows``; per metric i the sums ``w{i}`` of the weights that
    count, ``ww{i}`` of their squares, ``wv{i}`` and ``wvv{i}`` of values and squared values less ``shift{i}``, and the extreme
    values ``low{i}`` and ``high{i}``; sums of features.
    """
    weighted = roles.weights is not None
    frame = _with_values(rows.frame, metrics)
    means = _check_values(frame, metrics)
    shifts = {f"shift{i}": np.array([shift]) for i, shift in enumerate(means)}
    moments = expressions.moments(metrics, weighted, means)
    features = expressions.features(len(roles.features), weighted)
    columns = [*moments.columns, *features.columns]
    aggregates = [nw.len().alias("rows"), *moments.aggregates, *features.aggregates]
    if roles.features and weighted:
        aggregates.append(nw.col("__weight__").sum().alias("feature_weight"))
    keys = [f"__by_{i}__" for i in range(len(roles.by))]
    grouped = (frame.with_columns(*columns) if columns else frame).group_by(*keys).agg(*aggregates)
    found = list(zip(*[grouped[key].to_list() for key in keys], strict=True))
    order = sorted(range(len(found)), key=lambda j: tuple(str(value) for value in found[j]))
    table = {name: grouped[name].to_numpy().astype(np.float64)[order] for name in grouped.columns if name not in keys}
    if not weighted:
        table |= {
            f"w{i}": table["rows"] for i, metric in enumerate(metrics) if metric.kind != "auc" and metric.where is None
        }
        table |= {f"w{name}": table[name] for name in list(table) if name[0] == "w" and name[1:].isdigit()}
        table["feature_weight"] = table["rows"]
    return [found[j] for j in order], table | shifts


def _with_values(frame: nw.DataFrame[Any], metrics: Sequence[Metric]) -> nw.DataFrame[Any]:
    """Add whether each row counts (``__c``), its value (``__v``, 0 where it does not) and the same masked (``__m``)."""
    columns = [
        column for i, metric in enumerate(metrics) if metric.kind != "auc" for column in expressions.values(metric, i)
    ]
    try:
        return frame.with_columns(*columns) if columns else frame
    except Exception:  # each dataframe engine has its own exceptions for a bad expression
        for i, metric in enumerate(metrics):
            try:
                frame.with_columns(*expressions.values(metric, i))
            except Exception as problem:
                raise InputError(f"metric {metric.name!r} cannot be computed on this frame: {problem}") from problem
        raise


def _check_values(frame: nw.DataFrame[Any], metrics: Sequence[Metric]) -> list[float]:
    """Hold the values against the promises of each metric; return the mean value of each (0 where no row counts)."""
    wanted = []
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        counts, value, masked = nw.col(f"__c{i}__"), nw.col(f"__v{i}__"), nw.col(f"__m{i}__")
        wanted += [
            counts.sum().alias(f"n{i}"),
            (counts * value.is_nan().cast(nw.Float64)).sum().alias(f"nan{i}"),
            (counts * value.is_null().cast(nw.Float64)).sum().alias(f"null{i}"),
            masked.min().alias(f"low{i}"),
            masked.max().alias(f"high{i}"),
            (counts * value * (1 - value)).sum().alias(f"between{i}"),
            (counts * value).sum().alias(f"sum{i}"),
        ]
    if not wanted:
        return [0.0] * len(metrics)
    found = {name: column[0] for name, column in frame.select(*wanted).to_dict(as_series=False).items()}
    shifts = []
    for i, metric in enumerate(metrics):
        if metric.kind == "auc" or not found[f"n{i}"]:
            shifts.append(0.0)
            continue
        if found[f"nan{i}"] or found[f"null{i}"] or found[f"low{i}"] is None:
            raise InputError(
                f"metric {metric.name!r} is missing in rows that count; fill or drop them, or narrow where="
            )
        low, high = float(found[f"low{i}"]), float(found[f"high{i}"])
        check_range(metric, float(found[f"n{i}"]), low, high, float(found[f"between{i}"]))
        shift = float(found[f"sum{i}"]) / float(found[f"n{i}"])
        shifts.append(shift if metric.kind == "mean" and np.isfinite(shift) else 0.0)
    return shifts


def check_range(metric: Metric, count: float, low: float | None, high: float | None, between: float) -> float:
    """Hold the extreme values of a metric against its range; return the lowest.

    Parameters
    ----------
    metric : Metric
        What promises a range.
    count : float
        Rows that count; nothing is promised where there are none.
    low, high : float
        Their extreme values.
    between : float
        Sum of value x (1 - value), 0 for values of 0 and 1 alone.

    Raises
    ------
    InputError
        If a value lies outside the range or is not finite, or a rate has values other than 0 and 1.
    """
    if not count or low is None or high is None:
        return 0.0
    if low < metric.lower or high > metric.upper or not np.isfinite([low, high]).all():
        culprit = low if low < metric.lower or not np.isfinite(low) else high
        raise InputError(
            f"metric {metric.name!r} has the value {culprit}, outside its range [{metric.lower}, {metric.upper}]; "
            "mend the column, or give the Metric its true range"
        )
    if metric.kind in ("rate", "f1") and (low < 0 or high > 1 or between != 0):
        raise InputError(f"metric {metric.name!r} is a rate but has values other than 0 and 1; use kind='mean'")
    return low


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
        total, some = spread(table[f"wv{i}"]), weight[i] > 0
        centred = total[some] / weight[i][some]
        if metric.kind != "mean":  # 0/1 values: exact, so that a saturated rate has exactly no scatter
            mean[i, some], scatter[i, some] = centred, weight[i][some] * centred * (1 - centred)
            continue
        mean[i, some] = centred + table[f"shift{i}"][0]
        low, high = spread(table[f"low{i}"]), spread(table[f"high{i}"])
        # Whatever rounding says: equal values have no scatter, different ones at least that of the two extremes.
        least = np.finfo(np.float64).tiny if roles.weights is not None else (high - low)[some] ** 2 / 2
        scatter[i, some] = np.maximum(spread(table[f"wvv{i}"])[some] - total[some] * centred, least)
        flat = some & (low == high)
        mean[i, flat], scatter[i, flat] = low[flat], 0.0
    return Sums(
        rows=spread(table["rows"]),
        moments=Moments(weight, squares, mean, scatter),
        weighted=roles.weights is not None,
        scores=_scores(rows, roles, subgroups) if any(metric.kind == "auc" for metric in metrics) else None,
        features=_features(table, roles, spread) if roles.features else None,
        clusters=_clusters(rows, roles, metrics, subgroups) if roles.cluster is not None else None,
    )


def _features(table: Mapping[str, FloatArray], roles: Roles, spread: Callable[[FloatArray], FloatArray]) -> Features:
    total = np.stack([spread(table[f"feature{i}"]) for i in range(len(roles.features))], axis=1)
    return Features(roles.features, total, spread(table["feature_weight"]))


def _grouped(
    rows: Rows, roles: Roles, extra: str, parts: expressions.Parts, subgroups: Subgroups
) -> tuple[NDArray[np.intp], nw.DataFrame[Any]]:
    keys = [f"__by_{i}__" for i in range(len(roles.by))]
    grouped = rows.frame.with_columns(*parts.columns).group_by(*keys, extra).agg(*parts.aggregates)
    found = zip(*[[level_text(value) for value in grouped[key].to_list()] for key in keys], strict=True)
    return subgroups.codes(list(found)), grouped


def _scores(rows: Rows, roles: Roles, subgroups: Subgroups) -> auc.ScoreCells:
    parts = expressions.scores(roles.weights is not None)
    position, grouped = _grouped(rows, roles, "__key__", parts, subgroups)
    score, *sums = (grouped[name].to_numpy().astype(np.float64) for name in ("__key__", *expressions.SCORE_PARTS))
    return auc.sort_cells(auc.ScoreCells(position, score, *sums))


def _clusters(rows: Rows, roles: Roles, metrics: Sequence[Metric], subgroups: Subgroups) -> Clusters:
    weighted = roles.weights is not None
    parts = expressions.clusters(metrics, weighted)
    position, grouped = _grouped(rows, roles, "__cluster__", parts, subgroups)
    labels = np.array(grouped["__cluster__"].to_list(), dtype=str)
    order = np.lexsort((labels, position))
    sums = {name: grouped[name].to_numpy().astype(np.float64)[order] for name in grouped.columns if name[0] in "rw"}
    nothing = np.full(len(order), np.nan)
    return Clusters(
        subgroup=position[order],
        label=labels[order],
        rows=sums["rows"],
        weight=np.stack([sums.get(f"w{i}", nothing) for i in range(len(metrics))]),
        total=np.stack([sums.get(f"wv{i}", nothing) for i in range(len(metrics))]),
        squares=np.stack([sums.get(f"ww{i}" if weighted else f"w{i}", nothing) for i in range(len(metrics))]),
    )
