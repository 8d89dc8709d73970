"""The model of scores: names, likelihood against rows, functionals, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy.stats import norm

import bayesgroups as bg
from bayesgroups.models import model_based_metrics, score_functionals
from bayesgroups.models.shared.score_cells import columns, on_scale, score_cells
from bayesgroups.models.shared.score_covariates import covariate_cells
from bayesgroups.scores.laws import DECISIONS, ScoreLaw, metric_of
from bayesgroups.tallies.score_covariates import keep_covariates
from bayesgroups.tallies.score_moments import keep_scores

MODE = Mode(linker="py", optimizer="fast_compile")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"s": rng.choice(["a", "b"], 60), "t": rng.choice(["c", "d"], 60), "y": rng.integers(0, 2, 60)})
    rows["p"] = 1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(60)))
    return rows


@pytest.fixture(scope="module")
def scored(rows: pd.DataFrame) -> xr.Dataset:
    return keep_scores(bg.tally(rows, ["s", "t"], ["fnr", "auc"], y_true="y", y_score="p", threshold=0.5))


@pytest.mark.parametrize("residuals", ["normal", pytest.param("skewed", marks=pytest.mark.slow)])
def test_names_dims_and_a_finite_gradient(scored: xr.Dataset, residuals: model_based_metrics.Residuals) -> None:
    model = model_based_metrics.build(scored, residuals=residuals)
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    assert model.named_vars_to_dims["overall"] == ("metric",)
    assert all(model.named_vars_to_dims[variable.name] for variable in model.basic_RVs)
    assert all(variable.name.startswith("z_") for variable in model.free_RVs)
    gradient = model.compile_dlogp(mode=MODE)(model.initial_point())
    assert np.isfinite(gradient).all()


def test_the_likelihood_of_moments_is_that_of_the_rows(rows: pd.DataFrame, scored: xr.Dataset) -> None:
    """Differences between points are those of the log likelihood of every single row."""
    model = model_based_metrics.build(scored)
    cells = score_cells(scored)
    mean, variance = np.linspace(-0.5, 0.5, 8).reshape(4, 2), np.linspace(0.6, 1.4, 8).reshape(4, 2)
    code = (rows["s"].to_numpy() == "b") * 2 + (rows["t"].to_numpy() == "d")
    x = (np.log(rows["p"] / (1 - rows["p"])).to_numpy() - cells.centre) / cells.unit
    y = rows["y"].to_numpy()

    def of_rows(shift: float) -> float:
        return float(norm.logpdf(x, mean[code, y] + shift, np.sqrt(variance[code, y])).sum())

    def of_moments(shift: float) -> float:
        some = cells.count > 0
        several = cells.count > 1
        found = norm.logpdf(cells.mean[some], mean[some] + shift, np.sqrt(variance[some] / cells.count[some])).sum()
        density = pm.Gamma.dist(alpha=0.5 * (cells.count[several] - 1), beta=0.5 / variance[several])
        return float(found + pm.logp(density, cells.scatter[several]).eval(mode=MODE).sum())

    assert of_rows(0.4) - of_rows(0.0) == pytest.approx(of_moments(0.4) - of_moments(0.0), rel=1e-9)
    assert [variable.name for variable in model.observed_RVs] == ["score_mean", "score_scatter", "successes"]


@pytest.mark.parametrize("name", [*DECISIONS, "auc", "brier", "calibration"])
def test_functionals_are_those_of_the_other_side(name: str) -> None:
    law = (0.3, -0.8, 0.4, 1.1, 0.7)
    scale = score_functionals.Scale(0.2, pm.math.invlogit)
    mine = score_functionals.metric_of(name, tuple(pm.math.constant(np.array(one)) for one in law), scale).eval(
        mode=MODE
    )
    theirs = metric_of(name, ScoreLaw(*(np.array(one) for one in law)), 0.2, link=lambda v: 1 / (1 + np.exp(-v)))
    assert float(mine) == pytest.approx(float(theirs), rel=1e-9)


def test_the_likelihood_given_covariates_is_that_of_the_rows(rows: pd.DataFrame) -> None:
    """At any point the two differ by the same number: the densities of what is not modelled."""
    own = rows.assign(age=np.linspace(20, 70, len(rows)) % 37, visits=np.arange(len(rows)) % 5)
    tally = bg.tally(own, ["s"], ["fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    tally = keep_covariates(tally, own, ["age", "visits"])
    model = model_based_metrics.build(tally, order=0, row_covariates=["age", "visits"], population="finite")
    assert [one.name for one in model.potentials] == ["score_density", "covariate_density"]
    scores = score_cells(tally)
    cells = covariate_cells(tally, scores, ["age", "visits"])
    plain = own[["age", "visits"]].to_numpy(dtype=float)
    c = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    code, y = (own["s"] == "b").to_numpy().astype(int), own["y"].to_numpy()
    cell = 2 * code + y
    away = c - np.stack([c[cell == k].mean(axis=0) for k in range(4)])[cell]
    c = c @ np.linalg.inv(np.linalg.cholesky(away.T @ away / (len(c) - 4))).T
    for g in range(2):
        for k in range(2):
            here = (code == g) & (y == k)
            np.testing.assert_allclose(cells.mean[g, k], c[here].mean(axis=0), rtol=1e-9)
    x = (np.log(own["p"] / (1 - own["p"])).to_numpy() - scores.centre) / scores.unit
    names = ("score_density", "z_mean", "z_slope", "z_variance")
    wanted = model.replace_rvs_by_values([model[name] for name in names])
    values = model.compile_fn(wanted, inputs=model.value_vars, mode=MODE, on_unused_input="ignore")
    gaps = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        point = {name: value + 0.3 * rng.standard_normal(value.shape) for name, value in model.initial_point().items()}
        density, mean, slope, variance = values(point)
        h = np.array([-0.5, 0.5])
        steep = slope[0][None] + h[:, None] * slope[1][None]
        own_mean = mean[code, y] + (c * steep[y]).sum(axis=1)
        gaps.append(float(density) - float(norm.logpdf(x, own_mean, np.sqrt(variance[code, y])).sum()))
    np.testing.assert_allclose(gaps, gaps[0], rtol=0, atol=1e-8)


def test_what_is_refused(scored: xr.Dataset, rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="keeps no scores by outcome"):
        model_based_metrics.build(rates)
    with pytest.raises(ValueError, match="residuals must be one of normal, skewed"):
        model_based_metrics.build(scored, residuals="t")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="effect_scale must be a positive number"):
        model_based_metrics.build(scored, effect_scale=0.0)
    with pytest.raises(ValueError, match="row_covariates= needs residuals='normal'"):
        model_based_metrics.build(scored, residuals="skewed", row_covariates=["age"])
    with pytest.raises(ValueError, match="the tally keeps no covariate 'age' of rows; it keeps none"):
        model_based_metrics.build(scored, row_covariates=["age"])
    with pytest.raises(ValueError, match="keeps no bins"):
        model_based_metrics.build(scored.drop_dims("score_bin"), residuals="skewed")
    flat = scored.assign(score_variance=0 * scored["score_variance"])
    with pytest.raises(ValueError, match="scores do not vary among rows of one outcome in any subgroup"):
        score_cells(flat)
    with pytest.raises(ValueError, match="no functional"):
        score_functionals.metric_of("mean", (0.5,) * 5, score_functionals.Scale(0.0, None))
    with pytest.raises(ValueError, match="no threshold"):
        score_functionals.metric_of("sel", (0.5,) * 5, score_functionals.Scale(None, None))
    with pytest.raises(ValueError, match="needs scores that are probabilities"):
        score_functionals.metric_of("brier", (0.5,) * 5, score_functionals.Scale(0.0, None))


def test_columns_cross_as_far_as_asked(scored: xr.Dataset) -> None:
    assert columns(scored, 0, (), 0.3).names == ()
    assert columns(scored, 1, (), 0.3).names == ("s", "s:outcome", "t", "t:outcome")
    with pytest.raises(ValueError, match="order must be 0 or more"):
        columns(scored, -1, (), 0.3)


def test_thresholds_outside_the_scores_select_all_or_nothing() -> None:
    assert on_scale(0.0, logit=True) == -np.inf
    assert on_scale(1.0, logit=True) == np.inf


def test_the_finite_population_takes_its_own_outcomes(scored: xr.Dataset) -> None:
    model = model_based_metrics.build(scored, population="finite")
    assert "z_alpha" not in {variable.name for variable in model.free_RVs}
    assert json.loads(scored.attrs["settings"])["score_scale"] == "logit"
