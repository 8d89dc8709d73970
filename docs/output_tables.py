"""Tables in the outputs of blocks: what a doctest shows of a data frame becomes a table of the built page.

The Markdown keeps the text that the doctest is held to, so that nothing is run or typed again when the pages are built.
"""

from __future__ import annotations

import ast
import doctest
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


def cells(text: str) -> list[list[str]]:
    """Cells of a data frame as pandas prints it, line by line; none if the lines have no blank columns in common.

    Names of columns end where their values end, so a gap below the end of a name separates columns. Before the first name it is
    the widest gap that ends the labels of rows.

    >>> cells("          a    b\\nname\\nthe 1 -0.50  2.0\\nthe 2 -1.25 -3.0\\n")
    [['', 'a', 'b'], ['name', '', ''], ['the 1', '-0.50', '2.0'], ['the 2', '-1.25', '-3.0']]
    """
    lines = text.rstrip("\n").split("\n")
    width = max(map(len, lines))
    lines = [line.ljust(width) for line in lines]
    blank = "".join(" " if set(letters) == {" "} else "x" for letters in zip(*lines, strict=True))
    first = re.compile(r"(?:\S+ )?\s*(?=\S)").match(lines[0])
    gaps = [gap.span() for gap in re.finditer(" +", blank)]
    labels = [gap for gap in gaps if first and gap[1] <= first.end()]
    if not labels:
        return []
    ended = max(labels, key=lambda gap: (gap[1] - gap[0], -gap[0]))
    gaps = [ended, *(gap for gap in gaps if gap > ended and lines[0][gap[0] - 1] != " ")]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), width]
    return [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines]


def frame(example: doctest.Example) -> list[list[str]]:
    """Cells of the data frame that an example shows; none if it shows another thing, or prints."""
    last = ast.parse(example.source).body[-1]
    printed = isinstance(last, ast.Expr) and ast.unparse(last).startswith("print(")
    if printed or not isinstance(last, ast.Expr) or example.want.count("\n") < 2 or example.exc_msg:
        return []
    return cells(example.want)


def parts(code: str) -> list[str | list[list[str]]]:
    """Code of a block in its order, as text up to a table, and the tables."""
    lines, start = code.splitlines(), 0
    pieces: list[str | list[list[str]]] = []
    for example in doctest.DocTestParser().get_examples(code):
        table = frame(example)
        if table:
            end = example.lineno + example.source.count("\n")
            pieces += ["\n".join(lines[start:end]), table]
            start = end + example.want.count("\n")
    rest = "\n".join(lines[start:]).strip("\n")
    return [*pieces, rest] if rest else pieces


def node(rows: list[list[str]]) -> nodes.table:
    """Table of cells; the name of the labels, which pandas prints in a line of its own, stands in the head."""
    if len(rows) > 1 and not any(rows[1][1:]):
        name = " / ".join(filter(None, (rows[1][0], rows[0][0])))
        rows = [[name, *rows[0][1:]], *rows[2:]]
    table = nodes.table(classes=["output"])
    group = nodes.tgroup(cols=len(rows[0]))
    table += group
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    for part, chosen in ((nodes.thead(), rows[:1]), (nodes.tbody(), rows[1:])):
        for cells_of_row in chosen:
            part.append(nodes.row("", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in cells_of_row)))
        group += part
    return table


class OutputTables(SphinxTransform):
    """Data frames in the outputs of Python blocks as tables."""

    default_priority = 400

    def apply(self, **settings: object) -> None:
        """Replace every block that shows a data frame by its code and its tables."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") != "python" or ">>> " not in block.astext():
                continue
            pieces = parts(block.astext())
            if any(isinstance(piece, list) for piece in pieces):
                block.replace_self(
                    [_literal(block, piece) if isinstance(piece, str) else node(piece) for piece in pieces]
                )


def _literal(block: nodes.literal_block, code: str) -> nodes.literal_block:
    copy = block.copy()
    copy.rawsource = code
    copy += nodes.Text(code)
    return copy


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the transform known to Sphinx."""
    app.add_transform(OutputTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
