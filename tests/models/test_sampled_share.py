"""Finite populations: who was not seen, what is known of them, and that a census leaves no doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.models.sampled_share import FEW, People, people, values

WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def test_who_was_evaluated(rates: xr.Dataset) -> None:
    found, count, sampling = people(rates, 0.2), rates["count"].values[0], rates["sampling_variance"].values[0]
    assert found.evaluated.tolist() == count.tolist()
    assert found.estimate == pytest.approx(np.nan_to_num(rates["estimate"].values[0]))
    row = (count * sampling)[:-1]
    assert found.row_variance == pytest.approx([*row, row.mean()])  # nobody was: as the others' vary


def test_published_estimates_are_those_of_very_many_rows() -> None:
    """Their people's value has f (1 - f) times the sampling variance, and f of the estimate."""
    tally = bg.tally_from_estimates([0.3, np.nan], [0.01, np.nan], pd.DataFrame({"site": ["a", "b"]}))
    drawn = values(np.full((4000, 2), 0.1), people(tally, 0.4), np.random.default_rng(1), rates=False)
    assert drawn.mean(axis=0) == pytest.approx([0.4 * 0.3 + 0.6 * 0.1, 0.1], abs=0.004)
    assert drawn.var(axis=0) == pytest.approx([0.4 * 0.6 * 0.01, 0.0], rel=0.1)


def test_without_any_rows_there_is_somebody() -> None:
    nobody = people(bg.tally_from_counts([0, 0], [0, 0], WHO.iloc[:2]), 1.0)
    drawn = values(np.full((4000, 2), 0.25), nobody, np.random.default_rng(1), rates=True)
    assert sorted(set(drawn.ravel())) == [0.0, 1.0]  # one person, of whom nothing is known
    assert drawn.mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_what_is_no_share_is_refused(rates: xr.Dataset, share: float) -> None:
    with pytest.raises(ValueError, match="sampled_share must be a share, from 0 to 1"):
        people(rates, share)
    with pytest.raises(bg.InputError, match=r"CrossedEffects: sampled_share=.* must be a share, from 0 to 1"):
        bg.CrossedEffects(sampled_share=share)


def test_a_text_is_no_number() -> None:
    with pytest.raises(bg.InputError, match="CrossedEffects: sampled_share='x' must be a share, from 0 to 1"):
        bg.CrossedEffects(sampled_share="x")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="PartialPooling: tau_scale='x' must be a positive number"):
        bg.PartialPooling(tau_scale="x")  # type: ignore[arg-type]


def test_how_many_the_others_are_follows_from_how_many_were_evaluated() -> None:
    """People of all numbers alike, each evaluated with probability f: numbers of the others given that n were."""
    rng, share = np.random.default_rng(1), 0.3
    number = rng.integers(0, 400, 2_000_000)
    evaluated = rng.binomial(number, share)
    for n in (0, 1, 4, 20):
        others = (number - evaluated)[evaluated == n]
        # A value of 1 in all others and of 0 in those evaluated makes their share visible.
        of = People(np.array([float(n)]), np.zeros(1), np.zeros(1), share)
        drawn = values(np.ones((20_000, 1)), of, rng, rates=True)[:, 0]
        found = np.maximum(others, 1) / (n + np.maximum(others, 1)) if n == 0 else others / (n + others)
        assert drawn.mean() == pytest.approx(found.mean(), abs=0.01)
        assert drawn.std() == pytest.approx(found.std(), abs=0.01)


def test_the_others_are_so_many_draws_from_the_model() -> None:
    of = People(np.array([200.0]), np.array([0.5]), np.array([0.3]), 0.25)
    others, rng = 603.0, np.random.default_rng(1)
    for rates, variance in ((True, 0.16), (False, 0.3)):
        drawn = values(np.full((50_000, 1), 0.2), of, rng, rates=rates)[:, 0]
        assert drawn.mean() == pytest.approx((200 * 0.5 + others * 0.2) / 803, abs=1e-3)
        assert drawn.var() == pytest.approx((others / 803) ** 2 * variance / others, rel=0.03)


def test_few_and_many_rows_meet() -> None:
    """Where the number of the others is no longer drawn, the law hardly changes."""
    of = People(np.array([FEW - 0.01, FEW]), np.full(2, 0.2), np.full(2, 0.16), 0.05)
    for rates in (True, False):
        drawn = values(np.full((100_000, 2), 0.2), of, np.random.default_rng(1), rates=rates)
        assert np.diff(drawn.mean(axis=0)).item() == pytest.approx(0.0, abs=5e-4)
        assert drawn[:, 0].std() / drawn[:, 1].std() == pytest.approx(1.02, abs=0.015)


def test_an_endless_population_is_the_model(rates: xr.Dataset) -> None:
    drawn = np.full((3, 6), 0.3)
    assert values(drawn, people(rates, 0.0), np.random.default_rng(1), rates=True) is drawn


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_a_report_has_the_people_of_its_model(rates: xr.Dataset, likelihood: Any, tasks: bool) -> None:
    """What `values` makes of the draws of an endless population, task by task."""
    if tasks:
        rates = xr.concat([rates, rates.assign_coords(metric=["other"])], dim="metric", data_vars="minimal")
    share = 0.4
    finite, endless = (
        bg.estimate(rates, bg.CrossedEffects(likelihood, sampled_share=each, tasks=tasks), seed=1)[
            "posterior"
        ].to_dataset()["mu"]
        for each in (share, 0.0)
    )
    flat = endless.transpose("metric", "chain", "draw", "subgroup").values.reshape(-1, 6)
    known = values(
        flat, people(rates.isel(metric=[0]), share), np.random.default_rng(2), rates=likelihood == "binomial"
    )
    metrics = rates.sizes["metric"]
    for one, other in zip(
        finite.transpose("metric", "chain", "draw", "subgroup").values, known.reshape(metrics, -1, 6), strict=True
    ):
        error = other.std(axis=0) * np.sqrt(2 / 4000)
        assert (np.abs(one.reshape(-1, 6).mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all()
        assert one.reshape(-1, 6).std(axis=0) == pytest.approx(other.std(axis=0), rel=0.08)


@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_a_census_leaves_no_doubt(rates: xr.Dataset, likelihood: Any) -> None:
    found = bg.estimate(rates, bg.CrossedEffects(likelihood, sampled_share=1.0), seed=1)["estimates"].to_dataset()
    side = found.sel(approach="bayesian", metric="fnr")
    estimate = rates["estimate"].values[0]
    for part in ("estimate", "median"):
        assert side[part].values[:-1] == pytest.approx(estimate[:-1], abs=1e-12)
    width = (side["upper"] - side["lower"]).sel(level=0.95).values
    assert width[:-1] == pytest.approx(np.zeros(5), abs=1e-12)
    assert width[-1] == 1 if likelihood == "binomial" else width[-1] > 0.5  # nobody of them was asked


@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_where_attributes_explain_nothing_an_estimate_keeps_its_share(rates: xr.Dataset, likelihood: Any) -> None:
    """Of the distance of an estimate from the centre nothing is learned about the others, and f of it is theirs who were seen."""
    large = bg.tally_from_counts([300, 450, 300, 550], [1000, 900, 1000, 1100], WHO.iloc[:4], metric="fnr")
    share = 0.25
    found = bg.estimate(large, bg.CrossedEffects(likelihood, tau_scale=1e-5, sampled_share=share), seed=1)
    posterior = found["posterior"].to_dataset().isel(metric=0)
    z, centre = large["estimate"].values[0], float(posterior["overall"].mean())
    kept = (posterior["mu"].mean(("chain", "draw")).values - centre) / (z - centre)
    assert kept == pytest.approx(np.full(4, share), abs=0.015)


def test_intervals_cover_the_rates_of_finite_populations() -> None:
    """Half of the people are asked, which the interval of an endless population does not know of."""
    rng = np.random.default_rng(20_261_122)
    asked = np.array([2, 4, 6, 10, 20, 40])
    inside = {share: np.zeros(6) for share in (0.5, 0.0)}
    width = {share: np.zeros(6) for share in inside}
    for seed in range(60):
        logit = -1.5 + np.repeat(rng.normal(0, 0.3, 3), 2) + np.tile(rng.normal(0, 0.3, 2), 3) + rng.normal(0, 0.2, 6)
        positive = rng.binomial(2 * asked, 1 / (1 + np.exp(-logit)))
        seen = rng.hypergeometric(positive, 2 * asked - positive, asked)
        tally = bg.tally_from_counts(seen, asked, WHO)
        for share in inside:
            one = bg.estimate(tally, bg.CrossedEffects(sampled_share=share), seed=seed)["estimates"].to_dataset()
            bounds = one.sel(approach="bayesian", level=0.95)
            lower, upper = (bounds[side].values.ravel() for side in ("lower", "upper"))
            truth = positive / (2 * asked)
            inside[share] += (lower <= truth) & (truth <= upper)
            width[share] += upper - lower
    assert 0.93 <= inside[0.5].sum() / 360 <= 0.99
    # Four people are not as their attributes say, and of eighty half are known.
    assert inside[0.0][0] < 0.93 * 60 < inside[0.5][0]
    assert width[0.5][-1] < 0.85 * width[0.0][-1]
