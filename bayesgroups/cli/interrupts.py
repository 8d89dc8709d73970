"""Interrupts that end a command wherever they land, and are answered once."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOMENT = 0.02
"""Seconds after which an interrupt is raised again."""


@contextmanager
def delivered_interrupts() -> Iterator[None]:
    """Interrupts raised again a moment later where the interpreter cannot raise them, as in a callback of the garbage collector.

    Python prints such an exception as ignored and goes on. What else is ignored after an interrupt is not printed: objects that are
    half made say nothing that a user could act on.
    """
    before, interrupted = sys.unraisablehook, False

    def hook(ignored: sys.UnraisableHookArgs, /) -> None:
        nonlocal interrupted
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            interrupted = True
            # From a thread: raised in this function it would be ignored as well.
            threading.Timer(MOMENT, _thread.interrupt_main).start()
        elif not interrupted:
            before(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def without_interrupts() -> Iterator[None]:
    """A stretch in which a second interrupt is not heard, for the last words of a command; other threads have none anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
