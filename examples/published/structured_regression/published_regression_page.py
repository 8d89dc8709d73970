"""Numbers of the page of the structured-regression paper's experiments: tables, and what they say of its claims."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import pandas as pd

from examples.pages import PAGES, table
from examples.published.structured_regression.published_regression import COMPETITORS, POINT, SYNTHETIC

BORROWING = ("James-Stein", "empirical Bayes", "structured regression")
PAGE = PAGES / "regression_paper.md"


def numbers(tables: Mapping[str, pd.DataFrame], draws: Sequence[int]) -> dict[str, str]:
    """Texts of the page by the name of their block, from the tables of all experiments."""
    made: dict[str, str] = {}
    for number in draws:
        measured = tables[f"diabetes {number}"]
        made |= {
            f"errors, all, {number} draws": _grid(measured, "mae", POINT, "all"),
            f"errors, small, {number} draws": _grid(measured, "mae", POINT, "small"),
            f"gains, {number} draws": _gains(measured),
            f"least errors, {number} draws": _least_errors(measured),
            f"coverage, {number} draws": _intervals(measured),
            f"mean coverage, {number} draws": _mean_coverage(measured),
        }
    return made | {
        "penalty": _curve(tables["penalty"]),
        "least sums": _least_sums(tables["penalty"]),
        "synthetic errors": _synthetic(tables),
        "least synthetic errors": _least_synthetic(tables),
    }


def _at(measured: pd.DataFrame, metric: str, estimator: str, size: str, column: str) -> float:
    place = measured.index.to_list().index((metric, estimator, size))
    return float(measured[column].to_list()[place])


def _metrics(measured: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(measured.index.get_level_values("metric")))


def _grid(measured: pd.DataFrame, measure: str, estimators: Sequence[str], size: str) -> str:
    rows = [
        [
            metric,
            *(
                f"{_at(measured, metric, name, size, measure):.4f} ± {_at(measured, metric, name, size, f'{measure}_se'):.4f}"
                for name in estimators
            ),
        ]
        for metric in _metrics(measured)
    ]
    return table(["metric", *estimators], rows)


def _intervals(measured: pd.DataFrame) -> str:
    metrics, rows = _metrics(measured), []
    for name in COMPETITORS:
        cells = [
            " / ".join(f"{100 * _at(measured, metric, name, size, 'coverage'):.0f}" for size in ("all", "small"))
            for metric in metrics
        ]
        width = sum(_at(measured, metric, name, "all", "relative_width") for metric in metrics) / len(metrics)
        rows.append([name, *cells, f"{width:.2f}"])
    return table(["interval", *metrics, "width, relative"], rows)


def _best(measured: pd.DataFrame, size: str) -> dict[str, str]:
    """The estimator of least mean absolute error, by metric."""
    return {
        metric: min(POINT, key=lambda name: _at(measured, metric, name, size, "mae")) for metric in _metrics(measured)
    }


def _gains(measured: pd.DataFrame) -> str:
    metrics = _metrics(measured)
    better = sum(
        _at(measured, metric, name, "small", "mae") < _at(measured, metric, "standard", "small", "mae")
        for metric in metrics for name in BORROWING
    )  # fmt: skip
    return f"{better} of {len(metrics) * len(BORROWING)}."


def _least_errors(measured: pd.DataFrame) -> str:
    return "\n".join(f"- {size} subgroups: {_count(_best(measured, size))}" for size in ("small", "large"))


def _count(best: Mapping[str, str]) -> str:
    names = list(best.values())
    return ", ".join(f"{name} on {names.count(name)} of {len(names)} metrics" for name in dict.fromkeys(names))


def _mean_coverage(measured: pd.DataFrame) -> str:
    def mean(name: str, size: str) -> float:
        metrics = _metrics(measured)
        return 100 * sum(_at(measured, metric, name, size, "coverage") for metric in metrics) / len(metrics)

    return ", ".join(f"{name} {mean(name, 'all'):.1f} / {mean(name, 'small'):.1f}" for name in COMPETITORS) + "."


def _over_metrics(measured: pd.DataFrame, column: str) -> dict[tuple[str, float], float]:
    """The mean over the metrics, by size class and share of the penalty."""
    values: dict[tuple[str, float], list[float]] = {}
    for size, fraction, value in zip(measured["size_class"], measured["fraction"], measured[column], strict=True):
        values.setdefault((str(size), float(fraction)), []).append(float(value))
    return {key: statistics.fmean(per_metric) for key, per_metric in values.items()}


def _curve(measured: pd.DataFrame) -> str:
    parts = [_over_metrics(measured, column) for column in ("squared_bias", "variance", "mse")]
    rows = [
        [f"{fraction:g}", *(f"{part[size, fraction]:.3f}" for size in ("small", "large") for part in parts)]
        for fraction in sorted(set(measured["fraction"]), reverse=True)
    ]
    return table(["penalty", "small: squared bias", "variance", "sum", "large: squared bias", "variance", "sum"], rows)


def _least_sums(measured: pd.DataFrame) -> str:
    mean = _over_metrics(measured, "mse")
    best = {size: min((key for key in mean if key[0] == size), key=mean.__getitem__)[1] for size in ("small", "large")}
    return f"{best['small']:g} for small subgroups, {best['large']:g} for large ones."


def _synthetic(tables: Mapping[str, pd.DataFrame]) -> str:
    rows = [
        [
            model,
            *(
                " / ".join(f"{_at(tables[model], 'value', name, size, 'mae'):.4f}" for size in ("all", "small"))
                for name in POINT
            ),
        ]
        for model in SYNTHETIC
    ]
    return table(["truth", *POINT], rows)


def _least_synthetic(tables: Mapping[str, pd.DataFrame]) -> str:
    best = {model: min(POINT, key=lambda name: _at(tables[model], "value", name, "all", "mae")) for model in SYNTHETIC}
    return ", ".join(f"{model}: {name}" for model, name in best.items()) + "."
