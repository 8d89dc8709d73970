"""MetricFrames of fairlearn become tallies, and reports become MetricFrames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from fairlearn.metrics import MetricFrame, count, false_negative_rate, selection_rate
from sklearn.metrics import accuracy_score

import bayesgroups as bg
from bayesgroups.errors import InputError, MissingDependencyError
from bayesgroups.interop import metric_frame, tally_from_metric_frame


def positives(y_true: Any, y_pred: Any) -> int:
    return int(np.sum(y_true))


METRICS = {"accuracy": accuracy_score, "selection_rate": selection_rate, "false_negative_rate": false_negative_rate}


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": random.choice(["f", "m"], 90), "race": random.choice(["A", "B"], 90)})
    frame["y"], frame["d"] = random.integers(0, 2, 90), random.integers(0, 2, 90)
    frame.loc[(frame["sex"] == "f") & (frame["race"] == "A"), "y"] = 0  # a group without positives
    return frame


def made(rows: pd.DataFrame, metrics: dict[str, Any], **more: Any) -> MetricFrame:
    return MetricFrame(
        metrics=metrics, y_true=rows["y"], y_pred=rows["d"], sensitive_features=rows[["sex", "race"]], **more
    )


def test_a_metric_frame_is_the_tally_of_its_rows(rows: pd.DataFrame) -> None:
    frame = made(rows, {**METRICS, "count": count, "positives": positives})
    found = tally_from_metric_frame(frame, denominators={"false_negative_rate": "positives"})
    direct = bg.tally(rows, ["sex", "race"], ["acc", "sel", "fnr"], y_true="y", y_pred="d")
    for name in ("successes", "count", "larger_is_better"):
        np.testing.assert_array_equal(found[name], direct[name])
    # fairlearn says 0 where there is no positive; here the rate is undefined
    assert frame.by_group["false_negative_rate"].loc[("f", "A")] == 0
    assert str(found["status"].sel(metric="fnr", subgroup="f | A").item()) == "undefined"


def test_control_features_are_attributes_too(rows: pd.DataFrame) -> None:
    frame = MetricFrame(
        metrics={"selection_rate": selection_rate, "count": count}, y_true=rows["y"], y_pred=rows["d"],
        sensitive_features=rows[["sex"]], control_features=rows[["race"]],
    )  # fmt: skip
    assert tally_from_metric_frame(frame).sizes["subgroup"] == 4


def test_what_a_metric_frame_lacks_is_told(rows: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="frame must be a fairlearn MetricFrame; got int"):
        tally_from_metric_frame(3)
    single = MetricFrame(metrics=selection_rate, y_true=rows["y"], y_pred=rows["d"], sensitive_features=rows["sex"])
    with pytest.raises(InputError, match="has one metric; give it a dict"):
        tally_from_metric_frame(single)
    with pytest.raises(InputError, match="metric 'selection_rate' has no denominator"):
        tally_from_metric_frame(made(rows, {"selection_rate": selection_rate}))
    with pytest.raises(InputError, match="no metric 'positive'; did you mean 'positives'"):
        tally_from_metric_frame(
            made(rows, {"positives": positives, "count": count}), denominators={"positives": "positive"}
        )
    with pytest.raises(InputError, match="has counts and no rate"):
        tally_from_metric_frame(made(rows, {"count": count}))
    with pytest.raises(InputError, match="no whole number"):
        tally_from_metric_frame(
            made(rows, {"false_negative_rate": false_negative_rate, "count": count}),
            denominators={"false_negative_rate": "count"},
        )


def test_a_report_is_a_metric_frame(report: xr.DataTree) -> None:
    for using, approach in (("posterior", "bayesian"), ("tally", "frequentist")):
        frame = metric_frame(report, using=using)  # type: ignore[arg-type]
        assert isinstance(frame, MetricFrame)
        table = report["estimates"].to_dataset()["estimate"].sel(approach=approach)
        own = frame.by_group.sort_index().to_numpy(dtype=float)
        np.testing.assert_allclose(own, table.transpose("subgroup", "metric").values)
        assert frame.sensitive_levels == ["race", "sex"] or list(frame.by_group.index.names) == ["race", "sex"]
        one = table.sel(metric="acc").values
        assert frame.difference()["acc"] == pytest.approx(np.nanmax(one) - np.nanmin(one))
        weight = report["constant_data"].to_dataset()["count"].sel(metric="acc").values
        assert frame.overall["acc"] == pytest.approx(np.nansum(one * weight) / weight[np.isfinite(one)].sum())
    with pytest.raises(InputError, match="using='both' is not one of"):
        metric_frame(report, using="both")  # type: ignore[arg-type]


def test_without_fairlearn_the_error_says_so(report: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fairlearn.metrics", None)
    with pytest.raises(MissingDependencyError, match="pip install fairlearn"):
        metric_frame(report)
