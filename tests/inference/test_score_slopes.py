"""Covariates of rows in the sampler of score laws: exact conditionals, agreement with PyMC, what they are good for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import ndtr

import bayesgroups as bg
from bayesgroups.inference import nuts, score_effects
from bayesgroups.inference.collapsed import model_based_metrics, score_covariates
from bayesgroups.inference.collapsed.model_based_metrics import laws, sample
from bayesgroups.inference.score_effects import CONTRAST, Cells, Design
from bayesgroups.inference.score_gibbs import ScorePrior
from bayesgroups.inference.score_gibbs import sample as gibbs
from bayesgroups.inference.score_slopes import Slopes
from bayesgroups.models.shared.score_cells import score_cells
from bayesgroups.models.shared.score_covariates import CovariateCells, covariate_cells
from bayesgroups.tallies.score_covariates import keep_covariates

PRIOR = ScorePrior(0.3, 0.5, 0.25)


@pytest.fixture
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_based_metrics, "DRAWS", 150)
    monkeypatch.setattr(model_based_metrics, "FIRST", (100, 1))
    monkeypatch.setattr(model_based_metrics, "LONGER", (100, 1))


def rows_of(size: int, seed: int = 1, shares: tuple[float, ...] = (0.6, 0.37, 0.03)) -> pd.DataFrame:
    """Scores that age explains to a good part; ``b`` is older."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size, p=shares), "y": rng.integers(0, 2, size)})
    rows["age"] = 50 + 10 * (rng.standard_normal(size) + 0.8 * (rows["s"] == "b"))
    rows["visits"] = rng.standard_normal(size)
    u = -0.5 + rows["y"] + 0.08 * (rows["age"] - 50) + 0.3 * rows["y"] * rows["visits"]
    return rows.assign(p=1 / (1 + np.exp(-u - 0.6 * rng.standard_normal(size))))


def tally_of(rows: pd.DataFrame, covariates: tuple[str, ...] = ("age", "visits")) -> xr.Dataset:
    found = bg.tally(rows, ["s"], ["sel", "fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    return keep_covariates(found, rows, covariates)


def test_the_law_of_slopes_is_that_of_a_regression_of_rows() -> None:
    """Given variances and scales: a normal posterior, once from sums and once from the rows themselves."""
    rng = np.random.default_rng(1)
    group, y = np.repeat([0, 1, 2], [20, 9, 4]), rng.integers(0, 2, 33)
    c = rng.standard_normal((33, 2)) + group[:, None] * np.array([1.0, -0.5])
    u = 0.3 * group + y + c @ [0.5, -0.2] + rng.standard_normal(33)
    count, mean, middle = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2, 2))
    product, cross = np.zeros((3, 2, 2, 2)), np.zeros((3, 2, 2))
    for g in range(3):
        for k in range(2):
            own = (group == g) & (y == k)
            count[g, k], mean[g, k], middle[g, k] = own.sum(), u[own].mean(), c[own].mean(axis=0)
            away = c[own] - middle[g, k]
            product[g, k], cross[g, k] = away.T @ away, away.T @ u[own]
    columns = [np.broadcast_to(np.eye(2), (3, 2, 2)), middle, middle * CONTRAST[:, None]]
    design = Design(np.concatenate(columns, axis=2), np.full(6, -1), np.array([3, 3, 1, 1, 0.5, 0.5]), 0)
    variance, log_scale = np.array([[[0.9, 1.1]] * 3]), np.log([[0.4, 0.3]])
    slopes = Slopes(product, cross)
    found = score_effects.solve(design, log_scale, Cells.of(mean[None], count / variance), slopes.aside(variance, 6))
    # The same of the rows: effects of subgroups enter as correlated noise.
    h = CONTRAST[y]
    x = np.concatenate([np.eye(2)[y], c, c * h[:, None]], axis=1)
    same = (group[:, None] == group).astype(float)
    noise = np.diag(variance[0][group, y]) + same * (0.4**2 + 0.3**2 * np.outer(h, h))
    precision = x.T @ np.linalg.solve(noise, x) + np.diag(design.fixed**-2.0)
    np.testing.assert_allclose(
        found.law.scale[0] * found.law.centre[0], np.linalg.solve(precision, x.T @ np.linalg.solve(noise, u)), rtol=1e-9
    )
    # Fisher's identity holds with what rows within cells say: the gradient is that of the value.
    step = 1e-5
    for j in range(2):
        shift = step * np.eye(2)[j]
        up, down = (
            score_effects.solve(
                design, log_scale + sign * shift, Cells.of(mean[None], count / variance), slopes.aside(variance, 6)
            )
            for sign in (1, -1)
        )
        np.testing.assert_allclose((up.value - down.value) / (2 * step), found.gradient[:, j], rtol=1e-5, atol=1e-7)
    theta = rng.standard_normal((1, 6))
    slope = slopes.of(theta)[0]
    for g in range(3):
        for k in range(2):
            own = (group == g) & (y == k)
            away = c[own] - middle[g, k]
            left = ((u[own] - mean[g, k] - away @ slope[k]) ** 2).sum()
            taken = ((u[own] - mean[g, k]) ** 2).sum() - slopes.explained(theta)[0, g, k]
            assert taken == pytest.approx(left, rel=1e-9)


def test_slopes_and_residual_spread_are_found() -> None:
    rows = rows_of(3000)
    tally = tally_of(rows)
    scores = score_cells(tally)
    cells = covariate_cells(tally, scores, ["age", "visits"])
    columns = [np.broadcast_to(np.eye(2), (3, 2, 2)), cells.mean, cells.mean * CONTRAST[:, None]]
    design = Design(np.concatenate(columns, axis=2), np.full(6, -1), np.array([3, 3, 1, 1, 0.5, 0.5]), 0)
    found = gibbs(
        design, scores.count, scores.mean, scores.scatter, PRIOR, np.random.default_rng(1),
        slopes=Slopes(cells.product, cells.cross), draws=60, tune=60,
    )  # fmt: skip
    slope = Slopes(cells.product, cells.cross).of(found.theta)
    # Standard deviations within cells: age 10, visits 1; scores are in pooled standard deviations.
    truth = np.array([[0.8, 0.0], [0.8, 0.3]]) / scores.unit
    assert (np.abs(slope.mean(axis=(0, 1)) - truth) < 0.06).all()
    sigma = np.exp(found.hyper[..., :2]).mean(axis=(0, 1)) * scores.unit
    np.testing.assert_allclose(sigma, 0.6, atol=0.08)


@pytest.mark.usefixtures("_few_draws")
@pytest.mark.parametrize("population", ["super", "finite"])
def test_metrics_are_those_over_the_covariates(population: str) -> None:
    tally = tally_of(rows_of(2000))
    known = sample(tally, seed=1, row_covariates=["age", "visits"], population=population)  # type: ignore[arg-type]
    mu = known.draws["mu"]
    # Scores of outcome y in subgroup s: Normal(-.5 + y + .8 * .8 [s = b], .8^2 + .3^2 y + .6^2).
    for name, centre in (("a", 0.5), ("b", 1.14)):
        truth = 1 - ndtr(centre / np.sqrt(0.64 + 0.09 + 0.36))
        one = mu.sel(metric="fnr", subgroup=name)
        assert abs(one.mean() - truth) < 4 * np.hypot(one.std(), 0.01)
    assert np.isfinite(mu).all()


@pytest.mark.usefixtures("_few_draws")
def test_rows_say_more_of_a_small_subgroup_with_their_covariates() -> None:
    tally = tally_of(rows_of(2000))
    spread = {
        names: sample(tally, seed=1, row_covariates=names, population="finite").draws["mu"].std(["chain", "draw"])
        for names in ((), ("age", "visits"))
    }
    ratio = (spread["age", "visits"] / spread[()]).sel(metric="sel", subgroup="c")
    assert ratio < 0.8


@pytest.mark.slow
def test_nuts_samples_the_same_posterior_with_covariates() -> None:
    tally = tally_of(rows_of(150, shares=(0.5, 0.4, 0.1)))
    word = bg.ModelBasedMetrics(row_covariates=("age", "visits"))
    mine = word.collapsed(tally, seed=1).draws["mu"]
    theirs = nuts.sample(word.model(tally), seed=1, draws=1000, tune=700, chains=2, target_accept=0.95)["posterior"][
        "mu"
    ]
    spread = mine.std(["chain", "draw"])
    gap = abs(mine.mean(["chain", "draw"]) - theirs.mean(["chain", "draw"])) / spread
    ratio = theirs.std(["chain", "draw"]) / spread
    print(
        f"\nlargest distance {float(gap.max()):.3f} sd; ratio of sd {float(ratio.min()):.2f} to {float(ratio.max()):.2f}"
    )
    assert (gap < 0.2).all()
    np.testing.assert_allclose(ratio, 1, atol=0.15)


def test_means_of_covariates_are_known_among_the_rows() -> None:
    cells = CovariateCells(
        np.array([[4.0, 0.0], [2.0, 3.0]]),
        np.array([[[1.0], [0.0]], [[2.0], [3.0]]]),
        np.zeros((2, 2, 1, 1)),
        np.zeros((2, 2, 1)),
    )
    found, centre = score_covariates.sample(cells, np.random.default_rng(1), finite=True, draws=50)
    assert (found[:, 0, 0] == 1).all()
    assert (found[:, 1, 1] == 3).all()
    assert found[:, 0, 1].std() > 0.1
    assert centre.shape == (50, 2, 1)
    assert (cells.covariance(finite=True)[0, 1] == 1).all()
    assert (cells.covariance(finite=True)[0, 0] == 0).all()
    np.testing.assert_allclose(cells.covariance(finite=False)[0, 0], 10 / 13)


def test_means_of_covariates_share_what_subgroups_have_in_common() -> None:
    """Scales of .7 and .1 are found; a cell without rows follows the other outcome of its subgroup."""
    rng = np.random.default_rng(1)
    groups, count = 150, np.full((150, 2), 60.0)
    common, differing = 0.7 * rng.standard_normal(groups), 0.1 * rng.standard_normal(groups)
    nu = np.array([-0.2, 0.3]) + common[:, None] + differing[:, None] * CONTRAST
    count[0] = 5000.0, 0.0
    mean = np.where(count > 0, nu + rng.standard_normal(nu.shape) / np.sqrt(np.maximum(count, 1)), 0.0)
    cells = CovariateCells(count, mean[..., None], np.zeros((groups, 2, 1, 1)), np.zeros((groups, 2, 1)))
    found, centre = score_covariates.sample(cells, np.random.default_rng(1), finite=False, draws=500)
    away = found[..., 0] - centre[:, None, :, 0]
    assert away.mean(axis=2).std(axis=1).mean() == pytest.approx(0.7, abs=0.1)
    assert (away[..., 1] - away[..., 0]).std(axis=1).mean() == pytest.approx(0.1, abs=0.05)
    assert found[:, 0, 1, 0].mean() == pytest.approx(mean[0, 0] + 0.5, abs=0.1)
    assert found[:, 0, 1, 0].std() == pytest.approx(0.1, abs=0.06)
    inside = np.abs(found[..., 0].mean(axis=0) - nu) < 2.5 * found[..., 0].std(axis=0)
    assert inside.mean() > 0.95


def test_covariates_of_rows_go_with_normal_residuals() -> None:
    tally = tally_of(rows_of(300))
    with pytest.raises(bg.InputError, match="row_covariates= needs residuals='normal'"):
        bg.ModelBasedMetrics(row_covariates=("age",), residuals="skewed")
    with pytest.raises(bg.InputError, match="row_covariates= needs residuals='normal'"):
        laws(tally, score_cells(tally), seed=1, row_covariates=("age",), residuals="skewed")
    assert bg.ModelBasedMetrics(row_covariates="age").row_covariates == ("age",)  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="row_covariates: the tally keeps no covariate 'weight' of rows"):
        sample(tally, seed=1, row_covariates=["weight"])
