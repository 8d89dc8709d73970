"""Answers as files: NetCDF with everything, JSON in the one shape, CSV of the largest table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesgroups.data.csv_files import write_csv
from bayesgroups.data.files import write_text
from bayesgroups.data.netcdf import write_netcdf
from bayesgroups.data.outputs import check_ending
from bayesgroups.views.tables.descriptions import described
from bayesgroups.views.tables.records import answer_document, as_text

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".nc", ".json", ".csv")

SEVERAL = frozenset({"level", "standard"})
"""Dims along which an answer repeats what it says of the same rows."""


def save_answer(
    answer: xr.Dataset,
    question: str,
    path: str | Path,
    *,
    usable: bool | None = None,
    escape_formulas: bool = False,
) -> Path:
    """Write the answer of a public function, whole or not at all, in the form that the ending of the file says.

    Parameters
    ----------
    answer : xr.Dataset
        The answer.
    question : str
        Name of the function.
    path : str or Path
        The file: ``.nc``, ``.json`` or ``.csv``, which has the table of most dims, with what smaller ones say of its subgroups,
        and in every row the estimand and the level, kind and method of the limits.
    usable : bool, optional
        Whether the report behind it passed its diagnostics.
    escape_formulas : bool
        As in `bayesgroups.views.tables.exports.export_report`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the ending is another one or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> found = xr.Dataset({"rank": ("subgroup", [2.0, 1.0])}, {"subgroup": ["a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_answer(found, "ranks", Path(folder) / "ranks.csv").read_text().split()
    ['subgroup,rank', 'a,2.0', 'b,1.0']
    """
    target = Path(path)
    ending = check_ending(target, "an answer", ENDINGS)
    if ending == ".nc":
        return write_netcdf(target, _storable(answer))
    document = answer_document(answer, question, usable=usable)
    if ending == ".json":
        return write_text(target, as_text(document) + "\n")
    return write_csv(target, _frame(answer, document), escape_formulas=escape_formulas)


def _frame(answer: xr.Dataset, document: dict[str, Any]) -> pd.DataFrame:
    """The table of most dims, what smaller ones say of its rows or subgroups, and in every row the description of its limits."""
    import pandas as pd

    largest = max(document["tables"], key=lambda table: len(table["dims"]))
    frame = pd.DataFrame(largest["records"]).drop(columns="nulls", errors="ignore")
    for table in document["tables"]:
        dims = table["dims"]
        finer = set(largest["dims"]) - set(dims)
        told = "subgroup" in dims or (dims and finer <= SEVERAL)
        if table is not largest and told and set(dims) <= set(largest["dims"]):
            smaller = pd.DataFrame(table["records"])
            added = [name for name in table["values"] if name not in frame]
            frame = frame.merge(smaller[[*dims, *added]], how="left", on=dims)
    for name, values in reversed(described(answer).items()):
        if name not in frame and set(values.dims) <= set(largest["dims"]):
            frame.insert(len(largest["dims"]), name, _repeated(answer, values, largest))
    return frame


def _repeated(answer: xr.Dataset, values: xr.DataArray, table: dict[str, Any]) -> list[object]:
    """A description for every record of a table."""
    filled = values.broadcast_like(answer[table["values"][0]]).transpose(*table["dims"])
    return list(filled.values.ravel().tolist())


def _storable(answer: xr.Dataset) -> xr.Dataset:
    """With attributes as NetCDF has them: numbers and texts."""
    stored = answer.copy()
    stored.attrs = _attributes(answer.attrs)
    for name in stored.variables:
        stored[name].attrs = _attributes(stored[name].attrs)
    return stored


def _attributes(given: dict[str, object]) -> dict[str, object]:
    plain = {name: int(value) if isinstance(value, bool) else value for name, value in given.items()}
    return {name: value if isinstance(value, str | int | float) else str(value) for name, value in plain.items()}
