"""One CSV file on this machine, read as text, with errors that name the file and the column."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import pandas as pd


def read_columns(path: str | Path, file: str, columns: Sequence[str]) -> pd.DataFrame:
    r"""Read some columns of a CSV file as text.

    Parameters
    ----------
    path : str or Path
        The file, or the folder that holds it, compressed (``.gz``) or not.
    file : str
        Name of the file in a folder.
    columns : sequence of str
        Columns to read; they are returned in this order.

    Returns
    -------
    pandas DataFrame
        Text throughout; empty where the file has nothing.

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, has no rows, or lacks columns, all of which are named.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("sex,age\nf,30\n")
    ...     read_columns(folder, "people.csv", ["age"])["age"].tolist()
    ['30']
    """
    import pandas as pd

    source = _find(Path(path), file)
    try:
        raw = pd.read_csv(source, dtype=str, keep_default_na=False)
    except (
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        UnicodeDecodeError,
        pd.errors.ParserError,
        pd.errors.EmptyDataError,
    ) as problem:
        raise InputError(f"{str(source)!r} cannot be read as CSV ({problem})") from problem
    present = [str(name) for name in raw.columns]
    absent = [name for name in columns if name not in present]
    if absent:
        word = "column" if len(absent) == 1 else "columns"
        suggestion = near_misses(absent[0], present)
        raise InputError(f"{str(source)!r} has no {word} {', '.join(map(repr, absent))}; {suggestion}")
    if len(raw) == 0:
        raise InputError(f"{str(source)!r} has no rows")
    return raw.loc[:, list(columns)]


def whole_numbers(raw: pd.DataFrame, column: str) -> NDArray[np.int64]:
    """Turn a column of text into whole numbers, 0 or larger.

    Raises
    ------
    InputError
        If a value is none; it is named.

    Examples
    --------
    >>> import pandas as pd
    >>> whole_numbers(pd.DataFrame({"age": ["30", "41"]}), "age").tolist()
    [30, 41]
    """
    values: list[str] = raw[column].tolist()
    strange = next((value for value in values if not (value.isascii() and value.isdecimal())), None)
    if strange is not None:
        raise InputError(f"column {column!r} has value {strange!r}; expected a whole number")
    return np.array([int(value) for value in values], dtype=np.int64)


def _find(path: Path, file: str) -> Path:
    candidates = [path] if not path.is_dir() else [path / file, path / f"{file}.gz"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise InputError(
        f"no file {' or '.join(repr(str(candidate)) for candidate in candidates)}; give the path of {file}"
    )
