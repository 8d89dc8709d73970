"""Records name the commands that make them, and every command of a page can be typed in as it is printed."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import itertools
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from examples.evidence import answers
from examples.evidence.record_dates import COMPANIONS, DATES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "records.md"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.parts))
FOLDERS = ("examples", "tests/recovery/studies")
"""Folders of programs."""
PROGRAM = r"python (?:-m (?:examples|tests\.recovery)\.|examples/)"
SPAN = re.compile(rf"`({PROGRAM}[^`]*)`")
LINE = re.compile(rf"^ *(?:\$ )?({PROGRAM}(?:[^\n\\]|\\\n)*)$", re.MULTILINE)


PRINTED = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PRINTED += [page for folder in FOLDERS for page in (ROOT / folder).rglob("README.md")]
DOCSTRINGS = [
    path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "__main__" in path.read_text("utf-8")
]


def commands(page: Path) -> list[str]:
    """The commands of studies and examples that a page or a docstring shows, each as one line."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
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


EVERY = sorted({command for page in (*PRINTED, *DOCSTRINGS) for command in commands(page)})


@pytest.mark.parametrize("command", EVERY, ids=lambda text: text[10:60])
def test_commands_of_pages_are_understood(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = argparse.ArgumentParser.parse_args

    def parse(
        parser: argparse.ArgumentParser, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        original(parser, args, namespace)
        raise SystemExit(0)

    main, arguments = program(command)
    if not inspect.signature(main).parameters:  # a script without options
        assert arguments == []
        return
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0, "the program has read its arguments; where it refuses them it ends with 2"


def test_commands_of_every_room_are_found() -> None:
    """The test above would be empty if programs had moved and the pattern had not."""
    rooms = (
        "tests.recovery.studies",
        "examples.published",
        "examples.comparisons",
        "examples.speech",
        "examples/analyst",
    )
    assert all(any(room in command for command in EVERY) for room in rooms)
    shown = set(commands(PAGE))
    assert {command for command, _ in table().values()} <= shown


@pytest.mark.parametrize("command", EVERY, ids=lambda text: text[10:60])
def test_placeholders_mean_one_thing(command: str) -> None:
    """FOLDER holds the public data and nothing else; folders that programs write are called otherwise."""
    words = shlex.split(command)
    for option, value in itertools.pairwise(words):
        if value.split("/")[0] == "FOLDER":
            assert option == "--data", f"{option} {value}: a folder of results is RESULTS"
        if option == "--data":
            assert value.split("/")[0] in {"FOLDER", "data", ""}, value


@pytest.mark.parametrize("program", DOCSTRINGS, ids=lambda path: path.stem)
def test_programs_say_how_they_are_run(program: Path) -> None:
    """The docstring shows the command of the program itself, from the folder of the repository."""
    place = program.relative_to(ROOT)
    names = (f"-m {'.'.join(place.with_suffix('').parts)} ", f"python {place.as_posix()}")
    shown = commands(program)
    assert shown, "no command"
    assert any(name in f"{command} " for command in shown for name in names), shown


def test_every_record_has_a_command_and_a_test() -> None:
    folders = (ROOT / "tests" / "recovery" / "records", DOCS / "examples", DOCS)
    files = {path for folder in folders for path in folder.glob("*.csv") if not path.stem.endswith(COMPANIONS)}
    files -= {answers.RECORD, DATES}
    assert {ROOT / name for name in table()} == files | {ROOT / name for name in table() if name.endswith(".md")}
    for name, (command, test) in table().items():
        assert command in commands(PAGE), name
        assert (ROOT / name).is_file()
        assert "def test_" in test.read_text(encoding="utf-8"), name


def test_every_page_of_numbers_has_a_line() -> None:
    """All pages of examples, which show what a command has computed."""
    shown = {path.name for path in (DOCS / "examples").glob("*.md")} - {"index.md"}
    lines = {Path(name).name for name in table() if name.startswith("docs/examples/")}
    assert shown == {name for name in lines if name.endswith(".md")}
