"""Interrupts that wait until a library may be left."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_interrupts() -> Iterator[None]:
    """A stretch of calls that an interrupt ends only after the last: HDF5 left in the middle of a file ends the process.

    Other threads have no interrupts to wait for, nor has a process whose interrupts another program answers.

    Examples
    --------
    >>> done, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> try:
    ...     with held_interrupts():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("whole")
    ... except KeyboardInterrupt:
    ...     done.append("interrupted")
    >>> done
    ['whole', 'interrupted']
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(*held[0])
