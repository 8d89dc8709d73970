"""Origin of a tally as far as its variables tell: what its settings do not hold of how it was made."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.data.frames import MISSING_LEVEL
from bayesgroups.tallies.subgroups import attributes_of, level_order


def origin_of(tally: xr.Dataset) -> dict[str, Any]:
    """Attributes, levels that were declared, features, labels of judgements, and whether confusion cells are kept.

    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"age": ["young", "old"], "decision": [1, 0]})
    >>> origin_of(bg.tally(rows, {"age": ["young", "old"]}, "sel", y_pred="decision"))
    {'by': ['age'], 'levels': {'age': ['young', 'old']}, 'features': [], 'labels': [], 'confusion': False}
    """
    by = attributes_of(tally)
    features, labels = (
        tally[name].values.astype(str).tolist() if name in tally.coords else [] for name in ("feature", "label")
    )
    levels = {name: _levels(tally, name) for name in by}
    declared = {name: order for name, order in levels.items() if order != _usual(tally, name)}
    return {"by": by, "levels": declared, "features": features, "labels": labels, "confusion": "cell_count" in tally}


def _levels(tally: xr.Dataset, name: str) -> list[str]:
    """Levels in the order of the tally; that of missing ones is always there and last."""
    return [level for level in dict.fromkeys(tally[name].values.astype(str).tolist()) if level != MISSING_LEVEL]


def _usual(tally: xr.Dataset, name: str) -> list[str]:
    """Levels as rows alone give them: those with rows, numbers by size and texts by the alphabet."""
    rows = tally["rows"].groupby(name).sum() if "rows" in tally else None
    having = [level for level in _levels(tally, name) if rows is None or float(rows.sel({name: level})) > 0]
    return sorted(having, key=level_order)
