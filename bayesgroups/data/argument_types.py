"""Types of arguments, held against the annotations of a public function."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

from bayesgroups.errors import near_misses

NAMES = {
    bool: "True or False",
    str: "a text",
    int: "a whole number",
    float: "a number",
    type(None): "None",
    Path: "a path",
}
"""Types in words."""
MAX_SHOWN = 60
"""Characters of a value that a message shows."""


def fits(value: object, annotation: Any) -> bool:
    """True if a value has the type of an annotation, or nobody can tell.

    Numbers of NumPy are numbers, whole ones also where any number fits, and True is none; a sequence may be any collection.

    >>> fits(1, float), fits(True, float), fits("zz", Literal["a", "b"]), fits(["x", 1], Iterable[str])
    (True, False, False, False)
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in arguments)
    if origin is Literal:
        return any(value == choice for choice in arguments) if isinstance(value, str | bool | int | None) else False
    if annotation is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool" or (isinstance(value, int) and value in (0, 1))
    if _is_array_like(annotation):
        several = hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0
        return several and not isinstance(value, str | bytes | Mapping)
    if annotation in (int, float):
        number = isinstance(value, Integral if annotation is int else Real) and not isinstance(value, bool)
        return number and not (isinstance(value, int) and abs(value) > sys.float_info.max)
    if annotation is Path:
        return isinstance(value, os.PathLike)
    if origin is tuple and arguments:
        return _fits_tuple(value, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(each, part) for pair in value.items() for each, part in zip(pair, arguments, strict=False)
        )
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _fits_items(value, arguments[0])
    if origin is Callable or annotation is Callable:
        return callable(value)
    if is_typeddict(annotation):
        return isinstance(value, Mapping)
    if isinstance(annotation, type) and origin is None:
        return annotation in (object, Any) or isinstance(value, annotation)
    return True


def is_closed(annotation: Any) -> bool:
    """True if an annotation has a finite number of values: another value must not pass, even where a function takes it."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return all(part in (bool, type(None)) or get_origin(part) is Literal for part in parts)


def described(annotation: Any) -> str:
    """An annotation in words.

    >>> described(Literal["a", "b"] | None), described(float), described(Iterable[str])
    ("'a', 'b' or None", 'a number', 'a sequence, each a text')
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        words = list(dict.fromkeys(described(part) for part in arguments))
        return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    if origin is Literal:
        return ", ".join(map(repr, arguments))
    if _is_array_like(annotation):
        return "an array"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping from {described(arguments[0])} to {described(arguments[1])}"
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return f"({', '.join(map(described, arguments))})"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return f"a sequence, each {described(arguments[0])}"
    return NAMES.get(annotation) or str(getattr(annotation, "__name__", annotation))


def mismatch(owner: str, name: str, annotation: Any, value: object) -> str:
    """The message of an argument of another type.

    >>> mismatch("ranks()", "level", float, "high")
    "ranks(): level= must be a number; got 'high' (str)"
    >>> mismatch("ranks()", "using", Literal["tally", "posterior"], "taly")
    "ranks(): using='taly' is not one of 'tally', 'posterior'; did you mean 'tally'?"
    """
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    choices = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if isinstance(value, str) and choices and is_closed(annotation):
        hint = near_misses(value, choices)
        close = f"; {hint}" if hint.startswith("did") else ""
        return f"{owner}: {name}={value!r} is not one of {described(annotation)}{close}"
    plain = isinstance(value, str | int | float | bool | tuple | list | dict | None)
    cut = shown(value) if plain else ""
    kind = type(value).__name__
    return f"{owner}: {name}= must be {described(annotation)}; got {f'{cut} ({kind})' if cut else kind}"


def shown(value: object) -> str:
    """A value as a message shows it, cut where it is long; Python refuses to write whole numbers of thousands of digits.

    >>> shown(10**9), shown(10**5000)
    ('1000000000', 'a number of more than 4300 digits')
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:
        text = f"a number of more than {sys.get_int_max_str_digits()} digits"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def annotations_of(annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations as types; those that name what only type checkers import are left out."""
    types_of = {}
    for name, text in annotations.items():
        with suppress(NameError, AttributeError, TypeError):
            types_of[name] = eval(text, dict(names)) if isinstance(text, str) else text
    return types_of


def _is_array_like(annotation: Any) -> bool:
    """True of NumPy's word for what an array can be made of, whichever kind of alias it is; NumPy is not imported for it."""
    return annotation is not None and annotation is getattr(sys.modules.get("numpy.typing"), "ArrayLike", None)


def _fits_tuple(value: object, parts: tuple[Any, ...]) -> bool:
    """True if a value has the parts of a tuple of any length, or of a fixed one."""
    if parts[-1] is Ellipsis:
        return _fits_items(value, parts[0])
    if not isinstance(value, list | tuple) or len(value) != len(parts):
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | list | tuple)
    return all(fits(each, part) for each, part in zip(value, parts, strict=True))


def _fits_items(value: object, item: Any) -> bool:
    if isinstance(value, str | bytes):
        return isinstance(value, str) and fits(value, item)
    if getattr(value, "ndim", 1) == 0:
        return False
    if isinstance(value, list | tuple | set | frozenset | range):
        return all(fits(each, item) for each in value)
    if hasattr(value, "to_numpy") or hasattr(value, "ravel"):
        import numpy as np  # the command line asks for types of options before anything heavy is imported

        return all(fits(each, item) for each in np.asarray(value).ravel().tolist())
    return isinstance(value, Iterable) and not isinstance(value, Mapping)
