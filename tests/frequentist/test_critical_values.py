"""Critical values of a biased interval: printed values, a linear programme, limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import linprog
from scipy.special import ndtr

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.critical_values import bias_bound, critical_value

INF = float("inf")


@pytest.mark.parametrize(
    ("m2", "kappa", "level", "expected"),
    [
        (4, INF, 0.95, 7.216351),
        (1, INF, 0.95, 3.259199),
        (0.25, INF, 0.95, 2.226654),
        (4, 3, 0.95, 4.619513),
        (25, 3, 0.95, 11.883584),
        (1, 3, 0.8, 1.849468),
        (0, INF, 0.95, 1.959964),
        (0, 3, 0.95, 1.959964),
    ],
)
def test_printed_values(m2: float, kappa: float, level: float, expected: float) -> None:
    assert critical_value(m2, kappa, level=level) == pytest.approx(expected, abs=1e-6)


def miss(t: NDArray[np.float64], c: float) -> NDArray[np.float64]:
    return np.asarray(ndtr(-np.sqrt(t) - c) + ndtr(np.sqrt(t) - c))


def worst_by_programme(m2: float, kappa: float, c: float) -> float:
    """Largest non-coverage over laws on a fine grid of squared biases."""
    t = np.unique(np.append(np.linspace(0, np.sqrt(max(4 * m2 * kappa, (c + 8) ** 2)), 3000) ** 2, m2))
    found = linprog(
        -miss(t, c),
        A_eq=np.vstack([np.ones_like(t), t / m2]),
        b_eq=[1, 1],
        A_ub=(t / m2)[None] ** 2,
        b_ub=[kappa],
        method="highs",
    )
    return -float(found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_no_law_misses_more_often_and_one_as_often(seed: int) -> None:
    random = np.random.default_rng(seed)
    m2, kappa = float(10 ** random.uniform(-2, 2)), float(1 + 10 ** random.uniform(-1.5, 1.5))
    level = float(random.choice([0.5, 0.8, 0.9, 0.95, 0.99]))
    c = float(critical_value(m2, kappa, level=level))
    assert worst_by_programme(m2, kappa, c) == pytest.approx(1 - level, abs=1e-6)


def test_kurtosis_one_is_a_bias_known_up_to_its_sign() -> None:
    m2 = np.array([0.01, 1.0, 30.0, 900.0])
    expected = np.sqrt(stats.ncx2.ppf(0.95, 1, m2))
    np.testing.assert_allclose(critical_value(m2, 1.0), expected, rtol=1e-8)


def test_it_grows_with_bias_and_with_kurtosis_up_to_no_bound() -> None:
    m2 = np.append(0, np.geomspace(1e-6, 1e12, 60))
    by_kurtosis = np.stack([critical_value(m2, kappa) for kappa in (1.0, 1.5, 3.0, 22.0, 1e6, INF)])
    assert (np.diff(by_kurtosis, axis=1) > -1e-9).all()
    assert (np.diff(by_kurtosis, axis=0) > -1e-9 * by_kurtosis[1:]).all()


@pytest.mark.parametrize("kappa", [1.0, 3.0, INF])
def test_large_bias_meets_the_bound_by_moments(kappa: float) -> None:
    bound = float(np.sqrt(bias_bound(kappa)))
    for m2, tolerance in ((1e8, 4e-4), (9.9e9, 1e-4), (1.1e10, 1e-4), (1e300, 1e-12)):
        assert float(critical_value(m2, kappa)) / np.sqrt(m2) == pytest.approx(bound, rel=tolerance)
    assert bias_bound(INF) == pytest.approx(20)


def test_shapes_broadcast_and_nan_stays() -> None:
    found = critical_value(np.array([[1.0], [np.nan]]), np.array([3.0, INF, np.nan]))
    assert found.shape == (2, 3)
    assert np.isfinite(found).tolist() == [[True, True, False], [False, False, False]]
    assert critical_value(np.empty(0)).shape == (0,)


def test_impossible_moments_are_refused() -> None:
    with pytest.raises(InputError, match="m2=-0.5 is a mean square and cannot be negative"):
        critical_value([1.0, -0.5])
    with pytest.raises(InputError, match="kappa=0.9 is a kurtosis and cannot be less than 1"):
        critical_value(1.0, 0.9)
    with pytest.raises(InputError, match="level=1.0 must lie strictly between"):
        critical_value(1.0, level=1.0)


def test_a_kurtosis_that_no_product_can_hold_is_no_bound() -> None:
    np.testing.assert_array_equal(
        critical_value([93_555.0, 0.5], 1.9e303, level=0.5), critical_value([93_555.0, 0.5], level=0.5)
    )
