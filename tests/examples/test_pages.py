"""Pages of examples: prose by hand, numbers in blocks that programs fill in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from examples.pages import BEGIN, PAGES, blocks, fill, filled, table

PAGE = "# Title\n\nProse.\n\n<!-- numbers: a -->\n\n| 1 |\n\n<!-- end -->\n\n<!-- numbers: b -->\n\nx\n\n<!-- end -->\n"


def test_blocks_are_replaced_and_prose_stays() -> None:
    made = filled(PAGE, {"a": "new", "b": "| 2 |\n| 3 |\n"})
    assert blocks(made) == {"a": "new", "b": "| 2 |\n| 3 |"}
    assert filled(made, blocks(PAGE)) == PAGE
    assert filled(PAGE, {"a": r"\1 \\*", "b": ""}).count(r"\1 \\*") == 1, "texts are no patterns"


@pytest.mark.parametrize(
    ("page", "numbers", "message"),
    [
        (PAGE, {"a": ""}, "the block 'b' of the page is not computed; computed are a"),
        (PAGE, {"a": "", "b": "", "c": ""}, "the page has no block 'c'; add a line <!-- numbers: c -->"),
        (PAGE + PAGE, {}, "the block 'a' comes 2 times"),
        (PAGE.replace("<!-- end -->", "", 1), {}, "the block 'a' has no end"),
        ("<!-- numbers: a -->\n", {}, "the block 'a' has no end"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(page: str, numbers: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        filled(page, numbers)


def test_a_page_is_filled_from_its_own_prose_or_from_that_of_another(tmp_path: Path) -> None:
    page, other = tmp_path / "page.md", tmp_path / "new" / "other.md"
    page.write_text(PAGE, encoding="utf-8")
    fill(other, {"a": "1", "b": "2"}, prose=page)
    assert blocks(other.read_text(encoding="utf-8")) == {"a": "1", "b": "2"}
    assert page.read_text(encoding="utf-8") == PAGE
    with pytest.raises(InputError, match="the page has no block 'c'") as raised:
        fill(page, {"a": "", "b": "", "c": ""})
    assert raised.value.__notes__ == [f"page {str(page)!r}"]
    with pytest.raises(InputError, match=r"missing\.md' is not there; its prose is written by hand"):
        fill(tmp_path / "missing.md", {})


def test_a_table_has_a_cell_for_every_value() -> None:
    assert table(["name", ""], [["a", 1]]).splitlines() == ["| name |  |", "| --- | --- |", "| a | 1 |"]


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_blocks_of_the_pages_are_whole_and_filled(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = blocks(text)
    assert len(shown) == len(BEGIN.findall(text)) == len(re.findall("<!-- end -->", text))
    assert all(shown.values())
