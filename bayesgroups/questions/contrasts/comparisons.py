"""Comparisons that a question asks for: which cells stand on both sides, the same for every metric."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal, NoReturn, cast

import numpy as np

from bayesgroups.data.arrays import BoolArray
from bayesgroups.errors import InputError
from bayesgroups.questions.certification.overlapping import ALL
from bayesgroups.questions.contrasts.cells import Cells
from bayesgroups.tallies.subgroups import SEPARATOR, label

Reference = str | float | Mapping[str, str]
"""A subgroup or margin by its label or by its levels, a word, or a value of the metric."""
Kind = Literal["pair", "overall", "rest", "best", "number", "vector"]
WORDS = {"overall": "everyone", "rest": "everyone else", "best": "the best subgroup"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """A contrast: labels of both sides, their cells by stratum (stratum, cell), and the people of the strata (stratum, cell).

    ``levels`` are those of the attributes that are held equal, ``(all)`` where strata are averaged. A ``vector`` has
    coefficients of sides in place of two sides; ``value`` is that of a reference that is a number.
    """

    name: str
    subgroup: str
    reference: str
    kind: Kind
    over: BoolArray
    under: BoolArray
    strata: BoolArray
    levels: Mapping[str, str] = field(default_factory=dict)
    coefficients: tuple[tuple[float, BoolArray], ...] = ()
    value: float = float("nan")


def plan(
    cells: Cells, reference: Reference, of: Sequence[str] | str | None, within: Sequence[str] | str | None,
    vectors: Mapping[str, Mapping[str, float]] | None, *, margins: bool, order: int | None,
) -> list[Comparison]:  # fmt: skip
    """Comparisons in the order in which they are answered; an InputError names the setting that cannot be used."""
    if vectors is not None:
        return [_vector(cells, name, coefficients) for name, coefficients in vectors.items()] or _nothing("contrasts=")
    held = _names(within)
    if isinstance(reference, Mapping):
        return _of_levels(cells, reference, of, held)
    if held:
        raise InputError(
            f"within={held} needs a reference by levels, such as reference={{'sex': 'male'}}; got {reference!r}"
        )
    compared = _compared(cells, of, margins=margins, order=order)
    if isinstance(reference, Real) and not isinstance(reference, bool):
        if not np.isfinite(reference):
            raise InputError(f"reference={reference!r} must be a finite value of the metric")
        return [_against_number(name, members, float(reference)) for name, members in compared.items()]
    if not isinstance(reference, str):
        raise InputError(
            f"reference={reference!r} is not a label, levels such as {{'sex': 'male'}}, 'overall', 'rest', 'best' or a number"
        )
    every = np.ones(cells.labels.shape, dtype=bool)
    if reference in WORDS and reference not in cells.each:
        kind = cast("Kind", reference)
        if reference == "best" and (margins or any(members.sum() > 1 for members in compared.values())):
            raise InputError("reference='best' is of subgroups that share no rows; leave margins out")
        return [
            _pair(name, WORDS[reference], members, ~members if reference == "rest" else every, kind)
            for name, members in compared.items()
        ]
    against = cells.members(reference, "reference=")
    kept = {name: members for name, members in compared.items() if name != reference}
    return [_pair(name, reference, members, against) for name, members in kept.items()] or _nothing(
        f"reference={reference!r} is every subgroup that is compared, and"
    )


def _compared(
    cells: Cells, of: Sequence[str] | str | None, *, margins: bool, order: int | None
) -> dict[str, BoolArray]:
    """Subgroups that are compared, by their labels: cells, and margins of few attributes before them if asked."""
    if order is not None and not margins:
        raise InputError(f"order={order!r} is about margins; give margins=True as well")
    if order is not None and order < 1:
        raise InputError(f"order={order!r} must be 1 or larger: the most attributes that a margin looks at")
    if of is not None:
        return {str(name): cells.members(name, "of=") for name in _names(of)} or _nothing("of=")
    if not margins:
        return cells.each
    highest = len(cells.levels) if order is None else order
    return {name: mask for name, mask in cells.margins.items() if _crossed(name) <= highest} | cells.each


def _of_levels(
    cells: Cells, reference: Mapping[str, object], of: Sequence[str] | str | None, held: list[str]
) -> list[Comparison]:
    """Comparisons of the other levels of some attributes with those of the reference, within strata of others if asked."""
    base = cells.check_levels(reference, "reference=")
    if not base:
        _nothing("reference={} has no levels, and")
    for name in held:
        if name not in cells.levels:
            raise InputError(f"within=: there is no attribute {name!r}; the attributes are {cells.attributes}")
        if name in base:
            raise InputError(f"within= has the attribute {name!r}, which reference={dict(base)} compares; leave it out")
    choices = [dict.fromkeys(cells.levels[name].tolist()) for name in base]
    combinations = [dict(zip(base, levels, strict=True)) for levels in itertools.product(*choices)]
    texts = {_text(levels): cells.with_levels(levels) for levels in combinations if levels != base}
    if of is not None:
        short = {label(levels.values()): _text(levels) for levels in combinations}
        wanted = [short.get(name, name) for name in _names(of)]
        unknown = [name for name in wanted if name not in texts]
        if unknown:
            raise InputError(f"of=: {unknown[0]!r} is not one of {list(texts)}")
        texts = {name: texts[name] for name in wanted}
    against, answers = cells.with_levels(base), []
    strata = [
        dict(zip(held, levels, strict=True))
        for levels in itertools.product(*(dict.fromkeys(cells.levels[name].tolist()) for name in held))
    ]
    places = np.array([cells.with_levels(stratum) for stratum in strata])
    for name, members in texts.items():
        if not held:
            answers.append(_pair(name, _text(base), members, against))
            continue
        title = f"{name} against {_text(base)}"
        everywhere = f"{title} at equal {' and '.join(held)}"
        parts = (places & members, places & against, places)
        answers.append(Comparison(everywhere, name, _text(base), "pair", *parts, levels=dict.fromkeys(held, ALL)))
        for i, stratum in enumerate(strata):
            part = slice(i, i + 1)
            answers.append(
                Comparison(
                    f"{title}, {_text(stratum)}", name, _text(base), "pair", parts[0][part], parts[1][part], parts[2][part],
                    levels=stratum,
                )
            )  # fmt: skip
    return answers or _nothing(f"reference={dict(base)} has every row, and")


def _vector(cells: Cells, name: str, coefficients: Mapping[str, float]) -> Comparison:
    values = np.array(list(coefficients.values()), dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or not values.any():
        raise InputError(f"contrasts=: {name!r} must have finite coefficients, not all 0; got {dict(coefficients)}")
    if abs(values.sum()) > 1e-9 * np.abs(values).sum():
        raise InputError(f"contrasts=: the coefficients of {name!r} must sum to 0; they sum to {values.sum():g}")
    setting = f"contrasts= {name!r}"
    sides = tuple((float(c), cells.members(label, setting)) for label, c in coefficients.items())
    nothing = np.zeros((0, len(cells.labels)), dtype=bool)
    sums = [
        " + ".join(label if abs(c) == 1 else f"{abs(c):g} {label}" for label, c in coefficients.items() if sign * c > 0)
        for sign in (1, -1)
    ]
    return Comparison(str(name), sums[0], sums[1], "vector", nothing, nothing, nothing, coefficients=sides)


def _pair(name: str, reference: str, over: BoolArray, under: BoolArray, kind: Kind = "pair") -> Comparison:
    every = np.broadcast_to(True, (1, len(over)))
    return Comparison(f"{name} against {reference}", name, reference, kind, over[None], under[None], every)


def _against_number(name: str, members: BoolArray, value: float) -> Comparison:
    nothing, every = np.zeros((1, len(members)), dtype=bool), np.ones((1, len(members)), dtype=bool)
    text = f"{value:g}"
    return Comparison(f"{name} against {text}", name, text, "number", members[None], nothing, every, value=value)


def _crossed(margin: str) -> int:
    """Number of attributes that a margin with this label looks at."""
    return sum(level != ALL for level in margin.split(SEPARATOR))


def _text(levels: Mapping[str, str]) -> str:
    """Levels in words, as ``sex=f, race=A``."""
    return ", ".join(f"{name}={level}" for name, level in levels.items())


def _names(names: Sequence[str] | str | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else [str(name) for name in names]  # a column of names has no truth value


def _nothing(setting: str) -> NoReturn:
    raise InputError(f"{setting} leaves nothing to compare; name a subgroup besides the reference")
