"""A comparison with an independent program, and the values that are stored for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Comparison:
    """One line of the page.

    Attributes
    ----------
    oracle, version : str
        The independent program, and its version where it is stored with its values; ``installed`` where the test runs it.
    quantity, data : str
        The quantity compared, and on which data.
    values : callable
        Our values, computed, and the other ones, arrays of one shape.
    test : str
        The test that holds the quantity; that of the page holds every line.
    bound : float
        Largest absolute difference that is accepted.
    """

    oracle: str
    version: str
    quantity: str
    data: str
    values: Callable[[], Pair]
    test: str = "tests/examples/test_checked_against.py"
    bound: float = 1e-8


def difference(comparison: Comparison) -> float:
    """Largest absolute difference of the two sides, as computed now."""
    ours, theirs = comparison.values()
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))


@cache
def golden(name: str) -> Any:
    """Stored values of a file below ``tests/golden``."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))
