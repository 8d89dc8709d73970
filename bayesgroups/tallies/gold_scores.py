"""Tallies of gold scores that few rows have, beside what a judge says of all rows: a score, or a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr

from bayesgroups.data import lazy_columns
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import Roles, infinity, no_label
from bayesgroups.data.directions import Direction
from bayesgroups.data.frames import Missing
from bayesgroups.data.keyed_cells import Cells, read_cells
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.sources import Source, open_source
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.assembly import Description, attributes, describe
from bayesgroups.tallies.judged_means import ScoreMoments, post_stratified_means, regression_means
from bayesgroups.tallies.notes import direction_settings
from bayesgroups.tallies.pushdown import Pushed, push_down
from bayesgroups.tallies.subgroups import check_attributes

MOMENTS = (
    "labelled", "gold_mean", "judge_mean", "gold_scatter", "judge_scatter", "cross_scatter", "rows", "all_mean",
    "all_scatter",
)  # fmt: skip
"""Names of `bayesgroups.tallies.judged_means.ScoreMoments` along ``gold_moment``."""


@checked_keywords
def gold_score_tally(
    frame: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None],
    *,
    gold: str,
    judge: str,
    metric: str = "gold",
    larger_is_better: bool | None = None,
    missing: Missing = "error",
) -> xr.Dataset:
    """Estimate mean gold scores of few rows with what a judge says of all rows, per intersectional subgroup.

    Estimand: the mean gold score behind the rows of a subgroup.

    Parameters
    ----------
    frame : dataframe, dict, str or Path
        Rows, in any frame that `bayesgroups.tally` takes but an iterator.
    by : sequence of str, or mapping
        Columns whose combinations are the subgroups, as in `bayesgroups.tally`.
    gold : str
        Column of the gold score, a number, missing in most rows.
    judge : str
        Column of the judge, in every row: numbers are scores, on which gold scores are regressed; texts and booleans are classes,
        by which they are post-stratified.
    metric : str
        Name of the mean gold score.
    larger_is_better : bool, optional
        Direction of the score; smaller values are taken to be better when left out, and answers note that nobody said so.
    missing : {"error", "level", "drop"}
        What to do with rows whose attribute is missing.

    Returns
    -------
    xr.Dataset
        A tally of estimates with known sampling variances, in units of the gold score and its square, which `PartialPooling`
        and `CrossedEffects` pool. Besides ``judged_rows``, ``labelled_rows`` (subgroup), and ``gold_moments`` (subgroup,
        gold_moment) with a judge's scores, from which `judge_corrected` has prediction-powered answers.

    Raises
    ------
    InputError
        If a column is absent, the judge has missing values, gold scores are no finite numbers, or no row has one.

    Notes
    -----
    Regression estimator: slope and residual variance are pooled over subgroups with fewer than 30 labels. A subgroup without a
    label, or with a class of the judge that has rows and no label, is ``undefined`` with the reason.

    References
    ----------
    Cochran (1977), "Sampling Techniques", sections 5A.11 and 7.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> gold, judge = [0.0, 1.0, 1.0, 3.0, None, None], [0.0, 1.0, 2.0, 3.0, 2.0, 4.0]
    >>> rows = pd.DataFrame({"dialect": "a", "gold": gold, "judge": judge})
    >>> tally = bg.gold_score_tally(rows, ["dialect"], gold="gold", judge="judge")
    >>> round(tally["estimate"].item(), 6), tally["reason"].item()
    (1.7, '4 of 6 rows labelled')
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    check_attributes(names)
    source = open_source(frame)
    classes = _checked(source, gold, judge)
    declared = dict(by) if isinstance(by, Mapping) else dict.fromkeys(names)
    pushed = push_down(source, Roles(names), [], declared, missing)
    cells, shifts = _summed(source, pushed, len(names), gold, judge, classes=classes)
    if not cells.table["labelled"].sum():
        raise no_label(gold, "gold")
    settings: dict[str, Any] = {
        "source": "gold scores",
        "gold": gold,
        "judge": judge,
        "missing": missing,
        **pushed.notes,
    }
    direction = Direction(bool(larger_is_better), assumed=larger_is_better is None)
    settings |= direction_settings([metric], [direction])
    description = Description(metric, "estimate", -np.inf, np.inf, direction.larger_is_better, "no gold score")
    return _assembled(pushed, cells, shifts, description, settings, classes=classes)


def _checked(source: Source, gold: str, judge: str) -> bool:
    """Refuse columns that cannot be read; true if the judge gives classes."""
    schema = source.frame.collect_schema()
    for role, column in (("gold", gold), ("judge", judge)):
        if column not in schema:
            raise InputError(f"column {column!r} ({role}=) is not in the frame; {near_misses(column, list(schema))}")
    if gold == judge:
        raise InputError(f"gold= and judge= both name the column {gold!r}; a judge has a column of its own")
    if not (schema[gold].is_numeric() or schema[gold] == nw.Boolean):
        raise InputError(f"column {gold!r} (gold=) must hold numbers, or nothing; got {schema[gold]}")
    lazy_columns.refuse_missing(source, source.frame, judge, judge, "judge")
    frame = source.frame.with_columns(nw.col(gold).cast(nw.Float64).alias("__gold__"))
    _refuse_infinite(source, frame, "__gold__", gold, "gold")
    if not schema[judge].is_numeric():
        return True
    frame = source.frame.with_columns(nw.col(judge).cast(nw.Float64).alias("__judge__"))
    _refuse_infinite(source, frame, "__judge__", judge, "judge")
    return False


def _refuse_infinite(source: Source, frame: Any, column: str, name: str, argument: str) -> None:
    value, largest = nw.col(column), lazy_columns.MAX_FLOAT
    wrong, row = lazy_columns.first_row(source, frame, column, (value > largest) | (value < -largest))
    if wrong is not None:
        raise infinity(name, argument, wrong, row)


def _summed(
    source: Source, pushed: Pushed, attributes_: int, gold: str, judge: str, *, classes: bool
) -> tuple[Cells, tuple[float, float]]:
    """Sums by subgroup, and by class where the judge gives classes, of scores less their overall means."""
    frame = pushed.frame.with_columns(nw.col(gold).cast(nw.Float64).alias("__gold__"))
    present = ~lazy_columns.absent(frame, "__gold__")
    frame = frame.with_columns(nw.when(present).then(nw.col("__gold__")).alias("__gold__"))
    key = nw.col(judge).cast(nw.String) if classes else nw.lit(0)
    score = nw.lit(0.0) if classes else nw.col(judge).cast(nw.Float64)
    frame = frame.with_columns(key.alias("__class__"), score.alias("__judge__"))
    means = source.collect(frame.select(nw.col("__gold__").mean(), nw.col("__judge__").mean()))
    first, second = (means[name].to_list()[0] for name in ("__gold__", "__judge__"))
    shifts = float(first) if first is not None else 0.0, float(second) if second is not None else 0.0
    y, f = nw.col("__gold__") - shifts[0], nw.col("__judge__") - shifts[1]
    some = (~nw.col("__gold__").is_null()).cast(nw.Float64)
    given = nw.when(~nw.col("__gold__").is_null())
    parts = {
        "labelled": some, "y": given.then(y).otherwise(nw.lit(0.0)), "yy": given.then(y * y).otherwise(nw.lit(0.0)),
        "f": some * f, "ff": some * f * f, "yf": given.then(y * f).otherwise(nw.lit(0.0)), "all": f, "squares": f * f,
    }  # fmt: skip
    by = [f"__by_{i}__" for i in range(attributes_)]
    columns = [value.alias(f"__{name}__") for name, value in parts.items()]
    sums = [nw.col(f"__{name}__").sum().alias(name) for name in parts]
    query = frame.with_columns(*columns).group_by(*by, "__class__").agg(nw.len().alias("rows"), *sums)
    return read_cells(source.collect(query), by, ["__class__"]), shifts


def _assembled(
    pushed: Pushed, cells: Cells, shifts: tuple[float, float], described: Description, settings: dict[str, Any], *,
    classes: bool,
) -> xr.Dataset:  # fmt: skip
    place, size = pushed.locate(cells), len(pushed.subgroups.table)
    names = sorted({level_text(value) for value in cells.labels["__class__"]})
    at = np.array([names.index(level_text(value)) for value in cells.labels["__class__"]], dtype=np.intp)

    def table(name: str) -> FloatArray:
        sums = np.zeros((size, len(names)))
        np.add.at(sums, (place, at), cells.table[name])
        return sums

    judged, labelled = table("rows"), table("labelled")
    more: dict[str, Any] = {}
    if classes:
        means, variances = post_stratified_means(judged, labelled, table("y"), table("yy"))
        more = {"judged": (("subgroup", "decision"), judged), "labelled": (("subgroup", "decision"), labelled)}
    else:
        moments = _moments({name: table(name)[:, 0] for name in cells.table}, shifts)
        means, variances = regression_means(moments)
        means = means - shifts[0]
        values = np.stack([getattr(moments, name) for name in MOMENTS], axis=1)
        more = {"gold_moments": (("subgroup", "gold_moment"), values)}
    estimate = means + shifts[0]
    status, reason = _statuses(judged, labelled, np.isfinite(estimate), names)
    both, nothing = ("metric", "subgroup"), np.full((1, size), np.nan)
    data: dict[str, Any] = {
        "rows": ("subgroup", nothing[0]), "count": (both, nothing), "successes": (both, nothing.copy()),
        "estimate": (both, estimate[None]), "row_variance": (both, nothing.copy()), "sampling_variance": (both, variances[None]),
        "bootstrap_variance": (both, variances[None].copy()), "pooled_variance": ("metric", [np.nan]),
        "pooled_df": ("metric", [np.nan]), "status": (both, status[None]), "reason": (both, reason[None]),
        "judged_rows": ("subgroup", judged.sum(axis=1)), "labelled_rows": ("subgroup", labelled.sum(axis=1)),
        **describe([described]), **more,
    }  # fmt: skip
    coordinates: dict[str, Any] = {"metric": np.array([described.name], dtype=str), **pushed.subgroups.coordinates()}
    coordinates |= (
        {"decision": np.array(names, dtype=str)} if classes else {"gold_moment": np.array(MOMENTS, dtype=str)}
    )
    return xr.Dataset(data, coords=coordinates, attrs=attributes(pushed.subgroups, settings))


def _moments(sums: dict[str, FloatArray], shifts: tuple[float, float]) -> ScoreMoments:
    """Means and sums of squared deviations, of sums of scores less their overall means."""
    m, n = sums["labelled"], sums["rows"]
    with np.errstate(divide="ignore", invalid="ignore"):
        y, f, every = sums["y"] / m, sums["f"] / m, sums["all"] / n
        some, rows = m > 0, n > 0
        scatter = [
            np.where(kept, np.maximum(square - number * mean**2, 0.0), 0.0)
            for kept, square, number, mean in (
                (some, sums["yy"], m, y), (some, sums["ff"], m, f), (rows, sums["squares"], n, every),
            )
        ]  # fmt: skip
        cross = np.where(some, sums["yf"] - m * y * f, 0.0)
    return ScoreMoments(
        m, y + shifts[0], f + shifts[1], scatter[0], scatter[1], cross, n, every + shifts[1], scatter[2]
    )


def _statuses(
    judged: FloatArray, labelled: FloatArray, defined: Any, names: Sequence[str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Status and reason of every subgroup."""
    status, reason = np.full(len(judged), "ok", dtype="<U9"), np.full(len(judged), "", dtype="<U200")
    for g, (rows, some) in enumerate(zip(judged, labelled, strict=True)):
        empty = np.flatnonzero((rows > 0) & (some == 0)).tolist()
        if rows.sum() == 0:
            status[g], reason[g] = "undefined", "no rows"
        elif some.sum() == 0:
            status[g], reason[g] = "undefined", f"0 of {rows.sum():g} rows labelled"
        elif empty:
            status[g], reason[g] = "undefined", f"no label among {rows[empty[0]]:g} rows judged {names[empty[0]]}"
        elif not defined[g]:
            status[g], reason[g] = "undefined", "too few labels for a residual variance"
        elif some.sum() < rows.sum():
            reason[g] = f"{some.sum():g} of {rows.sum():g} rows labelled"
    return status, reason
