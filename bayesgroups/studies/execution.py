"""Pieces of a study, one after the other, on processes of this machine or on a Dask cluster: the same answers everywhere.

A piece is a number; whatever it needs of chance it takes from a stream of its own, so that neither the order of pieces nor
the place where they run changes an answer. Answers that `bayesgroups.studies.checkpoints.Checkpoints` keep are not made again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.data.texts import as_json
from bayesgroups.errors import EngineError, InputError
from bayesgroups.studies.checkpoints import Checkpoints, file_name

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[str, int, int], None]
"""Called with the name of what is computed, the number of pieces that are done, and of all."""

FRUITLESS = 2
"""Pieces in a row that may end the process that they have for themselves, before it is the process that is at fault."""


@dataclass(frozen=True)
class Executor:
    """Place where the pieces of a study are computed, where their answers are kept, and the listener to its progress.

    ``workers`` are processes of this machine, by joblib (with 1 this one), or the client of a cluster; else an InputError.
    Pieces of a process that dies are computed again. Answers found in ``folder`` are not computed again, others written
    there as they come. ``progress`` is called with a name and the numbers of pieces done (those found first) and of all.
    """

    workers: int | Client = 1
    folder: Path | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        count = self.workers if isinstance(self.workers, int) else 1
        valid = isinstance(self.workers, int) or hasattr(self.workers, "scheduler_info")
        if isinstance(self.workers, bool) or not valid or count < 1:
            raise InputError(
                f"workers={self.workers!r} must be a whole number, 1 or larger, or a dask.distributed.Client"
            )

    def run[Answer](
        self, name: str, work: Callable[[int], Answer], pieces: int, *, settings: Mapping[str, object] | None = None
    ) -> list[Answer]:
        """Answers in the order of their pieces, 0 to ``pieces`` - 1, the same whatever the workers.

        ``name`` names the file in the folder. ``work`` takes the number of a piece, and its answer depends on nothing else;
        a function of a module, or a `functools.partial` of one, can be sent to any process or cluster. To be kept, answers
        must be made of what JSON has: numbers, texts, lists and mappings. ``settings`` are what else an answer depends on,
        such as the seed: answers in the folder to other settings are refused. An InputError if those cannot be read or
        written, an EngineError if workers keep dying.
        """
        checkpoints = None
        if self.folder is not None:
            checkpoints = Checkpoints(self.folder / file_name(name), as_json({"name": name, **(settings or {})}))
        stored = {} if checkpoints is None else checkpoints.read()
        answers: dict[int, Any] = {piece: answer for piece, answer in stored.items() if piece < pieces}
        tell = None if self.progress is None else partial(self.progress, name)
        if tell is not None and answers:
            tell(len(answers), pieces)

        def finished(piece: int, answer: Answer) -> None:
            if checkpoints is not None:
                checkpoints.add(piece, answer)
            answers[piece] = answer
            if tell is not None:
                tell(len(answers), pieces)

        left = [piece for piece in range(pieces) if piece not in answers]
        if not isinstance(self.workers, int):
            _on_cluster(work, left, self.workers, finished)
        elif self.workers == 1:
            for piece in left:
                finished(piece, work(piece))
        else:
            _on_processes(work, left, self.workers, finished)
        return [answers[piece] for piece in range(pieces)]


def check_sendable(thing: object, name: str) -> None:
    """Refusal, as an InputError, of an object that cannot be sent to another process."""
    try:
        ForkingPickler.dumps(thing)
    except Exception as problem:  # whatever the object raises when it is taken apart
        raise InputError(
            f"{name} cannot be sent to another process; use a function of a module, or workers=1"
        ) from problem


HERE = Executor()
"""One piece after the other in this process, with nothing kept."""


def _on_processes[Answer](
    work: Callable[[int], Answer], pieces: list[int], workers: int, finished: Callable[[int, Answer], None]
) -> None:
    """Pieces on processes; where a process dies, each that may have killed it gets one of its own, which tells which it was."""
    left, deadly, fruitless = list(pieces), list[int](), 0

    def done(piece: int, answer: Answer) -> None:
        finished(piece, answer)
        left.remove(piece)

    while left and fruitless < FRUITLESS:
        width = min(workers, len(left))
        try:
            _pool(work, left, width, done)
        except BrokenProcessPool:
            for piece in left[: width + 1]:
                try:
                    _pool(work, [piece], 1, done)
                    fruitless = 0
                except BrokenProcessPool:
                    left.remove(piece)
                    deadly.append(piece)
                    fruitless += 1
                    if fruitless == FRUITLESS:
                        break
    if deadly:
        raise EngineError(
            f"every process ends that computes piece {deadly[0]} (from 0 on): for want of memory, or because a fresh "
            "process cannot import what it runs; what was kept stays; try workers=1"
        )


def _pool[Answer](
    work: Callable[[int], Answer], pieces: Iterable[int], workers: int, finished: Callable[[int, Answer], None]
) -> None:
    import joblib

    _name_main_last()
    parallel: Any = joblib.Parallel  # without annotations
    # Two processes even for one piece: joblib would compute it in this one, and a piece that kills its process must not
    # end the study.
    pool = parallel(n_jobs=max(workers, 2), backend="loky", batch_size=1, return_as="generator_unordered")
    answers: Generator[tuple[int, Answer]] = pool(joblib.delayed(_numbered)(piece, work) for piece in pieces)
    try:
        for piece, answer in answers:
            finished(piece, answer)
    except BaseException:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that pieces under way are cancelled
            answers.close()
        raise


def _name_main_last() -> None:
    """The second name of the main module after those of all others.

    Objects that do not say their module, such as the ufuncs of SciPy, are sent by the first one that has them: fresh processes have
    no such main module. Pickle passes over it in Python alone, not where it is compiled (bpo-42406).
    """
    main = sys.modules.pop("__mp_main__", None)
    if main is not None:
        sys.modules["__mp_main__"] = main


def _on_cluster[Answer](
    work: Callable[[int], Answer], pieces: list[int], client: Client, finished: Callable[[int, Answer], None]
) -> None:
    """The scheduler gives pieces of dead workers to others, until it finds that a piece kills whoever takes it."""
    import distributed

    # Large work is a node of the graph, and is made again where a worker dies with it.
    futures = client.map(_run, pieces, work=work, pure=False, key="bayesgroups-piece") if pieces else []
    place = {future.key: piece for piece, future in zip(pieces, futures, strict=True)}
    try:
        for future in distributed.as_completed(futures):
            finished(place[future.key], future.result())
    except distributed.KilledWorker as problem:
        raise EngineError(f"workers of the cluster keep dying; what was kept stays: {problem}") from problem
    finally:
        client.cancel(futures)


def _numbered[Answer](piece: int, work: Callable[[int], Answer]) -> tuple[int, Answer]:
    return piece, work(piece)


def _run[Answer](piece: int, work: Callable[[int], Answer]) -> Answer:
    return work(piece)
