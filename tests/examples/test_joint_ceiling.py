"""The joint model with known standard deviations: its limits, the populations they are known from, and the record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.inference.collapsed.confusion import sample
from examples.comparisons import joint_ceiling, joint_page
from examples.comparisons.joint_ceiling import knowing
from examples.comparisons.joint_populations import JointPopulation, joint_populations
from tests.public_data import public_data

RECORD = Path(__file__).parents[2] / "docs" / "examples" / "joint_ceiling.csv"
METRICS = ("sel", "acc", "fnr", "ppv")


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"race": rng.choice(["a", "b", "c"], 900), "sex": rng.choice(["f", "m"], 900)})
    frame["y"] = (rng.random(900) < np.where(frame["race"] == "a", 0.2, 0.5)).astype(int)
    frame["d"] = (rng.random(900) < np.where(frame["y"] == 1, 0.7, 0.2)).astype(int)
    return frame


@pytest.fixture(scope="module")
def tally() -> xr.Dataset:
    return bg.tally(people(), ["race", "sex"], METRICS, y_true="y", y_pred="d", confusion=True)


@pytest.mark.parametrize("follow_selection", [True, False])
def test_huge_standard_deviations_leave_subgroups_alone_and_tiny_ones_pool_them(
    tally: xr.Dataset, follow_selection: bool
) -> None:
    alone, pooled = (
        sample(tally, seed=1, follow_selection=follow_selection, component_sd=np.full((3, 3), sd)).draws["mu"]
        for sd in (5.0, 1e-3)
    )
    assert alone.mean(("chain", "draw")).values == pytest.approx(tally["estimate"].values, abs=0.03)
    cells = tally["cell_count"].sum("subgroup").values
    overall = [
        cells[:, 1].sum() / cells.sum(),
        np.trace(cells) / cells.sum(),
        cells[1, 0] / cells[1].sum(),
        cells[1, 1] / cells[:, 1].sum(),
    ]
    assert pooled.mean(("chain", "draw")).values == pytest.approx(np.tile(overall, (6, 1)).T, abs=0.02)


def test_known_standard_deviations_are_kept(tally: xr.Dataset) -> None:
    known = np.array([[0.3, 0.1, 0.05], [0.1, 0.2, 0.05], [0.2, 0.1, 0.1]])
    posterior = sample(tally, seed=1, component_sd=known)
    assert all(check.passed for check in posterior.checks)
    learned = posterior.draws["factor_sd"].mean(("chain", "draw")).transpose("factor", "component").values
    assert learned == pytest.approx(known[:, :2], rel=1e-6)
    with pytest.raises(ValueError, match=r"component_sd must have 3 rows, as sel, .* of 3 numbers, as race, sex"):
        sample(tally, seed=1, component_sd=known[:, :2])


@pytest.mark.record
def test_a_population_makes_its_components_known() -> None:
    population = JointPopulation(
        "people", people(), {"race": ("a", "b", "c"), "sex": ("f", "m")}, METRICS, rows=60, design="independent", y_true="y",
        y_score="d", threshold=0.5,
    )  # fmt: skip
    known = knowing(population, follow_selection=True, seed=1)
    assert np.shape(known.component_sd) == (3, 3)
    assert known.component_sd[0][0] > known.component_sd[0][1], "races differ and sexes do not"
    report = bg.estimate(population.draw(0, seed=1).tally, known, seed=1)
    assert report["posterior"]["factor_sd"].std(("chain", "draw")).max() < 1e-9
    with pytest.raises(bg.InputError, match="known standard deviations are for the exact engine"):
        known.model(population.draw(0, seed=1).tally)


def test_knowing_the_components_is_worth_less_than_the_bar() -> None:
    """.84 of the errors of `CrossedEffects` is not to be had on these populations by learning components better."""
    lines = joint_page.read(RECORD)
    known, not_following, joint = (
        float(lines["all", f"{name} (bayesian)", "all"]["mae"])
        for name in ("known_components", "known_components_not_following", "confusion")
    )
    assert known < joint < not_following
    assert known > 0.84


@pytest.mark.record
def test_lines_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the admissions; a pair may change sides of a limit where draws are rounded otherwise."""
    populations = joint_populations(public_data("adult", "compas", "diabetes"), fewest=40)
    monkeypatch.setattr(joint_ceiling, "joint_populations", lambda folder, fewest: populations[:1])
    given = ["--data", "data", "--output", str(tmp_path), "--share", "0.25", "--record", str(tmp_path / "made.csv")]
    joint_ceiling.main(given)
    made, kept = joint_page.read(tmp_path / "made.csv"), joint_page.read(RECORD)
    lines = [key for key in made if key[0] == "diabetes"]
    assert len(lines) == 4 * 3
    for key in lines:
        for column in ("mae", "interval_score", "coverage"):
            assert float(made[key][column] or "nan") == pytest.approx(
                float(kept[key][column] or "nan"), abs=5e-3, nan_ok=True
            )
