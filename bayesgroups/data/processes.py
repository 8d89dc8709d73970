"""Processes of computations: calls that take long side by side on the processors of this machine, with the same answers.

Short steps of NumPy on threads wait for the interpreter's lock; processes have one each. They take half a second to start, so that
this process computes meanwhile: it takes calls from the front, and whoever is ready from the back.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import parent_process
from pickle import PicklingError
from threading import Lock, Timer, current_thread, main_thread
from typing import Any

import numpy as np

from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra
from bayesgroups.data.threads import ALONE, on_this_thread

WAIT_SECONDS = 0.5
"""Time after which processes are started, about that which it takes: calls may be done until then."""
IDLE_SECONDS = 60
"""Time after which a process ends that has nothing to compute."""
MAX_SUBGROUPS = 2000
"""Subgroups beyond which the draws of a fit, 64 MB for 4,000 of them, are too large to have in two processes at once."""


@contextmanager
def on_processors[T](calls: Sequence[Callable[[], T]]) -> Iterator[Iterator[T]]:
    """Results of calls that share nothing, in their order, each computed on one thread of the linear algebra.

    Calls can be pickled, as can their results. They run in this process alone, when they are asked for, where it has one processor
    (``LOKY_MAX_CPU_COUNT`` limits them), is a process of a pool itself, or asks from a thread of its own; and so does a call whose
    process dies. An error is raised, and warnings given, where the result is asked for; calls not yet begun are then given up.

    >>> from functools import partial
    >>> with on_processors([partial(pow, 2, 3), partial(pow, 3, 2)]) as results:
    ...     list(results)
    [8, 9]
    """
    with one_thread_of_linear_algebra():
        processors = _processors()
        number = min(len(calls), processors) - 1
        if number < 1:
            yield (call() for call in calls)
            return
        if number == processors - 1:
            calls = [partial(on_this_thread, call) for call in calls]
        shared = _Shared(calls, number, partial(np.errstate, **np.geterr()))
        started = Timer(0 if _PROCESSES.ready(number) else WAIT_SECONDS, shared.begin)
        started.daemon = True
        started.start()
        try:
            yield shared.results()
        finally:
            started.cancel()
            started.join()
            if shared.given_up():
                _PROCESSES.end()


@dataclass
class _Shared[T]:
    """Calls of which this process takes the first that is left, and other processes the last."""

    calls: Sequence[Callable[[], T]]
    number: int
    """Other processes."""
    errors: Callable[[], AbstractContextManager[None]]
    """How NumPy treats floating-point errors, which another process does not inherit."""
    lock: Lock = field(default_factory=Lock)
    first: int = 0
    """Position of the first call that nobody has begun."""
    sent: dict[int, Future[tuple[T, list[warnings.WarningMessage]]]] = field(default_factory=dict)
    """Calls that other processes have, by their positions: all from the first of them on."""

    def begin(self) -> None:
        """Ask other processes to send for a call as soon as they have imported what it needs."""
        if self.first == len(self.calls):
            return
        try:
            pool = _PROCESSES.pool(self.number)
            for _ in range(self.number):
                pool.submit(_imported, self.calls[-1]).add_done_callback(partial(self._send, pool))
        except (ImportError, OSError, RuntimeError):  # no process can be started, or the pool is broken
            _PROCESSES.end()

    def results(self) -> Iterator[T]:
        """Results in the order of the calls."""
        for position, call in enumerate(self.calls):
            with self.lock:
                self.first = position + 1
                elsewhere = self.sent.get(position)
            if elsewhere is None:
                yield call()
                continue
            try:
                answer, given = elsewhere.result()
            except BrokenProcessPool:
                _PROCESSES.end()
                yield call()
                continue
            except PicklingError:
                yield call()
                continue
            for each in given:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            yield answer

    def given_up(self) -> bool:
        """True if another process still computes what nobody will ask for; no further call is sent."""
        with self.lock:
            self.first = len(self.calls)
            return not all(result.done() for result in self.sent.values())

    def _send(self, pool: Executor, before: Future[Any]) -> None:
        """Send the last call that is left to the process that did what was asked before."""
        if before.cancelled() or isinstance(before.exception(), BrokenProcessPool):
            return
        with self.lock:
            last = len(self.calls) - len(self.sent) - 1
            if last < self.first:
                return
            try:
                self.sent[last] = pool.submit(_run, self.calls[last], self.errors)
            except RuntimeError:  # the pool has ended
                return
        self.sent[last].add_done_callback(partial(self._send, pool))


@dataclass
class _Processes:
    """The pool of this process, of as many processes as were ever of use."""

    executor: Any = None
    number: int = 0
    owner: int = 0
    """The process that started them: one that was forked from it has none."""

    def ready(self, number: int) -> bool:
        """True if there are so many processes."""
        return self.owner == os.getpid() and self.number >= number

    def pool(self, number: int) -> Executor:
        """A pool of at least so many processes."""
        from joblib.externals.loky import ProcessPoolExecutor

        if not self.ready(number):
            self.end()
            self.executor = ProcessPoolExecutor(number, timeout=IDLE_SECONDS)
            self.number, self.owner = number, os.getpid()
        pool: Executor = self.executor
        return pool

    def end(self) -> None:
        """Leave what is being computed."""
        if self.ready(1):
            self.executor.shutdown(wait=False, kill_workers=True)
        self.executor, self.number = None, 0


_PROCESSES = _Processes()


def _processors() -> int:
    """Processors for calls of this process: one where others have the rest."""
    if ALONE.get() or parent_process() is not None or current_thread() is not main_thread():
        return 1
    import joblib

    number: int = joblib.cpu_count()
    return number


def _imported(call: Callable[[], object]) -> None:
    """Nothing: all that a call is made of is imported once it has come."""


def _run[T](
    call: Callable[[], T], errors: Callable[[], AbstractContextManager[None]]
) -> tuple[T, list[warnings.WarningMessage]]:
    with one_thread_of_linear_algebra(), errors(), warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        answer = call()
    return answer, given
