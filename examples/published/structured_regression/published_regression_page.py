"""The page of the structured-regression paper's experiments: tables, and what they say of its claims."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import pandas as pd

from examples.published.structured_regression.published_regression import ENTRANTS, POINT, SYNTHETIC

BORROWING = ("James-Stein", "empirical Bayes", "structured regression")
REFERENCE = (
    "Herlihy, Truong, Chouldechova and Dudik (2024), *A structured regression approach for evaluating model performance across "
    "intersectional subgroups*, doi:10.1145/3630106.3658908"
)
INTRODUCTION = """\
Again and again 5,000 admissions are drawn, stratified by subgroup, from the 73,988 that the risk model did not see; every
estimator answers, and is compared with the values of all 73,988. A small subgroup has at most 25 rows in the draw. The risk
model is our own logistic regression, and the paper gives neither its penalty, its folds, its grid nor how admissions were drawn,
so the figures cannot agree to the digit; what can be checked is their order. Model-based metrics have a page of their own.
Plus or minus is the Monte Carlo standard error over draws.
"""
BOOTSTRAPS = """\
The interval of structured regression resamples errors of known variance. "Residuals" is the paper's own way, which resamples the
residuals of the fit: indicators of every subgroup let the fit come close to the data, so that the residuals are too small.
"""
SYNTHETIC_NOTE = """\
The decisions are replaced by values whose mean depends on age alone, on a feature of the rows (`expl`), on age and race added,
or on one cell of age and race. Structured regression sees attributes and identities here, not the feature.
"""


def page(found: Mapping[str, pd.DataFrame], draws: Sequence[int], command: str) -> str:
    """Markdown of all experiments."""
    parts = [
        "# Structured regression: the paper's experiments", "",
        f"The experiments of figures 1 to 4 and 6 to 8 of {REFERENCE}.", "", "Everything below is printed by", "",
        "```sh", command, "```", "", INTRODUCTION,
    ]  # fmt: skip
    for number in draws:
        table = found[f"diabetes {number}"]
        parts += [
            f"## Errors, {number} draws", "", "Mean absolute error, all subgroups:", "",
            *_grid(table, "mae", POINT, "all"), "", "Small subgroups:", "", *_grid(table, "mae", POINT, "small"), "",
            _errors_said(table), "",
            f"## Intervals, {number} draws", "", "Coverage of 95 % intervals, in percent, all and small:", "",
            *_intervals(table), "", BOOTSTRAPS, _coverage_said(table), "",
        ]  # fmt: skip
    parts += [
        "## Bias and variance along the penalty", "",
        "Mean over the metrics, relative to the mean squared error of the standard estimates of the same subgroups; the penalty is "
        "a share of the one from which on only the intercept is left.", "",
        *_curve(found["penalty"]), "", _curve_said(found["penalty"]), "",
        "## Synthetic truths (appendix D)", "", SYNTHETIC_NOTE, *_synthetic(found), "", _synthetic_said(found), "",
    ]  # fmt: skip
    return "\n".join(parts)


def _at(table: pd.DataFrame, metric: str, estimator: str, size: str, column: str) -> float:
    place = table.index.to_list().index((metric, estimator, size))
    return float(table[column].to_list()[place])


def _metrics(table: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(table.index.get_level_values("metric")))


def _grid(table: pd.DataFrame, measure: str, estimators: Sequence[str], size: str) -> list[str]:
    lines = [f"| metric | {' | '.join(estimators)} |", f"| --- |{' --- |' * len(estimators)}"]
    for metric in _metrics(table):
        cells = [
            f"{_at(table, metric, name, size, measure):.4f} ± {_at(table, metric, name, size, f'{measure}_se'):.4f}"
            for name in estimators
        ]
        lines.append(f"| {metric} | {' | '.join(cells)} |")
    return lines


def _intervals(table: pd.DataFrame) -> list[str]:
    metrics = _metrics(table)
    lines = [f"| interval | {' | '.join(metrics)} | width, relative |", f"| --- |{' --- |' * (len(metrics) + 1)}"]
    for name in ENTRANTS:
        cells = [
            " / ".join(f"{100 * _at(table, metric, name, size, 'coverage'):.0f}" for size in ("all", "small"))
            for metric in metrics
        ]
        width = sum(_at(table, metric, name, "all", "relative_width") for metric in metrics) / len(metrics)
        lines.append(f"| {name} | {' | '.join(cells)} | {width:.2f} |")
    return lines


def _best(table: pd.DataFrame, size: str) -> dict[str, str]:
    """The estimator of least mean absolute error, by metric."""
    return {metric: min(POINT, key=lambda name: _at(table, metric, name, size, "mae")) for metric in _metrics(table)}


def _errors_said(table: pd.DataFrame) -> str:
    metrics = _metrics(table)
    better = sum(
        _at(table, metric, name, "small", "mae") < _at(table, metric, "standard", "small", "mae")
        for metric in metrics for name in BORROWING
    )  # fmt: skip
    small, large = _best(table, "small"), _best(table, "large")
    return (
        f"*Claim: borrowing strength helps, above all small subgroups.* In {better} of {len(metrics) * len(BORROWING)} "
        "comparisons the error in small subgroups is below that of the standard estimate. *Claim: structured regression is "
        f"slightly best on small subgroups, empirical Bayes on large ones.* Least error on small subgroups: {_count(small)}; "
        f"on large ones: {_count(large)}."
    )


def _count(best: Mapping[str, str]) -> str:
    names = list(best.values())
    return ", ".join(f"{name} on {names.count(name)} of {len(names)} metrics" for name in dict.fromkeys(names))


def _coverage_said(table: pd.DataFrame) -> str:
    def mean(name: str, size: str) -> float:
        metrics = _metrics(table)
        return 100 * sum(_at(table, metric, name, size, "coverage") for metric in metrics) / len(metrics)

    said = ", ".join(f"{name} {mean(name, 'all'):.1f} / {mean(name, 'small'):.1f}" for name in ENTRANTS)
    return f"*Claim: standard and structured regression cover about what they promise.* Mean over the metrics, all / small: {said}."


def _over_metrics(table: pd.DataFrame, column: str) -> dict[tuple[str, float], float]:
    """The mean over the metrics, by size class and share of the penalty."""
    values: dict[tuple[str, float], list[float]] = {}
    for size, fraction, value in zip(table["size_class"], table["fraction"], table[column], strict=True):
        values.setdefault((str(size), float(fraction)), []).append(float(value))
    return {key: statistics.fmean(found) for key, found in values.items()}


def _curve(table: pd.DataFrame) -> list[str]:
    lines = [
        "| penalty | small: squared bias | variance | sum | large: squared bias | variance | sum |",
        f"|{' --- |' * 7}",
    ]
    parts = [_over_metrics(table, column) for column in ("squared_bias", "variance", "mse")]
    for fraction in sorted(set(table["fraction"]), reverse=True):
        cells = [f"{part[size, fraction]:.3f}" for size in ("small", "large") for part in parts]
        lines.append(f"| {fraction:g} | {' | '.join(cells)} |")
    return lines


def _curve_said(table: pd.DataFrame) -> str:
    mean = _over_metrics(table, "mse")
    best = {size: min((key for key in mean if key[0] == size), key=mean.__getitem__)[1] for size in ("small", "large")}
    return (
        "*Claim: one penalty is about right for small and large subgroups alike, thanks to the weights.* The least sum is at "
        f"{best['small']:g} for small and at {best['large']:g} for large ones."
    )


def _synthetic(found: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = [f"| truth | {' | '.join(POINT)} |", f"| --- |{' --- |' * len(POINT)}"]
    for model in SYNTHETIC:
        cells = [
            " / ".join(f"{_at(found[model], 'value', name, size, 'mae'):.4f}" for size in ("all", "small"))
            for name in POINT
        ]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return ["Mean absolute error, all / small:", "", *lines]


def _synthetic_said(found: Mapping[str, pd.DataFrame]) -> str:
    best = {model: min(POINT, key=lambda name: _at(found[model], "value", name, "all", "mae")) for model in SYNTHETIC}
    said = ", ".join(f"{model}: {name}" for model, name in best.items())
    return f"*Claim: structured regression gains most where the structure is in its features.* Least error: {said}."
