"""The answer to a group-by as arrays: attributes by code, labels as they are, sums as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray


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

    def where(self, kept: NDArray[np.bool_]) -> Cells:
        """The cells that are kept, (cell,); keys stay, even those without a cell."""
        labels = {
            name: [v for v, keep in zip(values, kept, strict=True) if keep] for name, values in self.labels.items()
        }
        return Cells(self.keys, self.code[kept], {name: values[kept] for name, values in self.table.items()}, labels)


def read_cells(grouped: nw.DataFrame[Any], keys: Sequence[str], labels: Sequence[str]) -> Cells:
    """The answer to a group-by: ``keys`` name its attributes, ``labels`` its other keys; the rest are sums."""
    codes = [_factorized(grouped[key]) for key in keys]
    together = np.zeros(len(grouped), dtype=np.intp)
    for values, code in codes:
        together = together * max(len(values), 1) + code
    unique, code = np.unique(together, return_inverse=True)
    places = np.unravel_index(unique, [max(len(values), 1) for values, _ in codes]) if len(unique) else []
    columns = list(
        zip(*[[values[j] for j in place] for (values, _), place in zip(codes, places, strict=False)], strict=True)
    )
    rest = [name for name in grouped.columns if name not in (*keys, *labels)]
    table = {name: grouped[name].cast(nw.Float64).to_numpy().astype(np.float64) for name in rest}
    named = {name: _plain_values(grouped[name]) for name in labels}
    return Cells(columns, code.astype(np.intp), table, named)


def _factorized(column: nw.Series[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values of a column and which of them each row has."""
    native = column.to_native()
    if column.implementation.is_pandas():  # large answers without a Python object per row
        code, distinct = pd.factorize(native, use_na_sentinel=False)
        values = distinct.tolist()
    elif column.implementation.is_pyarrow() and column.dtype != nw.Categorical:
        encoded = native.combine_chunks().dictionary_encode(null_encoding="encode")
        code, values = encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    else:
        values = column.to_list()
        code = np.arange(len(values))
    seen: dict[Any, int] = {}
    place = np.array([seen.setdefault(_plain(value), len(seen)) for value in values], dtype=np.intp)
    return list(seen), place[code] if len(values) else place


def _plain(value: Any) -> Any:
    """A value as it is, and ``None`` for every kind of nothing."""
    return value if isinstance(value, str) or not pd.isna(value) else None


def _plain_values(column: nw.Series[Any]) -> list[Any]:
    values = column.to_list()
    whole = column.null_count() == 0 and not column.dtype.is_float()
    return values if whole else [_plain(value) for value in values]
