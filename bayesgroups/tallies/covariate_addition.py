"""Covariates of rows in tallies of parts of the data, added up.

Sums of products of a subgroup and outcome are those of all rows. Packets are put together as if all rows had been dealt anew:
how many rows of each part come to a packet is drawn as for rows dealt at random, and where that is not what the packets of the
part hold, the difference is made up by rows that are all like the mean of the part. So sums of packets scatter as those of rows
do, also where parts are not alike. Packets of one row each are dealt as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.errors import InputError
from bayesgroups.tallies.score_covariates import PACKETS, Packets, attach, read
from bayesgroups.tallies.score_moments import kept
from bayesgroups.tallies.subgroups import of_tally


def carry_covariates(parts: Sequence[xr.Dataset], whole: xr.Dataset) -> xr.Dataset:
    """The tally of the whole with the covariates that its parts keep, added up; as it is where no part keeps any.

    An error where parts keep different covariates, or some keep none.
    """
    covariates = [
        [str(name) for name in part["score_covariate"].values] if "score_packet" in part.dims else [] for part in parts
    ]
    names = covariates[0]
    for number, other in enumerate(covariates[1:], start=2):
        if set(other) != set(names):
            raise InputError(
                f"tallies keep different covariates of rows: the first {_shown(names)}, number {number} {_shown(other)}; give "
                "all of them the same with bayesgroups.tallies.score_covariates.keep_covariates(), or none"
            )
    if not names:
        return whole
    size = whole.sizes["subgroup"]
    placed = []
    for part in parts:
        where, packets = of_tally(whole).codes(of_tally(part).table), read(part, names)
        placed.append(replace(packets, subgroup=np.asarray(where[packets.subgroup], dtype=np.int64)))
    total, squares = _weights(whole, size)
    own_weights = [_weights(part, size, of_tally(whole).codes(of_tally(part).table)) for part in parts]
    counted = [
        _scaled(packet, squares_here * total, total_here * squares)
        for packet, (total_here, squares_here) in zip(placed, own_weights, strict=True)
    ]
    return attach(whole, reduce(lambda first, second: _deal_again(first, second, size), _in_common_units(counted)))


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _weights(tally: xr.Dataset, size: int, position: NDArray[np.intp] | None = None) -> tuple[FloatArray, FloatArray]:
    """Sums of weights and of their squares by subgroup and outcome (cell,)."""
    bins = kept(tally)
    assert bins is not None, "covariates are kept beside scores"
    subgroup = bins.subgroup if position is None else position[bins.subgroup]
    cell = 2 * subgroup + bins.outcome
    return np.bincount(cell, bins.weight, 2 * size), np.bincount(cell, bins.squares, 2 * size)


def _cell(packets: Packets) -> IntArray:
    return 2 * packets.subgroup + packets.outcome


def _scaled(packets: Packets, above: FloatArray, below: FloatArray) -> Packets:
    """Sums with the effective weights that rows have in the whole instead of those that they have in the part."""
    factor = (above / np.where(below > 0, below, 1.0))[_cell(packets)]
    return replace(
        packets, rows=packets.rows * factor, score=packets.score * factor, squares=packets.squares * factor,
        covariate=packets.covariate * factor[:, None], cross=packets.cross * factor[:, None],
        product=packets.product * factor[:, None, None],
    )  # fmt: skip


def _in_common_units(parts: Sequence[Packets]) -> list[Packets]:
    """The packets of all parts with scores and covariates standardised over all rows."""
    rows = np.array([part.rows.sum() for part in parts])
    sums = np.stack([part.unit * part.covariate.sum(axis=0) for part in parts])
    origins, total = np.stack([part.origin for part in parts]), rows.sum()
    centre = float(sum(part.score.sum() + part.centre * part.rows.sum() for part in parts) / total)
    origin = np.asarray((sums + origins * rows[:, None]).sum(axis=0) / total, dtype=np.float64)
    scatter = np.stack([part.unit**2 * np.diagonal(part.product.sum(axis=0)) for part in parts])
    offset = origins - origin
    squares = (scatter + 2 * offset * sums + offset**2 * rows[:, None]).sum(axis=0)
    unit = np.sqrt(np.maximum(squares, 0.0) / total)
    unit = np.where(unit > 0, unit, 1.0)
    return [_moved(part, centre, origin, unit) for part in parts]


def _moved(part: Packets, centre: float, origin: FloatArray, unit: FloatArray) -> Packets:
    up, offset, wider = part.centre - centre, (part.origin - origin) / unit, part.unit / unit
    rows, score = part.rows, part.score + up * part.rows
    scaled = wider * part.covariate
    covariate = scaled + rows[:, None] * offset
    mixed = scaled[:, :, None] * offset
    product = np.outer(wider, wider) * part.product + mixed + mixed.swapaxes(1, 2)
    return replace(
        part, score=score, squares=part.squares + 2 * up * part.score + up**2 * rows, covariate=covariate,
        cross=wider * part.cross + part.score[:, None] * offset + up * covariate,
        product=product + rows[:, None, None] * np.outer(offset, offset), centre=centre, origin=origin, unit=unit,
    )  # fmt: skip


def _deal_again(first: Packets, second: Packets, subgroups: int) -> Packets:
    """The packets of two parts in the same units, put together."""
    cells, parts = 2 * subgroups, (first, second)
    rows = [np.bincount(_cell(part), part.members, cells).astype(np.int64) for part in parts]
    both, turn = rows[0] + rows[1], np.arange(PACKETS)
    size = both[:, None] // PACKETS + (turn < (both % PACKETS)[:, None])
    # As many rows of the first part come to each packet as do where rows are dealt at random.
    rng = np.random.default_rng([int(number.sum()) for number in rows])
    left, share = [number.copy() for number in rows], np.zeros((2, cells, PACKETS), dtype=np.int64)
    for j in range(PACKETS):
        share[0, :, j] = rng.hypergeometric(left[0], left[1], size[:, j])
        share[1, :, j] = size[:, j] - share[0, :, j]
        left = [number - taken for number, taken in zip(left, share[:, :, j], strict=True)]
    sums = _dealt(first, rows[0], share[0]) + _dealt(second, rows[1], share[1])
    some = np.flatnonzero(size)
    flat, cell, k = sums[some], some // PACKETS, len(first.names)
    ends = np.cumsum([1, 1, 1, k, k])
    n, score, squares, covariate, cross, product = np.split(flat, ends, axis=1)
    return Packets(
        first.names, cell // 2, cell % 2, n[:, 0], score[:, 0], squares[:, 0], covariate, cross,
        product.reshape(-1, k, k), first.centre, size.ravel()[some], first.origin, first.unit,
    )  # fmt: skip


def _dealt(part: Packets, rows: IntArray, share: IntArray) -> FloatArray:
    """Contribution of the packets of a part to those of the whole, so many rows to each; (cell and packet, sum)."""
    cell = _cell(part)
    flat = np.column_stack(
        [part.rows, part.score, part.squares, part.covariate, part.cross, part.product.reshape(len(cell), -1)]
    )
    single = (rows <= PACKETS)[:, None]
    sums = np.zeros((share.size, flat.shape[1]))
    np.add.at(sums, np.repeat(np.arange(share.size), np.where(single, share, 1).ravel()), flat)
    total, members = np.zeros((len(rows), flat.shape[1])), np.zeros(share.shape)
    np.add.at(total, cell, flat)
    starts = np.searchsorted(cell, cell, side="left")
    members[cell, np.arange(len(cell)) - starts] = part.members
    short = np.where(single, 0.0, share - members)
    mean = total / np.maximum(rows, 1)[:, None]
    return sums + (short[..., None] * mean[:, None, :]).reshape(sums.shape)
