"""The moment estimate: worked numbers, reference values of DerSimonian-Laird, limits, edges."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import moments

Five = tuple[FloatArray, FloatArray, FloatArray]

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "metafor" / "values.json").read_text(encoding="utf-8"))
DIGITS = 1.01e-6  # printed to six decimals; the data of V2 are rounded to three


def golden(name: str) -> tuple[FloatArray, FloatArray]:
    """Estimates and sampling variances of a reference data set."""
    entry = GOLDEN[name]
    if "counts" in entry:
        a, b, c, d = np.array(entry["counts"], dtype=np.float64).T
        return np.log((a / (a + b)) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    y = np.array(entry["y"])
    return y, np.array(entry["v"]) if "v" in entry else y * (1 - y) / np.array(entry["n"])


def test_worked_example(five: Five) -> None:
    _, z, v = five
    found = moments.fit(z, v)
    assert found.tau_squared == pytest.approx(0.99967290 / 72.373832, abs=1e-6)
    assert found.overall == pytest.approx(0.290216, abs=1e-6)
    np.testing.assert_allclose(found.shrinkage, [0.188096, 0.278562, 0.435742, 0.591495, 0.743320], atol=1e-6)
    np.testing.assert_allclose(found.estimate, [0.216969, 0.261203, 0.352162, 0.212512, 0.408233], atol=1e-6)
    np.testing.assert_allclose(np.sqrt(found.variance), [0.050972, 0.062030, 0.077581, 0.090389, 0.101327], atol=1e-6)
    interval = moments.interval(found, 0.95)
    np.testing.assert_allclose((interval.upper - interval.lower) / 2, 1.959964 * np.sqrt(found.variance), rtol=1e-6)


@pytest.mark.parametrize("name", ["V1", "V2", "Collins", "BCG", "EX-F"])
def test_it_is_dersimonian_laird(name: str) -> None:
    found = moments.fit(*golden(name))
    assert found.tau_squared == pytest.approx(GOLDEN[name]["tau_squared"]["dl"], abs=DIGITS)


def test_centre_of_a_reference_analysis() -> None:
    z, v = golden("Collins")
    found = moments.fit(np.append(z, np.nan), np.append(v, np.nan))
    assert found.overall == pytest.approx(GOLDEN["Collins"]["dl_mean"], abs=DIGITS)
    se = np.sqrt(found.variance[-1] - found.tau_squared)
    assert se == pytest.approx(GOLDEN["Collins"]["dl_mean_std_error"], abs=DIGITS)


@given(
    d=st.lists(st.integers(1, 10**6), min_size=2, max_size=12),
    seed=st.integers(0, 2**32 - 1),
    sigma_squared=st.floats(1e-6, 1e3),
)
def test_weights_are_the_shares_of_rows(d: list[int], seed: int, sigma_squared: float) -> None:
    """With v = sigma^2 / d it is the main-text formula of the source, in counts."""
    count = np.array(d, dtype=np.float64)
    z = np.random.default_rng(seed).normal(size=len(d))
    n, mean = count.sum(), (count * z).sum() / count.sum()
    top = (count * (z - mean) ** 2).sum() - (len(d) - 1) * sigma_squared
    raw = float(moments.fit(z, sigma_squared / count).tau_squared_raw)
    scale = ((count * (z - mean) ** 2).sum() + len(d) * sigma_squared) / (n - (count**2).sum() / n)
    assert raw == pytest.approx(top / (n - (count**2).sum() / n), abs=1e-9 * scale)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 9))
def test_order_shift_and_scale_do_not_matter(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    z, v = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-3
    order = random.permutation(size)
    found, moved = moments.fit(z, v), moments.fit(7 - 3 * z[order], 9 * v[order])
    np.testing.assert_allclose(moved.estimate, (7 - 3 * found.estimate)[order], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.variance, 9 * found.variance[order], rtol=1e-8, atol=1e-12)
    assert moved.tau_squared == pytest.approx(9 * float(found.tau_squared), rel=1e-8, abs=1e-12)


def test_limits() -> None:
    z = np.array([0.1, 0.2, 0.9, 0.4])
    nothing_between = moments.fit(z, np.full(4, 100.0))
    assert nothing_between.tau_squared == 0 > nothing_between.tau_squared_raw
    np.testing.assert_allclose(nothing_between.estimate, z.mean())
    assert (nothing_between.variance == 0).all()
    everything_between = moments.fit(z, np.full(4, 1e-12))
    np.testing.assert_allclose(everything_between.estimate, z, atol=1e-9)
    np.testing.assert_allclose(everything_between.variance, 1e-12, rtol=1e-6)


def test_undefined_groups_get_the_centre(five: Five) -> None:
    _, z, v = five
    found = moments.fit(np.append(z, np.nan), np.append(v, np.nan))
    without = moments.fit(z, v)
    np.testing.assert_array_equal(found.estimate[:-1], without.estimate)
    assert found.estimate[-1] == found.overall
    precision = (1 / (v + without.tau_squared)).sum()
    assert found.variance[-1] == pytest.approx(float(without.tau_squared) + 1 / precision)
    assert found.imputed.tolist() == [False] * 5 + [True]


def test_few_groups() -> None:
    none = moments.fit(np.array([np.nan]), np.array([np.nan]))
    assert np.isnan([none.overall, none.tau_squared, none.estimate[0]]).all()
    one = moments.fit(np.array([0.3, np.nan]), np.array([0.01, np.nan]))
    assert np.isnan(one.tau_squared)
    assert one.estimate.tolist() == [0.3, 0.3]
    assert one.variance[0] == 0.01
    assert np.isnan(one.variance[1])
    two = moments.fit(np.array([0.0, 2.0]), np.array([0.5, 0.5]))
    assert (float(two.tau_squared), float(two.overall)) == pytest.approx((1.5, 1.0))
    assert moments.fit(np.empty(0), np.empty(0)).estimate.shape == (0,)


def test_known_groups_are_left_alone() -> None:
    found = moments.fit(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0.0, 0.01, 0.01, np.inf]))
    assert found.estimate[0] == 0.1
    assert found.variance[0] == 0
    assert found.number == 2
    assert found.imputed.tolist() == [False, False, False, True]


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_any_unit_will_do(five: Five, scale: float) -> None:
    _, z, v = five
    found, plain = moments.fit(scale * z, scale * scale * v), moments.fit(z, v)
    np.testing.assert_allclose(found.estimate / scale, plain.estimate, rtol=1e-10)
    np.testing.assert_allclose(np.sqrt(found.variance) / scale, np.sqrt(plain.variance), rtol=1e-10)


def test_variances_worlds_apart() -> None:
    found = moments.fit(np.array([0.2, 0.25, 0.4]), np.array([1e-300, 1e-300, 1e300]))
    assert np.isfinite([found.estimate, found.variance]).all()
    np.testing.assert_allclose(found.estimate[:2], [0.2, 0.25])


def test_leading_axes_are_fitted_one_by_one() -> None:
    random = np.random.default_rng(1)
    z, v = random.normal(size=(2, 3, 6)), random.gamma(1.0, 1.0, (2, 3, 6))
    z[0, 1, 2] = np.nan
    together = moments.fit(z, v)
    for i in range(2):
        for j in range(3):
            alone = moments.fit(z[i, j], v[i, j])
            np.testing.assert_allclose(together.estimate[i, j], alone.estimate, rtol=1e-12)
            assert together.tau_squared_raw[i, j] == pytest.approx(float(alone.tau_squared_raw), rel=1e-12)


def test_shapes_must_agree() -> None:
    with pytest.raises(InputError, match=r"estimates have shape \(2,\), sampling variances \(3,\)"):
        moments.fit(np.zeros(2), np.ones(3))
