"""Threads of computations: metrics side by side, and each of them on one thread of the linear algebra.

Matrices here are small and many. Threads within a product of two of them wait for one another more than they compute, by a
factor of ten and more where the processors have other work, and their number would change the last digits of results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from threadpoolctl import ThreadpoolController

_POOL: ContextVar[Executor | None] = ContextVar("pool", default=None)
"""The pool on a thread of which the context runs."""


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Stretch of a program in which linear algebra runs on the thread that calls it.

    OpenBLAS hears of it from the main thread of the process alone; a caller in another one keeps the number that it has.

    >>> with one_thread_of_linear_algebra():
    ...     from threadpoolctl import threadpool_info
    ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    {1}
    """
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The libraries that are loaded, looked for again once further modules are: to look takes as long as a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
        if threads < 2:
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
    return call()
