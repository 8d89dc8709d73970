"""Options that commands of studies have in common: how many processes, which cluster, and where answers are kept."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bayesgroups.errors import MissingDependencyError
from bayesgroups.studies.execution import Executor

if TYPE_CHECKING:
    from rich.progress import TaskID


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers``, ``--scheduler`` and ``--journal`` to a command."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--workers", type=int, default=1, help="processes of this machine")
    place.add_argument("--scheduler", help="address of a Dask scheduler, as tcp://host:8786, whose workers do the work")
    parser.add_argument(
        "--journal", type=Path, help="folder where answers are kept as they come; the same command goes on from there"
    )


@contextmanager
def executor(given: argparse.Namespace) -> Iterator[Executor]:
    """The executor that the options ask for, with a progress bar on the error stream.

    Raises
    ------
    InputError
        If the number of workers is not 1 or larger.
    MissingDependencyError
        If a scheduler is given and Dask is not installed.
    """
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        known: dict[str, TaskID] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in known:
                known[name] = bars.add_task(name, total=total)
            bars.update(known[name], completed=done)

        if given.scheduler is None:
            yield Executor(given.workers, given.journal, tell)
            return
        try:
            from distributed import Client
        except ImportError as problem:
            raise MissingDependencyError(
                "--scheduler needs Dask; install it with: pip install 'bayesgroups[dask]'"
            ) from problem
        with Client(given.scheduler) as client:
            yield Executor(client, given.journal, tell)
