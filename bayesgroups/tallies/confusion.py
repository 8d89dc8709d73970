"""The confusion cells of a tally: rows per subgroup, outcome and decision, and what every metric makes of them.

``cell_count`` (subgroup, outcome, decision)
    Rows; with weights, sums of weights scaled to the effective rows of the subgroup, (sum w)^2 / sum w^2.
``cell_score``, ``cell_score_squares`` (subgroup, outcome, decision)
    Sums of the score and of its square over the same rows, scaled the same way, where a score is given.
``cell_weight``, ``cell_weight_squares`` (subgroup)
    Sums of the weights and of their squares, with weights.
``cell_numerator``, ``cell_denominator`` (metric, outcome, decision)
    A metric is the sum of ``cell_numerator`` times the cells over that of ``cell_denominator`` times the cells; NaN for
    a metric that is no such function, as an AUC.

``outcome`` and ``decision`` are ``"0"`` and ``"1"`` (the positive class) when there are two classes to decide between, and
the labels when there are more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data import expressions
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import Roles
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import InputError
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.partial_labels import PartialCells, is_partial, read_partial
from bayesgroups.tallies.partial_metrics import with_partial
from bayesgroups.tallies.subgroups import Subgroups, check_attributes, of_tally

BINARY = ("0", "1")
CELLS = ("subgroup", "outcome", "decision")
SUMS = ("cell_count", "cell_score", "cell_score_squares")
CELL_NAMES = frozenset({"outcome", "decision", "cell_count", "cell_numerator", "cell_denominator", "cell_score",
                        "cell_score_squares", "cell_weight", "cell_weight_squares"})  # fmt: skip
"""Dims and variables of confusion cells."""
SCORE_SUMS = ("score", "score_squares")
"""Weighted sums of scores and of their squares over the rows of a cell."""


@dataclass(frozen=True)
class LabelCells:
    """Rows grouped by subgroup, outcome and decision, one cell after the other.

    ``labels`` are outcome and decision under the names that metrics use, ``sums`` those of the weights, of their squares, and of
    `SCORE_SUMS` where asked for; arrays (cell,). Where rows without an outcome are kept, ``with_outcome`` tells which cells have
    one, and how many rows each cell has.
    """

    subgroup: NDArray[np.intp]
    labels: nw.DataFrame[Any]
    sums: dict[str, FloatArray]
    with_outcome: tuple[NDArray[np.bool_], FloatArray] | None = None


def with_cells(
    tally: xr.Dataset, cells: LabelCells, metrics: Sequence[Metric], classes: Sequence[str], positive: str | None
) -> xr.Dataset:
    """The tally of the same rows with its confusion cells; ``positive`` is the positive class, where there are two."""
    binary = positive is not None
    labels = BINARY if binary else tuple(classes)
    at = {label: i for i, label in enumerate(labels)}
    with_outcome = np.ones(len(cells.subgroup), dtype=bool) if cells.with_outcome is None else cells.with_outcome[0]
    place = [cells.subgroup]
    for name in ("__y_true__", "__y_pred__") if binary else ("__label_true__", "__label_pred__"):
        values = cells.labels[name].to_list()
        place.append(
            np.array([at.get(str(int(value)) if binary else str(value), 0) for value in values], dtype=np.intp)
        )
    whole = _with_forms(tally, metrics, labels, None if positive is None else _texts(classes, positive))

    def total(values: FloatArray) -> FloatArray:
        array = np.zeros((tally.sizes["subgroup"], len(labels), len(labels)))
        np.add.at(array, tuple(each[with_outcome] for each in place), values[with_outcome])
        return array

    if cells.with_outcome is not None:
        return with_partial(whole, _partial(cells, place, total, "weight" in tally.data_vars), labels)
    names = {"cell_count": "weight", **{f"cell_{name}": name for name in SCORE_SUMS if name in cells.sums}}
    totals = {name: total(cells.sums[summed]) for name, summed in names.items()}
    squares = total(cells.sums["squares"]).sum(axis=(1, 2)) if "weight" in tally.data_vars else None
    return _assign(whole, totals, squares, labels)


def _partial(
    cells: LabelCells, place: Sequence[NDArray[np.intp]], total: Callable[[FloatArray], FloatArray], weighted: bool
) -> PartialCells:
    """Sums over all rows by subgroup and decision, and over those with an outcome, of which ``total`` makes cells."""
    assert cells.with_outcome is not None, "asked for where rows without an outcome are kept"
    labelled = total(cells.with_outcome[1])

    def judged(values: FloatArray) -> FloatArray:
        array = np.zeros(labelled.sum(axis=1).shape)
        np.add.at(array, (place[0], place[2]), values)
        return array

    weight, squared = cells.sums["weight"], cells.sums["squares"]
    squares = (judged(squared).sum(axis=1), total(squared).sum(axis=1)) if weighted else None
    return PartialCells(judged(cells.with_outcome[1]), labelled.sum(axis=1), judged(weight), total(weight), squares)


def _with_forms(
    tally: xr.Dataset, metrics: Sequence[Metric], labels: Sequence[str], texts: Sequence[str] | None
) -> xr.Dataset:
    """The tally with what its metrics make of the cells."""
    numerator, denominator = weights_of(metrics, labels, texts)
    forms = {"cell_numerator": numerator, "cell_denominator": denominator}
    return tally.assign({name: (("metric", "outcome", "decision"), form) for name, form in forms.items()})


def weights_of(
    metrics: Sequence[Metric], labels: Sequence[str], texts: Sequence[str] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Weights of the confusion cells in every metric: numerators and denominators (metric, outcome, decision).

    The value of each metric is looked at in every cell; NaN for one that needs more than outcome and decision. ``texts`` are the
    negative and the positive class as the rows call them, where ``labels`` are ``"0"`` and ``"1"``.

    >>> from bayesgroups.data.metrics import named
    >>> above, below = weights_of([named("ppv")], ["0", "1"], ["0", "1"])
    >>> above[0].tolist(), below[0].tolist()
    ([[0.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]])
    """
    number = len(labels)
    outcome, decision = (index.ravel() for index in np.indices((number, number)))
    columns: dict[str, Any] = {"__agrees__": (outcome == decision).astype(np.float64)}
    if texts is not None:
        columns |= {"__y_true__": outcome.astype(np.float64), "__y_pred__": decision.astype(np.float64)}
    texts = labels if texts is None else texts
    columns |= {
        "__label_true__": [texts[i] for i in outcome.tolist()],
        "__label_pred__": [texts[i] for i in decision.tolist()],
    }
    frame = nw.from_dict(columns, backend="pandas")
    above, below = (np.full((len(metrics), number, number), np.nan) for _ in range(2))
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        try:
            seen = frame.with_columns(*expressions.values(metric, i)[:2])
        except Exception:  # a metric of other columns, for which each engine has its own exception
            continue
        arrays = (seen[name].to_numpy().astype(np.float64) for name in (f"__c{i}__", f"__v{i}__"))
        weight, total = (array.reshape(number, number) for array in arrays)
        # F1 is 2 r / (1 + r) of the rate r that its rows average.
        above[i], below[i] = (2 * total, weight + total) if metric.kind == "f1" else (total, weight)
    return above, below


def _texts(classes: Sequence[str], positive: str) -> list[str]:
    """The negative and the positive label, as metrics of one class name them."""
    negatives = [label for label in classes if label != positive]
    return [negatives[0] if len(negatives) == 1 else f"not {positive}", positive]


def check_partial(roles: Roles, metrics: Sequence[Metric]) -> None:
    """Refuse what cannot be answered where rows without an outcome are kept."""
    if roles.y_true is None:
        raise InputError("unlabelled='keep' keeps rows without an outcome, and needs y_true=, which is not given")
    if roles.y_score is not None:
        raise InputError(
            "unlabelled='keep' takes decisions, and y_score= gives scores; make a column of decisions of them and name it y_pred="
        )
    if roles.cluster is not None:
        raise InputError("unlabelled='keep' counts independent rows, and cluster= is given; leave one of them out")
    for metric in metrics:
        if metric.kind == "auc":
            raise InputError(
                f"metric {metric.name!r} needs the outcome of every row; leave it out of unlabelled='keep'"
            )


def check_cells(roles: Roles, analysis: ClusterAnalysis) -> None:
    """Refuse to count cells without outcomes and decisions, or where the cells of a cluster are not independent."""
    check_attributes(roles.by, CELL_NAMES, "tally of confusion cells (confusion=True)")
    if roles.y_true is None:
        raise InputError("confusion=True needs y_true=, which is not given")
    if roles.y_pred is None and roles.threshold is None and roles.selection_rate is None:
        raise InputError(
            "confusion=True needs y_pred= (or y_score= with threshold= or selection_rate=), which is not given"
        )
    if analysis != "ignore":
        raise InputError(
            f"confusion=True counts independent rows and cluster_analysis is {analysis!r}; leave cluster= out, or say "
            "cluster_analysis='ignore'"
        )


def add_cells(whole: xr.Dataset, parts: Sequence[xr.Dataset], subgroups: Subgroups) -> xr.Dataset:
    """The tally of the whole with the cells of its parts; as it is where no part has them, an error where only some have."""
    having = ["cell_count" in part.data_vars for part in parts]
    if not any(having):
        return whole
    names = [name for name in SUMS if name in parts[0]]
    if all(having) and any(is_partial(part) for part in parts):
        return _add_partial(whole, parts, subgroups)
    if not all(having) or any([name for name in SUMS if name in part] != names for part in parts):
        raise InputError("tallies differ in confusion= or in the score of their cells; make all of them alike")
    labels = _labels(parts)
    sums = {name: np.zeros((len(subgroups.table), len(labels), len(labels))) for name in names}
    weighted = "cell_weight" in parts[0].data_vars
    squares = np.zeros(len(subgroups.table))
    for part in parts:
        position = subgroups.codes(of_tally(part).table)
        at = np.array([labels.index(str(label)) for label in part["outcome"].values])
        total, weight_squares = (
            part[name].values if weighted else np.ones(1) for name in ("cell_weight", "cell_weight_squares")
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            back = np.where(total > 0, weight_squares / total, 0.0)[:, None, None]
        for name in names:
            sums[name][np.ix_(position, at, at)] += back * part[name].transpose(*CELLS).values
        if weighted:
            squares[position] += weight_squares
    return _assign(_with_forms_of(whole, parts, labels), sums, squares if weighted else None, labels)


def _add_partial(whole: xr.Dataset, parts: Sequence[xr.Dataset], subgroups: Subgroups) -> xr.Dataset:
    """The tally of the whole where parts keep rows without an outcome; in a part that does not every row is labelled."""
    labels = _labels(parts)
    total: PartialCells | None = None
    for part in parts:
        if any(name in part for name in SUMS[1:]):
            raise InputError("tallies with a score in their cells cannot be added to one that keeps unlabelled rows")
        place = subgroups.codes(of_tally(part).table)
        at = np.array([labels.index(str(label)) for label in part["outcome"].values], dtype=np.intp)
        sums = read_partial(part).laid_out(len(subgroups.table), place, at, len(labels))
        total = sums if total is None else total + sums
    assert total is not None, "there is at least one part"
    return with_partial(_with_forms_of(whole, parts, labels), total, labels)


def _labels(parts: Sequence[xr.Dataset]) -> list[str]:
    """The classes of all parts."""
    labels = list(dict.fromkeys(str(label) for part in parts for label in part["outcome"].values))
    return labels if len(labels) == 2 else sorted(labels)


def with_counts(tally: xr.Dataset, metrics: Sequence[Metric], labels: Sequence[str]) -> xr.Dataset:
    """The tally with what its metrics make of cells of these labels; of two the second one is the positive class."""
    two = len(labels) == 2
    return _with_forms(tally, metrics, BINARY if two else labels, labels if two else None)


def _with_forms_of(whole: xr.Dataset, parts: Sequence[xr.Dataset], labels: Sequence[str]) -> xr.Dataset:
    """The whole with what its metrics make of the cells, from the part that has all classes."""
    largest = max(parts, key=lambda part: part.sizes["outcome"])
    if largest["outcome"].values.tolist() != list(labels):
        raise InputError(f"no tally has all the classes {list(labels)}; give every part all of them")
    return whole.assign({name: largest[name] for name in ("cell_numerator", "cell_denominator")})


def _assign(
    tally: xr.Dataset, sums: Mapping[str, FloatArray], squares: FloatArray | None, labels: Sequence[str]
) -> xr.Dataset:
    """The sums as variables, scaled to effective rows where there are weights."""
    classes = {name: np.array(labels, dtype=str) for name in ("outcome", "decision")}
    if squares is None:
        return tally.assign({name: (CELLS, values) for name, values in sums.items()}).assign_coords(classes)
    weight = sums["cell_count"].sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(squares > 0, weight / squares, 0.0)[:, None, None]
    whole = tally.assign({name: (CELLS, scale * values) for name, values in sums.items()})
    return whole.assign(cell_weight=("subgroup", weight), cell_weight_squares=("subgroup", squares)).assign_coords(
        classes
    )
