"""Distance to the optimum: published values, the choice of the ideal point, normalising, weights, every raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError


def points(performance: Any, fairness: Any) -> pd.DataFrame:
    return pd.DataFrame({"performance": performance, "fairness": fairness})


def test_published_rows() -> None:
    rows = points([0.81354350, 0.69734659, 0.29812215], [0.62442580, 0.78820603, 0.99999689])
    np.testing.assert_allclose(bg.distance_to_optimum(rows), [0.41931134, 0.36939920, 0.70187785], atol=1e-8)


def test_moving_the_ideal_point_favours_performance() -> None:
    """Lemma C.1: of equal distances to one point, that to a point of higher performance grows where performance is lower."""
    angle = np.radians([0, 30, 45, 60, 90])
    circle = points(0.82 - 0.2 * np.cos(angle), 1 - 0.2 * np.sin(angle))
    near = bg.distance_to_optimum(circle, utopia=(0.82, 1))
    np.testing.assert_allclose(near, 0.2)
    far = bg.distance_to_optimum(circle)
    np.testing.assert_allclose(far, [0.38, 0.367088, 0.351158, 0.329242, 0.269072], atol=5e-7)
    assert near.attrs["utopia"] == [0.82, 1]


def test_normalised_is_raw_at_one_and_free_of_units() -> None:
    rows = points([0.8, 0.5], [0.6, 0.9])
    np.testing.assert_allclose(
        bg.distance_to_optimum(rows, utopia=(1, 1), normalise=True), bg.distance_to_optimum(rows, utopia=(1, 1))
    )
    best = bg.distance_to_optimum(rows, normalise=True)
    np.testing.assert_allclose(best, [1 - 0.6 / 0.9, 1 - 0.5 / 0.8])
    np.testing.assert_allclose(bg.distance_to_optimum(rows * [100, 1], normalise=True), best)
    assert "utopia" not in best.attrs


def test_weights() -> None:
    rows = points([0.8], [0.5])
    assert float(bg.distance_to_optimum(rows, weights=(4, 0))[0]) == pytest.approx(0.4)
    assert float(bg.distance_to_optimum(rows, weights=(2, 3))[0]) == pytest.approx(np.sqrt(2 * 0.04 + 3 * 0.25))


def test_draws_and_nan_stay_in_place() -> None:
    table = xr.Dataset(
        {goal: (("draw", "candidate"), [[0.7, np.nan], [0.6, 0.2]]) for goal in ("performance", "fairness")}
    )
    apart = bg.distance_to_optimum(table)
    assert apart.dims == ("draw", "candidate")
    np.testing.assert_allclose(apart, np.sqrt(2) * np.array([[0.3, np.nan], [0.4, 0.8]]))
    per_draw = bg.distance_to_optimum(table, normalise=True)
    np.testing.assert_allclose(per_draw, [[0, np.nan], [0, np.sqrt(2) * 2 / 3]], atol=1e-12)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"utopia": (0.75, 1)}, "a candidate has performance 0.8, beyond the utopia of 0.75"),
    ({"utopia": (1, 0.5)}, "a candidate has fairness 0.6, beyond the utopia of 0.5"),
    ({"weights": (-1, 1)}, "weights must be 0 or more and not both 0"),
    ({"weights": (0, 0)}, "weights must be 0 or more and not both 0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.distance_to_optimum(points([0.8], [0.6]), **settings)


def test_an_ideal_to_divide_by_is_positive() -> None:
    with pytest.raises(InputError, match="an ideal of -0.1 cannot be divided by"):
        bg.distance_to_optimum(points([-0.1], [0.6]), normalise=True)
