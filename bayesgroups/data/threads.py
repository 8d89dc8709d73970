"""Threads of computations: calls that share nothing side by side, each of them on one thread of the linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING

from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_POOL: ContextVar[Executor | None] = ContextVar("pool", default=None)
"""The pool on a thread of which the context runs."""
ALONE: ContextVar[bool] = ContextVar("alone", default=False)
"""True where other processes have the other processors."""


@contextmanager
def side_by_side[T](calls: Sequence[Callable[[], T]], threads: int) -> Iterator[Iterator[T]]:
    """Results of calls that share nothing, in their order, computed on so many threads; below two, when they are asked for.

    A call may lay calls side by side itself: they take threads that the outer ones leave idle, and the thread that asks for them,
    never more. An error is raised where its result is asked for, and calls that have not begun are then given up.

    >>> from functools import partial
    >>> with side_by_side([partial(pow, 2, 3), partial(pow, 3, 2)], threads=2) as results:
    ...     list(results)
    [8, 9]
    """
    with one_thread_of_linear_algebra():
        if threads < 2 or ALONE.get():
            yield (call() for call in calls)
            return
        outer = _POOL.get()
        if outer is not None:
            yield from _within(outer, calls)
            return
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(threads)
        try:
            yield (result.result() for result in _submitted(pool, calls))
        finally:
            pool.shutdown(cancel_futures=True)


def on_this_thread[T](call: Callable[[], T]) -> T:
    """The result of a call, whose own calls side by side run one after the other.

    >>> from functools import partial
    >>> on_this_thread(partial(pow, 2, 3))
    8
    """
    before = ALONE.set(True)
    try:
        return call()
    finally:
        ALONE.reset(before)


def _within[T](pool: Executor, calls: Sequence[Callable[[], T]]) -> Iterator[Iterator[T]]:
    """Results of calls from a thread of a pool, which runs those that no other thread has begun."""
    begun = _submitted(pool, calls)
    try:
        yield (call() if result.cancel() else result.result() for call, result in zip(calls, begun, strict=True))
    finally:
        for result in begun:
            result.cancel()


def _submitted[T](pool: Executor, calls: Sequence[Callable[[], T]]) -> list[Future[T]]:
    # NumPy keeps how it treats floating-point errors in the context, which a thread does not inherit.
    return [pool.submit(copy_context().run, _run, pool, call) for call in calls]


def _run[T](pool: Executor, call: Callable[[], T]) -> T:
    """The result of a call on a thread of a pool, of which it can learn."""
    _POOL.set(pool)
    with one_thread_of_linear_algebra():
        return call()
