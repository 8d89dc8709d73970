"""Tallies whose rows all have a decision and of which only some have an outcome, ``unlabelled="keep"``.

``judged``, ``labelled`` (subgroup, decision)
    Rows with that decision, and those of them with an outcome.
``decision_count`` (subgroup, decision)
    Rows by decision, labelled or not; with weights, sums of weights scaled to the effective rows of the subgroup.
``cell_count`` (subgroup, outcome, decision)
    Labelled rows; with weights scaled to the effective rows of subgroup and decision.
``decision_weight`` (subgroup, decision), ``decision_weight_squares`` (subgroup), ``cell_weight``, ``cell_weight_squares``
(subgroup, decision)
    Sums of weights and of their squares over all rows and over labelled rows, with weights.

Metrics are post-stratified by decision, see `bayesgroups.tallies.post_stratified` and `bayesgroups.tallies.partial_metrics`.
``sampling_variance`` is their delta-method variance, with one row more after either decision where labelled rows have no spread,
and ``count`` the number of rows of a plain rate with that variance, so that any estimator can read it. All of it holds where labels
depend on subgroup and decision alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.errors import InputError

CELLS = ("subgroup", "outcome", "decision")
ARMS = ("subgroup", "decision")


@dataclass(frozen=True)
class PartialCells:
    """Sums of rows by decision, labelled or not, and of labelled rows by outcome and decision.

    ``judged`` and ``labelled`` (subgroup, decision) are numbers of rows, ``decisions`` (subgroup, decision) and ``cells``
    (subgroup, outcome, decision) sums of weights, the same rows where there are none. ``squares`` are sums of squared weights, of
    all rows of a subgroup and of its labelled rows by decision.
    """

    judged: FloatArray
    labelled: FloatArray
    decisions: FloatArray
    cells: FloatArray
    squares: tuple[FloatArray, FloatArray] | None = None

    @property
    def effective(self) -> tuple[FloatArray, FloatArray]:
        """Effective rows by decision (subgroup, decision), and labelled ones (subgroup, outcome, decision)."""
        if self.squares is None:
            return self.decisions, self.cells
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.where(self.squares[0] > 0, self.decisions.sum(axis=1) / self.squares[0], 0.0)
            labels = np.where(self.squares[1] > 0, self.cells.sum(axis=1) / self.squares[1], 0.0)
        return self.decisions * rows[:, None], self.cells * labels[:, None, :]

    def laid_out(self, size: int, subgroups: IndexArray, classes: IndexArray, number: int) -> PartialCells:
        """The same sums over ``size`` subgroups and ``number`` classes, at these places."""
        arms, cells = np.ix_(subgroups, classes), np.ix_(subgroups, classes, classes)

        def placed(values: FloatArray, at: Any, shape: tuple[int, ...]) -> FloatArray:
            whole = np.zeros(shape)
            whole[at] = values
            return whole

        squares = None
        if self.squares is not None:
            squares = (placed(self.squares[0], subgroups, (size,)), placed(self.squares[1], arms, (size, number)))
        judged, labelled, decisions = (
            placed(values, arms, (size, number)) for values in (self.judged, self.labelled, self.decisions)
        )
        return PartialCells(judged, labelled, decisions, placed(self.cells, cells, (size, number, number)), squares)

    def __add__(self, other: PartialCells) -> PartialCells:
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = (self.squares[0] + other.squares[0], self.squares[1] + other.squares[1])
        return PartialCells(
            self.judged + other.judged,
            self.labelled + other.labelled,
            self.decisions + other.decisions,
            self.cells + other.cells,
            squares,
        )


def is_partial(tally: xr.Dataset) -> bool:
    """True if a tally keeps judged rows without an outcome."""
    return "decision_count" in tally.data_vars


def read_partial(tally: xr.Dataset) -> PartialCells:
    """The sums of a tally with confusion cells; in one that knows all outcomes every judged row is labelled."""
    cells = np.asarray(tally["cell_count"].transpose(*CELLS).values, dtype=np.float64)
    if not is_partial(tally):
        if "cell_weight" in tally.data_vars:
            raise InputError(
                "tallies with weights, of which one has all outcomes and another keeps rows without, cannot be added; tally "
                "their rows together with unlabelled='keep'"
            )
        rows = cells.sum(axis=1)
        return PartialCells(rows, rows, rows, cells)
    judged, labelled = (tally[name].transpose(*ARMS).values for name in ("judged", "labelled"))
    if "decision_weight" not in tally.data_vars:
        return PartialCells(judged, labelled, judged, cells)
    names = ("decision_weight", "cell_weight", "cell_weight_squares")
    decisions, weight, squares = (tally[name].transpose(*ARMS).values for name in names)
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(weight > 0, squares / weight, 0.0)
    return PartialCells(
        judged, labelled, decisions, cells * back[:, None, :], (tally["decision_weight_squares"].values, squares)
    )
