"""Keywords of the public functions: one that a function does not have gets an error with the keyword to give instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from types import FunctionType
from typing import cast

from bayesgroups.errors import KeywordError, near_misses

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
    """Decorator of a public function: a keyword that it does not have is a `KeywordError`; everything else is the function.

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
    refuse = _refuse  # not a global of the function

    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in keywords:
                refuse(function, name, keywords)
        return function(*args, **kwargs)

    # Globals are those of the function: doctest tells by them in which module it is.
    checker = FunctionType(
        checked.__code__, cast("FunctionType", function).__globals__, None, None, checked.__closure__
    )
    return cast("Callable[P, R]", wraps(function)(checker))


def present_word(name: str, keywords: Iterable[str]) -> str:
    """The keyword of a function for which neighbouring packages have this name; empty where there is none.

    >>> present_word("random_state", ["tally", "seed"]), present_word("colour", ["tally", "seed"])
    ('seed', '')
    """
    return next((word for word in keywords if name.lower() in PRESENT_WORDS.get(word, ())), "")


def _refuse(function: object, name: str, keywords: tuple[str, ...]) -> None:
    word = present_word(name, keywords)
    fix = f"it is {word}= here{REMARKS.get(name, '')}" if word else near_misses(name, keywords)
    called = getattr(function, "__name__", "")
    raise KeywordError(f"{called}() got an unexpected keyword argument {name!r}; {fix}")
