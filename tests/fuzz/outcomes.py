"""Outcomes of cases: refused, answered, a raw error, a wrong answer, a hang, and warnings that leaked."""

from __future__ import annotations

import contextlib
import io
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

from bayesgroups.errors import BayesgroupsError
from tests.fuzz.cases import CASES, WrongAnswerError

MAX_SECONDS = 20
"""Processor time from which a case hangs, on a busy machine as on a quiet one; it also does where it waits six times as long."""
COLUMNS = ("refused", "answered", "raw", "wrong", "hang", "warned")


class _HangError(BaseException):
    pass


def outcome(category: str, seed: int, number: int) -> tuple[str, str, bool]:
    """Outcome of a case, see `outcome_of`; the same seed and number, the same case."""
    rng = np.random.default_rng([seed, number, list(CASES).index(category)])
    return outcome_of(lambda folder: CASES[category](rng, folder))


def outcome_of(case: Callable[[Path], object]) -> tuple[str, str, bool]:
    """One of `COLUMNS`, the message, and whether a warning of NumPy or pandas leaked, of a case in a folder of its own."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _HangError

    before = {each: signal.signal(each, stop) for each in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 6 * MAX_SECONDS)
    quiet = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        try:
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                case(Path(folder))
            result, message = "answered", ""
        except BayesgroupsError as problem:
            result, message = "refused", str(problem)
        except WrongAnswerError as problem:
            result, message = "wrong", str(problem)
        except _HangError:
            result, message = "hang", f"more than {MAX_SECONDS} s of the processor, or waiting"
        except Exception as problem:
            result, message = "raw", f"{type(problem).__name__}: {problem}"
        finally:
            for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
                signal.setitimer(timer, 0)
            for each, handler in before.items():
                signal.signal(each, handler)
    warned = [each for each in leaked if issubclass(each.category, RuntimeWarning | FutureWarning)]
    return result, message or (str(warned[0].message) if warned else ""), bool(warned)


def count(cases: int, seed: int, start: int = 0) -> tuple[dict[str, Counter[str]], list[str]]:
    """Outcomes by category of as many cases from a number on, dealt out in turn, and a line for each that is a fault."""
    table: dict[str, Counter[str]] = {category: Counter() for category in CASES}
    faults = []
    for number in range(start, start + cases):
        category = list(CASES)[number % len(CASES)]
        result, message, warned = outcome(category, seed, number)
        table[category].update(["cases", result, *(["warned"] if warned else [])])
        if warned or result in ("raw", "wrong", "hang"):
            faults.append(f"{category} {number}: {result}{' warned' if warned else ''}: {message}")
    return table, faults
