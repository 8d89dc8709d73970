"""The answer to a group-by as arrays: attributes by code, labels as they are, sums as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """Sums by key: ``keys`` are the distinct ones, ``code`` (cell,) which of them a cell has, ``table`` arrays (cell,)."""

    keys: list[tuple[Any, ...]]
    code: NDArray[np.intp]
    table: dict[str, FloatArray]
    labels: dict[str, list[Any]] = field(default_factory=dict)

    def whole_keys(self) -> list[tuple[Any, ...]]:
        """Attributes and labels of each cell."""
        return [(*self.keys[code], *rest) for code, *rest in zip(self.code, *self.labels.values(), strict=True)]


def read_cells(grouped: nw.DataFrame[Any], keys: Sequence[str], labels: Sequence[str]) -> Cells:
    """The answer to a group-by: ``keys`` name its attributes, ``labels`` its other keys; the rest are sums."""
    codes = [_factorized(grouped[key]) for key in keys]
    together = np.zeros(len(grouped), dtype=np.intp)
    for values, code in codes:
        together = together * max(len(values), 1) + code
    unique, code = np.unique(together, return_inverse=True)
    places = np.unravel_index(unique, [max(len(values), 1) for values, _ in codes]) if len(unique) else []
    found = list(
        zip(*[[values[j] for j in place] for (values, _), place in zip(codes, places, strict=False)], strict=True)
    )
    rest = [name for name in grouped.columns if name not in (*keys, *labels)]
    table = {name: grouped[name].cast(nw.Float64).to_numpy().astype(np.float64) for name in rest}
    named = {name: [_plain(value) for value in grouped[name].to_list()] for name in labels}
    return Cells(found, code.astype(np.intp), table, named)


def _factorized(column: nw.Series[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values of a column and which of them each row has."""
    seen: dict[Any, int] = {}
    if (
        column.implementation.is_pyarrow() and column.dtype != nw.Categorical
    ):  # large answers without a Python object per row
        encoded = column.to_native().combine_chunks().dictionary_encode(null_encoding="encode")
        values = [_plain(value) for value in encoded.dictionary.to_pylist()]
        code = np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.intp)
        return list(seen), code[encoded.indices.to_numpy(zero_copy_only=False)] if values else code
    place = [seen.setdefault(_plain(value), len(seen)) for value in column.to_list()]
    return list(seen), np.array(place, dtype=np.intp)


def _plain(value: Any) -> Any:
    """A value as it is, and ``None`` for every kind of nothing."""
    return value if isinstance(value, str) or not pd.isna(value) else None
