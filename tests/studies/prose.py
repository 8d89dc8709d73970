"""The prose of a page, without what programs fill in."""

from __future__ import annotations

from examples.pages import blocks, filled


def prose(page: str) -> str:
    """The page with empty blocks."""
    return filled(page, dict.fromkeys(blocks(page), ""))
