"""Tables that are read off a record are those of the record."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.evidence import record_tables
from examples.pages import blocks


@pytest.mark.parametrize(("name", "numbers"), record_tables.PAGES.items(), ids=list(record_tables.PAGES))
def test_tables_of_a_page_are_those_of_its_record(name: str, numbers: Callable[[], dict[str, str]]) -> None:
    assert blocks((record_tables.DOCS.parent / name).read_text(encoding="utf-8")) == numbers()


def test_the_command_writes_the_tables_again(tmp_path: Path) -> None:
    for name in record_tables.PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(record_tables.DOCS.parent / name, tmp_path / name)
    name = "docs/estimators/james_stein.md"
    page = tmp_path / name
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole.replace("| `morris` | 95.3 |", "| `morris` | 1.0 |"), encoding="utf-8")
    record_tables.main(["--docs", str(tmp_path / "docs")])
    assert page.read_text(encoding="utf-8") == whole
