"""Metrics of a decision as rates: what counts as a success, of how many, from the four confusion cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError, near_misses


@dataclass(frozen=True)
class Confusion:
    """The four cells, counts or shares of any one shape."""

    tp: FloatArray
    fn: FloatArray
    fp: FloatArray
    tn: FloatArray


Cells = Callable[[Confusion], tuple[FloatArray, FloatArray]]

# (successes, all others that count)
_CELLS: dict[str, Cells] = {
    "sel": lambda c: (c.tp + c.fp, c.fn + c.tn),
    "acc": lambda c: (c.tp + c.tn, c.fp + c.fn),
    "tpr": lambda c: (c.tp, c.fn),
    "fnr": lambda c: (c.fn, c.tp),
    "fpr": lambda c: (c.fp, c.tn),
    "tnr": lambda c: (c.tn, c.fp),
    "ppv": lambda c: (c.tp, c.fp),
    "fdr": lambda c: (c.fp, c.tp),
    "npv": lambda c: (c.tn, c.fn),
    "for": lambda c: (c.fn, c.tn),
    # F1 = 2 p / (1 + p) with p the share of true positives among all that are positive or selected.
    "f1": lambda c: (c.tp, c.fp + c.fn),
}
METRICS: tuple[str, ...] = tuple(_CELLS)
"""The metrics that have a threshold curve."""


def check_metrics(metrics: Sequence[str] | str, choices: Sequence[str] = METRICS) -> list[str]:
    """Names of metrics as a list; an InputError if there is none, or one is named twice or is no choice."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not names:
        raise InputError("metrics= is empty; name at least one, as metrics=['tpr']")
    for name in names:
        if name not in choices:
            raise InputError(f"metric {name!r} has no threshold curve; {near_misses(str(name), choices)}")
        if names.count(name) > 1:
            raise InputError(f"metrics= has {name!r} twice")
    return names


def counts(metric: str, cells: Confusion) -> tuple[FloatArray, FloatArray]:
    """Successes and denominator of a metric; for F1 those of the rate it is a function of."""
    successes, failures = _CELLS[metric](cells)
    return successes, successes + failures


def value(metric: str, rate: FloatArray) -> FloatArray:
    """Metric from its rate, increasing; the rate itself for all but F1."""
    return 2 * rate / (1 + rate) if metric == "f1" else rate
