"""Finite populations: their variances, the prior they imply, and what is left of the shrinkage when nothing else differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode

import bayesgroups as bg
from bayesgroups.models import crossed_effects
from bayesgroups.models.component_scales import logit_row
from bayesgroups.models.sampled_share import finite_variances

FAST = Mode(linker="py", optimizer="fast_compile")
WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def test_they_fall_with_rows_and_rise_with_the_share(rates: xr.Dataset) -> None:
    found = finite_variances(rates, np.array([True]), 0.2)[0]
    count = rates["count"].values[0]
    assert found[:-1] == pytest.approx(0.2 * logit_row(rates.isel(metric=0)) ** 2 / count[:-1])
    assert found[-1] == found.max()
    normal = finite_variances(rates, np.array([False]), 0.2)[0]
    assert normal[:-1] == pytest.approx(0.2 * rates["sampling_variance"].values[0, :-1])
    assert not finite_variances(rates, np.array([True]), 0.0).any()


def test_published_estimates_take_their_standard_errors() -> None:
    tally = bg.tally_from_estimates([0.3, np.nan], [0.01, np.nan], pd.DataFrame({"site": ["a", "b"]}))
    assert finite_variances(tally, np.array([False]), 0.5).tolist() == [pytest.approx([0.005, 0.005])]


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_what_is_no_share_is_refused(rates: xr.Dataset, share: float) -> None:
    with pytest.raises(ValueError, match="sampled_share must be a share, from 0 to 1"):
        finite_variances(rates, np.array([True]), share)
    with pytest.raises(bg.InputError, match=r"CrossedEffects: sampled_share=.* must be a share, from 0 to 1"):
        bg.CrossedEffects(sampled_share=share)


def test_a_text_is_no_number() -> None:
    with pytest.raises(bg.InputError, match="CrossedEffects: sampled_share='x' must be a share, from 0 to 1"):
        bg.CrossedEffects(sampled_share="x")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="PartialPooling: tau_scale='x' must be a positive number"):
        bg.PartialPooling(tau_scale="x")  # type: ignore[arg-type]


def test_the_prior_of_a_subgroup_has_both_variances(rates: xr.Dataset) -> None:
    model: Any = crossed_effects.build(rates, likelihood="normal", tau_scale=0.1, sampled_share=1.0)
    plain: Any = crossed_effects.build(rates, likelihood="normal", tau_scale=0.1, sampled_share=0.0)
    mu, bare = (pm.draw(each["mu"], draws=6000, random_seed=1, mode=FAST)[:, 0] for each in (model, plain))
    more = np.var(mu, axis=0) - np.var(bare, axis=0)
    assert more == pytest.approx(finite_variances(rates, np.array([False]), 1.0)[0], abs=0.02)


@pytest.mark.parametrize("likelihood", ["normal", "binomial"])
def test_where_attributes_explain_nothing_an_estimate_keeps_its_share(rates: xr.Dataset, likelihood: Any) -> None:
    """Between the centre c and an estimate z with error variance v lies c + f v / (f v + v) (z - c)."""
    large = bg.tally_from_counts([300, 450, 300, 550], [1000, 900, 1000, 1100], WHO.iloc[:4], metric="fnr")
    share = 0.25
    found = bg.estimate(large, bg.CrossedEffects(likelihood, tau_scale=1e-5, sampled_share=share), seed=1)
    posterior = found["posterior"].to_dataset().isel(metric=0)
    z, centre = large["estimate"].values[0], float(posterior["overall"].mean())
    kept = (posterior["mu"].mean(("chain", "draw")).values - centre) / (z - centre)
    assert kept == pytest.approx(np.full(4, share / (1 + share)), abs=0.03)
