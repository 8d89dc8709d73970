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
from bayesgroups.frequentist.score_laws import DECISIONS, ScoreLaw, metric_of
from bayesgroups.models import model_based_metrics, score_functionals
from bayesgroups.models.score_cells import columns, on_scale, score_cells
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


@pytest.mark.parametrize("residuals", ["normal", "skewed"])
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


def test_what_is_refused(scored: xr.Dataset, rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="keeps no scores by outcome"):
        model_based_metrics.build(rates)
    with pytest.raises(ValueError, match="residuals must be one of normal, skewed"):
        model_based_metrics.build(scored, residuals="t")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="effect_scale must be a positive number"):
        model_based_metrics.build(scored, effect_scale=0.0)
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
