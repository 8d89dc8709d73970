"""Folds of the data: what is fitted and what is left out, from parts that were tallied or from one tally.

Rows that are at hand are split by `split_rows`, tallied part by part, and put together by `fold_tallies`; this is
exact for every metric, and features are means of the rows that are fitted. Where there is one tally only, `deal`
deals its sums as if it dealt rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data import frames
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.addition import add_tallies
from bayesgroups.tallies.dealing import deal_counts, deal_labels, deal_means
from bayesgroups.tallies.subgroups import of_tally

CELL = ("metric", "subgroup")
SUMS = frozenset({"rows", "count", "successes", "weight", "feature_weight", "clusters", "cluster_count", "row_weight",
                  "row_weight_squares", "row_scatter"})  # fmt: skip
"""Variables that are 0 where there are no rows; others are undefined."""


@dataclass(frozen=True)
class Fold:
    """One fold: the tally of the rows that are fitted, and that of the rows left out, over the same subgroups."""

    training: xr.Dataset
    validation: xr.Dataset


def stream(seed: int, metric: str, purpose: str) -> np.random.Generator:
    """Randomness for one metric, the same whichever other metrics are asked for; seeds are whole numbers from 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or larger; got {seed!r}")
    return np.random.default_rng([int(seed), zlib.crc32(metric.encode()), zlib.crc32(purpose.encode())])


def check_folds(folds: int) -> int:
    """Refuse a number of folds that is not a whole number of 2 or more."""
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InputError(f"folds must be a whole number, 2 or more; got {folds!r}")
    return int(folds)


def split_rows(
    frame: object, by: Sequence[str], folds: int = 10, seed: int = 0, *, cluster: str | None = None
) -> list[Any]:
    """Rows dealt to folds that share out every subgroup evenly; frames of the type that was given, without empty ones.

    Within a subgroup rows are shuffled and dealt in turn, from a random fold on, so that small subgroups do not all fill the
    first folds. As many folds as rows leave out one row each. A cluster is never split, and counts for the subgroup of its first
    row. The same frame and seed give the same parts, rows in their order.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"site": ["a"] * 4 + ["b"] * 2, "loss": range(6)})
    >>> [part["site"].tolist() for part in split_rows(rows, ["site"], folds=2)]
    [['a', 'a', 'b'], ['a', 'a', 'b']]
    """
    check_folds(folds)
    opened = frames.open_frame(frame)
    names = [by] if isinstance(by, str) else list(by)
    for name in [*names, *([] if cluster is None else [cluster])]:
        if name not in opened.columns:
            raise InputError(f"column {name!r} is not in the frame; {near_misses(name, opened.columns)}")
    columns = [[level_text(value) for value in opened[name].to_list()] for name in names]
    key = list(zip(*columns, strict=True)) if columns else [()] * len(opened)
    unit = list(range(len(key))) if cluster is None else [str(value) for value in opened[cluster].to_list()]
    fold = deal_labels(unit, key, int(folds), stream(seed, "", "rows"))
    parts = [np.flatnonzero(fold == number).tolist() for number in range(int(folds))]
    return [opened[part].to_native() for part in parts if part]


def fold_tallies(parts: Sequence[xr.Dataset]) -> list[Fold]:
    """Folds of tallied parts of the data, at least two of disjoint rows, see `split_rows`.

    Fold i leaves part i out and has the sum of all others for training. All have the subgroups of all parts.
    """
    given = list(parts)
    if len(given) < 2:
        raise InputError(f"folds need two parts or more; got {len(given)}")
    whole = add_tallies(given)
    laid = [_lay_out(part, whole) for part in given]
    return [Fold(add_tallies([*laid[:i], *laid[i + 1 :]]), laid[i]) for i in range(len(laid))]


def deal(tally: xr.Dataset, folds: int = 10, seed: int = 0) -> list[Fold]:
    """Folds of the sums of a tally, as dealing its rows would give them; the same tally and seed give the same, metric by metric.

    Each side has its ``count``, ``estimate``, ``successes`` and ``sampling_variance``. Everything that is not dealt stays that of
    all rows: ``rows``, ``feature_mean``, ``pooled_variance`` and what describes the metrics.

    Rates: successes are drawn without replacement, exactly as dealing the rows of a subgroup does, since they are
    exchangeable. With clusters, clusters are dealt with their sums. Otherwise (means, F1, AUC, weighted rates,
    published estimates) the means of the folds are drawn from a normal law with the first two moments of that
    dealing, conditional on the mean of all: an approximation, which leaves training and validation uncorrelated
    where rows are normal; see Neufeld, Dharamshi, Gao, Witten (2024), Journal of Machine Learning Research 25(57) (data thinning).
    Counts that are not whole, and published estimates, are shared out evenly.
    """
    check_folds(folds)
    z, d, v = (tally[name].transpose(*CELL).values for name in ("estimate", "count", "sampling_variance"))
    spread, pooled = tally["row_variance"].transpose(*CELL).values, tally["pooled_variance"].values
    count, mean = np.zeros((int(folds), *z.shape)), np.full((int(folds), *z.shape), np.nan)
    size = d.copy()
    for i, (metric, kind) in enumerate(zip(tally["metric"].values, tally["kind"].values, strict=True)):
        rng = stream(seed, str(metric), "folds")
        if "cluster_cell" in tally.dims:
            by_cluster = _deal_clusters(tally, i, int(folds), rng)
            if by_cluster is not None:
                count[:, i], mean[:, i] = by_cluster
                size[i] = count[:, i].sum(axis=0)
                continue
        if kind == "estimate":
            # A variance is all that is known: a row has that of the estimate.
            size[i] = np.isfinite(z[i]).astype(np.float64)
            count[:, i], mean[:, i] = deal_means(z[i], size[i], v[i], int(folds), rng, whole=False)
            continue
        if kind == "rate" and (d[i] == np.round(d[i])).all() and "weight" not in tally.data_vars:
            successes = np.round(tally["successes"].transpose(*CELL).values[i])
            count[:, i], mean[:, i] = deal_counts(successes, d[i], int(folds), rng)
            continue
        row = np.where(np.isfinite(spread[i]), spread[i], pooled[i])
        whole = kind != "auc" and "weight" not in tally.data_vars
        count[:, i], mean[:, i] = deal_means(z[i], d[i], row, int(folds), rng, whole=whole)
    total = np.where(size > 0, size * np.nan_to_num(z), 0.0)
    dealt = []
    for number in range(int(folds)):
        part = np.where(count[number] > 0, count[number] * np.nan_to_num(mean[number]), 0.0)
        dealt.append(
            Fold(_side(tally, size - count[number], total - part, size), _side(tally, count[number], part, size))
        )
    return dealt


def _deal_clusters(
    tally: xr.Dataset, i: int, folds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray] | None:
    """Deal the clusters of metric i; weights and means (fold, subgroup).

    None where sums of clusters do not make the estimate, as for an AUC or F1.
    """
    subgroup, label = tally["cluster_subgroup"].values, tally["cluster_label"].values
    weight, total = tally["cluster_weight"].values[i], tally["cluster_sum"].values[i]
    some = weight > 0
    subgroup, label, weight, total = subgroup[some], label[some], weight[some], total[some]
    if str(tally["cluster_analysis"].values[i]) == "mean":
        weight, total = np.ones(len(weight)), total / weight
    fold = deal_labels(label.tolist(), subgroup.tolist(), folds, rng)
    number, value = np.zeros((2, folds, tally.sizes["subgroup"]))
    np.add.at(number, (fold, subgroup), weight)
    np.add.at(value, (fold, subgroup), total)
    with np.errstate(invalid="ignore"):
        again = value.sum(axis=0) / number.sum(axis=0)
        if not np.allclose(again, tally["estimate"].transpose(*CELL).values[i], equal_nan=True):
            return None
        return number, value / number


def _side(tally: xr.Dataset, size: FloatArray, total: FloatArray, all_sizes: FloatArray) -> xr.Dataset:
    """The tally of one side of a fold, from its (metric, subgroup) sums."""
    d = tally["count"].transpose(*CELL).values
    v = tally["sampling_variance"].transpose(*CELL).values
    some = size > 1e-9 * np.maximum(all_sizes, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = size / all_sizes
        estimate = np.where(some, total / size, np.nan)
        data = {
            "count": np.where(some, d * share, 0.0 * d),
            "estimate": estimate,
            "successes": np.where(
                tally["kind"].values[:, None] == "rate", np.where(some, estimate * d * share, 0), np.nan
            ),
            "sampling_variance": np.where(some, v / share, np.nan),
        }
    keep = ["rows", "feature_mean", "feature_weight", "pooled_variance", "kind", "range_lower", "range_upper"]
    kept = tally[[name for name in keep if name in tally]]
    return kept.assign({name: (CELL, values) for name, values in data.items()}).assign_attrs(tally.attrs)


def _lay_out(part: xr.Dataset, whole: xr.Dataset) -> xr.Dataset:
    """A part over all subgroups of the whole, those that it lacks without rows."""
    subgroups = of_tally(whole)
    if of_tally(part) == subgroups:
        return part
    position = subgroups.codes(of_tally(part).table)
    data: dict[str, Any] = {}
    for name, variable in part.data_vars.items():
        values = variable.values
        if name in ("score_subgroup", "cluster_subgroup", "bin_subgroup", "packet_subgroup"):
            values = position[values]
        elif "subgroup" in variable.dims:
            axis = variable.dims.index("subgroup")
            shape = (*values.shape[:axis], len(subgroups.table), *values.shape[axis + 1 :])
            full = np.full(shape, _nothing(str(name), variable), dtype=values.dtype)
            np.moveaxis(full, axis, 0)[position] = np.moveaxis(values, axis, 0)
            values = full
        data[str(name)] = (variable.dims, values)
    kept = {str(name): coord for name, coord in part.coords.items() if "subgroup" not in coord.dims}
    coordinates = {**kept, **{str(name): coord for name, coord in whole.coords.items() if coord.dims == ("subgroup",)}}
    return xr.Dataset(data, coords=coordinates, attrs=whole.attrs | {"settings": part.attrs["settings"]})


def _nothing(name: str, variable: xr.DataArray) -> Any:
    """Value of a variable for a subgroup without rows."""
    if variable.dtype.kind == "U":
        return "undefined" if name == "status" else "no rows"
    return 0.0 if name in SUMS else np.nan
