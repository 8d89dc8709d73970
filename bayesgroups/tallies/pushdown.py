"""The sums of a tally from rows of any kind, reduced where they lie, in one part or in several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from bayesgroups.data import expressions
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import Roles, check_arguments, check_common, no_label, no_weight, positive_label
from bayesgroups.data.frames import MISSING_LEVEL, Frame, Missing
from bayesgroups.data.keyed_cells import Cells
from bayesgroups.data.metrics import Metric
from bayesgroups.data.sources import Source, is_stream, open_source
from bayesgroups.data.texts import level_text
from bayesgroups.data.thresholds import threshold_of
from bayesgroups.errors import InputError
from bayesgroups.tallies import auc
from bayesgroups.tallies.aggregation import add_means, check_range, promises
from bayesgroups.tallies.confusion import SCORE_SUMS, LabelCells
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.reduction import Reduced, Request, Unlabelled, distinct, reduce_source
from bayesgroups.tallies.subgroup_numbers import check_levels
from bayesgroups.tallies.subgroups import Subgroups, cross
from bayesgroups.tallies.sums import Clusters, Features, Sums, add_clusters

Declared = Mapping[str, Sequence[object] | None]


Locate = Callable[[Cells], NDArray[np.intp]]
"""The subgroup of each cell of an answer to a group-by whose first keys are the attributes."""


@dataclass(frozen=True)
class Pushed:
    """Sums over subgroups and what else is known of the rows, which are still where they were.

    ``locate`` tells the subgroup of each cell, ``lowest`` and ``highest`` are the extreme values of each metric, ``label_cells``
    the rows by subgroup, outcome and decision. ``frame`` (the last one of an iterator) has the attributes as ``__by_0__`` ... and
    every column that has a role under its common name. ``classes`` are the labels of outcomes and decisions, and ``notes`` what
    was decided on the way (threshold, rows dropped ...).
    """

    subgroups: Subgroups
    locate: Locate
    sums: Sums
    lowest: list[float]
    highest: list[float]
    label_cells: LabelCells
    frame: Frame
    classes: tuple[str, ...]
    notes: dict[str, Any]


def push_down(
    frame: object, roles: Roles, metrics: Sequence[Metric], declared: Declared, missing: Missing, *, decides: bool = False,
    confusion: bool = False, unlabelled: Unlabelled = "error",
) -> Pushed:  # fmt: skip
    """Sums of rows, taken where they are.

    Without ``metrics`` only subgroups and checked columns are wanted. ``decides`` is true if a metric needs two classes (a positive
    one); without it, outcomes may have any number of classes. ``confusion`` asks for sums of scores by outcome and decision,
    ``unlabelled`` says what becomes of rows without an outcome.
    """
    check_arguments(roles)
    if is_stream(frame):
        return _of_stream(frame, roles, metrics, declared, missing, decides, unlabelled)
    source = open_source(frame)
    request, notes = _request(source, roles, metrics, missing, decides, confusion, unlabelled)
    return _finish([reduce_source(source, request)], request, _known_levels(source, declared), notes)


def _known_levels(source: Source, declared: Declared) -> Declared:
    """The levels declared by the caller, or by a categorical column."""
    return {name: source.declared_levels(name) if levels is None else levels for name, levels in declared.items()}


def _of_stream(
    stream: Any, roles: Roles, metrics: Sequence[Metric], declared: Declared, missing: Missing, decides: bool,
    unlabelled: Unlabelled,
) -> Pushed:  # fmt: skip
    """The sums of frames that come one by one."""
    if roles.selection_rate is not None:
        raise InputError(
            "selection_rate= sets a threshold on all rows, but frames that come one by one are seen once; set threshold="
        )
    parts: list[Reduced] = []
    request: Request | None = None
    notes: dict[str, Any] = {}
    levels = declared
    for number, chunk in enumerate(stream, start=1):
        opened = nw.from_native(chunk, pass_through=True)
        if not isinstance(opened, nw.DataFrame | nw.LazyFrame):
            raise InputError(f"frame {number} of the iterator must be a dataframe; got {type(chunk).__name__}")
        source = open_source(opened)
        try:
            request, notes = _request(source, roles, metrics, missing, decides, unlabelled=unlabelled)
            if number == 1:
                levels = _known_levels(source, declared)
            parts.append(reduce_source(source, request))
        except InputError as problem:
            raise InputError(f"frame {number} of the iterator: {problem}") from problem
    if request is None:
        raise InputError("the iterator gave no frame; nothing can be tallied")
    return _finish(parts, request, levels, notes)


def _request(
    source: Source, roles: Roles, metrics: Sequence[Metric], missing: Missing, decides: bool, confusion: bool = False,
    unlabelled: Unlabelled = "error",
) -> tuple[Request, dict[str, Any]]:  # fmt: skip
    threshold = roles.threshold
    notes: dict[str, Any] = {"missing": missing}
    if roles.selection_rate is not None:
        selected = threshold_of(source, roles, missing)
        threshold, notes["selection_rate_attained"] = selected.threshold, selected.attained
    if threshold is not None:
        notes["threshold"] = threshold
    request = Request(roles, metrics, (), missing, decides or threshold is not None, threshold, confusion, unlabelled)
    single = {"__truth__": [1], "__decision__": [1]}
    labels = {key: single[key] for key in request.labels}
    table = _label_table(request, labels, 1 if request.decides else None, source.frame.implementation)
    of_labels = _of_labels(metrics, table, means=unlabelled == "keep")
    rest = tuple(i for i, metric in enumerate(metrics) if metric.kind != "auc" and i not in of_labels)
    if rest and unlabelled == "keep":
        raise InputError(
            f"metric {metrics[rest[0]].name!r} is no function of outcome and decision, and unlabelled='keep' is about these; tally "
            "it apart"
        )
    return replace(request, of_rows=rest), notes


def _label_table(
    request: Request, labels: Mapping[str, Sequence[Any]], positive: Any, engine: nw.Implementation
) -> nw.DataFrame[Any]:
    """Cells of labels as a small frame with the columns that metrics of labels are made of; ``engine`` is that of the rows."""
    truth, decision = labels.get("__truth__"), labels.get("__decision__")
    columns: dict[str, Any] = {"__cell__": np.arange(len(next(iter(labels.values()), ())))}
    if truth is not None:
        columns["__label_true__"] = [str(label) for label in truth]
        if positive is not None:
            columns["__y_true__"] = np.array([float(label == positive) for label in truth])
    if decision is not None:
        yes = True if request.thresholded else positive
        if yes is not None:
            columns["__y_pred__"] = np.array([float(label == yes) for label in decision])
        if not request.thresholded:
            columns["__label_pred__"] = [str(label) for label in decision]
    if "__y_true__" in columns and "__y_pred__" in columns:
        columns["__agrees__"] = (columns["__y_true__"] == columns["__y_pred__"]).astype(float)
    elif truth is not None and decision is not None and not request.thresholded:
        columns["__agrees__"] = np.array([float(a == b) for a, b in zip(truth, decision, strict=True)])
    return nw.from_dict(columns, backend=_IN_MEMORY.get(engine, "pandas"))


_IN_MEMORY: dict[nw.Implementation, Literal["polars", "pyarrow"]] = {
    nw.Implementation.POLARS: "polars",
    nw.Implementation.DUCKDB: "pyarrow",
    nw.Implementation.PYSPARK: "pyarrow",
}
"""What small frames are made with beside rows of an engine, whose answers come so as well; of pandas for any other."""


def _of_labels(
    metrics: Sequence[Metric], table: nw.DataFrame[Any], leave: Sequence[int] = (), *, means: bool = False
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Membership and values of cells, by position of the metrics that are made of labels alone; of ``means`` where asked for."""
    kinds = ("rate", "f1", "mean") if means else ("rate", "f1")
    asked = {i: metric for i, metric in enumerate(metrics) if metric.kind in kinds and i not in leave}
    try:
        return _evaluated(asked, table)
    except Exception:  # one of them needs a column that cells of labels do not have
        evaluated: dict[int, tuple[FloatArray, FloatArray]] = {}
        for i, metric in asked.items():
            with suppress(Exception):  # each dataframe engine has its own exceptions
                evaluated |= _evaluated({i: metric}, table)
        return evaluated


def _evaluated(metrics: Mapping[int, Metric], table: nw.DataFrame[Any]) -> dict[int, tuple[FloatArray, FloatArray]]:
    columns = [column for i, metric in metrics.items() for column in expressions.values(metric, i)[:2]]
    if not columns:
        return {}
    seen = table.select("__cell__", *columns)
    arrays = {name: seen[name].to_numpy().astype(np.float64) for name in seen.columns}
    return {i: (np.nan_to_num(arrays[f"__c{i}__"]), arrays[f"__v{i}__"]) for i in metrics}


def _finish(parts: Sequence[Reduced], request: Request, declared: Declared, notes: dict[str, Any]) -> Pushed:
    """Put the parts together."""
    roles, metrics = request.roles, request.metrics
    dropped = sum(part.dropped for part in parts)
    rows = np.concatenate([part.cells.table["rows"] for part in parts])
    without = sum(part.unlabelled for part in parts)
    if without and not rows.sum():
        raise no_label(str(roles.y_true))
    if not rows.sum():
        if dropped:
            raise InputError("no rows are left after dropping those with a missing attribute")
        raise InputError("the frame has no rows; nothing can be tallied")
    if dropped:
        notes["rows_dropped"] = int(dropped)
    if without:
        notes["rows_unlabelled"] = int(without)
    labels = {key: [label for part in parts for label in part.cells.labels[key]] for key in request.labels}
    table = {name: np.concatenate([part.cells.table[name] for part in parts]) for name in parts[0].cells.table}
    if request.weighted and not table["__weight__sum"].sum():
        raise no_weight(str(roles.weights))
    partial = request.unlabelled == "keep"
    if request.unlabelled != "error":
        labels = {key: _as_decided(some, labels.get("__decision__", [])) for key, some in labels.items()}
    values = distinct(labels, request)
    positive = positive_label(values, roles) if request.decides and values else None
    if positive is None and roles.y_true is not None and roles.y_pred is not None:
        check_common(roles, set(labels["__truth__"]) - {None}, set(labels["__decision__"]))
    if positive is not None:
        notes["positive"] = level_text(positive)
    check_levels(_levels_observed(parts, roles.by), declared, int(rows.sum()))
    subgroups, locate = _subgroups(parts, request, declared)
    place = np.concatenate([locate(part.cells) for part in parts])
    size = len(subgroups.table)

    def add_up(cells: FloatArray) -> FloatArray:
        return np.bincount(place, weights=cells, minlength=size).astype(np.float64)

    outcomes = _label_table(request, labels, positive, parts[0].frame.implementation)
    weight = table["__weight__sum"] if request.weighted else rows
    squares = table["squares"] if request.weighted else rows
    with_outcome = np.array([label is not None for label in labels["__truth__"]], dtype=bool) if partial else None
    counted = (weight, squares) if with_outcome is None else (weight * with_outcome, squares * with_outcome)
    label_values = _of_labels(metrics, outcomes, leave=request.of_rows, means=partial)
    moments = Moments(*(np.zeros((len(metrics), size)) for _ in range(4)))
    moments.mean[:] = np.nan
    lowest, highest = [0.0] * len(metrics), [0.0] * len(metrics)
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            continue
        if i in request.of_rows:
            promised = promises(table, i)
            lowest[i], highest[i] = check_range(metric, *promised), promised[2] or 0.0
            if metric.kind == "mean":
                add_means(moments, i, table, place, weighted=request.weighted)
                continue
            w, ww, wv = table[f"w{i}"], table[f"ww{i}" if request.weighted else f"w{i}"], table[f"wv{i}"]
        else:
            counts, value = label_values[i]
            used = value[counts > 0]
            if len(used):
                check_range(metric, float(counts.sum()), used.min(), used.max(), float((used * (1 - used)).sum()))
                lowest[i] = float(used.min()) if metric.kind == "mean" else 0.0
            w, ww, wv = (part * counts for part in (*counted, counted[0] * value))
        moments.weight[i], moments.weight_squares[i] = add_up(w), add_up(ww)
        some = moments.weight[i] > 0
        mean = add_up(wv)[some] / moments.weight[i][some]
        moments.mean[i, some], moments.scatter[i, some] = mean, moments.weight[i][some] * mean * (1 - mean)
    features = None
    if roles.features:
        total = np.stack([add_up(table[f"feature{i}"]) for i in range(len(roles.features))], axis=1)
        features = Features(roles.features, total, add_up(weight))
    grids = {part.grid for part in parts}
    scores = _scores(parts, locate) if any(part.scores is not None for part in parts) else None
    if grids - {None}:
        notes["score_grid"] = max(grid for grid in grids if grid is not None)
    clusters = _clusters(parts, locate, metrics, request.weighted) if roles.cluster is not None else None
    sums = Sums(add_up(rows), moments, request.weighted, scores, features, clusters)
    classes = tuple(sorted({str(value) for value in values}))
    cell_sums = {"weight": weight, "squares": squares, **{name: table[name] for name in SCORE_SUMS if name in table}}
    cells = LabelCells(place, outcomes, cell_sums, None if with_outcome is None else (with_outcome, rows))
    return Pushed(subgroups, locate, sums, lowest, highest, cells, parts[-1].frame, classes, notes)


def _as_decided(labels: Sequence[Any], decisions: Sequence[Any]) -> list[Any]:
    """Labels as decisions have them: a column of whole numbers with gaps is one of floats in some engines."""
    whole = all(label is None or (isinstance(label, float) and label.is_integer()) for label in labels)
    if not whole or any(isinstance(decision, float) for decision in decisions):
        return list(labels)
    return [None if label is None else int(label) for label in labels]


def _levels_observed(parts: Sequence[Reduced], by: Sequence[str]) -> dict[str, set[Any]]:
    """Levels of every attribute in the rows."""
    keys = [part.cells.keys[code] for part in parts for code in np.unique(part.cells.code)]
    return {name: {key[i] for key in keys} for i, name in enumerate(by)}


def _subgroups(parts: Sequence[Reduced], request: Request, declared: Declared) -> tuple[Subgroups, Locate]:
    """All combinations of levels, and a function that tells the subgroup of each cell."""
    by, level = request.roles.by, request.missing == "level"
    used = [[part.cells.keys[code] for code in np.unique(part.cells.code)] for part in parts]
    keys = list(dict.fromkeys(key for part in used for key in part))
    texted = {i for i in range(len(by)) if level and any(key[i] is None for key in keys)}

    def plain(key: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_text(value) if i in texted else value for i, value in enumerate(key))

    ordered = sorted(dict.fromkeys(map(plain, keys)), key=lambda key: tuple(str(value) for value in key))
    declared_levels = {name: declared[name] for name in by}
    if level:
        declared_levels = {
            name: None if levels is None else [*levels, MISSING_LEVEL] for name, levels in declared_levels.items()
        }
    subgroups = cross(by, {name: [key[i] for key in ordered] for i, name in enumerate(by)}, declared_levels)
    place = {levels: i for i, levels in enumerate(subgroups.table)}

    def locate(cells: Cells) -> NDArray[np.intp]:
        # Keys that were dropped have no place, and no cell.
        places = [place.get(tuple(level_text(value) for value in plain(key)), -1) for key in cells.keys]
        return np.array(places, dtype=np.intp)[cells.code]

    return subgroups, locate


def _text(value: object) -> str:
    return MISSING_LEVEL if value is None else level_text(value)


def _scores(parts: Sequence[Reduced], locate: Locate) -> auc.ScoreCells:
    given = [part.scores for part in parts if part.scores is not None]
    place = np.concatenate([locate(cells) for cells in given])
    score, *sums = (np.concatenate([cells.table[n] for cells in given]) for n in ("__key__", *expressions.SCORE_PARTS))
    return auc.sort_cells(auc.ScoreCells(place, score, *sums))


def _clusters(parts: Sequence[Reduced], locate: Locate, metrics: Sequence[Metric], weighted: bool) -> Clusters:
    total: Clusters | None = None
    for part in [part.clusters for part in parts]:
        if part is None or not len(part.code):
            continue
        place, label = locate(part), np.array(part.labels["__cluster__"], dtype=str)
        order = np.lexsort((label, place))
        sums = {name: values[order] for name, values in part.table.items()}
        nothing = np.full(len(order), np.nan)
        squares = "ww" if weighted else "w"
        cells = Clusters(
            place[order],
            label[order],
            sums["rows"],
            *(
                np.stack([sums.get(f"{name}{i}", nothing) for i in range(len(metrics))])
                for name in ("w", "wv", squares)
            ),
        )
        total = cells if total is None else add_clusters(total, cells)
    assert total is not None, "there are rows, and every row has a cluster"
    return total
