"""Answers for machines: one shape of JSON for every question, no NaN in it, and a reason beside every null."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

SCHEMA = "bayesgroups.answer"
SCHEMA_VERSION = 1
WHY = ("reason", "note", "status")
"""Variables that say why a number is missing, the first that has something to say."""
NO_REASON = "undefined"

Record = dict[str, Any]


def answer_document(answer: xr.Dataset, question: str, *, usable: bool | None = None) -> Record:
    """An answer as plain data, which `json` writes.

    Parameters
    ----------
    answer : xr.Dataset
        The answer of a public function.
    question : str
        Name of the function.
    usable : bool, optional
        Whether the report behind it passed its diagnostics, where there is one.

    Returns
    -------
    dict
        ``schema``, ``schema_version``, ``question``, ``usable`` (or null), ``attributes`` and ``tables``: one table per
        set of dims that variables share, with its ``dims``, the names of its ``values`` and its ``records``, one per
        combination of coordinates. NaN and infinite numbers are null, and then the record has ``nulls``, which maps the name of
        the value to the reason.

    Examples
    --------
    >>> data = {"value": ("metric", [0.25, np.nan]), "reason": ("metric", ["", "one subgroup"])}
    >>> found = xr.Dataset(data, {"metric": ["a", "b"]})
    >>> for record in answer_document(found, "disparity")["tables"][0]["records"]:
    ...     print(record)
    {'metric': 'a', 'value': 0.25, 'reason': ''}
    {'metric': 'b', 'value': None, 'reason': 'one subgroup', 'nulls': {'value': 'one subgroup'}}
    """
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "usable": usable,
        "attributes": {str(name): _attribute(value) for name, value in answer.attrs.items()},
        "tables": tables(answer),
    }


def tables(answer: xr.Dataset) -> list[Record]:
    """The variables of a dataset as tables of records, one table per set of dims; those of draws are left out.

    >>> [table["dims"] for table in tables(xr.Dataset({"a": 1.0, "b": ("x", [2.0])}, {"x": ["p"]}))]
    [[], ['x']]
    """
    shared: dict[tuple[str, ...], list[str]] = {}
    for name, values in answer.data_vars.items():
        if "draw" not in values.dims:
            shared.setdefault(tuple(sorted(map(str, values.dims), key=list(map(str, answer.dims)).index)), []).append(
                str(name)
            )
    return [_table(answer, dims, names) for dims, names in sorted(shared.items(), key=lambda item: len(item[0]))]


def remarks_of(answer: xr.Dataset, values: Sequence[str], dims: Iterable[Hashable]) -> xr.DataArray | None:
    """Reasons and notes of an answer beside the numbers of a table; nothing where it has none.

    ``values`` are the numbers of the table, ``dims`` those it varies along. A status is said only where nothing else explains that
    all numbers are missing.

    >>> answer = xr.Dataset({"value": ("x", [1.0, np.nan]), "reason": ("x", ["", "no rows"]), "note": ("x", ["few rows", ""])})
    >>> remarks_of(answer, ["value"], ["x"]).values.tolist()
    ['few rows', 'no rows']
    """
    along = set(dims)
    texts = [answer[name] for name in WHY if name in answer and set(answer[name].dims) <= along]
    if not texts:
        return None
    missing = xr.DataArray(True)
    for name in values:
        if answer[name].dtype.kind == "f" and set(answer[name].dims) & along:
            missing = missing & answer[name].isnull()
    joined, *rest = xr.broadcast(xr.DataArray(""), *texts, missing)
    *texts, missing = rest
    lines = np.empty(joined.shape, dtype=object)
    for place in np.ndindex(*joined.shape):
        words = [(text.name, str(text.values[place])) for text in texts]
        parts = [word for name, word in words if word and name != "status"]
        if not parts and missing.values[place]:
            parts = [word for name, word in words if name == "status" and word != "ok"]
        lines[place] = "; ".join(dict.fromkeys(parts))
    return xr.DataArray(lines.astype(str), dims=joined.dims) if any(lines.ravel()) else None


def as_text(document: Mapping[str, Any]) -> str:
    """A document as JSON: keys in their order, letters as they are, numbers that read back as the same."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _table(answer: xr.Dataset, dims: tuple[str, ...], names: list[str]) -> Record:
    part = answer[names].transpose(*dims, missing_dims="ignore")
    along = {
        str(name): values
        for name, values in answer.coords.items()
        if values.ndim == 1 and name not in dims and set(values.dims) <= set(dims)
    }
    why = [(name, answer[name]) for name in WHY if name in answer and set(answer[name].dims) <= set(dims)]
    records = []
    for place in np.ndindex(*(answer.sizes[dim] for dim in dims)):
        at: dict[Hashable, int] = dict(zip(dims, place, strict=True))
        record: Record = {
            dim: _plain(answer[dim].values[at[dim]])[0] if dim in answer.coords else at[dim] for dim in dims
        }
        record |= {
            name: _plain(values.values[at[values.dims[0]]])[0] for name, values in along.items() if name not in record
        }
        nulls = {}
        for name in names:
            record[name], problem = _plain(part[name].values[place])
            if problem:
                nulls[name] = next(_said(why, at), NO_REASON) if problem == NO_REASON else problem
        records.append(record | ({"nulls": nulls} if nulls else {}))
    return {"dims": list(dims), "values": names, "records": records}


def _said(why: list[tuple[str, xr.DataArray]], at: Mapping[Hashable, int]) -> Iterator[str]:
    for name, values in why:
        text = str(values.values[tuple(at[dim] for dim in values.dims)])
        if text and not (name == "status" and text == "ok"):
            yield text


def _plain(value: object) -> tuple[object, str]:
    """A value that JSON has, and what is wrong where it has none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None, NO_REASON if math.isnan(value) else ("infinite" if value > 0 else "minus infinite")
    return (value, "") if isinstance(value, str | int | float | bool) else (str(value), "")


def _attribute(value: object) -> object:
    """An attribute; settings that are kept as JSON are opened."""
    if isinstance(value, str) and value[:1] in "{[" and value:
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item)[0] for item in value]
    return _plain(value)[0]
