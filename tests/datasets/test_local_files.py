"""Columns of a file on this machine: what is read, and what is said when it cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.data.local_files import read_columns, whole_numbers


def test_a_folder_or_a_file_compressed_or_not(tmp_path: Path) -> None:
    text = "a,b\nNone,1\n,2\n"
    (tmp_path / "plain.csv").write_text(text)
    with gzip.open(tmp_path / "packed.csv.gz", "wt") as file:
        file.write(text)
    for path, name in ((tmp_path, "plain.csv"), (tmp_path, "packed.csv"), (tmp_path / "packed.csv.gz", "any.csv")):
        found = read_columns(path, name, ["b", "a"])
        assert found.columns.tolist() == ["b", "a"]
        assert found["a"].tolist() == ["None", ""]


def test_all_missing_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("gendr,age\nf,3\n")
    with pytest.raises(InputError, match=r"has no column 'gender'; did you mean 'gendr'\?"):
        read_columns(tmp_path, "people.csv", ["gender", "age"])
    with pytest.raises(InputError, match="has no columns 'gender', 'race'"):
        read_columns(tmp_path, "people.csv", ["gender", "age", "race"])


def test_what_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file .*people\.csv' or .*people\.csv\.gz'; give the path of people\.csv"):
        read_columns(tmp_path, "people.csv", ["a"])
    (tmp_path / "people.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="has no rows"):
        read_columns(tmp_path, "people.csv", ["a"])
    for content in (b"", b"\xff\xfe\x00", b'a,b\n"open\n1,2,3,4\n'):
        (tmp_path / "people.csv").write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as CSV"):
            read_columns(tmp_path, "people.csv", ["a"])
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(b"a\n" * 5000)[:-20])
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_columns(tmp_path / "broken.csv.gz", "x", ["a"])


@pytest.mark.parametrize("value", ["-1", "1.5", "", "x", "²"])
def test_a_value_that_is_no_whole_number_is_named(value: str) -> None:
    with pytest.raises(InputError, match=f"column 'age' has value '{value}'; expected a whole number"):
        whole_numbers(pd.DataFrame({"age": ["3", value]}), "age")
