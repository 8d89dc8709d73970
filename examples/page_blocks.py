"""Blocks of code in the pages of the documentation: how they are run, and the pictures that they save.

python -m examples.page_blocks docs/how-to/plots.md

runs a page and puts the pictures that its blocks save as SVG beside it, where the page shows them.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import doctest
import html
import io
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import pandas as pd

from examples.pictures import style
from examples.records import write

PROGRAM = "python -m examples.page_blocks"
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = re.compile(r"#?\b[a-z][0-9a-f]{10}\b")
"""Names inside an SVG, which are hashes of what they name."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Block(NamedTuple):
    """A fenced block: its language, its text and its first line in the page."""

    language: str
    code: str
    line: int


class Shown(NamedTuple):
    """A data frame that a doctest shows: the text of the page, and the frame."""

    text: str
    frame: pd.DataFrame


def blocks(page: Path) -> list[Block]:
    """Fenced blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match["language"], match["code"], text.count("\n", 0, match.start("code")))
        for match in FENCE.finditer(text)
    ]


class _Runner(doctest.DocTestRunner):
    """Runner that keeps the data frames that are shown."""

    def __init__(self) -> None:
        super().__init__(optionflags=OPTIONS)
        self.shown: list[Shown] = []

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        setattr(builtins, "_", None)  # noqa: B010 -- where Python keeps the value that it has shown

    def report_success(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        value = vars(builtins)["_"]
        if isinstance(value, pd.DataFrame):
            self.shown.append(Shown(example.want, value))


def run(block: Block, namespace: dict[str, Any], page: str) -> list[Shown]:
    """Run one block of Python, and return the data frames that it shows.

    Raises
    ------
    AssertionError
        If it shows answers, and others come.
    """
    if ">>> " not in block.code:
        exec(compile("\n" * block.line + block.code, page, "exec"), namespace)  # our own pages, nothing else
        return []
    test = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line)
    report, runner = io.StringIO(), _Runner()
    runner.run(test, out=report.write, clear_globs=False)
    namespace.update(test.globs)
    if runner.failures:
        raise AssertionError(report.getvalue())
    return runner.shown


def rows(frame: pd.DataFrame) -> list[list[str]]:
    """Cells of a data frame as its HTML has them, line by line.

    >>> rows(pd.DataFrame({"a": [1.5]}, index=["one"]))
    [['', 'a'], ['one', '1.5']]
    """
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", frame.to_html(), re.DOTALL)
    return [[html.unescape(cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line)] for line in lines]


@contextlib.contextmanager
def drawing() -> Any:
    """Settings under which the same numbers give the same picture."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    try:
        with style(), mpl.rc_context({"backend": "agg", "font.size": mpl.rcParamsDefault["font.size"]}):
            yield
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
        os.environ.update({} if before is None else {"SOURCE_DATE_EPOCH": before})


def saved(page: Path, folder: Path) -> dict[Path, str]:
    """Pictures that the blocks of a page have saved in a folder, by their places beside the page."""
    return {
        page.parent / "pictures" / f"{page.stem}_{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*.svg"))
    }


def linked(page: Path) -> set[Path]:
    """Pictures of blocks that a page shows."""
    names = re.findall(r"!\[[^\]]+\]\((pictures/[^)]+)\)", page.read_text(encoding="utf-8"))
    return {page.parent / name for name in names}


def skeleton(picture: str) -> tuple[str, list[float]]:
    """Text of a picture without its numbers, and its numbers.

    >>> skeleton('<g id="line_1" d="M 1.5 -2"/>')
    ('<g id="line_#" d="M # #"/>', [1.0, 1.5, -2.0])
    """
    plain = NAMES.sub("", picture)
    return NUMBER.sub("#", plain), [float(number) for number in NUMBER.findall(plain)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run pages, and write their pictures."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Run pages, and put their pictures beside them.")
    parser.add_argument("pages", type=Path, nargs="+", help="pages of the documentation, which save pictures as SVG")
    for page in [path.resolve() for path in parser.parse_args(arguments).pages]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), drawing():
            namespace: dict[str, Any] = {"__name__": "__main__"}
            for block in blocks(page):
                if block.language == "python":
                    run(block, namespace, page.name)
            pictures = saved(page, Path(folder))
        for path, picture in pictures.items():
            path.parent.mkdir(exist_ok=True)
            write(path, picture)


if __name__ == "__main__":
    main()
