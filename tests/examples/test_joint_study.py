"""The joint study: its populations, its table, and the record held to what the page says."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling
from bayesgroups.studies.resampling import Entry, study
from examples.comparisons import joint_page
from examples.comparisons.joint_entrants import by_outcome, competitors
from examples.comparisons.joint_populations import JointPopulation, joint_populations
from examples.comparisons.joint_study import main, summarise
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED
from examples.pages import PAGES, blocks
from tests.public_data import public_data
from tests.recovery.remade import assert_remade

RECORD = Path(__file__).parents[2] / "docs" / "examples" / "joint_model.csv"
HELD_OUT = RECORD.with_name("joint_held_out.csv")
CEILING = RECORD.with_name("joint_ceiling.csv")


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
    assert len(lines) == 4 * 3 * 3
    reference = [line for line in lines if line.estimator == "crossed_effects (bayesian)" and line.size_class == "all"]
    names = ["all", "people", "all, acc", "all, ppv"]
    assert [(line.population, line.mae, line.draws) for line in reference] == [(name, 1.0, 2) for name in names]


def test_arguments_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--data", str(tmp_path), "--output", str(tmp_path)]
    with pytest.raises(bg.InputError, match="--share 0.0 must lie in"):
        main([*given, "--share", "0"])
    with pytest.raises(bg.InputError, match=r"--after 0\.5 must be 0 or larger, and less than --share, which is 0\.25"):
        main([*given, "--share", "0.25", "--after", "0.5"])
    with pytest.raises(bg.InputError, match="estimator 'magic' is not one of"):
        main([*given, "--estimators", "magic"])
    monkeypatch.setattr("examples.comparisons.joint_study.joint_populations", lambda data, *, fewest: [population()])
    with pytest.raises(bg.InputError, match=r"population 'mars' is not one of people"):
        main([*given, "--populations", "mars"])


def test_a_record_can_leave_out_the_first_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.comparisons.joint_study.joint_populations", lambda data, *, fewest: [population()])
    given = ["--data", str(tmp_path), "--output", str(tmp_path / "kept"), "--estimators", "suremap", "--share", "0.1"]
    with pytest.raises(bg.InputError, match=r"--after 0.09: population 'people' has no draw after its first 3"):
        main([*given, "--share", "0.095", "--after", "0.09"])
    lines = {}
    for name, more in (("all", []), ("later", ["--after", "0.05"])):
        main([*given, *more, "--record", str(tmp_path / f"{name}.csv")])
        lines[name] = lines_of(tmp_path / f"{name}.csv")["all", "suremap", "all"]
    assert (lines["all"]["draws"], lines["later"]["draws"]) == ("4", "2")
    assert int(lines["later"]["pairs"]) < int(lines["all"]["pairs"])


def lines_of(record: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    with record.open(encoding="utf-8", newline="") as file:
        return {(line["population"], line["estimator"], line["size_class"]): line for line in csv.DictReader(file)}


@pytest.mark.parametrize("record", [RECORD, HELD_OUT])
def test_the_joint_model_errs_less_than_the_best_word(record: Path) -> None:
    """Priors were chosen on the draws of the first record; those of the second had no part in it.

    Coverage is that of large populations; a small subgroup hardly ever is one of 500 in the population.
    """
    lines = lines_of(record)
    joint, reference = lines["all", "confusion (bayesian)", "all"], lines["all", "crossed_effects (bayesian)", "all"]
    assert float(joint["mae"]) < 1 - 5 * float(joint["mae_se"])
    assert float(joint["interval_score"]) < float(reference["interval_score"])
    assert 0.94 <= float(joint["coverage"]) <= 0.97
    populations = {population for population, _, _ in lines if not population.startswith("all")}
    assert len(populations) == (8 if record is RECORD else 2)
    assert max(float(lines[name, "confusion (bayesian)", "all"]["mae"]) for name in populations) <= 1.02
    assert min(float(lines[name, "confusion (bayesian)", "all"]["coverage"]) for name in populations) >= 0.93


@pytest.mark.parametrize("record", [RECORD, HELD_OUT])
@pytest.mark.xfail(reason="errors are .905 and .918 of those of today's CrossedEffects, interval scores .972 and .954")
def test_the_joint_model_errs_a_tenth_less(record: Path) -> None:
    """What it was held to beside the first priors of `CrossedEffects`."""
    lines = lines_of(record)
    joint, reference = lines["all", "confusion (bayesian)", "all"], lines["all", "crossed_effects (bayesian)", "all"]
    assert float(joint["mae"]) <= 0.9
    assert float(joint["interval_score"]) < 0.95 * float(reference["interval_score"])


@pytest.mark.xfail(reason="99.0 %: small subgroups of 500 in the population are few, and their coverage says little")
def test_small_subgroups_are_covered_as_often_as_intervals_say() -> None:
    assert 0.93 <= float(lines_of(RECORD)["all", "confusion (bayesian)", "small"]["coverage"]) <= 0.97


def test_small_subgroups_of_the_other_draws_are_covered() -> None:
    assert 0.93 <= float(lines_of(HELD_OUT)["all", "confusion (bayesian)", "small"]["coverage"]) <= 0.97


@pytest.mark.record
@pytest.mark.parametrize(
    ("record", "first", "last", "names"),
    [
        (RECORD, 0, 5, ("standard", "js", "eb_morris", "crossed_effects")),
        pytest.param(HELD_OUT, 5, 20, ("suremap", "crossed_effects", "confusion"), marks=pytest.mark.slow),
    ],
)
def test_lines_of_a_population_can_be_made_again(record: Path, first: int, last: int, names: tuple[str, ...]) -> None:
    """Those of the admissions in all draws; a pair may change sides of a limit where draws are rounded otherwise."""
    (diabetes,) = [
        each
        for each in joint_populations(public_data("adult", "compas", "diabetes"), fewest=MIN_ROWS_WITH_TRUTH)
        if each.name == "diabetes"
    ]
    answers = study(diabetes, {name: competitors()[name] for name in names}, draws=last, seed=SEED)
    lines = summarise({diabetes.name: answers.isel(draw=slice(first, None))})
    kept = [asdict(line) for line in lines if line.population == diabetes.name]
    assert len(kept) == 5 * 3
    assert_remade(record, kept, ["population", "estimator", "size_class"], tolerance=5e-3)


def test_the_page_has_the_numbers_of_its_records() -> None:
    made = joint_page.numbers(joint_page.read(RECORD)) | joint_page.held_out(joint_page.read(HELD_OUT))
    made |= joint_page.ceiling(joint_page.read(CEILING))
    assert blocks((PAGES / "joint_model.md").read_text("utf-8")) == made


def test_a_command_fills_the_blocks_of_its_record_and_no_other(tmp_path: Path) -> None:
    page = tmp_path / "joint_model.md"
    page.write_text((PAGES / "joint_model.md").read_text("utf-8"), encoding="utf-8")
    before = blocks(page.read_text("utf-8"))
    joint_page.main(["--record", str(HELD_OUT), "--output", str(page), "--held-out"])
    joint_page.main(["--record", str(CEILING), "--output", str(page), "--ceiling"])
    assert blocks(page.read_text("utf-8")) == before
    with pytest.raises(bg.InputError, match=r"the record has no line of 'confusion_by_outcome'"):
        joint_page.main(["--record", str(HELD_OUT), "--output", str(page)])


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


def test_no_word_that_sees_one_metric_errs_less_in_any_population() -> None:
    lines = lines_of(RECORD)
    words = {estimator for _, estimator, _ in lines if not estimator.startswith("confusion")}
    assert {
        "standard",
        "js",
        "eb_plug_in",
        "eb_morris",
        "eb_ml",
        "sr",
        "suremap",
        "crossed_effects (bayesian)",
    } <= words
    for population in {population for population, _, _ in lines if not population.startswith("all")}:
        best = min(float(lines[population, word, "all"]["mae"]) for word in words)
        assert float(lines[population, "confusion (bayesian)", "all"]["mae"]) < best


def test_every_ingredient_is_switched_off_in_turn() -> None:
    lines = lines_of(RECORD)

    def error(estimator: str, population: str = "all") -> float:
        return float(lines[population, estimator, "all"]["mae"])

    joint = error("confusion (bayesian)")
    assert joint <= 0.8 * error("suremap")
    assert error("confusion_by_outcome") > 1.1 * joint
    assert error("confusion_not_following (bayesian)") > 1.03 * joint
    assert error("confusion_scores (bayesian)") > joint
    for metric in ("sel", "acc", "fnr", "fpr", "ppv"):
        assert error("confusion (bayesian)", f"all, {metric}") < 1
