"""Names of files are names, also where they look like patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError
from tests.tallies.engines import need


@pytest.mark.parametrize("name", ["z*.csv", "[z]z.csv", "z?.csv", "**.csv", "it's.csv", "z\\z.csv"])
def test_every_file_of_a_folder_is_read_once(name: str, tmp_path: Path) -> None:
    need("duckdb")
    (tmp_path / name).write_text("site,p\n" + "a,1\n" * 3)
    (tmp_path / "zz.csv").write_text("site,p\n" + "b,0\n" * 5)
    found = bg.tally(tmp_path, ["site"], ["sel"], y_pred="p")
    assert dict(zip(found["site"].values.tolist(), found["rows"].values.tolist(), strict=True)) == {"a": 3, "b": 5}


def test_folders_with_brackets(tmp_path: Path) -> None:
    need("duckdb")
    for folder, rows in (("day[1]", 3), ("day1", 7)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.csv").write_text("site,p\n" + "a,1\n" * rows)
    found = bg.tally(tmp_path / "day[1]", ["site"], ["sel"], y_pred="p")
    assert found["rows"].values.tolist() == [3]


def test_a_name_that_duckdb_cannot_take_is_refused(tmp_path: Path) -> None:
    need("duckdb")
    for name in ("[\\].csv", "b.csv"):
        (tmp_path / name).write_text("site,p\na,1\n")
    with pytest.raises(InputError, match=r"takes its name for 0 files; rename the file"):
        bg.tally(tmp_path, ["site"], ["sel"], y_pred="p")
