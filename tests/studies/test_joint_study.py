"""The joint study: its populations, its table, and the record held to what the page says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling
from bayesgroups.studies.joint_entrants import by_outcome
from bayesgroups.studies.joint_populations import JointPopulation
from bayesgroups.studies.joint_study import main, summarise
from bayesgroups.studies.resampling import Entry, study

RECORD = Path(__file__).parents[2] / "docs" / "examples" / "joint_model.csv"


def population() -> JointPopulation:
    people = pd.DataFrame(
        {"sex": ["f"] * 90 + ["m"] * 60, "y": [0, 1, 1] * 50, "score": [0.2, 0.9, 0.4, 0.6, 0.7] * 30}
    )
    return JointPopulation(
        "people", people, {"sex": ("f", "m")}, ("acc", "ppv"), rows=40, design="independent", y_true="y", y_score="score",
        threshold=0.5,
    )  # fmt: skip


def test_evaluation_sets_have_their_cells() -> None:
    drawn = population().draw(0, seed=1)
    assert float(drawn.tally["cell_count"].sum()) == 40
    assert "cell_score" in drawn.tally


def test_the_table_has_a_line_per_population_estimator_and_size() -> None:
    entries: dict[str, Entry] = {"crossed_effects": bg.CrossedEffects(), "standard": no_pooling.estimate}
    lines = summarise({"people": study(population(), entries, draws=2, seed=1)})
    assert len(lines) == 2 * 3 * 3
    reference = [line for line in lines if line.estimator == "crossed_effects (bayesian)" and line.size_class == "all"]
    assert [(line.population, line.mae, line.draws) for line in reference] == [("all", 1.0, 2), ("people", 1.0, 2)]


def test_arguments_are_checked(tmp_path: Path) -> None:
    given = ["--data", str(tmp_path), "--output", str(tmp_path)]
    with pytest.raises(bg.InputError, match="--share 0.0 must lie in"):
        main([*given, "--share", "0"])
    with pytest.raises(bg.InputError, match="estimator 'magic' is not one of"):
        main([*given, "--estimators", "magic"])


def lines_of(record: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    with record.open(encoding="utf-8", newline="") as file:
        return {(line["population"], line["estimator"], line["size_class"]): line for line in csv.DictReader(file)}


def test_the_record_is_what_the_page_says() -> None:
    lines = lines_of(RECORD)
    joint, reference = lines["all", "confusion (bayesian)", "all"], lines["all", "crossed_effects (bayesian)", "all"]
    assert float(joint["mae"]) < 1 - float(joint["mae_se"])
    assert float(joint["interval_score"]) < float(reference["interval_score"])
    assert 0.94 <= float(joint["coverage"]) <= 0.97
    assert 0.93 <= float(lines["all", "confusion (bayesian)", "small"]["coverage"]) <= 0.97


def test_cut_by_outcome_answers_the_same_questions() -> None:
    """With many rows both ways to cut the cells give what was observed."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"a": rng.choice(list("xyz"), 30_000), "b": rng.choice(list("fm"), 30_000)})
    rows["y"] = rng.random(len(rows)) < 0.3
    rows["d"] = rng.random(len(rows)) < np.where(rows["y"], 0.7, 0.2)
    metrics = ["sel", "acc", "fnr", "fpr", "ppv"]
    tally = bg.tally(rows, ["a", "b"], metrics, y_true="y", y_pred="d", confusion=True)
    found = by_outcome(tally)
    np.testing.assert_allclose(found["estimate"], tally["estimate"], atol=0.02)
    assert ((found["lower"] < found["estimate"]) & (found["estimate"] < found["upper"])).all()


def test_no_population_loses_and_cutting_by_the_decision_is_what_helps() -> None:
    lines = lines_of(RECORD)
    populations = {population for population, _, _ in lines} - {"all"}
    assert len(populations) == 8
    assert max(float(lines[name, "confusion (bayesian)", "all"]["mae"]) for name in populations) <= 1.02
    joint, suremap = (float(lines["all", name, "all"]["mae"]) for name in ("confusion (bayesian)", "suremap"))
    assert joint <= 0.9 * suremap
    assert float(lines["all", "confusion_by_outcome", "all"]["mae"]) > 1.05 * joint


def test_correlation_changes_little() -> None:
    lines = lines_of(RECORD.with_name("joint_correlated.csv"))
    with_it, without = (
        lines["all", "confusion_correlated (bayesian)", "all"],
        lines["all", "confusion (bayesian)", "all"],
    )
    assert abs(float(with_it["mae"]) - float(without["mae"])) < 2 * float(with_it["mae_se"])
    assert 0.94 <= float(with_it["coverage"]) <= 0.97
