"""Names of files: an ending of another format is refused where a file is written, and none is needed where one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bayesgroups.errors import InputError

Format = Literal["NetCDF4", "HTML"]
ENDINGS: dict[Format, tuple[str, ...]] = {"NetCDF4": (".nc", ".nc4", ".netcdf"), "HTML": (".html", ".htm", ".xhtml")}
"""Endings of the formats that are written under any name."""
OTHER = frozenset({
    ".arrow", ".csv", ".doc", ".docx", ".feather", ".gz", ".json", ".jsonl", ".md", ".npy", ".npz", ".parquet", ".pdf", ".pickle",
    ".pkl", ".png", ".pq", ".rds", ".svg", ".tex", ".toml", ".tsv", ".txt", ".xls", ".xlsx", ".yaml", ".yml", ".zip",
})  # fmt: skip
"""Endings of other formats; any other ending is a part of a name, as in ``fnr.2024``."""
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""The first bytes of every NetCDF4 file."""


def check_ending(path: str | Path, what: str, written: Format) -> None:
    """Refuse a name with the ending of another format than the one in which ``what`` is written.

    >>> check_ending("fnr.2024", "a tally", "NetCDF4")
    >>> check_ending("fnr.csv", "a tally", "NetCDF4")
    Traceback (most recent call last):
    bayesgroups.errors.InputError: file 'fnr.csv': a tally is written as NetCDF4, which is no .csv; name it 'fnr.nc'
    """
    target = Path(path)
    foreign = OTHER.union(*(endings for name, endings in ENDINGS.items() if name != written))
    if target.suffix.lower() in foreign:
        raise InputError(
            f"file {str(target)!r}: {what} is written as {written}, which is no {target.suffix}; name it "
            f"{str(target.with_suffix(ENDINGS[written][0]))!r}"
        )


def is_netcdf(path: Path) -> bool:
    """True of a file that has the ending of a NetCDF file, or is one under another name.

    >>> is_netcdf(Path("nowhere.nc")), is_netcdf(Path("rows.csv"))
    (True, False)
    """
    if path.suffix.lower() in ENDINGS["NetCDF4"]:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:  # no file, a pattern or a folder of rows
        return False
