"""NUTS on the PyMC model of structured regression and the Gibbs sampler are two ways to one posterior."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.inference import nuts

PEOPLE = pd.DataFrame(list(product(["a", "b", "c"], ["young", "old"])), columns=["race", "age"])


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["horseshoe", "laplace"])
def test_the_two_samplers_agree_within_monte_carlo_error(prior: str) -> None:
    import arviz as az

    counts = bg.tally_from_counts([9, 2, 60, 3, 14, 0], [90, 9, 200, 20, 60, 0], PEOPLE, metric="fnr")
    estimator = bg.StructuredRegression(prior=prior, slab_scale=0.3)  # type: ignore[arg-type]
    gibbs = estimator.collapsed(counts, seed=1)
    assert all(check.passed for check in gibbs.checks)
    tree = nuts.sample(estimator.model(counts), seed=1, draws=700, tune=700, target_accept=0.97)
    one, two = gibbs.draws, tree["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars)
    assert one["beta"]["coefficient"].values.tolist() == two["beta"]["coefficient"].values.tolist()
    dims = ("chain", "draw")

    for probability in (0.1, 0.25, 0.5, 0.75, 0.9):
        error = [az.mcse(data, method="quantile", prob=probability) for data in (one, two)]
        at: list[xr.Dataset] = [data.quantile(probability, dims) for data in (one, two)]
        z = [
            ((at[0][name] - at[1][name]) / np.hypot(error[0][name], error[1][name])).values.ravel()
            for name in one.data_vars
        ]
        assert np.abs(np.concatenate(z)).max() < 5, probability
        assert np.sqrt((np.concatenate(z) ** 2).mean()) < 1.7, probability
