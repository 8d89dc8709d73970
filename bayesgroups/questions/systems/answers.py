"""Both approaches to a tally of systems: the answers of a comparison, which the order of systems rests on too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.estimators.level_orders import Orders
from bayesgroups.frequentist.paired_systems import (
    Differences,
    PairedInterval,
    SystemValues,
    differences,
    system_values,
)
from bayesgroups.questions.systems.differences import Answer, SystemCorrection, families_of, of_draws, of_tally
from bayesgroups.questions.systems.pairs import Pooling, Systems, system_draws, with_everyone
from bayesgroups.report.posterior import generator

NUMBERS = ("estimate", "std_error", "p_value", "items", "units", "unmatched")
"""Numbers of every pair and subgroup."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis of the answers: draws (draw, system, subgroup), differences and values of the tally, and the verdict on the draws."""

    draws: FloatArray
    differences: Differences
    values: SystemValues
    method: str
    failures: str

    @property
    def usable(self) -> int:
        """1 if every check of the draws passed."""
        return int(not self.failures)

    def reference(self, interval: PairedInterval) -> str:
        """Name of the frequentist limits."""
        return "t" if self.differences.cells is None else interval


def both_answers(
    systems: Systems, chosen: IndexArray, *, level: float, interval: PairedInterval, correction: SystemCorrection,
    pooling: Pooling, orders: Orders, overall: bool, seed: int,
) -> tuple[dict[str, Answer], Basis]:  # fmt: skip
    """Answers of both approaches to the chosen pairs, and what they rest on; with ``overall`` everyone is the last subgroup."""
    tally = systems.tally
    drawn = system_draws(systems, pooling, orders, seed)
    pairs, values, draws = differences(tally), system_values(tally), drawn.values
    if overall:
        draws = with_everyone(draws, values.items)
        pairs, values = (
            _joined(pairs, differences(tally, "overall_")),
            _values(values, system_values(tally, "overall_")),
        )
    pairs = _chosen(pairs, chosen)
    first, second = systems.first[chosen], systems.second[chosen]
    families = families_of(tally.sizes["subgroup"], correction, overall=overall)
    rng = generator(seed, "systems", "simultaneous limits")
    failures = "; ".join(dict.fromkeys(check.sentence for check in drawn.checks if not check.passed))
    answers = {
        "bayesian": of_draws(draws[:, first] - draws[:, second], systems.sign, level, families),
        "frequentist": of_tally(pairs, values, first, second, level, interval, correction, families, rng),
    }
    value = tally.sel(metric=systems.names[0])
    largest = float(value["range_upper"] - value["range_lower"])
    answers = {name: answer.within(largest) for name, answer in answers.items()}
    return answers, Basis(draws, pairs, values, drawn.method, failures)


def _joined(pairs: Differences, overall: Differences) -> Differences:
    def both(name: str) -> FloatArray:
        return np.concatenate([getattr(pairs, name), getattr(overall, name)], axis=-1)

    return replace(
        pairs, cells=None if pairs.cells is None else both("cells"), **{name: both(name) for name in NUMBERS}
    )


def _values(values: SystemValues, overall: SystemValues) -> SystemValues:
    return replace(
        values, estimate=np.concatenate([values.estimate, overall.estimate], axis=-1),
        covariance=np.concatenate([values.covariance, overall.covariance]),
        units=np.concatenate([values.units, overall.units]), items=np.concatenate([values.items, overall.items]),
    )  # fmt: skip


def _chosen(pairs: Differences, chosen: IndexArray) -> Differences:
    cells = None if pairs.cells is None else pairs.cells[:, :, chosen]
    return replace(pairs, cells=cells, **{name: getattr(pairs, name)[chosen] for name in NUMBERS})
