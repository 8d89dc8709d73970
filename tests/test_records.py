"""Records name the commands that make them, and every command of a page can be typed in as it is printed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "records.md"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.parts))
PROGRAM = r"python (?:-m (?:bayesgroups\.studies|tests\.recovery)|examples/)"
SPAN = re.compile(rf"`({PROGRAM}[^`]*)`")
LINE = re.compile(rf"^(?:\$ )?({PROGRAM}(?:[^\n\\]|\\\n)*)$", re.MULTILINE)
COMPANIONS = ("_ranks", "_fits", "_checks")
"""Ends of files that a command writes beside its record."""


def commands(page: Path) -> list[str]:
    """The commands of studies and examples that a page shows, each as one line."""
    text = page.read_text(encoding="utf-8")
    shown = [*SPAN.findall(text), *LINE.findall(text)]
    return list(dict.fromkeys(" ".join(command.replace("\\\n", "").split()) for command in shown))


def table() -> dict[str, tuple[str, Path]]:
    """Command and test of every record of the page."""
    rows = [
        line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"
    ]
    return {row[0].strip("`"): (row[1].strip("`"), ROOT / row[3].strip("`")) for row in rows}


def program(command: str) -> tuple[Callable[[Sequence[str]], None], list[str]]:
    """The main function of a command and its arguments."""
    words = shlex.split(command)[1:]
    if words[0] == "-m":
        return importlib.import_module(words[1]).main, words[2:]
    spec = importlib.util.spec_from_file_location("example", ROOT / words[0])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: Callable[[Sequence[str]], None] = module.main
    return main, words[1:]


@pytest.mark.parametrize(
    "command", sorted({command for page in PAGES for command in commands(page)}), ids=lambda text: text[10:60]
)
def test_commands_of_pages_are_understood(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = argparse.ArgumentParser.parse_args

    def parse(
        parser: argparse.ArgumentParser, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        original(parser, args, namespace)
        raise SystemExit(0)

    main, arguments = program(command)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0, "the program has read its arguments; where it refuses them it ends with 2"


def test_every_record_has_a_command_and_a_test() -> None:
    folders = (ROOT / "tests" / "recovery" / "records", DOCS / "examples", DOCS)
    files = {path for folder in folders for path in folder.glob("*.csv") if not path.stem.endswith(COMPANIONS)}
    assert {ROOT / name for name in table()} == files | {ROOT / name for name in table() if name.endswith(".md")}
    for name, (command, test) in table().items():
        assert command in commands(PAGE), name
        assert (ROOT / name).is_file()
        assert "def test_" in test.read_text(encoding="utf-8"), name


def test_every_page_of_numbers_has_a_line() -> None:
    """All pages of examples, which show what a command has computed."""
    shown = {path.name for path in (DOCS / "examples").glob("*.md")}
    lines = {Path(name).name for name in table() if name.startswith("docs/examples/")}
    assert shown == {name for name in lines if name.endswith(".md")}
