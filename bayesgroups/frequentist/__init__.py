"""The frequentist references: one file per estimator, ``estimate(tally, *, ...) -> xr.Dataset``.

Every answer has dims ``metric``, ``subgroup``, ``level`` and the variables described in
`bayesgroups.frequentist.answer`. The arithmetic lies in `bayesgroups.frequentist.intervals`, as pure
functions of arrays. Importing this package imports no word; a word is imported when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import complete_pooling, crossed_effects, james_stein, no_pooling, partial_pooling, structured_regression

__all__ = [
    "complete_pooling",
    "crossed_effects",
    "james_stein",
    "no_pooling",
    "partial_pooling",
    "structured_regression",
]


def __getattr__(name: str) -> ModuleType:
    """Import a listed submodule when it is first used as an attribute."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
