"""The score threshold that selects a given share of the rows, found without taking lazy rows into memory."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data import lazy_columns
from bayesgroups.data.columns import Roles
from bayesgroups.data.frames import Missing
from bayesgroups.data.sources import Source
from bayesgroups.errors import InputError

BINS = 2**16
"""Parts into which the range of scores is cut at a time."""
MAX_SCORES_IN_MEMORY = 2**18
"""Distinct scores that are taken into memory."""


@dataclass(frozen=True)
class SelectionThreshold:
    """A threshold and the share of rows it selects (ties can select more than asked)."""

    threshold: float
    attained: float


def selection_threshold(scores: ArrayLike, rate: float) -> SelectionThreshold:
    """The threshold r for which ``score >= r`` selects a share ``rate``, in (0, 1], of rows with finite scores (row,).

    It is the m-th largest score with m = round(rate x rows), at least 1.

    >>> selection_threshold([0.11, 0.52, 0.37, 0.92, 0.48, 0.66, 0.05, 0.71, 0.29, 0.33], 0.2)
    SelectionThreshold(threshold=0.71, attained=0.2)
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    if len(values) == 0:
        raise InputError("no scores to set a threshold on")
    if not np.isfinite(values).all():
        raise InputError("scores must be finite to set a threshold on them")
    if not 0 < rate <= 1:
        raise InputError(f"selection_rate= must lie in (0, 1]; got {rate}")
    selected = max(round(rate * len(values)), 1)
    threshold = float(np.partition(values, len(values) - selected)[len(values) - selected])
    return SelectionThreshold(threshold, float((values >= threshold).mean()))


def threshold_of(source: Source, roles: Roles, missing: Missing) -> SelectionThreshold:
    """The m-th largest score with m = round(rate x rows), as `bayesgroups.data.thresholds.selection_threshold` has it.

    The range of scores is cut into bins, and the bin that holds the m-th largest is cut again until its distinct scores
    are few: three passes over one column for 10 million rows, in memory that does not grow with them.
    """
    rate = roles.selection_rate
    assert rate is not None, "asked for with a rate only"
    if not 0 < rate <= 1:
        raise InputError(f"selection_rate= must lie in (0, 1]; got {rate}")
    numbers = [number for number in lazy_columns.numbers(source, roles) if number.column == "__y_score__"]
    frame = lazy_columns.with_roles(source, roles, (), None, numbers)
    if missing == "drop":
        frame = lazy_columns.drop_missing(frame, roles)
    frame = frame.select("__y_score__")
    table = lazy_columns.check_rows(source, frame, numbers[0])
    rows = int(table["rows"][0])
    if not rows:
        return SelectionThreshold(0.0, 0.0)  # there is nothing to select; the tally says so
    if isinstance(frame, nw.DataFrame):
        return selection_threshold(frame["__y_score__"].to_numpy() + 0.0, rate)  # one zero, as below
    wanted = max(round(rate * rows), 1)
    low, high, above = float(table["__y_score__low"][0]), float(table["__y_score__high"][0]), 0
    scores, number = frame.select((nw.col("__y_score__") + 0.0).alias("score")), rows
    while number > MAX_SCORES_IN_MEMORY and low < high:
        scale = (BINS - 1) / 2 / (high / 2 - low / 2)  # halves, for ranges that no float can hold
        inside = scores.filter(nw.col("score") >= low, nw.col("score") <= high)
        bins = inside.select(((nw.col("score") * scale) - low * scale).floor().alias("bin"), nw.col("score"))
        extremes = nw.col("score").min().alias("low"), nw.col("score").max().alias("high")
        counts = source.collect(bins.group_by("bin").agg(nw.len().alias("rows"), *extremes))
        counts = counts.sort("bin", descending=True)
        for count, least, most in zip(*(counts[name].to_list() for name in ("rows", "low", "high")), strict=True):
            number, low, high = int(count), float(least), float(most)
            if above + number >= wanted:
                break
            above += number
    inside = scores.filter(nw.col("score") >= low, nw.col("score") <= high)
    distinct = source.collect(inside.group_by("score").agg(nw.len().alias("rows")))
    threshold = low
    for value, count in sorted(zip(distinct["score"].to_list(), distinct["rows"].to_list(), strict=True), reverse=True):
        above += int(count)
        threshold = float(value)
        if above >= wanted:
            break
    return SelectionThreshold(threshold + 0.0, above / rows)
