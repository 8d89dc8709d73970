"""The log density of complete pooling, written out from its docstring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats

from bayesgroups.models import complete_pooling

# PyTensor holds constants such as 0.5 in float32 where it thinks that exact enough: 1e-8 is lost.
RTOL = 1e-7


def _rates() -> float:
    return float(stats.beta.logpdf(0.3, 0.5, 0.5) + stats.binom.logpmf([4, 6], [20, 7], 0.3).sum())


def _means() -> float:
    error = np.sqrt(0.16 / np.array([30, 10]))
    return float(stats.norm.logpdf(0.2, 0.35, 1.6) + stats.norm.logpdf([0.3, 0.5], 0.2, error).sum())


def test_rates(rates: xr.Dataset, log_density: Callable[..., float]) -> None:
    np.testing.assert_allclose(log_density(complete_pooling.build(rates), overall=[0.3]), _rates(), rtol=RTOL)


def test_means(means: xr.Dataset, log_density: Callable[..., float]) -> None:
    np.testing.assert_allclose(log_density(complete_pooling.build(means), overall=[0.2]), _means(), rtol=RTOL)


def test_metrics_keep_their_order(mixed: xr.Dataset, log_density: Callable[..., float]) -> None:
    swapped = mixed.isel(metric=[1, 0])
    got = log_density(complete_pooling.build(swapped), overall_binomial=[0.3], overall_normal=[0.2])
    np.testing.assert_allclose(got, _rates() + _means(), rtol=RTOL)


def test_all_subgroups_share_one_value(mixed: xr.Dataset) -> None:
    model = complete_pooling.build(mixed)
    mode = Mode(linker="py", optimizer="fast_compile")
    mu, overall = pm.draw([model["mu"], model["overall"]], random_seed=1, mode=mode)
    np.testing.assert_array_equal(mu, np.repeat(overall[:, None], 3, axis=1))
