"""Ordered attributes of crossed effects: kernels, limits, both sides, and the errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import crossed_effects as reference
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.spectral_design import design_of
from bayesgroups.models.shared.component_scales import component_scales
from bayesgroups.models.shared.ordered_levels import NOTHING, ordered_blocks, walk_root
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.models.shared.subsets import subsets

AGES = ("18", "25", "35", "50", "65")


def trend(sexes: str = "fm") -> xr.Dataset:
    """Rates that rise with age; the middle age has no rows, nor the youngest men."""
    table = pd.DataFrame([(age, sex) for age in AGES for sex in sexes], columns=["age", "sex"])
    n = np.where((table["age"] == "35") | ((table["age"] == "18") & (table["sex"] == "m")), 0, 120)
    rate = 0.1 + 0.15 * table["age"].map(AGES.index) + 0.05 * (table["sex"] == "f")
    return bg.tally_from_counts(np.round(n * rate).tolist(), n.tolist(), table, metric="fnr")


@pytest.fixture(scope="module")
def reports() -> tuple[xr.DataTree, xr.DataTree]:
    return tuple(bg.estimate(trend(), bg.CrossedEffects(ordered=ordered), seed=1) for ordered in ({"age": AGES}, ()))  # type: ignore[return-value]


def kernel(levels: int, **options: Any) -> Any:
    root = walk_root(levels, **options)
    return root @ root.T


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("levels", [3, 5, 12])
def test_kernels_have_unit_variance_sum_to_zero_and_have_no_direction(levels: int, cyclic: bool) -> None:
    covariance = kernel(levels, cyclic=cyclic)
    assert np.exp(np.log(np.diag(covariance)).mean()) == pytest.approx(1)
    np.testing.assert_allclose(covariance.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(covariance[::-1, ::-1], covariance, atol=1e-9)
    np.testing.assert_allclose(np.linalg.matrix_rank(covariance), levels - 1)


def test_a_cycle_has_no_ends() -> None:
    covariance = kernel(7, cyclic=True)
    np.testing.assert_allclose(np.roll(covariance, (1, 1), axis=(0, 1)), covariance, atol=1e-9)
    assert covariance[0, 6] == pytest.approx(covariance[0, 1])
    assert kernel(7)[0, 6] < kernel(7)[0, 1]


def test_three_levels_by_hand() -> None:
    """Laplacian of a path of three: eigenvalues 1 and 3, vectors (1, 0, -1) / sqrt 2 and (1, -2, 1) / sqrt 6."""
    plain = np.outer([1, 0, -1], [1, 0, -1]) / 2 + np.outer([1, -2, 1], [1, -2, 1]) / 6 / 9
    np.testing.assert_allclose(kernel(3), plain / np.prod(np.diag(plain)) ** (1 / 3), atol=1e-12)


def test_crossed_components_are_kronecker_products() -> None:
    tally = trend()
    components = subsets(tally)
    parts = ordered_blocks(tally, components, {"age": AGES})
    assert parts.shares == ("age",)
    assert [components.names[block.component] for block in parts.blocks] == ["age", "age:sex"]
    age = np.repeat(np.arange(5), 2)
    same_sex = np.tile(np.eye(2), (5, 5))
    main, both = (block.root @ block.root.T for block in parts.blocks)
    np.testing.assert_allclose(main, kernel(5)[np.ix_(age, age)], atol=1e-12)
    np.testing.assert_allclose(both, main * same_sex, atol=1e-12)


def test_levels_that_are_not_named_stand_alone() -> None:
    parts = ordered_blocks(trend(), subsets(trend()), {"age": AGES[1:]})
    covariance = parts.blocks[0].root @ parts.blocks[0].root.T
    np.testing.assert_allclose(covariance[:2, :2], 1)
    np.testing.assert_allclose(covariance[:2, 2:], 0, atol=1e-12)
    np.testing.assert_allclose(covariance[2:, 2:], np.kron(kernel(4), np.ones((2, 2))), atol=1e-12)


def test_without_a_share_the_order_says_nothing() -> None:
    tally = trend()
    components = subsets(tally)
    predictor, prior = Predictor(components.cells, np.empty((10, 0)), 1.5, 1.0), Prior("half_t", (0.3,) * 3)
    designs = [
        design_of(predictor, prior, np.zeros(10), parts)
        for parts in (ordered_blocks(tally, components, {"age": AGES}), NOTHING)
    ]
    tau = [0.3, 0.2, 0.5]
    covariances = []
    for design, learned in zip(designs, ([*tau, 0.0], tau), strict=True):
        basis = design.spectrum.values(np.eye(design.spectrum.directions)).T
        shared = (basis * design.variance(np.array([learned]), 0)) @ basis.T
        covariances.append(shared + np.diag(design.own_variance(np.array([learned]), 0)[0]))
    np.testing.assert_allclose(covariances[0], covariances[1], atol=1e-12)


@pytest.mark.parametrize("ordered", [{"sex": ["f", "m"]}, {}])
def test_two_levels_have_no_order(ordered: dict[str, list[str]], reports: tuple[xr.DataTree, xr.DataTree]) -> None:
    report = bg.estimate(trend(), bg.CrossedEffects(ordered=ordered), seed=1)
    xr.testing.assert_identical(report["posterior"]["mu"].drop_attrs(), reports[1]["posterior"]["mu"].drop_attrs())


def test_levels_without_rows_are_interpolated(reports: tuple[xr.DataTree, xr.DataTree]) -> None:
    ordered, plain = (report["estimates"].to_dataset().sel(metric="fnr", level=0.95) for report in reports)
    side = ordered.sel(approach="bayesian")
    estimate = side["estimate"].to_series()
    assert list(side["status"].sel(subgroup=["35 | f", "18 | m"]).values) == ["imputed", "imputed"]
    for sex in "fm":
        assert estimate[f"25 | {sex}"] < estimate[f"35 | {sex}"] < estimate[f"50 | {sex}"]
    assert estimate["18 | m"] < estimate["25 | m"]
    widths = [(each["upper"] - each["lower"]).sel(approach="bayesian").to_series() for each in (ordered, plain)]
    assert widths[0]["35 | f"] < 0.75 * widths[1]["35 | f"]
    # Nothing is known of a level at the end but its neighbour on one side.
    assert widths[0]["18 | m"] > 0.8 * widths[0]["18 | f"]
    share = reports[0]["posterior"]["ordered_share"]
    assert share.dims == ("chain", "draw", "metric", "ordered")
    assert 0.5 < float(share.mean()) < 1
    assert reports[0].attrs["usable"] == 1


def test_the_order_helps_the_reference_too(reports: tuple[xr.DataTree, xr.DataTree]) -> None:
    truth = (0.1 + 0.15 * np.repeat(np.arange(5), 2)) + np.tile([0.05, 0], 5)
    errors = [
        np.abs(report["estimates"].to_dataset()["estimate"].sel(approach="frequentist", metric="fnr").values - truth)[
            4:6
        ].mean()
        for report in reports
    ]
    assert errors[0] < 0.6 * errors[1]
    answer = reference.estimate(trend(), ordered={"age": AGES})
    assert answer["component"].values.tolist() == [
        "shared", "age", "sex", "age (ordered)", "age:sex (ordered)", "identity",
    ]  # fmt: skip


def test_the_order_of_the_tally_and_the_reverse_are_the_same_model() -> None:
    tally = trend()
    named, own, reverse = (ordered_blocks(tally, subsets(tally), {"age": order}) for order in (AGES, None, AGES[::-1]))
    for first, second, third in zip(named.blocks, own.blocks, reverse.blocks, strict=True):
        np.testing.assert_array_equal(first.root, second.root)
        np.testing.assert_allclose(first.root @ first.root.T, third.root @ third.root.T, atol=1e-9)
    assert bg.CrossedEffects(ordered=("age",))._orders == {"age": None}


def test_one_attribute_alone_and_left_out_subgroups() -> None:
    tally = bg.tally_from_counts(
        [3, 6, 0, 12, 16], [30, 30, 0, 30, 30], pd.DataFrame({"age": list(AGES)}), metric="fnr"
    )
    report = bg.estimate(tally, bg.CrossedEffects(ordered=("age",), own_effects="fixed"), seed=1)
    estimate = report["estimates"].to_dataset().sel(approach="bayesian", metric="fnr")["estimate"].values
    assert report.attrs["inference"] == "hamiltonian"
    assert estimate[1] < estimate[2] < estimate[3]
    left = bg.loo(report)
    plain = bg.loo(bg.estimate(tally, bg.CrossedEffects(), seed=1))
    assert float(left["elpd"].sum()) > float(plain["elpd"].sum())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ordered": "age"}, "must be a tuple of attributes"),
        ({"ordered": {"age": "18"}}, "must be a list of levels; got the text '18'"),
        ({"ordered": {"age": ["18", "25", "18"]}}, "names '18' twice"),
        ({"ordered": {"age": ["18"]}}, "must name two levels or more"),
        ({"cyclic": ("age",)}, "cyclic names 'age', which is not ordered"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.CrossedEffects(**settings)


@pytest.mark.parametrize(
    ("ordered", "message"),
    [
        ({"income": ["low", "high"]}, "ordered names 'income', but the attributes of the tally are"),
        (("income",), "ordered names 'income', but the attributes of the tally are"),
        ({"age": ["18", "25", "35", "5O", "65"]}, None),
        ({"age": ["young", "old"]}, "must name two levels of the tally or more; its levels are"),
    ],
)
def test_orders_that_do_not_fit_the_tally(ordered: Any, message: str | None) -> None:
    if message is None:  # a level that the tally lacks may lie between others
        assert bg.estimate(trend(), bg.CrossedEffects(ordered=ordered), seed=1).attrs["inference"] == "hamiltonian"
        return
    with pytest.raises(InputError, match=message):
        bg.estimate(trend(), bg.CrossedEffects(ordered=ordered), seed=1)


def test_a_misspelt_level_is_named() -> None:
    table = pd.DataFrame({"age": ["18-24", "25-44", "45-64", "65+"]})
    tally = bg.tally_from_counts([1, 2, 3, 4], [9, 9, 9, 9], table, metric="fnr")
    with pytest.raises(ValueError, match="names '18–24', which the tally lacks; did you mean '18-24'"):
        ordered_blocks(tally, subsets(tally), {"age": ["18–24", "25-44", "45-64", "65+"]})
    with pytest.raises(ValueError, match="names '25-44' twice"):
        ordered_blocks(tally, subsets(tally), {"age": ["25-44", "45-64", "25-44"]})
    with pytest.raises(ValueError, match="cyclic names 'sex', which is not among"):
        ordered_blocks(tally, subsets(tally), {"age": None}, ["sex"])


def test_settings_go_to_a_file_and_back() -> None:
    estimator = bg.CrossedEffects(ordered={"age": AGES}, cyclic=("age",))
    assert bg.CrossedEffects(**{**estimator.settings(), "covariates": ()}) == estimator


def test_posteriors_are_those_of_a_dense_grid() -> None:
    """One attribute and a normal likelihood: standard deviation and share on a grid, covariances written from the formula."""
    y, v = np.array([0.10, 0.18, 0.22, 0.30, 0.41]), np.array([0.002, 0.004, 0.003, 0.002, 0.005])
    tally = bg.tally_from_estimates(y, v, pd.DataFrame({"age": AGES}))
    posterior = bg.estimate(tally, bg.CrossedEffects(ordered=("age",)), seed=1)["posterior"].to_dataset()
    natural = natural_scale(tally).isel(metric=0)
    scale = float(component_scales(tally, np.array([False]))[0])
    sds = scale * stats.t(3).ppf(0.5 + 0.5 * (np.arange(60) + 0.5) / 60)
    shares = (np.arange(40) + 0.5) / 40
    centre, wide = float(natural["centre"]), float(natural["scale"])
    heights, moments = [], []
    for sd, share in itertools.product(sds, shares):
        values = wide**2 + sd**2 * ((1 - share) * np.eye(5) + share * kernel(5))
        data = values + np.diag(v)
        heights.append(stats.multivariate_normal(np.full(5, centre), data).logpdf(y))
        moments.append([*(centre + values @ np.linalg.solve(data, y - centre)), sd, share])
    expected = np.average(moments, axis=0, weights=np.exp(np.array(heights) - max(heights)))
    draws = np.column_stack(
        [posterior[name].values.reshape(4000, -1) for name in ("mu", "component_sd", "ordered_share")]
    )
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - expected) / draws.std(axis=0), 0.1)
