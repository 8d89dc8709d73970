"""Worst subgroups as rows are left out: values by hand, models by folds, and invariances."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression

import bayesgroups as bg
from bayesgroups.errors import InputError, KeywordError


class Memory(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Rows seen in training are decided rightly, all others wrongly."""

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Memory:
        self.classes_ = np.unique(y)
        self.seen_ = dict(zip(X["id"].tolist(), y.tolist(), strict=True))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        pairs = zip(X["id"].tolist(), X["opposite"].tolist(), strict=True)
        return np.array([self.seen_.get(name, opposite) for name, opposite in pairs])


class Mean(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The mean of the outcomes that it was trained on."""

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Mean:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        return np.full(len(X), self.mean_)


@cache
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    size = 240
    frame = pd.DataFrame(
        {"site": rng.choice([3, 1, 2], size, p=[0.1, 0.4, 0.5]), "sex": rng.choice(["m", "f"], size), "id": range(size)}
    )
    frame["y"] = rng.integers(0, 2, size)
    frame["opposite"] = 1 - frame["y"]
    frame["guess"] = np.where(rng.random(size) < 0.6 + 0.1 * frame["site"], frame["y"], 1 - frame["y"])
    frame["loss"] = rng.gamma(2.0, 0.2 * frame["site"])
    return frame


def given(**settings: Any) -> xr.Dataset:
    return bg.subsampling(rows(), ["site", "sex"], y_true="y", y_pred="guess", seed=1, **settings)


@pytest.mark.parametrize("left_out", ["all", "critical"])
def test_all_rows_are_those_of_certify(left_out: Any) -> None:
    answer = given(fractions=[1.0], left_out=left_out, critical_value=1.64).isel(fraction=0, repeat=0)
    certified = bg.certify(
        bg.tally(rows(), ["site", "sex"], "acc", y_true="y", y_pred="guess"), critical_value=1.64
    ).isel(metric=0)
    for name in ("worst", "optimist", "pessimist"):
        mine = answer.sel(statistic=name)
        assert float(mine["value"]) == float(certified[name])
        assert str(mine["subgroup"].values) == str(certified[f"{name}_subgroup"].values)
        assert float(mine["count"]) == float(certified["count"].sel(subgroup=mine["subgroup"]))
    assert int(answer["groups"][0]) == 6
    assert answer.attrs["judged"] == "given"


def test_rows_of_the_critical_subgroup_alone_are_left_out() -> None:
    answer = given(left_out="critical", fractions=[0.2, 0.5, 1.0], repeats=2)
    whole = answer.sel(fraction=1.0)
    assert (answer["subgroup"] == whole["subgroup"].isel(repeat=0)).all()
    np.testing.assert_array_equal(
        answer["count"], np.round(whole["count"].values[:, None] * answer["fraction"].values[:, None])
    )
    site, sex = str(whole["subgroup"].values[0, 0]).split(" | ")
    members = rows()[(rows()["site"] == int(site)) & (rows()["sex"] == sex)]
    at = answer.sel(statistic="worst", fraction=0.5, repeat=0)
    order = [i for i in np.random.default_rng([1, 0]).permutation(len(rows())) if i in members.index]
    some = members.loc[order[: round(0.5 * len(order))]]
    assert float(at["value"]) == pytest.approx((some["y"] == some["guess"]).mean())


def test_values_depend_on_neither_other_fractions_nor_repeats() -> None:
    whole, part = given(fractions=[0.2, 0.5], repeats=3), given(fractions=[0.5], repeats=2)
    xr.testing.assert_identical(whole.sel(fraction=[0.5], repeat=[0, 1]), part)
    assert (whole["value"].std("repeat").sel(fraction=0.5) > 0).any()


def test_levels_of_numbers_and_names_of_subgroups() -> None:
    renamed = rows().assign(site=rows()["site"].map({1: "a", 2: "b", 3: "c"}))
    asked: dict[str, Any] = {"left_out": "critical", "fractions": [0.3]}
    answer = bg.subsampling(renamed, ["site", "sex"], y_true="y", y_pred="guess", seed=1, **asked)
    np.testing.assert_array_equal(answer["value"], given(**asked)["value"])


def test_the_index_of_the_frame_is_not_read() -> None:
    asked: dict[str, Any] = {"y_true": "y", "model": Memory(), "features": ["id", "opposite"], "seed": 1}
    asked |= {"fractions": np.array([0.3, 1.0]), "judged": "in_sample"}
    again = bg.subsampling(rows().set_axis([0] * len(rows())), ["site"], **asked)
    xr.testing.assert_identical(again, bg.subsampling(rows(), ["site"], **asked))


def test_a_larger_loss_is_worse() -> None:
    answer = bg.subsampling(rows(), ["site"], "mean", loss="loss", fractions=[1.0], seed=1).isel(fraction=0, repeat=0)
    value = dict(zip(answer["statistic"].values.tolist(), answer["value"].values.tolist(), strict=True))
    assert value["worst"] == pytest.approx(rows().groupby("site")["loss"].mean().max())
    assert value["optimist"] < value["worst"] < value["pessimist"]
    turned = bg.subsampling(rows(), ["site"], "mean", loss="loss", fractions=[1.0], larger_is_better=True, seed=1)
    assert float(turned["value"][0, 0, 0]) == pytest.approx(rows().groupby("site")["loss"].mean().min())


def test_rows_are_judged_by_the_model_that_has_not_seen_them() -> None:
    asked: dict[str, Any] = {
        "y_true": "y",
        "model": Memory(),
        "features": ["id", "opposite"],
        "fractions": [0.5, 1.0],
        "seed": 1,
    }
    unseen = bg.subsampling(rows(), ["sex"], folds=4, **asked)
    assert (unseen["estimate"] == 0).all()
    seen = bg.subsampling(rows(), ["sex"], folds=4, judged="in_sample", interval="wald", critical_value=1.64, **asked)
    np.testing.assert_allclose(seen["estimate"], 0.75)  # three of four models have seen a row
    count = seen["count"].sel(statistic="pessimist", fraction=1.0)
    assert float(count[0]) in rows()["sex"].value_counts().tolist()  # rows, not decisions
    np.testing.assert_allclose(
        seen["value"].sel(statistic="pessimist", fraction=1.0), 0.75 - 1.64 * np.sqrt(0.1875 / count)
    )


def test_averages_of_decisions_have_the_variance_of_rows() -> None:
    asked: dict[str, Any] = {
        "y_true": "y",
        "model": Memory(),
        "features": ["id", "opposite"],
        "fractions": [1.0],
        "seed": 1,
    }
    seen = bg.subsampling(rows(), ["sex"], folds=4, judged="in_sample", interval="pooled_normal", level=0.975, **asked)
    count = seen["count"].sel(statistic="pessimist").values
    below = 0.75 - seen["value"].sel(statistic="pessimist").values
    np.testing.assert_allclose(below, 1.959964 * np.sqrt(0.1875 / count), rtol=3e-3)  # less a degree of freedom


def test_absolute_errors_of_a_regression() -> None:
    asked: dict[str, Any] = {"y_true": "loss", "model": Mean(), "features": ["id"], "fractions": [1.0], "seed": 1}
    answer = bg.subsampling(rows(), ["site"], "mean", judged="in_sample", **asked)
    errors = (rows()["loss"] - rows()["loss"].mean()).abs().groupby(rows()["site"]).mean()
    assert float(answer["value"].sel(statistic="worst")[0, 0]) == pytest.approx(errors.max(), rel=0.02)
    linear = bg.subsampling(rows(), ["site"], "mean", **{**asked, "model": LinearRegression()})
    assert np.isfinite(linear["value"]).all()


def test_a_single_outcome_needs_no_model() -> None:
    only = rows().assign(y=1)
    answer = bg.subsampling(
        only, ["sex"], y_true="y", positive=1, model=Memory(), features=["id", "opposite"], fractions=[0.1], seed=1
    )
    assert (answer["estimate"] == 1).all()


def test_subgroups_without_rows_take_no_part() -> None:
    frame = pd.DataFrame({"site": ["a"] * 98 + ["b"] * 2, "y": 1, "guess": [1] * 98 + [0, 0]})
    asked: dict[str, Any] = {
        "y_true": "y",
        "y_pred": "guess",
        "positive": 1,
        "fractions": [0.1],
        "repeats": 4,
        "seed": 1,
    }
    critical = bg.subsampling(frame, ["site"], left_out="critical", **asked).sel(statistic="worst")
    assert set(critical["subgroup"].values.ravel()) == {"b"}
    assert np.isnan(critical["value"]).all()
    assert (critical["count"] == 0).all()
    assert (critical["groups"] == 1).all()
    whole = bg.subsampling(frame, ["site"], **asked).sel(statistic="worst")
    assert (whole["groups"] == 1).any()
    assert (whole["value"].where(whole["groups"] == 1, 1.0) == 1.0).all()  # the worst subgroup is out of sight


def test_a_metric_may_be_undefined_in_a_subsample() -> None:
    frame = pd.DataFrame({"site": ["a", "b"] * 20, "y": [1] + [0] * 39, "guess": 0})
    answer = bg.subsampling(
        frame, ["site"], "fnr", y_true="y", y_pred="guess", positive=1, fractions=[0.1, 1.0], repeats=3, seed=1
    )
    assert np.isnan(answer["value"].sel(fraction=0.1)).any()
    assert (answer["subgroup"].values == "").sum() == np.isnan(answer["value"]).sum()


WITH_MODEL: dict[str, Any] = {"y_true": "y", "y_pred": None, "model": Memory(), "features": ["id"]}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"y_pred": "gues"}, "column 'gues' is not in the frame; did you mean 'guess'"),
        ({"features": ["id"]}, "features= are of a model that is trained; give model= too"),
        ({"y_pred": None}, r"name decisions \(y_pred=\) or losses \(loss=\) of a system, or give a model="),
        ({"model": Memory(), "features": ["id"]}, "a model= makes its own decisions; leave y_pred= and loss= out"),
        ({**WITH_MODEL, "features": []}, r"a model= needs the outcome \(y_true=\) and the columns it is given"),
        ({**WITH_MODEL, "features": ["y"]}, "y_true='y' is among features=; the model must not be given the outcome"),
        ({**WITH_MODEL, "model": 3}, r"int has no fit\(\) and predict\(\); give an estimator of scikit-learn"),
        ({**WITH_MODEL, "y_true": "gap"}, "column 'gap' has no value in 1 rows; a model needs every outcome"),
        ({**WITH_MODEL, "folds": 1}, "folds=1 must be at least 2, so that every row has a model"),
        ({**WITH_MODEL, "fractions": [0.01]}, "fraction 0.01 of 240 rows keeps 2; keep at least 3"),
        ({"by": ["gap"]}, r"column 'gap' \(by=\) has no value in some rows; drop them or give them a level"),
        ({"fractions": []}, r"fractions=\[\] must be at least one number above 0 and at most 1"),
        ({"fractions": [0.5, 1.5]}, r"fractions=\[0.5, 1.5\] must be at least one number above 0"),
        ({"fractions": [0.001]}, "fraction 0.001 of 240 rows keeps 0; keep at least 1"),
        ({"repeats": 0}, "repeats=0 must be at least 1"),
        ({"metric": "fnr", "y_true": "none"}, "no subgroup has a row that counts for 'fnr'"),
        ({"left_out": "some"}, "left_out"),
        ({"judged": "twice"}, "judged"),
    ],
)  # fmt: skip
def test_errors(settings: dict[str, Any], words: str) -> None:
    frame = rows().assign(gap=[None, *[1.0] * 239], none=0)
    asked: dict[str, Any] = {
        "by": ["sex"],
        "y_true": "y",
        "y_pred": "guess",
        "positive": 1,
        "fractions": [1.0],
        **settings,
    }
    with pytest.raises(InputError, match=words):
        bg.subsampling(frame, **asked)


def test_frames_of_other_libraries_are_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"rows of a dict cannot be left out one by one; give a pandas DataFrame"):
        bg.subsampling({"sex": ["f"]}, ["sex"], y_true="y", y_pred="guess")


def test_keywords_of_others() -> None:
    with pytest.raises(KeywordError, match="it is seed= here"):
        bg.subsampling(rows(), ["sex"], y_true="y", y_pred="guess", random_state=1)  # type: ignore[call-arg]
