"""Lasso, partial ridge, bootstrap and cross-validation on arrays: worked numbers, limits, and a plain solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured import cross_validation, lasso, rblpr, together
from bayesgroups.frequentist.structured.cross_validation import Split
from bayesgroups.frequentist.structured.linear import Line, centred
from bayesgroups.frequentist.structured.partial_ridge import Scale, lasso_ols, partial_ridge, penalised
from bayesgroups.frequentist.structured.rblpr import Bootstrap

Problem = tuple[FloatArray, FloatArray, FloatArray]


@pytest.fixture
def worked() -> Problem:
    """Two races by two sexes, indicators of both and of every subgroup; w = d / .2."""
    attributes = np.array([[1.0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]])
    return (
        np.concatenate([attributes, np.eye(4)], axis=1),
        np.array([0.30, 0.25, 0.20, 0.60]),
        np.array([40.0, 20, 10, 5]) / 0.2,
    )


def random_problem(seed: int, subgroups: int = 12, columns: int = 8) -> Problem:
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.standard_normal((subgroups, columns)), np.eye(subgroups)], axis=1)
    w = rng.uniform(1, 200, subgroups)
    return x, 0.3 + 0.2 * x[:, 0] + rng.standard_normal(subgroups) / np.sqrt(w), w


def plain_descent(x: FloatArray, z: FloatArray, w: FloatArray, penalty: float, sweeps: int = 3000) -> FloatArray:
    """Fitted values by cyclic coordinate descent as it is written in books."""
    intercept, t = float(np.average(z, weights=w)), np.zeros(x.shape[1])
    for _ in range(sweeps):
        before = t.copy()
        for j in range(x.shape[1]):
            partial = z - intercept - x @ t + x[:, j] * t[j]
            g, h = float((w * x[:, j] * partial).sum()), float((w * x[:, j] ** 2).sum())
            t[j] = np.sign(g) * max(abs(g) - penalty / 2, 0.0) / h
        intercept = float(np.average(z - x @ t, weights=w))
        if np.abs(t - before).max() < 1e-10:
            break
    return np.asarray(intercept + x @ t)


# --- Lasso ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "fitted", "objective"),
    [
        (1.0, [0.293333] * 4, 2.983333),
        (0.5, [0.283333, 0.283333, 0.276667, 0.446667], 2.351667),
        (0.1, [0.296167, 0.257667, 0.215333, 0.569333], 0.645917),
        (0.01, [0.299617, 0.250767, 0.201533, 0.596933], 0.068559),
    ],
)
def test_the_worked_example_of_the_lasso(worked: Problem, share: float, fitted: list[float], objective: float) -> None:
    x, z, w = worked
    penalty = share * lasso.penalty_max(x, z, w)
    line = lasso.fit(x, z, w, penalty)
    assert line.at(x) == pytest.approx(fitted, abs=6e-7)
    cost = (w * (line.at(x) - z) ** 2).sum() + penalty * np.abs(line.coefficient).sum()
    assert cost == pytest.approx(objective, abs=6e-7)


def test_the_worked_example_of_the_largest_penalty(worked: Problem) -> None:
    assert lasso.penalty_max(*worked) == pytest.approx(15.333333, abs=5e-7)


def test_no_penalty_gives_the_estimates_and_the_largest_their_mean(worked: Problem) -> None:
    x, z, w = worked
    largest = lasso.penalty_max(x, z, w)
    assert lasso.fit(x, z, w, 0.0).at(x) == pytest.approx(z, abs=1e-12)
    for penalty in (largest, 2 * largest):
        line = lasso.fit(x, z, w, penalty)
        assert not line.selected.any()
        assert line.at(x) == pytest.approx(np.average(z, weights=w), abs=1e-15)
    assert lasso.fit(x, z, w, 0.999 * largest).selected.any()
    nearly = lasso.fit(x, z, w, (1 - 1e-11) * largest)  # that coordinate descent takes for all
    assert nearly.coefficient.dtype == np.float64
    assert nearly.at(x) == pytest.approx(np.average(z, weights=w), abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_fitted_values_do_not_depend_on_the_solver(seed: int, share: float) -> None:
    x, z, w = random_problem(seed)
    penalty = share * lasso.penalty_max(x, z, w)
    expected = plain_descent(x, z, w, penalty)
    assert lasso.fit(x, z, w, penalty).at(x) == pytest.approx(expected, abs=2e-6)
    of = centred(x, w)
    mean, y = of.response(z[None])
    coefficient = together.solve_together(of, y, penalty)[0]
    assert mean[0] + (x - of.mean) @ coefficient == pytest.approx(expected, abs=2e-5)


def test_redundant_columns_change_coefficients_but_no_fitted_value(worked: Problem) -> None:
    x, z, w = worked
    penalty = 0.3 * lasso.penalty_max(x, z, w)
    twice = np.concatenate([x, x[:, ::-1]], axis=1)
    assert lasso.penalty_max(twice, z, w) == pytest.approx(lasso.penalty_max(x, z, w))
    assert lasso.fit(twice, z, w, penalty).at(twice) == pytest.approx(lasso.fit(x, z, w, penalty).at(x), abs=1e-7)


@pytest.mark.parametrize("share", [0.4, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_coefficients_are_where_coordinate_descent_from_zero_leads(seed: int, share: float) -> None:
    """With the redundant columns of two attributes, and to the last digits: derivatives are those of a minimum."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([np.repeat(np.eye(4), 2, axis=0), np.tile(np.eye(2), (4, 1)), np.eye(8)], axis=1)
    z, w = rng.integers(1, 9, 8) / 10, rng.integers(5, 200, 8) / 0.2
    penalty = share * lasso.penalty_max(x, z, w)
    of = centred(x, w)
    _, y = of.response(z)
    expected = np.zeros(x.shape[1])
    before = np.ones_like(expected)
    while np.abs(expected - before).max() > 1e-15:
        before = expected.copy()
        for j in range(x.shape[1]):
            pull = of.x[:, j] @ (y - of.x @ expected + of.x[:, j] * expected[j])
            expected[j] = np.sign(pull) * max(abs(pull) - penalty / of.total / 2, 0.0) / (of.x[:, j] ** 2).sum()
    found = lasso.solve(of, y, penalty)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    slope = 2 * of.total * of.x.T @ (y - of.x @ found) / penalty
    np.testing.assert_allclose(slope[found != 0], np.sign(found[found != 0]), rtol=0, atol=1e-9)
    assert np.abs(slope).max() < 1 + 1e-9


def test_rounding_selects_no_column() -> None:
    """Sex has two redundant columns: one of them has the coefficient, the other one may have its rounding."""
    x = np.concatenate([np.repeat(np.eye(4), 2, axis=0)[:7], np.tile(np.eye(2), (4, 1))[:7], np.eye(7)], axis=1)
    z, w = (
        np.array([12 / 40, 5 / 20, 2 / 10, 3 / 5, 30 / 150, 60 / 200, 9 / 30]),
        np.array([40.0, 20, 10, 5, 150, 200, 30]),
    )
    for share in np.geomspace(1e-3, 0.5, 20):
        line = lasso.fit(x, z, w, share * lasso.penalty_max(x, z, w))
        assert np.abs(line.coefficient[line.selected]).min() > 1e-8
        assert not line.selected[4:6].all()


def test_units_of_the_metric_and_of_the_weights_do_not_matter(worked: Problem) -> None:
    x, z, w = worked
    penalty = 0.2 * lasso.penalty_max(x, z, w)
    other = lasso.fit(x, 7 + 1e6 * z, w * 1e-3, penalty * 1e3)
    assert (other.at(x) - 7) / 1e6 == pytest.approx(lasso.fit(x, z, w, penalty).at(x), abs=1e-9)


def test_without_columns_there_is_the_mean(worked: Problem) -> None:
    _, z, w = worked
    nothing = np.zeros((4, 0))
    assert lasso.penalty_max(nothing, z, w) == 0
    assert lasso.fit(nothing, z, w, 1.0).intercept == pytest.approx(np.average(z, weights=w))
    assert together.solve_together(centred(nothing, w), z[None], 1.0).shape == (1, 0)


def test_many_lassos_at_no_penalty_are_least_squares(worked: Problem) -> None:
    x, z, w = worked
    of = centred(x, w)
    mean, y = of.response(np.stack([z, z[::-1]]))
    fitted = mean[:, None] + together.solve_together(of, y, 0.0) @ (x - of.mean).T
    assert fitted == pytest.approx(np.stack([z, z[::-1]]), abs=1e-12)


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf])
def test_a_penalty_must_be_a_number_not_below_0(worked: Problem, penalty: float) -> None:
    x, z, w = worked
    with pytest.raises(InputError, match="a penalty must be finite and not negative"):
        lasso.fit(x, z, w, penalty)
    with pytest.raises(InputError, match="a penalty must be finite and not negative"):
        together.solve_together(centred(x, w), z[None], penalty)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": np.ones(3)}, "must have one row per subgroup"),
        ({"w": np.array([1.0, 1, 0, 1])}, "weights must be positive and finite"),
        ({"w": np.array([1.0, 1, np.inf, 1])}, "weights must be positive and finite"),
        ({"x": np.full((4, 1), np.nan)}, "features must be finite"),
    ],
)
def test_what_cannot_be_fitted_is_refused(worked: Problem, change: dict[str, Any], message: str) -> None:
    given = dict(zip("xzw", worked, strict=True)) | change
    with pytest.raises(InputError, match=message):
        lasso.fit(**given, penalty=1.0)


# --- Least squares and partial ridge after the lasso ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "fitted"),
    [
        ("variance", [0.298800, 0.252399, 0.2, 0.6]),
        ("norm", [0.296054, 0.257893, 0.2, 0.6]),
        ("raw", [0.295665, 0.258671, 0.2, 0.6]),
    ],
)
def test_the_worked_example_of_partial_ridge(worked: Problem, scale: Scale, fitted: list[float]) -> None:
    x, z, w = worked
    selected = lasso.fit(x, z, w, 0.5 * lasso.penalty_max(x, z, w)).selected
    assert np.flatnonzero(selected).tolist() == [6, 7]
    assert lasso_ols(x, z, w, selected).at(x) == pytest.approx([0.283333, 0.283333, 0.2, 0.6], abs=6e-7)
    assert partial_ridge(x, z, w, selected, scale).at(x) == pytest.approx(fitted, abs=6e-7)


def test_at_a_small_penalty_both_give_the_estimates(worked: Problem) -> None:
    x, z, w = worked
    selected = lasso.fit(x, z, w, 0.1 * lasso.penalty_max(x, z, w)).selected
    assert lasso_ols(x, z, w, selected).at(x) == pytest.approx(z, abs=1e-12)
    assert partial_ridge(x, z, w, selected).at(x) == pytest.approx(z, abs=1e-12)


@pytest.mark.parametrize(("scale", "kept"), [("variance", 8 / 9), ("norm", 0.5)])
def test_orthogonal_columns_keep_a_known_share(scale: Scale, kept: float) -> None:
    x = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]] * 2)
    z = 0.5 + x @ np.array([0.2, 0.1])
    found = partial_ridge(x, z, np.full(8, 3.0), np.zeros(2, dtype=bool), scale)
    assert found.coefficient == pytest.approx(kept * np.array([0.2, 0.1]))


@pytest.mark.parametrize("seed", range(4))
def test_partial_ridge_is_least_squares_with_rows_of_penalties(seed: int) -> None:
    """With redundant columns too, and with any of them selected: K |y - X b|^2 + sum over the others of (s b)^2."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.eye(9), rng.integers(0, 2, (9, 3)), np.ones(9), np.arange(9) < 4, np.arange(9) < 4])
    of = centred(x, rng.uniform(1, 900, 9))
    _, y = of.response(rng.standard_normal((4, 9)))
    partial = penalised(of)
    some = [
        np.isin(np.arange(x.shape[1]), rng.choice(x.shape[1], number, replace=False)) for number in (0, 1, 4, 8, 15)
    ]
    for selected in (*some, np.arange(x.shape[1]) < 9):
        rows = np.vstack([np.sqrt(len(x)) * of.x, np.diag(np.where(selected, 0.0, partial.length))])
        sides = np.vstack([np.sqrt(len(x)) * y.T, np.zeros((x.shape[1], 4))])
        np.testing.assert_allclose(partial.coefficient(y, selected), np.linalg.lstsq(rows, sides)[0].T, atol=1e-9)


def test_partial_ridge_minimises_its_objective() -> None:
    x, z, w = random_problem(5)
    selected = np.arange(x.shape[1]) < 2
    share = w / w.mean()
    deviation = np.sqrt(np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w))

    def cost(line: Line) -> float:
        ridge = ((deviation * line.coefficient)[~selected] ** 2).sum()
        return float((share * (line.at(x) - z) ** 2).sum() + ridge)

    best = partial_ridge(x, z, w, selected)
    rng = np.random.default_rng(1)
    for _ in range(50):
        away = Line(
            best.intercept + 1e-3 * rng.standard_normal(), best.coefficient + 1e-3 * rng.standard_normal(len(x[0]))
        )
        assert cost(away) > cost(best)


def test_no_selection_means_the_mean(worked: Problem) -> None:
    x, z, w = worked
    assert lasso_ols(x, z, w, np.zeros(8, dtype=bool)).at(x) == pytest.approx(np.average(z, weights=w))


def test_an_unknown_scale_is_refused(worked: Problem) -> None:
    wrong: Any = "unit"
    with pytest.raises(InputError, match="scale='unit' does not exist"):
        partial_ridge(*worked, np.zeros(8, dtype=bool), wrong)


# --- Bootstrap --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_bootstrap_replicates_are_lasso_and_partial_ridge(share: float) -> None:
    """Replayed one by one; redundant columns leave fitted values alone."""
    x, z, w = random_problem(2)
    penalty = share * lasso.penalty_max(x, z, w)
    kept = lasso.fit(x, z, w, penalty).selected
    found = rblpr.run(x, z, w, penalty, np.random.default_rng(3), selected=kept, replicates=20)
    fitted = lasso_ols(x, z, w, kept).at(x)
    noise = np.random.default_rng(3).standard_normal((20, len(z)))
    for draw, again in zip(found.draws, fitted + noise / np.sqrt(w), strict=True):
        selected = lasso.fit(x, again, w, penalty).selected
        assert draw == pytest.approx(partial_ridge(x, again, w, selected).at(x), abs=1e-9)


def test_residuals_are_drawn_on_the_scale_of_equal_variances() -> None:
    x, z, w = random_problem(2)
    penalty = 0.9 * lasso.penalty_max(x, z, w)
    kept = lasso.fit(x, z, w, penalty).selected
    found = rblpr.run(x, z, w, penalty, np.random.default_rng(3), selected=kept, errors="residual", replicates=20)
    residual = np.sqrt(w) * (z - found.ols)
    noise = np.random.default_rng(3).choice(residual - residual.mean(), size=(20, len(z)))
    for draw, again in zip(found.draws, found.ols + noise / np.sqrt(w), strict=True):
        selected = lasso.fit(x, again, w, penalty).selected
        assert draw == pytest.approx(partial_ridge(x, again, w, selected).at(x), abs=1e-9)


def test_the_interval_counts_the_distance_of_the_draws_from_least_squares() -> None:
    draws = np.arange(101.0)[:, None]
    found = Bootstrap(np.array([40.0]), np.array([60.0]), draws)
    interval = rblpr.interval(found, 0.9)
    assert (interval.lower[0], interval.upper[0]) == pytest.approx((100.0 - 95, 100.0 - 5))
    assert found.std_error == pytest.approx(draws.std(ddof=1))


def test_without_a_penalty_the_interval_is_that_of_the_estimates() -> None:
    x, z, w = random_problem(1)
    kept = np.ones(x.shape[1], dtype=bool)
    found = rblpr.run(x, z, w, 0.0, np.random.default_rng(1), selected=kept, replicates=4000)
    interval = rblpr.interval(found, 0.95)
    assert (interval.upper - interval.lower) * np.sqrt(w) / 3.92 == pytest.approx(1, abs=0.06)
    assert (interval.upper + interval.lower) / 2 == pytest.approx(z, abs=0.2 / np.sqrt(w.min()))


def test_values_can_be_asked_for_elsewhere(worked: Problem) -> None:
    x, z, w = worked
    at = np.concatenate([x[:1], np.zeros((1, 8))])
    kept = lasso.fit(x, z, w, 5.0).selected
    found = rblpr.run(x, z, w, 5.0, np.random.default_rng(1), selected=kept, at=at, replicates=10)
    assert found.draws.shape == (10, 2)
    assert found.draws[:, 0] == pytest.approx(
        rblpr.run(x, z, w, 5.0, np.random.default_rng(1), selected=kept, replicates=10).draws[:, 0]
    )


def test_bad_bootstraps_are_refused(worked: Problem) -> None:
    rng = np.random.default_rng(1)
    wrong: Any = "paired"
    with pytest.raises(InputError, match="errors='paired' does not exist"):
        rblpr.run(*worked, 1.0, rng, selected=np.ones(8, dtype=bool), errors=wrong)
    with pytest.raises(InputError, match="replicates=1 must be 2 or more"):
        rblpr.run(*worked, 1.0, rng, selected=np.ones(8, dtype=bool), replicates=1)


# --- Cross-validation -------------------------------------------------------------------------------------------------


def test_the_worked_example_of_cross_validation() -> None:
    """Rows 1, 0, 1, 1 and 0, 1 and 1 in two folds, predicted by one mean."""
    nothing, nan = np.zeros((3, 0)), np.nan
    first = Split(
        nothing, np.array([0.5, 1.0, nan]), np.array([2.0, 1, 0]), np.array([1.0, 0, 1]), np.array([2.0, 1, 1])
    )
    second = Split(
        nothing, np.array([1.0, 0, 1]), np.array([2.0, 1, 1]), np.array([0.5, 1.0, nan]), np.array([2.0, 1, 0])
    )
    found = cross_validation.losses([first, second], np.array([0.0]), total=7.0)[:, 0]
    assert found == pytest.approx([0.777778, 0.1875], abs=5e-7)
    assert found.sum() == pytest.approx(0.965278, abs=5e-7)


def test_a_fold_without_rows_on_one_side_says_nothing() -> None:
    nothing, none, one = np.zeros((1, 0)), np.array([np.nan]), np.array([1.0])
    splits = [Split(nothing, none, 0 * one, one, one), Split(nothing, one, one, none, 0 * one)]
    assert cross_validation.losses(splits, np.array([1.0]), 1.0).tolist() == [[0.0], [0.0]]


def test_penalties_of_a_fold_keep_their_proportion_to_the_weights(worked: Problem) -> None:
    x, z, w = worked
    penalty = np.array([5.0])
    expected = lasso.fit(x, z, w / 2, 2.5).at(x)
    found = cross_validation.losses([Split(x, z, w / 2, z, w)], penalty, float(w.sum()))
    assert found[0, 0] == pytest.approx((w * (z - expected) ** 2).sum())


def test_ties_go_to_the_larger_penalty() -> None:
    assert cross_validation.choose(np.array([[3.0, 2.0, 2.0, 4.0]])) == 1
    assert cross_validation.choose(np.array([[2.0 + 1e-14, 2.0]])) == 0


def test_one_standard_error_prefers_a_larger_penalty() -> None:
    loss = np.array([[3.0, 2.0, 1.0], [2.2, 2.0, 2.0]])
    assert cross_validation.choose(loss) == 2
    assert cross_validation.choose(loss, "one_standard_error") == 1


def test_the_grid_has_sixty_penalties_over_three_decades() -> None:
    grid = cross_validation.grid(15.0)
    assert (len(grid), grid[0], grid[-1]) == (60, 15.0, pytest.approx(0.015))
    assert np.diff(np.log(grid)) == pytest.approx(np.log(1e-3) / 59)


def test_bad_grids_and_rules_are_refused() -> None:
    wrong: Any = "best"
    with pytest.raises(InputError, match="a grid needs size 2 or more"):
        cross_validation.grid(1.0, size=1)
    with pytest.raises(InputError, match="rule='best' does not exist"):
        cross_validation.choose(np.ones((2, 2)), wrong)


def test_a_selection_is_saturated_where_least_squares_leaves_nothing() -> None:
    w = np.array([40.0, 20, 10])
    first, two = np.array([True, False, False]), np.array([True, True, False])
    assert rblpr.saturated(np.eye(3), np.array([0.1, 0.4, 0.3]), w, two)
    assert not rblpr.saturated(np.eye(3), np.array([0.1, 0.4, 0.3]), w, first)
    assert rblpr.saturated(np.eye(3), np.array([0.1, 0.3, 0.3]), w, first)
