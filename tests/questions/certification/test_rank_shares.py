"""Ranks with ties: whatever ties, the probabilities of ranks sum to 1 over subgroups and over ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.certification.rank_shares import rank, rank_probabilities, times_at_ends, times_ranked

# Few different values, so that ties of every pattern occur.
DRAWS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(1, 7)), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])
)


def sites(number: int) -> pd.DataFrame:
    return pd.DataFrame({"site": [f"s{i}" for i in range(number)]})


def report_of(draws: FloatArray) -> xr.DataTree:
    """A report whose posterior and bootstrap are these draws (draw, subgroup)."""
    tally = bg.tally_from_counts([5] * draws.shape[1], [10] * draws.shape[1], sites(draws.shape[1]), metric="acc")
    report = bg.estimate(tally, bg.NoPooling(bootstrap=2), seed=1)
    mu = xr.DataArray(draws[None, :, None, :], dims=("chain", "draw", "metric", "subgroup"))
    for group in ("posterior", "bootstrap"):
        report[group] = xr.Dataset({"mu": mu.assign_coords(metric=["acc"], subgroup=tally["subgroup"].values)})
    return report


def by_hand(draws: FloatArray) -> FloatArray:
    """Share of draws with each rank, (subgroup, rank), counted one by one."""
    shares = np.zeros((draws.shape[1], draws.shape[1]))
    for values in draws:
        for g, value in enumerate(values):
            better, tied = int((values > value).sum()), int((values == value).sum())
            shares[g, better : better + tied] += 1 / tied
    return shares / len(draws)


@settings(deadline=None)
@given(DRAWS)
def test_shares_of_ranks_sum_to_one_both_ways(draws: FloatArray) -> None:
    shares = rank_probabilities([draws[:1], draws[1:]], draws.shape[1])
    np.testing.assert_allclose(shares, by_hand(draws), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert (shares >= 0).all()


@settings(deadline=None)
@given(DRAWS)
def test_the_ends_and_the_mean_follow_from_the_same_shares(draws: FloatArray) -> None:
    shares = times_ranked(draws)
    best, worst = times_at_ends(draws)
    np.testing.assert_allclose(best, shares[:, 0], atol=1e-12)
    np.testing.assert_allclose(worst, shares[:, -1], atol=1e-12)
    expected = shares @ np.arange(1, draws.shape[1] + 1) / len(draws)
    np.testing.assert_allclose(expected, rank(draws).mean(axis=0), rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(DRAWS)
@pytest.mark.parametrize("using", ["tally", "posterior", "bootstrap"])
def test_of_every_source_the_shares_of_ranks_sum_to_one(using: str, draws: FloatArray) -> None:
    groups = draws.shape[1]
    source: xr.Dataset | xr.DataTree
    if using == "tally":
        draws = draws[:1]
        source = bg.tally_from_counts(draws[0] * 8, [8] * groups, sites(groups), metric="acc")
    else:
        source = report_of(draws)
    answer = bg.ranks(source, using=using, all_ranks=True).isel(metric=0)  # type: ignore[arg-type]
    shares = answer["rank_share"].transpose("subgroup", "place").values
    np.testing.assert_allclose(shares, by_hand(draws), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert answer["place"].values.tolist() == list(range(1, groups + 1))
    if using == "tally":
        np.testing.assert_allclose(answer["rank"].values, shares @ answer["place"].values, rtol=1e-12)
    if using == "posterior":
        np.testing.assert_allclose(answer["probability_best"].values, shares[:, 0], atol=1e-12)
        np.testing.assert_allclose(answer["probability_worst"].values, shares[:, -1], atol=1e-12)
        np.testing.assert_allclose(answer["expected_rank"].values, shares @ answer["place"].values, rtol=1e-6)
        worst = bg.certify(source).isel(metric=0)["probability_worst"].values
        np.testing.assert_allclose(answer["probability_worst"].values, worst, atol=1e-12)


@pytest.mark.parametrize("estimator", [bg.CompletePooling(), bg.JamesStein()], ids=["all tied", "some draws tied"])
def test_the_probabilities_of_best_and_worst_of_a_report_sum_to_one(estimator: bg.CompletePooling) -> None:
    tally = bg.tally_from_counts([5, 10, 15, 20], [10, 20, 30, 40], sites(4), metric="acc")
    answer = bg.ranks(bg.estimate(tally, estimator, seed=1)).isel(metric=0)
    for end in ("best", "worst"):
        assert float(answer[f"probability_{end}"].sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(answer["expected_rank"].mean()) == pytest.approx(2.5, rel=1e-6)


def test_a_subgroup_left_out_has_no_rank_and_takes_none_from_others() -> None:
    tally = bg.tally_from_counts([5, 9, 0], [10, 10, 0], sites(3), metric="acc")
    answer = bg.ranks(bg.estimate(tally, bg.PartialPooling(), seed=1), all_ranks=True).isel(metric=0)
    shares = answer["rank_share"].transpose("subgroup", "place").values
    assert np.isnan(shares[2]).all()
    assert np.isnan(shares[:, 2]).all()
    np.testing.assert_allclose(shares[:2, :2].sum(axis=0), 1.0, rtol=1e-12)


def test_draws_without_a_value_in_some_subgroup_have_no_ranks() -> None:
    draws = np.array([[0.9, 0.1], [np.nan, 0.5], [0.2, 0.4]])
    assert rank_probabilities([draws], 2).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    answer = bg.ranks(report_of(draws)).isel(metric=0)
    assert answer["probability_worst"].values.tolist() == [0.5, 0.5]
    nothing = bg.ranks(report_of(np.array([[np.nan, 0.5], [0.5, np.nan]])), all_ranks=True).isel(metric=0)
    assert np.isnan(nothing["rank_share"].values).all()
    assert np.isnan(nothing["probability_worst"].values).all()


def test_shares_of_many_ties_need_no_pass_per_subgroup() -> None:
    shares = rank_probabilities([np.zeros((50, 400))], 400)
    np.testing.assert_allclose(shares, 1 / 400, rtol=1e-12)
