"""The command line of a report, so that it can be typed again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

_WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


@contextmanager
def invocation(words: Sequence[str]) -> Iterator[None]:
    """Remember the words after ``bayesgroups``, as the shell gave them, without its quotes, while their command runs."""
    before = _WORDS.set(tuple(words))
    try:
        yield
    finally:
        _WORDS.reset(before)


def signed(report: xr.DataTree) -> xr.DataTree:
    """The same report with ``attrs["command"]``, the line that makes it again in a shell; as it is where no command runs.

    >>> import xarray as xr
    >>> with invocation(["estimate", "my rows.csv", "--seed", "1"]):
    ...     signed(xr.DataTree()).attrs["command"]
    "bayesgroups estimate 'my rows.csv' --seed 1"
    """
    line = command_line()
    if not line:
        return report
    copy = report.copy()
    copy.attrs = {**report.attrs, "command": line}
    return copy


def command_line() -> str:
    """The line of the command that runs, quoted for a shell; empty where none does."""
    words = _WORDS.get()
    return shlex.join(["bayesgroups", *words]) if words else ""
