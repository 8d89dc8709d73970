"""Observed cells of a tally, and the likelihood of each.

A cell is one metric of one subgroup. Only observed cells enter a likelihood, as flat arrays, so that every entry of a
pointwise log likelihood carries information; the other subgroups are answered from the population. No PyMC here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Likelihood = Literal["auto", "binomial", "normal"]
"""``auto``: binomial for rates, normal for the rest; ``binomial``: all metrics must be rates; ``normal``: for all."""

SMALLEST_STD_ERROR = 1e-6
"""Floor of a standard error as a share of the metric's scale: estimates known exactly have no density."""


@dataclass(frozen=True)
class BinomialCells:
    """Observed rates as flat arrays of length C, row-major in (metric, subgroup).

    ``metric`` and ``subgroup`` (C,) are positions in the tally; ``label`` (C,) is ``"metric | subgroup"``;
    ``successes`` and ``count`` (C,) may be non-integer (sums of weights).
    """

    metric: IntArray
    subgroup: IntArray
    label: list[str]
    successes: FloatArray
    count: FloatArray


@dataclass(frozen=True)
class NormalCells:
    """Observed estimates as flat arrays of length C, row-major in (metric, subgroup).

    ``metric`` and ``subgroup`` (C,) are positions in the tally; ``label`` (C,) is ``"metric | subgroup"``;
    ``estimate`` and ``std_error`` (C,) are in the units of the metric.
    """

    metric: IntArray
    subgroup: IntArray
    label: list[str]
    estimate: FloatArray
    std_error: FloatArray


def binomial_metrics(tally: xr.Dataset, likelihood: Likelihood) -> BoolArray:
    """Which metrics have a binomial likelihood.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read is ``kind(metric)``.
    likelihood : {"auto", "binomial", "normal"}
        See ``Likelihood``.

    Returns
    -------
    BoolArray
        Shape (metric,), in the order of the tally.

    Raises
    ------
    ValueError
        If the word is not one of the three, or ``"binomial"`` is asked of a metric that is not a rate.

    Examples
    --------
    >>> binomial_metrics(xr.Dataset({"kind": ("metric", ["rate", "auc"])}), "auto").tolist()
    [True, False]
    """
    if likelihood not in get_args(Likelihood):
        raise ValueError(f"likelihood must be one of {', '.join(get_args(Likelihood))}; got {likelihood!r}")
    rates = np.array([str(kind) == "rate" for kind in tally["kind"].values], dtype=np.bool_)
    if likelihood == "binomial" and not rates.all():
        others = ", ".join(repr(str(name)) for name in tally["metric"].values[~rates])
        raise ValueError(f"a binomial likelihood needs rates; {others} is none: use likelihood='auto' or 'normal'")
    return rates if likelihood != "normal" else np.zeros_like(rates)


def binomial_cells(tally: xr.Dataset, metrics: BoolArray) -> BinomialCells:
    """Observed cells of the rates: a count above 0 and a number of successes.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``count`` and ``successes`` (metric, subgroup).
    metrics : BoolArray
        Shape (metric,): the metrics to take.

    Returns
    -------
    BinomialCells

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"count": (("metric", "subgroup"), [[5.0, 0.0]]), "successes": (("metric", "subgroup"), [[2.0, 0.0]])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a", "b"]})
    >>> binomial_cells(tally, np.array([True])).label
    ['fnr | a']
    """
    count, successes = _matrix(tally, "count"), _matrix(tally, "successes")
    observed = metrics[:, None] & (count > 0) & np.isfinite(successes)
    metric, subgroup = np.nonzero(observed)
    return BinomialCells(metric, subgroup, _labels(tally, metric, subgroup), successes[observed], count[observed])


def normal_cells(tally: xr.Dataset, metrics: BoolArray, scale: FloatArray) -> NormalCells:
    """Observed cells of the estimates: a finite estimate with a finite sampling variance.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``estimate`` and ``sampling_variance`` (metric, subgroup).
    metrics : BoolArray
        Shape (metric,): the metrics to take.
    scale : FloatArray
        Shape (metric,): the scale of each metric, for the floor ``SMALLEST_STD_ERROR``.

    Returns
    -------
    NormalCells

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"estimate": (("metric", "subgroup"), [[0.8, np.nan]]),
    ...      "sampling_variance": (("metric", "subgroup"), [[0.04, np.nan]])},
    ...     coords={"metric": ["auc"], "subgroup": ["a", "b"]})
    >>> normal_cells(tally, np.array([True]), np.array([0.5])).std_error.tolist()
    [0.2]
    """
    estimate, variance = _matrix(tally, "estimate"), _matrix(tally, "sampling_variance")
    observed = metrics[:, None] & np.isfinite(estimate) & np.isfinite(variance)
    metric, subgroup = np.nonzero(observed)
    std_error = np.maximum(np.sqrt(variance[observed]), SMALLEST_STD_ERROR * scale[metric])
    return NormalCells(metric, subgroup, _labels(tally, metric, subgroup), estimate[observed], std_error)


def draw_successes(
    count: FloatArray, p: FloatArray, rng: np.random.Generator, size: tuple[int, ...] | None = None
) -> FloatArray:
    """Successes (..., C) at rates ``p`` (..., C), on the scale of ``count`` (C,) among the nearest whole number of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draw_successes(np.array([3.0, 3.6]), np.array([1.0, 1.0]), rng).tolist()
    [3.0, 3.6]
    """
    rows = np.maximum(np.rint(count), 1).astype(np.int64)
    return np.asarray(rng.binomial(rows, p, size=size) * (count / rows), dtype=np.float64)


def _matrix(tally: xr.Dataset, name: str) -> FloatArray:
    return np.asarray(tally[name].transpose("metric", "subgroup").values, dtype=np.float64)


def _labels(tally: xr.Dataset, metric: IntArray, subgroup: IntArray) -> list[str]:
    metrics, subgroups = tally["metric"].values, tally["subgroup"].values
    return [f"{metrics[m]} | {subgroups[s]}" for m, s in zip(metric, subgroup, strict=True)]
