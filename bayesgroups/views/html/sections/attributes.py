"""Attributes of a report that hold JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import xarray as xr


def json_of(report: xr.DataTree, attribute: str, otherwise: Any) -> Any:
    """An attribute that holds JSON; ``otherwise`` where it is missing or holds something else."""
    try:
        found = json.loads(str(report.attrs[attribute]))
    except (KeyError, ValueError):
        return otherwise
    wanted = Mapping if isinstance(otherwise, dict) else list
    return found if isinstance(found, wanted) else otherwise
