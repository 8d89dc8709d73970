"""Poststratification against worked numbers: R package survey, formulas in double precision, exact posterior moments."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.questions.populations.benchmarks import benchmark
from bayesgroups.questions.populations.empty_cells import imbens_manski
from bayesgroups.questions.populations.raking import Margin, converged_sizes, rake
from bayesgroups.questions.populations.variances import cell_variance
from tests.questions.populations.examples import (
    BOTH,
    GOLDEN,
    MARGINS,
    POPULATION,
    SCHOOLS,
    WEIGHTS,
    K,
    N,
    drawn_report,
    frequentist,
    golden,
    limits,
    posterior,
    schools,
    two_way,
)

SURVEYS = json.loads((GOLDEN / "surveys.json").read_text(encoding="utf-8"))


def close(actual: Any, expected: Any) -> None:
    """Equality to 1e-6."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


def test_a_poststratified_rate_its_variances_and_its_interval() -> None:
    values = golden("M1_poststratified")
    target = bg.poststratify(schools(), POPULATION, by=["type"])
    table = frequentist(target)
    close(float(table["estimate"]), values["plug_in"])
    close(float(table["std_error"]), values["var_stratified_se"])
    close(limits(target), values["mover"])
    close(target["constant_data"].to_dataset()["weight"].values[0, 0], values["W"])
    for finite, name in ((False, "var_linearised_se"), (True, "var_linearised_se_fpc")):
        surveyed = bg.poststratify(schools(), POPULATION, variance="survey", finite=finite)
        close(float(frequentist(surveyed)["std_error"]), values[name])
    surveyed = bg.poststratify(schools(), POPULATION, variance="survey")
    close(float(frequentist(surveyed)["std_error"]), SURVEYS["poststratified_without_fpc"]["se"])
    corrected = bg.poststratify(schools(), POPULATION, finite=True)
    close(float(frequentist(corrected)["std_error"]), values["var_stratified_se_fpc"])


def test_domains_are_the_same_sum_over_their_cells() -> None:
    target = bg.poststratify(schools(), POPULATION, by=["type"], variance="survey")
    for domain in SURVEYS["domain_without_fpc"].values():
        table = frequentist(target, f"type={domain['stype']}")
        close(float(table["estimate"]), domain["estimate"])
        close(float(table["std_error"]), domain["se"])


def test_a_stratified_sample_with_a_finite_population() -> None:
    cells = SURVEYS["strat_cells"]
    tally = bg.tally_from_counts([cell["k"] for cell in cells], [cell["n"] for cell in cells], SCHOOLS, metric="acc")
    for finite, name in ((False, "stratified_without_fpc"), (True, "stratified")):
        table = frequentist(bg.poststratify(tally, POPULATION, finite=finite))
        close(float(table["estimate"]), SURVEYS[name]["estimate"])
        close(float(table["std_error"]), SURVEYS[name]["se"])


def test_draws_have_the_exact_moments_of_a_weighted_sum_of_betas() -> None:
    values = golden("M1_poststratified")
    a, b = K + 0.5, N - K + 0.5
    exact = float(np.sqrt((WEIGHTS**2 * a * b / (a + b) ** 2 / (a + b + 1)).sum()))
    close([WEIGHTS @ (a / (a + b)), exact], [values["jeffreys_mean"], values["jeffreys_sd"]])
    draws = posterior(bg.poststratify(drawn_report(schools()), POPULATION))
    assert abs(draws.mean() - values["jeffreys_mean"]) < 4 * exact / np.sqrt(len(draws))
    np.testing.assert_allclose(draws.std(), exact, rtol=0.01)
    np.testing.assert_allclose(np.quantile(draws, [0.025, 0.975]), values["jeffreys_mc"][2:], rtol=0, atol=2e-3)


def test_raked_cells_their_rate_and_its_linearised_error() -> None:
    target = bg.poststratify(two_way(), MARGINS)
    values = golden("M3_raking")
    table = frequentist(target)
    close(float(table["estimate"]), values["estimate"])
    close(float(table["std_error"]), SURVEYS["raked"]["se"])
    np.testing.assert_allclose(
        float(table["std_error"]), values["linearised_se_initial_weights_centred"], rtol=0, atol=1e-9
    )
    raked = {(cell["stype"], cell["comp.imp"]): cell["Freq"] for cell in SURVEYS["raked_cells"]}
    expected = [raked[key] for key in zip(BOTH["type"], BOTH["target"], strict=True)]
    np.testing.assert_allclose(
        target["constant_data"].to_dataset()["weight"].values[0, 0] * 6194, expected, rtol=0, atol=1e-5
    )


def test_a_drawn_composition_adds_its_error() -> None:
    report = drawn_report(two_way(), draws=8000)
    drawn = posterior(bg.poststratify(report, MARGINS))
    fixed = posterior(bg.poststratify(report, MARGINS, composition="fixed"))
    extra = json.loads((GOLDEN / "extra.json").read_text(encoding="utf-8"))["raking_bayes"]
    np.testing.assert_allclose([drawn.mean(), drawn.std()], extra["seed_drawn"], rtol=0, atol=6e-4)
    np.testing.assert_allclose([fixed.mean(), fixed.std()], extra["seed_fixed"], rtol=0, atol=6e-4)
    assert drawn.std() > fixed.std()


def table_of(rows: list[float], columns: list[float]) -> list[Margin]:
    """Margins of a table of two by two, cells row by row."""
    first = Margin("row", np.array([0, 0, 1, 1]), np.array(rows), ("a", "b"))
    return [first, Margin("column", np.array([0, 1, 0, 1]), np.array(columns), ("x", "y"))]


def test_raking_keeps_odds_ratios_and_zeros() -> None:
    raked = rake(np.array([40.0, 10, 20, 30]), table_of([60, 40], [70, 30])).sizes
    close(raked, np.ravel(golden("M3_ipf_2x2")["cells"]))
    np.testing.assert_allclose(raked[0] * raked[3] / raked[1] / raked[2], 6.0, rtol=1e-8)
    raked = converged_sizes(np.array([10.0, 0, 5, 20]), table_of([30, 70], [50, 50]), list("abcd"))
    close(raked, np.ravel(golden("M3_ipf_zero_ok")["cells"]))


def test_raking_that_cannot_converge_names_the_margin_and_its_empty_cells() -> None:
    seed, margins = np.array([10.0, 0, 0, 20]), table_of([30, 70], [50, 50])
    np.testing.assert_allclose(
        rake(seed, margins).sizes, np.ravel(golden("M3_ipf_zero_infeasible")["cells_after_1000"])
    )
    with pytest.raises(
        bg.InputError, match=r"after 1000 sweeps: 'row' level '[ab]' is off by 20.*cells without rows there: 'a"
    ):
        converged_sizes(seed, margins, ["a x", "a y", "b x", "b y"])
    vanishing = rake(np.array([1.0, 1, 0, 1]), table_of([1, 1], [1, 1]))
    np.testing.assert_allclose(vanishing.sizes[1], golden("M3_ipf_driven_to_zero")["x12_after_1000_sweeps"], rtol=1e-6)
    assert not vanishing.converged
    with pytest.raises(bg.InputError, match="has not converged"):
        converged_sizes(np.array([1.0, 1, 0, 1]), table_of([1, 1], [1, 1]), list("abcd"))


def test_a_population_known_from_a_second_sample() -> None:
    values = golden("M4_second_sample")
    second = bg.PopulationSample(SCHOOLS.assign(count=[300, 60, 40]))
    target = bg.poststratify(drawn_report(schools()), second)
    table = frequentist(target)
    close(float(table["estimate"]), values["estimate"])
    close(float(table["std_error"]), values["se"])
    certain = bg.poststratify(schools(), SCHOOLS.assign(count=[300, 60, 40]))
    close(float(frequentist(certain)["std_error"]), values["se_if_known"])
    mean, variance = (K + 0.5) / (N + 1), (K + 0.5) * (N - K + 0.5) / (N + 1) ** 2 / (N + 2)
    share = np.array([300, 60, 40]) / 400
    spread = (np.diag(share) - np.outer(share, share)) / 401
    exact = np.sqrt(mean @ spread @ mean + share**2 @ variance + np.trace(spread @ np.diag(variance)))
    close([share @ mean, exact], [values["bayes_mean"], values["bayes_sd_exact"]])
    draws = posterior(target)
    np.testing.assert_allclose(draws.mean(), values["bayes_mean"], rtol=0, atol=4 * exact / np.sqrt(len(draws)))
    np.testing.assert_allclose(draws.std(), exact, rtol=0.01)


def with_empty_cell() -> tuple[xr.Dataset, pd.DataFrame]:
    """The schools with a fourth type that nobody evaluated, and 500 of them in the population."""
    types = pd.DataFrame({"type": ["E", "H", "M", "X"]})
    tally = bg.tally_from_counts([*K, 0], [*N, 0], types, metric="acc")
    return tally, types.assign(count=[4421, 755, 1018, 500])


def test_cells_without_rows_leave_bounds() -> None:
    tally, population = with_empty_cell()
    values = golden("M5_empty")
    target = bg.poststratify(tally, population)
    table = frequentist(target)
    assert str(table["status"].values) == "not estimable"
    assert np.isnan(float(table["estimate"]))
    assert "7.47% of the people without rows" in str(table["reason"].values)
    close(float(table["imputed_share"]), values["imputed_share"])
    close([float(table["bound_lower"]), float(table["bound_upper"])], values["bounds"])
    close(limits(target), values["imbens_manski"])
    error = cell_variance(np.append(WEIGHTS, 0) * 6194 / 6694, np.append(K / N * (1 - K / N) / (N - 1), np.nan)) ** 0.5
    factor = imbens_manski(np.array(values["imputed_share"]), error, 0.95)
    close(float(factor), values["imbens_manski_c"])
    dropped = frequentist(bg.poststratify(tally, population, empty="drop"))
    close(float(dropped["estimate"]), values["dropped"])
    assert str(dropped["estimand"].values) == "superpopulation rate of the covered population"


def test_collapsed_cells_take_the_mean_of_the_smallest_margin() -> None:
    tally, population = with_empty_cell()
    table = frequentist(bg.poststratify(tally, population, empty="collapse"))
    share = 500 / 6694
    expected = (1 - share) * (WEIGHTS @ (K / N)) + share * K.sum() / N.sum()
    np.testing.assert_allclose(float(table["estimate"]), expected, rtol=1e-12)
    assert str(table["status"].values) == "imputed"
    weights = (1 - share) * WEIGHTS + share * N / N.sum()
    variance = (weights**2 * (K / N) * (1 - K / N) / (N - 1)).sum()
    np.testing.assert_allclose(float(table["std_error"]), np.sqrt(variance), rtol=1e-12)


def confusion_tally(metrics: list[str]) -> xr.Dataset:
    """Rows of two cells with the confusion counts of the worked example."""
    cells = {"a": (30, 10, 20, 140), "b": (30, 20, 10, 40)}
    kinds = ((1, 1), (1, 0), (0, 1), (0, 0))
    rows = [
        {"cell": name, "y": y, "d": d}
        for name, counts in cells.items()
        for (y, d), count in zip(kinds, counts, strict=True)
        for _ in range(count)
    ]
    return bg.tally(pd.DataFrame(rows), ["cell"], metrics, y_true="y", y_pred="d", confusion=True)


def test_conditional_metrics_are_ratios_of_sums() -> None:
    values = golden("M6_fnr")
    population = pd.DataFrame({"cell": ["a", "b"], "count": [5000, 5000]})
    target = bg.poststratify(confusion_tally(["fnr", "f1", "sel"]), population)
    table = frequentist(target)
    close(float(table["estimate"]), values["positives_weights"])
    close(float(table["std_error"]), values["se_linearised"])
    f1 = frequentist(target, metric=1)
    shares = {"tp": 0.15 / 2 + 0.3 / 2, "fn": 0.05 / 2 + 0.2 / 2, "fp": 0.1 / 2 + 0.1 / 2}
    np.testing.assert_allclose(
        float(f1["estimate"]), 2 * shares["tp"] / (2 * shares["tp"] + shares["fn"] + shares["fp"])
    )
    positives = population.assign(count=[5000 * 0.2, 5000 * 0.5])
    plain = frequentist(bg.poststratify(confusion_tally(["fnr"]), positives, population_of="positives"))
    close(float(plain["estimate"]), values["positives_weights"])
    close(float(plain["std_error"]), values["se_if_prevalence_known"])


def test_draws_of_conditional_metrics_are_divided_after_they_are_summed() -> None:
    values = golden("M6_fnr")
    tally = confusion_tally(["fnr"])
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    rng = np.random.default_rng(1)
    counts = tally["cell_count"].values.reshape(2, -1)
    shares = np.stack([rng.dirichlet(row + 0.5, (4, 10_000)) for row in counts], axis=2)
    report["posterior"] = report["posterior"].to_dataset().isel(draw=slice(0, 0)).drop_dims("draw").assign(
        mu=(("chain", "draw", "metric", "subgroup"), np.zeros((4, 10_000, 1, 2))),
        cell_share=(("chain", "draw", "subgroup", "outcome", "decision"), shares.reshape(4, 10_000, 2, 2, 2)),
    )  # fmt: skip
    draws = posterior(bg.poststratify(report, pd.DataFrame({"cell": ["a", "b"], "count": [5000, 5000]})))
    expected = values["bayes_dirichlet_half_mc"]
    np.testing.assert_allclose(
        [draws.mean(), draws.std(), *np.quantile(draws, [0.025, 0.975])], expected, rtol=0, atol=2e-3
    )


def test_a_finite_population_knows_its_evaluated_people() -> None:
    values = golden("M7_finite")
    site = pd.DataFrame({"site": ["a"]})
    tally = bg.tally_from_counts([3], [10], site, metric="acc")
    target = bg.poststratify(drawn_report(tally), site.assign(count=[40]), finite=True)
    close(float(frequentist(target)["std_error"]), values["freq_se_fpc"])
    close(limits(target), values["wilson_fpc"])
    exact = stats.betabinom(30, 3.5, 7.5)
    close([(3 + exact.mean()) / 40, exact.std() / 40], [values["mean"], values["sd"]])
    draws = posterior(target)
    np.testing.assert_allclose(draws.mean(), values["mean"], rtol=0, atol=4 * values["sd"] / np.sqrt(len(draws)))
    np.testing.assert_allclose(draws.std(), values["sd"], rtol=0.01)
    np.testing.assert_allclose(np.quantile(draws, [0.025, 0.975]), values["interval95"])
    unbounded = bg.poststratify(tally, site.assign(count=[40]))
    close(limits(unbounded), values["wilson"])
    census = bg.poststratify(drawn_report(tally, draws=100), site.assign(count=[10]), finite=True)
    assert limits(census) == pytest.approx([0.3, 0.3])
    assert posterior(census).tolist() == pytest.approx([0.3] * 400)
    assert set(census["estimates"].to_dataset()["status"].values.ravel()) == {"ok"}


@pytest.mark.parametrize(
    ("scale", "name"),
    [("ratio", "ratio"), ("difference", "difference"), ("logit", "logit"), ("variance", "variance_weighted")],
)
def test_cells_are_moved_to_a_known_total(scale: str, name: str) -> None:
    values = golden("M9_benchmark")
    moved = benchmark(K / N, [WEIGHTS], [np.array(values["T"])], scale, K / N * (1 - K / N) / (N - 1))  # type: ignore[arg-type]
    close(moved.values, values[name])
    if scale == "logit":
        close(float(moved.shift), values["logit_shift"])
    report = drawn_report(schools(), draws=500)
    target = bg.poststratify(report, POPULATION, by=["type"], benchmark=values["T"], benchmark_scale=scale)  # type: ignore[arg-type]
    np.testing.assert_allclose(posterior(target), values["T"], rtol=1e-9)
    table = [float(frequentist(target, f"type={level}")["estimate"]) for level in "EHM"]
    close(table, values[name])
    assert "moved by" in target.attrs["notes"]


def test_several_totals_are_met_together_and_uncertain_ones_are_drawn() -> None:
    report = drawn_report(schools(), draws=500)
    totals: Any = {"acc": {"all": (0.6, 0.01), "type=E": 0.65}}
    target = bg.poststratify(report, POPULATION, by=["type"], benchmark=totals)
    np.testing.assert_allclose(posterior(target, "type=E"), 0.65, rtol=1e-7)
    everybody = posterior(target)
    assert abs(everybody.mean() - 0.6) < 0.002
    np.testing.assert_allclose(everybody.std(), 0.01, rtol=0.1)
    np.testing.assert_allclose(float(frequentist(target)["estimate"]), 0.6, rtol=1e-7)


def test_means_have_students_t_with_satterthwaites_degrees_of_freedom() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"g": ["a"] * 8 + ["b"] * 20, "loss": np.r_[rng.normal(1, 1, 8), rng.normal(2, 3, 20)]})
    target = bg.poststratify(
        bg.tally(frame, ["g"], ["mean"], loss="loss"), pd.DataFrame({"g": ["a", "b"], "count": [3, 1]})
    )
    z, v, n = frame.groupby("g")["loss"].agg(["mean", "var", "size"]).to_numpy().T
    w = np.array([0.75, 0.25])
    variance = (w**2 * v / n).sum()
    freedom = variance**2 / (w**4 * (v / n) ** 2 / (n - 1)).sum()
    half = stats.t.ppf(0.975, freedom) * np.sqrt(variance)
    np.testing.assert_allclose(limits(target), [w @ z - half, w @ z + half], rtol=1e-9)


def test_the_reason_names_the_margin_that_a_cell_takes() -> None:
    """Of two margins of one attribute the one with more rows, though the other one has fewer people and is nearer to the cell."""
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    lacking = bg.tally_from_counts([95, 170, 18, 0], [100, 200, 30, 0], who, metric="acc")
    people = who.assign(count=[1, 1, 1, 1])
    table = bg.poststratify(lacking, people, by=["race"], empty="collapse")["estimates"].to_dataset().sel(metric="acc")
    told = dict(zip(table["subgroup"].values.tolist(), table["reason"].values.tolist(), strict=True))
    assert told["all"] == "25% of the people without rows, given the mean of sex=m"
    assert told["race=b"] == "50% of the people without rows, given the mean of sex=m"
    assert "margin" not in told["race=a"]
    estimate = float(frequentist(bg.poststratify(lacking, people, by=["race"], empty="collapse"), "race=b")["estimate"])
    close(estimate, (18 / 30 + 170 / 200) / 2)


def test_a_reason_names_few_margins() -> None:
    three = pd.DataFrame([(a, b) for a in "pqrstu" for b in "xy"], columns=["site", "arm"])
    rows = np.array([10, 0] * 5 + [0, 7])
    lacking = bg.tally_from_counts((rows // 2).tolist(), rows.tolist(), three, metric="acc")
    table = (
        bg.poststratify(lacking, three.assign(count=1), empty="collapse")["estimates"].to_dataset().sel(metric="acc")
    )
    assert str(table["reason"].sel(subgroup="all").values).endswith(
        "given the mean of site=p and of site=q and of site=r and 3 more"
    )
