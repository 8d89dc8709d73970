"""First lines of CSV files, read as pandas reads them or left to it."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from bayesgroups.data.row_files import csv_header, file_kind


@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n", "\n\na,b\n1,2\n", '"a, b","c""d"\n1,2\n', "\ufeffa,b\r\n1,2\r\n", " a,b \n1,2\n", "Ünï,中\n1,2\n",
     '"two\nlines",b\n1,2\n', "a,b\n0,1,2\n"],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".csv.gz"])
def test_columns_are_those_of_pandas(text: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    encoded = text.encode()
    path.write_bytes(gzip.compress(encoded) if suffix.endswith("gz") else encoded)
    assert csv_header(path) == list(pd.read_csv(path).columns)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a,a\n1,2\n", b"a,\n1,2\n", b"\xff\xfe\n"])
def test_what_takes_a_whole_reader_is_left_to_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert csv_header(path) is None


def test_files_that_cannot_be_read_are_left_too(tmp_path: Path) -> None:
    damaged = tmp_path / "rows.csv.gz"
    damaged.write_bytes(b"no gzip at all")
    shortened = tmp_path / "short.csv.gz"
    shortened.write_bytes(gzip.compress(b"a,b\n")[:12])
    other = tmp_path / "rows.parquet"
    other.write_bytes(b"PAR1")
    for path in (damaged, shortened, other, tmp_path, tmp_path / "missing.csv"):
        assert csv_header(path) is None


def test_kinds_follow_suffixes() -> None:
    assert [file_kind(name) for name in ("a.csv", "a.CSV.GZ", "a.pq", "a.parquet", "a.csv.bz2", "csv")] == [
        "csv", "csv", "parquet", "parquet", None, None,
    ]  # fmt: skip
