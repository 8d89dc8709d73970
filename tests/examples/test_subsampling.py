"""The study of subsamples on a small made-up table, and the public tables it is about."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.intersectionality import subsampling
from examples.published.intersectionality.protected_tables import TABLES, Table, load_table, table
from examples.published.intersectionality.published_certification import LINES
from examples.published.intersectionality.subsampling import STUDIES, Point, points, study, subsampled
from tests.public_data import public_data


@cache
def made_up() -> Table:
    rng = np.random.default_rng(1)
    n = 300
    rows = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], n, p=[0.3, 0.7]), "x": rng.normal(size=n), "job": rng.choice(["a", None], n)}
    )
    rows["y"] = ((rows["x"] + rng.normal(size=n) * np.where(rows["sex"] == "f", 2.0, 0.3)) > 0).astype(int)
    return table("made up", rows.assign(same=1), ["sex"], hidden=[], y_true="y")


def test_features_are_what_trees_take() -> None:
    made = made_up()
    assert made.features == ("sex", "x", "job")  # not the outcome, nor a column without two values
    assert [str(made.rows[name].dtype) for name in made.features] == ["category", "float64", "category"]
    assert set(made.rows["job"]) == {"a", "missing"}
    many = pd.DataFrame({"sex": ["f"] * 900, "word": [str(min(i, 400)) for i in range(900)], "y": [0, 1] * 450})
    coded = table("words", many, ["sex"], hidden=[], y_true="y").rows["word"]
    assert coded.nunique() == 201
    assert "other" in set(coded)


@pytest.mark.parametrize("left_out", STUDIES)
def test_models_are_judged_in_and_out_of_fold(left_out: subsampling.LeftOut) -> None:
    seen = subsampled(made_up(), left_out, "in_sample", "wald", fractions=[1.0])
    unseen = subsampled(made_up(), left_out, "out_of_fold", "clopper_pearson", fractions=[0.5, 1.0])
    for answer in (seen, unseen):
        assert set(answer["subgroup"].values.ravel()) == {"f"}
    women = int((made_up().rows["sex"] == "f").sum())
    at = unseen.sel(fraction=0.5, statistic="worst")["count"]
    assert float(at[0]) == round(women / 2) if left_out == "critical" else float(at[0]) < women
    thirds = 3 * seen["estimate"].sel(fraction=1.0) * women
    np.testing.assert_allclose(thirds, np.round(thirds), atol=1e-9)
    assert (seen["estimate"] > unseen["estimate"].sel(fraction=[1.0])).all()


def test_lines_of_an_answer() -> None:
    lines = points(
        "made up", subsampled(made_up(), "critical", "out_of_fold", "clopper_pearson", fractions=[0.2], repeats=2)
    )
    assert len(lines) == 3 * 2
    assert {(line.left_out, line.judged, line.interval, line.groups) for line in lines} == {
        ("critical", "out_of_fold", "clopper_pearson", 2)
    }
    assert [(line.statistic, line.repeat) for line in lines][:2] == [("worst", 0), ("worst", 1)]


def test_a_loss_is_judged_once_and_decisions_twice() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"sex": ["f"] * 50 + ["m"] * 50, "wer": np.r_[rng.gamma(2, 0.1, 50), rng.gamma(8, 0.1, 50)]})
    lines = study(table("loss", rows, ["sex"], loss="wer"), fractions=[0.5, 1.0])
    assert len(lines) == 2 * 3 * len(STUDIES)
    whole = {line.statistic: line for line in lines if line.left_out == "all" and line.fraction == 1.0}
    assert {line.subgroup for line in whole.values()} == {"m"}
    assert whole["optimist"].value < whole["worst"].value < whole["pessimist"].value
    assert whole["worst"].value == pytest.approx(rows["wer"][50:].mean())
    decided = pd.DataFrame({"sex": ["f"] * 50 + ["m"] * 50, "y": [0, 1] * 50, "guess": 1})
    lines = study(table("decided", decided, ["sex"], y_true="y", y_pred="guess"), fractions=[1.0])
    assert {(line.judged, line.interval) for line in lines} == {("given", "wald"), ("given", "clopper_pearson")}


def test_the_record_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(name: str, data: Path) -> Table:
        asked.append(name)
        return made_up()

    def quick(made: Table, *, repeats: int, seed: int) -> list[Point]:
        return [Point(asked[-1], "all", "given", "wald", "worst", 1.0, 0, "f", 3, 2, 0.5, float("nan"))]

    monkeypatch.setattr(subsampling, "load_table", load)
    monkeypatch.setattr(subsampling, "study", quick)
    path = tmp_path / "record.csv"
    subsampling.main(["--data", ".", "--output", str(path), "--tables", "compas"])
    subsampling.main(["--data", ".", "--output", str(path), "--tables", "compas", "adult"])
    assert asked == ["compas", "adult"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["table", "adult", "compas"]
    assert [point.table for point in subsampling.read_points(path)] == ["adult", "compas"]


def test_tables_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'german'; there are adult, compas"):
        load_table("german", tmp_path)
    with pytest.raises(InputError, match="the census of 1994 in the form of the UCI archive"):
        load_table("adult", tmp_path)


def test_critical_subgroups_have_the_published_rows() -> None:
    """Of the 54 printed sizes those of Adult and COMPAS can be counted: both files, and defendants scored within 30 days."""
    data = public_data("adult", "compas")
    printed = {line.name: line for line in LINES}
    adult, compas = load_table("adult", data).rows, load_table("compas", data).rows
    sizes = adult.groupby(["race", "sex", "decade"], observed=True).size()
    assert sizes["White", "Male", "50s"] == printed["adult"].optimist.rows == 4256
    assert sizes["Other", "Male", "60s"] == printed["adult"].pessimist.rows == 10
    sizes = compas.groupby(["race", "sex", "age_band"], observed=True).size()
    assert sizes["African-American", "Male", "25-45"] == printed["compas"].optimist.rows == 1563
    assert sizes["Native American", "Male", "25-45"] == printed["compas"].pessimist.rows == 6


@pytest.mark.parametrize("name", ["compas_deciles", "judgements", "bios", "adult_scored"])
def test_systems_that_are_there(name: str) -> None:
    made = TABLES[name](public_data("adult", "compas", "dressel_farid", "bios_pfc"))
    expected = {"compas_deciles": 0.661, "judgements": 0.621, "bios": 0.816, "adult_scored": 0.873}
    right = made.rows[made.columns["y_true"]] == made.rows[made.columns["y_pred"]]
    assert float(right.mean()) == pytest.approx(expected[name], abs=0.003)
    assert made.features == ()
