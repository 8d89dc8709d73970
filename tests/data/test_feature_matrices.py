"""Features of subgroups: columns, names, scales, and what is done about subgroups without rows."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.features import FeatureMatrix, feature_matrix, subgroup_frame
from bayesgroups.errors import InputError


def rows(number: int = 400, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = pd.Categorical.from_codes(rng.integers(0, 3, number), ["Black", "Asian", "white"])
    age = pd.Categorical.from_codes(rng.integers(0, 4, number), ["20-39", "40-59", "60-79", "80-99"])
    return pd.DataFrame({
        "race": race, "age": age, "loss": rng.random(number), "number inpatient": rng.poisson(1.0, number),
        "readmitted": rng.random(number) < 0.3,
    })  # fmt: skip


def tally_of(frame: pd.DataFrame, features: list[str] | None = None) -> xr.Dataset:
    chosen = ["number inpatient", "readmitted"] if features is None else features
    return bg.tally(frame, by=["race", "age"], metrics=["mean"], loss="loss", features=chosen)


def block(found: FeatureMatrix, kind: str) -> np.ndarray:
    return found.values[:, [one == kind for one in found.kind]]


def test_the_frame_has_levels_means_and_rows() -> None:
    frame = rows()
    found = subgroup_frame(tally_of(frame))
    assert list(found.columns) == ["race", "age", "number inpatient", "readmitted", "rows"]
    assert found["race"].cat.categories.tolist() == ["Black", "Asian", "white"]
    expected = frame.groupby(["race", "age"], observed=False)[["number inpatient", "readmitted"]].mean()
    np.testing.assert_allclose(found[["number inpatient", "readmitted"]], expected)
    assert found["rows"].sum() == len(frame)
    assert found.index.name == "subgroup"
    assert found.index[0] == "Black | 20-39"


def test_without_a_formula_there_is_everything() -> None:
    found = feature_matrix(tally_of(rows()))
    assert found.values.shape == (12, 3 + 4 + 12 + 2)
    assert found.kind == ("attribute",) * 7 + ("identity",) * 12 + ("explanatory",) * 2
    assert found.names[:4] == ("race[Black]", "race[Asian]", "race[white]", "age[20-39]")
    assert found.names[7] == "subgroup[Black | 20-39]"
    assert found.names[-2:] == ("number inpatient", "readmitted")
    assert (block(found, "attribute").sum(axis=1) == 2).all()
    np.testing.assert_array_equal(block(found, "identity"), np.eye(12))
    assert feature_matrix(tally_of(rows()), identities=False).values.shape == (12, 9)
    assert feature_matrix(tally_of(rows(), []), identities=False).values.shape == (12, 7)


def test_explanatory_columns_are_standardised_by_rows() -> None:
    tally = tally_of(rows())
    weight = tally["rows"].values
    columns = block(feature_matrix(tally), "explanatory")
    np.testing.assert_allclose(np.average(columns, axis=0, weights=weight), 0, atol=1e-12)
    np.testing.assert_allclose(np.average(columns**2, axis=0, weights=weight), 1)


def test_outcome_rates_are_features_whatever_their_type() -> None:
    frame = rows()
    whole = feature_matrix(tally_of(frame))
    for kind in (int, float):
        other = feature_matrix(tally_of(frame.assign(readmitted=frame["readmitted"].astype(kind))))
        np.testing.assert_allclose(other.values, whole.values)
    both = frame.assign(stayed=~frame["readmitted"])
    pair = block(feature_matrix(tally_of(both, ["readmitted", "stayed"])), "explanatory")
    np.testing.assert_allclose(pair[:, 0], -pair[:, 1])


def test_interactions_are_products_of_columns() -> None:
    tally = tally_of(rows())
    found = feature_matrix(tally, "race + `number inpatient` + race:age + readmitted:age", identities=False)
    plain = feature_matrix(tally, identities=False)
    assert found.values.shape == (12, 3 + 1 + 12 + 4)
    assert found.kind == ("attribute",) * 3 + ("explanatory",) + ("interaction",) * 16
    assert found.names[4] == "race[Black]:age[20-39]"
    assert found.names[-1] == "readmitted:age[80-99]"
    column = dict(zip(plain.names, plain.values.T, strict=True))
    np.testing.assert_array_equal(found.values[:, -1], column["readmitted"] * column["age[80-99]"])


def test_the_intercept_alone_has_no_columns() -> None:
    assert feature_matrix(tally_of(rows()), "1", identities=False).values.shape == (12, 0)
    assert feature_matrix(tally_of(rows()), "1").kind == ("identity",) * 12


def test_empty_subgroups_take_features_from_those_most_like_them() -> None:
    frame = rows()
    frame = frame[~((frame["race"] == "Asian") & (frame["age"] == "40-59"))]
    tally = tally_of(frame)
    assert np.isnan(subgroup_frame(tally).loc["Asian | 40-59", "readmitted"])
    near = frame[(frame["race"] == "Asian") | (frame["age"] == "40-59")]
    mean, weight = tally["feature_mean"].sel(feature="readmitted").values, tally["rows"].values
    centre = np.average(mean[weight > 0], weights=weight[weight > 0])
    spread = np.sqrt(np.average((mean[weight > 0] - centre) ** 2, weights=weight[weight > 0]))
    found = feature_matrix(tally)
    value = found.values[tally["subgroup"].values.tolist().index("Asian | 40-59"), found.names.index("readmitted")]
    np.testing.assert_allclose(value, (near["readmitted"].mean() - centre) / spread)


def test_constant_columns_are_left_out() -> None:
    frame = rows().assign(flat=1e6 / 3, race="white")
    found = feature_matrix(tally_of(frame, ["flat", "readmitted"]), "race + age + flat + readmitted + flat:age")
    assert found.names[:4] == ("age[20-39]", "age[40-59]", "age[60-79]", "age[80-99]")
    assert not [name for name in found.names if "flat" in name or "race" in name]


def test_published_tables_have_features_too() -> None:
    subgroups = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
    estimates = bg.tally_from_estimates([0.1, 0.2, 0.3, 0.4], [0.01] * 4, subgroups)
    assert feature_matrix(estimates).kind == ("attribute",) * 4 + ("identity",) * 4
    features = xr.DataArray([[1.0], [2.0], [3.0], [np.nan]], dims=("subgroup", "feature"), coords={"feature": ["x"]})
    found = feature_matrix(estimates.assign(feature_mean=features), "x", identities=False)
    expected = np.array([1, 2, 3, 2.5])
    np.testing.assert_allclose(found.values[:, 0], (expected - expected.mean()) / expected.std())
    nothing = feature_matrix(estimates.assign(feature_mean=features * np.nan), "x", identities=False)
    assert nothing.values.shape == (4, 0)


def test_rows_can_be_a_feature_and_no_rows_at_all_are_none() -> None:
    tally = tally_of(rows())
    assert feature_matrix(tally, "rows", identities=False).kind == ("explanatory",)
    subgroups = pd.DataFrame({"site": ["a", "b"]})
    nothing = bg.tally_from_counts([0, 0], [0, 0], subgroups)
    assert feature_matrix(nothing, "rows", identities=False).values.shape == (2, 0)


def test_a_formula_sees_columns_only() -> None:
    with pytest.raises(InputError, match="'raec' is not a column; did you mean 'race'"):
        feature_matrix(tally_of(rows()), "raec")
    with pytest.raises(InputError, match="contains code"):
        feature_matrix(tally_of(rows()), "__import__('os')")


@pytest.mark.parametrize(("name", "match"), [("rows", "the number of rows"), ("race", "another column")])
def test_features_need_names_of_their_own(name: str, match: str) -> None:
    tally = tally_of(rows(), ["readmitted"]).assign_coords(feature=[name])
    with pytest.raises(InputError, match=match):
        subgroup_frame(tally)


def test_products_that_have_too_many_columns_are_refused_at_once() -> None:
    levels = pd.DataFrame(list(itertools.product("ab", repeat=12)), columns=[f"x{i}" for i in range(12)])
    counts = bg.tally_from_counts([3] * 4096, [9] * 4096, levels)
    with pytest.raises(
        InputError, match=r"asks for 531,440 columns for 4,096 subgroups; leave out products of many columns"
    ):
        bg.goodness_of_fit(counts, ["1", "*".join(levels)])
