"""Coverage of intervals of two rates at the level .95, by enumeration: the record, and parts of it made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from tests.recovery.remade import assert_remade
from tests.recovery.studies.contrast_coverage import METHODS, SIZES, line

RECORD = Path(__file__).parent / "records" / "contrast_coverage.csv"
KEYS = ("method", "rows", "rows_of_reference")
DEFAULTS = ("newcombe", "koopman", "score_odds_ratio", "mover_ratio")
"""Methods of `bayesgroups.contrasts`."""


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD).set_index(list(KEYS)).sort_index()


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    assert len(record) == len(METHODS) * len(SIZES)
    assert record.index.is_unique


def test_defaults_hold_the_level_on_average(record: pd.DataFrame) -> None:
    """Over all pairs of rates: .944 is the worst mean, of ratios from 10 rows against 100."""
    assert (record.loc[list(DEFAULTS), "coverage"] > 0.943).all()


def test_newcombe_is_nowhere_far_below(record: pd.DataFrame) -> None:
    """.9287 at rates .01 and .02 of 20 and 500 rows is the smallest, and the only one below .93."""
    newcombe = record.loc["newcombe"]
    assert newcombe["smallest"].min() > 0.928
    assert (newcombe["below_93"] <= 1 / 49 + 1e-6).all()
    assert (newcombe["smallest_if_equal"] > 0.939).all()


def test_none_is_below_94_where_five_are_expected(record: pd.DataFrame) -> None:
    """Score limits and MOVER hold .94 wherever both sides expect five successes and failures; with fewer they may cover .90."""
    scores = record.loc[[*DEFAULTS, "miettinen_nurminen", "mee"]]
    assert (scores["smallest_of_five"].dropna() > 0.94).all()
    assert scores["smallest_of_five"].notna().sum() >= 6 * 9
    assert scores["smallest"].min() > 0.90


def test_mid_p_limits_put_together_hold_everywhere(record: pd.DataFrame) -> None:
    """None below .93, of differences, ratios and odds ratios, from 5 rows and rates of .01: .938 is the smallest."""
    mid_p = record.loc[["mid_p_difference", "mid_p_ratio", "mid_p_odds_ratio"]]
    assert mid_p["smallest"].min() > 0.937
    assert (mid_p["below_93"] == 0).all()
    assert (mid_p["undefined"] == 0).all()
    assert mid_p["coverage"].max() < 0.997


def test_limits_without_empty_cells_are_no_answer_for_few_rows(record: pd.DataFrame) -> None:
    """Katz and Woolf have none in up to .998 of all samples; this is why they are no default."""
    small = record.loc[["katz", "woolf"]].query("rows < 500 or rows_of_reference < 500")
    assert (small["undefined"] > 0.24).all()
    assert (record.loc[[*DEFAULTS, "miettinen_nurminen", "mee"], "undefined"] == 0).all()


def test_turned_round_sizes_cover_alike(record: pd.DataFrame) -> None:
    for method in METHODS:
        for sizes in ((5, 50), (20, 500)):
            first, second = record.loc[(method, *sizes)], record.loc[(method, *sizes[::-1])]
            assert first["coverage"] == pytest.approx(second["coverage"], abs=2e-6)
            assert first["smallest"] == pytest.approx(second["smallest"], abs=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_small_samples_are_made_again(method: str) -> None:
    assert_remade(RECORD, [asdict(line(method, *sizes)) for sizes in ((5, 5), (10, 10), (5, 50))], KEYS)


@pytest.mark.record
@pytest.mark.parametrize("method", METHODS)
def test_all_but_the_largest_samples_are_made_again(method: str) -> None:
    assert_remade(RECORD, [asdict(line(method, *sizes)) for sizes in SIZES if max(sizes) < 500], KEYS)
