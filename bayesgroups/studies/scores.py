"""Scores of a study: errors of estimates and coverage of intervals, with Monte Carlo errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.studies.populations import MAX_ROWS_OF_SMALL_SUBGROUP

if TYPE_CHECKING:
    import pandas as pd


SIZE_CLASSES = ("all", "small", "large")
MEASURES = ("mae", "rmse", "bias", "variance", "coverage", "width", "relative_width", "interval_score")


def interval_score(lower: FloatArray, upper: FloatArray, truth: FloatArray, level: float) -> FloatArray:
    """Width of an interval plus 2 / alpha times the distance by which it misses the truth; smaller is better.

    Parameters
    ----------
    lower, upper, truth : float arrays that broadcast
    level : float
        Nominal coverage 1 - alpha, strictly between 0 and 1.

    Returns
    -------
    float array
        In the units of the truth; NaN where a number is.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Notes
    -----
    Its mean is smallest for the quantiles alpha / 2 and 1 - alpha / 2 of what is believed. For Normal(0, s) and these it is
    2 s phi(z) / (alpha / 2), with z their distance from 0 in units of s.

    References
    ----------
    Gneiting, Raftery (2007), Eq 43, doi:10.1198/016214506000001437.

    Examples
    --------
    >>> interval_score(np.array([0.1, 0.3]), np.array([0.4, 0.4]), np.array([0.2, 0.2]), 0.95).round(6).tolist()
    [0.3, 4.1]
    """
    if not 0 < level < 1:
        raise InputError(f"level={level} must lie strictly between 0 and 1")
    outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    return np.asarray(upper - lower + 2 / (1 - level) * outside, dtype=np.float64)


def jackknife(statistic: Callable[[list[IntArray]], ArrayLike], sizes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Statistic of independent blocks of draws (populations), and its standard error by leaving out one draw at a time.

    ``statistic`` takes the draws kept of every block; ``sizes`` are all draws of each. NaN if no block has two. Efron, Stein
    (1981), doi:10.1214/aos/1176345462; for several samples, Arvesen (1969), doi:10.1214/aoms/1177697287.
    """
    everything = [np.arange(size) for size in sizes]
    whole = np.asarray(statistic(everything), dtype=np.float64)
    variance = np.zeros(whole.shape)
    for block, size in enumerate(sizes):
        if size < 2:
            continue
        before, after = everything[:block], everything[block + 1 :]
        left = np.stack([statistic([*before, np.delete(everything[block], i), *after]) for i in range(size)])
        variance += (size - 1) / size * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    error = np.sqrt(variance) if max(sizes) > 1 else np.full(whole.shape, np.nan)
    return whole, np.asarray(error, dtype=np.float64)


def compared(answers: xr.Dataset) -> xr.DataArray:
    """Mask of the comparable cells, (draw, metric, subgroup): all estimators and the truth are defined.

    An estimator that imputes is thus not held to subgroups where another has nothing to say.
    """
    answered = answers["estimate"].notnull().all("estimator")  # noqa: PD004 (xarray)
    return (answered & answers["truth"].notnull()).transpose("draw", "metric", "subgroup")  # noqa: PD004


def share_lost(answers: xr.Dataset) -> pd.DataFrame:
    """Share of the pairs of draw and subgroup with a truth that do not enter, by metric (rows).

    Columns: ``compared`` (lost because any estimator is undefined), then one per estimator (lost because it is).
    """
    import pandas as pd

    has_truth = answers["truth"].notnull()  # noqa: PD004 (xarray)
    total = (has_truth.sum("subgroup") * answers.sizes["draw"]).values
    lost = {"compared": 1 - compared(answers).sum(["draw", "subgroup"]).values / total}
    for name in answers["estimator"].values.tolist():
        answered = answers["estimate"].sel(estimator=name).notnull() & has_truth  # noqa: PD004
        lost[name] = 1 - answered.sum(["draw", "subgroup"]).values / total
    return pd.DataFrame(lost, index=pd.Index(answers["metric"].values.tolist(), name="metric"))


def cell_sums(answers: xr.Dataset, *, reference: str, level: float = 0.95, clip: bool = True) -> xr.Dataset:
    """Sums over the compared subgroups of every draw, from which all measures but bias and variance follow.

    Dims ``estimator, draw, metric, size_class``: ``pairs``, ``mae``, ``rmse`` (of squares), ``coverage`` and the pairs that
    it is scored on, ``covers``, those where the population's value is near the superpopulation's; ``width``,
    ``relative_width`` (to the reference's), ``interval_score``. A subgroup is small if at most 25 of its rows are in the
    draw. NaN where an estimator has no interval. With ``clip`` intervals are clipped to the range of the metric first, as
    reports do. An InputError if the reference or the level is not in the study.
    """
    names = [str(name) for name in answers["estimator"].values]
    if reference not in names:
        raise InputError(f"reference={reference!r} is not in the study; {near_misses(reference, names)}")
    if not np.isclose(answers["level"].values, level).any():
        raise InputError(f"level={level} is not in the study; it has {answers['level'].values.tolist()}")
    truth = answers["truth"].values
    error, (lower, upper) = _errors(answers), _bounds(answers, level, clip)
    width = upper - lower
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = width / width[names.index(reference)]
    # A metric without any scatter has intervals of no width; equal ones are equally wide.
    relative = np.where((width == 0) & (width[names.index(reference)] == 0), 1.0, relative)
    covers = answers["covers"].transpose("metric", "subgroup").values if "covers" in answers else np.ones_like(truth)
    held = np.where(covers, (lower <= truth) & (truth <= upper), 0.0)
    per_pair = {
        "pairs": np.ones_like(error),
        "covers": np.broadcast_to(covers, error.shape).astype(np.float64),
        "mae": np.abs(error),
        "rmse": error**2,
        "coverage": np.where(np.isnan(lower), np.nan, held),
        "width": width,
        "relative_width": relative,
        "interval_score": interval_score(lower, upper, truth, level),
    }
    members = np.stack([_members(answers)[size_class] for size_class in SIZE_CLASSES], axis=-1)
    dims = ("estimator", "draw", "metric", "size_class")
    data = {name: (dims, np.where(members, values[..., None], 0.0).sum(axis=-2)) for name, values in per_pair.items()}
    coordinates = {
        "estimator": np.array(names), "draw": answers["draw"].values, "metric": answers["metric"].values,
        "size_class": np.array(SIZE_CLASSES),
    }  # fmt: skip
    return xr.Dataset(data, coords=coordinates, attrs={"reference": reference, "level": level, "clip": int(clip)})


def measures(answers: xr.Dataset, *, reference: str, level: float = 0.95, clip: bool = True) -> pd.DataFrame:
    """Every measure of every estimator, per metric and size class, with Monte Carlo standard errors.

    Parameters
    ----------
    answers : xr.Dataset
        From `bayesgroups.study`.
    reference : str
        Name of the estimator that widths are relative to.
    level : float
        Level of the intervals.
    clip : bool
        Clip intervals to the range of the metric first, as reports do.

    Returns
    -------
    pandas DataFrame
        Indexed by (metric, estimator, size_class), a column per measure and one ``<measure>_se``: the jackknife over draws,
        because draws are independent and the subgroups of a draw are not. ``bias`` is the root of the mean over pairs of the
        squared mean error of a subgroup over draws, ``variance`` the mean of the variances around these means, so
        rmse^2 = bias^2 + variance. Widths, MAE, RMSE, bias and interval score are in units of the metric.

    Raises
    ------
    InputError
        If the reference or the level is not in the study.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eqs 2-4 and section 5.
    """
    import pandas as pd

    sums = cell_sums(answers, reference=reference, level=level, clip=clip)
    error, members = _errors(answers), _members(answers)
    names, metrics = answers["estimator"].values.tolist(), answers["metric"].values.tolist()

    def statistic(kept: list[IntArray]) -> FloatArray:
        total = sums.isel(draw=kept[0]).sum("draw", skipna=False)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = {
                str(name): total[name].values / total["covers" if name == "coverage" else "pairs"].values
                for name in set(sums.data_vars) - {"pairs", "covers"}
            }
            mean["rmse"] = np.sqrt(mean["rmse"])
            parts = [_bias_and_variance(error[:, kept[0]], members[name][kept[0]]) for name in SIZE_CLASSES]
        mean["bias"] = np.sqrt(np.stack([part[0] for part in parts], axis=-1))
        mean["variance"] = np.stack([part[1] for part in parts], axis=-1)
        return np.stack([mean[measure] for measure in MEASURES])

    value, se = jackknife(statistic, [answers.sizes["draw"]])
    index = pd.MultiIndex.from_product([metrics, names, SIZE_CLASSES], names=["metric", "estimator", "size_class"])
    columns = {}
    for measure, numbers, errors in zip(MEASURES, value, se, strict=True):
        columns[measure] = numbers.transpose(1, 0, 2).ravel()
        columns[f"{measure}_se"] = errors.transpose(1, 0, 2).ravel()
    return pd.DataFrame(columns, index=index)


def _errors(answers: xr.Dataset) -> FloatArray:
    """Estimate minus truth, (estimator, draw, metric, subgroup)."""
    values = answers["estimate"].transpose("estimator", "draw", "metric", "subgroup").values
    return np.asarray(values - answers["truth"].transpose("metric", "subgroup").values, dtype=np.float64)


def _bounds(answers: xr.Dataset, level: float, clip: bool) -> tuple[FloatArray, FloatArray]:
    at = int(np.argmin(np.abs(answers["level"].values - level)))
    lower, upper = (
        answers[side].transpose("estimator", "draw", "metric", "subgroup", "level").values[..., at]
        for side in ("lower", "upper")
    )
    if clip:
        least, most = answers["range_lower"].values[:, None], answers["range_upper"].values[:, None]
        return np.clip(lower, least, most), np.clip(upper, least, most)
    return lower, upper


def _members(answers: xr.Dataset) -> dict[str, BoolArray]:
    """Mask of the compared pairs (draw, metric, subgroup) of each size."""
    both = compared(answers).values
    small = (answers["rows"].transpose("draw", "subgroup").values <= MAX_ROWS_OF_SMALL_SUBGROUP)[:, None, :]
    return {"all": both, "small": both & small, "large": both & ~small}


def _bias_and_variance(error: FloatArray, members: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Mean squared bias and mean variance over pairs, (estimator, metric), from (estimator, draw, metric, subgroup)."""
    weight = members.sum(axis=0)
    inside = np.where(members, error, 0.0)
    mean = inside.sum(axis=1) / np.where(weight > 0, weight, 1)
    square = (inside**2).sum(axis=1) / np.where(weight > 0, weight, 1)
    total = weight.sum(axis=-1)
    return (weight * mean**2).sum(axis=-1) / total, (weight * (square - mean**2)).sum(axis=-1) / total
