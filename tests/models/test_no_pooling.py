"""The log density of no pooling, written out from its docstring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy import stats

from bayesgroups.models import no_pooling

# PyTensor holds constants such as 0.5 in float32 where it thinks that exact enough: 1e-8 is lost.
RTOL = 1e-7

RATE = np.array([[0.3, 0.8, 0.1]])
MEAN = np.array([[0.2, -0.4, 3.0]])


def _rates() -> float:
    return float(stats.beta.logpdf(RATE, 0.5, 0.5).sum() + stats.binom.logpmf([4, 6], [20, 7], RATE[0, :2]).sum())


def _means() -> float:
    error = np.sqrt(0.16 / np.array([30, 10]))
    return float(stats.norm.logpdf(MEAN, 0.35, 1.6).sum() + stats.norm.logpdf([0.3, 0.5], MEAN[0, :2], error).sum())


def test_rates(rates: xr.Dataset, log_density: Callable[..., float]) -> None:
    np.testing.assert_allclose(log_density(no_pooling.build(rates), mu=RATE), _rates(), rtol=RTOL)


def test_means(means: xr.Dataset, log_density: Callable[..., float]) -> None:
    np.testing.assert_allclose(log_density(no_pooling.build(means), mu=MEAN), _means(), rtol=RTOL)


def test_metrics_keep_their_order(mixed: xr.Dataset, log_density: Callable[..., float]) -> None:
    swapped = mixed.isel(metric=[1, 0])
    got = log_density(no_pooling.build(swapped), mu_binomial=RATE, mu_normal=MEAN)
    np.testing.assert_allclose(got, _rates() + _means(), rtol=RTOL)
