"""Several reports of the same tally, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.predictive_scores import predictive_scores
from bayesgroups.report.schema import check
from bayesgroups.tallies.participation import Imputed, check_imputed, participants


@checked_keywords
def compare(
    reports: Mapping[str, xr.DataTree] | Sequence[xr.DataTree],
    *,
    metrics: Sequence[str] | None = None,
    imputed: Imputed = "leave_out",
    loo: bool = False,
) -> xr.Dataset:
    """Lay reports side by side.

    Parameters
    ----------
    reports : mapping, or sequence of xr.DataTree
        Reports by the name they go under; at least one. Those of a sequence go under the words of their estimators, which must
        differ. They must be about the same metrics and subgroups.
    metrics : sequence of str, optional
        Metrics to compare, for reports that have only some in common; all when left out.
    imputed : {"leave_out", "include"}
        Whether means over subgroups should take those without rows that count for the metric; all are in the table.
    loo : bool
        Whether to add how well each report predicts a subgroup from the others, see `bayesgroups.loo`; the reports must then be
        of one tally.

    Returns
    -------
    xr.Dataset
        The variables of ``/estimates`` with a first dimension ``estimator``, and

        - ``width(estimator, approach, metric, subgroup, level)``: length of the clipped interval,
        - ``width_ratio``: the same relative to the first report (NaN where that has length 0),
        - ``shift(estimator, approach, metric, subgroup)``: estimate minus that of the first report,
        - ``estimand(estimator, approach, metric)``: what is estimated; where reports answer for different estimands the
          attribute ``note`` says so; it also names the paired comparison where reports may be of systems on the same rows,
        - ``included(estimator, approach, metric, subgroup)``: true for those that means over subgroups should take, so that
          ``table["width"].where(table["included"]).mean("subgroup")`` is about subgroups with rows, and
          ``left_out(estimator, metric)``: labels and reasons of those that the Bayesian side leaves out,
        - ``word(estimator)``, ``inference(estimator)``, ``usable(estimator)``: what each report is,
        - with ``loo``, along (estimator, metric): ``elpd``, ``se``, ``p``, ``n_flagged`` and ``observed`` as in
          `bayesgroups.loo`; ``elpd_diff``, the difference to the largest ``elpd`` among the reports that compare with the
          first (0 or less), over the ``n_common`` subgroups that all of these have a number for; ``dse``, its standard error
          over these subgroups; and ``loo_reason``, why a report has no difference.

    Raises
    ------
    InputError
        If there is no report, two of a sequence have one estimator, metrics or subgroups differ, a metric of ``metrics`` is
        not in a report, or ``imputed`` is something else; with ``loo``, if the reports are not of the same tally, or one has no
        draws.
    SchemaError
        If a value is not a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
    >>> alone, shared = (bg.estimate(counts, word(), seed=1) for word in (bg.NoPooling, bg.PartialPooling))
    >>> table = bg.compare({"alone": alone, "shared": shared})
    >>> bool((table["width_ratio"].sel(estimator="shared", approach="bayesian", subgroup="a") < 1).all())
    True
    """
    reports = _named(reports)
    check_imputed(imputed)
    tables = []
    first_name, first = next(iter(reports.items()))
    check(first)
    first_table = _of_metrics(first["estimates"].to_dataset(), metrics, first_name)
    for name, report in reports.items():
        check(report)
        table = _of_metrics(report["estimates"].to_dataset(), metrics, name)
        _check_alike(first_table, table, first_name, name)
        if "estimand" not in table:  # reports of old do not say
            table = table.assign(estimand=xr.full_like(table["interval_kind"], ""))
        tally = _of_metrics(report["constant_data"].to_dataset(), metrics, name)
        tables.append(_with_participants(table, tally, imputed))
    joined = xr.concat(
        tables,
        dim="estimator",
        join="exact",
        combine_attrs="drop",
        data_vars="all",
        coords="minimal",
        compat="override",
    )
    joined = joined.assign_coords(estimator=np.array(list(reports), dtype=str))
    joined = joined.assign_attrs(_noted(joined["estimand"], _of_systems(reports, joined["metric"].values.tolist())))
    width = joined["upper"] - joined["lower"]
    base = width.isel(estimator=0, drop=True)
    if loo:
        joined = joined.assign(dict(predictive_scores(reports).sel(metric=joined["metric"]).data_vars))
    return joined.assign(
        width=width,
        width_ratio=width / base.where(base > 0),
        shift=joined["estimate"] - joined["estimate"].isel(estimator=0, drop=True),
        word=("estimator", np.array([str(report.attrs["estimator"]) for report in reports.values()])),
        inference=("estimator", np.array([str(report.attrs["inference"]) for report in reports.values()])),
        usable=("estimator", np.array([int(report.attrs["usable"]) for report in reports.values()], dtype=np.int8)),
    )


def _named(reports: Mapping[str, xr.DataTree] | Sequence[xr.DataTree]) -> Mapping[str, xr.DataTree]:
    """Reports by their names; those of a sequence by the words of their estimators."""
    if isinstance(reports, xr.DataTree):
        raise InputError(
            "compare() takes several reports and got one alone; put them in a list, as compare([report, second])"
        )
    if not isinstance(reports, Mapping | Iterable) or isinstance(reports, str):
        raise InputError(f"reports must be given by name, as compare({{'name': report}}); got {type(reports).__name__}")
    if not isinstance(reports, Mapping):
        several = list(reports)
        for report in several:
            check(report)
        words = [str(report.attrs["estimator"]) for report in several]
        twice = next((word for word in words if words.count(word) > 1), None)
        if twice is not None:
            names = ", ".join(f"{chr(ord('a') + i)!r}: ..." for i in range(min(len(words), 3)))
            raise InputError(
                f"{words.count(twice)} of the reports are of the estimator {twice!r}; give them names, as compare({{{names}}})"
            )
        reports = dict(zip(words, several, strict=True))
    if not reports:
        raise InputError("compare() got no report; give at least one, as compare({'name': report})")
    return reports


def _of_metrics(table: xr.Dataset, metrics: Sequence[str] | None, name: str) -> xr.Dataset:
    """The part of a table of a report about some metrics."""
    if metrics is None:
        return table
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    names = [str(metric) for metric in table["metric"].values]
    if not asked or len(set(asked)) < len(asked):
        raise InputError(f"metrics= must name at least one metric, and each once; got {asked}")
    for metric in asked:
        if metric not in names:
            raise InputError(f"report {name!r} has no metric {metric!r} of metrics=; {near_misses(metric, names)}")
    return table.sel(metric=asked)


def _check_alike(first: xr.Dataset, second: xr.Dataset, first_name: str, second_name: str) -> None:
    for dim in ("metric", "subgroup"):
        values, second_values = first[dim].values.tolist(), second[dim].values.tolist()
        if values == second_values:
            continue
        shared = [str(value) for value in values if value in second_values]
        fix = f"; they share {shared}, so give metrics={shared}" if shared and dim == "metric" else ""
        raise InputError(
            f"reports {first_name!r} and {second_name!r} are not about the same {dim}s: {values[:3]} and "
            f"{second_values[:3]} ...{fix}"
        )


def _of_systems(reports: Mapping[str, xr.DataTree], metrics: Sequence[str]) -> list[str]:
    """The way to a paired comparison where the rows of a report are as many as those of the first and have other values."""
    tallies = {name: report["constant_data"].to_dataset().sel(metric=metrics) for name, report in reports.items()}
    (first_name, first), *further = tallies.items()
    sides = ("rows", "estimate")
    for name, tally in further:
        rows, estimates = (np.array_equal(first[side].values, tally[side].values, equal_nan=True) for side in sides)
        if rows and not estimates and np.isfinite(first["rows"].values).all():
            return [
                f"{first_name!r} and {name!r} have equally many rows in every subgroup, with other values: if they are systems "
                "that answered the same rows, bg.paired_tally() and bg.compare_systems() compare them row by row, which these "
                "intervals do not"
            ]
    return []


def _noted(estimands: xr.DataArray, sentences: list[str]) -> dict[str, str]:
    """The attribute ``note``: sentences, and where reports answer for different estimands; nothing where there is none."""
    for approach in estimands["approach"].values:
        for metric in estimands["metric"].values:
            named = estimands.sel(approach=approach, metric=metric)
            names = {str(name): str(named.sel(estimator=name).values) for name in named["estimator"].values}
            if len({estimand for estimand in names.values() if estimand}) > 1:
                each = "; ".join(f"{name!r}: {estimand or 'not said'}" for name, estimand in names.items())
                sentences.append(f"{metric}, {approach}: the reports answer for different estimands ({each})")
    return {"note": ". ".join(sentences)} if sentences else {}


def _with_participants(table: xr.Dataset, tally: xr.Dataset, imputed: Imputed) -> xr.Dataset:
    """The estimates of a report with who takes part in means over subgroups."""
    answered = np.isfinite(table["estimate"].transpose("approach", "metric", "subgroup").values)
    included = np.zeros(answered.shape, dtype=bool)
    left_out = []
    for i in range(tally.sizes["metric"]):
        sides = [participants(tally.isel(metric=i), side[i], imputed) for side in answered]
        included[:, i] = [side.included for side in sides]
        left_out.append(sides[0].names)
    dims = ("approach", "metric", "subgroup")
    return table.assign(included=(dims, included), left_out=("metric", np.array(left_out, dtype=object)))
