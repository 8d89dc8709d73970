"""Tables of the page of optimist and pessimist that come from the record of subsamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.published.intersectionality.published_certification import LINES
from examples.published.intersectionality.subsampling import Point

STATISTICS = ("worst", "optimist", "pessimist")
PUBLISHED, OURS = ("wald", "pooled_t"), ("clopper_pearson", "pooled_t")
"""Limits as published, of accuracies in sample, and ours, of accuracies out of fold; a loss has the same both times."""
RUN = {"adult": "adult", "compas": "compas", "compas_afterwards": "compas"}
"""Lines of the paper by tables of ours that have the same rows."""


def run_rows(record: Sequence[Point]) -> list[str]:
    """Lines of the table of printed values and those of models trained on the same rows, each with its subgroup."""
    printed = {line.name: line for line in LINES}
    heading = ["data set", "value", "printed", "of", "ours", "of"]
    rows = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for table, name in RUN.items():
        line = printed[name]
        values = {
            "worst": (line.worst, line.worst_value),
            "optimist": (line.optimist, line.optimist_value),
            "pessimist": (line.pessimist, line.pessimist_value),
        }
        for statistic, (entry, value) in values.items():
            point = whole(record, table, statistic, PUBLISHED)
            rows.append(
                f"| {table.replace('_', ' ')} | {statistic} | {value:.3f} | {entry.subgroup} (n = {entry.rows}) "
                f"| {point.value:.3f} | {point.subgroup.replace('|', '/')} (n = {point.rows}) |"
            )
    return rows


def whole(record: Sequence[Point], table: str, statistic: str, intervals: Sequence[str]) -> Point:
    """The line of a table with all rows."""
    return next(
        point
        for point in record
        if (point.table, point.statistic, point.left_out, point.fraction, point.repeat)
        == (table, statistic, "all", 1.0, 0)
        and point.interval in intervals
    )


def trend(points: Sequence[Point]) -> dict[float, float]:
    """Mean value at every fraction over repeats that have one, NaN where none has."""
    fractions = sorted({point.fraction for point in points})
    values = {at: [point.value for point in points if point.fraction == at] for at in fractions}
    means = {at: [value for value in at_fraction if np.isfinite(value)] for at, at_fraction in values.items()}
    return {at: float(np.mean(some)) if some else float("nan") for at, some in means.items()}


def own_rows(record: Sequence[Point]) -> list[str]:
    """Lines of the table of our own runs with all rows: what the paper prints of its data sets."""
    heading = [
        "data set", "worst, as published", "optimist, 1.64", "pessimist, 1.64", "worst, ours", "optimist, exact",
        "pessimist, exact",
    ]  # fmt: skip
    rows = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for table in dict.fromkeys(point.table for point in record):
        points = [whole(record, table, statistic, form) for form in (PUBLISHED, OURS) for statistic in STATISTICS]
        cells = [f"{point.value:.3f} ({point.rows})" for point in points]
        rows.append(f"| {' | '.join([table.replace('_', ' '), *cells])} |")
    return rows


def trend_rows(record: Sequence[Point]) -> list[str]:
    """Lines of the table of the two studies: the value at a tenth, half and all of the rows."""
    heading = ["data set", "rows left out of", "value", "of (all rows)", "10 %", "50 %", "100 %", "subgroups at 10 %"]
    rows = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    ours = [point for point in record if point.interval in OURS]
    for table, left_out, statistic in dict.fromkeys((point.table, point.left_out, point.statistic) for point in ours):
        points = [
            point for point in ours if (point.table, point.left_out, point.statistic) == (table, left_out, statistic)
        ]
        means = trend(points)
        complete = next(point for point in points if point.fraction == 1.0)
        shown = [f"{means[at]:.3f}" if np.isfinite(means[at]) else "-" for at in (0.1, 0.5, 1.0)]
        groups = np.mean([point.groups for point in points if point.fraction == min(means)])
        cells = [
            table.replace("_", " "), "it alone" if left_out == "critical" else "all", statistic,
            f"{complete.subgroup.replace('|', '/')} (n = {complete.rows})", *shown, f"{groups:.0f} of {complete.groups}",
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return rows
