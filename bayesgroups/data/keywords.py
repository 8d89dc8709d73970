"""Arguments of the public functions: errors for keywords that a function does not have, and for values of another type."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral
from types import FunctionType
from typing import Any, cast

from bayesgroups.data.argument_types import annotations_of, fits, is_closed, mismatch, shown
from bayesgroups.errors import BayesgroupsError, InputError, KeywordError, near_misses, refused_by_system

PRESENT_WORDS: dict[str, tuple[str, ...]] = {
    "by": (
        "sensitive_features", "sensitive_feature", "sensitive_attributes", "protected_attributes", "protected_attribute",
        "control_features", "groups", "group", "groupby", "group_by", "attributes", "subgroups",
    ),
    "weights": ("sample_weight", "sample_weights", "weight", "sampling_weights"),
    "level": (
        "alpha", "confidence", "confidence_level", "conf_level", "confidence_intervals", "ci", "ci_prob", "hdi_prob",
        "credible_mass", "ci_quantiles",
    ),
    "seed": ("random_state", "random_seed", "rng"),
    "y_true": ("y", "label", "labels", "target", "ground_truth", "outcome"),
    "y_pred": ("yhat", "y_hat", "prediction", "predictions", "decision"),
    "y_score": ("y_prob", "y_proba", "y_scores", "scores", "score", "probas_pred"),
    "loss": ("losses", "error", "errors"),
    "cluster": ("clusters", "cluster_id", "block"),
    "positive": ("pos_label", "positive_label"),
    "threshold": ("cutoff", "thresholds"),
    "metrics": ("metric", "measures", "scoring"),
    "metric": ("metrics",),
    "frame": ("data", "df", "dataframe"),
    "tally": ("counts", "data"),
    "source": ("report", "tally", "data"),
    "standards": ("standard", "threshold", "thresholds", "requirement", "requirements"),
    "standard": ("standards",),
    "estimator": ("model", "method"),
    "inference": ("engine", "sampler", "nuts_sampler", "algorithm"),
    "larger_is_better": ("greater_is_better", "higher_is_better"),
    "correction": ("adjustment", "multiplicity"),
    "missing": ("dropna", "na", "nan_policy"),
    "progress": ("progressbar", "verbose"),
}  # fmt: skip
"""Keywords of this package with the words that neighbouring packages have for them."""
REMARKS = {"alpha": ", which is 1 - alpha", "standards": " as one number"}
"""Remarks on values that are not the same under the present word."""


def checked_keywords[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a public function: `KeywordError` for a keyword that it lacks, `InputError` for an argument of another type.

    A value outside of an annotation that has a finite number of them is refused before the function is called. Elsewhere an
    error of this package that the function itself raises comes first, for it knows more, and an argument that does not have its
    annotated type and works nevertheless is taken. What the system refuses (an `OSError`,
    or a text that no file can be named by) is an `InputError` as well.

    >>> @checked_keywords
    ... def intervals(level=0.95):
    ...     return level
    >>> intervals(level=0.9)
    0.9
    >>> intervals(alpha=0.1)
    Traceback (most recent call last):
    bayesgroups.errors.KeywordError: intervals() got an unexpected keyword argument 'alpha'; it is level= here, which is 1 - alpha
    """
    keywords = tuple(signature(function).parameters)
    refuses, compare, consult, refused = refuse, _mismatch, _consult, refused_by_system  # no globals of the function

    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in keywords:
                refuses(function, name, keywords)
        wrong = compare(function, args, kwargs)
        if wrong is not None:
            result: R = consult(wrong, function, args, kwargs)
            return result
        try:
            return function(*args, **kwargs)
        except (OSError, UnicodeEncodeError) as problem:
            raise refused(problem) from problem

    # Globals are those of the function: doctest tells by them in which module it is.
    checker = FunctionType(
        checked.__code__, cast("FunctionType", function).__globals__, None, None, checked.__closure__
    )
    return cast("Callable[P, R]", wraps(function)(checker))


MAX_SEED = 2**63 - 1
"""Largest seed that a saved report can hold."""
MAX_DRAWS = 10_000_000
"""Largest number of draws or replications that a function makes."""
NUMBERS_OF_DRAWS = ("draws", "replicates", "replications", "repeats", "folds")
"""Arguments with that limit."""


@dataclass(frozen=True)
class Mismatch:
    """An argument that does not have the type of its annotation."""

    sentence: str
    closed: bool


@cache
def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, tuple[Any, Any]]]:
    """Names of positional parameters; annotations and defaults of those whose annotation is not for type checkers alone."""
    parameters = signature(function).parameters
    heavy = {
        "pd": sys.modules.get("pandas"),
        "xr": sys.modules.get("xarray"),
    }  # a module may import them for its types alone
    names = {**heavy, **cast("FunctionType", function).__globals__}
    annotations = annotations_of(function.__annotations__, names)
    expected = {name: (annotations[name], each.default) for name, each in parameters.items() if name in annotations}
    return tuple(name for name, each in parameters.items() if each.kind is Parameter.POSITIONAL_OR_KEYWORD), expected


def _mismatch(function: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object]) -> Mismatch | None:
    """The first argument of a call that has another type than annotated."""
    positional, expected = _parameters(function)
    given = {**dict(zip(positional, args, strict=False)), **kwargs}
    for name, (annotation, default) in expected.items():
        if name not in given or given[name] is default:
            continue
        value = given[name]
        if name == "seed" and annotation is int and not (fits(value, int) and 0 <= cast("int", value) <= MAX_SEED):
            most = " and below 2**63" if isinstance(value, int) and value > MAX_SEED else ""
            return Mismatch(f"seed must be a whole number, 0 or larger{most}; got {shown(value)}", closed=True)
        if name in NUMBERS_OF_DRAWS and isinstance(value, Integral) and int(value) > MAX_DRAWS:
            return Mismatch(f"{name} must be a whole number of at most {MAX_DRAWS:,}; got {shown(value)}", closed=True)
        if not fits(value, annotation):
            return Mismatch(
                mismatch(f"{cast('FunctionType', function).__name__}()", name, annotation, given[name]),
                is_closed(annotation),
            )
    if not _is_tally(given.get("tally")):
        return Mismatch(
            "tally must come from bg.tally() or a related function; got a dataset without its mark", closed=False
        )
    return None


def _is_tally(value: object) -> bool:
    """False of a dataset that does not say it is a tally."""
    return "schema" in getattr(value, "attrs", {"schema"})


def _consult(wrong: Mismatch, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call with an argument of another type, or the error of the function itself, or that of the type."""
    if wrong.closed:
        raise InputError(wrong.sentence)
    try:
        return function(*args, **kwargs)
    except (BayesgroupsError, MemoryError):
        raise
    except Exception as problem:
        raise InputError(wrong.sentence) from problem


def present_word(name: str, keywords: Iterable[str]) -> str:
    """The keyword of a function for which neighbouring packages have this name; empty where there is none.

    >>> present_word("random_state", ["tally", "seed"]), present_word("colour", ["tally", "seed"])
    ('seed', '')
    """
    return next((word for word in keywords if name.lower() in PRESENT_WORDS.get(word, ())), "")


def refuse(function: object, name: str, keywords: tuple[str, ...]) -> None:
    """`KeywordError` for a keyword that a function or class lacks, with the one to give."""
    word = present_word(name, keywords)
    fix = f"it is {word}= here{REMARKS.get(name, '')}" if word else near_misses(name, keywords)
    called = getattr(function, "__name__", "")
    raise KeywordError(f"{called}() got an unexpected keyword argument {name!r}; {fix}")
