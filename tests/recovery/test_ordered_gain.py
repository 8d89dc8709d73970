"""The record of what an order of levels is worth, held to the bars and to its page, and a line made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from tests.recovery.remade import assert_remade
from tests.recovery.studies import ordered_gain as study

RECORD = Path(__file__).parent / "records" / "ordered_gain.csv"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ordered_levels.md"
KEYS = ("population", "levels", "order")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD).set_index(list(KEYS)).sort_index()


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    assert len(study.read(RECORD)) == len(study.POPULATIONS) * len(study.LEVELS) * len(study.ORDERS)
    assert (record["tables"] == study.TABLES).all()
    assert (record["usable"] == 1).all()


def test_a_trend_of_five_levels_and_more_gains(record: pd.DataFrame) -> None:
    trend = record.loc["trend"].xs("true", level="order")
    assert (trend["error"] + 2 * trend["error_mc"] < 1)[[5, 10]].all()
    assert trend.loc[10, "error"] < 0.93
    assert trend.loc[10, "width"] < 0.9


def test_an_order_that_means_nothing_costs_two_percent_at_most(record: pd.DataFrame) -> None:
    """On average over populations and numbers of levels; single lines have errors of half a point to two points."""
    for order in (record.xs("random", level="order"), record.loc["none"].xs("true", level="order")):
        error = np.sqrt((order["error_mc"] ** 2).sum()) / len(order)
        assert order["error"].mean() - error <= 1.02
        assert (order["error"] - 2 * order["error_mc"] <= 1.02).all()


def test_intervals_cover_with_an_order_as_without(record: pd.DataFrame) -> None:
    assert (record["coverage"] >= 0.94).all()
    assert abs(record["coverage"].mean() - record["coverage_without"].mean()) < 0.01


@pytest.mark.record
def test_a_line_is_made_again() -> None:
    made = study.lines("trend", 3)
    assert_remade(RECORD, [asdict(line) for line in made], KEYS, tolerance=2e-2)


def test_orders_are_told_apart_and_one_table_is_refused() -> None:
    tally, truth = study.table("bend", 5, np.random.default_rng(1))
    assert tally.sizes["subgroup"] == len(truth) == 30
    levels = ["00", "01", "02"]
    assert study.scrambled(levels, np.random.default_rng(1)) not in (levels, levels[::-1])
    with pytest.raises(InputError, match="replications=1 must be 2 or more"):
        study.lines("trend", 3, tables=1)
