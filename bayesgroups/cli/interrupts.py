"""Interrupts that end a command wherever they land, and are answered once."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

MOMENT = 0.02
"""Seconds after which an interrupt is raised again."""


class Interrupts:
    """Record of an interrupt that was sent to this process."""

    sent = False


@contextmanager
def delivered_interrupts() -> Iterator[Interrupts]:
    """Interrupts raised again a moment later where the interpreter cannot raise them, as in a callback of the garbage collector.

    Python prints such an exception as ignored and goes on. What else is ignored after an interrupt is not printed, neither by
    the interpreter nor by compiled libraries: objects that are half made say nothing that a user could act on. Compiled
    libraries may swallow an interrupt and raise an error of their own instead; ``sent`` tells such errors apart.
    """
    interrupts, before, print_before = Interrupts(), sys.unraisablehook, sys.excepthook

    def hook(ignored: sys.UnraisableHookArgs, /) -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            interrupts.sent = True
            # From a thread: raised in this function it would be ignored as well.
            threading.Timer(MOMENT, _thread.interrupt_main).start()
        elif not interrupts.sent:
            before(ignored)

    def printed(kind: type[BaseException], value: BaseException, trace: TracebackType | None, /) -> None:
        if not interrupts.sent:
            print_before(kind, value, trace)

    def hear(number: int, frame: FrameType | None) -> None:
        interrupts.sent = True
        signal.default_int_handler(number, frame)

    heard = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if heard:
        signal.signal(signal.SIGINT, hear)
    sys.unraisablehook, sys.excepthook = hook, printed
    try:
        yield interrupts
    finally:
        sys.unraisablehook, sys.excepthook = before, print_before
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)


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
