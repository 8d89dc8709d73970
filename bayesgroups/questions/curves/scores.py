"""Scores of a curve: the score cells of a tally, which are all that any curve needs of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.errors import InputError
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.auc_variances import score_cells

CLUSTERS_IGNORED = "rows come in clusters and are treated as independent, so limits and bands can be too narrow"
"""Note of a curve whose tally has clusters."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Positives and negatives per cell, a subgroup and distinct score, sorted by both.

    ``attributes`` (subgroup,) are the levels of each attribute. With weights the counts of a subgroup are divided by one
    number, so that they sum to its effective number of rows, (sum w)^2 / sum w^2. ``note`` says what limits do not count.
    """

    names: NDArray[np.str_]
    attributes: dict[str, NDArray[np.str_]]
    subgroup: IndexArray
    score: FloatArray
    positives: FloatArray
    negatives: FloatArray
    note: str = ""

    @property
    def size(self) -> int:
        """Number of subgroups."""
        return len(self.names)

    def totals(self) -> tuple[FloatArray, FloatArray]:
        """Positives and negatives of every subgroup."""
        ones, zeros = (np.bincount(self.subgroup, weights=w, minlength=self.size) for w in self._classes())
        return ones, zeros

    def labels(self) -> dict[str, Any]:
        """Coordinates along ``subgroup``."""
        return {"subgroup": self.names, **{name: ("subgroup", values) for name, values in self.attributes.items()}}

    def status(self) -> NDArray[np.str_]:
        """Status of each subgroup: ``ok``, ``no rows``, ``no positives`` or ``no negatives``."""
        ones, zeros = self.totals()
        words = np.where(zeros == 0, "no negatives", "ok")
        words = np.where(ones == 0, "no positives", words)
        return np.asarray(np.where(ones + zeros == 0, "no rows", words))

    def _classes(self) -> tuple[FloatArray, FloatArray]:
        return self.positives, self.negatives


def scores_of(
    source: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None] | None,
    *,
    y_true: str | None,
    y_score: str | None,
    positive: object,
    weights: str | None,
) -> Scores:
    """Scores of a tally, or of rows through a tally.

    An InputError if a tally comes with columns or keeps no scores; if rows come without columns or cannot be tallied; if a
    score is not finite, or there is no row at all.
    """
    if isinstance(source, xr.Dataset) and source.attrs.get("schema") == SCHEMA:
        if any(argument is not None for argument in (by, y_true, y_score, positive, weights)):
            raise InputError("a tally knows its columns; leave by=, y_true=, y_score=, positive= and weights= out")
        tally = source
    else:
        if by is None or y_true is None or y_score is None:
            raise InputError("rows need by=, y_true= and y_score=, the columns of attributes, outcome and score")
        from bayesgroups.tallies import tally as tally_rows

        tally = tally_rows(
            source, by, ["auc"], y_true=y_true, y_score=y_score, positive=positive, weights=weights
        )  # fmt: skip
    cells = score_cells(tally)
    if len(cells.score) == 0:
        raise InputError("no subgroup has a row; a curve needs some")
    size = tally.sizes["subgroup"]
    bad = ~np.isfinite(cells.score)
    if bad.any():
        worst = int(np.argmax(bad))
        name = str(tally["subgroup"].values[cells.subgroup[worst]])
        raise InputError(f"subgroup {name!r} has the score {cells.score[worst]}; scores must be finite")
    weight = np.bincount(cells.subgroup, weights=cells.positives + cells.negatives, minlength=size)
    squares = np.bincount(cells.subgroup, weights=cells.positive_squares + cells.negative_squares, minlength=size)
    scale = np.divide(weight, squares, out=np.ones(size), where=squares > 0)[cells.subgroup]
    attributes = {
        str(name): values.values
        for name, values in tally.coords.items()
        if values.dims == ("subgroup",) and name != "subgroup"
    }
    return Scores(
        tally["subgroup"].values, attributes, cells.subgroup.astype(np.intp), cells.score, scale * cells.positives,
        scale * cells.negatives, CLUSTERS_IGNORED if _clustered(tally) else "",
    )  # fmt: skip


def _clustered(tally: xr.Dataset) -> bool:
    """True if rows of a tally come in clusters."""
    return "cluster_analysis" in tally.data_vars


def check_draws(draws: object) -> int:
    """Number of draws as an int; an InputError unless whole and 100 or larger, for fewer show no band."""
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 100:
        raise InputError(f"draws must be a whole number, 100 or larger; got {draws!r}")
    return int(draws)
