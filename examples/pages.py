"""Numbers in the pages of examples: the prose stands in Markdown, and a program fills in what it has computed.

A block of a page between ``<!-- numbers: NAME -->`` and ``<!-- end -->`` belongs to the program; all else is written by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bayesgroups.errors import InputError
from examples.records import write

PAGES = Path(__file__).parents[1] / "docs" / "examples"
"""Folder of the pages."""
BEGIN = re.compile(r"^<!-- numbers: (?P<name>.+) -->$", re.MULTILINE)
BLOCK = re.compile(BEGIN.pattern + r"\n(?P<text>(?:(?!<!-- ).*\n)*)<!-- end -->$", re.MULTILINE)


def blocks(page: str) -> dict[str, str]:
    r"""Texts of the marked blocks of a page by name.

    Raises
    ------
    InputError
        If a block has no end, or a name comes twice.

    Examples
    --------
    >>> blocks("Prose.\n\n<!-- numbers: errors -->\n\n| a |\n\n<!-- end -->\n")
    {'errors': '| a |'}
    """
    begun = Counter(match["name"] for match in BEGIN.finditer(page))
    ended = Counter(match["name"] for match in BLOCK.finditer(page))
    for name, number in begun.items():
        if number > 1:
            raise InputError(f"the block {name!r} comes {number} times; give each block of a page a name of its own")
        if name not in ended:
            raise InputError(f"the block {name!r} has no end; close it with a line <!-- end --> before the next begins")
    return {match["name"]: match["text"].strip() for match in BLOCK.finditer(page)}


def filled(page: str, numbers: Mapping[str, str]) -> str:
    r"""The page with these texts in its blocks.

    Parameters
    ----------
    page : str
        Markdown with marked blocks.
    numbers : mapping of str to str
        Text of every block by name.

    Raises
    ------
    InputError
        If a block has no text, a text has no block, a block has no end, or a name comes twice.

    Examples
    --------
    >>> page = "Prose.\n\n<!-- numbers: errors -->\n\nold\n\n<!-- end -->\n"
    >>> blocks(filled(page, {"errors": "new"}))
    {'errors': 'new'}
    """
    names = set(blocks(page))
    for name in sorted(names - set(numbers)):
        raise InputError(f"the block {name!r} of the page is not computed; computed are {', '.join(numbers)}")
    for name in sorted(set(numbers) - names):
        raise InputError(f"the page has no block {name!r}; add a line <!-- numbers: {name} --> and a line <!-- end -->")
    return BLOCK.sub(
        lambda match: f"<!-- numbers: {match['name']} -->\n\n{numbers[match['name']].strip()}\n\n<!-- end -->", page
    )


def fill(path: Path, numbers: Mapping[str, str], *, prose: Path | None = None) -> None:
    """Write a page with its numbers.

    Parameters
    ----------
    path : Path
        The page.
    numbers : mapping of str to str
        Text of every block by name.
    prose : Path, optional
        The page that has the prose, if it is another one.

    Raises
    ------
    InputError
        If there is no page with the prose, or its blocks are not those of the numbers.
    """
    source = path if prose is None else prose
    if not source.is_file():
        raise InputError(f"page {str(source)!r} is not there; its prose is written by hand, and numbers are filled in")
    try:
        text = filled(source.read_text(encoding="utf-8"), numbers)
    except InputError as problem:
        problem.add_note(f"page {str(source)!r}")
        raise
    write(path, text)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table in Markdown.

    Examples
    --------
    >>> table(["a", "b"], [[1, 2]])
    '| a | b |\n| --- | --- |\n| 1 | 2 |'
    """
    lines: list[Sequence[object]] = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
