"""Columns of dates as periods: the same in every kind of frame, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, get_args

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesgroups.data.dated_columns import check_time, dated
from bayesgroups.data.periods import Period, calendar, first_day, period_of
from bayesgroups.data.sources import open_source
from bayesgroups.errors import InputError

DAYS = [dt.date(2026, 1, 1), dt.date(2026, 3, 14), None, dt.date(2025, 12, 31)]
TIMES = [None if day is None else dt.datetime(day.year, day.month, day.day, 23, 30) for day in DAYS]
TEXTS = [None if day is None else f"{day}T23:30:00Z" for day in DAYS]
LABELS = {
    "year": ["2026", "2026", None, "2025"],
    "quarter": ["2026-Q1", "2026-Q1", None, "2025-Q4"],
    "month": ["2026-01", "2026-03", None, "2025-12"],
    "week": ["2026-W01", "2026-W11", None, "2026-W01"],
    "day": ["2026-01-01", "2026-03-14", None, "2025-12-31"],
}
FRAMES: dict[str, Callable[[], Any]] = {
    "objects of pandas": lambda: pd.DataFrame({"d": DAYS}),
    "times of pandas": lambda: pd.DataFrame({"d": pd.to_datetime(TIMES)}),
    "times with a zone": lambda: pd.DataFrame({"d": pd.to_datetime(TIMES).tz_localize("Asia/Tokyo")}),
    "texts of pandas": lambda: pd.DataFrame({"d": TEXTS}),
    "categories": lambda: pd.DataFrame({"d": pd.Categorical(TEXTS)}),
    "arrow dates in pandas": lambda: pd.DataFrame({"d": pd.array(DAYS, dtype=pd.ArrowDtype(pa.date32()))}),
    "dates of polars": lambda: pl.DataFrame({"d": DAYS}),
    "lazy times of polars": lambda: pl.LazyFrame({"d": TIMES}),
    "texts of polars": lambda: pl.DataFrame({"d": TEXTS}),
    "dates of arrow": lambda: pa.table({"d": DAYS}),
    "times of DuckDB": lambda: duckdb.from_arrow(pa.table({"i": [0, 1, 2, 3], "d": TIMES})).order("i"),
    "texts of DuckDB": lambda: duckdb.from_arrow(pa.table({"i": [0, 1, 2, 3], "d": TEXTS})).order("i"),
}


@pytest.mark.parametrize("period", get_args(Period))
@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same_periods(kind: str, period: Period) -> None:
    source, periods, calendars = dated(open_source(FRAMES[kind]()), {"d": period}, ["d"])
    found = [None if pd.isna(label) else label for label in source.collect(source.frame)["d"].to_list()]
    assert found == LABELS[period]
    assert periods == {"d": period}
    known = [label for label in LABELS[period] if label]
    assert (calendars["d"][0], calendars["d"][-1]) == (min(known), max(known))


@given(st.dates(dt.date(1970, 1, 1), dt.date(2100, 1, 1)), st.integers(0, 800), st.sampled_from(get_args(Period)))
def test_calendars_are_without_gaps_and_sort_in_time(day: dt.date, length: int, period: Period) -> None:
    """Every day between the ends is in one of the periods, each once and in the order of time."""
    days = [day + dt.timedelta(days=i) for i in range(length + 1)]
    expected = list(dict.fromkeys(period_of(each, period) for each in days))
    assert calendar([expected[0], expected[-1]], period) == expected == sorted(expected)
    assert period_of(first_day(expected[-1], period), period) == expected[-1]
    assert calendar([], period) == []


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([20260101, 20260102], "column 'd' \\(time=\\) holds 20260101, which is no date"),
        (["2026-02-30"], "column 'd' \\(time=\\) holds '2026-02-30', which is no date; expected dates or times"),
        (["14.03.2026"], "holds '14.03.2026', which is no date"),
        ([dt.date(2026, 1, 1), "tomorrow"], "holds 'tomorrow', which is no date"),
        ([None, None], "column 'd' \\(time=\\) holds no date"),
    ],
)
def test_what_is_no_date_is_refused(column: list[object], words: str) -> None:
    frame = pd.DataFrame({"d": pd.Series(column, dtype=None if isinstance(column[0], int) else object)})
    with pytest.raises(InputError, match=words):
        dated(open_source(frame), {"d": "month"}, ["d"])


def test_columns_that_are_not_there_or_not_told_are_refused() -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2026-01-01"]), "other": pd.to_datetime(["2026-01-01"]), "a": ["x"]})
    with pytest.raises(InputError, match="column 'dy' .time=. is not in the frame; did you mean 'day'"):
        dated(open_source(frame), {"dy": "month"}, ["dy"])
    with pytest.raises(InputError, match="needs one attribute of by= that holds dates, and none does"):
        dated(open_source(frame), "month", ["a"])
    with pytest.raises(InputError, match="and 'day', 'other' do; name the column"):
        dated(open_source(frame), "month", ["day", "other"])
    with pytest.raises(InputError, match="'fortnight' is no period"):
        check_time({"day": "fortnight"}, ["day"])  # type: ignore[dict-item]
    with pytest.raises(InputError, match="3 is no period"):
        check_time(3, ["day"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is about the attribute that holds dates; name it in by="):
        check_time("month", [])


def test_missing_days_take_no_part_in_the_calendar() -> None:
    frame = pd.DataFrame({"d": [np.nan, "2026-03-01", None]})
    _, _, calendars = dated(open_source(frame), {"d": "quarter"}, ["d"])
    assert calendars == {"d": ["2026-Q1"]}
