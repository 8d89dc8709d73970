"""Scores per class from confusion counts, tallies and reports, against counting by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.disparities.class_scores import ClassMetric, class_scores, confusion_scores

CLASSES = ["cat", "cow", "dog"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    said, true = rng.choice(CLASSES, 300), rng.choice(CLASSES, 300)
    return pd.DataFrame(
        {"y": true, "said": np.where(rng.random(300) < 0.5, true, said), "sex": rng.choice(["f", "m"], 300)}
    )


@pytest.fixture(scope="module")
def confusion(rows: pd.DataFrame) -> xr.DataArray:
    counts = rows.groupby(["sex", "y", "said"]).size().to_xarray().fillna(0)
    named: xr.DataArray = counts.rename(sex="subgroup", y="label", said="predicted")
    return named


@pytest.mark.parametrize("metric", get_args(ClassMetric))
def test_scores_are_those_of_the_rows(metric: Any, rows: pd.DataFrame, confusion: xr.DataArray) -> None:
    scores = confusion_scores(confusion, metric)
    names = [f"{metric}[{label}]" for label in CLASSES]
    if metric in {"sel", "acc"}:
        # One against the rest, tallied by hand.
        expected = np.array(
            [
                [((one["said"] == label) if metric == "sel" else (one["said"] == label) == (one["y"] == label)).mean()
                 for _, one in rows.groupby("sex")]
                for label in CLASSES
            ]
        )  # fmt: skip
    else:
        tally = bg.tally(rows, by=["sex"], metrics=names, y_true="y", y_pred="said")
        expected = class_scores(tally, metric).values
        if metric != "f1":
            np.testing.assert_allclose(scores["count"], class_scores(tally, metric)["count"])
    np.testing.assert_allclose(scores, expected)


def test_the_count_is_what_pooling_wants(confusion: xr.DataArray) -> None:
    scores = confusion_scores(confusion, "tpr")
    total = confusion.sum("subgroup")
    pooled = [float(total.sel(label=name, predicted=name) / total.sel(label=name).sum()) for name in CLASSES]
    given = bg.aggregate(scores, center=xr.DataArray(pooled, {"label": CLASSES}))
    assert float(bg.aggregate(scores)) == pytest.approx(float(given))


def test_other_dims_stay(confusion: xr.DataArray) -> None:
    both = xr.concat([confusion, 2 * confusion], "system")
    scores = confusion_scores(both.transpose("label", ...))
    assert scores.dims == ("system", "label", "subgroup")
    np.testing.assert_allclose(scores[0], scores[1])


def test_a_report_gives_its_draws() -> None:
    who = pd.DataFrame({"sex": ["f", "m"]})
    hits = {"tpr[cat]": [8, 3], "tpr[dog]": [6, 5], "acc": [9, 9]}
    tally = bg.tally_from_counts(hits, {"tpr[cat]": [10, 4], "tpr[dog]": [9, 9], "acc": [20, 20]}, who)
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    scores = class_scores(report)
    assert scores.dims == ("chain", "draw", "label", "subgroup")
    assert scores["label"].values.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(scores.sel(label="dog"), report["posterior"]["mu"].sel(metric="tpr[dog]"))
    gap = bg.aggregate(scores)
    assert gap.dims == ("chain", "draw")
    assert 0 < float(gap.mean()) < 0.3
    with pytest.raises(InputError, match="the report has no group 'bootstrap', which using='bootstrap' needs"):
        class_scores(report, using="bootstrap")
    with pytest.raises(InputError, match="using='both' is not one of"):
        class_scores(report, using="both")  # type: ignore[arg-type]


def test_what_is_wrong_is_named(confusion: xr.DataArray, make_tally: Callable[..., xr.Dataset]) -> None:
    with pytest.raises(InputError, match=r"with dims .*; \['predicted'\] missing"):
        confusion_scores(confusion.isel(predicted=0))
    with pytest.raises(InputError, match="different classes"):
        confusion_scores(confusion.isel(predicted=[1, 0, 2]))
    with pytest.raises(InputError, match="one is negative, NaN or infinite"):
        confusion_scores(-confusion)
    with pytest.raises(InputError, match="metric='auc' does not exist for a class"):
        confusion_scores(confusion, "auc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no metric tpr\[...\] of a class; there are \['acc', 'fnr'\]"):
        class_scores(make_tally())
    with pytest.raises(SchemaError, match="expected a tally or a report of bayesgroups; got Dataset"):
        class_scores(xr.Dataset())
    with pytest.raises(SchemaError, match="not a report of bayesgroups"):
        class_scores(xr.DataTree())
