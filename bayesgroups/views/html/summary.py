"""Summary of a metric in sentences made from its numbers, also for those who cannot see its picture."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import BoolArray
from bayesgroups.report.view import Reading, Side, number, percent

NAMED = 5
"""At most so many subgroups are named in a sentence."""


def sentences(reading: Reading) -> list[str]:
    """The range of the estimates, the subgroups that stand apart, the gaps, and the truth where it is known."""
    lines = [_range(reading, side) for side in (reading.bayesian, reading.frequentist)]
    if np.isfinite(reading.overall):
        lines.append(_apart(reading))
    noun = "target" if reading.overlapping else "subgroup"
    alone = "answered in part from the model alone" if reading.overlapping else "answered from the model alone"
    gaps = [
        f"{side.approach.capitalize()}: {_count(side.status.count(status), noun)} {words}."
        for side in (reading.bayesian, reading.frequentist)
        for status, words in (
            ("undefined", "without an answer"),
            ("not estimable", "with bounds alone"),
            ("imputed", alone),
        )
        if status in side.status
    ]
    lines += gaps
    if reading.truth is not None:
        for side in (reading.bayesian, reading.frequentist):
            compared = np.isfinite(reading.truth) & np.isfinite(side.lower)
            held = int((reading.inside(side) & compared).sum())
            kind = f"{side.interval_kind} intervals ({percent(reading.level)})"
            lines.append(f"The known truth lies in {held} of {int(compared.sum())} {kind}.")
    return lines


def alternative(reading: Reading, drawn: int) -> str:
    """The text in place of a forest plot that shows ``drawn`` subgroups."""
    opening = (
        f"Forest plot of {reading.metric} in {_count(drawn, 'subgroup')}, largest first, "
        f"with {percent(reading.level)} intervals of both approaches."
    )
    return " ".join([opening, *sentences(reading), "The table that follows has all numbers."])


def _with_rows(reading: Reading, side: Side) -> BoolArray:
    """True for subgroups with rows, and for all targets, of which imputed ones have rows of some people."""
    return np.array([reading.overlapping or status != "imputed" for status in side.status], dtype=np.bool_)


def _range(reading: Reading, side: Side) -> str:
    name = side.approach.capitalize()
    if not np.isfinite(side.estimate).any():
        return f"{name} estimates: none, the metric is undefined in every subgroup."
    observed = _with_rows(reading, side) & np.isfinite(side.estimate)
    if not observed.any():
        return f"{name} estimates: none from rows, the model alone answers."
    estimates = np.where(observed, side.estimate, np.nan)
    low, high = int(np.nanargmin(estimates)), int(np.nanargmax(estimates))
    places = reading.decimals()

    def at(i: int) -> str:
        return f"{number(float(side.estimate[i]), places)} ({reading.subgroups[i]})"

    whose = " of subgroups with rows" if "imputed" in side.status and not reading.overlapping else ""
    return f"{name} estimates{whose} run from {at(low)} to {at(high)}."


def _apart(reading: Reading) -> str:
    """Subgroups with rows whose Bayesian interval is wholly on one side of the centre, or of the value of all rows or people."""
    side = reading.bayesian
    observed = _with_rows(reading, side)
    parts = []
    for where, apart in (("above", side.lower > reading.overall), ("below", side.upper < reading.overall)):
        labels = [reading.subgroups[i] for i in np.flatnonzero(apart & observed)]
        if labels:
            more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
            parts.append(f"{_count(len(labels), 'subgroup')} wholly {where} it ({'; '.join(labels[:NAMED])}{more})")
    name = reading.overall_is[0].upper() + reading.overall_is[1:]
    value = f"{name}: {number(reading.overall, reading.decimals())}"
    interval = f"{percent(reading.level)} {side.interval_kind} interval"
    if not parts:
        return f"{value}; no {interval} lies wholly to one side of it."
    return f"{value}; the {interval} lies for {' and for '.join(parts)}."


def _count(size: int, noun: str) -> str:
    return f"{size} {noun}" if size == 1 else f"{size} {noun}s"
