"""Answers as files: NetCDF with everything, JSON in the one shape, CSV of the largest table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesgroups.data.csv_files import write_csv
from bayesgroups.data.files import write_text
from bayesgroups.data.netcdf import write_netcdf
from bayesgroups.data.outputs import check_ending
from bayesgroups.views.tables.records import answer_document, as_text

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".nc", ".json", ".csv")
DESCRIPTIONS = ("estimand", "interval_kind", "interval_method")
"""Variables or attributes that every row of a CSV file repeats, for it has nowhere else to name them."""


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
        The file: ``.nc``, ``.json`` or ``.csv``, which has the table of most dims, with the estimand and the intervals in
        every row.
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
    """The table of most dims, with the descriptions in every row."""
    import pandas as pd

    largest = max(document["tables"], key=lambda table: len(table["dims"]))
    frame = pd.DataFrame(largest["records"]).drop(columns="nulls", errors="ignore")
    for name in reversed(DESCRIPTIONS):
        if name not in frame and (words := _repeated(answer, name, largest)) is not None:
            frame.insert(len(largest["dims"]), name, words)
    return frame


def _repeated(answer: xr.Dataset, name: str, table: dict[str, Any]) -> list[str] | None:
    """A description for every record of a table; nothing where the answer does not have it for each."""
    if name in answer.attrs:
        return [str(answer.attrs[name])] * len(table["records"])
    if name not in answer.data_vars or not set(answer[name].dims) <= set(table["dims"]):
        return None
    filled = answer[name].broadcast_like(answer[table["values"][0]]).transpose(*table["dims"])
    return [str(word) for word in filled.values.ravel()]


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
