"""`disagreement_bounds`: dims, critics, differences between subgroups, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.tallies.disagreement_notions import NOTIONS


def _rows(labels: str, size: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(7)
    critic = random.integers(0, 12, size)
    return pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], size),
            "age": random.choice(["old", "young"], size),
            "said": random.choice(list(labels), size),
            "disagrees": random.integers(0, 2, size),
            "critic": critic,
            "trade": np.array(["law", "art", "ice"])[critic % 3],
        }
    )


def _tally(labels: str = "abc", **options: Any) -> xr.Dataset:
    return bg.disagreement_tally(
        _rows(labels), ["sex", "age"], "said", "disagrees", critic="critic", critic_group="trade", **options
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_dims_and_order(notion: Any) -> None:
    found = bg.disagreement_bounds(_tally(), notion)
    labels = ["all"] if notion == "accuracy_equality" else ["a", "b", "c"]
    assert found["label"].values.tolist() == labels
    assert found["subgroup"].values.tolist() == ["f | old", "f | young", "m | old", "m | young"]
    assert found["sex"].values.tolist() == ["f", "f", "m", "m"]
    for name in ("lower", "upper", "midpoint"):
        assert found[name].dims == ("label", "subgroup")
    assert (found["lower"] <= found["midpoint"]).all()
    assert (found["midpoint"] <= found["upper"]).all()
    assert found.attrs["form"] == "sharp"
    assert found.attrs["interval_kind"] == "bound"
    assert "erratum" not in found.attrs
    assert "erratum" in bg.disagreement_bounds(_tally(), notion, form="published").attrs


@pytest.mark.parametrize("notion", NOTIONS)
def test_two_labels_give_the_rates_of_the_tally(notion: Any) -> None:
    tally = _tally("ab")
    found = bg.disagreement_bounds(tally, notion)
    rates = tally["estimate"].values[tally["notion"].values == notion]
    np.testing.assert_allclose(found["lower"].values, rates)
    np.testing.assert_array_equal(found["lower"].values, found["upper"].values)


def test_each_critic_and_each_group_of_critics_is_the_pool_of_its_rows() -> None:
    rows, tally = _rows("abc"), _tally()
    each = bg.disagreement_bounds(tally, "equal_opportunity", critics="each")
    groups = bg.disagreement_bounds(tally, "equal_opportunity", critics="groups")
    assert each["lower"].dims == ("critic", "label", "subgroup")
    assert groups["critic_group"].values.tolist() == ["art", "ice", "law"]
    by = {"sex": ["f", "m"], "age": ["old", "young"]}
    for column, name, found in (("critic", "critic", each), ("trade", "critic_group", groups)):
        for value in found[name].values.tolist():
            part = rows[rows[column].astype(str) == value]
            alone = bg.disagreement_tally(part, by, "said", "disagrees", labels=list("abc"))
            np.testing.assert_array_equal(
                found["lower"].sel({name: value}), bg.disagreement_bounds(alone, "equal_opportunity")["lower"]
            )


def test_the_difference_between_subgroups() -> None:
    rate = bg.disagreement_bounds(_tally(), "predictive_equality")
    found = bg.disagreement_bounds(_tally(), "predictive_equality", across="subgroups")
    assert found["lower"].dims == ()
    assert float(found["upper"]) == float(found["label_upper"].max())
    widest = found.isel(label=int(found["label_upper"].argmax("label")))
    own = rate.sel(label=widest["label"])
    above, below = own.sel(subgroup=widest["above"]), own.sel(subgroup=widest["below"])
    assert float(above["upper"] - below["lower"]) == float(found["upper"])
    each = bg.disagreement_bounds(_tally(), "predictive_equality", across="subgroups", critics="each")
    assert each["upper"].dims == ("critic",)
    assert "above" not in each


def test_the_published_pair_of_a_definite_notion_is_swapped() -> None:
    for notion in ("accuracy_equality", "calibration"):
        sharp = bg.disagreement_bounds(_tally(), notion, across="subgroups")
        printed = bg.disagreement_bounds(_tally(), notion, form="published", across="subgroups")
        assert float(sharp["upper"]) == float(printed["upper"])
        assert sharp["above"].values.tolist() == printed["below"].values.tolist()
        high = bg.disagreement_bounds(_tally(), notion)["lower"].isel(label=0).idxmax("subgroup")
        assert str(sharp["above"].values[0]) == str(high.values)


def test_what_is_wrong_is_named() -> None:
    tally: Any = _tally()
    with pytest.raises(
        InputError, match="notion='equal_oportunity' is not one of .*; did you mean 'equal_opportunity'"
    ):
        bg.disagreement_bounds(tally, "equal_oportunity")  # type: ignore[arg-type]
    for name, value in (("form", "exact"), ("across", "labels"), ("critics", "all")):
        with pytest.raises(InputError, match=f"{name}='{value}' is not one of"):
            bg.disagreement_bounds(tally, "calibration", **{name: value})  # type: ignore[arg-type]
    bare = bg.disagreement_tally(_rows("abc"), ["sex"], "said", "disagrees", critic="critic")
    with pytest.raises(InputError, match="critics='groups' needs groups of critics; make the tally with critic_group="):
        bg.disagreement_bounds(bare, "calibration", critics="groups")
    bare = bg.disagreement_tally(_rows("abc"), ["sex"], "said", "disagrees")
    with pytest.raises(InputError, match="critics='each' needs counts per critic; make the tally with critic="):
        bg.disagreement_bounds(bare, "calibration", critics="each")
    ordinary = bg.tally_from_counts([1, 2], [3, 4], pd.DataFrame({"sex": ["f", "m"]}))
    with pytest.raises(
        SchemaError, match=r"holds no agreements and disagreements; make it with bg.disagreement_tally\(\)"
    ):
        bg.disagreement_bounds(ordinary, "calibration")
