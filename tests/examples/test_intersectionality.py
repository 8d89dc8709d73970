"""The page of optimist and pessimist: its tables from what is recorded, and what the record says."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examples.pages import blocks
from examples.published.intersectionality import page, record_rows, subsampling
from examples.published.intersectionality.page_figures import draw, draw_tables
from examples.published.intersectionality.protected_tables import TABLES, load_table
from examples.published.intersectionality.published_certification import LINES
from examples.published.intersectionality.subsampling import points, read_points, subsampled
from tests.public_data import public_data
from tests.recovery.remade import assert_remade, assert_same_page

DOCS = Path(__file__).parents[2] / "docs" / "examples"
RECORD = DOCS / "intersectionality.csv"
FRACTIONS = [round(0.1 * step, 1) for step in range(1, 11)]


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


@pytest.mark.record
def test_the_page_has_the_tables_that_the_code_makes() -> None:
    shown = blocks((DOCS / "intersectionality.md").read_text(encoding="utf-8"))
    record = read_points(RECORD)
    assert shown["critical subgroups"].splitlines() == page.critical_rows()
    assert shown["printed and exact values"].splitlines() == page.published_rows()
    assert shown["printed and run"].splitlines() == record_rows.run_rows(record)
    assert shown["all rows"].splitlines() == record_rows.own_rows(record)
    assert shown["rows left out"].splitlines() == record_rows.trend_rows(record)
    assert len(page.published_rows()) == len(page.critical_rows()) == 2 + 18
    assert "| compas | Male-Native American-25..45 (17 of 18) |" in shown["critical subgroups"]


@pytest.mark.record
def test_figures_are_drawn_from_the_record(record: pd.DataFrame, tmp_path: Path) -> None:
    for study, number in page.FIGURES.items():
        path = tmp_path / "figure.svg"
        draw(read_points(RECORD), study, path)
        drawn = path.read_text(encoding="utf-8")
        for table in dict.fromkeys(record["table"]):
            assert table.replace("_", " ") in drawn
        assert (DOCS / f"intersectionality_{number}.svg").is_file()
    draw_tables(tmp_path / "tables.svg")
    drawn = (tmp_path / "tables.svg").read_text(encoding="utf-8")
    assert all(line.name.replace("_", " ") in drawn for line in LINES)


def test_means_are_of_repeats_that_have_a_value() -> None:
    line = subsampling.Point("t", "all", "given", "wald", "worst", 0.1, 0, "f", 1, 1, 0.5, 0.5)
    gone = subsampling.Point("t", "all", "given", "wald", "worst", 0.1, 1, "f", 0, 0, float("nan"), float("nan"))
    assert record_rows.trend([line, gone]) == {0.1: 0.5}
    assert np.isnan(record_rows.trend([gone])[0.1])


def test_every_table_has_every_fraction(record: pd.DataFrame) -> None:
    assert set(record["table"]) == set(TABLES)
    for _, lines in record.groupby(["table", "left_out", "judged", "interval", "statistic"]):
        assert sorted(set(lines["fraction"])) == FRACTIONS


def of_study(record: pd.DataFrame, left_out: str, statistic: str, interval: str) -> pd.DataFrame:
    """Means over repeats (table, fraction)."""
    chosen = record[
        (record["left_out"] == left_out) & (record["statistic"] == statistic) & (record["interval"] == interval)
    ]
    return chosen.pivot_table(index="table", columns="fraction", values="value", dropna=False)


@pytest.mark.parametrize("left_out", ["critical", "all"])
def test_the_exact_pessimist_gains_with_rows(record: pd.DataFrame, left_out: str) -> None:
    """As reported, on every table with exact limits out of fold: from a tenth of the rows to all of them."""
    means = of_study(record, left_out, "pessimist", "clopper_pearson")
    assert len(means) == len(TABLES) - 1
    assert (means[1.0] > means[0.1].fillna(0.0)).all()


def test_the_published_pessimist_need_not(record: pd.DataFrame) -> None:
    """INT-11: few rows may all be right, and then a Wald limit has no width."""
    means = of_study(record, "critical", "pessimist", "wald")
    assert means.loc["adult_scored", 0.1] > means.loc["adult_scored", 1.0]
    assert means.loc["compas", 0.1] > means.loc["compas", 1.0]


def test_what_is_printed_of_compas_needs_what_happened_afterwards() -> None:
    """INT-12: the optimist's subgroup and value come back, to .003, if the models are told; .3 is missing otherwise."""
    record = read_points(RECORD)
    printed = next(line for line in LINES if line.name == "compas").optimist_value
    told = record_rows.whole(record, "compas_afterwards", "optimist", ("wald",))
    assert told.subgroup == "African-American | Male | 25-45"
    assert told.rows == 1563
    assert told.value == pytest.approx(printed, abs=0.003)
    assert record_rows.whole(record, "compas", "optimist", ("wald",)).value < 0.71


def test_adult_has_the_published_critical_subgroups() -> None:
    """Of the optimist, in sample: white men in their fifties; of the pessimist men of another race in their sixties."""
    record = read_points(RECORD)
    optimist, pessimist = (record_rows.whole(record, "adult", name, ("wald",)) for name in ("optimist", "pessimist"))
    assert (optimist.subgroup, optimist.rows) == ("White | Male | 50s", 4256)
    assert optimist.value == pytest.approx(0.812, abs=0.03)
    assert (pessimist.subgroup, pessimist.rows) == ("Other | Male | 60s", 10)


@pytest.mark.record
def test_the_command_makes_the_page(tmp_path: Path) -> None:
    """All tables, with the posterior of the worst value, and the figures; the prose stays as it is."""
    data = public_data("adult", "compas", "asr_commonvoice")
    output = tmp_path / "page.md"
    page.main(["--data", str(data), "--record", str(RECORD), "--output", str(output)])
    assert_same_page(output.read_text(encoding="utf-8"), (DOCS / "intersectionality.md").read_text(encoding="utf-8"))
    assert all(
        (tmp_path / f"intersectionality_{number}.svg").is_file() for number in (*page.FIGURES.values(), "tables")
    )


KEYS = ("table", "left_out", "judged", "interval", "statistic", "fraction", "repeat")


def test_lines_of_a_table_without_models_can_be_made_again() -> None:
    made = load_table("common_voice", public_data("asr_commonvoice"))
    some = [0.1, 0.4, 0.7, 1.0]
    lines = [
        point
        for left_out in subsampling.STUDIES
        for point in points(made.name, subsampled(made, left_out, "out_of_fold", "pooled_t", fractions=some, repeats=2))
    ]
    assert len(lines) == 48
    assert_remade(RECORD, [asdict(line) for line in lines], KEYS)


@pytest.mark.record
def test_lines_of_half_the_rows_can_be_made_again() -> None:
    """Three models trained on COMPAS, judged out of fold."""
    made = load_table("compas", public_data("compas"))
    answer = subsampled(made, "all", "out_of_fold", "clopper_pearson", fractions=[0.5])
    assert_remade(RECORD, [asdict(line) for line in points(made.name, answer)], KEYS)


@pytest.mark.slow
def test_all_lines_of_compas_can_be_made_again() -> None:
    lines = subsampling.study(load_table("compas", public_data("compas")), repeats=3)
    assert_remade(RECORD, [asdict(line) for line in lines], KEYS)
