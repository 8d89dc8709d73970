"""Metrics: names, near misses, ranges, and the worked examples of every rate."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.data.metrics import NAMES, Y_PRED, Y_TRUE, Metric, named
from bayesgroups.errors import InputError

RATES = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for", "f1", "auc"]


def one_group(y: list[int], score: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"g": "all", "y": y, "s": score})


def estimates(frame: pd.DataFrame, metrics: list[str], threshold: float = 0.5) -> dict[str, float]:
    found = bg.tally(frame, ["g"], metrics, y_true="y", y_score="s", threshold=threshold)
    return {metric: float(found["estimate"].sel(metric=metric).item()) for metric in metrics}


def test_five_rows_by_hand() -> None:
    found = estimates(one_group([1, 0, 1, 0, 1], [0.9, 0.4, 0.35, 0.2, 0.6]), RATES)
    expected = {"sel": 0.4, "acc": 0.8, "tpr": 2 / 3, "fnr": 1 / 3, "fpr": 0, "tnr": 1, "ppv": 1, "fdr": 0,
                "npv": 2 / 3, "for": 1 / 3, "f1": 0.8, "auc": 5 / 6}  # fmt: skip
    assert found == pytest.approx(expected)


def test_ties_count_one_half_unless_strict() -> None:
    frame = one_group([1, 0, 1, 0, 1], [0.9, 0.4, 0.4, 0.2, 0.6])
    assert estimates(frame, ["auc"])["auc"] == pytest.approx(0.916667, abs=1e-6)
    auc = named("auc")
    strict = Metric("auc", auc.value, kind="auc", lower=0, upper=1, needs=auc.needs, ties=0.0)
    found = bg.tally(frame, ["g"], [strict], y_true="y", y_score="s")
    assert float(found["estimate"].item()) == pytest.approx(0.833333, abs=1e-6)


def test_a_group_without_positives_is_undefined_with_a_reason() -> None:
    frame = one_group([0, 0, 0], [0.1, 0.7, 0.2])
    found = bg.tally(
        frame, ["g"], ["sel", "acc", "fpr", "ppv", "npv", "tpr", "fnr", "auc"], y_true="y", y_score="s", threshold=0.5
    )
    value = found["estimate"].isel(subgroup=0).to_series()
    assert value[["sel", "acc", "fpr", "ppv", "npv"]].tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 3, 0, 1])
    assert value[["tpr", "fnr", "auc"]].isna().all()
    status = found["status"].isel(subgroup=0).to_series()
    reason = found["reason"].isel(subgroup=0).to_series()
    assert (status[["tpr", "fnr", "auc"]] == "undefined").all()
    assert reason[["tpr", "fnr", "auc"]].tolist() == ["no positives", "no positives", "one class only"]
    assert reason["ppv"] == "one row"


def test_rates_of_each_class() -> None:
    frame = pd.DataFrame({"g": "all", "y": [0, 0, 1, 1, 2, 2, 2], "p": [0, 1, 1, 1, 2, 0, 2]})
    metrics = [f"{rate}[{c}]" for rate in ("tpr", "ppv", "sel") for c in range(3)]
    found = bg.tally(frame, ["g"], [*metrics, "acc"], y_true="y", y_pred="p")["estimate"].values.ravel()
    assert found == pytest.approx([0.5, 1, 2 / 3, 0.5, 2 / 3, 1, 2 / 7, 3 / 7, 2 / 7, 5 / 7])


def test_mean_loss_of_snippets() -> None:
    frame = pd.DataFrame({"g": ["a", "a"], "wer": [1 / 4, 3 / 2]})
    found = bg.tally(frame, ["g"], ["mean"], loss="wer")
    assert float(found["estimate"].item()) == pytest.approx(0.875)
    assert (float(found["range_lower"].item()), float(found["range_upper"].item())) == (0.0, np.inf)


def test_a_metric_of_ones_own() -> None:
    frame = pd.DataFrame(
        {"g": ["a", "a", "a", "b"], "y": [1, 1, 0, 1], "p": [0, 1, 0, 0], "cost": [4.0, 2.0, 9.0, 6.0]}
    )
    cost = Metric(
        "miss_cost",
        value=nw.col("cost") * (1 - Y_PRED),
        where=Y_TRUE == 1,
        lower=0.0,
        needs=frozenset({"y_true", "y_pred"}),
    )
    found = bg.tally(frame, ["g"], [cost], y_true="y", y_pred="p")
    assert found["estimate"].values.ravel().tolist() == [2.0, 6.0]
    assert found["count"].values.ravel().tolist() == [2.0, 1.0]


def test_against_scikit_learn_on_random_groups() -> None:
    from sklearn import metrics as sk

    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"g": rng.choice(list("abc"), 400), "y": rng.integers(0, 2, 400), "s": rng.random(400).round(2)}
    )
    found = bg.tally(frame, ["g"], RATES, y_true="y", y_score="s", threshold=0.6)["estimate"]
    for g, part in frame.groupby("g"):
        y, p = part["y"], (part["s"] >= 0.6).astype(int)
        expected = {
            "sel": p.mean(), "acc": sk.accuracy_score(y, p), "tpr": sk.recall_score(y, p), "fnr": 1 - sk.recall_score(y, p),
            "fpr": 1 - sk.recall_score(y, p, pos_label=0), "tnr": sk.recall_score(y, p, pos_label=0),
            "ppv": sk.precision_score(y, p), "fdr": 1 - sk.precision_score(y, p), "npv": sk.precision_score(y, p, pos_label=0),
            "for": 1 - sk.precision_score(y, p, pos_label=0), "f1": sk.f1_score(y, p), "auc": sk.roc_auc_score(y, part["s"]),
        }  # fmt: skip
        assert found.sel(subgroup=g).to_series().to_dict() == pytest.approx(expected)


def test_names_are_all_known() -> None:
    assert [named(name).name for name in NAMES] == list(NAMES)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: named("fnrr"), "unknown metric 'fnrr'; did you mean 'fnr'"),
        (lambda: named("acc[cat]"), "accuracy is over all classes"),
        (lambda: named("auc[cat]"), "tally 'auc' with a column that is 1 for 'cat' and 0 for all others as y_true="),
        (lambda: Metric("", value="x"), "needs a name"),
        (lambda: Metric("m", value="x", lower=1.0, upper=0.0), "lower must be below upper"),
        (lambda: Metric("m", value="x", kind="rate", lower=0.0, upper=2.0), "is a rate, so its range is"),
        (lambda: Metric("m", value="x", ties=0.3), "ties must be 0.5 or 0"),
    ],
)
def test_bad_metrics_are_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]
