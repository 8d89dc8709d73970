"""Metrics as callers name them: one or several, with errors that know the words of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from bayesgroups.data.metrics import NAMES, Metric, named
from bayesgroups.errors import InputError

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "sel": ("selection", "positive_rate", "predicted_positive_rate", "demographic_parity", "statistical_parity"),
    "acc": ("accuracy",),
    "correct": ("exact_match", "pass_rate", "is_correct"),
    "tpr": ("recall", "sensitivity", "hit", "true_positive", "equal_opportunity"),
    "fnr": ("miss", "false_negative"),
    "fpr": ("fall_out", "fallout", "false_positive"),
    "tnr": ("specificity", "selectivity", "true_negative"),
    "ppv": ("precision", "positive_predictive_value"),
    "fdr": ("false_discovery",),
    "npv": ("negative_predictive_value",),
    "for": ("false_omission",),
    "f1": ("f", "f_score", "f1score", "fscore", "f_measure", "dice"),
    "auc": ("roc_auc", "auroc", "area_under_curve", "auc_roc", "concordance"),
}
"""Metrics of this package with the words that other packages have for them, without the endings of `ENDINGS`."""
ENDINGS = ("_score", "_rate")
"""Endings that names of metrics may have."""
MEANS = {
    "mae": "absolute error", "mean_absolute_error": "absolute error", "mse": "squared error",
    "mean_squared_error": "squared error", "wer": "word error rate", "word_error_rate": "word error rate",
    "log_loss": "log loss", "brier": "squared error of the probability", "brier_score": "squared error of the probability",
    "brier_score_loss": "squared error of the probability", "cross_entropy": "log loss",
}  # fmt: skip
"""Metrics that are the mean of a number per row, and that number."""
COMPLEMENTS = {"error_rate": "acc", "error": "acc", "zero_one_loss": "acc", "err": "acc"}
"""Metrics that are 1 minus one of this package."""
GRADED = "answers that are graded 1 or 0 already, named by correct="
"""Answers that have one metric, whatever made them right."""
METRICS_LIST = "metrics= takes a name, a bg.Metric or a list of these"


def resolve_metrics(metrics: Sequence[str | Metric] | str | Metric) -> list[Metric]:
    """The metrics that are named, in order; case does not matter, and tables have the names of this package.

    >>> [metric.name for metric in resolve_metrics(["FNR", "tpr[Cat]"])]
    ['fnr', 'tpr[Cat]']
    """
    if isinstance(metrics, Mapping):
        raise _mapping(metrics)
    if callable(metrics):
        raise _function(metrics)
    if not isinstance(metrics, str | Metric) and (
        not isinstance(metrics, Iterable) or isinstance(metrics, AbstractSet)
    ):
        raise InputError(f"{METRICS_LIST}; got {type(metrics).__name__}")
    several = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not several:
        raise InputError("metrics= is empty; name at least one, as metrics=['fnr']")
    resolved = [_resolved(metric) for metric in several]
    names = [metric.name for metric in resolved]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"metrics= has {twice[0]!r} twice")
    return resolved


def synonym_of(name: str) -> str:
    """The metric of this package that other packages call by a name; empty where there is none.

    >>> synonym_of("recall_score"), synonym_of("False_Negative_Rate"), synonym_of("kappa")
    ('tpr', 'fnr', '')
    """
    word = name.lower().replace(" ", "_").replace("-", "_")
    words = {word, *(word.removesuffix(ending) for ending in ENDINGS)}
    return next((metric for metric, synonyms in SYNONYMS.items() if words & {metric, *synonyms}), "")


def _resolved(metric: object) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        raise _function(metric)
    if not isinstance(metric, str):
        raise InputError(f"{METRICS_LIST}; it has {metric!r}")
    rate, bracket, label = metric.partition("[")
    name = rate.lower() + bracket + label
    if rate.lower() in NAMES:
        return named(name)
    fix = _fix(rate.lower())
    if fix and not bracket:
        raise InputError(f"unknown metric {metric!r}; {fix}")
    if synonym_of(rate) and bracket:
        raise InputError(f"unknown metric {metric!r}; it is {synonym_of(rate) + bracket + label!r} here")
    return named(metric)


def _fix(word: str) -> str:
    """The way to get the metric of a word; empty where nothing is known of it."""
    if word in COMPLEMENTS:
        return f"it is 1 minus {COMPLEMENTS[word]!r}, which is a metric here"
    if word in MEANS:
        return f"it is 'mean' of a column with the {MEANS[word]} of every row, named by loss="
    name = synonym_of(word)
    graded = f", or 'correct' of {GRADED}" if name == "acc" else ""
    return f"it is {name!r} here{graded}" if name else ""


def _mapping(metrics: Mapping[object, object]) -> InputError:
    name, value = next(iter(metrics.items()), ("", None))
    if callable(value):
        return _function(value, str(name))
    return InputError(
        f"{METRICS_LIST}, and tables have them by these names; got a dictionary, so give its values, as "
        f"metrics={[str(getattr(metric, 'name', metric)) for metric in metrics.values()]}"
    )


def _function(function: Callable[..., object], key: str = "") -> InputError:
    """The error of a metric that is a function of all rows."""
    called = str(getattr(function, "__name__", type(function).__name__))
    name = key or called
    fix = _fix(called.lower()) or _fix(key.lower())
    fix = f"; {called}: {fix}" if fix else ""
    return InputError(
        f"{METRICS_LIST}; got a function for {name!r}, which sees arrays, where a tally has sums over rows{fix}. A metric that is "
        f"a mean over rows is an expression, bg.Metric({name!r}, value=...), or 'mean' of a column named by loss=; for any other "
        "score of scikit-learn see bayesgroups.interop.tally_from_scorer"
    )
