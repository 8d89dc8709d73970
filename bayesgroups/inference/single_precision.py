"""Numbers in single precision, for gradients that lead trajectories between their two ends.

Whatever function of the point pushes the momentum, a trajectory keeps volume and can be run back. Which are accepted the energies
of their ends decide, in double precision, so that the law of the draws is exact. Gradients that are a millionth off cost no
acceptance, and two thirds of the time where coordinates are many.
"""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any

import numpy as np


def in_single[Whole](whole: Whole, *, but: type = NoneType) -> Whole:
    """A copy whose arrays of numbers are in single precision, in tuples and dataclasses too, but for objects of one class.

    >>> number, counts, name = in_single((np.array([0.1]), np.array([1, 2]), "rate"))
    >>> number.dtype.name, counts.dtype.name, name
    ('float32', 'int64', 'rate')
    """
    copied: Whole = _in_single(whole, but)
    return copied


def _in_single(whole: Any, but: type) -> Any:
    if isinstance(whole, np.ndarray) and whole.dtype == np.float64:
        return whole.astype(np.float32)
    if isinstance(whole, tuple):
        parts = [_in_single(part, but) for part in whole]
        return type(whole)(*parts) if hasattr(whole, "_fields") else tuple(parts)
    if not is_dataclass(whole) or isinstance(whole, but):
        return whole
    copied = copy.copy(whole)
    for each in fields(whole):
        object.__setattr__(copied, each.name, _in_single(getattr(whole, each.name), but))
    return copied
