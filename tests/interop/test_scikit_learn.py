"""Tallies of fitted scikit-learn estimators are those of their predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.interop import tally_from_scorer

Rows = tuple[pd.DataFrame, np.ndarray, pd.DataFrame]


@pytest.fixture(scope="module")
def rows() -> Rows:
    random = np.random.default_rng(1)
    X = pd.DataFrame(random.normal(size=(150, 2)), columns=["age", "dose"])
    y = (X["age"] + random.normal(size=150) > 0).to_numpy().astype(int)
    by = pd.DataFrame({"sex": random.choice(["f", "m"], 150), "site": random.choice([1, 2], 150)})
    return X, y, by


def test_decisions_and_scores_of_a_classifier(rows: Rows) -> None:
    X, y, by = rows
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = bg.tally_from_estimator(model, X, y, by=by, metrics=["fnr", "acc", "auc"])
    frame = by.assign(y=y, d=model.predict(X), s=model.predict_proba(X)[:, 1])
    apart = bg.tally(frame, ["sex", "site"], ["fnr", "acc"], y_true="y", y_pred="d")
    for name in ("successes", "count"):
        np.testing.assert_array_equal(found[name].sel(metric=["fnr", "acc"]), apart[name])
    auc = bg.tally(frame, ["sex", "site"], "auc", y_true="y", y_score="s")
    np.testing.assert_allclose(found["estimate"].sel(metric="auc"), auc["estimate"].sel(metric="auc"))
    strict = bg.tally_from_estimator(model, X, y, by=by, metrics="sel", threshold=0.9)
    assert float(strict["successes"].sum()) == (frame["s"] >= 0.9).sum()


def test_columns_of_the_features_can_be_attributes(rows: Rows) -> None:
    X, y, by = rows
    with_sex = X.assign(sex=by["sex"], y_pred="a name that is taken")
    model = LogisticRegression().fit(X.to_numpy(), y)

    class Picky:
        classes_ = model.classes_

        def predict(self, frame: pd.DataFrame) -> Any:
            return model.predict(frame[["age", "dose"]].to_numpy())

    found = bg.tally_from_estimator(
        Picky(), with_sex, y, by=["sex", "y_pred"], weights=np.ones(150), cluster=by["site"]
    )
    assert found["metric"].values.tolist() == ["acc"]
    assert str(found["subgroup"].values[0]).startswith("f | ")


def test_labels_and_the_positive_class(rows: Rows) -> None:
    X, y, by = rows
    words = np.where(y, "yes", "no")
    model = LinearSVC().fit(X, words)
    yes = bg.tally_from_estimator(model, X, words, by=by, metrics=["tpr", "auc"])
    no = bg.tally_from_estimator(model, X, words, by=by, metrics=["tpr", "auc"], positive="no")
    np.testing.assert_allclose(yes["estimate"].sel(metric="auc"), no["estimate"].sel(metric="auc"))
    assert float(yes["count"].sel(metric="tpr").sum()) == y.sum()
    three = np.where(X["dose"] > 1, "maybe", words)
    several = LinearSVC().fit(X, three)
    assert (
        bg.tally_from_estimator(several, X, three, by=by, metrics="tpr[maybe]")["count"].sum()
        == (three == "maybe").sum()
    )
    with pytest.raises(InputError, match="not binary"):
        bg.tally_from_estimator(several, X, three, by=by, metrics="auc", positive="maybe")
    with pytest.raises(InputError, match="3 classes, so say which one is positive="):
        bg.tally_from_estimator(several, X, three, by=by, metrics="fnr")


def test_losses_of_a_regressor(rows: Rows) -> None:
    X, _, by = rows
    truth = X["age"].to_numpy() * 2
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, truth)
    absolute = bg.tally_from_estimator(model, X, truth, by=by)
    expected = pd.Series(np.abs(truth - model.predict(X))).groupby([by["sex"], by["site"]]).mean()
    np.testing.assert_allclose(absolute["estimate"].values[0], expected)
    squared = bg.tally_from_estimator(model, X, truth, by=by, loss=lambda y, p: (y - p) ** 2)
    assert squared["metric"].values.tolist() == ["mean"]


def test_scorers_have_bootstrap_variances(rows: Rows) -> None:
    X, _, by = rows
    truth = X["age"] + np.random.default_rng(2).normal(size=150)
    model = LinearRegression().fit(X, truth)
    found = tally_from_scorer(model, X, truth, by=by, scoring="r2", seed=1, replicates=60, upper=1.0)
    rows_of = (by["sex"] == "f") & (by["site"] == 1)
    assert float(found["estimate"].sel(subgroup="f | 1")[0]) == pytest.approx(model.score(X[rows_of], truth[rows_of]))
    assert (found["sampling_variance"] > 0).all()
    assert found["larger_is_better"].item() == 1

    def own(model: Any, X: Any, y: Any) -> float:
        return float(np.mean(y))

    few = by.assign(sex=["x", *by["sex"][1:]])
    sparse = tally_from_scorer(model, X, truth, by=few, scoring=own, seed=1, replicates=20)
    assert np.isnan(sparse["estimate"].where(sparse["sex"] == "x", drop=True)).all()
    with pytest.raises(InputError, match="scoring='r22' does not exist; did you mean 'r2'"):
        tally_from_scorer(model, X, truth, by=by, scoring="r22", seed=1)
    with pytest.raises(InputError, match="replicates must be 20 or more"):
        tally_from_scorer(model, X, truth, by=by, scoring="r2", seed=1, replicates=3)


def test_a_score_that_needs_both_classes_is_undefined_without(rows: Rows) -> None:
    X, y, _ = rows
    model = LogisticRegression().fit(X, y)
    found = tally_from_scorer(model, X, y, by={"y": y}, scoring="roc_auc", seed=1, replicates=20, lower=0, upper=1)
    assert np.isnan(found["estimate"]).all()


def test_what_does_not_fit_is_told(rows: Rows) -> None:
    X, y, by = rows
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match=r"column 'sx' \(by=\) is not in X; known"):
        bg.tally_from_estimator(model, X, y, by=["sx"])
    with pytest.raises(InputError, match="X has no named columns"):
        bg.tally_from_estimator(model, X.to_numpy(), y, by=["sex"])
    with pytest.raises(InputError, match="name at least one attribute"):
        bg.tally_from_estimator(model, X, y, by=[])
    with pytest.raises(InputError, match="by= has 150 rows and y has 149"):
        bg.tally_from_estimator(model, X, y[1:], by=by)
    with pytest.raises(InputError, match="y must have one value per row"):
        bg.tally_from_estimator(model, X, y[:, None], by=by)
    with pytest.raises(InputError, match="y must have one value per row; got a value of type Dataset"):
        bg.tally_from_estimator(model, X, xr.Dataset(), by=by)
    with pytest.raises(InputError, match="weights: 3 values for 150 rows"):
        bg.tally_from_estimator(model, X, y, by=by, weights=[1, 2, 3])
    with pytest.raises(InputError, match="positive=5 is no class of the model; it has"):
        bg.tally_from_estimator(model, X, y, by=by, metrics="auc", positive=5)

    class Bare:
        classes_ = (0, 1)

    with pytest.raises(InputError, match=r"Bare has no predict\(\)"):
        bg.tally_from_estimator(Bare(), X, y, by=by)
    with pytest.raises(InputError, match="neither predict_proba nor decision_function"):
        bg.tally_from_estimator(Bare(), X, y, by=by, metrics="auc")
