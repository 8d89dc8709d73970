"""Subgroups left out of a regression: predictions, the law of one without data, and its limits in closed form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import structured_regression
from bayesgroups.frequentist.intervals.interval import normal_quantile, t_quantile
from bayesgroups.frequentist.structured import lasso, left_out
from bayesgroups.report.levels import LEVELS


def test_a_prediction_does_not_use_the_subgroup_itself() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_normal((8, 2)), np.eye(8)], axis=1)
    z, w = rng.standard_normal(8), rng.uniform(1, 5, 8)
    found = left_out.predict(x, z, w, 1.5, np.random.default_rng(0))
    for a in range(8):
        others = np.arange(8) != a
        assert found[a] == pytest.approx(float(lasso.fit(x[others], z[others], w[others], 1.5).at(x[a : a + 1])[0]))
    again = z.copy()
    again[3] = 100.0
    assert left_out.predict(x, again, w, 1.5, np.random.default_rng(0))[3] == pytest.approx(found[3])


def test_many_subgroups_are_left_out_in_parts() -> None:
    rng = np.random.default_rng(1)
    z = rng.standard_normal(50)
    found = left_out.predict(np.eye(50), z, np.ones(50), 1e6, np.random.default_rng(0))
    assert len(np.unique(found.round(12))) == left_out.PARTS  # each part has the mean of the others


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", [3, 6, 40])
def test_without_sampling_variance_the_interval_is_students(number: int, level: float) -> None:
    errors = np.random.default_rng(2).standard_normal(number)
    found = left_out.unseen(errors, np.full(number, 1e-12)).interval(np.array([0.3]), level)
    half = t_quantile(level, np.array([number - 2.0])) * np.sqrt((errors**2).sum() / (number - 2))
    np.testing.assert_allclose(found.upper - 0.3, half, rtol=3e-3)
    np.testing.assert_allclose(found.lower, 0.6 - found.upper)


def test_equal_variances_have_a_cut_off_law() -> None:
    """With one v, v + A is an inverse gamma variable above v: its probability by another way, a fine sum over v + A."""
    errors, v = np.array([0.3, -0.1, 0.2, -0.4, 0.1, 0.25]), 0.05
    total = v + np.linspace(0, 40, 2_000_001)[1:]
    log = -3 * np.log(total) - (errors**2).sum() / 2 / total
    mass = np.exp(log - log.max())
    expected = float((mass * (total - v)).sum() / mass.sum())
    assert left_out.unseen(errors, np.full(6, v)).std_error ** 2 == pytest.approx(expected, rel=2e-2)


def test_many_errors_know_the_spread() -> None:
    rng = np.random.default_rng(3)
    v = rng.uniform(0.01, 0.1, 4000)
    errors = np.sqrt(v + 0.04) * rng.standard_normal(4000)
    found = left_out.unseen(errors, v).interval(np.zeros(1), 0.95)
    assert float(found.upper[0]) == pytest.approx(normal_quantile(0.95) * 0.2, rel=0.04)


def test_errors_that_are_nothing_leave_a_width() -> None:
    found = left_out.unseen(np.zeros(8), np.full(8, 0.01)).interval(np.zeros(1), 0.95)
    assert 0.1 < float(found.upper[0]) < 0.5


@pytest.mark.parametrize("unit", [1e-120, 1e-3, 1e120])
def test_units_do_not_matter(unit: float) -> None:
    errors, v = np.array([0.3, -0.1, 0.2, -0.4]), np.full(4, 0.05)
    plain = left_out.unseen(errors, v).interval(np.zeros(1), 0.8)
    scaled = left_out.unseen(unit * errors, unit**2 * v).interval(np.zeros(1), 0.8)
    np.testing.assert_allclose(scaled.upper, unit * plain.upper, rtol=1e-9)


def test_too_few_or_none_are_refused() -> None:
    with pytest.raises(InputError, match="2 errors of prediction must be 3 or more"):
        left_out.unseen(np.ones(2), np.ones(2))
    with pytest.raises(InputError, match="not all known to be 0"):
        left_out.unseen(np.zeros(4), np.zeros(4))
    with pytest.raises(InputError, match="level"):
        left_out.unseen(np.ones(4), np.ones(4)).interval(np.zeros(1), 1.0)


def test_a_subgroup_without_rows_is_not_taken_for_what_its_features_say() -> None:
    """Eleven rates that differ by 15 points where features say nothing: the twelfth is not known to 10."""
    table = pd.DataFrame({"race": list("abcabcabcabc"), "age": list("111222333444")})
    rates = np.array([0.1, 0.5, 0.3, 0.45, 0.15, 0.35, 0.3, 0.2, 0.55, 0.4, 0.25, 0.3])
    trials = np.array([400] * 11 + [0])
    tally = bg.tally_from_counts(np.round(rates * trials), trials, table, metric="fnr")
    found = structured_regression.estimate(tally, replicates=50).isel(metric=0)
    width = (found["upper"] - found["lower"]).sel(level=0.95).values
    assert width[-1] > 0.4
    assert float(found["std_error"][-1]) > 0.1
    assert str(found["status"].values[-1]) == "imputed"
    assert (width[:-1] < 0.2).all()
    again = structured_regression.estimate(tally, replicates=50).isel(metric=0)
    np.testing.assert_array_equal(found["lower"], again["lower"])
