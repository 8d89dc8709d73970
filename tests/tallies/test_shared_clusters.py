"""Subgroups that share clusters: worked numbers, the paired t test, every estimator that takes the covariance, every refusal."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.crossed import sure
from bayesgroups.frequentist.crossed.precision import weigh
from bayesgroups.inference.collapsed.crossed import engine, spaces
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.correlated_errors import log_density
from bayesgroups.tallies.cluster_covariance import (
    correlation_between,
    pooled_covariance,
    residual_table,
    robust_covariance,
    two_way_covariance,
    weight_table,
)
from bayesgroups.tallies.clusters import Cells

GOLDEN = Path(__file__).parents[1] / "golden" / "labels"
WORKED = json.loads((GOLDEN / "r_pairs.json").read_text("utf-8"))
MATCHED = pd.read_csv(GOLDEN / "r_matched.csv")


def by_clusters(rows: pd.DataFrame, cluster: pd.Series, *, corrected: bool = True) -> FloatArray:
    """Covariance of the means of the groups of the worked example."""
    keys = rows.assign(cluster=cluster).groupby(["cluster", "group"])["score"].agg(["sum", "size"]).reset_index()
    group, cluster_code = pd.factorize(keys["group"], sort=True)[0], pd.factorize(keys["cluster"])[0]
    weight, total = (keys[name].to_numpy(dtype=np.float64) for name in ("size", "sum"))
    cells = Cells(group.astype(np.intp), weight, total, weight, 3)
    mean = cells.add_up(total) / cells.add_up(weight)
    residuals = residual_table(cells, cluster_code.astype(np.intp), mean)
    return robust_covariance(residuals, weight_table(cells, cluster_code.astype(np.intp)), corrected=corrected)


def matched(clusters: int = 25, groups: str = "abc", seed: int = 1) -> pd.DataFrame:
    """Every template with every group: scores of a template go up and down together."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=clusters)
    parts = [
        pd.DataFrame({"template": [f"t{i}" for i in range(clusters)], "group": group,
                      "score": base + 0.2 * place + 0.4 * rng.normal(size=clusters)})
        for place, group in enumerate(groups)
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def tallied(rows: pd.DataFrame, **more: Any) -> xr.Dataset:
    return bg.tally(
        rows, ["group"], "mean", loss="score", cluster="template", **{"shared_clusters": "covariance", **more}
    )


def test_the_worked_covariance_by_clusters_and_of_two_kinds() -> None:
    worked, crossing = WORKED["matched"], WORKED["two_way"]
    V = by_clusters(MATCHED, MATCHED["template"])
    np.testing.assert_allclose(V, worked["covariance"], atol=5e-9)
    for first, second, name in ((1, 0, "contrast_se"), (2, 0, "contrast_c_minus_a_se")):
        assert np.sqrt(V[first, first] + V[second, second] - 2 * V[first, second]) == pytest.approx(
            worked[name], abs=1e-12
        )
    both = MATCHED["template"] + MATCHED["name"]
    kinds = [by_clusters(MATCHED, cluster, corrected=False) for cluster in (MATCHED["template"], MATCHED["name"], both)]
    for kind, name in zip(kinds, ("by_template", "by_name", "by_both"), strict=True):
        np.testing.assert_allclose(kind, crossing[name], atol=5e-9)
    np.testing.assert_allclose(two_way_covariance(*kinds), crossing["two_way"], atol=5e-9)
    assert np.linalg.eigvalsh(two_way_covariance(*kinds))[0] == pytest.approx(crossing["eigenvalues"][0], abs=5e-8)


def test_a_sum_with_negative_variances_is_mended() -> None:
    mended = two_way_covariance(np.eye(2), np.eye(2), np.array([[2.0, 1.5], [1.5, 2.0]]))
    values = np.linalg.eigvalsh(mended)
    np.testing.assert_allclose(values, [0.0, 1.5], atol=1e-12)


def test_few_clusters_have_pooled_correlations_and_the_variances_of_today() -> None:
    plain, shared = tallied(MATCHED, shared_clusters="ignore"), tallied(MATCHED)
    np.testing.assert_allclose(shared["sampling_variance"], plain["sampling_variance"], rtol=1e-12)
    V = shared["sampling_covariance"].values[0]
    assert np.linalg.eigvalsh(V)[0] > 0
    sums, weights = (
        MATCHED.pivot_table(index="template", columns="group", values="score", aggfunc=how, fill_value=0).to_numpy(
            dtype=float
        )
        for how in ("sum", "size")
    )
    residuals = sums - weights * (sums.sum(axis=0) / weights.sum(axis=0))
    crossed = bound = 0.0
    for a, b in itertools.combinations(range(3), 2):
        n = weights[:, [a, b]].sum(axis=0)
        product = weights[:, a] * weights[:, b]
        crossed += residuals[:, a] @ residuals[:, b]
        bound += (product * (1 - weights[:, a] / n[0] - weights[:, b] / n[1])).sum() + product.sum() ** 2 / n.prod()
    covariance = min(crossed / bound, plain["pooled_variance"].item() * plain["icc"].item())
    assert V[0, 1] == pytest.approx(
        covariance * (weights[:, 0] * weights[:, 1]).sum() / weights[:, :2].sum(axis=0).prod()
    )


@pytest.mark.parametrize("clusters", [2, 5, 19])
def test_few_matched_clusters_have_the_standard_error_of_the_paired_t_test(clusters: int) -> None:
    rows = matched(clusters, groups="ab")
    answer = bg.contrasts(tallied(rows), "a", scale="difference").isel(metric=0, contrast=0)
    wide = rows.pivot_table(index="template", columns="group", values="score")
    paired = float((wide["b"] - wide["a"]).std(ddof=1) / np.sqrt(clusters))
    assert float(answer["std_error"].sel(approach="frequentist").squeeze()) == pytest.approx(paired, rel=1e-9)


def test_rows_that_are_alike_within_subgroups_alone_have_differences_as_uncertain_as_they_are() -> None:
    """Effects of template and group together, none of templates: a correlation within subgroups says nothing of that between."""
    rng = np.random.default_rng(3)
    variances, estimates = [], []
    for _ in range(60):
        effects = rng.normal(size=(3, 10))
        rows = pd.DataFrame(
            [(group, template, effects[group, template] + 0.3 * rng.normal())
             for group, template, _ in itertools.product(range(3), range(10), range(5))],
            columns=["group", "template", "score"],
        )  # fmt: skip
        tally = tallied(rows)
        V = tally.get("sampling_covariance", xr.DataArray([np.diag(tally["sampling_variance"].values[0])])).values[0]
        variances.append(V[0, 0] + V[1, 1] - 2 * V[0, 1])
        estimates.append(float(tally["estimate"].values[0] @ [1, -1, 0]))
    assert np.mean(variances) == pytest.approx(0.2 + 0.3**2 * 2 / 50, rel=0.1)
    assert np.std(estimates) == pytest.approx(np.sqrt(np.mean(variances)), rel=0.3)


def test_clusters_that_tell_nothing_of_a_correlation_have_none() -> None:
    """No two subgroups share two clusters, or nothing varies."""
    one = np.array([[2.0, 3.0]])
    assert correlation_between(np.array([[0.4, -0.4]]), one, 1.0) == 0
    assert correlation_between(np.zeros((3, 2)), np.ones((3, 2)), 0.0) == 0


@pytest.mark.parametrize("between", [-1.0, -0.2, 0.3, 2.0])
def test_no_contrast_has_a_negative_variance(between: float) -> None:
    weights = np.array([[1.0, 2, 3], [4, 0, 1], [1, 1, 0]])
    V = pooled_covariance(weights, weights.sum(axis=0), 1.0, 0.4, between)
    values = np.linalg.eigvalsh(V)
    assert values[0] > -1e-12
    np.testing.assert_allclose(
        np.diagonal(V), np.diagonal(pooled_covariance(weights, weights.sum(axis=0), 1.0, 0.4, 0.0))
    )


def test_many_clusters_speak_for_themselves() -> None:
    shared = tallied(matched())
    np.testing.assert_allclose(
        np.diagonal(shared["sampling_covariance"].values[0]), shared["cluster_robust_variance"].values[0]
    )
    np.testing.assert_array_equal(
        shared["sampling_variance"].values[0], np.diagonal(shared["sampling_covariance"].values[0])
    )


def test_clusters_of_one_subgroup_each_change_no_number() -> None:
    rows = matched().assign(template=lambda frame: frame["template"] + frame["group"])
    plain, shared = tallied(rows, shared_clusters="ignore"), tallied(rows)
    xr.testing.assert_identical(plain.drop_attrs(), shared.drop_attrs())
    assert json.loads(shared.attrs["settings"])["shared_clusters"] == "covariance"


@pytest.mark.parametrize("estimator", [None, bg.NoPooling()])
def test_a_contrast_of_a_balanced_matched_design_is_the_paired_t_test(estimator: bg.NoPooling | None) -> None:
    rows = matched()
    source = tallied(rows) if estimator is None else bg.estimate(tallied(rows), estimator, seed=1)
    answer = (
        bg.contrasts(source, "a", scale="difference").isel(metric=0).sel(approach="frequentist", subgroup="c").squeeze()
    )
    wide = rows.pivot_table(index="template", columns="group", values="score")
    test = stats.ttest_rel(wide["c"], wide["a"])
    interval = test.confidence_interval()
    for name, value in (("std_error", (wide["c"] - wide["a"]).std(ddof=1) / 5), ("p_value", test.pvalue)):
        assert float(answer[name].values.ravel()[0]) == pytest.approx(value, rel=1e-9)
    assert float(answer["lower"].values.ravel()[0]) == pytest.approx(interval.low, rel=1e-9)
    assert float(answer["upper"].values.ravel()[0]) == pytest.approx(interval.high, rel=1e-9)


def test_comparisons_with_the_best_say_that_errors_are_taken_for_independent() -> None:
    notes = [
        bg.contrasts(tallied(matched(), shared_clusters=how), "best", scale="difference").attrs["note"]
        for how in ("covariance", "ignore")
    ]
    assert "what is said of several of them at once takes their errors for independent" in notes[0]
    assert "independent" not in notes[1]


def test_ratios_take_the_covariance_by_their_gradient() -> None:
    tally = tallied(matched().assign(score=lambda frame: frame["score"] + 5))
    answer = bg.contrasts(tally, "a", scale="ratio").isel(metric=0).sel(subgroup="b").squeeze()
    m, V = tally["estimate"].values[0], tally["sampling_covariance"].values[0]
    gradient = np.array([-1 / m[0], 1 / m[1], 0.0])
    assert float(answer["std_error"].values.ravel()[-1]) == pytest.approx(np.sqrt(gradient @ V @ gradient), rel=1e-9)


def test_the_worked_posterior_with_a_known_spread() -> None:
    worked = WORKED["gaussian_full_V"]
    V, z = np.array(worked["V"]), np.array(worked["z"]) - worked["overall_mean"]
    predictor = Predictor(np.arange(3)[None], np.empty((3, 0)), worked["overall_sd"], 1.0)
    space = spaces.correlated(predictor, z, np.diagonal(V).copy(), V)
    assert space.log_marginal(np.array([[worked["tau"]]]))[0] == pytest.approx(worked["log_marginal"], abs=1e-6)
    for prior, known in (
        (Prior("known", (worked["tau"],)), None),
        (Prior("known", (1e-9,)), np.full(3, worked["tau"] ** 2)),
    ):
        drawn = engine.gaussian(
            predictor,
            z,
            np.diagonal(V).copy(),
            prior,
            np.random.default_rng(1),
            draws=40_000,
            covariance=V,
            known=known,
        ).eta
        np.testing.assert_allclose(drawn.mean(axis=0) + worked["overall_mean"], worked["mean"], atol=4 * 0.106 / 200)
        np.testing.assert_allclose(drawn.std(axis=0), worked["sd"], rtol=0.02)
        mean, error = worked["contrast_c_minus_a"]
        assert (drawn[:, 2] - drawn[:, 0]).mean() == pytest.approx(mean, abs=4 * error / 200)
        assert (drawn[:, 2] - drawn[:, 0]).std() == pytest.approx(error, rel=0.02)


def test_the_worked_closed_form_with_all_of_the_covariance_and_with_its_diagonal() -> None:
    worked = WORKED["gaussian_full_V"]
    V, z, centre = np.array(worked["V"]), np.array(worked["z"]), worked["overall_mean"]
    u, between = 1 / np.diagonal(V), V - np.diag(np.diagonal(V))
    L = worked["overall_sd"] ** 2 + worked["tau"] ** 2 * np.eye(3)
    mean = sure.posterior_mean(z, u, L, centre=centre, between=between)
    np.testing.assert_allclose(mean, worked["mean"], atol=6e-9)
    np.testing.assert_allclose(sure.posterior_mean(z, u, L, centre=centre), worked["diagonal_mean"], atol=6e-9)
    A = V @ weigh(u, L + between)
    assert ((z - mean) ** 2).sum() - 2 * np.trace(A @ V) + np.trace(V) == pytest.approx(worked["sure"], abs=1e-8)
    predictor = Predictor(np.arange(3)[None], np.empty((3, 0)), worked["overall_sd"], 1.0)
    space = spaces.space(predictor, z - centre, np.diagonal(V).copy(), Prior("known", (worked["tau"],)))
    plain = space.log_marginal(np.array([[worked["tau"]]]))[0]
    assert plain == pytest.approx(worked["log_marginal_diagonal"], abs=1e-6)


def test_the_risk_of_suremap_counts_the_covariance() -> None:
    rng = np.random.default_rng(2)
    root = rng.normal(size=(4, 4))
    V, z = root @ root.T / 10 + 0.1 * np.eye(4), rng.normal(size=4)
    u, between = 1 / np.diagonal(V), V - np.diag(np.diagonal(V))
    agreement, variances = np.stack([np.ones((4, 4)), np.eye(4)]), np.array([0.3, 0.2])
    value, slope = sure.risk(z, u, agreement, variances, between=between)
    A = V @ np.linalg.inv(0.3 + 0.2 * np.eye(4) + V)
    expected = ((A @ z) ** 2 * u).sum() + 4 - 2 * (np.diagonal(A @ V) * u).sum()
    assert value == pytest.approx(expected, rel=1e-10)

    def at(given: FloatArray) -> float:
        return sure.risk(z, u, agreement, given, between=between)[0]

    numeric = [(at(variances + h) - at(variances - h)) / 2e-6 for h in np.eye(2) * 1e-6]
    np.testing.assert_allclose(slope, numeric, rtol=1e-5)
    plain = sure.risk(z, u, agreement, variances)
    none = sure.risk(z, u, agreement, variances, between=np.zeros((4, 4)))
    assert plain[0] == pytest.approx(none[0], rel=1e-12)
    np.testing.assert_allclose(plain[1], none[1], rtol=1e-10)


@pytest.mark.parametrize("estimator", [bg.NoPooling(), bg.PartialPooling(), bg.CrossedEffects()])
def test_posterior_contrasts_are_as_sure_as_the_pairs(estimator: bg.PartialPooling) -> None:
    """Templates differ much and groups little: differences are known far better than values."""
    shared, plain = (tallied(matched(40, "abcd"), shared_clusters=how) for how in ("covariance", "ignore"))
    reports = [bg.estimate(tally, estimator, seed=1) for tally in (shared, plain)]
    spreads = []
    for report in reports:
        assert report.attrs["usable"] == 1
        mu = report["posterior"]["mu"].isel(metric=0)
        spreads.append(float((mu.sel(subgroup="d") - mu.sel(subgroup="a")).std()))
    V = shared["sampling_covariance"].values[0]
    assert spreads[0] <= 1.05 * np.sqrt(V[3, 3] + V[0, 0] - 2 * V[0, 3])
    if isinstance(estimator, bg.NoPooling):
        assert spreads[1] > 2 * spreads[0]
    notes = json.loads(reports[0].attrs["notes"])
    independent = "mean: subgroups share clusters, and the frequentist side takes their errors for independent"
    assert (independent in notes) == isinstance(estimator, bg.PartialPooling)
    assert "share clusters" in reports[0].attrs["without_groups"]


def test_suremap_moves_with_the_covariance_and_a_diagonal_one_changes_nothing() -> None:
    from bayesgroups.frequentist import crossed_effects

    shared = tallied(matched(40, "abcdef"))
    V = shared["sampling_covariance"]
    diagonal = shared.assign(sampling_covariance=V * np.eye(6))
    plain = shared.drop_vars("sampling_covariance")
    answers = [crossed_effects.estimate(tally, seed=1)["estimate"].values for tally in (shared, diagonal, plain)]
    np.testing.assert_allclose(answers[1], answers[2], atol=1e-5)
    assert np.abs(answers[0] - answers[2]).max() > 0.01
    z = shared["estimate"].values[0]
    assert np.ptp(answers[0]) > np.ptp(answers[2])  # what the templates have in common is no noise between groups
    assert np.ptp(answers[0]) <= np.ptp(z)


def test_a_subgroup_without_rows_is_predicted() -> None:
    rows = matched(30)
    rows["group"] = pd.Categorical(rows["group"], categories=["a", "b", "c", "d"])
    tally = tallied(rows)
    assert np.isnan(tally["sampling_covariance"].sel(subgroup="d")).all()
    for estimator in (bg.PartialPooling(), bg.CrossedEffects()):
        mu = bg.estimate(tally, estimator, seed=1)["posterior"]["mu"].isel(metric=0)
        assert np.isfinite(mu).all()
        assert float(mu.sel(subgroup="d").std()) > float(mu.sel(subgroup="a").std())


def test_tallies_with_a_covariance_add_up_and_are_saved(tmp_path: Path) -> None:
    rows = matched(40)
    half = rows["template"].isin([f"t{i}" for i in range(20)])
    total = bg.add_tallies([tallied(rows[half]), tallied(rows[~half])])
    whole = tallied(rows)
    np.testing.assert_allclose(total["sampling_covariance"], whole["sampling_covariance"], rtol=1e-9)
    opened = bg.open_tally(bg.save_tally(whole, tmp_path / "t.nc"))
    np.testing.assert_array_equal(opened["sampling_covariance"], whole["sampling_covariance"])
    with pytest.raises(InputError, match="tallies were made with different shared_clusters"):
        bg.add_tallies([tallied(rows[half]), tallied(rows[~half], shared_clusters="ignore")])


def test_clusters_of_two_kinds() -> None:
    rng = np.random.default_rng(3)
    item, template = (part.ravel() for part in np.indices((15, 12)))
    rows = pd.DataFrame({"item": item, "template": template, "group": np.where(rng.random(180) < 0.5, "a", "b")})
    rows["score"] = rng.normal(size=15)[item] + rng.normal(size=12)[template] + rng.normal(size=180)
    rows["both"] = rows["item"].astype(str) + "/" + rows["template"].astype(str)
    kinds = [bg.tally(rows, ["group"], "mean", loss="score", cluster=kind) for kind in ("item", "template", "both")]
    tally = bg.two_way_clusters(*kinds)
    V = tally["sampling_covariance"].values[0]
    assert V[0, 1] > 0
    robust = [kind["cluster_robust_variance"].values[0] for kind in kinds]
    np.testing.assert_allclose(np.diagonal(V), robust[0] + robust[1] - robust[2])
    with pytest.raises(InputError, match=r"tallies of bg\.two_way_clusters\(\) cannot be added"):
        bg.add_tallies([tally, tally])
    with pytest.raises(InputError, match="second has no clusters"):
        bg.two_way_clusters(kinds[0], bg.tally(rows, ["group"], "mean", loss="score"), kinds[2])
    other = bg.tally(rows.assign(score=0.5 * rows["score"]), ["group"], "mean", loss="score", cluster="template")
    with pytest.raises(InputError, match="second is not of the same rows as first"):
        bg.two_way_clusters(kinds[0], other, kinds[2])
    few = bg.tally(rows.assign(item=rows["item"] % 4), ["group"], "mean", loss="score", cluster="item")
    with pytest.raises(InputError, match="first has 4 clusters in subgroup 'a', and 10 are needed"):
        bg.two_way_clusters(few, kinds[1], kinds[2])


def test_what_does_not_go_with_a_covariance_is_refused() -> None:
    rows = matched()
    with pytest.raises(InputError, match="shared_clusters='covariance' needs cluster="):
        bg.tally(rows, ["group"], "mean", loss="score", shared_clusters="covariance")
    with pytest.raises(InputError, match="goes with cluster_analysis='robust', and 'mean' is asked for"):
        tallied(rows, cluster_analysis="mean")
    with pytest.raises(InputError, match="shared_clusters='yes' is not one of 'ignore', 'covariance'"):
        tallied(rows, shared_clusters="yes")
    with pytest.raises(InputError, match="NoPooling: the PyMC model has independent errors"):
        bg.estimate(tallied(rows), bg.NoPooling(), seed=1, inference="nuts")


def test_tasks_and_covariates_take_errors_for_independent_and_say_so() -> None:
    rows = matched(24, "abcd").assign(other=lambda frame: 0.5 * frame["score"] - 1)
    losses = [bg.Metric(name, name, kind="mean", larger_is_better=False) for name in ("score", "other")]
    tally = bg.tally(rows, ["group"], losses, cluster="template", shared_clusters="covariance")
    report = bg.estimate(tally, bg.CrossedEffects(tasks=True), seed=1)
    assert "score: subgroups share clusters, and both sides take their errors for independent" in report.attrs["notes"]
    assert "log_likelihood" in report
    assert json.loads(bg.estimate(tally, bg.CrossedEffects(), seed=1).attrs["notes"]) == []


def test_counts_have_no_covariance_and_means_of_them_do() -> None:
    rows = matched().assign(right=lambda frame: (frame["score"] > 0).astype(int))
    tally = bg.tally(rows, ["group"], "correct", correct="right", cluster="template", shared_clusters="covariance")
    with pytest.raises(InputError, match="metric 'correct': a binomial likelihood has no covariance of subgroups"):
        bg.estimate(tally, bg.PartialPooling(), seed=1)
    report = bg.estimate(tally, bg.PartialPooling(likelihood="normal"), seed=1)
    assert report.attrs["usable"] == 1
    pooled = bg.estimate(tallied(rows), bg.CompletePooling(), seed=1)
    note = "mean: subgroups share clusters, and both sides take their errors for independent"
    assert note in json.loads(pooled.attrs["notes"])


def test_the_commands_keep_the_covariance(tmp_path: Path) -> None:
    from bayesgroups.cli import run

    rows = matched(24).assign(item=lambda frame: np.arange(len(frame)) % 12)
    rows["both"] = rows["template"] + "/" + rows["item"].astype(str)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["--by", "group", "--metric", "mean", "--loss", "score", "--cluster", "template"]
    files = [tmp_path / f"{kind}.nc" for kind in ("template", "item", "both")]
    assert (
        run(["tally", str(tmp_path / "rows.csv"), *asked, "--shared-clusters", "covariance", "-o", str(files[0])]) == 0
    )
    opened = bg.open_tally(files[0])
    xr.testing.assert_allclose(opened["sampling_covariance"], tallied(rows)["sampling_covariance"])
    kinds = [opened, *(tallied(rows.assign(template=rows[kind])) for kind in ("item", "both"))]
    for tally, file in zip(kinds[1:], files[1:], strict=True):
        bg.save_tally(tally, file)
    assert run(["two-way-clusters", *map(str, files), "--output", str(tmp_path / "two.nc")]) == 0
    both = bg.two_way_clusters(*kinds)
    xr.testing.assert_allclose(bg.open_tally(tmp_path / "two.nc")["sampling_covariance"], both["sampling_covariance"])


def test_sensitivity_to_the_prior_has_the_likelihood_of_all_estimates_together() -> None:
    tally = tallied(matched(30, "abcd"))
    values = np.random.default_rng(1).normal(size=(3, 4))
    expected = stats.multivariate_normal(np.zeros(4), tally["sampling_covariance"].values[0]).logpdf(
        tally["estimate"].values[0] - values
    )
    np.testing.assert_allclose(log_density(values, tally).sum(axis=1), expected, rtol=1e-9)
    for estimator in (bg.PartialPooling(), bg.CrossedEffects()):
        answer = bg.prior_sensitivity(bg.estimate(tally, estimator, seed=1))
        assert np.isfinite(answer["likelihood"]).all()
    assert np.isnan(bg.loo(bg.estimate(tally, bg.PartialPooling(), seed=1))["elpd_i"]).all()


@pytest.mark.parametrize("ask", [bg.disparity, bg.ranks])
def test_questions_about_all_subgroups_say_so_too(ask: Callable[[xr.Dataset], xr.Dataset]) -> None:
    assert "takes their errors for independent" in ask(tallied(matched())).attrs["note"]
    assert "independent" not in ask(tallied(matched(), shared_clusters="ignore")).attrs.get("note", "")


def test_simultaneous_intervals_are_narrower_where_errors_go_together() -> None:
    """Three subgroups with nearly one error need hardly more than the limits of one."""
    rows = matched()
    rows["score"] = rows.groupby("template")["score"].transform("mean") + 0.01 * rows["score"]
    together = bg.simultaneous_intervals(tallied(rows)).isel(metric=0)
    apart = bg.simultaneous_intervals(tallied(rows, shared_clusters="ignore")).isel(metric=0)
    assert float(together["critical_value"]) == pytest.approx(1.96, abs=0.04)
    assert float(apart["critical_value"]) == pytest.approx(2.39, abs=0.2)
