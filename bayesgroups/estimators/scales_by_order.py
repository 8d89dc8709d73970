"""Prior scales of components by their order: how many attributes a component crosses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import check_scale

ScaleByOrder = float | tuple[float | None, ...] | None
"""One scale of all components, or one of those that cross 1, 2, ... attributes; the default where it is ``None`` or left out."""

HIGHEST = 50
"""Largest order that can be named."""


def by_order(word: str, given: float | Sequence[float | None] | Mapping[int, float] | None) -> ScaleByOrder:
    """Scales as one number or one of each order; keys of a mapping may be texts, as files have them.

    >>> by_order("CrossedEffects", {1: 2.5, 3: 0.5}), by_order("CrossedEffects", {"2": 1}), by_order("CrossedEffects", 0.5)
    ((2.5, None, 0.5), (None, 1.0), 0.5)
    """
    if isinstance(given, Mapping):
        scales = {_order(word, key): value for key, value in given.items()}
        if not scales:
            raise InputError(f"{word}: tau_scale is an empty mapping; leave it out for the default")
        sequence: Sequence[float | None] = [scales.get(order) for order in range(1, max(scales) + 1)]
    elif isinstance(given, list | tuple):
        sequence = given
        if not given:
            raise InputError(f"{word}: tau_scale is an empty sequence; leave it out for the default")
    else:
        check_scale(word, "tau_scale", given)  # type: ignore[arg-type]
        return given  # type: ignore[return-value]
    for order, scale in enumerate(sequence, start=1):
        check_scale(word, f"tau_scale of order {order}", scale)
    return tuple(None if scale is None else float(scale) for scale in sequence)


def orders(scales: ScaleByOrder) -> tuple[float | None, ...]:
    """The scales that are given, one or more."""
    return scales if isinstance(scales, tuple) else (scales,)


def scale_words(scales: ScaleByOrder, default: str) -> str:
    """Scales in words.

    >>> scale_words((2.5, None), "0.25 logits"), scale_words(None, "0.25 logits")
    ('2.5 (of order 1), 0.25 logits (of others)', '0.25 logits')
    """
    if not isinstance(scales, tuple):
        return f"{scales:.3g}" if scales else default
    named = [f"{scale:.3g} (of order {order})" for order, scale in enumerate(scales, start=1) if scale is not None]
    return ", ".join([*named, f"{default} (of others)"])


def _order(word: str, key: object) -> int:
    try:
        order = int(str(key))
    except ValueError:
        order = 0
    if not 1 <= order <= HIGHEST:
        raise InputError(
            f"{word}: tau_scale names the order {key!r}; an order is a whole number from 1: how many attributes are crossed"
        )
    return order
