r"""Sums of the answers of several systems to the same items, which add up over parts of the data.

A cell is an item, or a cluster of items, in a subgroup; W is its number of items and T the sum of their values. From the sums of
T, T T', T W and W W over cells follow means and their covariances, those of clusters as those of items.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.errors import InputError
from bayesgroups.tallies.subgroups import of_tally

STATISTICS = ("units", "items", "total", "squares", "products", "item_squares")
"""Statistics of the difference of a pair: cells, sums of W, T, T T, T W and W W."""
NAMES = ("pair_count", "pair_sums", "unmatched", "complete", "system_sum", "system_product", "system_cross")
"""Variables of a tally of systems that are sums over cells; each has a copy ``overall_...`` over all subgroups."""


def paired_sums(
    values: FloatArray,
    pairs: Sequence[tuple[int, int]],
    subgroup: IndexArray,
    size: int,
    cluster: IndexArray | None,
    *,
    graded: bool,
) -> dict[str, tuple[tuple[str, ...], FloatArray]]:
    """Variables of a tally of systems, with their dims, from values (unit, system) and the subgroup of every unit.

    Counts of right answers are kept of items that are ``graded`` 0 or 1 and in no clusters.
    """
    binary = graded and cluster is None
    within = _sums(values, pairs, _cells(subgroup, cluster), subgroup, size, binary=binary)
    everyone = np.zeros_like(subgroup)
    overall = _sums(values, pairs, _cells(everyone, cluster), everyone, 1, binary=binary)
    copies = {f"overall_{name}": (dims[:-1], array[..., 0]) for name, (dims, array) in overall.items()}
    return {**within, **copies}


def carry_pairs(parts: Sequence[xr.Dataset], whole: xr.Dataset) -> xr.Dataset:
    """The tally of the whole with the sums of pairs of its parts; as it is where no part has any."""
    keeps = ["pair" in part.dims for part in parts]
    if not any(keeps):
        return whole
    if not all(keeps) or any(part["pair"].values.tolist() != parts[0]["pair"].values.tolist() for part in parts):
        raise InputError(
            "tallies are of different systems; make all with bg.paired_tally(), systems= and baseline= alike"
        )
    rates = {json.loads(part.attrs["settings"]).get("metric") for part in parts}
    if len(rates) > 1:
        raise InputError("tallies of systems are of different rates; give all the same metric= in bg.paired_tally()")
    if any(("pair_count" in part.data_vars) != ("pair_count" in parts[0].data_vars) for part in parts):
        raise InputError(
            "one tally of systems has items that are right or wrong and another one has means; tally them alike"
        )
    labels = [set(part["cluster_label"].values.tolist()) for part in parts if "cluster_label" in part]
    shared = {label for i, mine in enumerate(labels) for later in labels[i + 1 :] for label in mine & later}
    if shared:
        raise InputError(
            f"cluster {min(shared)!r} is in two of the tallies; tallies of systems add up where no cluster is divided"
        )
    data: dict[str, Any] = {}
    for name in (each for each in NAMES if each in parts[0]):
        dims = parts[0][name].dims
        total = np.zeros([whole.sizes[dim] if dim == "subgroup" else parts[0].sizes[dim] for dim in dims])
        for part in parts:
            total[..., of_tally(whole).codes(of_tally(part).table)] += part[name].values
        data[name] = (dims, total)
        copy = f"overall_{name}"
        data[copy] = (parts[0][copy].dims, np.sum([part[copy].values for part in parts], axis=0))
    coordinates = {name: parts[0][name] for name in parts[0].coords if parts[0][name].dims and name not in whole.coords}
    return whole.assign_coords(coordinates).assign(data)


def _cells(subgroup: IndexArray, cluster: IndexArray | None) -> IndexArray:
    """The cell of every unit: itself, or its cluster within its subgroup."""
    if cluster is None:
        return np.arange(len(subgroup))
    cells: IndexArray = np.unique(subgroup * (cluster.max(initial=0) + 1) + cluster, return_inverse=True)[1].astype(
        np.intp
    )
    return cells


def _sums(
    values: FloatArray, pairs: Sequence[tuple[int, int]], cell: IndexArray, subgroup: IndexArray, size: int, *, binary: bool
) -> dict[str, tuple[tuple[str, ...], FloatArray]]:  # fmt: skip
    answered = np.isfinite(values)
    number = int(cell.max(initial=-1)) + 1
    place = np.zeros(number, dtype=np.intp)
    place[cell] = subgroup

    def of_cells(x: FloatArray) -> FloatArray:
        return np.bincount(cell, x, number)

    def over(x: FloatArray) -> FloatArray:
        return np.bincount(place, x, size)

    complete = answered.all(axis=1)
    weight = of_cells(complete.astype(np.float64))
    counted = ((weight > 0).astype(np.float64), weight, weight**2)
    totals = [of_cells(np.where(complete, column, 0.0)) for column in values.T]
    data: dict[str, tuple[tuple[str, ...], FloatArray]] = {
        "complete": (("complete_statistic", "subgroup"), np.stack([over(each) for each in counted])),
        "system_sum": (("system", "subgroup"), np.stack([over(t) for t in totals])),
        "system_product": (("system", "subgroup"), np.stack([over(t * weight) for t in totals])),
        "system_cross": (
            ("system", "system_other", "subgroup"), np.stack([np.stack([over(s * t) for t in totals]) for s in totals])
        ),
    }  # fmt: skip
    sums, counts, unmatched = [], [], []
    for i, j in pairs:
        both = answered[:, i] & answered[:, j]
        w = of_cells(both.astype(np.float64))
        t = of_cells(np.where(both, values[:, i] - values[:, j], 0.0))
        sums.append(np.stack([over(each) for each in ((w > 0).astype(np.float64), w, t, t**2, t * w, w**2)]))
        unmatched.append(np.bincount(subgroup, answered[:, i] ^ answered[:, j], size))
        counts.append(
            [
                [np.bincount(subgroup, both & (values[:, i] == a) & (values[:, j] == b), size) for b in (0, 1)]
                for a in (0, 1)
            ]
        )
    data["pair_sums"] = (("pair", "pair_statistic", "subgroup"), np.stack(sums))
    data["unmatched"] = (("pair", "subgroup"), np.stack(unmatched))
    if binary:
        data["pair_count"] = (("pair", "first_right", "second_right", "subgroup"), np.array(counts))
    return data
