"""From judgements to counts: what is counted, kept and refused."""

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

ROWS = pd.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", "m", "m"],
        "said": ["a", "b", "c", "a", "a", "b", "c"],
        "disagrees": [0, 1, 0, 0, 1, 1, 1],
        "critic": [1, 2, 10, 1, 1, 2, 10],
        "trade": ["law", "law", "art", "law", "law", "law", "art"],
        "case": ["p", "q", "r", "s", "s", "t", "q"],
    }
)


def _tally(rows: object = ROWS, **options: Any) -> xr.Dataset:
    return bg.disagreement_tally(rows, options.pop("by", ["sex"]), options.pop("label", "said"), "disagrees", **options)


def test_agreements_and_disagreements_are_counted() -> None:
    found = _tally()
    assert found["label"].values.tolist() == ["a", "b", "c"]
    assert found["agreements"].values.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert found["disagreements"].values.tolist() == [[0, 1], [1, 1], [0, 1]]
    assert found["rows"].values.tolist() == [3, 4]
    assert json.loads(found.attrs["settings"])["source"] == "judgements"


def test_counts_of_critics_and_items_add_up() -> None:
    found = _tally(critic="critic", critic_group="trade", item="case")
    assert found["critic"].values.tolist() == ["1", "2", "10"]
    assert found["critic_group"].values.tolist() == ["law", "law", "art"]
    for kind in ("agreements", "disagreements"):
        xr.testing.assert_equal(
            found[f"critic_{kind}"].sum("critic").drop_vars("critic_group", errors="ignore"), found[kind]
        )
        table = np.zeros(found[kind].shape)
        np.add.at(table, (found["item_label"].values, found["item_subgroup"].values), found[f"item_{kind}"].values)
        assert table.tolist() == found[kind].values.tolist()
    assert int(found["item_index"].max()) + 1 == ROWS["case"].nunique()


def test_with_three_labels_only_definite_rates_are_metrics_with_counts() -> None:
    found = _tally()
    acc, calibrated = found.sel(metric="acc"), found.sel(metric="ppv[a]")
    assert (acc["successes"].values.tolist(), acc["count"].values.tolist()) == ([2, 1], [3, 4])
    assert (calibrated["successes"].values.tolist(), calibrated["count"].values.tolist()) == ([1, 1], [1, 2])
    for name in ("tpr[a]", "fpr[b]", "fnr[c]"):
        assert found["status"].sel(metric=name).values.tolist() == ["undefined"] * 2
        assert found["reason"].sel(metric=name).values.tolist() == ["disagreement alone gives bounds only"] * 2


def test_with_two_labels_every_metric_has_counts() -> None:
    found = _tally(ROWS[ROWS["said"] != "c"])
    # In subgroup m: agree a 1, b 0; disagree a 1 (b is meant), b 1 (a is meant).
    m = found.sel(subgroup="m")
    expected = {
        "tpr[a]": (1, 2),
        "tpr[b]": (0, 1),
        "fpr[a]": (1, 1),
        "fpr[b]": (1, 2),
        "fnr[a]": (1, 2),
        "fnr[b]": (1, 1),
    }
    for name, (successes, count) in expected.items():
        one = m.sel(metric=name)
        assert (float(one["successes"]), float(one["count"])) == (successes, count)
    assert found["larger_is_better"].sel(metric=["tpr[a]", "fpr[a]", "fnr[a]"]).values.tolist() == [1, 0, 0]
    report = bg.estimate(found, bg.NoPooling(), seed=1)
    assert report.attrs["usable"] == 1


def test_labels_can_be_declared() -> None:
    two = ROWS[ROWS["said"] != "c"]
    found = _tally(two, labels=["b", "a", "z"])
    assert found["label"].values.tolist() == ["b", "a", "z"]
    assert found["status"].sel(metric="tpr[a]").values.tolist() == ["undefined"] * 2


@pytest.mark.parametrize("kind", ["polars", "csv", "boolean", "shuffled"])
def test_every_frame_gives_the_same_tally(kind: str, tmp_path: Path) -> None:
    if kind == "csv":
        ROWS.to_csv(tmp_path / "rows.csv", index=False)
    rows: dict[str, object] = {
        "polars": pl.DataFrame(ROWS.to_dict(orient="list")),
        "csv": tmp_path / "rows.csv",
        "boolean": ROWS.assign(disagrees=ROWS["disagrees"] == 1),
        "shuffled": ROWS.sample(frac=1, random_state=3),
    }
    xr.testing.assert_equal(_tally(rows[kind], critic="critic"), _tally(critic="critic"))


def test_declared_and_missing_attributes() -> None:
    found = _tally(by={"sex": ["m", "x", "f"]})
    assert found["subgroup"].values.tolist() == ["m", "x", "f"]
    assert found["reason"].sel(metric="acc").values.tolist()[1] == "no rows"
    holes = ROWS.assign(sex=["f", None, *ROWS["sex"][2:]])
    assert _tally(holes, missing="level")["subgroup"].values.tolist() == ["(missing)", "f", "m"]
    assert _tally(holes, missing="drop")["rows"].values.tolist() == [2, 4]
    with pytest.raises(InputError, match="attribute 'sex' is missing in 1 of 7 rows"):
        _tally(holes)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"label": "sad"}, r"column 'sad' \(label=\) is not in the frame; did you mean 'said'"),
        ({"said": ["a", None, *"caabc"]}, {}, r"column 'said' \(label=\) has 1 missing value"),
        (
            {"disagrees": [0, 1, 2, 0, 1, 1, 1]},
            {},
            r"'disagrees' \(disagrees=\) must hold 1 \(disagrees\) or 0 .*row 2 has 2",
        ),
        ({"disagrees": list("0101010")}, {}, r"column 'disagrees' \(disagrees=\) must hold numbers"),
        ({"said": ["a"] * 7}, {}, "there is only the label 'a'; name all that critics can have in mind"),
        ({}, {"labels": ["a", "b"]}, r"the system gave the label 'c', which is not among labels=\['a', 'b'\]"),
        ({}, {"labels": ["a", "b", "c", "a"]}, "labels= names a label twice"),
        ({}, {"critic_group": "trade"}, "critic_group= is given without critic="),
        (
            {"trade": ["art", *ROWS["trade"][1:]]},
            {"critic": "critic", "critic_group": "trade"},
            r"critic '1' is in two groups of column 'trade' \(critic_group=\)",
        ),
        (
            {"critic_group": 1},
            {"by": ["critic_group"]},
            "attribute 'critic_group' has a name that this tally uses itself",
        ),
        ({}, {"by": []}, "by= names no column"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _tally(ROWS.assign(**change), **options)
