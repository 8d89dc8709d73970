"""Finite populations: members who were not evaluated, what is known of them, and a census."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import kstest

import bayesgroups as bg
from bayesgroups.models.shared.finite_population import (
    MIN_ROWS_FOR_EXPECTED_SIZE,
    FinitePopulation,
    finite_population,
    finite_population_values,
)

WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def test_who_was_evaluated(rates: xr.Dataset) -> None:
    found, count, sampling = (
        finite_population(rates, 0.2),
        rates["count"].values[0],
        rates["sampling_variance"].values[0],
    )
    assert found.evaluated.tolist() == count.tolist()
    assert found.estimate == pytest.approx(np.nan_to_num(rates["estimate"].values[0]))
    row = (count * sampling)[:-1]
    assert found.row_variance == pytest.approx([*row, row.mean()])  # nobody was: as the others' vary


def test_published_estimates_are_those_of_very_many_rows() -> None:
    """Their people's value has f (1 - f) times the sampling variance, and f of the estimate."""
    tally = bg.tally_from_estimates([0.3, np.nan], [0.01, np.nan], pd.DataFrame({"site": ["a", "b"]}))
    drawn = finite_population_values(
        np.full((4000, 2), 0.1), finite_population(tally, 0.4), np.random.default_rng(1), rates=False
    )
    assert drawn.mean(axis=0) == pytest.approx([0.4 * 0.3 + 0.6 * 0.1, 0.1], abs=0.004)
    assert drawn.var(axis=0) == pytest.approx([0.4 * 0.6 * 0.01, 0.0], rel=0.1)


def test_without_any_rows_there_is_somebody() -> None:
    nobody = finite_population(bg.tally_from_counts([0, 0], [0, 0], WHO.iloc[:2]), 1.0)
    drawn = finite_population_values(np.full((4000, 2), 0.25), nobody, np.random.default_rng(1), rates=True)
    assert sorted(set(drawn.ravel())) == [0.0, 1.0]  # one person, of whom nothing is known
    assert drawn.mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan])
def test_a_sampling_fraction_beyond_its_range_is_refused(rates: xr.Dataset, fraction: float) -> None:
    with pytest.raises(ValueError, match="sampling_fraction must be from 0 to 1"):
        finite_population(rates, fraction)


def test_estimators_answer_for_the_superpopulation(rates: xr.Dataset) -> None:
    with pytest.raises(TypeError, match="sampled_share"):
        bg.CrossedEffects(sampled_share=0.05)  # type: ignore[call-arg]


def test_how_many_the_others_are_follows_from_how_many_were_evaluated() -> None:
    """People of all numbers alike, each evaluated with probability f: numbers of the others given that n were."""
    rng, share = np.random.default_rng(1), 0.3
    number = rng.integers(0, 400, 2_000_000)
    evaluated = rng.binomial(number, share)
    for n in (0, 1, 4, 20):
        others = (number - evaluated)[evaluated == n]
        # A value of 1 in all others and of 0 in those evaluated makes their share visible.
        of = FinitePopulation(np.array([float(n)]), np.zeros(1), np.zeros(1), share)
        drawn = finite_population_values(np.ones((20_000, 1)), of, rng, rates=True)[:, 0]
        found = np.maximum(others, 1) / (n + np.maximum(others, 1)) if n == 0 else others / (n + others)
        assert drawn.mean() == pytest.approx(found.mean(), abs=0.01)
        assert drawn.std() == pytest.approx(found.std(), abs=0.01)


def test_the_others_are_so_many_draws_from_the_model() -> None:
    of = FinitePopulation(np.array([200.0]), np.array([0.5]), np.array([0.3]), 0.25)
    others, rng = 603.0, np.random.default_rng(1)
    for rates, variance in ((True, 0.16), (False, 0.3)):
        drawn = finite_population_values(np.full((50_000, 1), 0.2), of, rng, rates=rates)[:, 0]
        assert drawn.mean() == pytest.approx((200 * 0.5 + others * 0.2) / 803, abs=1e-3)
        assert drawn.var() == pytest.approx((others / 803) ** 2 * variance / others, rel=0.03)


def test_few_and_many_rows_meet() -> None:
    """Where the number of the others is no longer drawn, the law hardly changes."""
    of = FinitePopulation(
        np.array([MIN_ROWS_FOR_EXPECTED_SIZE - 0.01, MIN_ROWS_FOR_EXPECTED_SIZE]),
        np.full(2, 0.2),
        np.full(2, 0.16),
        0.05,
    )
    for rates in (True, False):
        drawn = finite_population_values(np.full((100_000, 2), 0.2), of, np.random.default_rng(1), rates=rates)
        assert np.diff(drawn.mean(axis=0)).item() == pytest.approx(0.0, abs=5e-4)
        assert drawn[:, 0].std() / drawn[:, 1].std() == pytest.approx(1.02, abs=0.015)


def test_an_endless_population_is_the_model(rates: xr.Dataset) -> None:
    drawn = np.full((3, 6), 0.3)
    assert finite_population_values(drawn, finite_population(rates, 0.0), np.random.default_rng(1), rates=True) is drawn


@pytest.mark.parametrize("kind", ["rates", "means"])
def test_a_census_leaves_no_doubt(rates: xr.Dataset, kind: str) -> None:
    census = finite_population(rates, 1.0)
    values = finite_population_values(np.full((50, 6), 0.4), census, np.random.default_rng(1), rates=kind == "rates")
    np.testing.assert_allclose(values[:, :-1], np.tile(rates["estimate"].values[0, :-1], (50, 1)), rtol=1e-12)
    assert values[:, -1].std() > 0.1  # nobody of them was evaluated


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_values_of_finite_populations_are_calibrated(fraction: float) -> None:
    """Rates from the prior of the draws, populations from the rates: ranks of the truth are uniform."""
    rng = np.random.default_rng(20_261_123)
    rate, asked = rng.beta(2, 5, 1500), np.tile([2, 4, 6, 10, 20, 40], 250)
    seen, others = rng.binomial(asked, rate), rng.negative_binomial(asked + 1, fraction)
    truth = (seen + rng.binomial(others, rate)) / (asked + others)
    of = FinitePopulation(asked.astype(float), seen / asked, np.zeros(1500), fraction)
    mu = rng.beta(2 + seen, 5 + asked - seen, (1000, 1500))
    values = finite_population_values(mu, of, rng, rates=True)
    below, equal = (values < truth - 1e-9).mean(axis=0), (np.abs(values - truth) <= 1e-9).mean(axis=0)
    assert kstest(below + rng.random(1500) * equal, "uniform").pvalue > 0.01


@pytest.mark.slow
def test_intervals_cover_the_rates_of_finite_populations() -> None:
    """Half of the people are asked, which the interval of an endless population does not know of."""
    rng = np.random.default_rng(20_261_122)
    asked = np.array([2, 4, 6, 10, 20, 40])
    inside = {fraction: np.zeros(6) for fraction in (0.5, 0.0)}
    width = {fraction: np.zeros(6) for fraction in inside}
    for seed in range(60):
        logit = -1.5 + np.repeat(rng.normal(0, 0.3, 3), 2) + np.tile(rng.normal(0, 0.3, 2), 3) + rng.normal(0, 0.2, 6)
        positive = rng.binomial(2 * asked, 1 / (1 + np.exp(-logit)))
        seen = rng.hypergeometric(positive, 2 * asked - positive, asked)
        tally = bg.tally_from_counts(seen, asked, WHO)
        posterior = bg.estimate(tally, bg.CrossedEffects(), seed=seed)["posterior"].to_dataset()
        mu = posterior["mu"].isel(metric=0).values.reshape(-1, 6)
        for fraction in inside:
            draws = finite_population_values(mu, finite_population(tally, fraction), rng, rates=True)
            lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
            truth = positive / (2 * asked)
            inside[fraction] += (lower <= truth) & (truth <= upper)
            width[fraction] += upper - lower
    assert 0.93 <= inside[0.5].sum() / 360 <= 0.99
    # Four people are not as their attributes say, and of eighty half are known.
    assert inside[0.0][0] < 0.93 * 60 < inside[0.5][0]
    assert width[0.5][-1] < 0.85 * width[0.0][-1]
