"""Tallies of systems on the same items: both shapes, missing answers, repetitions, parts, files and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError

LABELS = Path(__file__).parents[1] / "golden" / "labels"
RANDOM = np.random.default_rng(7)
WIDE = pd.DataFrame(
    {
        "sex": RANDOM.choice(["f", "m"], 60), "age": RANDOM.choice([18, 65], 60), "id": np.arange(60),
        "page": RANDOM.integers(0, 15, 60), "new": RANDOM.integers(0, 2, 60), "old": RANDOM.integers(0, 2, 60),
        "base": RANDOM.integers(0, 2, 60), "wer": RANDOM.random(60), "cer": RANDOM.random(60),
    }
)  # fmt: skip
WIDE["page"] = WIDE.groupby(["sex", "age"]).ngroup() * 100 + WIDE["page"]
SYSTEMS = ["new", "old", "base"]
LONG = WIDE.melt(["sex", "age", "id", "page"], SYSTEMS, var_name="model", value_name="right")


def paired(**changes: Any) -> xr.Dataset:
    return bg.paired_tally(**({"frame": WIDE, "by": ["sex", "age"], "systems": SYSTEMS} | changes))


def long(**changes: Any) -> xr.Dataset:
    given: dict[str, Any] = {"frame": LONG, "by": ["sex", "age"], "system": "model", "item": "id", "correct": "right"}
    return bg.paired_tally(**(given | changes))


def same(first: xr.Dataset, second: xr.Dataset) -> None:
    xr.testing.assert_allclose(first.drop_attrs(), second.drop_attrs(), rtol=1e-12)


def test_cells_are_counts_of_items() -> None:
    tally = paired()
    for pair in tally["pair"].values:
        first, second = (str(tally[side].sel(pair=pair).values) for side in ("first", "second"))
        for (sex, age), rows in WIDE.groupby(["sex", "age"]):
            counted = tally["pair_count"].sel(pair=pair, subgroup=f"{sex} | {age}")
            table = pd.crosstab(rows[first], rows[second]).reindex(index=[0, 1], columns=[0, 1], fill_value=0)
            np.testing.assert_array_equal(counted.transpose("first_right", "second_right").values, table.to_numpy())
    assert tally["pair_count"].sum("subgroup").equals(tally["overall_pair_count"])
    cross = tally["overall_system_cross"].transpose("system", "system_other")
    np.testing.assert_array_equal(cross.values, WIDE[SYSTEMS].T @ WIDE[SYSTEMS])


def test_both_shapes_and_every_frame_give_one_tally() -> None:
    tally = paired()
    same(tally, long(systems=SYSTEMS, frame=LONG.sample(frac=1, random_state=1)))
    same(tally, paired(frame=pl.from_pandas(WIDE).lazy()))
    same(tally, paired(systems={name: name for name in SYSTEMS}, item="id"))
    assert long()["system"].values.tolist() == ["base", "new", "old"]


def test_a_baseline_is_second_in_its_pairs() -> None:
    tally = paired(baseline="new")
    assert tally["pair"].values.tolist() == ["old - new", "base - new", "old - base"]
    assert tally["metric"].values.tolist() == [*SYSTEMS, "old - new", "base - new"]
    assert tally["larger_is_better"].values.tolist() == [1] * 5


def test_it_is_a_tally_that_is_estimated_added_up_and_saved(tmp_path: Path) -> None:
    tally = paired(systems=["new", "old"])
    part = [paired(frame=WIDE[WIDE["id"] % 2 == i], systems=["new", "old"]) for i in (0, 1)]
    total = bg.add_tallies(part)
    same(total, tally)
    by_age = [paired(frame=WIDE[WIDE["age"] == age], systems=["new", "old"]) for age in (18, 65)]
    same(bg.add_tallies(by_age), tally)
    path = bg.save_tally(total, tmp_path / "pairs.tally.nc")
    assert bg.open_tally(path).identical(total)
    assert bg.estimate(tally.isel(metric=[2]), bg.NoPooling(), seed=1)["estimates"].sizes["metric"] == 1


def test_missing_answers_leave_pairs_alone() -> None:
    holes = WIDE.assign(old=WIDE["old"].where(WIDE["id"] > 3))
    tally = paired(frame=holes)
    assert tally["overall_unmatched"].values.tolist() == [4, 0, 4]
    assert tally["overall_pair_sums"].sel(pair_statistic="items").values.tolist() == [56, 60, 56]
    assert float(tally["overall_complete"].sel(complete_statistic="items")) == 56
    assert float(tally["count"].sel(metric="new").sum()) == 60
    same(tally, long(frame=LONG[(LONG["model"] != "old") | (LONG["id"] > 3)], systems=SYSTEMS))


@pytest.mark.parametrize(("missing", "items"), [("drop", 58), ("level", 60)])
def test_missing_attributes(missing: str, items: int) -> None:
    frame = WIDE.assign(sex=WIDE["sex"].where(WIDE["id"] > 1))
    tally = paired(frame=frame, by=["sex"], missing=missing)
    assert float(tally["overall_complete"].sel(complete_statistic="items")) == items
    assert ("(missing)" in tally["subgroup"]) == (missing == "level")


def test_worked_repetitions() -> None:
    rows = pd.read_csv(LABELS / "r_epochs.csv")
    worked = json.loads((LABELS / "r_pairs.json").read_text(encoding="utf-8"))["epochs"]
    given: dict[str, Any] = {"by": ["sex"], "system": "system", "item": "item", "correct": "correct", "epoch": "epoch"}
    for epochs, mean, error in (
        ("items", worked["item_mean_difference"], worked["item_mean_se"]),
        ("rows", worked["row_mean_difference"], worked["errorbars_cluster_se"]),
    ):
        tally = bg.paired_tally(rows, **(given | {"epochs": epochs}))
        answer = bg.compare_systems(tally, overall=True).sel(approach="frequentist", subgroup="(all)").isel(pair=0)
        np.testing.assert_allclose([answer["difference"], answer["std_error"]], [mean, error], rtol=1e-7)
        assert "pair_count" not in tally
        if epochs == "items":
            np.testing.assert_allclose([answer["lower"], answer["upper"]], worked["item_mean_t_interval"], atol=1e-7)


def test_repetitions_of_both_shapes() -> None:
    rows = pd.read_csv(LABELS / "r_epochs.csv")
    wide = rows.pivot_table(index=["item", "epoch", "sex"], columns="system", values="correct").reset_index()
    for epochs in ("items", "rows"):
        given: dict[str, Any] = {"by": ["sex"], "item": "item", "epoch": "epoch", "epochs": epochs}
        first = bg.paired_tally(wide, systems=["A", "B"], **given)
        same(first, bg.paired_tally(rows, system="system", correct="correct", **given))


def test_means_and_clusters() -> None:
    tally = paired(systems=["wer", "cer"], metric="mean", cluster="page")
    assert "pair_count" not in tally
    assert tally["kind"].values.tolist() == ["mean"] * 3
    assert tally["larger_is_better"].values.tolist() == [0] * 3
    assert paired(systems=["wer", "cer"], metric="mean", larger_is_better=True)["larger_is_better"].all()
    sums = tally["overall_pair_sums"].isel(pair=0)
    by_page = (WIDE["wer"] - WIDE["cer"]).groupby(WIDE["page"]).sum()
    assert float(sums.sel(pair_statistic="squares")) == pytest.approx(float((by_page**2).sum()))
    assert float(sums.sel(pair_statistic="units")) == len(by_page)
    # The metric of the difference has the errors of clusters as well.
    answer = bg.compare_systems(tally).sel(approach="frequentist").isel(pair=0)
    np.testing.assert_allclose(
        answer["std_error"] ** 2, tally["cluster_robust_variance"].sel(metric="wer - cer").values, rtol=1e-9
    )


TWICE = pd.concat([LONG, LONG.iloc[:1]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"systems": ["new", "lod"]}, r"column 'lod' \(system 'lod'\) is not in the frame; did you mean 'old'"),
        ({"systems": ["new"]}, r"two systems or more; got \['new'\]"),
        ({"systems": ["new", "new"]}, r"systems= names 'new' twice"),
        ({"systems": "new"}, r"name the columns of the systems"),
        ({"systems": None}, r"name the columns of the systems"),
        ({"baseline": "odl"}, r"baseline='odl' is none of the systems; did you mean 'old'"),
        ({"by": ["pair"]}, r"attribute 'pair' has a name that this tally uses itself; rename the column, e\.g\. 'pair_'"),
        ({"epochs": "all"}, r"epochs='all' is not one of 'items', 'rows'"),
        ({"epoch": "page"}, r"epoch= needs the column of the items .* item="),
        ({"correct": "new"}, r"correct= and loss= are columns of the long shape"),
        ({"metric": "acc"}, r"metric='acc' is not one of 'correct', 'mean'"),
        ({"systems": ["new", "wer"]}, r"column 'wer' must hold 1 \(right\) or 0 \(wrong\); for other scores .*; got 0\."),
        ({"systems": ["new", "sex"]}, r"column 'sex' must hold numbers; got values such as '[fm]'"),
        ({"frame": WIDE.assign(old=np.inf), "metric": "mean"}, r"column 'old' must hold finite numbers; got inf"),
        ({"frame": WIDE.assign(id=1), "item": "id"}, r"item '1' has two rows; name the column of repetitions in epoch="),
        ({"frame": WIDE.assign(id=1, page=1), "item": "id", "epoch": "page"}, r"item '1' has two rows in page '1'; leave one out"),
        ({"frame": WIDE.assign(id=1), "item": "id", "epoch": "wer"}, r"item '1' has two values of column '(sex|age)'"),
        ({"frame": WIDE.assign(old=np.nan)}, r"systems 'new' and 'old' share no item"),
        (
            {"frame": WIDE.assign(**{"a - b": 0, "a": 1, "b": 0}), "systems": ["a - b", "a", "b"]},
            r"systems have names that make 'a - b' twice",
        ),
    ],
)  # fmt: skip
def test_bad_input(given: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        paired(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"item": None}, r"name the item in item="),
        ({"loss": "right"}, r"name the item in item=, its value in correct= or loss= \(one of them\)"),
        ({"systems": {"new": "new"}}, r"give systems= no columns"),
        ({"systems": ["new", "lod"]}, r"column 'model' has no system 'lod'; did you mean 'old'"),
        ({"frame": TWICE}, r"item '0' has two rows of system 'new'; name the column of repetitions in epoch="),
        ({"frame": LONG.assign(model=None)}, r"column 'model' \(system=\) has missing values"),
        ({"frame": LONG.assign(id=None)}, r"column 'id' \(item=\) .*missing"),
        ({"frame": LONG.assign(age=LONG.index)}, r"item '0' has two values of column 'age': '0' and '60'; an item is of one"),
        ({"frame": LONG.assign(c=LONG.index), "cluster": "c"}, r"item '0' has two values of column 'c'"),
    ],
)  # fmt: skip
def test_bad_input_of_the_long_shape(given: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        long(**given)


def test_tallies_of_systems_that_do_not_add_up() -> None:
    two = paired(systems=["new", "old"])
    plain = two.drop_dims(["pair", "system"])
    with pytest.raises(bg.InputError, match="tallies are of different systems"):
        bg.add_tallies([two, plain])
    with pytest.raises(bg.InputError, match="one tally of systems has items that are right or wrong"):
        bg.add_tallies([two, two.drop_vars(["pair_count", "overall_pair_count"])])
    clustered = paired(systems=["new", "old"], cluster="page")
    with pytest.raises(bg.InputError, match=r"cluster '\d+' is in two of the tallies"):
        bg.add_tallies([clustered, clustered])


DECIDED = pd.DataFrame(
    {
        "site": list("aaaaaabbbb"), "y": [1, 1, 1, 1, 0, 0, 1, 1, 0, 0],
        "new": [1, 1, 1, 0, 0, 1, 1, 0, 1, 0], "old": [0, 1, 0, 0, 1, 0, 1, 1, 0, 0],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "first", "larger"),
    [
        ("sel", [4 / 6, 2 / 4], True),
        ("tpr", [3 / 4, 1 / 2], True),
        ("fnr", [1 / 4, 1 / 2], False),
        ("fpr", [1 / 2, 1 / 2], False),
        ("tnr", [1 / 2, 1 / 2], True),
    ],
)
def test_rates_of_decisions_count_the_rows_of_their_outcome(metric: Any, first: list[float], larger: bool) -> None:
    outcome = None if metric == "sel" else "y"
    tally = bg.paired_tally(DECIDED, ["site"], ["new", "old"], metric=metric, y_true=outcome)
    assert tally["estimate"].sel(metric="new").values.tolist() == first
    assert bool(tally["larger_is_better"].sel(metric="new")) is larger
    plain = bg.tally(DECIDED, ["site"], metric, y_true="y", y_pred="old")
    np.testing.assert_array_equal(tally["successes"].sel(metric="old"), plain["successes"].values[0])
    np.testing.assert_array_equal(tally["count"].sel(metric="old"), plain["count"].values[0])


def test_false_negatives_of_two_systems_are_mcnemars_table_of_the_positives() -> None:
    tally = bg.paired_tally(DECIDED, ["site"], ["new", "old"], metric="fnr", y_true="y")
    cells = tally["pair_count"].sel(pair="new - old", subgroup="a")
    assert cells.sel(first_right=0, second_right=1).item() == 2  # found by the new system, missed by the old one
    positives = DECIDED.loc[DECIDED["y"] == 1, ["site", "new", "old"]]
    found = bg.paired_tally(positives, ["site"], ["new", "old"])
    answer, mirrored = (bg.compare_systems(each, pooling="none", overall=True, seed=1) for each in (tally, found))
    reference = {"approach": "frequentist"}
    np.testing.assert_allclose(answer["difference"].sel(reference), -mirrored["difference"].sel(reference), atol=1e-12)
    np.testing.assert_array_equal(answer["p_value"], mirrored["p_value"])
    better = [each["probability_better"].sel(approach="bayesian").values for each in (answer, mirrored)]
    np.testing.assert_allclose(better[0], better[1], atol=0.03)


def test_a_subgroup_without_positives_is_undefined_with_its_reason() -> None:
    rows = DECIDED.assign(y=lambda frame: frame["y"].where(frame["site"] == "a", 0))
    tally = bg.paired_tally(rows, ["site"], ["new", "old"], metric="fnr", y_true="y")
    answer = bg.compare_systems(tally, seed=1).sel(subgroup="b", approach="frequentist").isel(pair=0)
    assert str(answer["status"].values) == "undefined"
    assert "no item that both systems have" in str(answer["reason"].values)


def test_rates_of_decisions_are_refused_without_what_they_need() -> None:
    def paired(frame: pd.DataFrame = DECIDED, **more: Any) -> xr.Dataset:
        return bg.paired_tally(frame, ["site"], ["new", "old"], **more)

    with pytest.raises(InputError, match="metric='fnr' counts rows by their outcome; name its column in y_true="):
        paired(metric="fnr")
    with pytest.raises(InputError, match="metric='sel' needs no outcome; leave y_true= out"):
        paired(metric="sel", y_true="y")
    with pytest.raises(InputError, match="metric='ppv' is not one of 'correct', 'mean', 'sel'"):
        paired(metric="ppv", y_true="y")
    with pytest.raises(InputError, match=r"column 'label' \(y_true=\) is not in the frame"):
        paired(metric="fnr", y_true="label")
    with pytest.raises(InputError, match=r"column 'y' \(y_true=\) has missing values; every row must have its outcome"):
        paired(DECIDED.assign(y=DECIDED["y"].where(DECIDED.index > 0)), metric="fnr", y_true="y")
    with pytest.raises(InputError, match="rates of decisions need a row per item and a column per system"):
        bg.paired_tally(DECIDED, ["site"], system="new", item="old", correct="y", metric="fnr")
    kinds = [paired(metric=metric, y_true="y") for metric in ("fnr", "fpr")]
    with pytest.raises(InputError, match="tallies of systems are of different rates"):
        bg.add_tallies(kinds)
