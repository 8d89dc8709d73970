"""An estimator by its word or class and its settings, as files and command lines name it."""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal

from bayesgroups.errors import InputError, near_misses
from bayesgroups.estimators.base import Estimator


def class_name(estimator: type[Estimator]) -> str:
    """The name of an estimator class as ``module:Class``."""
    return f"{estimator.__module__}:{estimator.__qualname__}"


def estimator_class(name: str) -> type[Estimator]:
    """The estimator class of a word of this package, or of any imported module as ``module:Class``.

    Nothing is imported here, so that no file can have code run by naming it.

    >>> estimator_class("no_pooling").__name__
    'NoPooling'
    >>> estimator_class("my_package:Mine")
    Traceback (most recent call last):
    bayesgroups.errors.InputError: estimator 'my_package:Mine': the module 'my_package' is not imported; import it first
    """
    from bayesgroups.estimators import ESTIMATORS

    module, colon, path = name.partition(":")
    if not colon:
        words = {each.word: each for each in ESTIMATORS}
        if name not in words:
            raise InputError(
                f"estimator {name!r} does not exist; {near_misses(name, words)}; or name a class as 'module:Class'"
            )
        return words[name]
    if module not in sys.modules:
        raise InputError(f"estimator {name!r}: the module {module!r} is not imported; import it first")
    value: object = sys.modules[module]
    for part in path.split("."):  # vars() runs nothing, where getattr() could
        value = vars(value).get(part) if isinstance(value, type | ModuleType) else None
    if not (isinstance(value, type) and issubclass(value, Estimator)):
        raise InputError(
            f"estimator {name!r}: {module!r} has no class {path!r} derived from bayesgroups.estimators.Estimator"
        )
    return value


def class_to_write(name: str) -> str:
    """Advice on the class to write for an estimator that was given as text.

    >>> class_to_write("partial pooling"), class_to_write("NoPooling")
    ('write bg.PartialPooling()', 'write bg.NoPooling()')
    >>> class_to_write("no_poolin"), class_to_write("lasso")
    ("did you mean 'NoPooling'?", "'lasso' is not one; write one such as bg.PartialPooling()")
    """
    from bayesgroups.estimators import ESTIMATORS

    classes = {_letters(each.word): each.__name__ for each in ESTIMATORS}
    classes |= {_letters(each.__name__): each.__name__ for each in ESTIMATORS}
    if _letters(name) in classes:
        return f"write bg.{classes[_letters(name)]}()"
    advice = near_misses(_letters(name), classes)
    if not advice.startswith("did"):
        return f"{name!r} is not one; write one such as bg.PartialPooling()"
    return next(f"did you mean {classes[word]!r}?" for word in classes if repr(word) in advice)


def _letters(name: str) -> str:
    """A name without case, brackets and what separates its words."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def estimator_named(word: str, settings: Mapping[str, object] | None = None) -> Estimator:
    """The estimator of a word, or of a class as ``"module:Class"`` (see `estimator_class`), with settings by name.

    Lists stand for tuples, and tables for mappings; names may be one text with commas between them.

    >>> estimator_named("partial_pooling", {"tau_scale": 1})
    PartialPooling(likelihood='auto', overall_scale=None, tau_scale=1.0, clusters='effective_counts', interval='morris', \
covariates=(), coefficient_scale=None, method='reml')
    """
    leaf: Any = estimator_class(word)
    hints = typing.get_type_hints(leaf)
    types = {field.name: hints[field.name] for field in dataclasses.fields(leaf)}
    values = {}
    for name, value in (settings or {}).items():
        if name not in types:
            raise InputError(f"{word} has no setting {name!r}; {near_misses(name, types)}")
        values[name] = _fitting(word, name, value, types[name])
    made: Estimator = leaf(**values)
    return made


def _fitting(word: str, name: str, value: object, hint: Any) -> object:
    """A value as the type of its field has it."""
    kinds = typing.get_args(hint) if not _is_literal(hint) and typing.get_origin(hint) is not tuple else (hint,)
    kinds = kinds or (hint,)
    choices = [choice for kind in kinds if _is_literal(kind) for choice in typing.get_args(kind)]
    if isinstance(value, str) and value in choices:
        return value
    for kind in kinds:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if kind in (int, str, bool) and type(value) is kind:
            return value
        if typing.get_origin(kind) is tuple and isinstance(value, list | tuple):
            return tuple(value)
        if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] is str and isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if typing.get_origin(kind) is Mapping and isinstance(value, Mapping):
            return dict(value)
    wanted = [repr(choice) for choice in choices] + [
        getattr(kind, "__name__", str(kind)) for kind in kinds if not _is_literal(kind)
    ]
    raise InputError(
        f"{word}: {name}={value!r} is not one of {', '.join(part for part in wanted if part != 'NoneType')}"
    )


def _is_literal(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal
