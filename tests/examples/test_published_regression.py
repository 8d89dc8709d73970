"""The experiments of the structured-regression paper, on a small population of known structure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import study
from bayesgroups.studies.scores import measures
from examples.comparisons.shared_cells import SEED, populations
from examples.pages import blocks
from examples.published.structured_regression import published_regression, published_regression_page
from tests.public_data import public_data
from tests.recovery.remade import assert_same_page
from tests.studies.resumed import resumed

BY_DRAWS = ("errors, all", "errors, small", "gains", "least errors", "coverage", "mean coverage")
PAGE = Path(__file__).parents[2] / "docs" / "examples" / "regression_paper.md"


@pytest.fixture(scope="module")
def population() -> Population:
    rng = np.random.default_rng(1)
    who = pd.DataFrame(
        {"race": rng.choice(list("abc"), 4000, p=[0.7, 0.25, 0.05]), "sex": rng.choice(["f", "m"], 4000)}
    )
    chance = 0.2 + 0.3 * (who["race"] == "b")
    frame = who.assign(readmitted=rng.random(4000) < 0.3, score=(rng.random(4000) < chance).astype(float))
    return Population(
        "small", frame, {"race": ("a", "b", "c"), "sex": ("f", "m")}, ("sel", "acc"), rows=300, design="stratified", fewest=1,
        y_true="readmitted", y_score="score", threshold=0.5,
    )  # fmt: skip


def test_along_the_penalty_variance_rises_and_bias_falls(population: Population) -> None:
    curve = published_regression.penalty_curve(population, 6)
    assert set(curve["size_class"]) == {"small", "large"}
    assert np.allclose(curve["squared_bias"] + curve["variance"], curve["mse"])
    large = curve[(curve["metric"] == "sel") & (curve["size_class"] == "large")].sort_values("fraction")
    assert large["squared_bias"].iloc[-1] > 3 * large["squared_bias"].iloc[0]
    assert large["variance"].iloc[0] > 3 * large["variance"].iloc[-1]
    # Almost without a penalty the fit is the standard estimate, whose error it is measured in.
    assert large["mse"].iloc[0] == pytest.approx(1, abs=0.05)


def test_the_penalty_curve_goes_on_where_it_was(population: Population, tmp_path: Path) -> None:
    found, again = resumed(lambda run: published_regression.penalty_curve(population, 2, executor=run), tmp_path)
    pd.testing.assert_frame_equal(found, again, check_exact=True)


def test_synthetic_populations_have_means_of_known_structure(population: Population) -> None:
    rng = np.random.default_rng(2)
    people = pd.DataFrame(
        {"race": rng.choice(["Caucasian", "Other"], 6000), "age": rng.choice(["20-39", "40-59"], 6000)}
    )
    people["number_diagnoses"] = rng.poisson(7, 6000)
    base = replace(
        population,
        frame=people.assign(score=0.0, readmitted=0),
        by={name: tuple(sorted(set(people[name]))) for name in ("race", "age")},
    )
    made = {one.name: one for one in published_regression.synthetic_populations(base, people)}
    assert list(made) == [f"synthetic {model}" for model in published_regression.SYNTHETIC]
    truth = made["synthetic age"].truth().isel(metric=0)
    assert truth.values == pytest.approx(np.where(truth["age"] == "40-59", 0.05, 0.35), abs=0.05)


@pytest.mark.filterwarnings("ignore:.*leave no residuals:UserWarning")
@pytest.mark.record
def test_the_page_says_what_the_tables_say(population: Population) -> None:
    found = study(population, published_regression.COMPETITORS, draws=2, seed=1)
    table = measures(found, reference="standard")
    tables = {"diabetes 2": table, "penalty": published_regression.penalty_curve(population, 2)}
    one = measures(found.isel(metric=[0]).assign_coords(metric=["value"]), reference="standard")
    tables |= dict.fromkeys(published_regression.SYNTHETIC, one)
    made = published_regression_page.numbers(tables, [2])
    standard = float(pd.to_numeric(table["mae"]).loc[("sel", "standard", "all")])
    assert f"| sel | {standard:.4f} ± " in made["errors, all, 2 draws"]
    best = min(
        published_regression.POINT, key=lambda name: float(pd.to_numeric(one["mae"]).loc[("value", name, "all")])
    )
    assert f"age: {best}, expl: {best}" in made["least synthetic errors"]


def test_the_page_has_a_block_for_every_number() -> None:
    shown = set(blocks(PAGE.read_text(encoding="utf-8")))
    by_draws = {f"{name}, {number} draws" for name in BY_DRAWS for number in published_regression.DRAWS}
    assert shown == by_draws | {"penalty", "least sums", "synthetic errors", "least synthetic errors"}


@pytest.mark.record
def test_the_command_makes_columns_of_the_page() -> None:
    """Errors of three estimators over 20 draws, with their Monte Carlo errors."""
    diabetes = populations(public_data("diabetes", "adult", "asr_commonvoice"))[0]
    chosen = ("standard", "James-Stein", "empirical Bayes")
    competitors = {name: published_regression.COMPETITORS[name] for name in chosen}
    table = measures(study(diabetes, competitors, draws=20, seed=SEED), reference="standard")
    sections = (
        PAGE.read_text(encoding="utf-8").split("## Errors, 20 draws")[1].split("\n## ")[0].split("Small subgroups:")
    )
    for section, size in zip(sections[:2], ("all", "small"), strict=True):
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
        kept = {row[0]: row[1:4] for row in rows if row[0] in diabetes.metric_names}
        assert len(kept) == 6
        for metric, cells in kept.items():
            lines = [table.loc[(metric, name, size)] for name in chosen]
            assert_same_page(" ".join(f"{line['mae']:.4f} ± {line['mae_se']:.4f}" for line in lines), " ".join(cells))
