"""Sums over rows, as expressions for any dataframe engine, eager or lazy.

Every function returns the columns to compute and the sums to take of them: engines differ in what they can aggregate, and
sums, extremes and counts of plain columns are what all of them can. Attributes, labels, scores, losses and weights have
their common names, see `bayesgroups.data.lazy_columns.with_roles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import narwhals.stable.v2 as nw

from bayesgroups.data.metrics import Metric

SCORE_PARTS = ("__p__", "__n__", "__pp__", "__nn__")
"""Weights of positives and negatives at one score, and their squares."""


@dataclass(frozen=True)
class Parts:
    """Columns to add to the rows, and aggregates of the rows of a group."""

    columns: list[nw.Expr] = field(default_factory=list)
    aggregates: list[nw.Expr] = field(default_factory=list)

    def add_sum(self, name: str, value: nw.Expr) -> None:
        """Add the sum of a value over the rows of a group, under a name."""
        self.columns.append(value.alias(f"__{name}__"))
        self.aggregates.append(nw.col(f"__{name}__").sum().alias(name))

    def __add__(self, other: Parts) -> Parts:
        return Parts(self.columns + other.columns, self.aggregates + other.aggregates)

    def add_extremes(self, column: str, low: str, high: str) -> None:
        """Add the smallest and the largest value of a column of the rows."""
        self.aggregates.extend([nw.col(column).min().alias(low), nw.col(column).max().alias(high)])


def weight_of(weighted: bool) -> nw.Expr:
    """The weight of a row, 1 where rows are not weighted."""
    return nw.col("__weight__") if weighted else nw.lit(1.0)


def values(metric: Metric, i: int) -> list[nw.Expr]:
    """Membership of each row (``__c``, 1 if it counts), its value (``__v``, 0 where it does not) and the same masked (``__m``)."""
    value = _value(metric)
    if metric.where is None:  # a mask that hides nothing costs engines a pass over the rows
        return [nw.lit(1.0).alias(f"__c{i}__"), value.alias(f"__v{i}__"), value.alias(f"__m{i}__")]
    counts = metric.where.cast(nw.Float64)
    # Rows that do not count may hold anything, even nothing.
    masked = nw.when(counts > 0).then(value)
    return [counts.alias(f"__c{i}__"), masked.otherwise(nw.lit(0.0)).alias(f"__v{i}__"), masked.alias(f"__m{i}__")]


def moments(metrics: Sequence[Metric], weighted: bool, shifts: Sequence[float | nw.Expr]) -> Parts:
    """Sums of weights, values and squares of each metric, of the columns of `values`; nothing for an AUC.

    ``w{i}`` sum of weights that count (left out where it is the number of rows), ``ww{i}`` of their squares (where rows are
    weighted), ``wv{i}`` of weighted values; for means values are taken less their shift, ``wvv{i}`` sums their squares, and
    ``low{i}``, ``high{i}`` are the extremes.
    """
    weight, parts = weight_of(weighted), Parts()
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        value, every = nw.col(f"__v{i}__"), metric.where is None and not weighted
        counts = weight * nw.col(f"__c{i}__")
        if metric.kind == "mean":
            # Deviations from the overall mean keep the sum of squares accurate however far the values lie from 0.
            shift = shifts[i]
            value = value if isinstance(shift, float) and shift == 0 else value - shift
            parts.add_sum(f"wvv{i}", value * value if every else counts * value * value)
            parts.add_extremes(f"__m{i}__", f"low{i}", f"high{i}")
        if not every:
            parts.add_sum(f"w{i}", counts)
        parts.add_sum(f"wv{i}", value if every else counts * value)
        if weighted:
            parts.add_sum(f"ww{i}", weight * counts)
    return parts


def features(number: int, weighted: bool) -> Parts:
    """Sums of weighted features, ``feature{i}``."""
    parts = Parts()
    for i in range(number):
        parts.add_sum(f"feature{i}", weight_of(weighted) * nw.col(f"__feature_{i}__"))
    return parts


def scores(weighted: bool) -> Parts:
    """Positives and negatives of one score, `SCORE_PARTS`, and the score itself as ``__key__``."""
    weight, truth = weight_of(weighted), nw.col("__y_true__")
    columns = [
        (weight * truth).alias("__p__"),
        (weight * (1 - truth)).alias("__n__"),
        (weight * weight * truth).alias("__pp__"),
        (weight * weight * (1 - truth)).alias("__nn__"),
        (nw.col("__y_score__") + 0.0).alias("__key__"),  # one zero: -0.0 and 0.0 are different keys in some engines
    ]
    return Parts(columns, [nw.col(part).sum() for part in SCORE_PARTS])


def clusters(metrics: Sequence[Metric], weighted: bool) -> Parts:
    """Rows ``rows`` of a cluster and, by metric, the weights that count ``w{i}``, weighted values ``wv{i}``, squares ``ww{i}``."""
    weight, parts = weight_of(weighted), Parts(aggregates=[nw.len().alias("rows")])
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        counts = nw.lit(1.0) if metric.where is None else metric.where.cast(nw.Float64)
        parts.add_sum(f"w{i}", weight * counts)
        parts.add_sum(f"wv{i}", weight * counts * nw.when(counts > 0).then(_value(metric)).otherwise(nw.lit(0.0)))
        if weighted:
            parts.add_sum(f"ww{i}", weight * weight * counts)
    return parts


def _value(metric: Metric) -> nw.Expr:
    value = nw.col(metric.value) if isinstance(metric.value, str) else metric.value
    return value.cast(nw.Float64)
