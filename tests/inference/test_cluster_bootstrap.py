"""Clusters are resampled, not rows: against closed forms and against resampled tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.inference.bootstrap import replicates

METRICS = ["sel", "fnr", "f1", "mean"]
FRAME = pd.DataFrame(
    {
        "g": list("aaaaaaaabbbbbb"),
        "c": list("ppppqqrssttuuv"),  # one cluster has rows in both subgroups
        "y": [1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0],
        "d": [1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0],
        "v": [0.1, 0.2, 0.1, 0.4, 1.0, 1.2, 0.5, 0.9, 2.0, 1.8, 0.3, 0.4, 1.1, 0.2],
    }
)


def tally(**more: Any) -> Any:
    return bg.tally(FRAME, ["g"], METRICS, y_true="y", y_pred="d", loss="v", cluster="c", **more)


def by_hand(scheme: str, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Metrics of subgroup a in tables put together from drawn clusters."""
    rng = np.random.default_rng(seed)
    pool = FRAME if scheme == "rows" else FRAME[FRAME["g"] == "a"]
    names, code = np.unique(pool["c"], return_inverse=True)
    times = np.array([np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names)) for _ in range(draws)])
    weight = times[:, code] * (pool["g"] == "a").to_numpy()
    y, d, v = (pool[name].to_numpy() for name in "ydv")
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "sel": (weight @ d) / weight.sum(axis=1),
            "fnr": (weight @ (y * (1 - d))) / (weight @ y),
            "f1": 2 * (weight @ (y * d)) / (weight @ (y + d)),
            "mean": (weight @ v) / weight.sum(axis=1),
        }


@pytest.mark.parametrize("scheme", ["subgroup", "rows"])
def test_the_law_is_that_of_drawn_clusters(scheme: Any) -> None:
    draws = 20_000
    found = replicates(tally(), seed=1, draws=draws, scheme=scheme)
    expected = by_hand(scheme, draws, seed=2)
    for metric in METRICS:
        mine, theirs = np.sort(found["mu"].sel(metric=metric, subgroup="a").values[0]), np.sort(expected[metric])
        assert np.isnan(mine).mean() == pytest.approx(np.isnan(theirs).mean(), abs=0.02)
        for level in (0.1, 0.3, 0.5, 0.7, 0.9):
            assert np.nanmean(mine <= np.nanquantile(theirs, level) + 1e-9) == pytest.approx(
                np.nanmean(theirs <= np.nanquantile(theirs, level) + 1e-9), abs=0.02
            )


def test_variances_of_means_of_clusters_are_exact() -> None:
    draws = 40_000
    means = tally(cluster_analysis="mean")
    found = replicates(means, seed=1, draws=draws)["mu"].var(("chain", "draw")).values
    assert found == pytest.approx(means["bootstrap_variance"].values, rel=6 * np.sqrt(2 / draws))
    assert means["estimate"].values == pytest.approx(
        replicates(means, seed=3, draws=draws)["mu"].mean(("chain", "draw")).values, abs=0.01
    )


def test_many_like_clusters_are_one_cell() -> None:
    """Eighty pairs of rows, of which every eighth is a cluster of two: few distinct sums."""
    frame = pd.DataFrame({"g": "a", "c": np.arange(160) // 2, "d": (np.arange(160) % 8 < 3) * 1.0})
    frame = frame.drop(frame.index[(frame["c"] % 8 > 0) & (np.arange(160) % 2 == 1)])
    found = bg.tally(frame, ["g"], ["sel"], y_pred="d", cluster="c")
    draws = 20_000
    mu = replicates(found, seed=1, draws=draws)["mu"].values.ravel()
    size, total = (found[name].values[0] for name in ("cluster_weight", "cluster_sum"))
    drawn = np.random.default_rng(2).integers(0, 80, (draws, 80))
    expected = total[drawn].sum(axis=1) / size[drawn].sum(axis=1)
    assert mu.mean() == pytest.approx(expected.mean(), abs=0.003)
    assert mu.var() == pytest.approx(expected.var(), rel=6 * np.sqrt(4 / draws))


def test_ignored_clusters_leave_the_bootstrap_to_rows() -> None:
    plain = bg.tally(FRAME, ["g"], METRICS, y_true="y", y_pred="d", loss="v")
    ignored = tally(cluster_analysis="ignore")
    np.testing.assert_array_equal(
        replicates(ignored, seed=1, draws=50)["mu"].values, replicates(plain, seed=1, draws=50)["mu"].values
    )


def test_large_tables_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesgroups.inference import cluster_bootstrap

    whole = replicates(tally(), seed=1, draws=60)["mu"]
    monkeypatch.setattr(cluster_bootstrap, "CHUNK", 30)
    blocks = replicates(tally(), seed=1, draws=60)["mu"]
    assert blocks.shape == whole.shape
    assert np.isfinite(blocks.sel(metric="mean")).all()


def test_an_estimator_keeps_replicates_of_clusters() -> None:
    report = bg.estimate(tally(), bg.NoPooling(bootstrap=50), seed=1)
    found = replicates(tally(), seed=1, draws=50)
    np.testing.assert_array_equal(report["bootstrap"]["mu"].values, found["mu"].values)
