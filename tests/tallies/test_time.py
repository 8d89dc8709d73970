"""Tallies along a calendar: levels without rows, days added up, and what a model then says of change."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError


def rows() -> pd.DataFrame:
    """Errors that rise from month to month, with no row in April."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "date": pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(0, 300, 2400), unit="D"),
            "sex": rng.choice(["f", "m"], 2400),
        }
    )
    frame = frame[frame["date"].dt.month != 4].reset_index(drop=True)
    frame["wrong"] = rng.binomial(1, 1 / (1 + np.exp(2.0 - 0.15 * frame["date"].dt.month)))
    return frame


def tallied(frame: pd.DataFrame) -> xr.Dataset:
    return bg.tally(frame, ["sex"], ["mean"], loss="wrong", time={"date": "month"})


def errors(frame: pd.DataFrame) -> xr.Dataset:
    return bg.tally(frame.assign(yes=1), ["sex"], ["fpr"], y_true="no", y_pred="wrong", time={"date": "month"})


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return rows().assign(no=0)


def test_months_are_levels_in_time_without_gaps(frame: pd.DataFrame) -> None:
    tally = errors(frame)
    months = [f"2026-{month:02d}" for month in range(1, 11)]
    assert tally["date"].values.tolist() == 2 * months
    counted = frame.groupby(["sex", frame["date"].dt.strftime("%Y-%m")]).size()
    for subgroup, n in zip(tally["subgroup"].values.tolist(), tally["count"].values[0], strict=True):
        assert n == counted.get(tuple(subgroup.split(" | ")), 0)
    april = tally.sel(subgroup="f | 2026-04", metric="fpr")
    assert (int(april["count"]), str(april["status"].values)) == (0, "undefined")
    assert json.loads(tally.attrs["settings"])["time"] == {"date": "month"}


def test_the_attribute_of_dates_may_be_named_in_by(frame: pd.DataFrame) -> None:
    named = bg.tally(frame, ["sex", "date"], ["fpr"], y_true="no", y_pred="wrong", time="month")
    xr.testing.assert_identical(named, errors(frame))
    first = bg.tally(frame, {"date": None, "sex": ["m", "f"]}, ["fpr"], y_true="no", y_pred="wrong", time="month")
    assert first["subgroup"].values[:2].tolist() == ["2026-01 | m", "2026-01 | f"]


def test_days_add_up_to_the_whole_in_any_order(frame: pd.DataFrame) -> None:
    """Parts of some months each: the sum has the calendar from the first to the last, April with it, as all rows have."""
    month = frame["date"].dt.month
    parts = [errors(frame[where]) for where in (month > 6, month < 3, (month >= 3) & (month <= 6))]
    whole = errors(frame)
    summed = bg.add_tallies(parts)
    xr.testing.assert_equal(summed.drop_attrs(), whole.drop_attrs())
    by_report = [
        bg.estimate(each, bg.CrossedEffects(ordered=("date",)), seed=2)["posterior"] for each in (summed, whole)
    ]
    xr.testing.assert_equal(by_report[0].to_dataset()["mu"], by_report[1].to_dataset()["mu"])


def test_orders_that_all_parts_share_stay(frame: pd.DataFrame) -> None:
    by = {"sex": ["m", "f"]}
    parts = [
        bg.tally(frame[where], by, ["fpr"], y_true="no", y_pred="wrong", time={"date": "quarter"})
        for where in (frame["date"].dt.month > 6, frame["date"].dt.month < 4)
    ]
    summed = bg.add_tallies(parts)
    assert summed["subgroup"].values.tolist()[:5] == [
        "m | 2026-Q1",
        "m | 2026-Q2",
        "m | 2026-Q3",
        "m | 2026-Q4",
        "f | 2026-Q1",
    ]


def test_missing_dates_are_missing_attributes(frame: pd.DataFrame) -> None:
    lacking = frame.assign(date=frame["date"].where(frame.index > 3))
    with pytest.raises(InputError, match="'date' .* missing"):
        errors(lacking)
    parts = [
        bg.tally(part, ["sex"], ["fpr"], y_true="no", y_pred="wrong", missing="level", time={"date": "year"})
        for part in (lacking, frame.assign(date=frame["date"] + pd.DateOffset(years=2)))
    ]
    assert bg.add_tallies(parts)["date"].values[:4].tolist() == ["2026", "2027", "2028", "(missing)"]


def test_change_since_a_month_is_a_contrast_of_draws(frame: pd.DataFrame) -> None:
    """P(the error rose by more than .1 since March), as the draws say it."""
    report = bg.estimate(errors(frame), bg.CrossedEffects(ordered=("date",)), seed=1)
    answer = bg.contrasts(
        report, {"date": "2026-03"}, within="sex", scale="difference", thresholds={"difference": (0.1,)}
    ).sel(approach="bayesian", metric="fpr")
    draws = report["posterior"].to_dataset()["mu"].sel(metric="fpr")
    rise = (draws.sel(subgroup="f | 2026-10") - draws.sel(subgroup="f | 2026-03")).values.ravel()
    line = answer.sel(contrast="date=2026-10 against date=2026-03, sex=f").squeeze()
    assert float(line["estimate"]) == pytest.approx(rise.mean(), rel=1e-12)
    assert float(line["probability_beyond"].max()) == pytest.approx((rise > 0.1).mean(), abs=1e-12)
    assert (rise > 0.1).mean() > 0.9


def test_frames_one_by_one_and_different_periods_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="time= needs the first and the last date, and frame= is an iterator"):
        bg.tally(iter([frame]), ["sex"], ["fpr"], y_true="no", y_pred="wrong", time={"date": "month"})
    by_week = bg.tally(frame, ["sex"], ["fpr"], y_true="no", y_pred="wrong", time={"date": "week"})
    with pytest.raises(InputError, match="tallies were made with different time"):
        bg.add_tallies([errors(frame), by_week])
