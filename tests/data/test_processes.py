"""Calls on processes: the answers, errors and warnings of calls one by one."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from threading import Lock, Thread

import joblib
import numpy as np
import pytest

from bayesgroups.data import processes
from bayesgroups.data.processes import on_processors
from bayesgroups.data.threads import on_this_thread, side_by_side
from bayesgroups.errors import InputError

PATIENCE = 60.0
"""Seconds that a call waits for another process."""


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(processes, "WAIT_SECONDS", 0.0)
    yield
    processes._PROCESSES.end()


def wait_for(file: Path) -> int:
    """The process that waited, once there is the file that another one makes."""
    end = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return os.getpid()


def make(file: Path) -> int:
    file.touch()
    return os.getpid()


def answers[T](*calls: Callable[[], T]) -> list[T]:
    with on_processors(calls) as results:
        return list(results)


def test_this_process_takes_the_first_and_others_the_last(tmp_path: Path) -> None:
    file = tmp_path / "made"
    first, *between, last = answers(partial(wait_for, file), os.getpid, os.getpid, partial(make, file))
    assert (first, last != first) == (os.getpid(), True)
    assert set(between) <= {first, last}


def test_a_process_serves_many_times_and_more_of_them_where_more_are_of_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def served(name: str) -> int:
        return answers(partial(wait_for, tmp_path / name), partial(make, tmp_path / name))[-1]

    assert served("one") == served("two")
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    names = [tmp_path / name for name in ("left", "right")]
    both = answers(partial(_wait_for_both, names), *(partial(_make_and_wait, each, names) for each in names))
    assert len(set(both)) == 3


def _wait_for_both(files: list[Path]) -> int:
    return min(wait_for(file) for file in files)


def _make_and_wait(file: Path, files: list[Path]) -> int:
    file.touch()
    return _wait_for_both(files)


def test_an_error_is_raised_where_its_result_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "made"
    with on_processors([partial(wait_for, file), partial(_refuse, file)]) as results:
        assert next(results) == os.getpid()
        with pytest.raises(InputError, match="column 'a' is none of the file's"):
            next(results)


def _refuse(file: Path) -> int:
    file.touch()
    raise InputError("column 'a' is none of the file's")


def test_warnings_are_given_where_the_result_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "made"
    with on_processors([partial(wait_for, file), partial(_warn, file)]) as results:
        next(results)
        with pytest.warns(RuntimeWarning, match="of another process"):
            assert next(results) != os.getpid()
        with warnings.catch_warnings(record=True) as given:
            assert list(results) == []
    assert not given


def _warn(file: Path) -> int:
    warnings.warn("of another process", RuntimeWarning, stacklevel=1)
    return make(file)


def test_floating_point_errors_are_treated_as_here(tmp_path: Path) -> None:
    file = tmp_path / "made"
    with np.errstate(over="raise", under="ignore"):
        errors = answers(partial(_errors, partial(wait_for, file)), partial(_errors, partial(make, file)))
    assert errors[0] == errors[1]
    assert errors[1]["over"] == "raise"


def _errors(call: Callable[[], int]) -> dict[str, str]:
    call()
    return {name: str(treated) for name, treated in np.geterr().items()}


def test_what_a_process_dies_of_is_computed_here(tmp_path: Path) -> None:
    file = tmp_path / "made"
    assert answers(partial(wait_for, file), partial(_die, file)) == [os.getpid()] * 2
    assert answers(partial(wait_for, file), partial(make, tmp_path / "later"))[0] == os.getpid()


def _die(file: Path) -> int:
    file.touch()
    if parent_process() is not None:
        os._exit(1)
    return os.getpid()


def test_what_cannot_be_sent_is_computed_here() -> None:
    lock = Lock()  # which no pickle takes
    assert answers(partial(_later, lock), partial(_later, lock)) == [os.getpid()] * 2


def _later(_: object) -> int:
    time.sleep(0.3)
    return os.getpid()


def test_where_no_process_starts_all_is_computed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(number: int) -> None:
        raise OSError(f"{number} processes are too many")

    monkeypatch.setattr(processes._PROCESSES, "pool", refused)
    assert answers(partial(_later, 1), os.getpid) == [os.getpid()] * 2


def test_a_forked_process_starts_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those of its parent it has handles alone."""
    before = answers(partial(wait_for, tmp_path / "one"), partial(make, tmp_path / "one"))[-1]
    ours = processes._PROCESSES.executor
    monkeypatch.setattr(processes._PROCESSES, "owner", os.getppid())
    after = answers(partial(wait_for, tmp_path / "two"), partial(make, tmp_path / "two"))[-1]
    assert after not in (before, os.getpid())
    ours.shutdown(wait=False, kill_workers=True)


def test_short_calls_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WAIT_SECONDS", PATIENCE)
    assert answers(os.getpid, os.getpid) == [os.getpid()] * 2
    assert processes._PROCESSES.executor is None


def test_what_nobody_asks_for_is_left(tmp_path: Path) -> None:
    begun, file = time.monotonic(), tmp_path / "made"
    calls: list[Callable[[], int]] = [partial(wait_for, file), partial(_make_and_stay, file)]
    with on_processors(calls) as results:
        next(results)
    assert time.monotonic() - begun < PATIENCE / 2
    assert processes._PROCESSES.executor is None


def _make_and_stay(file: Path) -> int:
    file.touch()
    time.sleep(2 * PATIENCE)
    return 0


@pytest.mark.parametrize("where", ["one processor", "a thread", "a process of a pool", "a call on threads", "alone"])
def test_where_others_have_the_processors_calls_run_one_by_one(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [partial(_later, i) for i in range(2)]
    ran: list[int] = []

    def run() -> None:
        ran.extend(answers(*calls))

    if where == "one processor":
        monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
        run()
    elif where == "a thread":
        thread = Thread(target=run)
        thread.start()
        thread.join()
    elif where == "a call on threads":
        with side_by_side([run, run], threads=2) as results:
            list(results)
    elif where == "a process of a pool":
        monkeypatch.setattr(processes, "parent_process", object)
        run()
    else:
        on_this_thread(run)
    assert set(ran) == {os.getpid()}
    assert processes._PROCESSES.executor is None


def test_calls_leave_the_processors_to_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two processors a call takes no threads of its own, and with more of them than calls it does."""
    alone, beside = list[int](), list[int]()
    for processors, seen in ((2, alone), (4, beside)):
        monkeypatch.setattr(joblib, "cpu_count", lambda processors=processors: processors)
        with on_processors([partial(_threads, 0.0), partial(_threads, 0.3)]) as results:
            seen.extend(results)
    assert alone[0] == 1
    assert beside[0] == 2


def _threads(wait: float) -> int:
    from threading import get_ident

    def here() -> int:
        time.sleep(0.05)
        return get_ident()

    time.sleep(wait)
    with side_by_side([here, here], threads=2) as results:
        return len(set(results))
