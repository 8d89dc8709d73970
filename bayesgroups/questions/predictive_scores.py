"""Leave-one-subgroup-out scores of several reports of one tally, and their differences to the best."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.loo import loo

SUMS = ("count", "successes", "estimate")
"""Variables by which tallies are the same."""


def predictive_scores(reports: Mapping[str, xr.DataTree]) -> xr.Dataset:
    """Scores along ``estimator`` and ``metric``, of reports of the same metrics and subgroups."""
    check_same_tally(reports)
    scores = {}
    for name, report in reports.items():
        try:
            scores[name] = loo(report)
        except InputError as problem:
            raise InputError(f"report {name!r} has no leave-one-subgroup-out score: {problem}") from problem
    metrics = next(iter(scores.values()))["metric"].values
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("elpd_diff", "dse", "n_common", "loo_reason")}
    for metric in metrics:
        parts = [score.sel(metric=metric) for score in scores.values()]
        observed = [str(part["observed"].item()) for part in parts]
        pointwise = np.stack([part["elpd_i"].values for part in parts])
        reasons = [_reason(part, words, observed[0]) for part, words in zip(parts, observed, strict=True)]
        comparable = np.array([not reason for reason in reasons])
        difference, error, common = differences(pointwise, comparable)
        for column, values in zip(
            columns.values(), (difference, error, np.full(len(parts), common), reasons), strict=True
        ):
            column.append(np.array(values, dtype=object if values is reasons else None))
    along = ("estimator", "metric")
    table = {name: (along, np.stack(values, axis=1)) for name, values in columns.items()}
    for name in ("elpd", "se", "p", "n_flagged", "observed"):
        table[name] = (along, np.stack([score[name].values for score in scores.values()]))
    return xr.Dataset(table, coords={"estimator": np.array(list(reports), dtype=str), "metric": metrics})


def differences(pointwise: FloatArray, comparable: BoolArray) -> tuple[FloatArray, FloatArray, int]:
    """Differences (report,) of sums to the largest, their standard errors, and the number of subgroups in them.

    ``pointwise`` (report, subgroup) are summed over the subgroups that all ``comparable`` reports have a number for; others are
    NaN in the answer.

    >>> differences(np.array([[0.0, 1.0], [0.0, 3.0], [9.0, 9.0]]), np.array([True, True, False]))
    (array([-2.,  0., nan]), array([1.41421356, 0.        ,        nan]), 2)
    """
    difference, error = np.full((2, len(pointwise)), np.nan)
    rows = pointwise[comparable]
    common = np.isfinite(rows).all(axis=0) & bool(len(rows))
    if common.any():
        rows = rows[:, common]
        away_from_best = rows - rows[np.argmax(rows.sum(axis=1))]
        difference[comparable] = away_from_best.sum(axis=1)
        error[comparable] = np.sqrt(rows.shape[1] * away_from_best.var(axis=1))
    return difference, error, int(common.sum())


def check_same_tally(reports: Mapping[str, xr.DataTree]) -> None:
    """Refuse reports whose tallies differ, for predictive densities of different data say nothing of models."""
    tallies = {name: report["constant_data"].to_dataset() for name, report in reports.items()}
    first_name, first = next(iter(tallies.items()))
    for name, tally in tallies.items():
        for variable in SUMS:
            values, expected = (np.asarray(side[variable].values, dtype=np.float64) for side in (tally, first))
            differs = np.argwhere((values != expected) & ~(np.isnan(values) & np.isnan(expected)))
            if len(differs):
                i, j = differs[0]
                metric, subgroup = first["metric"].values[i], first["subgroup"].values[j]
                raise InputError(
                    f"reports {first_name!r} and {name!r} are not of the same tally: the {variable} of metric {str(metric)!r} in "
                    f"subgroup {str(subgroup)!r} is {expected[i, j]:g} and {values[i, j]:g}; with loo=True estimate all of them "
                    "from one tally"
                )


def _reason(part: xr.Dataset, observed: str, first: str) -> str:
    """Reason why a report has no difference in one metric; empty where it has one."""
    if int(part["n_data_points"]) == 0:
        return next((str(reason) for reason in part["reason"].values if reason), "no subgroup has rows")
    if first and observed != first:
        return f"its density is of {observed}, that of the first report of {first}: densities of different data do not compare"
    return ""
