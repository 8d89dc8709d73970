"""Standards that metrics are held to: values on the metric's own scale, and of one direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.subgroup_values import Values


def standards_of(standards: float | Sequence[float], metrics: Sequence[Values]) -> FloatArray:
    """Standards as an array, after `check_standards`."""
    try:
        values = np.atleast_1d(np.asarray(standards, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"standards={standards!r} must be a number or a list of numbers, which hold for every metric; ask about metrics with "
            "standards of their own one by one, each in a tally of its own, as tally.sel(metric=['acc'])"
        ) from None
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError(f"standards={standards!r} must be finite values of the metric")
    check_standards("standards", values, metrics)
    if len(values) == 1:
        _check_direction("standards", float(values[0]), metrics)
    return values


def check_standard(standard: float, metrics: Sequence[Values]) -> None:
    """Refuse a standard that is not finite, outside the range of a metric, or for metrics of both directions."""
    if not np.isfinite(standard):
        raise InputError(f"standard={standard!r} must be a finite value of the metric")
    check_standards("standard", np.array([standard]), metrics)
    _check_direction("standard", standard, metrics)


def check_standards(argument: str, values: FloatArray, metrics: Sequence[Values]) -> None:
    """Refuse a value outside the range of a metric; percents of a rate above all."""
    for numbers in metrics:
        low, high = numbers.range
        outside = values[(values < low) | (values > high)]
        if not len(outside):
            continue
        value = float(outside[0])
        share = high == 1 and 1 < value <= 100
        fix = f"{value:g} percent is {argument}={value / 100:g}" if share else "give a value that the metric can have"
        raise InputError(
            f"{argument}={value:g} is outside [{low:g}, {high:g}], the range of metric {numbers.metric!r}; {fix}"
        )


def _check_direction(argument: str, standard: float, metrics: Sequence[Values]) -> None:
    larger = [numbers.metric for numbers in metrics if numbers.sign > 0]
    smaller = [numbers.metric for numbers in metrics if numbers.sign < 0]
    if larger and smaller:
        raise InputError(
            f"{argument}={standard:g} is one standard for metrics of both directions: larger values of {larger[0]!r} are better, "
            f"smaller ones of {smaller[0]!r}. Ask about the metrics of each direction by themselves: tally, or estimate, "
            f"metrics={larger} alone"
        )
