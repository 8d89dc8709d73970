"""Errors of the PyMC models in the words of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb

from bayesgroups.errors import InputError


@contextmanager
def errors_of_models() -> Iterator[None]:
    """Errors of `bayesgroups.models`, which knows nothing of this package, as an `InputError`."""
    try:
        yield
    except ValueError as problem:
        modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(problem.__traceback__)]
        if isinstance(problem, InputError) or not any(name.startswith("bayesgroups.models.") for name in modules):
            raise
        raise InputError(str(problem)) from problem
