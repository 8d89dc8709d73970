"""Names of NetCDF files: an ending of another format is refused where a file is written, and none is needed where one is read."""

from __future__ import annotations

from pathlib import Path

from bayesgroups.errors import InputError

ENDINGS = (".nc", ".nc4", ".netcdf")
"""Endings of NetCDF files."""
OTHER = frozenset({
    ".arrow", ".csv", ".doc", ".docx", ".feather", ".gz", ".htm", ".html", ".json", ".jsonl", ".md", ".npy", ".npz", ".parquet",
    ".pdf", ".pickle", ".pkl", ".png", ".pq", ".rds", ".svg", ".tex", ".toml", ".tsv", ".txt", ".xls", ".xlsx", ".yaml", ".yml",
    ".zip",
})  # fmt: skip
"""Endings of other formats; any other ending is a part of a name, as in ``fnr.2024``."""
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""The first bytes of every NetCDF4 file."""


def check_netcdf_name(path: str | Path, what: str) -> None:
    """Refuse a name with the ending of another format for ``what`` is written as NetCDF.

    >>> check_netcdf_name("fnr.2024", "a tally")
    >>> check_netcdf_name("fnr.csv", "a tally")
    Traceback (most recent call last):
    bayesgroups.errors.InputError: file 'fnr.csv': a tally is written as NetCDF4, which is no .csv; name it 'fnr.nc'
    """
    target = Path(path)
    if target.suffix.lower() in OTHER:
        raise InputError(
            f"file {str(target)!r}: {what} is written as NetCDF4, which is no {target.suffix}; name it "
            f"{str(target.with_suffix(ENDINGS[0]))!r}"
        )


def is_netcdf(path: Path) -> bool:
    """True of a file that has the ending of a NetCDF file, or is one under another name.

    >>> is_netcdf(Path("nowhere.nc")), is_netcdf(Path("rows.csv"))
    (True, False)
    """
    if path.suffix.lower() in ENDINGS:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:  # no file, a pattern or a folder of rows
        return False
