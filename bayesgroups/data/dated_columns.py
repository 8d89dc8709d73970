"""Columns of dates as periods of a calendar: ordered attributes of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, get_args

import narwhals.stable.v2 as nw

from bayesgroups.data.frames import Frame
from bayesgroups.data.periods import Period, calendar, period_of
from bayesgroups.data.sources import Source, open_source
from bayesgroups.errors import InputError, near_misses

Time = Period | Mapping[str, Period]
"""A period for the one attribute that holds dates, or periods by the names of columns."""
DAY, QUARTERS = re.compile(r"\d{4}-\d{2}-\d{2}"), ("01 02 03", "04 05 06", "07 08 09", "10 11 12")
"""A day as ISO 8601 writes it, and the months of the quarters."""


def check_time(time: Time, by: Sequence[str]) -> None:
    """Refuse a period that does not exist, and columns twice."""
    periods = [time] if isinstance(time, str) else list(time.values()) if isinstance(time, Mapping) else [time]
    for period in periods:
        if period not in get_args(Period):
            raise InputError(
                f"time={time!r}: {period!r} is no period; give one, or one per column of dates, as {{'date': 'month'}}; "
                f"{near_misses(str(period), get_args(Period))}"
            )
    if isinstance(time, str) and not by:
        raise InputError(f"time={time!r} is about the attribute that holds dates; name it in by=, as by=['date']")


def dated(source: Source, time: Time, by: Sequence[str]) -> tuple[Source, dict[str, Period], dict[str, list[str]]]:
    """The source with periods in place of dates, the period of every such column, and its calendar.

    Dates are columns of dates or times, and texts that open with an ISO date; what has a zone counts for the day that it has there.
    Missing dates stay missing. InputError where a column holds anything else, or nothing.
    """
    schema = source.frame.collect_schema()
    periods = _by_column(time, by, schema)
    calendars = {}
    for name, period in periods.items():
        if name not in schema:
            raise InputError(f"column {name!r} (time=) is not in the frame; {near_misses(name, list(schema))}")
        source = _with(source, _day(source, name).alias(name))
        days = _days(source, name)
        source = _with(source, _label(name, period).alias(name))
        calendars[name] = calendar([period_of(day, period) for day in days], period)
    return source, periods, calendars


def _by_column(time: Time, by: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Period]:
    if isinstance(time, Mapping):
        return dict(time)
    dates = [name for name in by if name in schema and schema[name].is_temporal()]
    if len(dates) != 1:
        which = f"{', '.join(map(repr, dates))} do" if dates else "none does"
        raise InputError(
            f"time={time!r} needs one attribute of by= that holds dates, and {which}; name the column, as "
            f"time={{'date': {time!r}}} (texts such as '2026-03-14' will do there)"
        )
    return {dates[0]: time}


def _day(source: Source, name: str) -> nw.Expr | nw.Series[Any]:
    """A column of dates as texts, of which the first ten letters are the day."""
    dtype = source.frame.collect_schema()[name]
    if isinstance(dtype, nw.Datetime | nw.Date):
        return nw.col(name).dt.to_string("%Y-%m-%d")
    if dtype == nw.Object and source.memory is not None:  # dates of Python in a frame of pandas
        import pandas as pd

        values = [None if pd.isna(value) else value for value in source.memory[name].to_list()]
        for value in values:
            if not (value is None or isinstance(value, date)):
                raise _no_date(name, value)
        texts = [None if value is None else value.isoformat()[:10] for value in values]
        return nw.new_series(name, texts, nw.String, backend=source.memory.implementation)
    if dtype == nw.String:  # a cast makes a text of nothing in frames of older pandas
        return nw.col(name).str.slice(0, 10)
    if dtype in (nw.Categorical, nw.Enum):
        return nw.when(~nw.col(name).is_null()).then(nw.col(name).cast(nw.String).str.slice(0, 10))
    first = source.collect(source.frame.select(nw.col(name)).head(1))[name].to_list()
    raise _no_date(name, first[0] if first else dtype)


def _days(source: Source, name: str) -> list[date]:
    """The different days of a column of texts."""
    different = source.collect(source.frame.select(nw.col(name)).unique())[name].to_list()
    days = []
    for text in different:
        if not isinstance(text, str):  # missing, as each engine has it
            continue
        try:
            if not DAY.fullmatch(text):
                raise ValueError
            days.append(date.fromisoformat(text))
        except ValueError:
            raise _no_date(name, text) from None
    if not days:
        raise InputError(f"column {name!r} (time=) holds no date; leave time= out, or give the column that does")
    return days


def _label(name: str, period: Period) -> nw.Expr:
    """Periods from texts of days."""
    day = nw.col(name)
    if period == "week":
        return day.str.to_datetime(format="%Y-%m-%d").dt.to_string("%G-W%V")
    if period != "quarter":
        return day.str.slice(0, {"year": 4, "month": 7, "day": 10}[period])
    month, number = day.str.slice(5, 2), nw.lit("4")
    for quarter in (3, 2, 1):
        number = nw.when(month.is_in(QUARTERS[quarter - 1].split())).then(nw.lit(str(quarter))).otherwise(number)
    return nw.concat_str(day.str.slice(0, 4), nw.when(~day.is_null()).then(number), separator="-Q")


def _with(source: Source, column: nw.Expr | nw.Series[Any]) -> Source:
    if source.memory is not None:
        return open_source(source.memory.with_columns(column))
    frame: Frame = source.frame.with_columns(column)
    return replace(source, frame=frame)


def _no_date(name: str, value: object) -> InputError:
    return InputError(
        f"column {name!r} (time=) holds {value!r}, which is no date; expected dates or times, or texts that open with one, as "
        "'2026-03-14'"
    )
