from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.descriptions import estimator_of

WHO = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
COUNTS = bg.tally_from_counts([1, 30, 9, 4], [2, 100, 60, 8], WHO, metric="fnr")
FEW = bg.tally_from_counts([1, 2, 0, 1], [2, 3, 2, 3], WHO, metric="fnr")


def test_few_rows_lean_on_the_prior_and_many_do_not() -> None:
    many = bg.tally_from_counts([1000, 3000, 900, 400], [10_000, 10_000, 6000, 800], WHO, metric="fnr")
    few, much = (bg.prior_sensitivity(bg.estimate(tally, bg.PartialPooling(), seed=1)) for tally in (FEW, many))
    assert float(few["prior"].max()) > 4 * float(much["prior"].max())
    assert set(much["diagnosis"].values.ravel()) == {""}
    assert float(much["likelihood"].min()) > 0.05


def test_another_scale_gives_what_reweighting_says() -> None:
    # The prior to the power 4 has half the scales.
    wide = bg.estimate(COUNTS, bg.PartialPooling(overall_scale=1.5, tau_scale=0.5), seed=1)
    narrow = bg.estimate(COUNTS, bg.PartialPooling(overall_scale=0.75, tau_scale=0.25), seed=2)
    said = bg.prior_sensitivity(wide, powers=[4.0])["mean_at"].sel(power=4.0)
    found = narrow["posterior"].to_dataset()["mu"].mean(["chain", "draw"])
    np.testing.assert_allclose(said.values, found.values, atol=0.01)


def test_without_pooling_the_beta_prior_counts_more_rows() -> None:
    report = bg.estimate(FEW, bg.NoPooling(), seed=1)
    found = bg.prior_sensitivity(report, powers=[2.0])
    # Jeffreys to the power 2, as a density of the logit, is Beta(1, 1).
    exact = (FEW["successes"] + 1) / (FEW["count"] + 2)
    known = np.isfinite(found["mean_at"].values[:, 0])
    assert known.any()
    np.testing.assert_allclose(found["mean_at"].values[:, 0][known], exact.values[known], atol=0.02)
    assert np.isnan(found["quantity_prior"].values).all()


@pytest.mark.parametrize(
    "estimator",
    [bg.CrossedEffects(), bg.CrossedEffects(prior="half_t"), bg.CrossedEffects(prior="r2d2"), bg.CompletePooling()],
    ids=["half_normal", "half_t", "r2d2", "complete"],
)  # fmt: skip
def test_every_prior_with_a_density_has_an_answer(estimator: Estimator) -> None:
    found = bg.prior_sensitivity(bg.estimate(COUNTS, estimator, seed=1))
    assert str(found["reason"].values[0]) == ""
    assert np.isfinite(found["prior"].values).all()
    assert np.isfinite(found["likelihood"].values).all()
    assert found["race"].values.tolist() == ["a", "a", "b", "b"]


def test_confusion_cells_have_one_answer_for_all_metrics() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"sex": ["f", "m"] * 40, "y": rng.integers(0, 2, 80), "d": rng.integers(0, 2, 80)})
    tally = bg.tally(rows, ["sex"], ["fnr", "sel"], y_true="y", y_pred="d", confusion=True)
    found = bg.prior_sensitivity(bg.estimate(tally, bg.ConfusionModel(), seed=1))
    np.testing.assert_array_equal(found["k_hat"].values[0], found["k_hat"].values[1])
    assert np.isfinite(found["likelihood"].values).all()


def _called(report: xr.DataTree, word: str, settings: str) -> xr.DataTree:
    """The same draws under another word."""
    other = report.copy()
    other.attrs = {**report.attrs, "estimator": word, "settings": settings}
    del other.attrs["estimator_class"]  # as in a report of draws
    return other


def test_the_spread_of_a_bayesian_lasso_has_a_prior(report: xr.DataTree) -> None:
    found = bg.prior_sensitivity(_called(report, "structured_regression", '{"prior": "laplace"}'))
    assert set(found["reason"].values) == {""}
    assert np.isfinite(found["prior"].values).all()


@pytest.mark.parametrize("expected", [None, 2.0])
def test_the_global_scale_of_a_horseshoe_has_the_prior_of_its_model(expected: float | None) -> None:
    import pymc as pm

    estimator = bg.StructuredRegression(expected_effects=expected)
    report = bg.estimate(COUNTS, estimator, seed=1)
    found = bg.prior_sensitivity(report)
    assert str(found["reason"].values[0]) == ""
    assert np.isfinite(found["prior"].values).all()
    model = estimator.model(COUNTS)
    assert {"tau", "z_intercept"} <= {variable.name for variable in model.free_RVs}
    posterior = report["posterior"].to_dataset().isel(chain=0, draw=slice(0, 5), metric=0)
    inside = (posterior["overall"] > 0) & (posterior["overall"] < 1)
    assert inside.all()
    theirs = sum(
        pm.logp(model[name], posterior[drawn].values[:, None]).eval().ravel()
        for name, drawn in (("tau", "tau"), ("z_intercept", "overall"))
    )
    draws = report["posterior"].to_dataset().sel(metric="fnr").transpose("chain", "draw", ...)
    ours = estimator_of(report).log_prior(draws.isel(chain=0).rename(draw="sample"), COUNTS).value
    assert ours is not None
    np.testing.assert_allclose(np.diff(ours[:5]), np.diff(theirs), rtol=1e-9)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("james_stein", "flat"),
        ("disagreement", "known from the prior alone"),
        ("model_based_metrics", "not the parameters of the scores"),
        ("one_of_ones_own", "the priors of one of ones own are not known here"),
    ],
)
def test_where_there_is_none_the_reason_is_given(report: xr.DataTree, word: str, words: str) -> None:
    found = bg.prior_sensitivity(_called(report, word, "{}"))
    assert words in str(found["reason"].values[0])
    assert np.isnan(found["prior"].values).all()


def test_a_metric_without_values_has_a_reason() -> None:
    nothing = bg.tally_from_counts([0, 0, 0, 0], [0, 0, 0, 0], WHO, metric="fnr")
    found = bg.prior_sensitivity(bg.estimate(nothing, bg.PartialPooling(), seed=1))
    assert "undefined in every subgroup" in str(found["reason"].values[0])


def test_some_subgroups_have_the_numbers_of_all(make_report: Callable[..., xr.DataTree]) -> None:
    report = make_report()
    every = bg.prior_sensitivity(report)
    chosen = [str(name) for name in every["subgroup"].values[[2, 0]]]
    xr.testing.assert_allclose(bg.prior_sensitivity(report, subgroups=chosen), every.sel(subgroup=chosen))


def test_bad_requests_are_refused(report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="powers must be positive numbers; got 0"):
        bg.prior_sensitivity(report, powers=[0.0])
    with pytest.raises(InputError, match="the report has no subgroup 'x'"):
        bg.prior_sensitivity(report, subgroups=["x"])
    with pytest.raises(SchemaError, match="expected a report"):
        bg.prior_sensitivity({})  # type: ignore[arg-type]
