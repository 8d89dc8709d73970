"""Confusion cells are additive sums, and every metric is the ratio of two weighted sums of them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.metrics import Y_PRED, Y_TRUE

METRICS = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1"]
OF_CLASSES = ["acc", "tpr[cat]", "ppv[dog]", "sel[eel]", "f1[cat]", "for[dog]"]
BY = ["race", "sex"]


def rows(size: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    animals = np.array(["cat", "dog", "eel"])
    frame = pd.DataFrame({"race": rng.choice(list("abc"), size), "sex": rng.choice(list("fm"), size)})
    truth, guess = rng.choice(animals, size), rng.choice(animals, size)
    return frame.assign(
        y=rng.integers(0, 2, size), score=rng.random(size), weight=rng.random(size), patient=np.arange(size) // 2,
        animal=truth, said=np.where(rng.random(size) < 0.6, truth, guess),
    )  # fmt: skip


def scored(frame: pd.DataFrame, *, weights: str | None = None, metrics: Any = METRICS) -> xr.Dataset:
    return bg.tally(frame, BY, metrics, y_true="y", y_score="score", threshold=0.6, weights=weights, confusion=True)


def of_cells(tally: xr.Dataset) -> xr.DataArray:
    classes = ["outcome", "decision"]
    above, below = ((tally[name] * tally["cell_count"]).sum(classes) for name in ("cell_numerator", "cell_denominator"))
    return (above / below).transpose("metric", "subgroup")


@pytest.mark.parametrize("weights", [None, "weight"])
def test_metrics_are_those_of_the_cells(weights: str | None) -> None:
    tally = scored(rows(), weights=weights)
    np.testing.assert_allclose(of_cells(tally).values, tally["estimate"].values, atol=1e-12)
    rates = tally["count"].sel(metric="sel")
    np.testing.assert_allclose(tally["cell_count"].sum(["outcome", "decision"]).values, rates.values)


def test_metrics_of_classes_are_those_of_the_cells() -> None:
    tally = bg.tally(rows(), BY, OF_CLASSES, y_true="animal", y_pred="said", confusion=True)
    assert tally["outcome"].values.tolist() == ["cat", "dog", "eel"]
    np.testing.assert_allclose(of_cells(tally).values, tally["estimate"].values, atol=1e-12)


def test_a_metric_of_ones_own_and_one_of_a_class_are_functions_of_two_classes() -> None:
    cost = bg.Metric("cost", value=5 * Y_TRUE * (1 - Y_PRED) + (1 - Y_TRUE) * Y_PRED, lower=0.0)
    frame = rows().assign(y=lambda table: table["y"].map({0: "no", 1: "yes"}), d=lambda table: table["said"] == "cat")
    frame["d"] = frame["d"].map({False: "no", True: "yes"})
    tally = bg.tally(
        frame, BY, ["fnr", cost, "tpr[yes]", "tpr[no]"], y_true="y", y_pred="d", positive="yes", confusion=True
    )
    np.testing.assert_allclose(of_cells(tally).values, tally["estimate"].values, atol=1e-12)
    assert tally["outcome"].values.tolist() == ["0", "1"]


def test_what_is_no_function_of_the_cells_says_so() -> None:
    dear = bg.Metric("dear", value=nw.col("score") * Y_TRUE)
    tally = scored(rows(), metrics=["sel", "auc", dear])
    assert np.isfinite(tally["cell_numerator"].values).all(axis=(1, 2)).tolist() == [True, False, False]


@pytest.mark.parametrize("weights", [None, "weight"])
def test_cells_add(weights: str | None) -> None:
    frame = rows()
    parts = bg.add_tallies([scored(frame[:100], weights=weights), scored(frame[100:], weights=weights)])
    whole = scored(frame, weights=weights)
    names = [name for name in whole.data_vars if str(name).startswith("cell_")]
    assert len(names) == (7 if weights else 5)
    for name in names:
        np.testing.assert_allclose(parts[name].values, whole[name].values, atol=1e-9)


def test_cells_of_classes_add_where_a_part_lacks_one() -> None:
    frame = rows()

    def of(part: pd.DataFrame) -> xr.Dataset:
        return bg.tally(part, BY, ["acc"], y_true="animal", y_pred="said", confusion=True)

    few = frame[(frame["animal"] != "eel") & (frame["said"] != "eel")]
    whole = bg.add_tallies([of(few), of(frame.drop(few.index))])
    np.testing.assert_array_equal(whole["cell_count"].values, of(frame)["cell_count"].values)


def test_scores_are_summed_over_the_rows_of_a_cell() -> None:
    frame = rows()
    tally = scored(frame)
    chosen = frame[(frame["race"] == "a") & (frame["sex"] == "f") & (frame["y"] == 1) & (frame["score"] < 0.6)]
    cell = tally.sel(subgroup="a | f", outcome="1", decision="0")
    assert float(cell["cell_count"]) == len(chosen)
    assert float(cell["cell_score"]) == pytest.approx(chosen["score"].sum())
    assert float(cell["cell_score_squares"]) == pytest.approx((chosen["score"] ** 2).sum())


def test_no_cells_unless_asked_for() -> None:
    assert "cell_count" not in bg.tally(rows(), BY, ["acc"], y_true="y", y_score="score", threshold=0.6)


def test_what_is_missing_is_named() -> None:
    frame = rows()
    with pytest.raises(bg.InputError, match="confusion=True needs y_true="):
        bg.tally(frame, BY, ["sel"], y_score="score", threshold=0.6, confusion=True)
    with pytest.raises(bg.InputError, match="confusion=True needs y_pred="):
        bg.tally(frame, BY, ["auc"], y_true="y", y_score="score", confusion=True)
    with pytest.raises(bg.InputError, match="independent rows and cluster_analysis is 'robust'"):
        bg.tally(frame, BY, ["acc"], y_true="animal", y_pred="said", cluster="patient", confusion=True)
    with pytest.raises(bg.InputError, match="differ in confusion="):
        bg.add_tallies([scored(frame), scored(frame).drop_vars(["cell_score", "cell_score_squares"])])
    parts = []
    for absent in ("cat", "eel"):
        part = frame[(frame["animal"] != absent) & (frame["said"] != absent)].assign(other=1)
        parts.append(bg.tally(part, BY, ["acc"], y_true="animal", y_pred="said", confusion=True))
    with pytest.raises(bg.InputError, match="no tally has all the classes"):
        bg.add_tallies(parts)
