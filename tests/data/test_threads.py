"""Threads of the linear algebra: one while anything is computed, and as many as before afterwards."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import scipy.linalg  # noqa: F401 (its library of linear algebra is there before threads are counted)
import xarray as xr
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import bayesgroups as bg
from bayesgroups.data import linear_algebra
from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra
from bayesgroups.data.threads import side_by_side
from bayesgroups.frequentist import crossed_effects
from bayesgroups.report.posterior import Posterior


def now() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _three_threads() -> Iterator[None]:
    with threadpool_limits(3, user_api="blas"):
        yield


def test_one_thread_within_and_as_many_as_before_afterwards() -> None:
    with one_thread_of_linear_algebra():
        with one_thread_of_linear_algebra():
            assert now() == {1}
        assert now() == {1}
    assert now() == {3}


def test_threads_come_back_after_the_last_of_stretches_that_overlap() -> None:
    begun, ended = threading.Event(), threading.Event()

    def beside() -> None:
        with one_thread_of_linear_algebra():
            begun.set()
            ended.wait()

    thread = threading.Thread(target=beside)
    with one_thread_of_linear_algebra():
        thread.start()
        begun.wait()
    meanwhile = now()
    ended.set()
    thread.join()
    assert (meanwhile, now()) == ({1}, {3})


def test_libraries_that_count_threads_by_their_caller_have_one_in_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    by_caller = ThreadpoolController()
    monkeypatch.setattr(linear_algebra, "_libraries", lambda: ([], by_caller))
    limited: list[int] = []

    def noted(**choices: object) -> AbstractContextManager[None]:
        assert choices == {"limits": 1}
        limited.append(threading.get_ident())
        return nullcontext()

    monkeypatch.setattr(by_caller, "limit", noted)
    with side_by_side([threading.get_ident, threading.get_ident], threads=2) as results:
        ran = list(results)
    assert limited[0] == threading.get_ident()
    assert set(limited[1:]) == set(ran)


def test_libraries_are_not_looked_for_on_threads_that_load_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    with one_thread_of_linear_algebra():
        pass

    def looked(self: ThreadpoolController) -> None:
        raise AssertionError(self)

    monkeypatch.setattr(ThreadpoolController, "__init__", looked)

    def loading(name: str) -> set[int]:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        with one_thread_of_linear_algebra():
            return {library.num_threads for library in linear_algebra._libraries()[0] if library.num_threads}

    with side_by_side([partial(loading, f"loaded_{number}") for number in range(4)], threads=2) as results:
        assert list(results) == [{1}] * 4


LOADED_WITHIN = """
import bayesgroups as bg, sys
from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits
assert "scipy.linalg" not in sys.modules
def now():
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    print(len(libraries), {library["num_threads"] for library in libraries})
with one_thread_of_linear_algebra():
    import scipy.linalg
    now()
now()
"""


def test_the_library_of_scipy_has_one_thread_too_where_a_fit_is_the_first_to_load_it() -> None:
    two = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", LOADED_WITHIN], env=two, capture_output=True, text=True, check=True)
    within, afterwards = run.stdout.splitlines()
    libraries = within.split()[0]
    assert [within, afterwards] == [f"{libraries} {{1}}", f"{libraries} {{2}}"]


def test_where_no_module_is_linked_to_it_the_package_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(linear_algebra, "import_module", loaded.append)
    for error in (OSError, IndexError):

        def refused(path: str, error: type[Exception] = error) -> None:
            raise error

        monkeypatch.setattr(linear_algebra, "CDLL", refused)
        linear_algebra._load_libraries.__wrapped__()
    assert loaded == ["numpy", "scipy.linalg"] * 2


def test_an_error_puts_them_back() -> None:
    with pytest.raises(ZeroDivisionError), side_by_side([partial(divmod, 1, 0)], threads=1) as results:
        list(results)
    assert now() == {3}


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_calls_within_calls_take_no_further_threads(threads: int) -> None:
    ran: set[int] = set()

    def inner(value: int) -> int:
        ran.add(threading.get_ident())
        time.sleep(0.002)
        return value

    def outer(value: int) -> list[int]:
        ran.add(threading.get_ident())
        with side_by_side([partial(inner, value + i) for i in range(6)], threads=threads) as results:
            return list(results)

    with side_by_side([partial(outer, 10 * i) for i in range(4)], threads=threads) as results:
        assert list(results) == [[10 * i + j for j in range(6)] for i in range(4)]
    assert len(ran) <= threads


def test_an_error_within_calls_is_raised_and_gives_up_the_rest() -> None:
    begun: list[int] = []

    def inner(value: int) -> int:
        begun.append(value)
        return 1 // value

    def outer(wait: float) -> list[int]:
        time.sleep(wait)
        with side_by_side([partial(inner, i) for i in range(9)], threads=2) as results:
            return [] if wait else list(results)

    with pytest.raises(ZeroDivisionError), side_by_side([partial(outer, 0), partial(outer, 0.05)], threads=2) as both:
        list(both)
    assert begun == [0]


def test_a_report_is_computed_on_one_thread_of_the_linear_algebra() -> None:
    seen: list[set[int]] = []

    class Noted(bg.NoPooling):
        def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
            seen.append(now())
            return super().reference(tally, seed=seed)

        def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
            seen.append(now())
            return super().collapsed(tally, seed=seed)

    counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
    bg.estimate(counts, Noted(), seed=1)
    assert seen == [{1}, {1}]
    assert now() == {3}


def test_frequentist_fits_of_metrics_do_not_depend_on_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    who = pd.DataFrame(itertools.product("abc", "xyz"), columns=["race", "age"])
    counts = [
        bg.tally_from_counts(rng.binomial(30, 0.4, 9), np.full(9, 30), who, metric=name) for name in ("fnr", "fpr")
    ]
    both = xr.concat(counts, dim="metric", join="exact", data_vars="all")
    answers = []
    for processors in (1, 2):
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        answers.append(crossed_effects.estimate(both))
    xr.testing.assert_identical(*answers)
