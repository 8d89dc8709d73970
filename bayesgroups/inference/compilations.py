"""Compilations that an interrupt ends only when they are whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from numba.core.event import Event, Listener, install_listener

from bayesgroups.data.interrupts import held_interrupts


@contextmanager
def whole_compilations() -> Iterator[None]:
    """A stretch in which an interrupt waits until numba has compiled what it is compiling, and ends everything else at once.

    LLVM that is left between taking a module and noting so frees it twice, which ends the process: a notebook would be lost.

    Examples
    --------
    >>> with whole_compilations():
    ...     pass  # such as pymc.sample(model=model)
    """
    with install_listener("numba:compiler_lock", _Holder()):
        yield


class _Holder(Listener):
    """Listener that holds interrupts from the beginning of an outermost compilation to its end."""

    def __init__(self) -> None:
        self.depth = 0
        self.stretch: AbstractContextManager[None] = held_interrupts()

    def on_start(self, event: Event) -> None:
        """A compilation begins: the compiler is about to be locked."""
        if threading.current_thread() is threading.main_thread():
            self.depth += 1
            if self.depth == 1:
                self.stretch = held_interrupts()
                self.stretch.__enter__()

    def on_end(self, event: Event) -> None:
        """A compilation has ended: the compiler is free again."""
        if threading.current_thread() is threading.main_thread():
            self.depth -= 1
            if self.depth == 0:
                self.stretch.__exit__(None, None, None)
