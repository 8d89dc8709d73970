"""A sign of life of work that takes long and does not count its parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SECONDS = 2.0
"""So long a command may be silent."""


class Waiting:
    """A spinner with the time that has passed, which appears when nothing was shown for `SECONDS`.

    Bars take its place while they are shown, and what is printed ends it.
    """

    def __init__(self, name: str, console: Console) -> None:
        self._name, self._console, self._lock = name, console, threading.RLock()
        self._timer: threading.Timer | None = None
        self._shown: Progress | None = None
        self.arm()

    def arm(self) -> None:
        """Begin to wait (again)."""
        with self._lock:
            self.stop()
            self._timer = threading.Timer(SECONDS, self._show)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Take the spinner away, or let it never appear."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._shown is not None:
                self._shown.stop()
                self._shown = None

    def _show(self) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._timer is not threading.current_thread():  # stopped while it was about to appear
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._shown = Progress(*columns, console=self._console, transient=True)
            self._shown.add_task(self._name, total=None)
            self._shown.start()


_CURRENT: list[Waiting] = []
"""The command that runs in this process, innermost last."""


@contextmanager
def sign_of_life(name: str, console: Console) -> Iterator[None]:
    """Show that a command is at work, on a console that is a terminal."""
    if not console.is_terminal:
        yield
        return
    _CURRENT.append(Waiting(name, console))
    try:
        yield
    finally:
        _CURRENT.pop().stop()


def stopped() -> None:
    """End the spinner, for what follows is shown."""
    _each(Waiting.stop)


@contextmanager
def paused() -> Iterator[None]:
    """Leave the place to a bar or a note, and wait again after it."""
    _each(Waiting.stop)
    try:
        yield
    finally:
        _each(Waiting.arm)


def _each(change: Callable[[Waiting], None]) -> None:
    for current in _CURRENT[-1:]:
        change(current)
