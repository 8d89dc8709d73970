"""Ordered attributes of the confusion model: limits, invariances, both engines, and the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.inference.collapsed.crossed.blocks import blocks_of
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior, FollowingSpace
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.site_posterior import SitePosterior
from bayesgroups.models import confusion
from bayesgroups.models.shared.ordered_levels import ordered_blocks
from bayesgroups.models.shared.subsets import subsets

AGES = ("18", "25", "35", "50", "65")
FACTORS = ["sel", "ppv", "for"]


def trend(empty: str = "35", rows: int = 80) -> xr.Dataset:
    """Decisions and outcomes that become more frequent with age; nobody of one age was seen."""
    rng = np.random.default_rng(2)
    parts = []
    for age in AGES:
        for sex in "fm":
            number = 0 if age == empty else rows
            along = AGES.index(age) - 2
            d = rng.random(number) < 1 / (1 + np.exp(0.4 - 0.5 * along))
            y = rng.random(number) < 1 / (1 + np.exp(0.8 - 0.4 * along - 1.5 * d))
            parts.append(pd.DataFrame({"age": age, "sex": sex, "y": y, "d": d}))
    by = {"age": list(AGES), "sex": ["f", "m"]}
    return bg.tally(pd.concat(parts), by, ["sel", "fnr", "acc"], y_true="y", y_pred="d", confusion=True)


@pytest.fixture(scope="module")
def tally() -> xr.Dataset:
    return trend()


@pytest.fixture(scope="module")
def report(tally: xr.Dataset) -> xr.DataTree:
    return bg.estimate(tally, bg.ConfusionModel(ordered=("age",)), seed=1)


def pair(tally: xr.Dataset) -> tuple[FollowingPredictor, FollowingPrior]:
    components = subsets(tally)
    predictor = FollowingPredictor(components.cells[:-1], np.empty((tally.sizes["subgroup"], 0)), 1.5, 1.1)
    first, second = (Prior("half_normal", (scale,) * 2) for scale in (0.5, 0.15))
    return predictor, FollowingPrior(first, second, 0.3, 0.3)


def test_every_factor_has_a_share_and_levels_without_rows_are_interpolated(report: xr.DataTree) -> None:
    share = report["posterior"]["ordered_share"]
    assert share.dims == ("chain", "draw", "factor", "ordered")
    assert share["factor"].values.tolist() == FACTORS
    assert bool((share.mean(("chain", "draw")).sel(factor="sel") > 0.5).all())
    assert (report.attrs["usable"], report.attrs["inference"]) == (1, "elliptical")
    mean = report["posterior"]["mu"].mean(("chain", "draw")).sel(metric="sel").to_series()
    for sex in "fm":
        assert mean[f"25 | {sex}"] < mean[f"35 | {sex}"] < mean[f"50 | {sex}"]


def test_an_order_makes_levels_without_rows_surer(tally: xr.Dataset, report: xr.DataTree) -> None:
    plain = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    spreads = [each["posterior"]["mu"].std(("chain", "draw")).sel(subgroup="35 | f") for each in (report, plain)]
    assert float(spreads[0].sel(metric="sel")) < 0.85 * float(spreads[1].sel(metric="sel"))
    assert "ordered_share" not in plain["posterior"]
    left = [float(bg.loo(each)["elpd"].sum()) for each in (report, plain)]
    assert left[0] > left[1]


@pytest.mark.parametrize("settings", [{"ordered": {"sex": ["f", "m"]}}, {"ordered": {}}, {"ordered": ()}])
def test_two_levels_have_no_order_to_the_byte(tally: xr.Dataset, settings: dict[str, Any]) -> None:
    reports = [bg.estimate(tally, bg.ConfusionModel(**each), seed=3) for each in (settings, {})]
    first, second = (each["posterior"]["cell_share"].drop_attrs() for each in reports)
    xr.testing.assert_identical(first, second)


def test_without_shares_the_pair_that_follows_is_the_one_without_an_order(tally: xr.Dataset) -> None:
    """Marginal likelihoods of both factors at shares of 0, against the dense formulas of the pair without an order."""
    predictor, prior = pair(tally)
    along = ordered_blocks(tally, subsets(tally), {"age": AGES}).without(2)
    rng = np.random.default_rng(1)
    y, v = rng.standard_normal(20), rng.uniform(0.1, 0.3, 20)
    u = rng.standard_normal((4, prior.dimension))
    given = SitePosterior(blocks_of(predictor, prior, along), y, v, np.zeros(20)).given(
        np.column_stack([u, np.full((4, 2), -37.0)])
    )
    np.testing.assert_allclose(given.log_marginal, FollowingSpace(predictor, y, v).log_marginal(prior.scales(u)))


def test_the_pair_has_the_covariance_of_its_formula(tally: xr.Dataset) -> None:
    """Prior covariance of both predictors from the kernels, with a share of each and the slope between them."""
    predictor, prior = pair(tally)
    along = ordered_blocks(tally, subsets(tally), {"age": AGES}).without(2)
    blocks = blocks_of(predictor, prior, along)
    u = np.random.default_rng(2).standard_normal((1, blocks.dimension))
    assert blocks.dimension == prior.dimension + 2
    loadings = blocks.loadings(u)[0]
    made = np.block(
        [[sum(a[k] * b[k] * root @ root.T for k, root in enumerate(blocks.roots)) for b in loadings] for a in loadings]
    )
    tau, share = prior.scales(u[:, : prior.dimension])[0], blocks.shares(u)[0]
    agree = predictor.cells[:, :, None] == predictor.cells[:, None, :]
    walk = along.blocks[0].root @ along.blocks[0].root.T

    def kernel(sds: Any, w: float) -> Any:
        # age, ordered, and sex
        return sds[0] ** 2 * ((1 - w) * agree[0] + w * walk) + sds[1] ** 2 * agree[1]

    first, second, slope = kernel(tau[:2], share[0]), kernel(tau[2:4], share[1]), tau[4]
    expected = np.block([[1.5**2 + first, slope * first], [slope * first, 1.5**2 + slope**2 * first + second]])
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_the_reverse_order_is_the_same_posterior(tally: xr.Dataset, report: xr.DataTree) -> None:
    back = bg.estimate(tally, bg.ConfusionModel(ordered={"age": AGES[::-1]}), seed=1)
    first, second = (each["posterior"]["mu"] for each in (report, back))
    dims = ("chain", "draw")
    gap = np.abs(first.mean(dims) - second.mean(dims)) / first.std(dims)
    assert float(gap.max()) < 0.15  # 4000 draws each, of which some hundred are effective at least


@pytest.mark.parametrize(
    "settings", [{"own_effects": "floored"}, {"own_effects": "learned"}, {"own_effects": "fixed", "order": 1}]
)
def test_other_residual_effects_have_an_order_too(settings: dict[str, Any]) -> None:
    tally = trend(empty="", rows=30)
    if settings["own_effects"] == "floored":
        report = bg.estimate(tally, bg.ConfusionModel(ordered=("age",), **settings), seed=1, inference="collapsed")
        assert report["posterior"]["ordered_share"].sizes["factor"] == 3
    model = bg.ConfusionModel(ordered=("age",), **settings).model(tally)
    assert {"ordered_share", "z_ordered"} <= {variable.name for variable in model.free_RVs}


def test_tallies_with_rows_without_an_outcome_take_an_order(tally: xr.Dataset) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.choice(AGES, 400), "y": rng.integers(0, 2, 400), "d": rng.integers(0, 2, 400)})
    frame["y"] = frame["y"].where(rng.random(400) < 0.4).astype("Int64")
    partial = bg.tally(frame, ["age"], ["prev"], y_true="y", y_pred="d", unlabelled="keep")
    word = bg.ConfusionModel(ordered=("age",), cyclic=("age",))
    report = bg.estimate(partial, word, seed=1, inference="collapsed")
    assert {"ordered_share", "judged_rate_slope"} <= set(report["posterior"].data_vars)
    assert "ordered_share" in {variable.name for variable in word.model(partial).free_RVs}


def test_words_and_settings() -> None:
    word = bg.ConfusionModel(ordered={"age": AGES}, cyclic=("age",))
    assert bg.ConfusionModel(**word.settings()) == word
    assert "the share that follows the order of age (18 < 25 < 35 < 50 < 65)" in word.describe_priors(trend())
    assert "order" not in bg.ConfusionModel().describe_priors(trend())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ordered": "age"}, "ConfusionModel: ordered='age' must be a tuple"),
        ({"cyclic": ("age",)}, "cyclic names 'age', which is not ordered"),
        ({"ordered": ("age",), "correlated": True}, "correlated effects have no ordered attributes"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.ConfusionModel(**settings)


def test_the_model_refuses_them_too(tally: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="correlated effects have no ordered attributes"):
        confusion.build(tally, ordered={"age": AGES}, correlated=True)
    with pytest.raises(InputError, match="ordered names 'income'"):
        bg.estimate(tally, bg.ConfusionModel(ordered=("income",)), seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("follow", [True, False])
def test_nuts_and_the_exact_engine_agree(*, follow: bool) -> None:
    import arviz as az

    tally = trend(rows=40)
    word = bg.ConfusionModel(ordered=("age",), follow_selection=follow)
    exact = bg.estimate(tally, word, seed=1, inference="collapsed")["posterior"].to_dataset()
    nuts = bg.estimate(tally, word, seed=1, inference="nuts")["posterior"].to_dataset()
    assert set(exact.data_vars) == set(nuts.data_vars) >= {"ordered_share"}
    dims = ("chain", "draw")
    for name in exact.data_vars:
        error = np.sqrt(
            sum(
                each[name].var(dims) / np.minimum(az.ess(each[name].to_dataset())[name], 4000) for each in (exact, nuts)
            )
        )
        assert np.abs((exact[name].mean(dims) - nuts[name].mean(dims)) / error).max() < 4.5, name
        assert np.abs(np.log(exact[name].std(dims) / nuts[name].std(dims))).max() < 0.2, name
