"""CSV files, whole or not at all, with cells that a spreadsheet would compute as formulas turned into text on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesgroups.data.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

FORMULA_OPENINGS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of the cells that spreadsheets take for formulas."""


def write_csv(path: str | Path, frame: pd.DataFrame, *, escape_formulas: bool) -> Path:
    r"""Write a frame without its index, in UTF-8, with the same bytes on every system.

    With ``escape_formulas`` texts and heads of columns that open like a formula, and are no numbers, get a leading apostrophe.

    >>> import tempfile, pandas as pd
    >>> frame = pd.DataFrame({"site": ["=1+1", "-", "-2"], "value": [-1.0, 2.0, 3.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(Path(folder) / "sites.csv", frame, escape_formulas=True).read_text().split()
    ['site,value', "'=1+1,-1.0", "'-,2.0", '-2,3.0']
    """
    safe = _escaped(frame) if escape_formulas else frame
    return write_atomically(path, lambda place: safe.to_csv(place, index=False, lineterminator="\n"))


def _escaped(frame: pd.DataFrame) -> pd.DataFrame:
    from pandas.api.types import is_numeric_dtype

    safe = frame.rename(columns=_escape)
    for position, dtype in enumerate(frame.dtypes):
        if not is_numeric_dtype(dtype):
            safe.isetitem(position, frame.iloc[:, position].astype(object).map(_escape))
    return safe


def _escape(cell: object) -> object:
    if not isinstance(cell, str) or not cell.startswith(FORMULA_OPENINGS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
