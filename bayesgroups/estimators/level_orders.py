"""Orders of the levels of attributes, as settings of an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import xarray as xr

LevelOrders = tuple[str, ...] | Mapping[str, Sequence[str]]
"""Attributes in the order of the tally, or with their levels in order."""


def levels_in_order(word: str, given: Mapping[str, Sequence[str]] | Sequence[str]) -> LevelOrders:
    """Orders with levels as texts; InputError if one names fewer than two levels, or one of them twice.

    >>> levels_in_order("CrossedEffects", {"decile": [1, 2, 3]}), levels_in_order("CrossedEffects", ["age"])
    ({'decile': ('1', '2', '3')}, ('age',))
    """
    if isinstance(given, str):
        raise InputError(
            f"{word}: ordered={given!r} must be a tuple of attributes, ordered=({given!r},), or a mapping to levels"
        )
    if not isinstance(given, Mapping):
        return tuple(str(name) for name in given)
    orders = {}
    for name, levels in given.items():
        if isinstance(levels, str):
            raise InputError(f"{word}: ordered[{name!r}] must be a list of levels; got the text {levels!r}")
        named = tuple(str(level) for level in levels)
        twice = [level for level in dict.fromkeys(named) if named.count(level) > 1]
        if twice or len(named) < 2:
            fault = f"names {twice[0]!r} twice" if twice else f"must name two levels or more; got {list(named)}"
            raise InputError(f"{word}: ordered[{name!r}] {fault}")
        orders[str(name)] = named
    return orders


def cyclic_among(word: str, cyclic: Sequence[str], ordered: LevelOrders) -> tuple[str, ...]:
    """Cyclic attributes; InputError if one is not ordered.

    >>> cyclic_among("CrossedEffects", ["month"], ("month", "age"))
    ('month',)
    """
    names = (cyclic,) if isinstance(cyclic, str) else tuple(cyclic)
    for name in names:
        if name not in ordered:
            raise InputError(
                f"{word}: cyclic names {name!r}, which is not ordered; {near_misses(str(name), list(ordered))}"
            )
    return names


def orders_by_attribute(ordered: LevelOrders) -> Mapping[str, Sequence[str] | None]:
    """Levels in order by attribute, None for those in the order of the tally.

    >>> orders_by_attribute(("age",))
    {'age': None}
    """
    return ordered if isinstance(ordered, Mapping) else dict.fromkeys(ordered)


class Orders(NamedTuple):
    """Settings of ordered attributes: with their levels or without, and those whose last level is beside the first."""

    ordered: LevelOrders
    cyclic: tuple[str, ...]

    @property
    def levels(self) -> Mapping[str, Sequence[str] | None]:
        """Levels in order by attribute, as models take them."""
        return orders_by_attribute(self.ordered)


def orders_of(word: str, ordered: Mapping[str, Sequence[str]] | Sequence[str], cyclic: Sequence[str]) -> Orders:
    """Both settings; InputError where they cannot be meant.

    >>> orders_of("compare_systems", ["age"], ()).levels
    {'age': None}
    """
    given = levels_in_order(word, ordered)
    return Orders(given, cyclic_among(word, cyclic, given))


def order_settings(ordered: LevelOrders, cyclic: Sequence[str]) -> dict[str, object]:
    """Both settings as a report stores them.

    >>> order_settings(("age",), ()), order_settings((), ())
    ({'ordered': ['age'], 'cyclic': []}, {'ordered': [], 'cyclic': []})
    """
    return {"ordered": list(ordered) if isinstance(ordered, tuple) else dict(ordered), "cyclic": list(cyclic)}


def order_words(ordered: LevelOrders, tally: xr.Dataset) -> str:
    """The prior of the shares that follow orders, and the levels in these orders; empty where there is none.

    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> tally = bg.tally_from_counts([1, 2, 3], [9, 9, 9], pd.DataFrame({"age": ["young", "middle", "old"]}))
    >>> order_words(("age",), tally)
    ', and a uniform one on the share that follows the order of age (young < middle < old)'
    """
    if not ordered:
        return ""
    from bayesgroups.models.shared.ordered_levels import order_of

    words = [
        f"{name} ({' < '.join(levels or order_of(tally, name))})"
        for name, levels in orders_by_attribute(ordered).items()
    ]
    return f", and a uniform one on the share that follows the order of {' and '.join(words)}"
