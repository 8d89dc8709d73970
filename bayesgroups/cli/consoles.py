"""Consoles of the command line: tables on stdout, progress and errors on stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from bayesgroups.cli.waiting import paused, stopped

UNWRAPPED = 500
"""Columns of an output that is no terminal: wide enough that a table is not folded for a file."""
NARROW = 100
"""Terminals with fewer columns get numbers with two decimals."""


def output() -> Console:
    """The console of stdout; plain and unfolded when that is no terminal."""
    stopped()
    return _console(stderr=False)


def errors() -> Console:
    """The console of stderr."""
    return _console(stderr=True)


def pages_of_help() -> Console:
    """The console of the pages of help, which are folded everywhere."""
    return _Console()


def decimals(console: Console) -> int | None:
    """Decimals that leave room for both approaches side by side; ``None`` where any number has room."""
    return 2 if console.width < NARROW else None


def protect_streams() -> None:
    """Let labels that the terminal's encoding lacks come out escaped instead of stopping the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def silence_output() -> None:
    """Let what is still to be printed go nowhere, where the reader of a pipe has left: nothing fails when the process ends."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # no file of the system behind it, as in a notebook
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class _Console(Console):
    """A console that leaves a pipe without a reader to the command line, which knows the exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError("nobody reads the output any more")


@contextmanager
def counting(what: str, *, first: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """Show which part of a long work is done and how long the rest will take: a bar on stderr, nothing where that is no terminal.

    Before the first part it says ``first``.
    """
    console = errors()
    if not console.is_terminal:
        yield lambda name, done, total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with paused(), Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(first or what, total=1)

        def advance(name: str, done: int, total: int) -> None:
            progress.update(task, description=f"{what} {name}", completed=done, total=total)

        yield advance


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    unwrapped = not stream.isatty() and "COLUMNS" not in os.environ
    return _Console(file=stream, highlight=False, width=UNWRAPPED if unwrapped else None, soft_wrap=unwrapped)
