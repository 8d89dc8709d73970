"""From and to fairlearn's MetricFrame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.directions import LargerIsBetter
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, MissingDependencyError, near_misses
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Using, approach_shown
from bayesgroups.report.view import metrics_of, read
from bayesgroups.tallies import tally_from_counts
from bayesgroups.tallies.subgroups import attributes_of

NAMES = {
    "selection_rate": "sel",
    "accuracy_score": "acc",
    "accuracy": "acc",
    "true_positive_rate": "tpr",
    "recall_score": "tpr",
    "false_negative_rate": "fnr",
    "false_positive_rate": "fpr",
    "true_negative_rate": "tnr",
    "precision_score": "ppv",
}
"""What rates of fairlearn and scikit-learn are called here."""
OF_ALL_ROWS = ("sel", "acc")
"""Rates whose denominator is all rows."""


@checked_keywords
def tally_from_metric_frame(
    frame: Any,
    *,
    count: str = "count",
    denominators: Mapping[str, str] | None = None,
    larger_is_better: LargerIsBetter = None,
) -> xr.Dataset:
    """A tally of the rates that a MetricFrame holds.

    A MetricFrame keeps rates and no rows, so it must hold the counts behind them as metrics as well:
    ``MetricFrame(metrics={"selection_rate": selection_rate, "count": count}, ...)``. Where a group has no rows in the
    denominator, fairlearn says 0; here the rate is undefined.

    Parameters
    ----------
    frame : fairlearn.metrics.MetricFrame
        With rates and the counts behind them.
    count : str
        Its metric with the number of rows, the denominator of ``selection_rate`` and ``accuracy_score``.
    denominators : mapping, optional
        From other rates to the metrics with their denominators, such as ``{"false_negative_rate": "positives"}`` with
        ``"positives": lambda y_true, y_pred: y_true.sum()``.
    larger_is_better : bool or mapping from metrics to bool, optional
        Direction of the metrics, by their names here, as in `bayesgroups.tally_from_counts`.

    Returns
    -------
    xr.Dataset
        The tally, with control features and sensitive features as attributes, and metrics by their names here (``fnr``).

    Raises
    ------
    InputError
        If a metric is absent, a rate has no denominator, or a rate times its denominator is no whole number.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame, count, selection_rate
    >>> frame = MetricFrame(metrics={"selection_rate": selection_rate, "count": count}, y_true=[1, 0, 1, 0, 1],
    ...                     y_pred=[1, 0, 0, 0, 1], sensitive_features={"sex": ["f", "f", "m", "m", "m"]})
    >>> found = tally_from_metric_frame(frame)
    >>> found["successes"].values.tolist(), found["count"].values.tolist()
    ([[1.0, 1.0]], [[2.0, 3.0]])
    """
    table = getattr(frame, "by_group", None)
    if table is None:
        raise InputError(f"frame must be a fairlearn MetricFrame; got {type(frame).__name__}")
    if not hasattr(table, "columns"):
        raise InputError("the MetricFrame has one metric; give it a dict of metrics, with the counts behind the rates")
    columns = [str(name) for name in table.columns]
    behind = dict(denominators or {})
    for name in [*behind, *behind.values()]:
        if name not in columns:
            raise InputError(f"the MetricFrame has no metric {name!r}; {near_misses(name, columns)}")
    rates = [name for name in columns if name != count and name not in behind.values()]
    successes, trials = {}, {}
    for name in rates:
        metric = NAMES.get(name, name)
        total = behind.get(name) or (count if metric in OF_ALL_ROWS and count in columns else None)
        if total is None:
            raise InputError(
                f"metric {name!r} has no denominator; add the count to the MetricFrame and name it, as "
                f"denominators={{{name!r}: 'positives'}}"
            )
        size = table[total].to_numpy(dtype=np.float64)
        size = np.where(np.isnan(size), 0.0, size)
        hits = np.where(size > 0, table[name].to_numpy(dtype=np.float64), 0.0) * size
        off = np.abs(hits - np.round(hits)) > 1e-6
        if off.any():
            label = table.index[int(np.argmax(off))]
            raise InputError(
                f"metric {name!r}, group {label!r}: the rate times {total!r} is {hits[off][0]:g}, no whole number"
            )
        successes[metric], trials[metric] = np.round(hits), size
    if not rates:
        raise InputError("the MetricFrame has counts and no rate; add one, such as selection_rate")
    groups = table.index.to_frame(index=False)
    return tally_from_counts(successes, trials, groups.rename(columns=str), larger_is_better=larger_is_better)


@renamed_keyword("approach", "using", bayesian="auto", frequentist="tally")
@checked_keywords
def metric_frame(report: xr.DataTree, *, using: Using = "auto") -> Any:
    """The estimates of a report as a MetricFrame, for whatever takes one.

    ``difference()``, ``ratio()``, ``group_min()``, ``group_max()`` and ``by_group`` are those of the estimates alone.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    using : {"auto", "posterior", "tally"}
        Whose estimates: the Bayesian ones (``auto``, ``posterior``), or the frequentist ones, which are made from the tally.

    Returns
    -------
    fairlearn.metrics.MetricFrame
        ``overall`` is the mean of the subgroups, weighted by counts if any are there. Groups without an estimate are NaN.

    Raises
    ------
    MissingDependencyError
        If fairlearn is not installed.
    InputError
        If ``using`` is something else.
    SchemaError
        If the tree is not a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> frame = metric_frame(bg.estimate(counts, bg.NoPooling(), seed=1), using="tally")
    >>> frame.by_group["fnr"].tolist(), round(float(frame.difference()["fnr"]), 3)
    ([0.5, 0.3], 0.2)
    """
    try:
        from fairlearn.metrics import MetricFrame
    except ImportError as problem:
        raise MissingDependencyError("a MetricFrame needs fairlearn; install it: pip install fairlearn") from problem
    import pandas as pd

    approach = approach_shown(using)
    names = metrics_of(report)
    values, totals = {}, {}
    for name in names:
        reading = read(report, name)
        side = reading.bayesian if approach == "bayesian" else reading.frequentist
        finite = np.isfinite(side.estimate)
        weight = np.where(finite, np.nan_to_num(reading.count), 0.0)
        weight = weight if weight.sum() > 0 else finite.astype(float)
        values[name] = side.estimate
        totals[name] = (
            float(np.sum(weight * np.where(finite, side.estimate, 0.0)) / weight.sum()) if finite.any() else np.nan
        )
    table = report["estimates"].to_dataset()
    features = pd.DataFrame({name: table[name].values.astype(str) for name in attributes_of(table)})
    places = np.arange(len(features))

    # One row per subgroup, whose prediction is its place: fairlearn then asks each metric for one subgroup, or for all.
    def looked_up(name: str) -> Any:
        def metric(y_true: Any, y_pred: Any) -> float:
            if len(y_pred) == len(places) and len(places) > 1:
                return totals[name]
            return float(values[name][int(np.asarray(y_pred)[0])])

        metric.__name__ = name
        return metric

    return MetricFrame(
        metrics={name: looked_up(name) for name in names}, y_true=places, y_pred=places, sensitive_features=features
    )
