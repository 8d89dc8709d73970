"""Many draws, a block at a time: what is computed from them needs no second copy of all."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 2_000_000
"""Numbers of a block."""


def blocks(length: int, width: int) -> Iterator[slice]:
    """Slices along an axis of some length whose entries have so many numbers each.

    >>> [(block.start, block.stop) for block in blocks(5, BLOCK // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(BLOCK // max(width, 1), 1)
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))
