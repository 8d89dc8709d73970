"""Tallies of systems as questions read them: which pairs, in which direction, and the draws of the values of systems."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.estimators.level_orders import Orders
from bayesgroups.frequentist.paired_systems import system_values
from bayesgroups.inference.collapsed import paired_answers, system_means
from bayesgroups.questions.certification.overlapping import ALL
from bayesgroups.report.diagnostics import Check

PairChoice = Literal["auto", "baseline", "all"]
Pooling = Literal["crossed", "none"]


@dataclass(frozen=True, eq=False)
class Systems:
    """A tally of systems, the positions of the first and second system of its pairs, 1 where larger is better and -1 if not."""

    tally: xr.Dataset
    names: list[str]
    first: IndexArray
    second: IndexArray
    sign: int

    @property
    def labels(self) -> list[str]:
        """Labels of the subgroups."""
        return [str(label) for label in self.tally["subgroup"].values]


@dataclass(frozen=True, eq=False)
class SystemDraws:
    """Draws (draw, system, subgroup) of the values of systems, the method that made them and its checks."""

    values: FloatArray
    method: str
    checks: tuple[Check, ...]


def open_systems(source: object) -> Systems:
    """A tally of systems; a SchemaError tells how it is made."""
    if not isinstance(source, xr.Dataset) or "pair" not in source.dims or "pair_sums" not in source:
        raise SchemaError(
            "source must be a tally of systems on the same items, from bg.paired_tally(frame, by=[...], systems=[...]); got "
            f"{'a tally or answer without pairs' if isinstance(source, xr.Dataset) else type(source).__name__}"
        )
    names = [str(name) for name in source["system"].values]
    first, second = (
        np.array([names.index(str(n)) for n in source[side].values], dtype=np.intp) for side in ("first", "second")
    )
    larger = bool(source["larger_is_better"].sel(metric=names[0]).values)
    return Systems(source, names, first, second, 1 if larger else -1)


def chosen_pairs(systems: Systems, pairs: PairChoice) -> IndexArray:
    """Positions of the pairs that are asked for; an error where the tally has no baseline and one is asked for."""
    baseline = json.loads(systems.tally.attrs["settings"]).get("baseline")
    if pairs == "baseline" and baseline is None:
        raise InputError(
            f"pairs='baseline' needs a tally with a baseline; name one of {systems.names} in bg.paired_tally(baseline=)"
        )
    if pairs == "all" or baseline is None:
        return np.arange(len(systems.first))
    return np.flatnonzero(systems.second == systems.names.index(baseline))


def system_draws(systems: Systems, pooling: Pooling, orders: Orders, seed: int) -> SystemDraws:
    """Draws of the values of all systems: of two that are right or wrong exactly, of others as means with correlated errors."""
    if pooling == "none" and orders.levels:
        raise InputError("pooling='none' has no effects that could follow an order; leave it or ordered= out")
    try:
        return _drawn(systems, pooling, orders, seed)
    except ValueError as problem:  # what models share knows nothing of the errors of the package
        raise InputError(str(problem)) from problem


def _drawn(systems: Systems, pooling: Pooling, orders: Orders, seed: int) -> SystemDraws:
    tally = systems.tally
    if len(systems.names) == 2 and "pair_count" in tally.data_vars:
        cells = tally["pair_count"].values[0]
        cells = cells if systems.first[0] == 0 else np.swapaxes(cells, 0, 1)
        if pooling == "none":
            return SystemDraws(paired_answers.sample_unpooled(cells, seed=seed), "dirichlet", ())
        return SystemDraws(
            *_named(
                paired_answers.sample(tally, cells, seed=seed, ordered=orders.levels, cyclic=orders.cyclic),
                "crossed_binomial",
            )
        )
    if pooling == "none":
        raise InputError(
            "pooling='none' is for two systems with right and wrong answers to independent items; leave it out"
        )
    values, graded = system_values(tally), bool(json.loads(tally.attrs["settings"])["graded"])
    drawn = system_means.sample(
        tally, values.estimate, values.covariance, values.units, graded=graded, seed=seed, ordered=orders.levels,
        cyclic=orders.cyclic,
    )  # fmt: skip
    return SystemDraws(*_named(drawn, "crossed_normal"))


def with_everyone(draws: FloatArray, items: FloatArray) -> FloatArray:
    """Draws (draw, ..., subgroup) with those of all subgroups together last, weighted by the items of each (subgroup,)."""
    some = items > 0
    weights = items[some] / items.sum() if some.any() else items[some]
    overall = draws[..., some] @ weights if some.any() else np.full(draws.shape[:-1], np.nan)
    return np.concatenate([draws, overall[..., None]], axis=-1)


def everyone(labels: list[str]) -> list[str]:
    """Labels of the subgroups and of all together."""
    return [*labels, ALL]


def _named(drawn: tuple[FloatArray, tuple[Check, ...]], method: str) -> tuple[FloatArray, str, tuple[Check, ...]]:
    return drawn[0], method, drawn[1]
