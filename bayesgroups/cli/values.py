"""Values of options that are more than one word: numbers or words, pairs of name and value, sequences."""

from __future__ import annotations

from collections.abc import Callable

from bayesgroups.errors import InputError, near_misses


def sequence(values: tuple[object, ...], *, undefined: object) -> object:
    """A list of what was repeated; what the function has by default where nothing was."""
    return list(values) if values or undefined is not None else None


def number_or_word(text: str, *, option: str, words: tuple[str, ...]) -> float | str | None:
    """A number, or one of some words; None for the word none.

    >>> [number_or_word(text, option="--power", words=("mean", "none")) for text in ("-inf", "mean", "none")]
    [-inf, 'mean', None]
    """
    if text in words:
        return None if text == "none" else text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} {text!r} is neither a number nor a name; {near_misses(text, words)}") from None


def pairs(texts: tuple[str, ...], *, option: str, kind: Callable[[str], object]) -> dict[str, object] | None:
    """Values by name, each typed as name=value and named once; None where there is none.

    >>> pairs(("gini=0.1", "variance=0.01"), option="--tolerance", kind=float)
    {'gini': 0.1, 'variance': 0.01}
    """
    values: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"{option} {text!r} is not of the form name=value")
        if name in values:
            raise InputError(f"{option} names {name!r} twice; give it once")
        try:
            values[name] = kind(value)
        except ValueError:
            raise InputError(f"{option} {text!r}: {value!r} is no {_NUMBERS[kind]}") from None
    return values or None


_NUMBERS: dict[Callable[[str], object], str] = {int: "whole number", float: "number"}
