"""Area under the ROC curve of each subgroup from counts per score, with its variances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray


@dataclass(frozen=True)
class ScoreCells:
    """Positives and negatives per subgroup and distinct score, sorted by subgroup and score.

    All arrays have shape (score_cell,). The squares are sums of squared weights: equal to the counts when rows are
    not weighted.
    """

    subgroup: NDArray[np.intp]
    score: FloatArray
    positives: FloatArray
    negatives: FloatArray
    positive_squares: FloatArray
    negative_squares: FloatArray

    def variables(self, *, weighted: bool) -> dict[str, tuple[str, NDArray[Any]]]:
        """The cells as variables of a tally; squares with weights alone."""
        names = {"score_subgroup": self.subgroup, "score_value": self.score,
                 "score_positives": self.positives, "score_negatives": self.negatives}  # fmt: skip
        if weighted:
            names |= {"score_positive_squares": self.positive_squares, "score_negative_squares": self.negative_squares}
        return {name: ("score_cell", values) for name, values in names.items()}

    def add_up(self, values: FloatArray, subgroups: int) -> FloatArray:
        """Sums over the cells of each subgroup, (subgroup,)."""
        return np.bincount(self.subgroup, weights=values, minlength=subgroups).astype(np.float64)


@dataclass(frozen=True)
class AucStatistics:
    """AUC and its variances; every array has shape (subgroup,), NaN where a class is empty.

    ``count`` is the effective number of rows n0 n1 / (n0 + n1 + 1), 0 where a class is empty.
    """

    estimate: FloatArray
    count: FloatArray
    delong: FloatArray
    hanley_mcneil: FloatArray
    bootstrap: FloatArray


def sort_cells(cells: ScoreCells) -> ScoreCells:
    """Sort by subgroup and score, adding up cells that coincide."""
    order = np.lexsort((cells.score, cells.subgroup))
    subgroup, score = cells.subgroup[order], cells.score[order] + 0.0
    new = np.ones(len(order), dtype=bool)
    new[1:] = (subgroup[1:] != subgroup[:-1]) | (score[1:] != score[:-1])
    start = np.flatnonzero(new)
    if len(start) == 0:
        return cells
    sums = [
        np.add.reduceat(column[order], start)
        for column in (cells.positives, cells.negatives, cells.positive_squares, cells.negative_squares)
    ]
    return ScoreCells(subgroup[start], score[start], *sums)


def statistics(cells: ScoreCells, subgroups: int, *, ties: float = 0.5) -> AucStatistics:
    """AUC, effective counts and variances of every subgroup, of sorted cells from `sort_cells`.

    Estimand: P(s' > s given y' = 1, y = 0) plus ``ties``, 0.5 (Mann-Whitney) or 0 (strict), times the probability of a tie. With
    psi the matrix of pair values: DeLong's variance (needs two rows of each class; DeLong, DeLong, Clarke-Pearson (1988),
    doi:10.2307/2531595), Hanley and McNeil's (1982, doi:10.1148/radiology.143.1.7063747), and the exact variance of the bootstrap
    that resamples within class, ((n0 - 1) V10 + (n1 - 1) V01 + V11) / (n0 n1).
    """
    total = partial(cells.add_up, subgroups=subgroups)
    ones, zeros = total(cells.positives), total(cells.negatives)
    square_1, square_0 = total(cells.positive_squares), total(cells.negative_squares)
    before_negative = _before(cells.negatives, cells.subgroup, zeros)
    before_positive = _before(cells.positives, cells.subgroup, ones)
    g = cells.subgroup
    with np.errstate(divide="ignore", invalid="ignore"):
        won = (before_negative + ties * cells.negatives) / zeros[g]  # row means of psi, one per positive
        beaten = (ones[g] - before_positive - (1 - ties) * cells.positives) / ones[g]  # column means, one per negative
        auc = total(np.where(cells.positives > 0, cells.positives * won, 0.0)) / ones
        psi_squared = total(
            np.where(cells.positives > 0, cells.positives * (before_negative + ties**2 * cells.negatives), 0.0)
        )
        v11 = psi_squared / (ones * zeros) - auc**2
        row_scatter = (won - auc[g]) ** 2
        column_scatter = (beaten - auc[g]) ** 2
        v10 = total(np.where(cells.positives > 0, cells.positives * row_scatter, 0.0)) / ones
        v01 = total(np.where(cells.negatives > 0, cells.negatives * column_scatter, 0.0)) / zeros
        # Kish's effective class sizes; the sizes themselves when rows are not weighted.
        n1, n0 = ones**2 / square_1, zeros**2 / square_0
        w10 = total(np.where(cells.positives > 0, cells.positive_squares * row_scatter, 0.0)) / ones**2
        w01 = total(np.where(cells.negatives > 0, cells.negative_squares * column_scatter, 0.0)) / zeros**2
        delong = w10 * n1 / (n1 - 1) + w01 * n0 / (n0 - 1)
        bootstrap = ((n0 - 1) * v10 + (n1 - 1) * v01 + v11) / (n0 * n1)
        q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
        hanley = (auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)) / (n0 * n1)
        count = n0 * n1 / (n0 + n1 + 1)
    defined = (ones > 0) & (zeros > 0)
    paired = defined & (np.nan_to_num(n1) > 1 + 1e-9) & (np.nan_to_num(n0) > 1 + 1e-9)
    return AucStatistics(
        estimate=np.where(defined, auc, np.nan),
        count=np.where(defined, count, 0.0),
        delong=np.where(paired, delong, np.nan),
        hanley_mcneil=np.where(defined, hanley, np.nan),
        bootstrap=np.where(defined, np.maximum(bootstrap, 0.0), np.nan),
    )


def error_bound(cells: ScoreCells, subgroups: int) -> FloatArray:
    """Bound on the difference between the AUC of rounded scores and that of the scores, (subgroup,); NaN where a class is empty.

    Pairs of different cells keep their order; those of one cell count one half and may have been won or lost: half the share
    of pairs in one cell.
    """
    total = partial(cells.add_up, subgroups=subgroups)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = total(cells.positives * cells.negatives) / (total(cells.positives) * total(cells.negatives))
    return np.asarray(share / 2, dtype=np.float64)


def _before(values: FloatArray, subgroup: NDArray[np.intp], totals: FloatArray) -> FloatArray:
    """Sum of ``values`` over the earlier cells of the same subgroup."""
    running = np.cumsum(values) - values
    offset = np.concatenate([[0.0], np.cumsum(totals)[:-1]])
    return np.asarray(running - offset[subgroup], dtype=np.float64)
