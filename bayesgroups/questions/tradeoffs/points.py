"""One door for candidates: a DataFrame or a Dataset becomes a Dataset along ``candidate``, checked."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, numbers
from bayesgroups.data.columns import MAX_MAGNITUDE
from bayesgroups.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

GOALS = ("performance", "fairness")
SAMPLES = ("chain", "draw")


def read_points(points: pd.DataFrame | xr.Dataset) -> xr.Dataset:
    """Performance and fairness (chain, draw, candidate) or (candidate) of a DataFrame or Dataset, checked, with names as text.

    Candidates, whose names must differ, are rows or along one dim; NaN where unknown. An InputError if a goal or all
    candidates are missing, two have one name, there are further dims, or a value is infinite or text.
    """
    if isinstance(points, xr.Dataset):
        _need(points.data_vars)
        table = points[list(GOALS)]
        candidate_dims = [str(dim) for dim in table.dims if dim not in SAMPLES]
        if len(candidate_dims) != 1:
            raise InputError(f"points must have one dim of candidates besides {list(SAMPLES)}; got {candidate_dims}")
        names = [str(name) for name in table[candidate_dims[0]].values.tolist()]
        table = table.drop_vars([name for name in table.coords if name not in table.dims])
        table = table.rename({candidate_dims[0]: "candidate"}) if candidate_dims[0] != "candidate" else table
        columns = {goal: (tuple(map(str, table[goal].dims)), _numbers(table[goal].values, goal)) for goal in GOALS}
    else:
        if not hasattr(points, "columns"):
            raise InputError(f"points must be a pandas DataFrame or an xarray.Dataset; got {type(points).__name__}")
        _need(points.columns)
        names = [_name(name) for name in points.index.tolist()]
        columns = {goal: (("candidate",), _numbers(points[goal].to_numpy(), goal)) for goal in GOALS}
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"candidate {twice!r} is there twice; give each a name of its own, or points.reset_index()")
    if any(0 in values.shape for _, values in columns.values()):
        raise InputError("points have no candidate; give at least one")
    performance, fairness = xr.broadcast(*(xr.DataArray(values, dims=dims) for dims, values in columns.values()))
    laid_out = xr.Dataset({"performance": performance, "fairness": fairness}, {"candidate": np.array(names, dtype=str)})
    return laid_out.transpose(*(dim for dim in SAMPLES if dim in laid_out.dims), "candidate")


def without_unknown(points: xr.Dataset) -> xr.Dataset:
    """Candidates without those of which a goal is NaN in any draw, with a warning by name; an InputError if none is left."""
    performance, fairness = goals(points)
    unknown = np.isnan(performance + fairness).any(axis=tuple(range(performance.ndim - 1)))
    if not unknown.any():
        return points
    names = points["candidate"].values[unknown].tolist()
    if unknown.all():
        raise InputError(f"no candidate has both goals; performance or fairness is NaN for {_some(names)}")
    warnings.warn(f"performance or fairness is NaN for {_some(names)}: left out", stacklevel=3)
    return points.isel(candidate=~unknown)


def goals(points: xr.Dataset) -> tuple[FloatArray, FloatArray]:
    """Performance and fairness as arrays (..., candidate)."""
    performance, fairness = (np.asarray(points[goal].values, dtype=np.float64) for goal in GOALS)
    return performance, fairness


def mean_points(points: xr.Dataset) -> xr.Dataset:
    """Candidates at the mean of their draws; as they are without draws."""
    return points.mean([dim for dim in points.dims if dim != "candidate"])


def pair(given: float | tuple[float, float], argument: str, *, fairness: float | None = None) -> tuple[float, float]:
    """Two finite numbers, or an InputError; one is a performance where the fairness goes without saying."""
    values = np.atleast_1d(numbers(given))
    if fairness is not None and values.shape == (1,):
        values = np.array([values[0], fairness])
    if values.shape != (2,) or not (np.abs(values) <= MAX_MAGNITUDE).all():
        raise InputError(f"{argument} must be (performance, fairness), two finite numbers; got {given!r}")
    return float(values[0]), float(values[1])


def _need(names: object) -> None:
    present = [str(name) for name in names]  # type: ignore[attr-defined]
    absent = [goal for goal in GOALS if goal not in present]
    if absent:
        raise InputError(f"points lack {' and '.join(map(repr, absent))}; there are {present}")


def _name(name: object) -> str:
    return " | ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _numbers(values: object, goal: str) -> FloatArray:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{goal} holds something that is no number ({problem})") from problem
    if np.isinf(numbers).any():
        raise InputError(f"{goal} holds an infinite value; expected finite numbers, or NaN where it is unknown")
    return numbers


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(map(repr, names[:3]))}{more}"
