"""Ground truths of known structure, put onto real rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.datasets.draws import generator
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.subgroups import cross

if TYPE_CHECKING:
    import pandas as pd

SyntheticModel = Literal["age", "expl", "age+rc", "age.rc"]
_MODELS = ("age", "expl", "age+rc", "age.rc")
_COLUMNS = {"age": ("age",), "expl": ("number_diagnoses",), "age+rc": ("age", "race"), "age.rc": ("age", "race")}


@dataclass(frozen=True, eq=False)
class SyntheticMetric:
    """A column whose mean is the metric (row,), and the mean of its law in each subgroup (subgroup,).

    ``truth`` is NaN for combinations of levels that no row has.
    """

    values: FloatArray
    truth: xr.DataArray


def synthetic_metric(
    frame: pd.DataFrame,
    model: SyntheticModel,
    *,
    by: Sequence[str] = ("race", "gender", "age"),
    seed: int,
    noise_sd: float = math.sqrt(0.1),
) -> SyntheticMetric:
    """Replace the decisions of a population by values of known mean.

    Parameters
    ----------
    frame : pandas DataFrame
        The population, with columns ``race`` (level ``Caucasian``), ``age`` (level ``40-59``) or
        ``number_diagnoses`` as the model needs them; `load_diabetes` and `demonstration` have them.
    model : {"age", "expl", "age+rc", "age.rc"}
        What the mean of a subgroup depends on, see Notes.
    by : sequence of str
        Attributes of the subgroups.
    seed : int
        The same frame and seed give the same values.
    noise_sd : float
        Standard deviation of the noise of ``expl``; the others are 0/1. The source writes Normal(mean, .1)
        without saying whether variance or standard deviation; this default takes variance.

    Returns
    -------
    SyntheticMetric
        ``values`` for the mean of a loss column, ``truth`` of the law that generated them (not the mean of the values).

    Raises
    ------
    InputError
        If the model is unknown, a column is absent or has missing values, the noise is negative, the mean
        varies within a subgroup where it must not, or the seed is not a whole number.

    Notes
    -----
    ``age``: .35 - .30 [age 40-59]. ``expl``: -.93 + .16 (mean number of diagnoses of the subgroup). ``age+rc``:
    .65 - .15 [age 40-59] - .45 [race Caucasian]. ``age.rc``: .32 - .27 [age 40-59][race Caucasian]. An attribute that is not
    in ``by`` must be constant within subgroups.

    References
    ----------
    Herlihy, Truong, Chouldechova and Dudik (2024), appendix D. The source claims a standard deviation near .44 for all four;
    for ``expl`` that needs ``noise_sd=0.44``.

    Examples
    --------
    >>> from bayesgroups.datasets import demonstration, synthetic_metric
    >>> drawn = synthetic_metric(demonstration().rows, "age.rc", seed=1)
    >>> round(float(drawn.truth.sel(subgroup="Caucasian | Female | 40-59")), 3)
    0.05
    """
    if model not in _MODELS:
        raise InputError(f"unknown model {model!r}; {near_misses(str(model), _MODELS)}")
    if not (math.isfinite(noise_sd) and noise_sd >= 0):
        raise InputError(f"noise_sd must be at least 0; got {noise_sd}")
    for name in (*by, *_COLUMNS[model]):
        if name not in frame.columns:
            columns = [str(column) for column in frame.columns]
            raise InputError(f"column {name!r} is not in the frame; {near_misses(name, columns)}")
        if frame[name].isna().to_numpy().any():
            raise InputError(f"column {name!r} has missing values; drop those rows")
    rng = generator(seed)
    subgroups = cross(by, {name: frame[name].unique().tolist() for name in by}, {})
    keys = list(zip(*(frame[name].astype(str) for name in by), strict=True))
    group = subgroups.codes(keys)
    row_mean = _row_mean(frame, model)
    counts = np.bincount(group, minlength=len(subgroups.table))
    with np.errstate(invalid="ignore"):
        mean = np.bincount(group, weights=row_mean, minlength=len(subgroups.table)) / counts
    if model != "expl" and not np.allclose(mean[group], row_mean, rtol=0, atol=1e-12):
        raise InputError(f"model {model!r} varies within subgroups of by={list(by)}; add {_COLUMNS[model]} to by=")
    truth = xr.DataArray(mean, dims="subgroup", coords=subgroups.coordinates(), name="truth")
    if model == "expl":
        return SyntheticMetric(rng.normal(mean[group], noise_sd), truth)
    return SyntheticMetric((rng.random(len(group)) < mean[group]).astype(np.float64), truth)


def _row_mean(frame: pd.DataFrame, model: SyntheticModel) -> FloatArray:
    if model == "expl":
        diagnoses: FloatArray = frame["number_diagnoses"].to_numpy(dtype=np.float64)
        return -0.93 + 0.16 * diagnoses
    middle_aged: FloatArray = (frame["age"] == "40-59").to_numpy(dtype=np.float64)
    if model == "age":
        return 0.35 - 0.30 * middle_aged
    white: FloatArray = (frame["race"] == "Caucasian").to_numpy(dtype=np.float64)
    if model == "age+rc":
        return 0.65 - 0.15 * middle_aged - 0.45 * white
    return 0.32 - 0.27 * middle_aged * white
