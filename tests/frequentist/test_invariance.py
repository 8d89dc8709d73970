"""Order, shift, scale and sign of a metric mean nothing to empirical Bayes, whichever its interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import Interval, fab, moments, morris, robust

Function = Callable[[FloatArray, FloatArray], Interval]

FITTED: dict[str, Function] = {
    "plug_in": lambda z, v: moments.interval(moments.fit(z, v), 0.9),
    "morris": lambda z, v: morris.interval(morris.fit(z, v), 0.9),
    "robust": lambda z, v: robust.interval(robust.fit(z, v), 0.9),
    "fab": lambda z, v: fab.interval(fab.fit(z, v), 0.9),
}


@pytest.mark.parametrize("name", FITTED)
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 9),
    shift=st.floats(-100, 100),
    scale=st.sampled_from((-3.0, -1e-3, 1e-6, 0.5, 1e4)),
)
def test_order_shift_scale_and_sign(name: str, seed: int, size: int, shift: float, scale: float) -> None:
    random = np.random.default_rng(seed)
    z, v = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-2
    missing = random.random(size) < 0.2
    z[missing], v[missing] = np.nan, np.nan
    order = random.permutation(size)
    found = FITTED[name](z, v)
    moved = FITTED[name](shift + scale * z[order], scale**2 * v[order])
    lower, upper = (found.lower, found.upper) if scale > 0 else (found.upper, found.lower)
    # Rounding of z + shift, seen through the flattest spot of an interval that is found by a search.
    slack = 1e-6 * abs(scale) + 1e-9 * abs(shift)
    np.testing.assert_allclose(moved.lower, (shift + scale * lower)[order], rtol=1e-6, atol=slack)
    np.testing.assert_allclose(moved.upper, (shift + scale * upper)[order], rtol=1e-6, atol=slack)
