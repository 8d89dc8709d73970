"""The interval that takes the spread of a subgroup's own clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling

FRAME = pd.DataFrame(
    {
        "g": list("aaaaaaabbbbbccc"),
        "speaker": list("rrrrsttuuvvwxxx"),
        "wer": [0.10, 0.20, 0.15, 0.15, 0.40, 0.30, 0.20, 0.5, 0.6, 0.1, 0.2, 0.9, 0.3, 0.2, 0.1],
        "y": [1, 0] * 7 + [1],
    }
)


def tally(**more: Any) -> Any:
    return bg.tally(FRAME, ["g"], ["mean"], loss="wer", **{"cluster": "speaker"} | more)


def test_student_t_with_the_clusters_of_a_subgroup() -> None:
    found = no_pooling.estimate(tally(), interval="cluster_robust").isel(metric=0)
    assert found["interval_method"].item() == "cluster_robust"
    half = (found["upper"] - found["lower"]).sel(level=0.95).values / 2
    assert half[0] == pytest.approx(0.244766, abs=5e-7)
    sums = np.array([0.5 + 0.6, 0.1 + 0.2, 0.9]) - np.array([2, 2, 1]) * FRAME["wer"][7:12].mean()
    variance = 3 / 2 * (sums**2).sum() / 25
    assert half[1] == pytest.approx(stats.t(2).ppf(0.975) * np.sqrt(variance))
    assert found["std_error"].values[1] == pytest.approx(np.sqrt(variance))


def test_a_single_cluster_has_the_pooled_interval() -> None:
    own, pooled = (
        no_pooling.estimate(tally(), interval=name).isel(metric=0) for name in ("cluster_robust", "pooled_t")
    )
    for name in ("lower", "upper", "std_error"):
        np.testing.assert_array_equal(own[name].sel(subgroup="c"), pooled[name].sel(subgroup="c"))
    alone = bg.tally(FRAME.assign(speaker=FRAME["g"]), ["g"], ["mean"], loss="wer", cluster="speaker")
    own, pooled = (no_pooling.estimate(alone, interval=name) for name in ("cluster_robust", "pooled_normal"))
    np.testing.assert_array_equal(own["upper"], pooled["upper"])
    assert np.isfinite(own["upper"]).all()


def test_both_sides_in_a_report() -> None:
    report = bg.estimate(tally(), bg.NoPooling(interval="cluster_robust"), seed=1)
    methods = report["estimates"]["interval_method"].sel(approach="frequentist")
    assert set(np.unique(methods).tolist()) == {"cluster_robust"}
    assert "clusters" not in report.attrs["notes"]


def test_clusters_are_needed() -> None:
    with pytest.raises(bg.InputError, match="'cluster_robust', because the tally has no clusters; name their column"):
        no_pooling.estimate(tally(cluster=None), interval="cluster_robust")
    with pytest.raises(bg.InputError, match="because its cluster_analysis is 'ignore'; use 'robust' or 'mean'"):
        no_pooling.estimate(tally(cluster_analysis="ignore"), interval="cluster_robust")
    auc = bg.tally(FRAME, ["g"], ["auc"], y_true="y", y_score="wer", cluster="speaker")
    with pytest.raises(bg.InputError, match="metric 'auc' has no interval .* an AUC has no analysis by clusters"):
        no_pooling.estimate(auc, interval="cluster_robust")
