"""The variance of an area-level regression: at the highest likelihood."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.frequentist.intervals import fay_herriot


@pytest.mark.parametrize("method", ["reml", "ml"])
def test_the_variance_is_at_the_highest_of_several_maxima(method: fay_herriot.Method) -> None:
    """With unequal variances the likelihood can fall from 0 and rise again to more."""
    rng, seen = np.random.default_rng(6), 0
    for _ in range(300):
        areas = int(rng.integers(5, 20))
        v = np.exp(rng.normal(0, 2.5, areas))
        x = np.column_stack([np.ones(areas), rng.normal(size=areas)])
        y = rng.normal(size=areas) * np.sqrt(v + 0.05)

        def height(a: float, y: np.ndarray = y, v: np.ndarray = v, x: np.ndarray = x) -> float:
            root = np.linalg.cholesky(np.diag(v + a))
            columns, rest = np.linalg.solve(root, x), np.linalg.solve(root, y)
            residual = rest - columns @ np.linalg.lstsq(columns, rest, rcond=None)[0]
            lost = np.linalg.slogdet(columns.T @ columns)[1] if method == "reml" else 0.0
            return float(-np.log(np.diag(root)).sum() - 0.5 * (residual @ residual + lost))

        areas_fit = fay_herriot.fit(y, v, x, method)
        grid = [0.0, *np.geomspace(1e-3 * v.min(), 4 * np.var(y), 200)]
        assert height(areas_fit.variance) >= max(map(height, grid)) - 1e-9
        seen += areas_fit.variance > 0 and height(0.0) > height(1e-4 * v.min())
    assert seen > 0
