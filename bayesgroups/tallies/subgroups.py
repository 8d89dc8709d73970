"""Intersectional subgroups: the levels of each attribute, their combinations and their labels."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from bayesgroups.data.texts import is_storable, level_text
from bayesgroups.errors import InputError
from bayesgroups.tallies.subgroup_numbers import check_number

SEPARATOR = " | "
RESERVED = frozenset({"subgroup", "metric", "feature", "task", "level", "approach", "chain", "draw", "check",
                      "score_cell", "cluster_cell", "rows", "count", "successes", "estimate", "status", "reason",
                      "row_variance", "sampling_variance", "bootstrap_variance", "pooled_variance", "pooled_df", "kind",
                      "range_lower", "range_upper", "larger_is_better", "undefined_when", "ties"})  # fmt: skip


@dataclass(frozen=True)
class Subgroups:
    """Every combination of attribute levels, in a fixed order.

    ``table`` has one tuple of level texts per subgroup, an element per attribute of ``by``; ``orders`` are attributes whose levels
    have another order than they stand in there, with these levels in order.
    """

    by: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def labels(self) -> list[str]:
        """One label per subgroup, levels joined by `SEPARATOR`."""
        return [label(levels) for levels in self.table]

    def codes(self, keys: Sequence[Sequence[str]]) -> np.ndarray:
        """The position of each tuple of level texts."""
        position = {levels: i for i, levels in enumerate(self.table)}
        return np.array([position[tuple(key)] for key in keys], dtype=np.intp)

    def coordinates(self) -> dict[str, object]:
        """Coordinates for a Dataset: ``subgroup`` and one per attribute along it."""
        attributes = {
            name: ("subgroup", np.array([levels[i] for levels in self.table], dtype=str))
            for i, name in enumerate(self.by)
        }
        return {"subgroup": np.array(self.labels, dtype=str), **attributes}


def label(levels: Iterable[str]) -> str:
    r"""Join level texts; a bar or backslash inside a level is escaped, so that labels stay unique.

    >>> print(label(["Asian", "a|b"]))
    Asian | a\|b
    """
    return SEPARATOR.join(level.replace("\\", "\\\\").replace("|", "\\|") for level in levels)


def check_attributes(by: Iterable[str], taken: Iterable[object] = RESERVED, owner: str = "tally") -> None:
    """Refuse attribute names that a tally, or another ``owner``, has for a dimension or variable, or that no report can hold."""
    names = frozenset(taken)
    for name in by:
        if name in names:
            raise InputError(
                f"attribute {name!r} has a name that the {owner} uses itself; rename the column, e.g. {name + '_'!r}"
            )
        if "/" in name:
            raise InputError(
                f"attribute {name!r} has a slash in its name, which a report cannot hold; rename the column, e.g. "
                f"{name.replace('/', '_')!r}"
            )
        if not is_storable(name):
            raise InputError(f"attribute {name!r} has a character in its name that no file can hold; rename the column")


def with_attributes(answer: xr.Dataset, coordinates: Mapping[str, object]) -> xr.Dataset:
    """An answer with coordinates of its source; an attribute that is named like a variable of the answer gives way to it."""
    variables = set(answer.data_vars)
    return answer.assign_coords({name: values for name, values in coordinates.items() if name not in variables})


def cross(
    by: Sequence[str],
    observed: Mapping[str, Iterable[object]],
    declared: Mapping[str, Iterable[object] | None],
    *,
    sort: bool = True,
) -> Subgroups:
    """Every combination of the levels observed or declared of the attributes ``by``, the slowest-varying first.

    Declared levels exist whether observed or not, and set the order; observed ones must be among them. Others are sorted (numbers,
    also as text, by value, everything else as text) or keep the order given. Two levels of one attribute may not print alike.

    >>> cross(["sex", "age"], {"sex": ["m", "f"], "age": [2, 10]}, {}).labels
    ['f | 2', 'f | 10', 'm | 2', 'm | 10']
    """
    check_attributes(by)
    levels = []
    for name in by:
        seen = list(dict.fromkeys(observed.get(name, ())))
        texts = [level_text(value) for value in seen]
        unstorable = next((text for text in texts if not is_storable(text)), None)
        if unstorable is not None:
            raise InputError(
                f"attribute {name!r} has level {unstorable!r}, with a character that no file can hold; replace it in the rows"
            )
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise InputError(
                f"attribute {name!r} has two levels that both print as {twice!r}; make the column one type"
            )
        listed = declared.get(name)
        if listed is not None:
            order = list(dict.fromkeys(level_text(value) for value in listed))
            strange = [text for text in texts if text not in order]
            if strange:
                raise InputError(
                    f"attribute {name!r} has level {strange[0]!r}, which is not among those declared: {order}"
                )
        else:
            order = [level_text(value) for value in (sorted(seen, key=level_order) if sort else seen)]
        levels.append(tuple(order))
    check_number(dict(zip(by, levels, strict=True)))
    return Subgroups(tuple(by), tuple(itertools.product(*levels)))


def of_tally(tally: xr.Dataset) -> Subgroups:
    """The subgroups of a tally."""
    by = tuple(attributes_of(tally))
    columns = [[str(value) for value in tally[name].values] for name in by]
    orders = json.loads(tally.attrs.get("by", "{}")).get("orders", {})
    return Subgroups(by, tuple(zip(*columns, strict=True)), tuple((name, tuple(orders[name])) for name in orders))


def attributes_of(dataset: xr.Dataset) -> list[str]:
    """Names of the attribute coordinates along ``subgroup``."""
    return [str(name) for name in dataset.coords if name != "subgroup" and dataset[name].dims == ("subgroup",)]


def level_order(value: object) -> tuple[int, float, str]:
    """Place of a level that nobody declared: numbers by size, then texts by the alphabet."""
    text = str(value)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return (0, number, text) if math.isfinite(number) else (1, 0.0, text)
