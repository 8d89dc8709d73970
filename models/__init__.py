"""PyMC builders, one file per estimator: ``build(tally, *, ...) -> pm.Model``.

Importing this package imports no builder and no PyMC; a builder is imported when it is first named. The modules of
``shared``, ``scales`` among them, need NumPy and xarray only.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        complete_pooling,
        confusion,
        crossed_effects,
        disagreement,
        james_stein,
        model_based_metrics,
        no_pooling,
        partial_pooling,
        structured_regression,
    )
    from .shared import scales

__all__ = [
    "complete_pooling", "confusion", "crossed_effects", "disagreement", "james_stein", "model_based_metrics", "no_pooling",
    "partial_pooling", "scales", "structured_regression",
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    """Import a listed submodule when it is first used as an attribute."""
    if name == "scales":
        return import_module(f"{__name__}.shared.scales")
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
