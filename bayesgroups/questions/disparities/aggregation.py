"""From a metric per class and subgroup to one number: subgroups first, then classes."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.disparities.aggregation_steps import (
    POWERS,
    ROWS,
    ClassStep,
    GroupStep,
    Row,
    Unit,
    in_unit,
    over_subgroups,
)
from bayesgroups.questions.disparities.generalized_means import generalised_mean
from bayesgroups.questions.disparities.undefined import Undefined, describe

Center = Literal["pooled", "mean"]
_CLASS_POWERS: dict[ClassStep, float] = {"mean": 1.0, "quadratic_mean": 2.0}


@checked_keywords
def aggregate(
    scores: xr.DataArray,
    unit: Unit | None = None,
    *,
    group_power: float | GroupStep = 1.0,
    class_power: float | ClassStep | None = 2.0,
    center: Center | float | xr.DataArray = "pooled",
    count: xr.DataArray | None = None,
    threshold: float | None = None,
    group_weights: xr.DataArray | None = None,
    class_weights: xr.DataArray | None = None,
    positive: str | None = None,
    undefined: Undefined = "nan",
) -> xr.DataArray:
    """Aggregate a metric over subgroups, then over classes.

    Estimand: ``M_q over classes of (M_p over subgroups of u(c, g))``, where u is the score of class c in subgroup g, its
    absolute gap to a reference value of the class, or its ratio to it, and M_p is the generalised mean. Classes first would
    measure how rare classes fare, not how unequal subgroups are.

    Parameters
    ----------
    scores : xr.DataArray
        The metric along ``label`` and ``subgroup``, such as the true positive rate per class; larger is better. Without
        ``label`` there is one class and no second step. Other dims stay, so that with ``chain`` and ``draw`` the answer has draws.
    unit : {"score", "gap", "ratio"}, optional
        What is averaged; ``gap`` for an exponent, and what the row has in the table for a name.
    group_power : float or str
        Exponent over subgroups, -inf to inf, or a row of Table 1: ``mean_gap``, ``variance``, ``max_gap``, ``min_score``,
        ``min_ratio``, ``max_difference``, ``max_ratio``, ``difference_threshold``, ``ratio_threshold``; and ``sum_gap``,
        which the experiments of the paper use.
    class_power : float, str or None
        Exponent over classes, or ``mean`` (1), ``quadratic_mean`` (2) or ``binary`` (the class ``positive`` alone); None
        stops after the first step and keeps ``label``.
    center : {"pooled", "mean"}, float or xr.DataArray
        Reference value of each class: over rows, the mean of its subgroups, or given (along ``label``).
    count : xr.DataArray, optional
        Rows behind each score, for ``center="pooled"``; the coordinate ``count`` of ``scores`` where left out.
    threshold : float, optional
        Largest gap, or largest distance of a ratio from 1, that ``difference_threshold`` and ``ratio_threshold`` allow.
    group_weights, class_weights : xr.DataArray, optional
        Weights of subgroups (along ``subgroup``, ``label`` or both) and of classes; of any sum, equal where left out.
    positive : str, optional
        The class of ``class_power="binary"``.
    undefined : {"nan", "drop"}
        What a NaN score does (a class absent in a subgroup): makes the answer NaN, or is left out, and with it a class for
        which nothing is left. Never is it 0. Either way a warning says where.

    Returns
    -------
    xr.DataArray
        Along the other dims (and ``label`` with ``class_power=None``), in units of the metric, of its square for
        ``variance``, without one for ratios and thresholds. Coordinates ``reason`` ("" where defined) and
        ``undefined_cells`` (count), both without ``chain`` and ``draw``. Attributes: all settings, ``better`` ("larger",
        "smaller", "closer to 1") and ``fair_value``.

    Raises
    ------
    InputError
        If a dim, the counts, the threshold or the positive class does not fit, a name is unknown, or a step has no weights.

    Warns
    -----
    UserWarning
        If a score is NaN or the answer is undefined.

    Notes
    -----
    The paper leaves the reference value open; its code pools over rows. Sampling noise adds to gaps, more so where
    subgroups are small: compare aggregates of different groupings with draws of the posterior or of a bootstrap.

    References
    ----------
    Han, Baldwin, Cohn (2023), "Fair Enough: standardizing evaluation and model selection for fairness research in NLP",
    https://doi.org/10.18653/v1/2023.eacl-main.23, sections 3.1-3.3 and Table 1.

    Examples
    --------
    >>> import xarray as xr
    >>> import bayesgroups as bg
    >>> names = {"label": ["nurse", "surgeon"], "subgroup": ["a", "b", "c"]}
    >>> tpr = xr.DataArray([[0.9, 0.8, 0.7], [0.6, 0.6, 0.3]], names)
    >>> rows = xr.DataArray([[50, 30, 20], [10, 25, 15]], names)
    >>> gap = bg.aggregate(tpr, "gap", group_power=1, class_power=2, count=rows)
    >>> round(float(gap), 6), gap.attrs["better"]
    (0.106719, 'smaller')
    >>> worst = bg.aggregate(tpr, group_power="min_score", class_power=None)
    >>> worst.values.tolist()
    [0.7, 0.3]
    """
    row = _row(group_power, unit)
    table = _table(scores)
    one_class = "label" not in scores.dims
    dims = table.dims
    values = np.asarray(table.values, dtype=np.float64)
    if np.isinf(values).any():
        raise InputError(
            "scores hold an infinite value; expected numbers, or NaN where a class is absent in a subgroup"
        )
    taken = ~np.isnan(values) | (undefined == "nan")
    weights = _weights(group_weights, table, "group_weights", ("label", "subgroup"))
    if group_weights is not None and not row.weighted:
        raise InputError(f"group_power={group_power!r} has no weights; leave group_weights out or give an exponent")
    centre = _centre(table, row.unit, center, count)
    tolerance = _tolerance(group_power, threshold)
    beta = over_subgroups(
        in_unit(values, centre, row.unit), group_power, taken, np.where(taken, weights, 0.0), tolerance
    )
    described = describe(table, values, centre, beta, group_power=group_power, unit=row.unit, undefined=undefined)
    settings = {
        "unit": row.unit,
        "group_power": group_power,
        "class_power": "none" if class_power is None or one_class else class_power,
        "center": "none" if row.unit == "score" else center if isinstance(center, str) else "given",
        "undefined": undefined,
        "better": row.better,
        "fair_value": row.fair,
        "subgroups": table.sizes["subgroup"],
        "classes": 0 if one_class else table.sizes["label"],
    } | ({} if threshold is None else {"threshold": tolerance})
    by_class = table.isel(subgroup=0, drop=True).copy(data=beta)
    by_class = by_class.drop_vars([name for name in by_class.coords if name not in by_class.dims])
    if one_class:
        answer, facts = by_class.isel(label=0, drop=True), described.isel(label=0, drop=True)
    elif class_power is None:
        answer, facts = by_class, described
    else:
        answer, facts = _over_classes(by_class, described, class_power, class_weights, positive, undefined)
    facts = facts.assign(reason=facts["reason"].where(answer.isnull().any(_sample_dims(dims)), ""))
    if (facts["undefined_cells"] > 0).any() or (facts["reason"] != "").any():
        warnings.warn(_sentence(described, undefined), stacklevel=2)
    coordinates = {name: facts[name].variable for name in ("reason", "undefined_cells")}
    return answer.rename("aggregate").assign_coords(coordinates).assign_attrs(settings)


def _row(group_power: float | GroupStep, unit: Unit | None) -> Row:
    if not isinstance(group_power, str):
        _check_power(group_power, "group_power")
        return POWERS[unit or "gap"]
    if group_power not in ROWS:
        raise InputError(f"group_power={group_power!r} does not exist; {near_misses(group_power, ROWS)}")
    row = ROWS[group_power]
    if unit is not None and unit != row.unit:
        raise InputError(f"group_power={group_power!r} is about unit {row.unit!r}, not {unit!r}; leave unit out")
    return row


def _check_power(power: float, argument: str) -> None:
    if isinstance(power, bool) or not isinstance(power, (int, float, np.number)) or np.isnan(power):
        raise InputError(f"{argument}={power!r} is no exponent; expected a number (inf and -inf are) or a name")


def _table(scores: xr.DataArray) -> xr.DataArray:
    if not isinstance(scores, xr.DataArray) or "subgroup" not in scores.dims:
        got = list(scores.dims) if isinstance(scores, xr.DataArray) else type(scores).__name__
        raise InputError(f"scores must be an xarray.DataArray with a dim 'subgroup' (and 'label'); got {got}")
    if 0 in scores.shape:
        raise InputError(f"scores have no values along {[str(d) for d in scores.dims if scores.sizes[d] == 0]}")
    full = scores if "label" in scores.dims else scores.drop_vars("label", errors="ignore").expand_dims(label=[""])
    samples = [name for name in ("chain", "draw") if name in full.dims]
    named = full.assign_coords({dim: full[dim] for dim in ("label", "subgroup")})
    return named.transpose(*samples, ..., "label", "subgroup")


def _sample_dims(dims: tuple[object, ...]) -> list[str]:
    return [name for name in ("chain", "draw") if name in dims]


def _spread(given: xr.DataArray, table: xr.DataArray, argument: str, allowed: tuple[str, ...]) -> FloatArray:
    """Values of an argument in the shape of the table, matched by the names of its coordinates."""
    foreign = [str(dim) for dim in given.dims if dim not in allowed]
    if foreign:
        raise InputError(f"{argument} has dims {foreign} that do not fit; expected some of {list(allowed)}")
    plain = given.drop_vars([name for name in given.coords if name not in given.dims])
    named = plain.assign_coords({dim: table[dim] for dim in plain.dims if dim not in plain.coords and
                                 plain.sizes[dim] == table.sizes[dim]})  # fmt: skip
    for dim in named.dims:
        absent = [name for name in table[dim].values.tolist() if name not in named[dim].values.tolist()]
        if absent:
            raise InputError(f"{argument} lacks {dim} {absent[0]!r}; it needs a value for all of the scores")
    wanted = named.sel({dim: table[dim].values for dim in named.dims})
    like = table.drop_vars([name for name in table.coords if name not in table.dims])
    return np.asarray(wanted.broadcast_like(like).transpose(*table.dims).values, dtype=np.float64)


def _weights(given: xr.DataArray | None, table: xr.DataArray, argument: str, allowed: tuple[str, ...]) -> FloatArray:
    if given is None:
        return np.ones(table.shape)
    weights = _spread(given, table, argument, allowed)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise InputError(f"{argument} must be numbers of 0 or more that are not all 0; got {given.values.tolist()}")
    return weights


def _centre(
    table: xr.DataArray, unit: Unit, center: Center | float | xr.DataArray, count: xr.DataArray | None
) -> FloatArray:
    """Reference value of each class, with a last axis of length 1."""
    values = np.asarray(table.values, dtype=np.float64)
    if isinstance(center, str) and center not in get_args(Center):
        raise InputError(f"center={center!r} does not exist; expected 'pooled', 'mean' or the reference values")
    if unit == "score":
        return np.ones((*values.shape[:-1], 1))
    if isinstance(center, xr.DataArray):
        allowed = tuple(str(dim) for dim in table.dims if dim != "subgroup")
        return _spread(center, table, "center", allowed)[..., :1]
    if not isinstance(center, str):
        return np.full((*values.shape[:-1], 1), float(center))
    weights = np.ones(values.shape)
    if center == "pooled":
        if count is None and "count" not in table.coords:
            raise InputError("center='pooled' needs the rows behind each score; give count=, or center='mean'")
        rows = table["count"] if count is None else count
        weights = _spread(rows, table, "count", tuple(map(str, table.dims)))
        if np.isnan(weights).any() or (weights < 0).any() or np.isinf(weights).any():
            raise InputError("count must be 0 or more in every cell; use center='mean' where there are no counts")
    defined = ~np.isnan(values) & (weights > 0)
    return np.asarray(generalised_mean(values, 1.0, np.where(defined, weights, 0.0))[..., None])


def _tolerance(group_power: float | GroupStep, threshold: float | None) -> float:
    needed = group_power in {"difference_threshold", "ratio_threshold"}
    if needed and (threshold is None or not threshold >= 0):
        raise InputError(f"group_power={group_power!r} needs a threshold of 0 or more; got {threshold}")
    if threshold is not None and not needed:
        raise InputError(f"threshold={threshold} is for difference_threshold and ratio_threshold; leave it out")
    return np.nan if threshold is None else float(threshold)


def _over_classes(
    beta: xr.DataArray, facts: xr.Dataset, step: float | ClassStep, given: xr.DataArray | None,
    positive: str | None, undefined: Undefined,
) -> tuple[xr.DataArray, xr.Dataset]:  # fmt: skip
    labels = beta["label"].values.tolist()
    if positive is not None and step != "binary":
        raise InputError(f"positive={positive!r} is for class_power='binary'; leave it out")
    if isinstance(step, str) and step not in get_args(ClassStep):
        raise InputError(f"class_power={step!r} does not exist; {near_misses(step, get_args(ClassStep))}")
    if step == "binary":
        if positive not in labels:
            raise InputError(
                f"class_power='binary' needs positive= to be one of the classes {labels}; got {positive!r}"
            )
        if given is not None:
            raise InputError("class_power='binary' looks at one class and has no weights; leave class_weights out")
        return beta.sel(label=positive, drop=True), facts.sel(label=positive, drop=True)
    power = _CLASS_POWERS[step] if isinstance(step, str) else step
    _check_power(power, "class_power")
    weights = _weights(given, beta, "class_weights", ("label",))
    values = beta.transpose(..., "label").values
    if undefined == "drop":
        weights = np.where(np.isnan(values), 0.0, weights)
    answer = generalised_mean(values, power, weights)
    merged = xr.Dataset(
        {
            "undefined_cells": facts["undefined_cells"].sum("label"),
            "reason": xr.apply_ufunc(_join, facts["reason"], input_core_dims=[["label"]], vectorize=True),
        }
    )
    return beta.isel(label=0, drop=True).copy(data=answer), merged


def _join(reasons: NDArray[np.object_]) -> str:
    return "; ".join(dict.fromkeys(str(reason) for reason in reasons if reason)) or "values that have no such mean"


def _sentence(described: xr.Dataset, undefined: Undefined) -> str:
    reasons = list(dict.fromkeys(reason for reason in described["reason"].values.ravel().tolist() if reason))
    more = f" and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    what = "left out" if undefined == "drop" else "the answer is NaN; undefined='drop' leaves such cells out"
    return f"{'; '.join(reasons[:3]) or 'an aggregate is undefined'}{more}: {what}"
