"""Measures under the names of the field, against worked numbers and fairlearn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities.field_measures import FIELD_MEASURES, FieldMeasure, is_ratio, metrics_of

CELLS = {"a": (30, 10, 20, 140), "b": (12, 8, 10, 70), "c": (9, 3, 9, 19)}
"""Rows of three groups: true positives, false negatives, false positives, true negatives."""
METRICS = ["sel", "tpr", "fpr"]
EXPECTED: dict[tuple[FieldMeasure, str], tuple[float, float]] = {
    ("demographic_parity_difference", "worst_case"): (0.23, 0.185294),
    ("demographic_parity_ratio", "worst_case"): (0.488889, 0.588235),
    ("equalized_odds_difference", "worst_case"): (0.196429, 0.175906),
    ("equalized_odds_difference", "mean"): (0.173214, 0.142120),
    ("equalized_odds_ratio", "worst_case"): (0.388889, 0.452736),
    ("equalized_odds_ratio", "mean"): (0.594444, 0.649898),
    ("equal_opportunity_difference", "worst_case"): (0.15, 0.108333),
    ("equal_opportunity_ratio", "worst_case"): (0.8, 0.847059),
}
"""Values between groups and to the rate of all rows."""


def frame() -> pd.DataFrame:
    rows = [
        (group, y, d)
        for group, (tp, fn, fp, tn) in CELLS.items()
        for (y, d), count in {(1, 1): tp, (1, 0): fn, (0, 1): fp, (0, 0): tn}.items()
        for _ in range(count)
    ]
    return pd.DataFrame(rows, columns=["group", "y", "d"])


def tally(rows: pd.DataFrame) -> xr.Dataset:
    return bg.tally(rows, by="group", metrics=METRICS, y_true="y", y_pred="d")


def value(source: Any, name: FieldMeasure, **settings: Any) -> float:
    return float(bg.disparity(source, name, draws=50, **settings)["value"].sel(metric=metrics_of(name)[0]).values[0])


@pytest.mark.parametrize(("name", "agg"), EXPECTED)
def test_worked_numbers(name: FieldMeasure, agg: Any) -> None:
    for method, expected in zip(("between_groups", "to_overall"), EXPECTED[name, agg], strict=True):
        assert value(tally(frame()), name, method=method, agg=agg) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", FIELD_MEASURES)
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("agg", ["worst_case", "mean"])
def test_fairlearn(name: FieldMeasure, method: Any, agg: Any) -> None:
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(8)
    rows = pd.DataFrame({"group": rng.choice(list("abcd"), 400), "y": rng.integers(0, 2, 400)})
    rows["d"] = (rng.random(400) < 0.3 + 0.3 * rows["y"] + 0.1 * (rows["group"] == "a")).astype(int)
    settings = {"agg": agg} if name.startswith("equalized") else {}
    expected = getattr(metrics, name)(rows["y"], rows["d"], sensitive_features=rows["group"], method=method, **settings)
    assert value(tally(rows), name, method=method, agg=agg) == pytest.approx(expected, abs=1e-12)


def test_a_group_without_positives_is_left_out_by_name() -> None:
    """fairlearn counts its true positive rate as 0 and finds it the worst."""
    rows = pd.concat([frame(), pd.DataFrame({"group": "z", "y": 0, "d": [1, 0, 0]})])
    answer = bg.disparity(tally(rows), "equal_opportunity_difference", draws=50)
    assert float(answer["value"].sel(metric="tpr").values[0]) == pytest.approx(0.15)
    assert str(answer["left_out"].sel(metric="tpr").values) == "z (no positives)"


def test_posterior_and_what_is_said_of_it() -> None:
    source = tally(frame())
    report = bg.estimate(source, bg.NoPooling(), seed=1)
    names: list[FieldMeasure] = ["equalized_odds_difference", "demographic_parity_ratio"]
    answer = bg.disparity(report, names, tolerance={"equalized_odds_difference": 0.1, "demographic_parity_ratio": 0.8})
    odds = answer.sel(measure="equalized_odds_difference")
    assert float(odds["value"].sel(metric="tpr")) == float(odds["value"].sel(metric="fpr"))
    assert "joint only if" in str(odds["note"].sel(metric="tpr").values)
    assert np.isnan(odds["value"].sel(metric="sel"))
    assert str(odds["note"].sel(metric="sel").values) == "is of tpr and fpr"
    parity = answer.sel(measure="demographic_parity_ratio", metric="sel")
    posterior = report["posterior"].to_dataset()["mu"]
    mu = posterior.sel(metric="sel").values.reshape(-1, 3)
    ratio = mu.min(axis=1) / mu.max(axis=1)
    assert float(parity["value"]) == pytest.approx(np.median(ratio))
    assert float(parity["probability_within"]) == pytest.approx((ratio >= 0.8).mean())
    draws = posterior.sel(metric=["tpr", "fpr"]).values.reshape(-1, 2, 3)
    assert float(odds["value"].sel(metric="fpr")) == pytest.approx(np.median(np.ptp(draws, axis=2).max(axis=1)))


def test_noise_alone_makes_disparity() -> None:
    answer = bg.disparity(tally(frame()), list(FIELD_MEASURES), draws=400)
    for name in FIELD_MEASURES:
        part = answer.sel(measure=name, metric=metrics_of(name)[0])
        equal = float(part["expected_if_equal"])
        assert (equal < 0.95) if is_ratio(name) else (equal > 0.03)
        assert 0 < float(part["p_value_if_equal"]) <= 1


def test_the_measures_without_a_name_are_as_before() -> None:
    source = tally(frame())
    every = bg.disparity(source, draws=100)
    assert not set(every["measure"].values) & set(FIELD_MEASURES)
    both = bg.disparity(source, ["max_min_difference", "demographic_parity_difference"], draws=100)
    xr.testing.assert_identical(both.sel(measure="max_min_difference"), every.sel(measure="max_min_difference"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "to_best"}, "method='to_best' is not one of 'between_groups', 'to_overall'"),
        ({"agg": "max"}, "agg='max' is not one of"),
        ({"corrected": True}, "corrected=True has no 'equalized_odds_difference'"),
    ],
)
def test_refusals(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bg.disparity(tally(frame()), "equalized_odds_difference", **settings)
    with pytest.raises(InputError, match="is of 'tpr' and 'fpr', and the source has no metric 'fpr'"):
        bg.disparity(tally(frame()).sel(metric=["sel", "tpr"]), "equalized_odds_ratio")
