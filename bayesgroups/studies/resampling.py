"""Estimators on the same evaluation sets, drawn again and again from a population whose metrics are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.estimate import estimate
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.answers import Answer, Answers, Identity, place_of, read_answers, write_answers
from bayesgroups.studies.execution import Executor, Progress, check_sendable
from bayesgroups.studies.populations import Drawn, Population

if TYPE_CHECKING:
    from distributed import Client

Reference = Callable[[xr.Dataset], xr.Dataset]
Entry = Estimator | Reference

SIDES = ("bayesian", "frequentist")


@checked_keywords
def study(
    population: Population,
    estimators: Mapping[str, Entry],
    *,
    draws: int,
    seed: int,
    workers: int | Client = 1,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Answers of every estimator to the same evaluation sets of one population.

    Parameters
    ----------
    population : Population
        Labelled rows and how evaluation sets are drawn.
    estimators : mapping
        By name, an ``Estimator``, whose two sides are recorded as ``name (bayesian)``, by its posterior medians, and
        ``name (frequentist)``, or a function from a tally to a Dataset with ``estimate``, ``lower`` and ``upper``.
    draws : int
        Evaluation sets. The first ones are the same however many there are.
    seed : int
        Source of all randomness: the same seed gives the same numbers, whatever the number of workers.
    workers : int or dask.distributed.Client
        Processes, or the client of a cluster. With more than one, functions must be importable (no lambdas); with a cluster,
        ``folder`` must be one that all its workers reach.
    folder : str or Path, optional
        Where each finished (draw, estimator) is written, in one step. A later call with the same folder reads it instead of
        computing it, so an interrupted study goes on where it was, and estimators can be added.
    progress : callable, optional
        Called with (population, finished draws, all draws).

    Returns
    -------
    xr.Dataset
        ``estimate(estimator, draw, metric, subgroup)``, ``lower`` and ``upper`` (with ``level``, unclipped),
        ``usable(estimator, draw)``, ``standard`` and ``count`` (draw, metric, subgroup), ``rows(draw, subgroup)``, ``truth`` and
        ``covers`` (metric, subgroup), the latter where coverage is scored, and ``range_lower(metric)``, ``range_upper(metric)``.

    Raises
    ------
    InputError
        If there is nothing to do, an entry is not an estimator, a function cannot be sent to a process, an answer has not the form
        it must have, or the folder holds records of another study.
    EngineError
        If processes or workers keep dying.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), sections 3 and 5.1.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import no_pooling
    >>> people = pd.DataFrame({"sex": ["f"] * 60 + ["m"] * 60, "wrong": [0, 1] * 30 + [1] * 60})
    >>> wrong = bg.Metric("wrong", value="wrong", kind="rate")
    >>> population = bg.Population("people", people, {"sex": ("f", "m")}, (wrong,), rows=30, design="independent")
    >>> found = bg.study(population, {"standard": no_pooling.estimate, "pooled": bg.PartialPooling()}, draws=2, seed=1)
    >>> found["estimator"].values.tolist()
    ['standard', 'pooled (bayesian)', 'pooled (frequentist)']
    """
    _check(estimators, draws, workers)
    job = _Job(population, dict(estimators), seed, None if folder is None else Path(folder), population.fingerprint())
    truth = population.truth()
    if job.folder is not None:
        job.folder.mkdir(parents=True, exist_ok=True)
    if workers != 1:
        for name, entry in job.estimators.items():
            check_sendable(entry, f"estimator {name!r}")
    collected = Executor(workers, progress=progress).run(population.name, partial(job.run, truth=truth), draws)
    return _join(collected, truth).assign(covers=(("metric", "subgroup"), population.covers().values))


@dataclass(frozen=True)
class _Job:
    """All that a worker has to know."""

    population: Population
    estimators: dict[str, Entry]
    seed: int
    folder: Path | None
    fingerprint: str

    def run(self, draw: int, truth: xr.DataArray) -> tuple[xr.Dataset, Answers]:
        """Answers to one draw by name; those on the disk are read, the others are computed and written."""
        drawn = self.population.draw(draw, seed=self.seed, truth=truth)
        answers: Answers = {}
        for name, entry in self.estimators.items():
            identity = Identity(self.fingerprint, self.seed, draw, name, describe(entry))
            place = None if self.folder is None else place_of(self.folder, identity)
            stored = None if place is None else read_answers(place, identity)
            if stored is None:
                try:
                    stored = answers_of(name, entry, drawn, self.seed)
                except Exception as problem:
                    problem.add_note(f"estimator {name!r}, draw {draw} of population {self.population.name!r}")
                    raise
                if place is not None:
                    write_answers(place, stored, identity)
            answers |= stored
        return drawn.tally[["estimate", "count", "rows", "range_lower", "range_upper"]], answers


def describe(entry: Entry | Callable[..., object]) -> str:
    """Text of an entry: its estimator and settings, or the place of a function."""
    if isinstance(entry, Estimator):
        return as_json({"word": entry.word, **entry.settings()})
    if isinstance(entry, partial):
        return f"{describe(entry.func)} {as_json({'args': list(entry.args), **entry.keywords})}"
    return f"{getattr(entry, '__module__', '')}.{getattr(entry, '__qualname__', type(entry).__qualname__)}"


def answers_of(name: str, entry: Entry, drawn: Drawn, seed: int) -> Answers:
    """Answers of one entry to one evaluation set: one, or both sides of an estimator.

    An InputError if a function returns something else than ``estimate``, ``lower`` and ``upper`` at every level.
    """
    tally = drawn.tally
    if isinstance(entry, Estimator):
        report = estimate(tally, entry, seed=seed)
        table, usable = report["estimates"].to_dataset(), bool(report.attrs["usable"])
        answers = {}
        for side in SIDES:
            approach_table = table.sel(approach=side)
            answers[f"{name} ({side})"] = Answer(
                # Studies score absolute errors, and of a posterior that is asked of its median.
                approach_table["median" if side == "bayesian" else "estimate"].transpose("metric", "subgroup").values,
                approach_table["lower_unclipped"].transpose("metric", "subgroup", "level").values,
                approach_table["upper_unclipped"].transpose("metric", "subgroup", "level").values,
                usable or side == "frequentist",
            )
        return answers
    result = entry(tally)
    if not isinstance(result, xr.Dataset) or not {"estimate", "lower", "upper"} <= set(result.data_vars):
        raise InputError(
            f"estimator {name!r} must return a Dataset with estimate, lower and upper; got {result!r:.200}"
        )
    try:
        bounds = [
            result[side].sel(level=list(LEVELS)).transpose("metric", "subgroup", "level") for side in ("lower", "upper")
        ]
        point = result["estimate"].transpose("metric", "subgroup")
    except (KeyError, ValueError) as problem:
        raise InputError(
            f"estimator {name!r}: dims must be metric, subgroup and level {LEVELS} ({problem})"
        ) from problem
    if point.shape != tally["estimate"].shape:
        raise InputError(
            f"estimator {name!r} returned {point.shape} estimates for a tally of {tally['estimate'].shape}"
        )
    return {name: Answer(point.values, bounds[0].values, bounds[1].values, True)}


def _join(collected: list[tuple[xr.Dataset, Answers]], truth: xr.DataArray) -> xr.Dataset:
    names = list(collected[0][1])

    def stack(part: str) -> FloatArray:
        return np.array([[getattr(answers[name], part) for _, answers in collected] for name in names])

    first = collected[0][0]
    run, cell = ("estimator", "draw"), ("metric", "subgroup")
    sources = {"standard": ("estimate", cell), "count": ("count", cell), "rows": ("rows", ("subgroup",))}
    tallied = {
        new: (("draw", *dims), np.stack([tally[old].transpose(*dims).values for tally, _ in collected]))
        for new, (old, dims) in sources.items()
    }
    data = {
        "estimate": ((*run, *cell), stack("estimate")),
        **{side: ((*run, *cell, "level"), stack(side)) for side in ("lower", "upper")},
        "usable": (run, stack("usable").astype(np.int8)),
        "truth": (cell, truth.transpose(*cell).values),
        "range_lower": ("metric", first["range_lower"].values),
        "range_upper": ("metric", first["range_upper"].values),
        **tallied,
    }
    coordinates = {
        "estimator": np.array(names), "draw": np.arange(len(collected)), "metric": first["metric"].values,
        "subgroup": first["subgroup"].values, "level": np.array(LEVELS),
    }  # fmt: skip
    return xr.Dataset(data, coords=coordinates)


def _check(estimators: Mapping[str, Entry], draws: int, workers: int | Client) -> None:
    if not estimators:
        raise InputError("estimators= is empty; name at least one, as {'standard': no_pooling.estimate}")
    for name, entry in estimators.items():
        if isinstance(entry, type) or not (isinstance(entry, Estimator) or callable(entry)):
            raise InputError(
                f"estimator {name!r} is neither an Estimator with brackets nor a function of a tally: {entry!r}"
            )
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise InputError(f"draws={draws!r} must be a whole number, 1 or larger")
    Executor(workers)  # refuses what it cannot use
