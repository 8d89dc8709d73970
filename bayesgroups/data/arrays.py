"""Types of NumPy arrays, named by what they hold, and the numbers of what may hold others."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.intp]
TextArray = NDArray[np.str_]


def numbers(values: object) -> FloatArray:
    """Values as an array of numbers, an empty one if they are none, which checks of what a setting holds refuse.

    >>> numbers([1, 2.5]).tolist(), numbers(["a"]).tolist()
    ([1.0, 2.5], [])
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)
