"""Rows in clusters: the worked example, the three analyses, and what must not change them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.clusters import Cells, intraclass_correlation, robust_variance
from bayesgroups.tallies.variances import Pooling

WORKED = pd.DataFrame(
    {"g": "a", "speaker": list("rrrrstt"), "wer": [0.10, 0.20, 0.15, 0.15, 0.40, 0.30, 0.20]}
)  # fmt: skip
EVERYTHING = ["sel", "fnr", "ppv", "f1", "auc", "mean"]
BOUNDED = settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
ROW_LEVEL = ["count", "successes", "estimate", "row_variance", "sampling_variance", "bootstrap_variance",
             "pooled_variance", "pooled_df", "kind", "status"]  # fmt: skip


def worked(analysis: ClusterAnalysis | None) -> xr.Dataset:
    return bg.tally(WORKED, ["g"], ["mean"], loss="wer", cluster="speaker", cluster_analysis=analysis)


def rows(seed: int, n: int = 300, clusters: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    person = rng.integers(0, clusters, n)
    y = (rng.random(n) < 0.4 + 0.2 * (person % 3 - 1)).astype(int)
    s = np.round(rng.random(n) * 0.7 + 0.3 * y, 2)
    group = np.where(rng.random(n) < 0.5, "a", "b")
    v = rng.normal(size=n) + person % 5
    return pd.DataFrame({"g": group, "c": person, "y": y, "s": s, "v": v, "w": rng.random(n) + 0.5})


def everything(frame: pd.DataFrame, metrics: Any = EVERYTHING, **more: Any) -> xr.Dataset:
    return bg.tally(
        frame, {"g": ["a", "b", "e"]}, metrics, y_true="y", y_score="s", threshold=0.5, loss="v", **{"cluster": "c"} | more
    )  # fmt: skip


def half_width(tally: xr.Dataset, interval: Any) -> float:
    found = no_pooling.estimate(tally, interval=interval).sel(level=0.95)
    return float((found["upper"] - found["lower"]).item() / 2)


def test_the_worked_example() -> None:
    plain, robust, mean = worked("ignore"), worked("robust"), worked("mean")
    assert plain["estimate"].item() == pytest.approx(0.214286, abs=5e-7)
    assert plain["sampling_variance"].item() == pytest.approx(0.001514, abs=5e-7)
    assert plain["kind"].item() == robust["kind"].item() == mean["kind"].item() == "mean"
    assert robust["estimate"].item() == pytest.approx(0.214286, abs=5e-7)
    assert robust["cluster_robust_variance"].item() == pytest.approx(0.003236, abs=5e-7)
    assert plain["cluster_robust_variance"].item() == robust["cluster_robust_variance"].item()
    assert half_width(robust, "cluster_robust") == pytest.approx(0.244766, abs=5e-7)
    assert mean["estimate"].item() == pytest.approx(0.266667, abs=5e-7)
    assert mean["sampling_variance"].item() == pytest.approx(0.005278, abs=5e-7)
    assert mean["cluster_robust_variance"].item() == pytest.approx(0.005278, abs=5e-7)
    for interval in ("t", "pooled_t", "cluster_robust"):
        assert half_width(mean, interval) == pytest.approx(0.312580, abs=5e-7)
    for one in (plain, robust, mean):
        assert one["icc"].item() == pytest.approx(0.829268, abs=5e-7)
        assert one["cluster_count"].item() == 3
    between, within, n0 = 0.026786, 0.0025, 2
    assert (between - within) / (between + (n0 - 1) * within) == pytest.approx(0.829268, abs=5e-6)
    assert robust["count"].item() == pytest.approx(7 / (1 + (21 / 7 - 1) * 0.829268), abs=1e-5)
    assert robust["pooled_df"].item() == mean["pooled_df"].item() == 2
    assert robust["row_variance"].item() == pytest.approx(0.063571 / 7 * (2.633 / 1.633), abs=1e-5)
    assert mean["count"].item() == 3
    assert np.isnan(mean["successes"].item())


def test_the_default_is_robust_and_is_said() -> None:
    tally = everything(rows(1))
    assert tally.attrs["cluster_analysis"] == "robust"
    assert tally["cluster_analysis"].values.tolist() == ["robust"] * 4 + ["ignore", "robust"]
    plain = everything(rows(1), cluster_analysis="ignore")
    for name in ("estimate", "count", "sampling_variance", "bootstrap_variance", "status"):
        xr.testing.assert_equal(tally[name].sel(metric="auc"), plain[name].sel(metric="auc"))
    without = everything(rows(1), cluster=None)
    for name in map(str, without.data_vars):
        xr.testing.assert_equal(plain[name], without[name])
    assert "cluster_analysis" not in without.attrs


@pytest.mark.parametrize("analysis", ["robust", "mean"])
def test_single_rows_as_clusters_are_rows(analysis: ClusterAnalysis) -> None:
    frame = rows(2).assign(c=lambda frame: np.arange(len(frame)))
    plain, found = everything(frame, cluster=None), everything(frame, cluster_analysis=analysis)
    for name in ROW_LEVEL:
        mine, theirs = found[name], plain[name]
        if analysis == "mean" and name in ("kind", "successes"):
            continue
        if analysis == "mean" and name.endswith(("variance", "estimate", "status")):  # F1 of clusters is another thing
            mine, theirs = mine.drop_sel(metric="f1"), theirs.drop_sel(metric="f1")
        xr.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert np.isnan(found["icc"]).all()


def test_weighted_single_rows_keep_their_effective_count() -> None:
    frame = rows(2).assign(c=lambda frame: np.arange(len(frame)))
    plain, found = everything(frame, weights="w", cluster=None), everything(frame, weights="w")
    for name in ("count", "successes", "estimate", "row_variance", "sampling_variance", "pooled_df"):
        xr.testing.assert_allclose(found[name], plain[name], rtol=1e-12)


def test_repeated_rows_tell_nothing_new() -> None:
    frame = rows(3).assign(c=lambda frame: np.arange(len(frame)))
    once = everything(frame).drop_sel(metric="auc")
    thrice = everything(pd.concat([frame] * 3)).drop_sel(metric="auc")
    assert (thrice["rows"] == 3 * once["rows"]).all()
    for name in [*ROW_LEVEL, "cluster_robust_variance", "cluster_count"]:
        xr.testing.assert_allclose(thrice[name], once[name], rtol=1e-9)
    assert thrice["icc"].values == pytest.approx(1.0)
    clustered = everything(rows(4)).drop_sel(metric="auc")
    repeated = everything(pd.concat([rows(4)] * 3)).drop_sel(metric="auc")
    for name in ("estimate", "cluster_robust_variance", "bootstrap_variance", "cluster_count", "pooled_df"):
        xr.testing.assert_allclose(repeated[name], clustered[name], rtol=1e-9)


def test_rates_of_clusters_by_hand() -> None:
    frame = rows(5)
    found = everything(frame).sel(metric="fnr", subgroup="a")
    part = frame[(frame["g"] == "a") & (frame["y"] == 1)].assign(missed=lambda part: (part["s"] < 0.5) * 1.0)
    z, n = part["missed"].mean(), len(part)
    sums = part.assign(away=part["missed"] - z).groupby("c")["away"].sum()
    clusters = len(sums)
    assert float(found["cluster_count"]) == clusters
    assert float(found["cluster_robust_variance"]) == pytest.approx(clusters / (clusters - 1) * (sums**2).sum() / n**2)
    size = part.groupby("c").size()
    effective = n / (1 + ((size**2).sum() / n - 1) * float(found["icc"]))
    assert float(found["count"]) == pytest.approx(effective)
    assert float(found["successes"]) == pytest.approx(z * effective)
    mean = everything(frame, cluster_analysis="mean").sel(subgroup="a")
    assert float(mean["estimate"].sel(metric="fnr")) == pytest.approx(part.groupby("c")["missed"].mean().mean())
    assert mean["kind"].sel(metric="fnr").item() == "mean"
    assert float(mean["range_upper"].sel(metric="fnr")) == 1


def test_f1_is_linearised() -> None:
    frame = rows(6)
    found = everything(frame).sel(metric="f1", subgroup="a")
    part = frame[frame["g"] == "a"].assign(d=lambda part: (part["s"] >= 0.5) * 1)
    part = part.assign(top=2 * part["y"] * part["d"], of=part["y"] + part["d"])
    f1 = part["top"].sum() / part["of"].sum()
    assert float(found["estimate"]) == pytest.approx(f1)
    away = (part["top"] - f1 * part["of"]).groupby(part["c"]).sum() / part["of"].sum()
    clusters = part[part["of"] > 0]["c"].nunique()
    assert float(found["cluster_robust_variance"]) == pytest.approx(clusters / (clusters - 1) * (away**2).sum())
    means = part[part["of"] > 0].groupby("c")[["top", "of"]].sum()
    mean = everything(frame, cluster_analysis="mean").sel(metric="f1", subgroup="a")
    assert float(mean["estimate"]) == pytest.approx((means["top"] / means["of"]).mean())


def test_the_correlation_of_a_known_model_is_found() -> None:
    rng = np.random.default_rng(7)
    size = rng.integers(1, 9, 4000)
    cluster, group = np.repeat(np.arange(4000), size), np.repeat(np.arange(4000) % 5, size)
    value = np.sqrt(0.3) * rng.normal(size=4000)[cluster] + np.sqrt(0.7) * rng.normal(size=len(cluster)) + group
    frame = pd.DataFrame({"g": group, "c": cluster, "v": value, "w": rng.exponential(size=len(cluster)) + 0.1})
    for weights in (None, "w"):
        tally = bg.tally(frame, ["g"], ["mean"], loss="v", cluster="c", weights=weights)
        assert float(tally["icc"][0]) == pytest.approx(0.3, abs=0.03)
        assert float(tally["pooled_variance"][0]) == pytest.approx(1.0, abs=0.04)
        own, shared = tally["cluster_robust_variance"].values, tally["sampling_variance"].values
        assert own == pytest.approx(shared, rel=0.15)


def test_one_cluster_per_subgroup_has_a_pooled_width() -> None:
    frame = rows(8)
    frame = pd.concat([frame, frame.head(5).assign(g="e", c=99)])
    found = everything(frame).sel(metric="mean", subgroup="e")
    assert np.isnan(found["cluster_robust_variance"])
    assert found["status"].item() == "ok"
    size = 5.0
    expected = found["pooled_variance"] / size * (1 + (size - 1) * found["icc"])
    assert float(found["sampling_variance"]) == pytest.approx(float(expected))
    alone = (
        frame.drop_duplicates("g")
        .reset_index(drop=True)
        .loc[lambda some: some.index.repeat(4)]
        .assign(c=lambda some: some["g"])
    )
    nothing = everything(alone, ["sel", "mean"])
    assert np.isnan(nothing["icc"]).all()
    assert (nothing["count"] == 1).all()
    assert (nothing["status"] == "single").all()
    assert (nothing["reason"] == "one cluster").all()
    total = alone.drop_duplicates("g")["v"].var()
    assert nothing["sampling_variance"].sel(metric="mean").values == pytest.approx(total)


def test_saturated_and_undefined() -> None:
    frame = rows(9).assign(s=0.9)
    found = everything(frame, ["sel", "fnr"])
    assert found["status"].values.tolist() == [["saturated", "saturated", "undefined"]] * 2
    assert np.isnan(found["icc"]).all()
    assert (found["cluster_robust_variance"].values[:, :2] == 0).all()
    means = everything(frame, ["sel", "fnr"], cluster_analysis="mean")
    assert means["reason"].values[0].tolist() == ["all clusters agree"] * 2 + ["no rows"]


@BOUNDED
@given(st.integers(0, 10_000), st.sampled_from([None, "w"]), st.sampled_from(["robust", "mean", "ignore"]))
def test_labels_order_and_parts_do_not_matter(seed: int, weights: str | None, analysis: ClusterAnalysis) -> None:
    frame = rows(seed, n=40, clusters=12)
    rng = np.random.default_rng(seed)
    whole = everything(frame, weights=weights, cluster_analysis=analysis)
    names = rng.permutation(12)
    other = frame.sample(frac=1, random_state=seed).assign(c=lambda some: [f"x{names[c]}" for c in some["c"]])
    relabelled = everything(other, weights=weights, cluster_analysis=analysis)
    cut = 25
    parts = [everything(part, weights=weights, cluster_analysis=analysis) for part in (frame[:cut], frame[cut:])]
    added = bg.add_tallies(parts)
    assert added.attrs["cluster_analysis"] == analysis
    for name in [*ROW_LEVEL, "icc", "cluster_count", "cluster_robust_variance", "reason"]:
        xr.testing.assert_allclose(relabelled[name], whole[name], rtol=1e-9, atol=1e-12)
        xr.testing.assert_allclose(added[name], whole[name], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"cluster": "speaker"}, r"column 'speaker' \(cluster=\) is not in the frame"),
        ({"cluster": "gap"}, r"column 'gap' \(cluster=\) has 1 missing value"),
        ({"cluster": None, "cluster_analysis": "mean"}, "cluster_analysis='mean' needs cluster="),
        ({"cluster_analysis": "robst"}, "cluster_analysis='robst' is not one of .*; did you mean 'robust'"),
        ({"pooled_variance": "published"}, "pooled_variance='published' knows no clusters; use 'corrected'"),
    ],
)
def test_bad_input(more: dict[str, Any], match: str) -> None:
    frame = rows(1, n=5).assign(gap=[1, 2, np.nan, 3, 3])
    with pytest.raises(bg.InputError, match=match):
        everything(frame, **more)


@pytest.mark.parametrize("pooling", ["published", "published_rows"])
def test_published_poolings_work_on_means_of_clusters(pooling: Pooling) -> None:
    found = everything(rows(1), ["mean"], cluster_analysis="mean", pooled_variance=pooling)
    expected = everything(rows(1), ["mean"], cluster_analysis="mean")
    share = 1 - 2 / float(expected["count"].sum())
    np.testing.assert_allclose(found["pooled_variance"], share * expected["pooled_variance"])


def test_different_analyses_do_not_add_up() -> None:
    parts = [everything(rows(1), cluster_analysis=analysis) for analysis in ("robust", "mean")]
    with pytest.raises(bg.InputError, match="different cluster_analysis: robust and mean"):
        bg.add_tallies(parts)


def test_the_formulas_by_themselves() -> None:
    size = np.array([3.0, 3, 0])
    cells = Cells(np.array([0, 0, 1]), size, np.array([3.0, 0, 0]), size, 2)
    assert robust_variance(cells, np.array([0.5, np.nan]))[0] == pytest.approx(2 * (1.5**2 * 2) / 36)
    assert np.isnan(robust_variance(cells, np.array([0.5, np.nan]))[1])
    assert intraclass_correlation(cells, np.array([0.5, np.nan]), np.array([1.5, 0.0])) == 1
    assert intraclass_correlation(cells, np.array([0.5, np.nan]), np.array([30.0, 0.0])) == 0
