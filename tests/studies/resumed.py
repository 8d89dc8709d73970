"""A study that is run twice with one folder of checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bayesgroups.studies.execution import Executor


def resumed[Answer](run: Callable[[Executor], Answer], folder: Path) -> tuple[Answer, Answer]:
    """Its answer, and the one read from the checkpoints, for which nothing is computed."""
    found = run(Executor(folder=folder))
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    told: list[tuple[int, int]] = []
    again = run(Executor(folder=folder, progress=lambda _, done, pieces: told.append((done, pieces))))
    assert kept, "answers are written as they come"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert len(told) == len(kept)
    assert all(done == pieces for done, pieces in told)
    return found, again
