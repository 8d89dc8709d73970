"""Files of rows by their names, and the columns that the first line of a CSV file names, without a library of dataframes."""

from __future__ import annotations

import csv
import glob
import zlib
from pathlib import Path
from typing import TextIO

PARQUET, CSV = (".parquet", ".pq"), (".csv", ".csv.gz")


def file_kind(name: str) -> str | None:
    """``"parquet"`` or ``"csv"`` by the suffix of a name, ``None`` for any other."""
    if name.lower().endswith(PARQUET):
        return "parquet"
    return "csv" if name.lower().endswith(CSV) else None


def files_named(path: str | Path) -> list[str] | None:
    """The files of rows of a directory or a pattern such as ``"rows/*.parquet"``, in order; ``None`` for any other path."""
    text = str(path)
    if glob.has_magic(text) and not Path(text).exists():
        return sorted(glob.glob(text, recursive=True))  # noqa: PTH207  (Path.glob() takes no absolute patterns)
    if Path(text).is_dir():
        return sorted(str(file) for file in Path(text).rglob("*") if file_kind(file.name) and not _hidden(file, text))
    return None


def csv_header(path: Path) -> list[str] | None:
    r"""The columns of a CSV file, which may be compressed, by its first line that is not blank.

    ``None`` where only a reader of the whole file can tell: a file of another kind or that cannot be read, and a line in which a
    name is empty or occurs twice, for which readers make up names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "rows.csv"
    ...     _ = file.write_text('sex,"age, years",outcome\nf,30,1\n')
    ...     csv_header(file)
    ['sex', 'age, years', 'outcome']
    """
    if file_kind(path.name) != "csv":
        return None
    try:
        with _text(path) as file:
            names = next(filter(None, csv.reader(file)), [])
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error):
        return None
    return names if names and all(names) and len(set(names)) == len(names) else None


def _text(path: Path) -> TextIO:
    if not path.name.lower().endswith(".gz"):
        return path.open(encoding="utf-8-sig", newline="")
    import gzip

    return gzip.open(path, "rt", encoding="utf-8-sig", newline="")


def _hidden(path: Path, root: str) -> bool:
    """Files and directories that other programs keep for themselves."""
    return any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
