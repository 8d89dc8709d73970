"""The threshold that selects a share of all rows, found without taking lazy rows into memory."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from bayesgroups.data import lazy_columns
from bayesgroups.data.frames import Missing
from bayesgroups.data.roles import Roles
from bayesgroups.data.sources import Source
from bayesgroups.data.thresholds import SelectionThreshold, selection_threshold
from bayesgroups.errors import InputError

BINS = 2**16
"""Parts into which the range of scores is cut at a time."""
MAX_SCORES_IN_MEMORY = 2**18
"""Distinct scores that are taken into memory."""


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
    return SelectionThreshold(threshold, above / rows)
