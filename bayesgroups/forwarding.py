"""Forwarders of names that have moved and of keywords that were renamed, with a warning, for one release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, cast

MOVED_MODULES = {
    "analyses": "cli.analysis_files",
    "attribution": "questions.explanation.attribution",
    "certification": "questions.certification",
    "comparison": "questions.compare",
    "curves": "questions.curves",
    "disagreement": "frequentist.bounds",
    "disparities": "questions.disparities",
    "estimation": "estimators.estimate",
    "files": "data.files",
    "html": "views.html",
    "metrics": "data.metrics",
    "neighbours": "interop",
    "nested_models": "questions.explanation.nested_models",
    "plots": "views.plots",
    "priors": "questions.priors",
    "readings": "report.view",
    "tables": "views.tables",
    "tally_files": "tallies.files",
    "tradeoffs": "questions.tradeoffs",
}
"""Modules of the package by their former name."""
SHORT_NAMES = ("metrics", "plots")
"""Former names of modules that stay, as ``bayesgroups.plots``: no warning."""
MOVED_NAMES = {
    "auc_as_rate": "tallies",
    "auc_error_bound": "tallies",
    "bin_scores": "tallies",
    "points_from_reports": "questions.tradeoffs",
    "with_auc_variance": "tallies",
}
"""Modules of functions that were names of the package."""


class Forwarder:
    """Finder of modules under their former names; the module is the one that is found under the present name.

    It has the methods of a finder and of a loader without their base classes, whose import would take most of ours.
    """

    def __init__(self) -> None:
        self.specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the package by its former name."""
        parts = fullname.split(".")
        if parts[0] != "bayesgroups" or len(parts) < 2 or parts[1] not in MOVED_MODULES:
            return None
        return ModuleSpec(fullname, cast("Any", self))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module under its present name, with a warning."""
        _, former, *rest = spec.name.split(".")
        present = ".".join(["bayesgroups", MOVED_MODULES[former], *rest])
        if former not in SHORT_NAMES:
            warnings.warn(f"{spec.name} is {present} now", DeprecationWarning, stacklevel=2)
        module = import_module(present)
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back, which the import system has replaced by that of the former name."""
        former = module.__spec__
        if former is not None:
            module.__spec__ = self.specs.pop(former.name)


def install() -> None:
    """Let former names of modules be imported."""
    if not any(isinstance(finder, Forwarder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Forwarder())  # before modules are found by the folder of their parent


def moved_name(name: str) -> object:
    """A function that was a name of the package, with a warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     moved_name("bin_scores").__name__, str(caught[0].message)
    ('bin_scores', 'bayesgroups.bin_scores is bayesgroups.tallies.bin_scores now')
    """
    home = f"bayesgroups.{MOVED_NAMES[name]}"
    warnings.warn(f"bayesgroups.{name} is {home}.{name} now", DeprecationWarning, stacklevel=3)
    return getattr(import_module(home), name)


class RenamedKeyword(NamedTuple):
    """A keyword of a function by its former and its present name, and the values that have other names now."""

    former: str
    present: str
    values: Mapping[str, str]


RENAMED_KEYWORDS: dict[object, RenamedKeyword] = {}
"""Renamed keywords by their function."""


def renamed_keyword[**P, R](former: str, present: str, **values: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function that still takes a keyword by its former name; its signature has the present one alone.

    Parameters
    ----------
    former, present : str
        Names of the keyword.
    **values : str
        Present values by the former ones, where they have other names now.

    Examples
    --------
    >>> import warnings
    >>> @renamed_keyword("colour", "color", grey="gray")
    ... def paint(color):
    ...     return color
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     paint(colour="grey"), str(caught[0].message)
    ('gray', "paint(colour='grey') is paint(color='gray') now")
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        rename = present_keywords  # not a global of the function

        def forwarded(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(*args, **rename(forwarder, kwargs))

        # Globals are those of the function: doctest tells by them in which module it is.
        code, names = forwarded.__code__, cast("FunctionType", function).__globals__
        forwarder = wraps(function)(FunctionType(code, names, None, None, forwarded.__closure__))
        RENAMED_KEYWORDS[forwarder] = RenamedKeyword(former, present, values)
        return cast("Callable[P, R]", forwarder)

    return decorate


def present_keywords(function: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of a function by their present names; a former one is renamed, with a warning.

    Raises
    ------
    InputError
        If a keyword is given by both of its names.
    """
    renamed = RENAMED_KEYWORDS.get(function)
    if renamed is None or renamed.former not in given:
        return dict(given)
    name, (former, present) = getattr(function, "__name__", ""), (renamed.former, renamed.present)
    if present in given:
        from bayesgroups.errors import InputError

        raise InputError(f"{name}() got {former}= and {present}=; give {present}= alone, which {former}= is called now")
    value = given[former]
    now = renamed.values.get(value, value) if isinstance(value, str) else value
    warnings.warn(f"{name}({former}={value!r}) is {name}({present}={now!r}) now", DeprecationWarning, stacklevel=3)
    return {present if key == former else key: now if key == former else given[key] for key in given}
