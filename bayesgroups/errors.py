"""Errors of the package, each with a message that names what was expected, what came, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class BayesgroupsError(Exception):
    """Base of every error raised on purpose by the package."""


class InputError(BayesgroupsError, ValueError):
    """The data or the settings cannot be used; the message names the offending input and the fix."""


class KeywordError(InputError, TypeError):
    """A function has no such keyword; the message names the one to give, as Python's own ``TypeError`` cannot."""


class SchemaError(BayesgroupsError, ValueError):
    """A file or a tree is not the tally or report it was taken for."""


class NotUsableError(BayesgroupsError, RuntimeError):
    """A report failed its diagnostics and was asked to be strict about it."""


class MissingDependencyError(BayesgroupsError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""


class EngineError(BayesgroupsError, RuntimeError):
    """A dataframe engine gave up (a full disk, a killed worker); nothing was tallied, and the message says what it reported."""


def refused_by_system(problem: OSError | UnicodeEncodeError) -> InputError:
    """Error of a file that the system does not take, as of a name that is too long, in its own words.

    >>> refused_by_system(OSError(36, "File name too long", "xyz"))
    InputError("'xyz': File name too long")
    """
    name, reason = getattr(problem, "filename", None), getattr(problem, "strerror", None)
    return InputError(f"{name!r}: {reason}" if name and reason else str(problem))


def near_misses(name: str, known: Iterable[str]) -> str:
    """Name the choices that come close to a name that is none of them.

    Parameters
    ----------
    name : str
        The name as it was given.
    known : iterable of str
        The names that exist.

    Returns
    -------
    str
        ``"did you mean 'fnr'?"``, or the whole list when nothing comes close.

    Examples
    --------
    >>> near_misses("fnrr", ["fnr", "acc"])
    "did you mean 'fnr'?"
    >>> near_misses("zzz", ["fnr", "acc"])
    "known: 'acc', 'fnr'"
    """
    names = [str(each) for each in known]  # labels of arrays are texts of NumPy, which show themselves as np.str_('a')
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(repr(match) for match in close)}?"
    return f"known: {', '.join(repr(choice) for choice in sorted(names))}"
