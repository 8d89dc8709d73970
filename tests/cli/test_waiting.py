"""Work that is silent for long shows that it goes on: on stderr, where that is a terminal, and nowhere else."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from bayesgroups import cli
from bayesgroups.cli import consoles, run, waiting


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal gets as stderr, with almost no time to wait."""
    screen = io.StringIO()
    monkeypatch.setattr(waiting, "SECONDS", 0.05)
    monkeypatch.setenv("TERM", "xterm")  # one that can move its cursor, wherever the tests run
    shown = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(cli, "errors", lambda: shown)
    monkeypatch.setattr(consoles, "errors", lambda: shown)
    return screen


def test_silent_work_is_shown_after_a_while(terminal: io.StringIO) -> None:
    with waiting.sign_of_life("bayesgroups tally", consoles.errors()):
        assert terminal.getvalue() == ""
        time.sleep(0.3)
    assert "bayesgroups tally" in terminal.getvalue()
    assert not waiting._CURRENT


def test_short_work_and_files_get_nothing(terminal: io.StringIO) -> None:
    with waiting.sign_of_life("bayesgroups tally", consoles.errors()):
        pass
    with waiting.sign_of_life("bayesgroups tally", Console(file=terminal)):
        time.sleep(0.2)
    time.sleep(0.1)
    assert terminal.getvalue() == ""


def test_a_bar_takes_its_place_and_it_comes_back(terminal: io.StringIO) -> None:
    with waiting.sign_of_life("silent part", consoles.errors()):
        with consoles.counting("fitting", first="reading") as progress:
            progress("fnr", 0, 2)
            time.sleep(0.2)
        assert "silent part" not in terminal.getvalue()
        assert "fitting fnr" in terminal.getvalue()
        time.sleep(0.3)
    assert "silent part" in terminal.getvalue()


def test_what_is_printed_ends_it(terminal: io.StringIO) -> None:
    with waiting.sign_of_life("silent part", consoles.errors()):
        consoles.output()
        time.sleep(0.2)
    assert "silent part" not in terminal.getvalue()


def test_every_command_has_it(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def slow(*_: object) -> None:
        time.sleep(0.3)

    monkeypatch.setattr(cli, "check_paths", slow)
    rows = tmp_path / "rows.csv"
    rows.write_text("sex,hired\nf,1\nm,0\n")
    assert run(["tally", str(rows), "--by", "sex", "--metric", "sel", "--y-pred", "hired"]) == 0
    assert "bayesgroups tally" in terminal.getvalue()
