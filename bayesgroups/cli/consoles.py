"""Where the command line writes: tables on stdout, progress and errors on stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

UNWRAPPED = 500
"""Columns of an output that is no terminal: wide enough that a table is not folded for a file."""
NARROW = 100
"""Terminals with fewer columns get numbers with two decimals."""


def output() -> Console:
    """The console of stdout; plain and unfolded when that is no terminal."""
    return _console(stderr=False)


def errors() -> Console:
    """The console of stderr."""
    return _console(stderr=True)


def decimals(console: Console) -> int | None:
    """Decimals that leave room for both approaches side by side; ``None`` where any number has room."""
    return 2 if console.width < NARROW else None


def protect_streams() -> None:
    """Let labels that the terminal's encoding lacks come out escaped instead of stopping the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def fitting() -> Iterator[Callable[[str, int, int], None]]:
    """Show on stderr which metric is fitted: a bar in a terminal, otherwise one line per metric."""
    console = errors()
    if not console.is_terminal:

        def line(metric: str, position: int, total: int) -> None:
            console.print(Text(f"fitting {metric} ({position + 1} of {total})"))

        yield line
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def advance(metric: str, position: int, total: int) -> None:
            progress.update(task, description=f"fitting {metric}", completed=position, total=total)

        yield advance


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    unwrapped = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(file=stream, highlight=False, width=UNWRAPPED if unwrapped else None, soft_wrap=unwrapped)
