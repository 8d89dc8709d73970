"""Pieces of work for the tests of executors, in a module that fresh processes import at once."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path


def noise(scale: float, piece: int) -> list[float]:
    chance = random.Random(f"7 {piece}")
    return [scale * chance.gauss() for _ in range(3)]


def inverse(pole: int, piece: int) -> float:
    return 1 / (piece - pole)


def dying(marks: str, times: int, piece: int) -> int:
    """Kill the process at the second piece, as running out of memory does, the first ``times`` times."""
    deaths = len(list(Path(marks).iterdir()))
    if piece == 1 and deaths < times:
        (Path(marks) / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece * 10
