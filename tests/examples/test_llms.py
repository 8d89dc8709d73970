"""The plain list of pages: that of the pages that are there, and the keys of the paper."""

from __future__ import annotations

import re
from pathlib import Path

from examples.evidence import llms


def test_the_list_is_that_of_the_pages(tmp_path: Path) -> None:
    """Made by ``python -m examples.evidence.llms --output docs/llms.txt``."""
    llms.main(["--output", str(tmp_path / "llms.txt")])
    assert (tmp_path / "llms.txt").read_bytes() == (llms.DOCS / "llms.txt").read_bytes()


def test_the_paper_cites_what_its_bibliography_has() -> None:
    paper, library = ((llms.DOCS / "paper" / f"paper.{end}").read_text(encoding="utf-8") for end in ("md", "bib"))
    assert set(re.findall(r"@(\w+)[\];]", paper)) == set(re.findall(r"^@misc\{(\w+),", library, re.MULTILINE))
