"""Weights of comparisons for one metric: both sides as weights over cells, with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.frequentist.intervals.linear_contrasts import Sums
from bayesgroups.questions.contrasts.common import Across, CommonEffect, common_effect
from bayesgroups.questions.contrasts.comparisons import Comparison

NO_ROWS = "no rows that count on the side of {}"
NO_ESTIMATE = "no estimate of {}: {}"
NO_OVERLAP = "no stratum has rows of both {} and {}"
NO_MEAN = "the value of {} is no mean of subgroups for this metric"


@dataclass(frozen=True, eq=False)
class Weighted:
    """Comparisons of one metric as weights (contrast, cell) of both sides, zeros where there is a reason why not.

    ``coefficients`` (contrast, cell) are those of vectors, zeros for pairs; ``value`` that of references that are numbers.
    ``overlap_share`` is the share of the people at whom the comparison looks that it keeps, ``imputed_share`` the weight of
    cells without rows on the side that has more of it; ``reason`` says why a contrast cannot be estimated, "" where it can.
    ``common`` has the contrasts that are one effect of all strata, by their place.
    """

    over: FloatArray
    under: FloatArray
    coefficients: FloatArray
    value: FloatArray
    overlap_share: FloatArray
    imputed_share: FloatArray
    reason: TextArray
    common: Mapping[int, CommonEffect] = field(default_factory=dict)

    @cached_property
    def first(self) -> Sums:
        """Sums of values on the side of the subgroup."""
        return Sums(self.over)

    @cached_property
    def second(self) -> Sums:
        """Sums of values on the side of the reference."""
        return Sums(self.under)

    @cached_property
    def vector(self) -> BoolArray:
        """True for contrasts given by coefficients (contrast,)."""
        return np.asarray((self.coefficients != 0).any(axis=1))

    @property
    def number(self) -> BoolArray:
        """True where the reference is a number (contrast,)."""
        return np.isfinite(self.value)

    @property
    def estimable(self) -> BoolArray:
        """True where no reason stands against an estimate (contrast,)."""
        return np.asarray(self.reason == "")

    @cached_property
    def single(self) -> BoolArray:
        """True where two single cells are compared, and not one with itself (contrast,)."""
        sides = [(side != 0).sum(axis=1) == 1 for side in (self.over, self.under)]
        apart = (self.over != self.under).any(axis=1)
        return np.asarray(sides[0] & sides[1] & apart & ~self.vector & ~self.pooled)

    @cached_property
    def pooled(self) -> BoolArray:
        """True for contrasts that are one effect of all strata (contrast,)."""
        return np.isin(np.arange(len(self.over)), list(self.common))


def weigh(
    comparisons: Sequence[Comparison], people: FloatArray, rows: FloatArray, included: BoolArray, *, additive: bool,
    across: Across = "standardised", absent: TextArray | None = None,
) -> Weighted:  # fmt: skip
    """Weights of comparisons from people (cell,), rows that count (cell,) and cells that take part (cell,).

    ``additive`` is False for a metric whose value in a margin is no mean of those of its cells, such as an AUC: only single
    cells are compared then. ``absent`` (cell,) has reasons why cells take no part, where it is not that they have no rows.
    """
    many, size = len(comparisons), len(people)
    over, under, coefficients = (np.zeros((many, size)) for _ in range(3))
    overlap, imputed, value = np.full(many, np.nan), np.zeros(many), np.full(many, np.nan)
    reason, common = np.full(many, "", dtype=object), dict[int, CommonEffect]()
    lacking = ~(rows > 0)
    plain = [i for i, comparison in enumerate(comparisons) if len(comparison.over) == 1]
    if plain:
        parts = _plain([comparisons[i] for i in plain], people, included, absent)
        over[plain], under[plain], overlap[plain], reason[plain] = parts
    for i, comparison in enumerate(comparisons):
        value[i] = comparison.value
        if comparison.kind == "vector":
            coefficients[i], overlap[i], reason[i] = _vector(comparison, people, included, absent)
        elif len(comparison.over) > 1:
            over[i], under[i], overlap[i], reason[i], effect = _standardised(comparison, people, included, across)
            common |= {} if effect is None else {i: effect}
        if not additive and (sum_of_cells := _summed(comparison)):
            over[i], under[i], coefficients[i], overlap[i], reason[i] = 0.0, 0.0, 0.0, np.nan, sum_of_cells
    heavy = np.abs(coefficients)
    imputed = np.maximum(over[:, lacking].sum(axis=1), under[:, lacking].sum(axis=1))
    imputed += heavy[:, lacking].sum(axis=1) / np.maximum(heavy.sum(axis=1), 1e-300)
    return Weighted(over, under, coefficients, value, overlap, imputed, reason.astype(str), common)


def _plain(
    comparisons: Sequence[Comparison], people: FloatArray, included: BoolArray, absent: TextArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, TextArray]:
    """Weights (contrast, cell) of both sides of comparisons of one stratum, the smaller share of people kept, and reasons."""
    members = [np.concatenate([side(comparison) for comparison in comparisons]) for side in (_over, _under)]
    number = np.array([comparison.kind == "number" for comparison in comparisons])
    weights, covered = [_shares(side, people, included) for side in members], np.ones(len(comparisons))
    for side in members if not included.all() else ():
        total, kept = side @ people, (side & included) @ people
        covered = np.minimum(covered, np.divide(kept, total, out=np.ones(len(total)), where=total > 0))
    reason = np.full(len(comparisons), "", dtype=object)
    for names, side, lacks in (
        ([comparison.reference for comparison in comparisons], members[1], ~weights[1].any(axis=1) & ~number),
        ([comparison.subgroup for comparison in comparisons], members[0], ~weights[0].any(axis=1)),
    ):
        for i in np.flatnonzero(lacks):
            reason[i], covered[i] = _lacking(names[i], side[i], absent), 0.0
    some = (reason == "")[:, None]
    return weights[0] * some, weights[1] * some, covered, reason


def _lacking(name: str, members: BoolArray, absent: TextArray | None) -> str:
    """Reason of a side of which no member takes part."""
    if absent is None:
        return NO_ROWS.format(name)
    return NO_ESTIMATE.format(name, "; ".join(dict.fromkeys(absent[members])))


def _over(comparison: Comparison) -> BoolArray:
    return comparison.over


def _under(comparison: Comparison) -> BoolArray:
    return comparison.under if len(comparison.under) else np.zeros_like(comparison.over)


def _standardised(
    comparison: Comparison, people: FloatArray, included: BoolArray, across: Across
) -> tuple[FloatArray, FloatArray, float, str, CommonEffect | None]:
    """Weights of both sides over the strata in which both have a value; the share of people kept; a reason; a common effect."""
    nothing = np.zeros(len(people))
    first, second = (_shares(side, people, included) for side in (comparison.over, comparison.under))
    kept = first.any(axis=1) & second.any(axis=1)
    strata = (comparison.strata * people).sum(axis=1)
    if not (strata * kept).sum() > 0:
        return nothing, nothing, 0.0, NO_OVERLAP.format(comparison.subgroup, comparison.reference), None
    covered = float((strata * kept).sum() / strata.sum())
    share, effect = strata * kept / (strata * kept).sum(), None
    if across == "mantel_haenszel":
        effect = common_effect(first[kept], second[kept], people)
        share = np.zeros(len(kept))
        share[kept] = effect.weights / effect.weights.sum()
    return share @ first, share @ second, covered, "", effect


def _summed(comparison: Comparison) -> str:
    """Reason against a side of several cells; "" where there is none."""
    sides = [(comparison.over, comparison.subgroup), (comparison.under, comparison.reference)]
    sides += [(members[None], comparison.name) for _, members in comparison.coefficients]
    names = [name for members, name in sides if members.sum() > 1]
    return NO_MEAN.format(names[0]) if names and comparison.kind != "best" else ""


def _vector(
    comparison: Comparison, people: FloatArray, included: BoolArray, absent: TextArray | None
) -> tuple[FloatArray, float, str]:
    total = np.zeros(len(people))
    for coefficient, members in comparison.coefficients:
        share = _shares(members[None], people, included)[0]
        if not share.any():
            return np.zeros(len(people)), 0.0, _lacking(comparison.name, members, absent)
        total += coefficient * share
    return total, 1.0, ""


def _shares(members: BoolArray, people: FloatArray, included: BoolArray) -> FloatArray:
    """Weights (stratum, cell) of the members of each stratum that have a value: by people, equal where there are none."""
    kept = members & included
    weight = np.where(kept, people, 0.0)
    total = weight.sum(axis=1, keepdims=True)
    alike = kept.any(axis=1) & ~(total[:, 0] > 0)
    weight[alike], total[alike] = kept[alike], kept[alike].sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
