"""Worked values of small functions of the engines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.inference.collapsed import conjugate
from bayesgroups.inference.collapsed.confusion import metrics_of
from bayesgroups.inference.degenerate import reason, variance_check
from bayesgroups.inference.prior_conflict import SpreadPrior, conflict_check
from bayesgroups.inference.prior_densities import value_density
from bayesgroups.report.posterior import generator

SITES = pd.DataFrame({"site": ["a", "b"]})


def test_metrics_of_shares_of_cells() -> None:
    rows = pd.DataFrame({"sex": ["f", "m"] * 20, "y": [1, 0, 0, 1] * 10, "d": [1, 0, 0, 0] * 10})
    tally = bg.tally(rows, ["sex"], ["sel", "acc"], y_true="y", y_pred="d", confusion=True)
    np.testing.assert_allclose(metrics_of(tally, np.array([[0.4, 0.1], [0.2, 0.3]])), [0.4, 0.7])


def test_an_estimate_without_variance_is_its_own_posterior() -> None:
    z, v = np.array([2.0]), np.array([0.0])
    draws = conjugate.normal(z, v, np.random.default_rng(1), draws=2, prior_mean=0.0, prior_sd=1.0)
    assert draws.tolist() == [[2.0], [2.0]]


def test_one_success_of_one_trial_has_the_mean_of_jeffreys_posterior() -> None:
    draws = conjugate.beta(np.ones(1), np.ones(1), np.random.default_rng(1), draws=4000, prior=0.5)
    assert draws.shape == (4000, 1)
    assert draws.mean() == pytest.approx(0.75, abs=0.02)


def test_the_check_of_a_metric_without_variance_says_why() -> None:
    check = variance_check(bg.tally_from_counts([1], [1], SITES[:1], metric="fnr"))
    expected = "fnr: between-subgroup and sampling variance are both 0, because there is one row in all"
    assert not check.passed
    assert check.sentence.startswith(expected)
    assert reason(bg.tally_from_counts([2, 3], [2, 3], SITES)) == "all rows agree in every subgroup"


def test_the_check_of_a_prior_says_what_to_set() -> None:
    prior = SpreadPrior("half_normal", (0.5,), (3,))
    check = conflict_check("fnr", np.array([[-12.0, 0.0, 12.0]]), prior, unit=" logits", setting="tau_scale")
    assert check.sentence == (
        "fnr: the prior probability that subgroups differ as they do, by a standard deviation of 9.8 logits, is 1.818e-15, but "
        "must be at least 1e-06. Prior and data are in conflict: set tau_scale to about 9.8 to expect such differences."
    )


def test_values_without_a_population_have_jeffreys_density() -> None:
    density = value_density(np.array([0.5, 0.1]), bg.tally_from_counts([1, 30], [2, 100], SITES), binomial=True)
    np.testing.assert_allclose(density, np.log([0.25, 0.09]) / 2)


def test_random_numbers_of_a_metric_and_purpose_are_its_own() -> None:
    first, again, other = (generator(1, metric, "posterior").random() for metric in ("fnr", "fnr", "acc"))
    assert first == again != other
