"""Finite populations: who was not seen, what is known of them, and that a census leaves no doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.models.sampled_share import People, people, values

WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def test_rows_are_a_share_of_the_people(rates: xr.Dataset) -> None:
    found = people(rates, 0.2)
    count, sampling = rates["count"].values[0], rates["sampling_variance"].values[0]
    assert found.seen[0].tolist() == [0.2] * 5 + [0.0]
    assert found.unseen[0] == pytest.approx(
        [*(4 * count[:-1]), 5 * 9]
    )  # nobody seen: as few as the smallest, all unseen
    assert found.variance[0] == pytest.approx([*(0.2 * 0.8 * sampling[:-1]), 0.2 * np.nanmax(sampling)])


def test_endless_populations_and_a_census(rates: xr.Dataset) -> None:
    endless, census = people(rates, 0.0), people(rates, 1.0)
    assert np.isinf(endless.unseen).all()
    assert not endless.seen.any()
    assert not endless.variance.any()
    assert census.seen[0].tolist() == [1.0] * 5 + [0.0]
    assert census.unseen[0, -1] == 9
    assert census.variance[0, :-1].tolist() == [0.0] * 5


def test_published_estimates_take_their_standard_errors() -> None:
    tally = bg.tally_from_estimates([0.3, np.nan], [0.01, np.nan], pd.DataFrame({"site": ["a", "b"]}))
    found = people(tally, 0.5)
    assert found.variance.tolist() == [pytest.approx([0.0025, 0.005])]
    assert found.seen.tolist() == [[0.5, 0.0]]


def test_without_any_rows_there_is_somebody() -> None:
    nobody = bg.tally_from_counts([0, 0], [0, 0], WHO.iloc[:2])
    found = people(nobody, 0.5)
    assert found.seen.tolist() == [[0.0, 0.0]]
    assert found.unseen.tolist() == [[2.0, 2.0]]


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


def test_the_others_are_so_many_draws_from_the_model() -> None:
    of = People(np.array([0.0, 0.25]), np.array([50.0, 6.0]), np.array([0.02, 0.01]))
    rng, estimate = np.random.default_rng(1), np.array([np.nan, 0.5])
    middle = [0.2, 0.25 * 0.5 + 0.75 * 0.2]
    rates = values(np.full((200_000, 2), 0.2), estimate, of, rng, rates=True)
    assert rates.mean(axis=0) == pytest.approx(middle, abs=1e-3)
    assert rates.var(axis=0) == pytest.approx([0.16 / 50, 0.75**2 * 0.16 / 6], rel=0.02)
    assert np.unique(rates[:, 1]) == pytest.approx(0.125 + 0.75 * np.arange(7) / 6)
    means = values(np.full((200_000, 2), 0.2), estimate, of, rng, rates=False)
    assert means.mean(axis=0) == pytest.approx(middle, abs=1e-3)
    assert means.var(axis=0) == pytest.approx([0.02, 0.01], rel=0.02)


def test_an_endless_population_is_the_model(rates: xr.Dataset) -> None:
    of, drawn = people(rates, 0.0), np.full((3, 6), 0.3)
    assert values(drawn, rates["estimate"].values[0], of, np.random.default_rng(1), rates=True) is drawn


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_a_report_has_the_people_of_its_model(rates: xr.Dataset, likelihood: Any, tasks: bool) -> None:
    """Means and variances of f estimate + (1 - f) unseen, from those of the draws of an endless population."""
    if tasks:
        rates = xr.concat([rates, rates.assign_coords(metric=["other"])], dim="metric", data_vars="minimal")
    share = 0.4
    finite, endless = (
        bg.estimate(rates, bg.CrossedEffects(likelihood, sampled_share=each, tasks=tasks), seed=1)[
            "posterior"
        ].to_dataset()["mu"]
        for each in (share, 0.0)
    )
    of, z = people(rates, share), np.nan_to_num(rates["estimate"].values)
    mean, variance = endless.mean(("chain", "draw")).values, endless.var(("chain", "draw")).values
    others = (endless * (1 - endless)).mean(("chain", "draw")).values / of.unseen
    added = (1 - of.seen) ** 2 * others if likelihood == "binomial" else of.variance
    assert finite.mean(("chain", "draw")).values == pytest.approx(of.seen * z + (1 - of.seen) * mean, abs=0.005)
    assert finite.var(("chain", "draw")).values == pytest.approx((1 - of.seen) ** 2 * variance + added, rel=0.1)


@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_a_census_leaves_no_doubt(rates: xr.Dataset, likelihood: Any) -> None:
    found = bg.estimate(rates, bg.CrossedEffects(likelihood, sampled_share=1.0), seed=1)["estimates"].to_dataset()
    side = found.sel(approach="bayesian", metric="fnr")
    estimate = rates["estimate"].values[0]
    for part in ("estimate", "median"):
        assert side[part].values[:-1] == pytest.approx(estimate[:-1], abs=1e-12)
    width = (side["upper"] - side["lower"]).sel(level=0.95).values
    assert width[:-1] == pytest.approx(np.zeros(5), abs=1e-12)
    assert width[-1] > 0.1  # nobody of them was asked


@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_where_attributes_explain_nothing_an_estimate_keeps_its_share(rates: xr.Dataset, likelihood: Any) -> None:
    """Of the distance of an estimate from the centre nothing is learned about the others, and f of it is theirs who were seen."""
    large = bg.tally_from_counts([300, 450, 300, 550], [1000, 900, 1000, 1100], WHO.iloc[:4], metric="fnr")
    share = 0.25
    found = bg.estimate(large, bg.CrossedEffects(likelihood, tau_scale=1e-5, sampled_share=share), seed=1)
    posterior = found["posterior"].to_dataset().isel(metric=0)
    z, centre = large["estimate"].values[0], float(posterior["overall"].mean())
    kept = (posterior["mu"].mean(("chain", "draw")).values - centre) / (z - centre)
    assert kept == pytest.approx(np.full(4, share), abs=0.01)


def test_intervals_cover_the_rates_of_finite_populations() -> None:
    """Half of the people are asked, which the interval of an endless population does not know of."""
    rng = np.random.default_rng(20_261_122)
    asked = np.array([2, 4, 6, 10, 20, 40])
    inside = {0.5: 0, 0.0: 0}
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
            inside[share] += int(((lower <= truth) & (truth <= upper)).sum())
    assert 0.93 <= inside[0.5] / 360 <= 0.99
    assert inside[0.0] / 360 < 0.93
