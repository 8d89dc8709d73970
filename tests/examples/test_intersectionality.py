"""The page of optimist and pessimist: its tables from what is recorded, and what the record says."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examples.pages import blocks
from examples.published.intersectionality import page, subsampling
from examples.published.intersectionality.protected_tables import load_table
from examples.published.intersectionality.subsampling import SEED, judge, read_points
from tests.public_data import public_data
from tests.recovery.remade import assert_remade, assert_same_page

DOCS = Path(__file__).parents[2] / "docs" / "examples"
RECORD = DOCS / "intersectionality.csv"
FRACTIONS = [round(0.1 * step, 1) for step in range(1, 11)]


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_page_has_the_tables_that_the_code_makes() -> None:
    shown = blocks((DOCS / "intersectionality.md").read_text(encoding="utf-8"))
    record = read_points(RECORD)
    assert shown["printed and exact values"].splitlines() == page.published_rows()
    assert shown["all rows"].splitlines() == page.own_rows(record)
    assert shown["rows left out"].splitlines() == page.trend_rows(record)
    assert len(page.published_rows()) == 2 + 18


def test_figures_are_drawn_from_the_record(record: pd.DataFrame, tmp_path: Path) -> None:
    for study, number in page.FIGURES.items():
        path = tmp_path / "figure.svg"
        page.draw(read_points(RECORD), study, path)
        drawn = path.read_text(encoding="utf-8")
        for table in dict.fromkeys(record["table"]):
            assert table.replace("_", " ") in drawn
        assert (DOCS / f"intersectionality_{number}.svg").is_file()


def test_every_table_has_every_fraction(record: pd.DataFrame) -> None:
    assert set(record["table"]) == {"adult", "compas", "diabetes", "common_voice"}
    for _, lines in record.groupby(["table", "study", "accuracy", "interval", "statistic"]):
        assert sorted(set(lines["fraction"])) == FRACTIONS


def test_the_pessimist_gains_with_rows_of_the_critical_subgroup(record: pd.DataFrame) -> None:
    """As reported, for exact limits out of fold: from a tenth of its rows to all of them."""
    chosen = record[(record["study"] == "critical") & (record["statistic"] == "pessimist")]
    for table in ("adult", "compas", "diabetes"):
        mine = chosen[
            (chosen["table"] == table)
            & (chosen["accuracy"] == "out_of_fold")
            & (chosen["interval"] == "clopper_pearson")
        ]
        means = mine.groupby("fraction")["value"].mean()
        assert means[1.0] > np.nan_to_num(means[0.1])


def test_adult_has_the_published_critical_subgroup(record: pd.DataFrame) -> None:
    """Of the optimist, in sample: white men in their fifties, whose accuracy is printed as .802."""
    whole = record[(record["table"] == "adult") & (record["fraction"] == 1.0) & (record["accuracy"] == "in_sample")]
    optimist = whole[(whole["statistic"] == "optimist") & (whole["study"] == "whole")]
    assert set(optimist["subgroup"]) == {"White | Male | 50s"}
    assert optimist["estimate"].to_numpy() == pytest.approx(0.802, abs=0.05)


def test_the_command_makes_the_page(tmp_path: Path) -> None:
    """All tables, with the posterior of the worst value, and the figures; the prose stays as it is."""
    data = public_data("adult", "compas", "asr_commonvoice")
    output = tmp_path / "page.md"
    page.main(["--data", str(data), "--record", str(RECORD), "--output", str(output)])
    assert_same_page(output.read_text(encoding="utf-8"), (DOCS / "intersectionality.md").read_text(encoding="utf-8"))
    assert all((tmp_path / f"intersectionality_{number}.svg").is_file() for number in page.FIGURES.values())


KEYS = ("table", "study", "accuracy", "interval", "statistic", "fraction", "repeat", "subgroup")


def test_all_lines_of_a_table_without_models_can_be_made_again() -> None:
    points = subsampling.study(load_table("common_voice", public_data("asr_commonvoice")))
    assert len(points) == 120
    assert_remade(RECORD, [asdict(point) for point in points], KEYS)


def test_lines_of_all_rows_can_be_made_again() -> None:
    """Three models trained on COMPAS, judged in sample and out of fold."""
    table = load_table("compas", public_data("compas"))
    rows = np.arange(len(table.value))
    judged = judge(table, rows, SEED)
    points = subsampling._points(table, judged, rows, "whole", 1.0, 0, ("wald", "clopper_pearson"), None)
    assert len(points) == 12
    assert_remade(RECORD, [asdict(point) for point in points], KEYS)
