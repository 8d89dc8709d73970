"""Scales on which two values are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from bayesgroups.errors import InputError, near_misses

Scale = Literal["difference", "ratio", "odds_ratio"]
SCALES: tuple[Scale, ...] = get_args(Scale)
FOUR_FIFTHS: Mapping[str, Sequence[float]] = {"ratio": (0.8,)}
"""Ratio of selection rates of the four-fifths rule, 29 CFR 1607.4 D."""


def equality(scale: Scale) -> float:
    """Contrast of two equal values."""
    return 0.0 if scale == "difference" else 1.0


def is_log(scale: Scale) -> bool:
    """True for scales whose errors are those of a logarithm."""
    return scale != "difference"


def check_scales(scale: Sequence[str] | str) -> tuple[Scale, ...]:
    """Scales in the order in which they are asked for, or an InputError."""
    asked = [scale] if isinstance(scale, str) else list(scale)
    for name in asked:
        if name not in SCALES:
            raise InputError(f"scale={name!r} does not exist; {near_misses(str(name), SCALES)}")
    if not asked or len(set(asked)) < len(asked):
        raise InputError("scale= must name at least one of 'difference', 'ratio', 'odds_ratio', and none twice")
    return tuple(each for name in asked for each in SCALES if each == name)


def check_thresholds(thresholds: Mapping[str, Sequence[float] | float]) -> dict[Scale, tuple[float, ...]]:
    """Thresholds by scale, or an InputError that names the offending one."""
    checked: dict[Scale, tuple[float, ...]] = {}
    for name, values in thresholds.items():
        if name not in SCALES:
            raise InputError(f"thresholds= has no scale {name!r}; {near_misses(str(name), SCALES)}")
        scale: Scale = next(each for each in SCALES if each == name)
        numbers = tuple(float(value) for value in np.ravel(np.asarray(values, dtype=np.float64)))
        for number in numbers:
            if not np.isfinite(number) or (scale != "difference" and number <= 0):
                raise InputError(
                    f"thresholds= of {name!r} has {number!r}, which must be finite, and larger than 0 for ratios"
                )
            if number == equality(scale):
                raise InputError(
                    f"thresholds= of {name!r} has {number:g}, which is equality: probability_worse answers that"
                )
        checked[scale] = numbers
    return checked
