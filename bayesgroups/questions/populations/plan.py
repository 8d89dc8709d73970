"""Settings of a poststratification, checked, and the totals that values are moved to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.populations.benchmarks import Scale
from bayesgroups.questions.populations.conditional import PopulationOf
from bayesgroups.questions.populations.targets import EVERYBODY

Empty = Literal["bounds", "drop", "collapse"]
"""Frequentist answers for cells of the population without rows."""
Composition = Literal["drawn", "fixed"]
"""Treatment of the composition inside known margins in the Bayesian answer: estimated, or taken for known."""
Variance = Literal["cells", "survey"]
"""Variance of the frequentist answer: unbiased per cell, or with one factor n / (n - 1) over all rows."""
Limits = Literal["wilson", "mid_p", "score", "exact"]
"""Frequentist limits of a rate: put together from Wilson's, mid-p or exact limits of the cells, or of a score test of the sum."""
Total = float | tuple[float, float]
"""A known total, and its standard error where it has one."""
Benchmark = float | Mapping[str, Total | Mapping[str, Total]]
"""A total for everybody, or by metric: a total for everybody, or totals by target."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Settings of `bayesgroups.poststratify`."""

    population_of: PopulationOf
    empty: Empty
    composition: Composition
    smoothing: float
    finite: bool
    benchmark: Benchmark | None
    benchmark_scale: Scale
    variance: Variance
    interval: Limits
    seed: int

    def __post_init__(self) -> None:
        if not _is_number(self.smoothing) or not self.smoothing >= 0:
            raise InputError(
                f"smoothing={self.smoothing!r} must be a number, 0 or larger: rows that are added to every cell"
            )
        if not isinstance(self.finite, bool):
            raise InputError(f"finite={self.finite!r} must be True or False")
        if self.finite and self.benchmark is not None:
            raise InputError(
                "finite=True and benchmark= cannot be had together: a benchmark moves superpopulation values"
            )


@dataclass(frozen=True)
class KnownTotal:
    """A total of one target, with its standard error (0 where it is exact), and the position of the target."""

    target: int
    value: float
    std_error: float


def totals_of(
    benchmark: Benchmark | None, metric: str, metrics: Sequence[str], targets: Sequence[str], kind: str,
    range_: tuple[float, float], scale: Scale,
) -> list[KnownTotal]:  # fmt: skip
    """Known totals of one metric; an InputError for a total out of range, or a metric or target that is not there."""
    if benchmark is None:
        return []
    if not isinstance(benchmark, Mapping):
        if len(metrics) > 1:
            raise InputError(
                f"benchmark={benchmark!r}: there are the metrics {list(metrics)}; say whose total it is, as "
                f"{{{metrics[0]!r}: {benchmark!r}}}"
            )
        by_metric: Mapping[str, Any] = {metric: benchmark}
    else:
        by_metric = benchmark
    for name in by_metric:
        if name not in metrics:
            raise InputError(f"benchmark: there is no metric {name!r}; {near_misses(str(name), metrics)}")
    if metric not in by_metric:
        return []
    if scale == "logit" and kind != "rate":
        raise InputError(
            f"benchmark_scale='logit' is for rates and {metric!r} is of kind {kind!r}; use 'difference', 'ratio' or 'variance'"
        )
    given = by_metric[metric]
    totals = given if isinstance(given, Mapping) else {EVERYBODY: given}
    return [_total(metric, name, value, targets, range_) for name, value in totals.items()]


def _total(metric: str, name: str, value: Any, targets: Sequence[str], range_: tuple[float, float]) -> KnownTotal:
    if name not in targets:
        raise InputError(f"benchmark of {metric!r}: there is no target {name!r}; {near_misses(str(name), targets)}")
    pair = value if isinstance(value, tuple) else (value, 0.0)
    if len(pair) != 2 or not all(map(_is_number, pair)) or pair[1] < 0:
        raise InputError(
            f"benchmark of {metric!r}, {name!r}: expected a number, or (total, standard error); got {value!r}"
        )
    low, high = range_
    if not low <= pair[0] <= high:
        raise InputError(
            f"benchmark of {metric!r}, {name!r}: {pair[0]:g} lies outside the range of the metric, [{low:g}, {high:g}]; give "
            "the mean over the target, not a sum"
        )
    return KnownTotal(targets.index(name), float(pair[0]), float(pair[1]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))
