"""Reasons why an aggregate is undefined, in words."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.disparities.aggregation_steps import GroupStep, Unit

Undefined = Literal["nan", "drop"]


def describe(
    table: xr.DataArray, values: FloatArray, centre: FloatArray, beta: FloatArray, *,
    group_power: float | GroupStep, unit: Unit, undefined: Undefined,
) -> xr.Dataset:  # fmt: skip
    """``reason`` and ``undefined_cells`` per class and other dims, without ``chain`` and ``draw``: why there is no number.

    ``table`` names the cells (..., label, subgroup), ``chain`` and ``draw`` first; ``centre`` (..., label, 1) are the
    reference values, ``beta`` (..., label) the answers.
    """
    samples = tuple(range(len({"chain", "draw"} & set(table.dims))))
    missing = np.isnan(values).any(axis=samples)
    no_center = (centre[..., 0] == 0).any(axis=samples) & (unit == "ratio")
    no_answer = np.isnan(beta).any(axis=samples)
    negative = (values < 0).any(axis=(*samples, values.ndim - 1))
    labels, subgroups = (np.asarray(table[dim].values).astype(str).tolist() for dim in ("label", "subgroup"))
    reasons = np.full(no_answer.shape, "", dtype=object)
    for place in np.ndindex(*no_answer.shape):
        who = repr(labels[place[-1]]) if labels[place[-1]] else "the score"
        where = [subgroups[i] for i in np.flatnonzero(missing[place])]
        if where:
            reasons[place] = f"{who} is undefined in subgroup{'s' * (len(where) > 1)} {', '.join(map(repr, where))}"
        if no_answer[place] and (undefined == "drop" or not where):
            left = len(subgroups) - len(where)
            because = _because(left, group_power, no_center=bool(no_center[place]), negative=bool(negative[place]))
            reasons[place] = f"{reasons[place]}; {who} {because}" if where else f"{who} {because}"
    dims = tuple(str(dim) for dim in table.dims if dim not in {"chain", "draw", "subgroup"})
    return xr.Dataset(
        {"reason": (dims, reasons), "undefined_cells": (dims, missing.sum(axis=-1))},
        {dim: table[dim].values for dim in dims if dim in table.coords},
    )


def _because(left: int, group_power: float | GroupStep, *, no_center: bool, negative: bool) -> str:
    if left == 0:
        return "is defined in no subgroup"
    if no_center:
        return "has a reference value of 0, to which there is no ratio"
    if group_power == "variance" and left == 1:
        return "has one subgroup, which has no variance"
    if negative:
        return f"has negative values, for which group_power={group_power!r} is not defined"
    if group_power == "max_ratio":
        return "is 0 in all subgroups, so that their ratio is undefined"
    return "has no reference value"
