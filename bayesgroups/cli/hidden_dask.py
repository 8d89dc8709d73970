"""Dask, hidden from xarray in a process of the command line, where no command hands one array of Dask to the other.

xarray imports Dask wherever it is installed, even to write NumPy arrays, which takes as long as everything else together.
"""

from __future__ import annotations

import sys
from typing import Any, cast

_MODULES = cast("dict[str, Any]", sys.modules)


def hide_dask() -> None:
    """Let Dask seem not installed from now on, unless it is loaded already."""
    _MODULES.setdefault("dask", None)


def show_dask() -> None:
    """Let it be imported again, for code that is not of this package."""
    if "dask" in _MODULES and _MODULES["dask"] is None:
        del _MODULES["dask"]
