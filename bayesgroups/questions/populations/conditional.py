"""Metrics that average over some of the people: the ones whom each counts, and ratios of sums over confusion cells.

fnr_t = sum N_g q_fn / sum N_g (q_fn + q_tp) with q the shares of all people of a cell: a mean over positives. Weights of people
would answer another question. Särndal, Swensson, Wretman (1992), sections 5.6 and 7.4, for the variance of a ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.populations.cells import Cells
from bayesgroups.tallies.partial_labels import PartialCells, is_partial, read_partial

PopulationOf = Literal["people", "positives", "negatives", "selected", "not_selected", "denominator"]
"""Those whom the sizes of a population count; ``denominator`` are the ones that each metric averages over."""
_COUNTED: dict[str, PopulationOf] = {
    "fnr": "positives", "tpr": "positives", "fpr": "negatives", "tnr": "negatives", "ppv": "selected", "fdr": "selected",
    "npv": "not_selected", "for": "not_selected", "prev": "people", "judge_bias": "people",
}  # fmt: skip


def counted_by(cells: Cells) -> PopulationOf:
    """Those whom a metric averages over: people, where every row counts for it."""
    if cells.metric in _COUNTED:
        return _COUNTED[cells.metric]
    everybody = ~np.isfinite(cells.rows) | (cells.weighted | cells.clustered) | (cells.count == cells.rows)
    plain = "[" not in cells.metric and cells.kind != "f1"
    return "people" if plain and bool(everybody.all()) else "denominator"


def check_counted(cells: Cells, population_of: PopulationOf, *, exact: bool) -> None:
    """Refusal of an AUC, of an F1 score without confusion cells, and of sizes that count the wrong people.

    ``exact`` says that the metric can be had from confusion cells, with sizes of people.
    """
    if cells.kind == "auc":
        raise InputError(
            f"metric {cells.metric!r}: an AUC over several subgroups is no mean of theirs, for it compares people across them; "
            "leave it out of the tally, or tally the AUC of the target's rows"
        )
    if exact:
        return
    fix = "give a tally with confusion=True, and for draws a report of bg.ConfusionModel(), with sizes of people"
    if cells.kind == "f1":
        raise InputError(f"metric {cells.metric!r}: an F1 score over several subgroups is no mean of theirs; {fix}")
    counted = counted_by(cells)
    prevalence = ", or prevalence=" if counted in ("positives", "negatives") else ""
    if population_of not in (counted, "denominator"):
        raise InputError(
            f"metric {cells.metric!r} averages over {_words(counted)} and the population counts {_words(population_of)}: {fix}; or "
            f"sizes of those it averages over and population_of={counted!r}{prevalence}"
        )


def _words(counted: PopulationOf) -> str:
    return "some of the rows" if counted == "denominator" else counted.replace("_", " ")


@dataclass(frozen=True, eq=False)
class Confusion:
    """Confusion cells: ``shares`` (..., cell, kind) of the people of each cell, 0 without rows, and the weights of one metric.

    A metric is ``numerator`` over ``denominator`` (kind,), both summed with the shares. ``rows`` (cell,) are effective people, and
    ``labelled`` (cell, decision) those with an outcome, where some have none.
    """

    shares: FloatArray
    rows: FloatArray
    numerator: FloatArray
    denominator: FloatArray
    labelled: FloatArray | None = None

    @property
    def parts(self) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator (..., cell) per person."""
        return np.asarray(self.shares @ self.numerator), np.asarray(self.shares @ self.denominator)


def read_confusion(tally: xr.Dataset, position: int) -> Confusion | None:
    """Confusion cells behind a metric; none where the tally has none, or the metric is no function of them."""
    if "cell_count" not in tally.data_vars:
        return None
    numerator, denominator = (
        np.asarray(tally[name].isel(metric=position).transpose("outcome", "decision").values, dtype=np.float64).ravel()
        for name in ("cell_numerator", "cell_denominator")
    )
    if not np.isfinite(numerator).all():
        return None
    if is_partial(tally):
        return _partial(read_partial(tally), numerator, denominator)
    counts = tally["cell_count"].transpose("subgroup", "outcome", "decision").values
    counts = counts.reshape(tally.sizes["subgroup"], -1)
    rows = counts.sum(axis=1)
    shares = np.where(rows[:, None] > 0, counts / np.where(rows > 0, rows, 1.0)[:, None], 0.0)
    return Confusion(shares, rows, numerator, denominator)


def _partial(sums: PartialCells, numerator: FloatArray, denominator: FloatArray) -> Confusion:
    """Cells where some rows have no outcome; a subgroup with a decision that has rows and no label is one without rows."""
    decisions, cells = sums.effective
    labelled = cells.sum(axis=1)
    whole = ~((decisions > 0) & (labelled <= 0)).any(axis=1) & (decisions.sum(axis=1) > 0)
    rows = np.where(whole, decisions.sum(axis=1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        given = np.where(labelled[:, None] > 0, cells / labelled[:, None], 0.0)
        shares = np.where(whole[:, None, None], decisions[:, None] / rows[:, None, None] * given, 0.0)
    return Confusion(shares.reshape(len(rows), -1), rows, numerator, denominator, labelled)


def ratio_variance(confusion: Confusion, weights: FloatArray, ratio: FloatArray, denominator: FloatArray) -> FloatArray:
    """Linearised variance (...) of a ratio of sums with ``weights`` (..., cell), at the ratio and its denominator (...).

    With e = (numerator - ratio denominator) / mean denominator of a person, sum W^2 Var(e) / (n - 1) over the cells; a cell
    with one row takes the variance of e over all rows. Where some rows have no outcome, outcomes given a decision vary over the
    labelled rows of that decision, and decisions over all rows.
    """
    deviation = confusion.numerator - ratio[..., None] * confusion.denominator  # (..., kind)
    first = (confusion.shares * deviation[..., None, :]).sum(axis=-1)
    second = (confusion.shares * deviation[..., None, :] ** 2).sum(axis=-1)
    spread = np.maximum(second - first**2, 0.0)
    rows = confusion.rows
    total = rows.sum()
    typical = ((rows * second).sum(axis=-1) - (rows * first).sum(axis=-1) ** 2 / total) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(rows > 1, spread / (rows - 1), typical[..., None] / rows)
        if confusion.labelled is not None:
            each = _partial_variance(confusion, confusion.labelled, deviation)
    used = (weights > 0) & (rows > 0)
    return np.asarray((weights**2 * np.where(used, each, 0.0)).sum(axis=-1) / denominator**2)


def _partial_variance(confusion: Confusion, labelled: FloatArray, deviation: FloatArray) -> FloatArray:
    """Variance (..., cell) of the mean of e over the people of a cell, of which some have no outcome."""
    number = labelled.shape[1]
    cells = confusion.shares.reshape(len(labelled), -1, number)
    e = deviation.reshape(*deviation.shape[:-1], 1, -1, number)
    share = cells.sum(axis=1)
    given = cells / np.where(share > 0, share, 1.0)[:, None]
    mean = (given * e).sum(axis=-2)
    within = np.maximum((given * e**2).sum(axis=-2) - mean**2, 0.0)
    outcomes = (share**2 * within / np.maximum(labelled - 1, 1.0)).sum(axis=-1)
    between = (share * mean**2).sum(axis=-1) - (share * mean).sum(axis=-1) ** 2
    return np.asarray(outcomes + np.maximum(between, 0.0) / np.maximum(confusion.rows - 1, 1.0))


def ratio_bounds(
    confusion: Confusion, above: FloatArray, below: FloatArray, empty: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest ratio if the people of cells without rows, a share ``empty`` (...), may be of any kind.

    ``above`` and ``below`` (...) are the observed sums. A ratio of linear functions is extreme where all are of one kind.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        extremes = (above[..., None] + empty[..., None] * confusion.numerator) / (
            below[..., None] + empty[..., None] * confusion.denominator
        )
    observed: BoolArray = np.isfinite(extremes)
    return (
        np.where(observed, extremes, np.inf).min(axis=-1),
        np.where(observed, extremes, -np.inf).max(axis=-1),
    )
