"""The plain list of pages: that of the pages that are there."""

from __future__ import annotations

from pathlib import Path

from examples.evidence import llms


def test_the_list_is_that_of_the_pages(tmp_path: Path) -> None:
    """Made by ``python -m examples.evidence.llms --output docs/llms.txt``."""
    llms.main(["--output", str(tmp_path / "llms.txt")])
    assert (tmp_path / "llms.txt").read_bytes() == (llms.DOCS / "llms.txt").read_bytes()
