"""Scores per class and subgroup: from confusion counts, from a tally, or from a report with its draws."""

from __future__ import annotations

import re
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError, near_misses
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Using, open_source
from bayesgroups.tallies.denominators import denominators

ClassMetric = Literal["tpr", "fnr", "tnr", "fpr", "ppv", "fdr", "npv", "for", "f1", "sel", "acc"]
_CELLS = ("subgroup", "label", "predicted")


def confusion_scores(confusion: xr.DataArray, metric: ClassMetric = "tpr") -> xr.DataArray:
    """Take a one-against-rest metric of every class in every subgroup from confusion counts.

    Parameters
    ----------
    confusion : xr.DataArray
        Rows, 0 or more, by ``subgroup``, ``label`` (the true class) and ``predicted``, with the same classes. Other dims stay.
    metric : {"tpr", "fnr", "tnr", "fpr", "ppv", "fdr", "npv", "for", "f1", "sel", "acc"}
        ``sel``: share of the rows that are given the class; ``acc``: share whose being of the class or not is told right.

    Returns
    -------
    xr.DataArray
        In [0, 1] along ``label`` and ``subgroup``, NaN where the denominator is 0 (nothing is added to the counts), with the
        coordinate ``count``: the denominator, as `aggregate` wants it.

    Raises
    ------
    InputError
        If a dim is missing, the classes differ, a count is negative or not finite, or there is no such metric.

    Examples
    --------
    >>> import xarray as xr
    >>> counts = xr.DataArray(
    ...     [[[8, 2], [1, 9]], [[3, 1], [0, 0]]],
    ...     {"subgroup": ["a", "b"], "label": ["no", "yes"], "predicted": ["no", "yes"]},
    ... )
    >>> tpr = confusion_scores(counts)
    >>> tpr.values.tolist(), tpr["count"].values.tolist()
    ([[0.8, 0.75], [0.9, nan]], [[10.0, 4.0], [10.0, 0.0]])
    """
    counts = check_confusion(confusion).astype(np.float64)
    if metric not in get_args(ClassMetric):
        raise InputError(f"metric={metric!r} does not exist for a class; {near_misses(metric, get_args(ClassMetric))}")
    labels = counts["label"].values
    diagonal = counts.sel(predicted=xr.DataArray(labels, dims="label")).drop_vars("predicted")
    actual = counts.sum("predicted")
    given = counts.sum("label").rename(predicted="label")
    rows = actual.sum("label")
    tp, fn, fp = diagonal, actual - diagonal, given - diagonal
    tn = rows - tp - fn - fp
    numerator, denominator = {
        "tpr": (tp, actual), "fnr": (fn, actual), "tnr": (tn, rows - actual), "fpr": (fp, rows - actual),
        "ppv": (tp, given), "fdr": (fp, given), "npv": (tn, rows - given), "for": (fn, rows - given),
        "f1": (2 * tp, 2 * tp + fp + fn), "sel": (given, rows + 0 * tp), "acc": (tp + tn, rows + 0 * tp),
    }[metric]  # fmt: skip
    scores = numerator / denominator.where(denominator > 0)
    dims = [dim for dim in scores.dims if dim not in {"label", "subgroup"}]
    scores = scores.transpose(*dims, "label", "subgroup")
    return scores.rename(metric).assign_coords(count=denominator.transpose(*scores.dims))


def check_confusion(confusion: xr.DataArray) -> xr.DataArray:
    """Confusion counts whose dims and values are as they should be, or an InputError that says what is wrong."""
    absent = [dim for dim in _CELLS if not isinstance(confusion, xr.DataArray) or dim not in confusion.dims]
    if absent:
        raise InputError(f"confusion counts must be an xarray.DataArray with dims {list(_CELLS)}; {absent} missing")
    counts = confusion.assign_coords({dim: confusion[dim] for dim in _CELLS})
    if counts["label"].values.tolist() != counts["predicted"].values.tolist():
        raise InputError(
            f"label and predicted have different classes: {counts['label'].values.tolist()} and "
            f"{counts['predicted'].values.tolist()}; name all classes in both, in one order"
        )
    values = np.asarray(counts.values, dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("confusion counts must be numbers of 0 or more; one is negative, NaN or infinite")
    return counts


@renamed_keyword("side", "using", bayesian="auto", frequentist="bootstrap")
def class_scores(
    source: xr.Dataset | xr.DataTree, metric: ClassMetric = "tpr", *, using: Using = "auto"
) -> xr.DataArray:
    """Collect the metrics of single classes, such as ``tpr[nurse]``, of a tally or a report.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally (estimates), or a report (draws).
    metric : str
        The part before the bracket.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.

    Returns
    -------
    xr.DataArray
        Along ``label`` and ``subgroup``, after ``chain`` and ``draw`` of a report, with the coordinate ``count``.

    Raises
    ------
    InputError
        If there are no such metrics, or the report has no such draws.
    SchemaError
        If the source is neither a tally nor a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> hits, trials = {"tpr[cat]": [8, 3], "tpr[dog]": [6, 5]}, {"tpr[cat]": [10, 4], "tpr[dog]": [9, 9]}
    >>> tally = bg.tally_from_counts(hits, trials, pd.DataFrame({"sex": ["f", "m"]}))
    >>> class_scores(tally).values.round(3).tolist()
    [[0.8, 0.75], [0.667, 0.556]]
    """
    opened = open_source(source, using)
    tally, values = opened.tally, opened.tally["estimate"] if opened.draws is None else opened.draws
    names = {name: re.fullmatch(rf"{re.escape(metric)}\[(.*)\]", name) for name in map(str, values["metric"].values)}
    labels = {name: match[1] for name, match in names.items() if match}
    if not labels:
        raise InputError(
            f"no metric {metric}[...] of a class; there are {sorted(names)}; tally metrics=['{metric}[label]']"
        )
    behind = np.stack([denominators(tally.sel(metric=name)) for name in labels])
    chosen = values.sel(metric=list(labels)).assign_coords(count=(("metric", "subgroup"), behind))
    named = chosen.assign_coords(metric=list(labels.values())).rename(metric="label")
    return named.transpose(..., "label", "subgroup").rename(metric)
