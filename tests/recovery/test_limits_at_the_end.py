"""Where no row, or every row, is a success: intervals that reach the end of the range keep their level, equal tails do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.levels import LEVELS
from bayesgroups.studies import limits_at_the_end
from bayesgroups.studies.execution import Executor
from bayesgroups.studies.limits_at_the_end import DRAWS, RULES, covered, limits
from tests.studies.resumed import resumed
from tests.studies.small_population import population

RECORD = Path(__file__).parent / "records" / "limits_at_the_end.csv"
BELOW = 0.02
"""Coverage may fall below its level by so much, from chance and from subgroups that are unlike the others."""


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    assert len(record) == len(DRAWS) * 2 * len(RULES) * len(LEVELS)
    assert (record["at_ends"] > 50).all()


def test_at_half_equal_tails_cover_less_than_they_say_and_limits_to_the_end_more(record: pd.DataFrame) -> None:
    half = record[record["level"] == 0.5].groupby("rule")[["coverage", "coverage_at_ends"]].mean()
    assert half.loc["to_the_end", "coverage"] > 0.5 > half.loc["equal_tailed", "coverage"]
    assert half.loc["to_the_end", "coverage_at_ends"] > 0.75
    assert half.loc["equal_tailed", "coverage_at_ends"] < 0.5


def test_limits_to_the_end_keep_every_level_of_crossed_effects(record: pd.DataFrame) -> None:
    own = record[(record["word"] == "crossed_effects") & (record["rule"] == "to_the_end")]
    assert (own["coverage"] >= own["level"] - BELOW).all()
    equal = record[(record["word"] == "crossed_effects") & (record["rule"] == "equal_tailed")]
    assert equal["coverage"].mean() < own["coverage"].mean() - 0.05


def test_reports_have_the_rule_of_the_record() -> None:
    counts = bg.tally_from_counts([0, 5, 4], [3, 9, 4], pd.DataFrame({"site": list("abc")}), metric="fnr")
    report = bg.estimate(counts, bg.NoPooling(), seed=1)
    table = report["estimates"].to_dataset().sel(approach="bayesian", metric="fnr")
    draws = report["posterior"].to_dataset()["mu"].values.reshape(-1, 3)
    for g, end in enumerate((0.0, None, 1.0)):
        low, high = limits(draws[:, g], end)["to_the_end"]
        np.testing.assert_allclose(table["lower"].values[g], low, atol=1e-12)
        np.testing.assert_allclose(table["upper"].values[g], high, atol=1e-12)


def test_covered_counts_by_subgroup() -> None:
    counts = bg.tally_from_counts([0, 5, 0], [3, 9, 0], pd.DataFrame({"site": list("abc")}), metric="fnr")
    draws = np.column_stack([np.linspace(0.01, 0.6, 100), np.linspace(0.3, 0.8, 100), np.linspace(0, 1, 100)])
    held, at_end = covered(counts, np.array([0.0, 0.55, 0.5]), draws)
    assert at_end.tolist() == [True, False]
    assert held.shape == (2, len(RULES), len(LEVELS))
    assert held[0, :, 0].tolist() == [1.0, 0.0, 1.0]
    assert (held[1] == 1).all()


def test_the_study_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [population(metrics=("fnr", "sel"), fewest=1), population(name="others")]
    monkeypatch.setattr(limits_at_the_end, "populations", lambda folder, fewest: chosen)
    monkeypatch.setattr(limits_at_the_end, "DRAWS", {"people": 2})
    monkeypatch.setattr(limits_at_the_end, "WORDS", (bg.NoPooling(), bg.PartialPooling()))
    found, again = resumed(lambda run: limits_at_the_end.study(tmp_path, 1, executor=run), tmp_path / "kept")
    assert found == again
    assert [line.word for line in found] == [word for word in ("no_pooling", "partial_pooling") for _ in range(12)]
    # Twice the six subgroups of one metric; the few without a row with an outcome of 1 have nothing to cover.
    assert {line.population for line in found} == {"people"}
    assert all(line.at_ends < line.pairs <= 12 for line in found)
    monkeypatch.setattr(limits_at_the_end, "WORDS", (bg.PartialPooling(tau_scale=0.5),))
    with pytest.raises(bg.InputError, match="is of another study"):
        limits_at_the_end.study(tmp_path, 1, executor=Executor(folder=tmp_path / "kept"))
