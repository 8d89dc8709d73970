"""NUTS on the PyMC model of crossed effects and the exact engine are two ways to one posterior, tasks included."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg

WHO = pd.DataFrame(itertools.product("abcd", "xyz"), columns=["race", "age"])
TRIALS = np.array([2, 9, 40, 300, 15, 80, 0, 30, 5, 60, 150, 25])


def counts() -> xr.Dataset:
    rng = np.random.default_rng(5)
    logit = -1 + np.repeat(rng.normal(0, 0.5, 4), 3) + np.tile(rng.normal(0, 0.3, 3), 4) + rng.normal(0, 0.2, 12)
    successes = {
        name: rng.binomial(TRIALS, 1 / (1 + np.exp(-logit - shift))) for name, shift in (("one", 0.0), ("two", 0.4))
    }
    return bg.tally_from_counts(successes, {"one": TRIALS, "two": TRIALS}, WHO)


@pytest.mark.slow
def test_they_agree_on_the_share_that_follows_an_order() -> None:
    """Five ages by two sexes, and one age without rows."""
    who = pd.DataFrame([(age, sex) for age in "abcde" for sex in "fm"], columns=["age", "sex"])
    n = np.where(who["age"] == "c", 0, 40)
    k = np.round(n * (0.1 + 0.12 * who["age"].map("abcde".index) + 0.05 * (who["sex"] == "f")))
    tally = bg.tally_from_counts(k.tolist(), n.tolist(), who, metric="fnr")
    word = bg.CrossedEffects(ordered=("age",))
    one = bg.estimate(tally, word, seed=1, inference="collapsed")["posterior"].to_dataset()
    two = bg.estimate(tally, word, seed=1, inference="nuts")["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars) >= {"ordered_share"}
    dims = ("chain", "draw")
    for name in one.data_vars:
        gap = (one[name].mean(dims) - two[name].mean(dims)) / two[name].std(dims)
        assert np.abs(gap).max() < 0.12, name
        assert np.abs(np.log(one[name].std(dims) / two[name].std(dims))).max() < 0.2, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("likelihood", "tasks", "engine"), [("binomial", False, "hamiltonian"), ("normal", True, "collapsed")]
)
def test_the_two_engines_agree_within_monte_carlo_error(
    likelihood: Literal["binomial", "normal"], tasks: bool, engine: str
) -> None:
    import arviz as az

    tally = counts() if tasks else counts().sel(metric=["one"])
    estimator = bg.CrossedEffects(likelihood=likelihood, tasks=tasks)
    exact = bg.estimate(tally, estimator, seed=1, inference="collapsed")
    nuts = bg.estimate(tally, estimator, seed=1, inference="nuts")
    assert (exact.attrs["inference"], nuts.attrs["inference"]) == (engine, "nuts")
    assert exact.attrs["usable"] == 1
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars)
    dims = ("chain", "draw")
    ess = xr.Dataset({name: az.ess(two[name]) for name in two.data_vars})
    for name in one.data_vars:
        # Draws of chains, and those that importance sampling took twice, are fewer than they look, by a third here.
        error = np.sqrt(one[name].var(dims) / 2500 + two[name].var(dims) / np.minimum(ess[name], 4000))
        z = ((one[name].mean(dims) - two[name].mean(dims)) / error).values
        assert np.abs(z).max() < 4.5, name
        ratio = one[name].std(dims) / two[name].std(dims)
        assert np.abs(np.log(ratio)).max() < 0.2, name
