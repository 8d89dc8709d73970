"""Ordered attributes of the confusion model: limits, invariances, both engines, and the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.models import confusion

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


def test_every_factor_has_a_share_and_levels_without_rows_are_interpolated(report: xr.DataTree) -> None:
    share = report["posterior"]["ordered_share"]
    assert share.dims == ("chain", "draw", "factor", "ordered")
    assert share["factor"].values.tolist() == FACTORS
    assert bool((share.mean(("chain", "draw")).sel(factor="sel") > 0.5).all())
    assert (report.attrs["usable"], report.attrs["inference"]) == (1, "hamiltonian")
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
