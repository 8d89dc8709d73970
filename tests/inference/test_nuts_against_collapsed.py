"""NUTS on the PyMC model and the exact engine are two ways to one posterior, for both likelihoods."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.datasets import STUDY_SIZES

SITE = pd.DataFrame({"site": [f"s{i:02d}" for i in range(len(STUDY_SIZES))]})


def counts() -> xr.Dataset:
    rng = np.random.default_rng(12)
    rate = 1 / (1 + np.exp(-(-1.2 + 0.6 * rng.standard_normal(len(STUDY_SIZES)))))
    return bg.tally_from_counts(rng.binomial(STUDY_SIZES, rate), STUDY_SIZES, SITE, metric="fnr")


def with_visits(tally: xr.Dataset) -> xr.Dataset:
    """A feature that goes with the logits of the first subgroups."""
    visits = np.random.default_rng(5).standard_normal(tally.sizes["subgroup"])
    tally = tally.assign_coords(feature=["visits"])
    return tally.assign(feature_mean=(("subgroup", "feature"), visits[:, None]))


@pytest.mark.parametrize("covariates", [(), pytest.param(("visits",), marks=pytest.mark.slow)])
@pytest.mark.parametrize("likelihood", ["binomial", pytest.param("normal", marks=pytest.mark.slow)])
def test_the_two_engines_agree_within_monte_carlo_error(likelihood: str, covariates: tuple[str, ...]) -> None:
    import arviz as az

    estimator = bg.PartialPooling(likelihood=likelihood, covariates=covariates)  # type: ignore[arg-type]
    tally = with_visits(counts())
    exact = bg.estimate(tally, estimator, seed=1, inference="collapsed")
    nuts = bg.estimate(tally, estimator, seed=1, inference="nuts")
    engine = "hamiltonian" if likelihood == "binomial" and covariates else "collapsed"
    assert (exact.attrs["inference"], nuts.attrs["inference"]) == (engine, "nuts")
    assert nuts.attrs["usable"] == 1
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars)

    def z_scores(statistic: str, first: xr.Dataset, second: xr.Dataset, **options: float) -> np.ndarray:
        error = [az.mcse(data, method=statistic, **options) for data in (one, two)]
        parts = [
            ((first[name] - second[name]) / np.sqrt(error[0][name] ** 2 + error[1][name] ** 2)).values.ravel()
            for name in one.data_vars
        ]
        return np.concatenate(parts)

    dims = ("chain", "draw")
    z = z_scores("mean", one.mean(dims), two.mean(dims))
    assert np.sqrt((z**2).mean()) < 1.5
    assert np.abs(z).max() < 4.5
    for probability in (0.05, 0.5, 0.95):
        first, second = (data.quantile(probability, dims).drop_vars("quantile") for data in (one, two))
        z = z_scores("quantile", first, second, prob=probability)
        assert np.sqrt((z**2).mean()) < 1.6
        assert np.abs(z).max() < 5
    ratio = one.std(dims) / two.std(dims)
    assert all(np.abs(np.log(ratio[name].values)).max() < 0.15 for name in ratio.data_vars)
