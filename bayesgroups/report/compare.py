"""Several reports of the same tally, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.keywords import checked_keywords
from bayesgroups.report.schema import check
from bayesgroups.tallies.participation import Imputed, check_imputed, participants


@checked_keywords
def compare(reports: Mapping[str, xr.DataTree], *, imputed: Imputed = "leave_out") -> xr.Dataset:
    """Lay reports side by side.

    Parameters
    ----------
    reports : mapping
        Reports by the name they go under; at least one. They must be about the same metrics and subgroups.
    imputed : {"leave_out", "include"}
        Whether means over subgroups should take those without rows that count for the metric; all are in the table.

    Returns
    -------
    xr.Dataset
        The variables of ``/estimates`` with a first dimension ``estimator``, and

        - ``width(estimator, approach, metric, subgroup, level)``: length of the clipped interval,
        - ``width_ratio``: the same relative to the first report (NaN where that has length 0),
        - ``shift(estimator, approach, metric, subgroup)``: estimate minus that of the first report,
        - ``estimand(estimator, approach, metric)``: what is estimated; where reports answer for different estimands the
          attribute ``note`` says so,
        - ``included(estimator, approach, metric, subgroup)``: true for those that means over subgroups should take, so that
          ``table["width"].where(table["included"]).mean("subgroup")`` is about subgroups with rows, and
          ``left_out(estimator, metric)``: labels and reasons of those that the Bayesian side leaves out,
        - ``word(estimator)``, ``inference(estimator)``, ``usable(estimator)``: what each report is.

    Raises
    ------
    InputError
        If there is no report, metrics or subgroups differ, or ``imputed`` is something else.
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
    if not reports:
        raise InputError("compare() got no report; give at least one, as compare({'name': report})")
    check_imputed(imputed)
    tables = []
    first_name, first = next(iter(reports.items()))
    check(first)
    first_table = first["estimates"].to_dataset()
    for name, report in reports.items():
        check(report)
        table = report["estimates"].to_dataset()
        for dim in ("metric", "subgroup"):
            mine, other_values = first_table[dim].values.tolist(), table[dim].values.tolist()
            if mine != other_values:
                raise InputError(
                    f"reports {first_name!r} and {name!r} are not about the same {dim}s: {mine[:3]} and {other_values[:3]} ..."
                )
        if "estimand" not in table:  # reports of old do not say
            table = table.assign(estimand=xr.full_like(table["interval_kind"], ""))
        tables.append(_with_participants(table, report["constant_data"].to_dataset(), imputed))
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
    joined = joined.assign_attrs(_noted(joined["estimand"]))
    width = joined["upper"] - joined["lower"]
    base = width.isel(estimator=0, drop=True)
    return joined.assign(
        width=width,
        width_ratio=width / base.where(base > 0),
        shift=joined["estimate"] - joined["estimate"].isel(estimator=0, drop=True),
        word=("estimator", np.array([str(report.attrs["estimator"]) for report in reports.values()])),
        inference=("estimator", np.array([str(report.attrs["inference"]) for report in reports.values()])),
        usable=("estimator", np.array([int(report.attrs["usable"]) for report in reports.values()], dtype=np.int8)),
    )


def _noted(estimands: xr.DataArray) -> dict[str, str]:
    """The attribute ``note`` where reports answer for different estimands; nothing where all are the same."""
    sentences = []
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
