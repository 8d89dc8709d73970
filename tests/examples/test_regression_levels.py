"""Intervals at every level on the diabetes data: the page from its records, and parts of the records made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.resampling import study
from examples.comparisons.shared_cells import SEED, populations
from examples.published.structured_regression import levels, levels_page
from examples.published.structured_regression.levels import (
    COMPETITORS,
    SHOWN,
    clinical_population,
    forest_lines,
    lines_of,
)
from examples.published.structured_regression.published_regression import penalty_curve
from tests.public_data import public_data
from tests.recovery.remade import assert_remade, assert_same_page

DOCS = Path(__file__).parents[2] / "docs" / "examples"
RECORD = DOCS / "regression_levels.csv"
KEYS = ("estimator", "metric", "subgroups", "level")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


@pytest.fixture(scope="module")
def population() -> levels.ClinicalPopulation:
    return clinical_population(public_data("diabetes", "adult", "asr_commonvoice"))


@pytest.mark.record
def test_the_record_makes_the_page(tmp_path: Path) -> None:
    output = tmp_path / "page.md"
    levels_page.main(["--record", str(RECORD), "--output", str(output)])
    assert_same_page(output.read_text(encoding="utf-8"), (DOCS / "regression_levels.md").read_text(encoding="utf-8"))
    drawn = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert drawn == [f"regression_paper_{number}.svg" for number in ("1", "2", "4", "6")]
    assert all((DOCS / name).is_file() for name in drawn)


def test_every_interval_has_every_level(record: pd.DataFrame) -> None:
    assert list(dict.fromkeys(record["estimator"])) == list(COMPETITORS)
    assert sorted(set(record["level"])) == list(LEVELS)
    assert not record.drop(columns=["coverage", "coverage_se"]).isna().any(axis=None)
    assert len(record) == len(COMPETITORS) * 6 * 3 * len(LEVELS)


def test_coverage_rises_with_the_level(record: pd.DataFrame) -> None:
    wide = record.pivot_table(index=["estimator", "metric", "subgroups"], columns="level", values="coverage")
    assert (wide.diff(axis=1).iloc[:, 1:] >= 0).to_numpy().all()


def test_narrower_intervals_of_structured_regression_cover_too_seldom(record: pd.DataFrame) -> None:
    """ "Up to 20 % narrower" comes back with resampled residuals alone, and these do not keep their level."""
    means = record[record["subgroups"] == "all"].groupby(["estimator", "level"])[["coverage", "relative_width"]].mean()
    for level in LEVELS:
        known, residuals = (
            means.loc[(name, level)] for name in ("structured regression", "structured regression, residuals")
        )
        assert known["relative_width"] > 0.96
        assert residuals["relative_width"] < 0.85
        assert known["coverage"] > level
        assert residuals["coverage"] < level - 0.05


@pytest.mark.record
def test_draws_are_those_of_the_shared_study(population: levels.ClinicalPopulation) -> None:
    plain = populations(public_data("diabetes", "adult", "asr_commonvoice"))[0]
    first, second = (each.sample(3, seed=SEED) for each in (plain, population))
    assert first.index.tolist() == second.index.tolist()
    assert first["score"].tolist() == second["score"].tolist()
    assert set(levels.CLINICAL) < set(second.columns)


@pytest.mark.record
def test_the_first_draw_is_made_again(population: levels.ClinicalPopulation) -> None:
    """Figure 1, standard and model-based; structured regression too."""
    answers = study(population, {name: COMPETITORS[name] for name in SHOWN}, draws=1, seed=SEED)
    lines = [asdict(line) for line in forest_lines(answers)]
    kept = [line for line in lines if np.isfinite(float(str(line["estimate"])))]
    assert len(kept) > 400
    assert_remade(DOCS / "regression_forest.csv", kept, ("metric", "subgroup", "estimator"), tolerance=1e-4)


@pytest.mark.record
def test_lines_of_three_intervals_are_made_again(population: levels.ClinicalPopulation) -> None:
    """All levels, metrics and sizes, over the 20 draws, of intervals that no other estimator's answers change."""
    names = ("standard", "standard, bootstrap percentiles", "empirical Bayes, Morris", "model-based, clinical")
    answers = study(population, {name: COMPETITORS[name] for name in names}, draws=20, seed=SEED)
    lines = [asdict(line) for line in lines_of(answers)]
    assert_remade(RECORD, lines, KEYS, tolerance=1e-4)


def test_the_penalty_has_the_published_points() -> None:
    """At the penalties of both, the finer curve is the one of the page of experiments."""
    points = pd.read_csv(DOCS / "regression_penalty.csv")
    page = (DOCS / "regression_paper.md").read_text(encoding="utf-8").split("<!-- numbers: penalty -->")[1]
    rows = {
        row.split(" | ")[0].strip("| "): row.strip("| ").split(" | ")[1:] for row in page.splitlines() if "|" in row
    }
    means = points.groupby(["subgroups", "fraction"])[["squared_bias", "variance", "mse"]].mean()
    for fraction in (1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.001):
        for size, shown in (("small", rows[f"{fraction:g}"][:3]), ("large", rows[f"{fraction:g}"][3:])):
            assert [float(value) for value in shown] == pytest.approx(means.loc[(size, fraction)].to_list(), abs=6e-4)


def test_fractions_of_the_penalty_can_be_chosen(population: levels.ClinicalPopulation) -> None:
    curve = penalty_curve(population, 1, fractions=(1.0, 0.1))
    assert sorted(set(curve["fraction"])) == [0.1, 1.0]


def test_what_the_overview_says_of_it(record: pd.DataFrame) -> None:
    text = (DOCS.parent / "papers.md").read_text(encoding="utf-8")
    means = record.groupby(["estimator", "subgroups", "level"])["coverage"].mean()
    assert f"they cover {100 * means['model-based, clinical', 'all', 0.95]:.0f} % at 95 %" in text
    small = means["standard, bootstrap percentiles", "small"]
    assert "about half of small subgroups at 80 % and above" in text
    assert small.loc[[0.8, 0.9, 0.95]].between(0.44, 0.56).all()
