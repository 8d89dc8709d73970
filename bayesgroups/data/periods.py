"""Periods of a calendar: their labels, as ISO 8601 writes them (quarters as is usual), and every one from the first to the last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

Period = Literal["year", "quarter", "month", "week", "day"]


def period_of(day: date, period: Period) -> str:
    """Label of the period that a day is in; a week belongs to the year that has its Thursday.

    >>> [period_of(date(2026, 12, 31), name) for name in ("year", "quarter", "month", "week", "day")]
    ['2026', '2026-Q4', '2026-12', '2026-W53', '2026-12-31']
    """
    if period == "year":
        return f"{day.year:04d}"
    if period == "quarter":
        return f"{day.year:04d}-Q{(day.month + 2) // 3}"
    if period == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return day.isoformat() if period == "day" else f"{day.year:04d}-{day.month:02d}"


def first_day(label: str, period: Period) -> date:
    """First day of the period with a label.

    >>> first_day("2026-Q4", "quarter").isoformat(), first_day("2026-W53", "week").isoformat()
    ('2026-10-01', '2026-12-28')
    """
    year = int(label[:4])
    if period == "year":
        return date(year, 1, 1)
    if period == "quarter":
        return date(year, 3 * int(label[-1]) - 2, 1)
    if period == "week":
        return date.fromisocalendar(year, int(label[-2:]), 1)
    return date.fromisoformat(label) if period == "day" else date(year, int(label[-2:]), 1)


def calendar(labels: Sequence[str], period: Period) -> list[str]:
    """Every period from the first to the last of some, in time: those without rows are there.

    >>> calendar(["2026-03", "2025-12"], "month")
    ['2025-12', '2026-01', '2026-02', '2026-03']
    >>> calendar(["2026-W53", "2027-W02"], "week")
    ['2026-W53', '2027-W01', '2027-W02']
    """
    if not labels:
        return []
    every, day, last = [min(labels)], first_day(min(labels), period), max(labels)
    while every[-1] < last:
        day += timedelta(days=1 if period == "day" else 7 if period == "week" else 28)
        label = period_of(day, period)
        if label != every[-1]:
            every.append(label)
    return every
