"""Limits of contrasts: within the range, exactly nothing between a subgroup and itself, by Student's law where rows are few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.frequentist.intervals.rate_differences import newcombe
from bayesgroups.questions.contrasts.scales import Scale

LIMITS = ("lower", "upper", "lower_simultaneous", "upper_simultaneous")


def clustered(**settings: Any) -> xr.Dataset:
    """Rates of documents that are nearly all right or all wrong, few of them in two of three subgroups."""
    parts = {"a": [0, 0, 0, 3], "b": [4, 4, 3], "c": [0, 4] * 12}
    rows = [
        (site, f"{site}{i}", int(j < right))
        for site, each in parts.items()
        for i, right in enumerate(each)
        for j in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["site", "doc", "y"])
    return bg.tally(frame, by="site", metrics=["correct"], correct="y", cluster="doc", **settings)


def test_rates_in_clusters_have_newcombes_limits_of_effective_counts() -> None:
    source = clustered()
    answer = bg.contrasts(source, "a", scale="difference").squeeze()
    k, n = (source[name].values[0] for name in ("successes", "count"))
    assert (n < source["rows"].values / 1.5).all()
    expected = newcombe(k[1:], n[1:], k[:1], n[:1], 1.959963985)
    np.testing.assert_allclose(answer["lower"], expected.lower, atol=1e-9)
    np.testing.assert_allclose(answer["upper"], expected.upper, atol=1e-9)
    assert set(answer["interval_method"].values) == {"newcombe"}
    ratio = bg.contrasts(source, "a", scale="ratio").squeeze()
    assert set(ratio["interval_method"].values) == {"koopman"}


@pytest.mark.parametrize("reference", ["a", "overall", "rest", "best", 0.9])
@pytest.mark.parametrize("interval", ["auto", "delta"])
def test_differences_stay_in_their_range(reference: Any, interval: Any) -> None:
    for source in (
        clustered(),
        bg.tally_from_counts([1, 3], [3, 3], pd.DataFrame({"site": ["a", "b"]}), metric="correct"),
    ):
        low, high = (-0.9, 0.1) if reference == 0.9 else (-1.0, 1.0)
        answer = bg.contrasts(source, reference, scale="difference", level=0.999, interval=interval)
        for name in LIMITS:
            assert (answer[name] >= low).all()
            assert (answer[name] <= high).all()


def test_shared_clusters_and_coefficients_stay_in_their_range() -> None:
    rng = np.random.default_rng(3)
    prompt = np.repeat(np.arange(3), 4)
    frame = pd.DataFrame({"site": np.tile(list("abab"), 3), "prompt": prompt, "y": rng.integers(0, 2, 12)})
    shared = bg.tally(
        frame, by="site", metrics=["correct"], correct="y", cluster="prompt", shared_clusters="covariance"
    )
    answer = bg.contrasts(shared, "a", scale="difference", level=0.999).squeeze()
    assert str(answer["interval_method"].values) == "welch"
    assert [float(answer[name]) for name in LIMITS] == [-1, 1, -1, 1]
    twice = bg.contrasts(clustered(), contrasts={"x": {"a": 2, "b": -1, "c": -1}}, scale="difference", interval="delta")
    assert float(twice["upper"].max()) <= 2


def test_limits_of_draws_that_hold_together_stay_in_their_range() -> None:
    source = bg.tally_from_counts([0, 3, 1], [2, 3, 2], pd.DataFrame({"site": ["a", "b", "c"]}), metric="correct")
    report = bg.estimate(source, bg.NoPooling(), seed=1)
    answer = bg.contrasts(report, "a", scale="difference", level=0.999).sel(approach="bayesian")
    assert float(answer["upper_simultaneous"].max()) == 1.0
    assert float(answer["lower_simultaneous"].min()) >= -1.0


@pytest.mark.parametrize("interval", ["auto", "score", "mid_p", "delta"])
def test_a_subgroup_is_itself_exactly(interval: Any) -> None:
    """Everyone is the only subgroup: nothing is uncertain about their ratio."""
    scales: tuple[Scale, ...] = ("difference", "ratio", "odds_ratio")
    alone = bg.tally_from_counts([30], [100], pd.DataFrame({"g": ["X"]}), metric="sel")
    answer = bg.contrasts(alone, scale=scales, interval=interval, thresholds={"ratio": (0.8, 1.25)}).squeeze()
    for scale in scales:
        same = 0.0 if scale == "difference" else 1.0
        assert [float(answer[name].sel(scale=scale)) for name in ("estimate", *LIMITS)] == [same] * 5
        assert float(answer["p_value"].sel(scale=scale)) == 1
    assert answer["p_value_threshold"].sel(scale="ratio").values.tolist() == [1, 1]
    margin = bg.contrasts(
        bg.tally_from_counts([5, 9], [20, 30], pd.DataFrame({"g": ["X", "X"], "h": ["a", "b"]}), metric="sel"),
        of="X | (all)", scale=scales, interval=interval,
    ).squeeze()  # fmt: skip
    np.testing.assert_allclose([margin[name] for name in LIMITS], [[0, 1, 1]] * 4, atol=1e-9)


def matched(strata: dict[str, int], seed: int = 5) -> pd.DataFrame:
    """Items of strata, each answered by two systems."""
    rng = np.random.default_rng(seed)
    stratum = np.repeat(list(strata), list(strata.values()))
    item = np.arange(len(stratum))
    ease = rng.normal(5, 1, len(item))
    parts = [
        pd.DataFrame(
            {"system": name, "lang": stratum, "item": item, "loss": ease + shift + rng.normal(0, 1, len(item))}
        )
        for name, shift in (("A", 0.0), ("B", 0.3))
    ]
    return pd.concat(parts, ignore_index=True)


def test_pairs_of_all_strata_have_the_degrees_of_all_items() -> None:
    """A stratum of 20 items, a fifteenth of the weight, does not make them those of 20 items."""
    frame = matched({"en": 200, "de": 80, "sw": 20})
    source = bg.tally(
        frame, by=["system", "lang"], metrics=["mean"], loss="loss", cluster="item", shared_clusters="covariance"
    )
    gap = bg.contrasts(source, {"system": "A"}, scale="difference").squeeze()
    half = float(gap["upper"] - gap["lower"]) / 2 / float(gap["std_error"])
    assert stats.t.ppf(0.975, 299) < half < stats.t.ppf(0.975, 200)
    within = bg.contrasts(source, {"system": "A"}, within="lang", scale="difference", simultaneous=False).squeeze()
    alone = within.isel(contrast=[str(name).endswith("lang=sw") for name in within["contrast"].values]).squeeze()
    half = float(alone["upper"] - alone["lower"]) / 2 / float(alone["std_error"])
    assert half == pytest.approx(stats.t.ppf(0.975, 19))


def test_one_stratum_of_pairs_has_the_paired_t_test() -> None:
    frame = matched({"en": 40})
    source = bg.tally(frame, by=["system"], metrics=["mean"], loss="loss", cluster="item", shared_clusters="covariance")
    gap = bg.contrasts(source, "A", scale="difference").squeeze()
    sides = [frame.loc[frame["system"] == name, "loss"].to_numpy() for name in "BA"]
    assert float(gap["p_value"]) == pytest.approx(stats.ttest_rel(*sides).pvalue, rel=1e-6)


def test_ratios_of_few_rows_have_students_limits() -> None:
    """Three rows a side: normal limits of the log ratio cover 89 %, Student's with Satterthwaite's degrees 97 %."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"pair": np.repeat(np.arange(300), 6), "arm": np.tile(list("aaabbb"), 300)})
    frame["loss"] = rng.normal(10, 3, len(frame)).clip(0)
    source = bg.tally(frame, ["pair", "arm"], [bg.Metric("loss", value="loss", lower=0.0)])
    answer = bg.contrasts(source, {"arm": "a"}, within="pair", scale="ratio", simultaneous=False).squeeze()
    each = answer.isel(contrast=slice(1, None))
    covered = (each["lower"] <= 1) & (each["upper"] >= 1)
    assert float(covered.mean()) > 0.95
    assert (covered == (each["p_value"] >= 0.05)).all()
    assert set(each["interval_method"].values) == {"delta_t"}
