"""Rows reduced where they lie: one group-by over attributes and labels, and one more each for scores and clusters.

Outcome and decision are keys of the first group-by, so that its cells are few and hold all confusion matrices at once:
every metric of labels is computed from the cells, whatever their number, and so is every verdict on labels. Values of rows
(losses, features, scores, weights) come as sums with what is needed to check them: counts, extremes, and sums that are not
finite where a value is not. Only when a check fails is a second question asked, to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from bayesgroups.data import expressions, lazy_columns
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import Roles, absent_attribute, positive_label
from bayesgroups.data.frames import Frame, Missing
from bayesgroups.data.keyed_cells import Cells, read_cells
from bayesgroups.data.lazy_columns import Number
from bayesgroups.data.metrics import LOSS, Metric
from bayesgroups.data.sources import Source
from bayesgroups.errors import BayesgroupsError, InputError

Unlabelled = Literal["error", "keep", "drop"]
"""What becomes of rows without an outcome."""
MAX_CELLS = 2**21
"""The largest answer of a group-by that is taken into memory."""
CANCELLED = 1e-3
"""Share of the sum of squares below which a scatter taken from it has lost digits, and is summed again around a mean."""
MAX_CELL_MIDDLES = 32
"""Cells of lazy rows that are summed again around their own mean; further ones around the mean of all."""


@dataclass(frozen=True)
class Request:
    """Sums asked of the rows; ``of_rows`` are the positions of the metrics that need more than labels."""

    roles: Roles
    metrics: Sequence[Metric]
    of_rows: tuple[int, ...]
    missing: Missing
    decides: bool
    threshold: float | None
    confusion: bool = False
    unlabelled: Unlabelled = "error"

    @property
    def weighted(self) -> bool:
        """True if rows have weights."""
        return self.roles.weights is not None

    @property
    def thresholded(self) -> bool:
        """True if decisions come from scores."""
        return self.threshold is not None

    @property
    def labels(self) -> tuple[str, ...]:
        """The keys of the first group-by after the attributes."""
        truth = ("__truth__",) if self.roles.y_true is not None else ()
        decided = self.thresholded or self.roles.y_pred is not None
        return (*truth, "__decision__") if decided else truth

    @property
    def keys(self) -> list[str]:
        """All keys of the first group-by."""
        return [*self.roles.attributes, *self.labels]

    def values_of(self, metrics: Iterable[int]) -> list[nw.Expr]:
        """Membership and values of rows in some of the metrics, see `expressions.values`."""
        return [column for i in metrics for column in expressions.values(self.metrics[i], i)]


@dataclass(frozen=True)
class Reduced:
    """Reduction of one source: sums by labels, by score and by cluster, and the frame of rows that were summed.

    ``grid`` is the width to which scores were rounded down, if they were; ``unlabelled`` the rows without an outcome that were
    dropped.
    """

    cells: Cells
    scores: Cells | None
    clusters: Cells | None
    dropped: float
    grid: float | None
    frame: Frame
    unlabelled: float = 0.0


def reduce_source(source: Source, request: Request) -> Reduced:
    """Sums of the rows of one source; an error names the column that cannot be used, and the row where rows have numbers."""
    try:
        return _reduce(source, request)
    except BayesgroupsError:
        raise
    except Exception as problem:  # engines may look at the rows before they are asked for an answer
        raise source.failure(problem) from problem


def _reduce(source: Source, request: Request) -> Reduced:
    roles = request.roles
    numbers = lazy_columns.numbers(source, roles)
    frame = lazy_columns.with_roles(source, request.roles, request.labels, request.threshold, numbers)
    frame = _with_labels(frame, request, request.of_rows, lambda: _likely_positive(source, frame, request))
    cells, dropped = _attributes(_first_pass(source, frame, request, numbers), request)
    if request.missing == "drop":
        frame = lazy_columns.drop_missing(frame, roles)
    without = 0.0
    if request.unlabelled == "drop":
        cells, without = _labelled(cells)
        frame = frame.filter(~lazy_columns.absent(frame, "__truth__"))
    rows = cells.table["rows"]
    for number in numbers:
        lazy_columns.check(source, frame, number, cells.table, rows)
    if roles.cluster is not None and cells.table["cluster_absent"].any():
        lazy_columns.refuse_missing(source, frame, "__cluster__", roles.cluster, "cluster")
    for key, labels in cells.labels.items():
        if None in labels and (key != "__truth__" or request.unlabelled != "keep"):
            name, argument = (roles.y_true, "y_true") if key == "__truth__" else (roles.y_pred, "y_pred")
            lazy_columns.refuse_missing(source, frame, key, str(name), argument)
    _check_metrics(source, frame, cells.table, request)
    positive = positive_label(distinct(cells.labels, request), roles) if request.decides else None
    scores, grid = None, None
    if any(metric.kind == "auc" for metric in request.metrics) and len(rows):
        scores, grid = _scores(source, _with_outcomes(frame, request, positive), request, cells.table)
    clusters = None
    if roles.cluster is not None:
        every = [i for i, metric in enumerate(request.metrics) if metric.kind != "auc"]
        frame = _with_labels(frame, request, every, lambda: positive)
        clusters = _grouped(
            source, frame, request, "__cluster__", expressions.clusters(request.metrics, request.weighted)
        )
    return Reduced(cells, scores, clusters, dropped, grid, frame, without)


def distinct(labels: dict[str, list[Any]], request: Request) -> list[Any]:
    """The labels there are, of outcome and decision together; decisions from scores have none."""
    used = [key for key in labels if key == "__truth__" or not request.thresholded]
    return list(dict.fromkeys(label for key in used for label in labels[key] if label is not None))


def _labelled(cells: Cells) -> tuple[Cells, float]:
    """The cells of rows that have an outcome, and the number of rows without."""
    kept = np.array([label is not None for label in cells.labels["__truth__"]], dtype=bool)
    return cells.where(kept), float(cells.table["rows"][~kept].sum())


def _likely_positive(source: Source, frame: Frame, request: Request) -> object:
    """The positive label before labels were seen: there is one candidate only, and the cells confirm it."""
    roles = request.roles
    if roles.positive is not None:
        return roles.positive
    schema = frame.collect_schema()
    names = [name for name in request.labels if name == "__truth__" or not request.thresholded]
    if all(schema[name].is_numeric() or schema[name] == nw.Boolean for name in names):
        return 1
    seen = [
        value for name in names for value in source.collect(frame.select(nw.col(name)).unique().head(9))[name].to_list()
    ]
    if request.unlabelled != "error":
        seen = [value for value in seen if isinstance(value, str)]
    return positive_label(list(dict.fromkeys(seen)), roles)


def _with_labels(frame: Frame, request: Request, metrics: Sequence[int], positive: Callable[[], object]) -> Frame:
    """Add what some of the metrics read of labels; lazy engines leave out what is not read, in memory it is looked at."""
    if not metrics or (set(metrics) <= set(request.of_rows) and _readable(frame, request, metrics)):
        return frame
    if request.decides:
        frame = _with_outcomes(frame, request, positive())
    if _readable(frame, request, metrics):
        return frame
    return lazy_columns.with_label_texts(frame, request.roles)


def _readable(frame: Frame, request: Request, metrics: Sequence[int]) -> bool:
    """True if rows in memory have every column that the metrics read; not known of lazy ones."""
    if isinstance(frame, nw.LazyFrame):
        return False
    try:
        frame.head(0).select(*request.values_of(metrics))
    except Exception:  # each dataframe engine has its own exceptions
        return False
    return True


def _with_outcomes(frame: Frame, request: Request, positive: object) -> Frame:
    """Add outcome and decision as 0 or 1."""
    schema, columns = frame.collect_schema(), []
    for key, name in (("__truth__", "__y_true__"), ("__decision__", "__y_pred__")):
        if key in request.labels:
            label = True if key == "__decision__" and request.thresholded else positive
            columns.append(lazy_columns.equals(key, schema[key], label).cast(nw.Float64).alias(name))
    frame = frame.with_columns(*columns)
    if len(columns) == 2:
        frame = frame.with_columns((nw.col("__y_true__") == nw.col("__y_pred__")).cast(nw.Float64).alias("__agrees__"))
    return frame


def _first_pass(source: Source, frame: Frame, request: Request, numbers: Sequence[Number]) -> Cells:
    """The group-by over attributes and labels; means are summed again around a middle where digits were lost."""
    means = [i for i in request.of_rows if request.metrics[i].kind == "mean"]
    start = _overall_means(frame, request, means)
    shifts: list[float | nw.Expr] = [start.get(i, 0.0) for i in range(len(request.metrics))]
    cells = _sum(source, frame, request, numbers, shifts)
    middles: dict[int, tuple[float, dict[tuple[Any, ...], float]]] = {}
    for i in means:
        w, wv, wvv = (cells.table[f"{name}{i}"] for name in ("w", "wv", "wvv"))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = wv / w
            lost = (wvv - wv * mean < CANCELLED * wvv) & (cells.table[f"low{i}"] < cells.table[f"high{i}"])
        lost &= cells.table[f"there{i}"] > 2  # the scatter of two rows is known from their values
        if lost.any() and np.isfinite(wv).all():
            keys, shift = cells.whole_keys(), start.get(i, 0.0)
            held = isinstance(frame, nw.DataFrame)
            by_cell = {
                keys[j]: float(mean[j]) + shift for j in np.flatnonzero(lost)[: None if held else MAX_CELL_MIDDLES]
            }
            middles[i] = float(wv.sum() / w.sum()) + shift, by_cell
            if isinstance(frame, nw.DataFrame):
                frame, shifts[i] = _with_middles(frame, request, i, *middles[i]), nw.col(f"__shift{i}__")
            else:
                shifts[i] = _middle(frame, request, *middles[i])
    if middles:
        cells = _sum(source, frame, request, numbers, shifts)
    for i in means:
        everywhere, by_cell = middles.get(i, (start.get(i, 0.0), {}))
        cells.table[f"shift{i}"] = (
            np.array([by_cell.get(key, everywhere) for key in cells.whole_keys()])
            if by_cell
            else np.full(len(cells.code), everywhere)
        )
    return cells


def _overall_means(frame: Frame, request: Request, means: Sequence[int]) -> dict[int, float]:
    """The mean value of metrics over rows in memory, which are read twice at little cost; nothing for lazy rows."""
    if not isinstance(frame, nw.DataFrame) or not means:
        return {}
    with _metric_named(frame, request):
        means_of_rows = frame.select(*request.values_of(means)).select(*[nw.col(f"__m{i}__").mean() for i in means])
    # Where no row counts engines have None, NaN or a missing value of their own.
    overall = {i: means_of_rows[f"__m{i}__"].drop_nulls().to_list() for i in means}
    return {i: float(mean[0]) for i, mean in overall.items() if mean and np.isfinite(mean[0])}


def _with_middles(
    frame: nw.DataFrame[Any], request: Request, i: int, everywhere: float, by_cell: Mapping[tuple[Any, ...], float]
) -> nw.DataFrame[Any]:
    """Add the middle of the cell of each row, for one metric."""
    rows = read_cells(frame.select(*request.keys), request.keys, ())
    middles = np.array([by_cell.get(key, everywhere) for key in rows.keys])[rows.code]
    return frame.with_columns(nw.new_series(f"__shift{i}__", middles, nw.Float64, backend=frame.implementation))


def _middle(frame: Frame, request: Request, everywhere: float, by_cell: Mapping[tuple[Any, ...], float]) -> nw.Expr:
    """The middle of each cell: its own where there is one."""
    middles: nw.Expr = nw.lit(everywhere)
    for key, middle in by_cell.items():
        same = [
            lazy_columns.absent(frame, name) if value is None else nw.col(name) == value
            for name, value in zip(request.keys, key, strict=True)
        ]
        middles = nw.when(*same).then(nw.lit(middle)).otherwise(middles)
    return middles


def _sum(
    source: Source, frame: Frame, request: Request, numbers: Sequence[Number], shifts: Sequence[float | nw.Expr]
) -> Cells:
    parts = expressions.Parts(aggregates=[nw.len().alias("rows")])
    if request.roles.cluster is not None:
        parts.add_sum("cluster_absent", lazy_columns.absent(frame, "__cluster__").cast(nw.Float64))
    summed = _summed_losses(request)
    whole = {number.column for number in numbers if number.complete}
    ranked = any(metric.kind == "auc" for metric in request.metrics)
    for number in numbers:
        if summed is None or number.column != "__loss__":
            parts.aggregates.extend(lazy_columns.sums(number.column, complete=number.complete))
            if number.column == "__weight__" or (number.column == "__y_score__" and ranked):
                parts.aggregates.extend(lazy_columns.extremes(number.column))
    if request.roles.correct is not None:  # grade^2 (1 - grade)^2 adds up to 0 where all grades are 0 or 1
        beyond = nw.col("__correct__") * (1 - nw.col("__correct__"))
        parts.add_sum("__correct__between", beyond * beyond)
    if request.weighted:
        parts.add_sum("squares", nw.col("__weight__") * nw.col("__weight__"))
    if request.confusion and request.roles.y_score is not None:
        scored = expressions.weight_of(request.weighted) * nw.col("__y_score__")
        parts.add_sum("score", scored)
        parts.add_sum("score_squares", scored * nw.col("__y_score__"))
    metrics = [metric if i in request.of_rows else _NOTHING for i, metric in enumerate(request.metrics)]
    parts += expressions.moments(metrics, request.weighted, shifts)
    parts += expressions.features(len(request.roles.features), request.weighted)
    parts += _checks(request, "__loss__" in whole)
    with _metric_named(frame, request):
        valued = frame.with_columns(*request.values_of(request.of_rows)) if request.of_rows else frame
        query = (valued.with_columns(*parts.columns) if parts.columns else valued).group_by(*request.keys)
        grouped = source.collect(query.agg(*parts.aggregates).head(MAX_CELLS + 1))
    if len(grouped) > MAX_CELLS:
        raise InputError(
            f"attributes and labels have more than {MAX_CELLS} combinations; are by=, y_true= and y_pred= columns of "
            "levels and labels? For a score use y_score= with threshold="
        )
    cells = read_cells(grouped, request.roles.attributes, request.labels)
    rows = cells.table["rows"]
    for i in request.of_rows:
        if request.metrics[i].where is None:
            cells.table[f"n{i}"] = rows
            if not request.weighted:
                cells.table[f"w{i}"] = rows
        cells.table.setdefault(f"there{i}", cells.table[f"n{i}"])
    cells.table.update({f"{column}count": rows for column in whole})
    if summed is not None:
        same = {"count": "there", "sum": "wv"}
        cells.table.update({f"__loss__{name}": cells.table[f"{prefix}{summed}"] for name, prefix in same.items()})
    return cells


def _summed_losses(request: Request) -> int | None:
    """The metric whose sums are those that show whether losses are complete and finite, if there is one."""
    for i in request.of_rows:
        metric = request.metrics[i]
        if metric.value is LOSS and metric.where is None and metric.kind == "mean" and not request.weighted:
            return i
    return None


_NOTHING = Metric("nothing", value="", kind="auc")
"""Keeps the place of a metric for which nothing is summed over rows."""


def _checks(request: Request, losses: bool) -> expressions.Parts:
    """Evidence that values of metrics of rows are present and in range; ``losses`` if they are known to be present."""
    parts = expressions.Parts()
    for i in request.of_rows:
        counts, value, masked = nw.col(f"__c{i}__"), nw.col(f"__v{i}__"), nw.col(f"__m{i}__")
        if not (losses and request.metrics[i].value is LOSS):
            parts.aggregates.append(masked.count().alias(f"there{i}"))
        if request.metrics[i].where is not None:
            parts.aggregates.append(counts.sum().alias(f"n{i}"))
        if request.metrics[i].kind != "mean":
            parts.add_sum(f"between{i}", counts * value * (1 - value))
            parts.add_extremes(f"__m{i}__", f"low{i}", f"high{i}")
    return parts


@contextmanager
def _metric_named(frame: Frame, request: Request) -> Iterator[None]:
    """Name the metric that cannot be computed, if one cannot; by names and types alone, since reading may be what failed."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        for i in request.of_rows:
            try:
                frame.with_columns(*request.values_of([i])).collect_schema()
            except Exception as reason:  # each dataframe engine has its own exceptions for a bad expression
                name = request.metrics[i].name
                raise InputError(f"metric {name!r} cannot be computed on this frame: {reason}") from problem
        raise


def _attributes(cells: Cells, request: Request) -> tuple[Cells, float]:
    """Refuse or drop cells without an attribute; the rows dropped."""
    rows, total = cells.table["rows"], float(cells.table["rows"].sum())
    for i, name in enumerate(request.roles.by):
        missing = np.array([key[i] is None for key in cells.keys], dtype=bool)[cells.code]
        if missing.any() and request.missing == "error":
            raise absent_attribute(name, int(rows[missing].sum()), int(total))
    if request.missing != "drop":
        return cells, 0.0
    kept = np.array([None not in key for key in cells.keys], dtype=bool)[cells.code]
    return cells.where(kept), float(rows[~kept].sum())


def _check_metrics(source: Source, frame: Frame, table: dict[str, FloatArray], request: Request) -> None:
    for i in request.of_rows:
        metric, total = request.metrics[i], table[f"wv{i}"]
        count = float(table[f"n{i}"].sum())
        if not count:
            continue
        missing = float(table[f"there{i}"].sum()) < count
        if not missing and np.isnan(total).any():
            value = expressions.values(metric, i)
            nan = nw.col(f"__v{i}__").is_nan().cast(nw.Float64)
            missing = bool(source.collect(frame.with_columns(*value).select(nan.sum().alias("nan")))["nan"][0])
        if missing:
            raise InputError(
                f"metric {metric.name!r} is missing in rows that count; fill or drop them, or narrow where="
            )


def _scores(source: Source, frame: Frame, request: Request, table: dict[str, FloatArray]) -> tuple[Cells, float | None]:
    """Positives and negatives by score; lazy rows have scores rounded down to a grid where there are more than can be held."""
    parts = expressions.scores(request.weighted)
    held = isinstance(frame, nw.DataFrame)
    by_score = _grouped(source, frame, request, "__key__", parts, 0 if held else MAX_CELLS + 1)
    if held or len(by_score.code) <= MAX_CELLS:
        return by_score, None
    width = grid_width(table["__y_score__low"].min(), table["__y_score__high"].max(), MAX_CELLS // len(by_score.keys))
    lower = ((nw.col("__y_score__") / width).floor() * width + 0.0).alias("__key__")
    gridded = expressions.Parts([*parts.columns[:-1], lower], parts.aggregates)
    return _grouped(source, frame, request, "__key__", gridded), width


def grid_width(low: float, high: float, most: int) -> float:
    """The smallest power of two that parts the range of scores in at most ``most`` steps.

    >>> grid_width(0.0, 1.0, 1000)
    0.001953125
    """
    return float(2.0 ** np.ceil(np.log2(max(high - low, np.finfo(np.float64).tiny) / max(most - 2, 1))))


def _grouped(
    source: Source, frame: Frame, request: Request, extra: str, parts: expressions.Parts, most: int = 0
) -> Cells:
    keys = request.roles.attributes
    query = frame.with_columns(*parts.columns).group_by(*keys, extra).agg(*parts.aggregates)
    grouped = source.collect(query.head(most) if most else query)
    return read_cells(grouped, keys, () if extra == "__key__" else (extra,))
