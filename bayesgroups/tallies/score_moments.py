"""Scores by subgroup and outcome in bounded memory: counts, sums and sums of squares in narrow bins.

A bin lies on the modelling scale (logits of scores that are probabilities, scores as they are otherwise) and holds, of the
rows of one subgroup and outcome, their weight and the sums of what they lie above the middle of the bin and of its square.
So means and variances of a cell are exact, whatever the bins; the shape of the distribution is known to the width of a bin.
Bins begin at whole multiples of the width, a power of 2; sums of parts with different widths take the wider one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.tallies.auc import ScoreCells
from bayesgroups.tallies.auc_variances import score_cells
from bayesgroups.tallies.subgroups import of_tally

Scale = Literal["logit", "identity"]

EDGE = 1e-6
"""Scores nearer to 0 or 1 than this have the logit of it."""
LOGIT_WIDTH = 2.0**-4
MAX_SCORE = 1e100
"""Scores beyond this are refused."""
FINENESS = 16
"""Bins per standard deviation of a score on its own scale, at least."""

OUTCOMES = ("0", "1")


@dataclass(frozen=True)
class ScoreBins:
    """Scores of every subgroup and outcome in bins of ``scale``, sorted by subgroup, outcome and bin; arrays (score_bin,).

    Bin ``index`` holds scores from ``index * width`` on and below the next, with a power of 2 for ``width``; ``outcome`` is 0 or 1.
    ``weight`` and ``squares`` sum the weights of the rows and their squares, ``total`` and ``total_squares`` (weighted) what a row
    lies above the middle of its bin, and its square.
    """

    scale: Scale
    width: float
    subgroup: NDArray[np.int64]
    outcome: NDArray[np.int64]
    index: NDArray[np.int64]
    weight: FloatArray
    squares: FloatArray
    total: FloatArray
    total_squares: FloatArray

    @property
    def middle(self) -> FloatArray:
        """Middles of the bins."""
        return np.asarray((self.index + 0.5) * self.width, dtype=np.float64)

    @property
    def mean(self) -> FloatArray:
        """Mean score of the rows of each bin."""
        return np.asarray(self.middle + self.total / self.weight, dtype=np.float64)


@dataclass(frozen=True)
class CellMoments:
    """Moments of the scores by outcome and subgroup; arrays (outcome, subgroup).

    ``count`` is the number of rows ((sum w)^2 / sum w^2 with weights, as everywhere), ``mean`` their mean score (NaN
    without rows) and ``scatter`` the sum of squared deviations from it, in rows.
    """

    count: FloatArray
    mean: FloatArray
    scatter: FloatArray


def to_scale(score: ArrayLike, scale: Scale) -> FloatArray:
    """Scores on the modelling scale.

    >>> to_scale([0.5, 0.0, 1.0], "logit").round(4).tolist()
    [0.0, -13.8155, 13.8155]
    """
    values = np.asarray(score, dtype=np.float64)
    if scale == "identity":
        return values
    inside = np.clip(values, EDGE, 1 - EDGE)
    return np.asarray(np.log(inside) - np.log1p(-inside), dtype=np.float64)


def bin_rows(
    score: FloatArray, outcome: NDArray[np.int64], subgroup: NDArray[np.int64], weight: FloatArray, squares: FloatArray,
    scale: Scale,
) -> ScoreBins:  # fmt: skip
    """Bins of scores as observed, not on the modelling scale; arrays (row,).

    ``squares`` is what a row adds to the sum of squared weights; it may stand for several equal ones.
    """
    values = to_scale(score, scale)
    some = weight > 0
    values, weight, squares = values[some], weight[some], squares[some]
    outcome, subgroup = outcome[some], subgroup[some]
    width = LOGIT_WIDTH if scale == "logit" else _width(values, weight)
    index = np.floor(values / width).astype(np.int64)
    offset = values - (index + 0.5) * width
    return _merge(
        ScoreBins(scale, width, subgroup, outcome, index, weight, squares, weight * offset, weight * offset**2)
    )


def of_score_cells(cells: ScoreCells, scale: Scale) -> ScoreBins:
    """Bin the counts per distinct score that a tally of an AUC keeps."""
    both = [
        (np.ones(len(cells.score), dtype=np.int64), cells.positives, cells.positive_squares),
        (np.zeros(len(cells.score), dtype=np.int64), cells.negatives, cells.negative_squares),
    ]
    outcome, weight, squares = (np.concatenate(parts) for parts in zip(*both, strict=True))
    return bin_rows(
        np.tile(cells.score, 2), outcome, np.tile(cells.subgroup, 2).astype(np.int64), weight, squares, scale
    )


def cell_moments(bins: ScoreBins, subgroups: int) -> CellMoments:
    """Counts, means and scatters by outcome and subgroup."""
    cell = bins.outcome * subgroups + bins.subgroup

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, weights=values, minlength=2 * subgroups).reshape(2, subgroups)

    weight, squares = total(bins.weight), total(bins.squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.where(weight > 0, weight**2 / squares, 0.0)
        mean = np.where(weight > 0, total(bins.weight * bins.middle + bins.total) / weight, np.nan)
        off = bins.middle - mean.ravel()[cell]
        scatter = total(bins.weight * off**2 + 2 * off * bins.total + bins.total_squares) / weight * count
    scatter = np.where(weight > 0, np.maximum(scatter, 0.0), 0.0)
    return CellMoments(count, mean, np.where(scatter > 1e-13 * count * np.nan_to_num(mean) ** 2, scatter, 0.0))


def add(first: ScoreBins, second: ScoreBins) -> ScoreBins:
    """Bins of two parts of the data together, laid out over the same subgroups."""
    width = max(first.width, second.width)
    parts = [_widen(first, width), _widen(second, width)]
    names = ("subgroup", "outcome", "index", "weight", "squares", "total", "total_squares")
    joined = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
    return _merge(ScoreBins(first.scale, width, *joined))


def attach(tally: xr.Dataset, bins: ScoreBins) -> xr.Dataset:
    """A tally with the scores in bins, which are laid out over its subgroups.

    Added are ``bin_subgroup``, ``bin_outcome``, ``bin_index``, ``bin_weight``, ``bin_weight_squares``, ``bin_total`` and
    ``bin_total_squares`` along ``score_bin``, and ``score_count``, ``score_mean`` and ``score_variance`` (score_outcome, subgroup)
    on the modelling scale, which the settings name.
    """
    cells = cell_moments(bins, tally.sizes["subgroup"])
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(cells.count > 1, cells.scatter / (cells.count - 1), np.nan)
    along, both = "score_bin", ("score_outcome", "subgroup")
    binned = tally.drop_dims("score_bin", errors="ignore").assign(
        bin_subgroup=(along, bins.subgroup), bin_outcome=(along, bins.outcome), bin_index=(along, bins.index),
        bin_weight=(along, bins.weight), bin_weight_squares=(along, bins.squares), bin_total=(along, bins.total),
        bin_total_squares=(along, bins.total_squares),
        score_count=(both, cells.count), score_mean=(both, cells.mean), score_variance=(both, variance),
    )  # fmt: skip
    binned = binned.assign_coords(score_outcome=np.array(OUTCOMES))
    settings = {**json.loads(tally.attrs["settings"]), "score_scale": bins.scale, "score_bin_width": bins.width}
    binned.attrs["settings"] = as_json(settings)
    return binned


def keep_scores(tally: xr.Dataset, *, scale: Scale | None = None, cells: bool = True) -> xr.Dataset:
    """A tally with an ``auc`` and with the moments and bins of its scores, which `bayesgroups.add_tallies` adds up.

    The modelling scale is by default that of logits where all scores lie in [0, 1]; say it where parts of data are added. Without
    the counts per distinct score (``cells=False``) the metric ``auc`` goes as well, as nothing is left to compute it from; what
    remains does not grow with rows. Scores beyond 1e100, or outside [0, 1] for logits, are an error.

    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": ["a"] * 4, "y": [0, 0, 1, 1], "p": [0.5, 0.5, 0.2, 0.8]})
    >>> half = keep_scores(bg.tally(rows, ["s"], ["sel", "auc"], y_true="y", y_score="p", threshold=0.5), cells=False)
    >>> bg.add_tallies([half, half])["score_count"].values.ravel().tolist()
    [4.0, 4.0]
    """
    counts = score_cells(tally)
    outside = (counts.score < 0) | (counts.score > 1)
    if scale == "logit" and outside.any():
        worst = int(np.argmax(outside))
        where = str(tally["subgroup"].values[counts.subgroup[worst]])
        raise InputError(
            f"subgroup {where!r} has the score {counts.score[worst]}, which is no probability and has no logit; "
            "say scale='identity'"
        )
    if (np.abs(counts.score) > MAX_SCORE).any():
        worst = int(np.argmax(np.abs(counts.score)))
        where = str(tally["subgroup"].values[counts.subgroup[worst]])
        raise InputError(
            f"subgroup {where!r} has a score of {counts.score[worst]:g}, whose square is no number; divide all scores by it"
        )
    chosen: Scale = scale or ("identity" if outside.any() else "logit")
    whole = attach(tally, of_score_cells(counts, chosen))
    if cells:
        return whole
    remaining = [
        str(name) for name, kind in zip(tally["metric"].values, tally["kind"].values, strict=True) if kind != "auc"
    ]
    if not remaining:
        raise InputError("auc is the only metric of the tally; tally another one, such as sel, or keep the cells")
    return whole.drop_dims("score_cell").sel(metric=remaining)


def kept(tally: xr.Dataset) -> ScoreBins | None:
    """The bins that a tally carries; ``None`` where it carries none."""
    if "score_bin" not in tally.dims:
        return None
    settings = json.loads(tally.attrs["settings"])
    names = ("subgroup", "outcome", "index", "weight", "weight_squares", "total", "total_squares")
    return ScoreBins(
        settings["score_scale"], float(settings["score_bin_width"]), *(tally[f"bin_{name}"].values for name in names)
    )


def carry(parts: Sequence[xr.Dataset], whole: xr.Dataset) -> xr.Dataset:
    """The tally of the whole with the bins of its parts, added up; as it is where no part has bins.

    An error where some parts have bins and others not, or the modelling scales differ.
    """
    bins = [kept(part) for part in parts]
    present = [entry for entry in bins if entry is not None]
    if not present:
        return whole
    if len(present) < len(bins):
        raise InputError("some of the tallies keep score moments and others do not; use keep_scores() on all of them")
    if len({entry.scale for entry in present}) > 1:
        raise InputError("tallies keep score moments on different scales; use keep_scores() with the same scale=")
    position = [of_tally(whole).codes(of_tally(part).table) for part in parts]
    placed = [replace(entry, subgroup=where[entry.subgroup]) for entry, where in zip(present, position, strict=True)]
    return attach(whole, reduce(add, placed) if len(placed) > 1 else _merge(placed[0]))


def _width(values: FloatArray, weight: FloatArray) -> float:
    """The largest power of 2 that is no wider than a fraction of the standard deviation; 1 where there is none."""
    mean = np.average(values, weights=weight) if len(values) else 0.0
    variance = np.average((values - mean) ** 2, weights=weight) if len(values) else 0.0
    if not variance > (1e-12 * mean) ** 2 or not np.isfinite(variance):
        return 1.0
    return float(2.0 ** np.floor(np.log2(np.sqrt(variance) / FINENESS)))


def _widen(bins: ScoreBins, width: float) -> ScoreBins:
    """The same rows in bins that are wider by a power of 2."""
    if width == bins.width:
        return bins
    index = np.floor_divide(bins.index, np.int64(width / bins.width))
    shift = bins.middle - (index + 0.5) * width
    return replace(
        bins, width=width, index=index, total=bins.total + bins.weight * shift,
        total_squares=bins.total_squares + 2 * shift * bins.total + bins.weight * shift**2,
    )  # fmt: skip


def _merge(bins: ScoreBins) -> ScoreBins:
    """Sort, and add up what falls into one bin."""
    order = np.lexsort((bins.index, bins.outcome, bins.subgroup))
    keys = np.stack([bins.subgroup, bins.outcome, bins.index])[:, order]
    if len(order) == 0:
        return bins
    new = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    start = np.flatnonzero(new)
    sums = [
        np.add.reduceat(values[order], start)
        for values in (bins.weight, bins.squares, bins.total, bins.total_squares)
    ]  # fmt: skip
    subgroup, outcome, index = keys[:, start]
    return ScoreBins(bins.scale, bins.width, subgroup, outcome, index, *sums)
