"""One thread of the linear algebra: what is computed here neither waits for its threads nor rounds by their number.

Matrices here are small and many. Threads within a product of two of them wait for one another more than they compute, by a
factor of ten and more where the processors have other work, and their number would change the last digits of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import CDLL
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import LibController, ThreadpoolController


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Stretch of a program in which linear algebra runs on the thread that calls it.

    Most libraries have one number of threads for the whole process: where stretches overlap, in one thread of the program or
    in several, it is as before once the last of them ends.

    >>> with one_thread_of_linear_algebra():
    ...     from threadpoolctl import threadpool_info
    ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    {1}
    """
    _load_libraries()
    by_process, by_thread = _libraries()
    _NOW.begin(by_process)
    try:
        with by_thread.limit(limits=1):
            yield
    finally:
        _NOW.end()


class _Stretches:
    """Stretches that have begun and not ended, and the threads that libraries had before."""

    def __init__(self) -> None:
        self._lock, self._number = Lock(), 0
        self._before: dict[str | None, tuple[LibController, int | None]] = {}

    def begin(self, libraries: Sequence[LibController]) -> None:
        """Another stretch: libraries not met in those before it get one thread."""
        with self._lock:
            self._number += 1
            for library in libraries:
                if library.filepath not in self._before:
                    self._before[library.filepath] = library, library.num_threads
                    _give(library, 1)

    def end(self) -> None:
        """One stretch fewer; after the last, every library has its threads again."""
        with self._lock:
            self._number -= 1
            if self._number == 0:
                for library, threads in self._before.values():
                    _give(library, threads)
                self._before.clear()


_NOW = _Stretches()
"""The stretches of this process."""


def _give(library: LibController, threads: int | None) -> None:
    """Give a library its number of threads, from whichever thread of the program."""
    # Recent threadpoolctl lets OpenBLAS hear only of the thread that spoke to it first.
    clear = getattr(library, "clear_controlling_thread", None)
    if clear:
        clear(force=True)
    library.set_num_threads(threads)
    if clear:
        clear()


@cache
def _load_libraries() -> None:
    """Load NumPy's and SciPy's libraries: one loaded within a stretch would keep its threads, and round otherwise than later.

    SciPy's comes with a module that is linked to it, in a hundredth of the time of the package, which many fits do without.
    """
    import_module("numpy")
    folders = getattr(find_spec("scipy"), "submodule_search_locations", None) or ()
    linked = [str(path) for folder in folders for path in sorted(Path(folder, "linalg").glob("_fblas.*"))]
    try:
        CDLL(linked[0])
    except (IndexError, OSError):
        import_module("scipy.linalg")


@cache
def _libraries() -> tuple[list[LibController], ThreadpoolController]:
    """Libraries that have one number of threads, and those that have one for every thread of the program that calls them.

    They are looked for once in a process, before there are threads beside: to look takes as long as a small fit, and never ends
    where another thread loads a library meanwhile, which holds Python and waits for the list of libraries that is being read.
    """
    from threadpoolctl import ThreadpoolController

    every = ThreadpoolController().select(user_api="blas")
    by_thread = every.select(threading_layer="openmp")
    return [each for each in every.lib_controllers if each not in by_thread.lib_controllers], by_thread
