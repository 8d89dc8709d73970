"""Coverage and scores of credible limits where no row, or every row, is a success: the record, and parts of it made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import Executor
from tests.recovery.studies import boundary_coverage
from tests.recovery.studies.boundary_coverage import RULES, judged, limits, worlds
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "boundary_coverage.csv"


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    assert len(record) == len(worlds()) * 2 * len(RULES) * len(LEVELS)
    assert (record["at_ends"] > 25).all()


def _part(record: pd.DataFrame, rule: str) -> pd.DataFrame:
    return record[record["rule"] == rule].set_index(["rate", "spread", "word", "level"]).sort_index()


def test_the_rule_of_reports_has_the_best_scores(record: pd.DataFrame) -> None:
    """On average over superpopulations, at every level that matters."""
    own, tails, one_sided = (_part(record, rule) for rule in RULES)
    level = own.index.get_level_values("level")
    for high in (0.9, 0.95):
        for other in (tails, one_sided):
            ratio = (own["score_at_ends"] / other["score_at_ends"])[level == high]
            assert np.exp(np.log(ratio).mean()) < 1


@pytest.mark.xfail(
    strict=True,
    reason="80 % limits of crossed effects score 1.103 for 1.1 at rates of .05 with little spread; an exponential law 1.110",
)
def test_the_rule_of_reports_is_nowhere_a_tenth_worse_than_equal_tails(record: pd.DataFrame) -> None:
    own, tails, _ = (_part(record, rule) for rule in RULES)
    assert (own["score"] <= 1.1 * tails["score"]).all()


def test_the_rule_of_reports_is_a_tenth_worse_where_the_page_says(record: pd.DataFrame) -> None:
    """At 80 %, crossed effects that differ little around a rate of .05."""
    own, tails, _ = (_part(record, rule) for rule in RULES)
    ratio = own["score"] / tails["score"]
    assert ratio.idxmax() == (0.05, 0.15, "crossed_effects", 0.8)
    assert ratio.max() == pytest.approx(1.1, abs=0.02)


def test_an_exponential_posterior_has_limits_a_tenth_worse() -> None:
    """The score is least, on average over a posterior, for equal tails of it: what the shorter form pays is no chance.

    A one-sided interval of an exponential law has width -log(a), and misses by a on average, with a = 1 - level.
    """
    law = -np.log1p(-(np.arange(100_000) + 0.5) / 100_000) / 100
    low, high = (np.array([rule[side][LEVELS.index(0.8)] for rule in limits(law, 0.0).values()]) for side in (0, 1))
    missed = np.maximum(low[:, None] - law, 0) + np.maximum(law - high[:, None], 0)
    scores = dict(zip(RULES, high - low + 2 / 0.2 * missed.mean(axis=1), strict=True))
    assert scores["shortest"] == scores["one_sided"] == pytest.approx((-np.log(0.2) + 2) / 100, rel=1e-3)
    assert scores["shortest"] / scores["equal_tailed"] == pytest.approx(1.110, abs=2e-3)


def test_the_rule_of_reports_covers_what_equal_tails_miss(record: pd.DataFrame) -> None:
    own, tails, _ = (_part(record, rule) for rule in RULES)
    level = own.index.get_level_values("level")
    assert own["coverage"][level == 0.95].mean() > tails["coverage"][level == 0.95].mean()
    assert own["coverage"][level == 0.95].min() > tails["coverage"][level == 0.95].min() + 0.1
    crossed = own.xs("crossed_effects", level="word")["coverage"]
    assert (crossed >= crossed.index.get_level_values("level") - 0.12).all()
    assert (crossed.xs(0.95, level="level") >= 0.93).all()


@pytest.mark.record
def test_a_part_of_the_record_is_made_again(record: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines of one superpopulation and one word, which take seconds."""
    first = worlds()[0]
    monkeypatch.setattr(boundary_coverage, "worlds", lambda: [first])
    monkeypatch.setattr(boundary_coverage, "WORDS", (bg.PartialPooling(),))
    again = pd.DataFrame([asdict(line) for line in boundary_coverage.study()])
    kept = record[(record["rate"] == first[0]) & (record["spread"] == first[1])]
    kept = kept[kept["word"] == "partial_pooling"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, kept, rtol=1e-4)


def test_reports_have_the_rule_of_the_record() -> None:
    counts = bg.tally_from_counts([0, 5, 4], [3, 9, 4], pd.DataFrame({"site": list("abc")}), metric="fnr")
    report = bg.estimate(counts, bg.NoPooling(), seed=1)
    table = report["estimates"].to_dataset().sel(approach="bayesian", metric="fnr")
    draws = report["posterior"].to_dataset()["mu"].values.reshape(-1, 3)
    for g, end in enumerate((0.0, None, 1.0)):
        low, high = limits(draws[:, g], end)["shortest"]
        np.testing.assert_allclose(table["lower"].values[g], low, atol=1e-12)
        np.testing.assert_allclose(table["upper"].values[g], high, atol=1e-12)


def test_covered_counts_by_subgroup() -> None:
    counts = bg.tally_from_counts([0, 5, 0], [3, 9, 0], pd.DataFrame({"site": list("abc")}), metric="fnr")
    draws = np.column_stack([np.linspace(0.01, 0.6, 100), np.linspace(0.3, 0.8, 100), np.linspace(0, 1, 100)])
    held, scores, at_end = judged(counts, np.array([0.0, 0.55, 0.5]), draws)
    assert at_end.tolist() == [True, False]
    assert held.shape == (2, len(RULES), len(LEVELS))
    assert held[0, :, 0].tolist() == [0.0, 0.0, 1.0]
    assert held[0, :, -1].tolist() == [0.0, 0.0, 1.0]  # even draws: equal tails are the shorter ones
    assert (held[1] == 1).all()
    width = np.quantile(draws[:, 1], 0.75) - np.quantile(draws[:, 1], 0.25)
    assert scores[1, :, 0] == pytest.approx(np.full(3, width))
    missed = np.quantile(draws[:, 0], 0.25)  # at half, by the equal tails
    assert scores[0, 1, 0] == pytest.approx(np.quantile(draws[:, 0], 0.75) - missed + 4 * missed)


def test_the_study_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary_coverage, "worlds", lambda: [(0.05, 0.15)])
    monkeypatch.setattr(boundary_coverage, "WORDS", (bg.NoPooling(), bg.PartialPooling()))
    found, again = resumed(lambda run: boundary_coverage.study(2, 1, executor=run), tmp_path / "kept")
    assert found == again
    assert [line.word for line in found] == [word for word in ("no_pooling", "partial_pooling") for _ in range(12)]
    assert all(line.at_ends <= line.pairs == 48 for line in found)
    monkeypatch.setattr(boundary_coverage, "WORDS", (bg.PartialPooling(tau_scale=0.5),))
    with pytest.raises(bg.InputError, match="is of another study"):
        boundary_coverage.study(2, 1, executor=Executor(folder=tmp_path / "kept"))
