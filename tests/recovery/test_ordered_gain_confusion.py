"""The record of what an order of levels is worth to the confusion model, held to its bars and its page, and a line made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from tests.recovery.remade import assert_remade
from tests.recovery.studies import ordered_gain_confusion as study
from tests.recovery.studies.ordered_gain import ORDERS, POPULATIONS, lines, read

RECORD = Path(__file__).parent / "records" / "ordered_gain_confusion.csv"
KEYS = ("population", "levels", "order")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD).set_index(list(KEYS)).sort_index()


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    assert len(read(RECORD)) == len(POPULATIONS) * len(study.LEVELS) * len(ORDERS)
    assert (record["tables"] == study.TABLES).all()
    assert (record["usable"] == 1).all()


def test_a_trend_of_six_levels_gains(record: pd.DataFrame) -> None:
    line = record.loc[("trend", 6, "true")]
    assert line["error"] + 2 * line["error_mc"] < 1


def test_an_order_that_means_nothing_costs_two_percent_at_most(record: pd.DataFrame) -> None:
    """On average over populations and numbers of levels; single lines have errors of half a point to two points."""
    for order in (record.xs("random", level="order"), record.loc["none"].xs("true", level="order")):
        error = np.sqrt((order["error_mc"] ** 2).sum()) / len(order)
        assert order["error"].mean() - error <= 1.02
        assert (order["error"] - 2 * order["error_mc"] <= 1.02).all()
    assert record.xs("random", level="order")["error"].mean() <= 1.02


def test_intervals_cover_with_an_order_as_without(record: pd.DataFrame) -> None:
    assert (record["coverage"] >= 0.93).all()
    assert (record["coverage"] >= record["coverage_without"] - 0.015).all()
    assert abs(record["coverage"].mean() - record["coverage_without"].mean()) < 0.01


@pytest.mark.record
def test_a_line_is_made_again() -> None:
    made = lines("trend", 3, study.TABLES, study.SEED, make=study.table, kind=bg.ConfusionModel)
    assert_remade(RECORD, [asdict(line) for line in made], KEYS, tolerance=2e-2)


def test_truths_are_those_of_the_subgroups_of_the_tally() -> None:
    tally, truth = study.table("bend", 6, np.random.default_rng(1))
    assert truth.shape == (len(study.METRICS), tally.sizes["subgroup"])
    error = np.abs(tally["estimate"].values - truth) / np.sqrt(tally["sampling_variance"].values)
    assert np.nanmedian(error) < 1.2
