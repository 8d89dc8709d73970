"""The study of subsamples on a small made-up table, and what it is made of."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.intersectionality import subsampling
from examples.published.intersectionality.protected_tables import Table, load_table, table
from examples.published.intersectionality.subsampling import FRACTIONS, Point, describe, judge, statistics, study


@cache
def made_up() -> Table:
    rng = np.random.default_rng(1)
    n = 300
    rows = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], n, p=[0.3, 0.7]), "x": rng.normal(size=n), "job": rng.choice(["a", "b"], n)}
    )
    rows["y"] = ((rows["x"] + rng.normal(size=n) * np.where(rows["sex"] == "f", 2.0, 0.3)) > 0).astype(int)
    return table("made up", rows, ["sex"], "y", hidden=[])


@cache
def points() -> tuple[Point, ...]:
    return tuple(study(made_up(), repeats=1, seed=1))


def test_models_are_judged_in_and_out_of_fold() -> None:
    everyone = np.arange(len(made_up().value))
    judged = judge(made_up(), everyone, 1)
    assert set(np.round(3 * judged["in_sample"], 9)) <= {0.0, 1.0, 2.0, 3.0}
    assert set(judged["out_of_fold"]) <= {0.0, 1.0}
    assert judged["in_sample"].mean() > judged["out_of_fold"].mean() > 0.5
    again = judge(made_up(), everyone, 1)
    assert np.array_equal(again["out_of_fold"], judged["out_of_fold"])


def test_one_outcome_needs_no_model() -> None:
    only = np.flatnonzero(made_up().value == 1)
    assert judge(made_up(), only, 1)["out_of_fold"].mean() == 1.0


def test_rows_become_a_sample() -> None:
    sample = describe(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 0, 2]), 3)
    np.testing.assert_allclose(sample.estimate, [2 / 3, np.nan, 1.0])
    assert sample.count.tolist() == [3, 0, 1]
    assert sample.freedom == 2
    assert sample.variance[0] == pytest.approx(2 / 3 / 2 / 3)
    assert statistics(sample, "wald")["optimist"][0] == 1.0  # clipped


def test_every_value_is_asked_for_at_every_fraction() -> None:
    whole = [one for one in points() if one.study == "whole"]
    assert len(whole) == len(FRACTIONS) * 2 * 2 * 3
    critical = [one for one in points() if one.study == "critical"]
    assert len(critical) == len(FRACTIONS) * 2 * 2 * 3
    rows = {one.fraction: one.rows for one in critical if one.subgroup == "f" and one.statistic == "worst"}
    assert rows[0.1] == round(0.1 * rows[1.0])
    # With all rows the two studies say the same.
    ends = [
        {(one.accuracy, one.interval, one.statistic): one.value for one in part if one.fraction == 1.0}
        for part in (whole, critical)
    ]
    assert ends[0] == ends[1]


def test_losses_are_larger_where_worse() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"sex": ["f"] * 50 + ["m"] * 50, "wer": np.r_[rng.gamma(2, 0.1, 50), rng.gamma(8, 0.1, 50)]})
    found = study(table("loss", rows, ["sex"], "wer", hidden=None), repeats=1, seed=1)
    whole = {one.statistic: one for one in found if one.study == "whole" and one.fraction == 1.0}
    assert {one.subgroup for one in whole.values()} == {"m"}
    assert whole["optimist"].value < whole["worst"].value < whole["pessimist"].value
    assert whole["worst"].value == pytest.approx(rows["wer"][50:].mean())


def test_the_record_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(name: str, data: Path) -> Table:
        asked.append(name)
        return made_up()

    def quick(found: Table, *, repeats: int, seed: int) -> list[Point]:
        return [Point(asked[-1], "whole", "loss", "wald", "worst", 1.0, 0, "f", 3, 0.5, float("nan"))]

    monkeypatch.setattr(subsampling, "load_table", load)
    monkeypatch.setattr(subsampling, "study", quick)
    path = tmp_path / "record.csv"
    subsampling.main(["--data", ".", "--output", str(path), "--tables", "adult"])
    subsampling.main(["--data", ".", "--output", str(path), "--tables", "adult", "compas"])
    assert asked == ["adult", "compas"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["table", "adult", "compas"]


def test_tables_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'german'; there are adult, compas"):
        load_table("german", tmp_path)
    with pytest.raises(InputError, match="the census of 1994 in the form of the UCI archive"):
        load_table("adult", tmp_path)
