"""The loop of coverage studies: designs or replications through an executor, and shares with their Monte Carlo errors.

A study either measures whole designs, whose lines are then kept, or judges single replications, whose judgements are kept and
summarised by the study. Either way a task takes its random numbers from a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.studies.execution import Executor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Judgement = tuple[tuple[str, ...], Any]
"""Names that tell what was judged, such as an interval, and its judgement as nested lists of numbers."""

MONTE_CARLO = "to have a Monte Carlo error"


def require(replications: int, fewest: int = 2, reason: str = MONTE_CARLO) -> None:
    """Refuse too few replications.

    Raises
    ------
    InputError
        If there are fewer than the fewest.
    """
    if replications < fewest:
        raise InputError(f"replications={replications} must be {fewest} or more, {reason}")


def lines_of_designs[Line: DataclassInstance](
    kind: type[Line],
    name: str,
    measure: Callable[[int], Sequence[Line]],
    designs: int,
    *,
    settings: Mapping[str, object],
    executor: Executor,
) -> list[Line]:
    """Lines of all designs, measured one design at a time.

    Parameters
    ----------
    kind : type
        The dataclass of the lines.
    name : str
        The study, which names its checkpoints.
    measure : callable
        From the position of a design to its lines.
    designs : int
        Number of designs.
    settings : mapping
        All else that the lines depend on: seed and replications.
    executor : Executor

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from bayesgroups.studies.execution import HERE
    >>> @dataclass
    ... class Line:
    ...     value: int
    >>> lines_of_designs(Line, "squares", lambda design: [Line(design**2)], 3, settings={}, executor=HERE)
    [Line(value=0), Line(value=1), Line(value=4)]
    """
    kept = executor.run(name, partial(_as_mappings, measure), designs, settings=settings)
    return [kind(**line) for lines in kept for line in lines]


def _as_mappings[Line: DataclassInstance](
    measure: Callable[[int], Sequence[Line]], position: int
) -> list[dict[str, Any]]:
    return [asdict(line) for line in measure(position)]


def judgements(
    name: str,
    judge: Callable[[int], Iterable[Judgement]],
    replications: int,
    *,
    settings: Mapping[str, object],
    executor: Executor,
) -> dict[tuple[str, ...], FloatArray]:
    """Judgements of all replications, (replication, ...), by what was judged; not all need be judged in every replication.

    Parameters
    ----------
    name : str
        The study, which names its checkpoints.
    judge : callable
        From the number of a replication to its judgements.
    replications : int
    settings : mapping
        All else that judgements depend on: the seed.
    executor : Executor

    Examples
    --------
    >>> from bayesgroups.studies.execution import HERE
    >>> judged = judgements("even", lambda i: [(("wald",), [i % 2, 1])], 2, settings={}, executor=HERE)
    >>> judged["wald",].tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    kept: dict[tuple[str, ...], list[Any]] = {}
    for replication in executor.run(name, judge, replications, settings=settings):
        for key, judgement in replication:
            kept.setdefault(tuple(key), []).append(judgement)
    return {key: np.array(blocks, dtype=np.float64) for key, blocks in kept.items()}


def covers(lower: FloatArray, upper: FloatArray, truth: FloatArray | float) -> BoolArray:
    """True where intervals hold the truth, their ends included.

    Examples
    --------
    >>> covers(np.array([0.1, 0.4]), np.array([0.3, 0.6]), 0.3).tolist()
    [True, False]
    """
    return np.asarray((lower <= truth) & (truth <= upper))


def mean_and_error(values: ArrayLike) -> tuple[float, float]:
    """Mean of one number per replication and its Monte Carlo standard error.

    Examples
    --------
    >>> mean_and_error([0.0, 1.0])
    (0.5, 0.5)
    """
    numbers = np.asarray(values, dtype=np.float64)
    return float(numbers.mean()), float(numbers.std(ddof=1) / np.sqrt(len(numbers)))


def share_and_error(held: BoolArray) -> tuple[float, float]:
    """Share of replications, one interval each, and its binomial standard error.

    Examples
    --------
    >>> share_and_error(np.array([True, False, True, False]))
    (0.5, 0.25)
    """
    share = float(held.mean())
    return share, float(np.sqrt(share * (1 - share) / len(held)))


def size_classes(small: BoolArray) -> dict[str, BoolArray]:
    """Members (subgroup,) of the classes of size: all subgroups, the small and the large ones.

    Examples
    --------
    >>> {name: int(members.sum()) for name, members in size_classes(np.array([True, False, False])).items()}
    {'all': 3, 'small': 1, 'large': 2}
    """
    return {"all": np.ones(len(small), dtype=bool), "small": small, "large": ~small}
