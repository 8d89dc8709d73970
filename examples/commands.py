"""Shared parts of the commands of studies: their arguments, an executor with a progress bar, and a record to write."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bayesgroups.errors import MissingDependencyError
from bayesgroups.studies.execution import Executor
from examples.records import as_csv, write

if TYPE_CHECKING:
    from rich.progress import TaskID


class Study(Protocol):
    """A study whose answers are the lines of its record, instances of one dataclass."""

    def __call__(self, replications: int, seed: int, *, executor: Executor) -> Sequence[Any]:
        """Compute the lines."""
        ...


def parser(
    module: str, description: str, replications: int, seed: int, *, output: str = "the CSV file to write"
) -> argparse.ArgumentParser:
    """The command of a study: where its record goes, replications, seed, and the options of `add_options`.

    Parameters
    ----------
    module : str
        The program, such as ``tests.recovery.studies.coverage``.
    description : str
        One sentence.
    replications, seed : int
        What is taken where the command says nothing.
    output : str
        What is written.

    Returns
    -------
    argparse.ArgumentParser

    Examples
    --------
    >>> options = parser("tests.recovery.studies.clusters", "Coverage.", 100, 7)
    >>> given = options.parse_args(["--output", "record.csv", "--workers", "4"])
    >>> str(given.output), given.replications, given.seed, given.workers
    ('record.csv', 100, 7, 4)
    """
    command = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    command.add_argument("--output", type=Path, required=True, help=output)
    command.add_argument("--replications", type=int, default=replications)
    command.add_argument("--seed", type=int, default=seed)
    add_options(command)
    return command


def record(given: argparse.Namespace, study: Study) -> None:
    """Run a study as its command asks, and write its lines."""
    with executor(given) as run:
        lines = study(given.replications, given.seed, executor=run)
    write(given.output, as_csv(lines))


def add_options(parser: argparse.ArgumentParser, *, checkpoints: bool = True) -> None:
    """Add ``--workers``, ``--scheduler`` and ``--checkpoints`` to a command; without the last where it has a folder of its own."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--workers", type=int, default=1, help="processes of this machine")
    place.add_argument("--scheduler", help="address of a Dask scheduler, as tcp://host:8786, whose workers do the work")
    if not checkpoints:
        parser.set_defaults(checkpoints=None)
        return
    parser.add_argument(
        "--checkpoints",
        type=Path,
        help="folder where answers are kept as they come; the same command goes on from there",
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
        tasks: dict[str, TaskID] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        if given.scheduler is None:
            yield Executor(given.workers, given.checkpoints, tell)
            return
        try:
            from distributed import Client
        except ImportError as problem:
            raise MissingDependencyError(
                "--scheduler needs Dask; install it with: pip install 'bayesgroups[dask]'"
            ) from problem
        with Client(given.scheduler) as client:
            yield Executor(client, given.checkpoints, tell)
