"""Disparities of tallies and reports: plug-in, corrected, posterior, bootstrap; what is left out; every error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.disparities.named_measures import MEASURES, MeasureName, Settings, measure
from bayesgroups.questions.disparities.posterior_variance import posterior_variance
from bayesgroups.questions.disparities.sampling_bias import corrected, given_truth, if_equal, shrunken_truth
from bayesgroups.questions.sampling_variances import read_estimates

K, N = [36, 16, 7, 3], [40, 20, 10, 5]


def sites(number: int) -> pd.DataFrame:
    return pd.DataFrame({"site": [f"s{i}" for i in range(number)]})


def example() -> xr.Dataset:
    return bg.tally_from_counts(K, N, sites(4), metric="tpr")


def test_plug_in_of_the_worked_example() -> None:
    found = bg.disparity(example(), alpha=2).sel(metric="tpr")
    y = np.array(K) / np.array(N)
    expected = [float(measure(name, y, Settings(larger_is_better=True))) for name in MEASURES]
    assert found["value"].values.tolist() == pytest.approx(expected)
    assert found["correction"].values.tolist() == ["plug_in"] * len(MEASURES)
    assert np.isnan(found["lower"]).all()
    assert all("biased upward" in note for note in found["note"].values.tolist())
    assert set(found["interval_kind"].values.tolist()) == {"none"}


def test_weights_and_direction() -> None:
    """With the population's weights the mean is the rate of everybody; a false-negative rate is bad where it is large."""
    tally = bg.tally_from_counts({"tpr": K, "fnr": K}, {"tpr": N, "fnr": N}, sites(4))
    gap = bg.disparity(tally, "worst_group_gap", weights="population")["value"].sel(measure="worst_group_gap")
    overall = sum(K) / sum(N)
    assert float(gap.sel(metric="tpr")) == pytest.approx(overall - 0.6)
    assert float(gap.sel(metric="fnr")) == pytest.approx(0.9 - overall)


def test_noise_alone_makes_disparity() -> None:
    """Under equality the mean of the plug-in is what ``expected_if_equal`` says, and its p-value is even."""
    rng = np.random.default_rng(3)
    expected, values, p = [], [], []
    for i in range(60):
        found = bg.disparity(bg.tally_from_counts(rng.binomial(50, 0.8, 20), [50] * 20, sites(20)), draws=200, seed=i)
        one = found.isel(metric=0).sel(measure=["max_min_difference", "variance"])
        expected.append(one["expected_if_equal"].values)
        values.append(one["value"].values)
        p.append(one["p_value_if_equal"].values)
    ratio = np.mean(values, axis=0) / np.mean(expected, axis=0)
    np.testing.assert_allclose(ratio, 1.0, atol=0.12)
    np.testing.assert_allclose(np.mean(expected, axis=0)[1], 0.16 / 50, rtol=0.1)
    np.testing.assert_allclose(np.mean(p, axis=0), 0.5, atol=0.13)


def test_if_equal_keeps_what_it_permutes() -> None:
    estimates = read_estimates(example(), 0)
    drawn = if_equal(estimates, np.random.default_rng(1), 500)
    np.testing.assert_allclose((drawn * N).sum(axis=1), sum(K))
    np.testing.assert_allclose(drawn.mean(axis=0), sum(K) / sum(N), atol=0.04)


def test_if_equal_of_more_rows_than_can_be_dealt() -> None:
    size = [10**9, 2 * 10**9]
    estimates = read_estimates(bg.tally_from_counts([5 * 10**8, 10**9], size, sites(2)), 0)
    np.testing.assert_allclose(if_equal(estimates, np.random.default_rng(1), 50), 0.5, atol=1e-3)


def test_if_equal_of_estimates() -> None:
    estimates = read_estimates(bg.tally_from_estimates([1.0, 3.0], [0.1, 0.3], sites(2)), 0)
    drawn = if_equal(estimates, np.random.default_rng(1), 4000)
    np.testing.assert_allclose(drawn.mean(axis=0), 1.5, atol=0.04)  # weights 10 and 10 / 3
    np.testing.assert_allclose(drawn.var(axis=0), [0.1, 0.3], rtol=0.1)


def test_shrunken_truth_is_as_unequal_as_the_truth() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(0.0, 1.0, 400)
    tally = bg.tally_from_estimates(truth + rng.normal(0.0, 1.0, 400), np.ones(400), sites(400))
    assert float(shrunken_truth(read_estimates(tally, 0)).var()) == pytest.approx(truth.var(), rel=0.15)


def test_given_truth_has_that_mean() -> None:
    estimates = read_estimates(example(), 0)
    truth = np.array([0.9, 0.5, 0.2, 0.6])
    drawn = given_truth(truth, estimates, np.random.default_rng(1), 4000)
    np.testing.assert_allclose(drawn.mean(axis=0), truth, atol=0.02)
    assert set(np.unique(np.round(drawn[:, 3] * 5, 9))) <= {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}


def test_corrected_variance_is_the_unbiased_one() -> None:
    found = bg.disparity(example(), corrected=True).isel(metric=0)
    other = bg.between_group_variance(example(), "corrected").isel(metric=0)
    assert float(found["value"].sel(measure="variance")) == pytest.approx(float(other["raw"]))
    assert found["correction"].values.tolist() == ["corrected"] * len(MEASURES)
    limits = bg.between_group_variance(example(), "corrected", interval="unified").isel(metric=0)
    for side in ("lower", "upper"):
        assert float(found[side].sel(measure="variance")) == pytest.approx(float(limits[side]))
        assert int(np.isfinite(found[side]).sum()) == 1
    kinds = dict(zip(MEASURES, found["interval_kind"].values.tolist(), strict=True))
    assert kinds.pop("variance") == "confidence"
    assert set(kinds.values()) == {"none"}
    weighted = bg.disparity(example(), "variance", corrected=True, weights="population").isel(metric=0, measure=0)
    assert np.isfinite(float(weighted["value"]))
    assert np.isnan(float(weighted["upper"]))
    assert str(weighted["interval_kind"].values) == "none"


def test_weighted_corrected_variance_is_unbiased() -> None:
    rng = np.random.default_rng(8)
    n, mu = np.array([8, 20, 60]), np.array([0.3, 0.6, 0.5])
    w = n / n.sum()
    target = float((w * (mu - w @ mu) ** 2).sum() / (1 - (w**2).sum()))
    values = []
    for _ in range(150):
        estimates = read_estimates(bg.tally_from_counts(rng.binomial(n, mu), n, sites(3)), 0)
        values.append(corrected("variance", estimates, Settings(n.astype(float)), 0.95, rng, 5).value)
    assert np.mean(values) == pytest.approx(target, abs=4 * np.std(values) / np.sqrt(150))


def test_correction_takes_off_most_of_the_bias() -> None:
    rng = np.random.default_rng(2)
    mu = np.linspace(0.6, 0.8, 30)
    naive, corrected = [], []
    for i in range(25):
        tally = bg.tally_from_counts(rng.binomial(60, mu), [60] * 30, sites(30))
        chosen: tuple[MeasureName, ...] = ("max_min_difference", "mean_absolute_deviation", "gini")
        naive.append(bg.disparity(tally, chosen, draws=2)["value"].values[:, 0])
        corrected.append(bg.disparity(tally, chosen, corrected=True, draws=300, seed=i)["value"].values[:, 0])
    truth = np.array([float(measure(name, mu, Settings())) for name in chosen])
    assert (np.abs(np.mean(corrected, axis=0) - truth) < 0.5 * np.abs(np.mean(naive, axis=0) - truth)).all()


def test_posterior(report: xr.DataTree) -> None:
    found = bg.disparity(report, tolerance={"gini": 0.2})
    mu = report["posterior"].to_dataset()["mu"].values.reshape(-1, 2, 6)
    tally = report["constant_data"].to_dataset()
    used = np.isfinite(tally["estimate"].values[0])
    y = mu[:, 0][:, used]
    one = found.isel(metric=0).sel(measure="gini")
    by_hand = measure("gini", y, Settings())
    assert float(one["value"]) == pytest.approx(np.median(by_hand))
    assert float(one["mean"]) == pytest.approx(by_hand.mean())
    assert float(one["upper"]) == pytest.approx(np.quantile(by_hand, 0.975))
    assert float(one["probability_within"]) == pytest.approx((by_hand <= 0.2).mean())
    assert np.isnan(float(found["probability_within"].isel(metric=0).sel(measure="variance")))
    assert str(one["correction"].values) == "posterior"
    assert int(found["subgroups"][0]) == used.sum() == 5
    assert str(found["left_out"].values[0]) == "African American | Female (no rows)"
    assert "expected_if_equal" not in found


def test_posterior_shrinks_the_disparity() -> None:
    tally = example()
    naive, known = bg.disparity(tally), bg.disparity(bg.estimate(tally, bg.PartialPooling(), seed=1))
    assert (known["mean"] < naive["value"]).all()


def test_bootstrap_of_a_report() -> None:
    report = bg.estimate(example(), bg.NoPooling(bootstrap=800), seed=1)
    found = bg.disparity(report, using="bootstrap").isel(metric=0)
    assert set(found["correction"].values.tolist()) == {"bootstrap"}
    assert set(found["interval_method"].values.tolist()) == {"percentile"}
    assert float(found["mean"].sel(measure="variance")) > 0.0166
    assert "biased upward twice" in str(found["note"].values[0])


def test_bootstrap_draws_without_a_value_are_left_out(make_report: Callable[..., xr.DataTree]) -> None:
    report = make_report()
    mu = report["posterior"].to_dataset()[["mu"]].isel(chain=[0]).copy(deep=True)
    mu["mu"].values[0, :7, 0, 3] = np.nan
    report["bootstrap"] = xr.DataTree(mu)
    found = bg.disparity(report, "variance", using="bootstrap").isel(metric=0, measure=0)
    assert "7 draws have no value in some subgroup" in str(found["note"].values)
    assert np.isfinite(float(found["value"]))
    report["bootstrap"] = xr.DataTree(mu.where(False))
    found = bg.disparity(report, "variance", using="bootstrap").isel(metric=0, measure=0)
    assert str(found["note"].values) == "no draw has a value in all subgroups"


def test_infinite_ratios() -> None:
    tally = bg.tally_from_counts([0, 5], [10, 10], sites(2))
    found = bg.disparity(tally, "max_min_ratio").isel(metric=0, measure=0)
    assert float(found["value"]) == np.inf
    assert "the smallest value is 0" in str(found["note"].values)
    smooth = bg.disparity(tally, "max_min_ratio", smoothing=0.05).isel(metric=0, measure=0)
    assert float(smooth["value"]) == pytest.approx(11.0)
    report = bg.estimate(tally, bg.NoPooling(bootstrap=200), seed=1)
    drawn = bg.disparity(report, "max_min_ratio", using="bootstrap").isel(metric=0, measure=0)
    assert float(drawn["upper"]) == np.inf
    assert "infinite in some draws" in str(drawn["note"].values)
    assert np.isnan(float(bg.disparity(tally, "max_min_ratio", corrected=True)["value"][0, 0]))


def test_measures_that_are_not_defined() -> None:
    tally = bg.tally_from_estimates([-1.0, 1.0, 2.0], [0.1, 0.1, 0.1], sites(3))
    found = bg.disparity(tally, ["gini", "max_min_difference"]).isel(metric=0)
    assert np.isnan(float(found["value"][0]))
    assert "not defined: metric 'estimate' can be below 0 (its range starts at -inf)" in str(found["note"].values[0])
    assert np.isnan(float(found["p_value_if_equal"][0]))
    assert np.isnan(float(found["expected_if_equal"][0]))
    assert float(found["value"][1]) == 3.0


def test_draws_where_a_measure_is_not_defined(make_report: Callable[..., xr.DataTree]) -> None:
    report = make_report()
    shifted = report["posterior"].to_dataset().assign(mu=lambda draws: draws["mu"] - 0.02)
    report["posterior"] = xr.DataTree(shifted)
    assert "not defined in 0.4 % of the draws, left out" in str(bg.disparity(report, "gini")["note"].values[0, 0])
    assert np.isfinite(bg.disparity(report, "gini")["value"].values[0, 0])
    further = report["posterior"].to_dataset().assign(mu=lambda draws: draws["mu"] - 0.05)
    report["posterior"] = xr.DataTree(further)
    few = bg.disparity(report, ["gini", "max_min_difference"], tolerance={"gini": 0.2}).isel(metric=0)
    assert "% of the draws have a value, and 95 % are needed" in str(few["note"].values[0])
    assert np.isnan([few[name].values[0] for name in ("value", "mean", "lower", "upper", "probability_within")]).all()
    assert np.isfinite(few["value"].values[1])


@pytest.mark.parametrize("using", ["tally", "posterior"])
def test_measures_that_divide_have_no_meaning_for_signed_metrics(using: Any) -> None:
    """The bias of a judge is below 0 in some draws and above it in others, and so is its smallest value over subgroups."""
    who = pd.DataFrame({"site": list("abc")})
    signed = bg.tally_from_estimates(
        [0.3, 0.4, 0.5], [0.01, 0.01, 0.01], who, metric="judge_bias", lower=-1.0, upper=1.0
    )
    answer = bg.disparity(bg.estimate(signed, bg.NoPooling(), seed=1), using=using).isel(metric=0)
    for name in ("max_min_ratio", "generalised_entropy", "gini"):
        here = answer.sel(measure=name)
        assert np.isnan(float(here["value"]))
        assert "'judge_bias' can be below 0 (its range starts at -1)" in str(here["note"].values)
    assert np.isfinite(answer["value"].sel(measure=["max_min_difference", "variance", "worst_group_gap"])).all()


@pytest.mark.parametrize("counts", [([0, 0], [0, 0]), ([3, 0], [9, 0])])
def test_none_or_one_subgroup(counts: tuple[list[int], list[int]]) -> None:
    found = bg.disparity(bg.tally_from_counts(*counts, sites(2))).isel(metric=0)
    assert np.isnan(float(found["value"].sel(measure="variance")))
    if sum(counts[1]):
        assert float(found["value"].sel(measure="gini")) == 0.0
    else:
        assert str(found["note"].values[0]) == "no subgroup has an estimate"


def test_all_equal() -> None:
    found = bg.disparity(bg.tally_from_counts([4, 8], [10, 20], sites(2))).isel(metric=0)
    assert found["value"].values.tolist() == pytest.approx([0, 1, 0, 0, 0, 0, 0, 0])
    assert found["p_value_if_equal"].values.tolist() == [1.0] * 8


def test_all_saturated() -> None:
    found = bg.disparity(bg.tally_from_counts([0, 0], [10, 20], sites(2)), "variance", corrected=True).isel(metric=0)
    assert float(found["value"][0]) == 0.0


def test_same_seed_same_numbers_whichever_are_asked() -> None:
    two = bg.tally_from_counts({"a": K, "b": [1, 2, 3, 4]}, {"a": N, "b": N}, sites(4))
    every, one = bg.disparity(two, seed=3), bg.disparity(two.sel(metric=["b"]), ["gini"], seed=3)
    for name in ("expected_if_equal", "p_value_if_equal"):
        assert float(every[name].sel(metric="b", measure="gini")) == float(one[name].sel(metric="b", measure="gini"))


def test_relabelling_does_not_matter() -> None:
    order = [2, 0, 3, 1]
    moved = bg.tally_from_counts(np.array(K)[order], np.array(N)[order], sites(4), metric="tpr")
    for weights in ("group", "population"):
        one, two = (bg.disparity(tally, weights=weights)["value"] for tally in (example(), moved))
        np.testing.assert_allclose(one, two)


def test_posterior_variance(report: xr.DataTree) -> None:
    found = posterior_variance(report).isel(metric=0)
    variance = bg.disparity(report, "variance").isel(metric=0, measure=0)
    for mine, other in (("median", "value"), ("mean", "mean"), ("lower", "lower"), ("upper", "upper")):
        assert float(found[mine].sel(estimand="these subgroups")) == pytest.approx(float(variance[other]))
    tau = report["posterior"].to_dataset()["tau"].values[..., 0].ravel()
    assert float(found["upper_limit"].sel(estimand="their population")) == pytest.approx(np.quantile(tau**2, 0.95))
    assert int(found["subgroups"]) == 5


def test_posterior_variance_without_a_hierarchy() -> None:
    tally = bg.tally_from_counts([3, 0], [9, 0], sites(2))
    found = posterior_variance(bg.estimate(tally, bg.NoPooling(), seed=1))
    assert np.isnan(found["median"]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measures": ["ginni"]}, "there is no measure 'ginni'; did you mean 'gini'"),
        ({"measures": []}, "at least one measure"),
        ({"measures": ["gini", "gini"]}, "none twice"),
        ({"weights": "rows"}, "weights='rows' is not one of"),
        ({"tolerance": {"gini": 0.1}}, "tolerance= needs draws"),
        ({"alpha": np.inf}, "alpha=inf must be a number"),
        ({"smoothing": -0.1}, "smoothing=-0.1 must be 0 or larger"),
        ({"draws": 0}, "draws=0 must be 1 or more"),
        ({"level": 0.0}, "strictly between 0 and 1"),
        ({"using": "both"}, "using='both' is not one of 'auto', 'tally', 'posterior', 'bootstrap'"),
    ],
)
def test_settings_that_do_not_exist(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.disparity(example(), **settings)


def test_settings_that_are_not_for_a_report(report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="corrected=True is for a tally"):
        bg.disparity(report, corrected=True)
    with pytest.raises(InputError, match="tolerance= has no measure 'ginny'"):
        bg.disparity(report, tolerance={"ginny": 1.0})
    with pytest.raises(InputError, match="no group 'bootstrap'"):
        bg.disparity(report, using="bootstrap")
    without = xr.DataTree.from_dict(
        {name: tree.to_dataset() for name, tree in report.children.items() if name != "posterior"}
    )
    without.attrs = dict(report.attrs)
    with pytest.raises(InputError, match="no group 'posterior'"):
        bg.disparity(without)


def test_published_estimates_have_no_population() -> None:
    tally = bg.tally_from_estimates([0.1, 0.2], [0.1, 0.1], sites(2))
    with pytest.raises(InputError, match="weights='population' needs denominators"):
        bg.disparity(tally, weights="population")


def test_what_is_neither_tally_nor_report() -> None:
    with pytest.raises(SchemaError, match="expected a tally or a report"):
        bg.disparity(xr.Dataset())
    with pytest.raises(SchemaError, match="expected a tally or a report"):
        posterior_variance(xr.Dataset())  # type: ignore[arg-type]


def test_level_of_a_posterior(report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        posterior_variance(report, level=1.0)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        corrected("gini", read_estimates(example(), 0), Settings(), 0.0, np.random.default_rng(1), 5)
