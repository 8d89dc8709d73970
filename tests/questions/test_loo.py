"""Leave-one-subgroup-out scores of reports, and their comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import binom, multivariate_normal, norm

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.inference.left_out.smoothing import smoothed
from bayesgroups.questions import loo as module
from bayesgroups.tallies.folds import deal
from bayesgroups.views.tables import comparison_summary, predictive_table

WHO = pd.MultiIndex.from_product([list("abc"), ["f", "m"], ["y", "o"]], names=["race", "sex", "age"]).to_frame(
    index=False
)
TRIALS = np.array([60, 9, 120, 31, 5, 44, 90, 0, 150, 70, 12, 25])
SUCCESSES = np.array([21, 1, 19, 8, 3, 9, 38, 0, 30, 25, 1, 3])
TALLY = bg.tally_from_counts(SUCCESSES, TRIALS, WHO, metric="fnr")
SITES = pd.DataFrame({"site": list("abcdefgh")})
MEANS = np.array([0.3, 0.1, 0.6, 0.45, 0.2, 0.5, 0.35, 0.4])
ERRORS = np.array([0.1, 0.2, 0.15, 0.05, 0.3, 0.1, 0.07, 0.12])


@pytest.fixture(scope="module")
def reports() -> dict[str, xr.DataTree]:
    words = {"alone": bg.NoPooling(), "same": bg.CompletePooling(), "shared": bg.PartialPooling()}
    return {name: bg.estimate(TALLY, word, seed=1) for name, word in words.items()}


def test_one_number_per_subgroup_and_their_sum(reports: dict[str, xr.DataTree]) -> None:
    answer = bg.loo(reports["shared"])
    assert answer["elpd_i"].dims == answer["pareto_k"].dims == answer["method"].dims == ("metric", "subgroup")
    row = answer.isel(metric=0)
    with_rows = TRIALS > 0
    assert (np.isfinite(row["elpd_i"].values) == with_rows).all()
    assert row["method"].values[with_rows].tolist() == ["integrated"] * 11
    assert float(row["elpd"]) == pytest.approx(np.nansum(row["elpd_i"].values))
    assert float(row["se"]) == pytest.approx(np.sqrt(11 * np.nanvar(row["elpd_i"].values)))
    assert float(row["p"]) == pytest.approx(np.nansum(row["p_i"].values))
    assert int(row["n_data_points"]) == 11
    assert 0 < float(row["p"]) < 3  # centre and spread
    assert row["reason"].values[~with_rows].tolist() == ["no rows"]
    assert row["observed"].item() == "successes among counts"
    assert float(row["good_k"]) == 0.7
    assert answer["race"].dims == ("subgroup",)
    assert "given the data of all other subgroups" in answer.attrs["estimand"]
    assert answer.attrs["n_samples"] == 4000
    assert "note" not in answer.attrs
    xr.testing.assert_identical(answer, bg.loo(reports["shared"]))


def test_plain_draws_fail_where_the_effect_is_not_integrated_out(reports: dict[str, xr.DataTree]) -> None:
    from bayesgroups.estimators.base import Estimator

    draws = reports["shared"]["posterior"].to_dataset().stack(sample=("chain", "draw"), create_index=False)  # noqa: PD013
    plain = Estimator.left_out(bg.PartialPooling(), draws, TALLY)
    assert plain.method == "psis"
    assert plain.log_density is not None
    columns = np.flatnonzero(TRIALS > 0)
    k_plain = smoothed(plain.log_density[:, 0, columns].reshape(4, -1, 11)).pareto_k
    k_integrated = bg.loo(reports["shared"])["pareto_k"].values[0, columns]
    assert (k_plain > 0.7).any()
    assert np.nanmax(k_integrated) < 0.7
    large = TRIALS[columns] > 30
    assert (k_integrated[large] < k_plain[large]).all()


def test_exact_answers_have_no_weights(reports: dict[str, xr.DataTree]) -> None:
    for name in ("alone", "same"):
        answer = bg.loo(reports[name])
        assert set(answer["method"].values.ravel()) == {"exact", ""}
        assert np.isnan(answer["pareto_k"].values).all()
        assert not answer["flagged"].values.any()
        shared = float(answer["p"].item())
        assert shared == 0 if name == "alone" else 0 < shared < 10


@pytest.mark.parametrize("centre", [None, 0.4])
def test_flat_priors_against_integrals_over_the_spread(centre: float | None) -> None:
    tally = bg.tally_from_estimates(MEANS, ERRORS**2, SITES, metric="auc", lower=0.0, upper=1.0)
    answer = bg.loo(bg.estimate(tally, bg.JamesStein(centre=centre), seed=1)).isel(metric=0)

    def marginal(tau: float, keep: np.ndarray) -> float:
        y, v = MEANS[keep], ERRORS[keep] ** 2 + tau**2
        if centre is not None:
            return tau * float(np.exp(-0.5 * ((y - centre) ** 2 / v + np.log(2 * np.pi * v)).sum()))
        wide = 100.0
        return tau * wide * float(multivariate_normal(np.full(len(y), 0.4), wide**2 + np.diag(v)).pdf(y))

    every = np.arange(len(MEANS))
    both = [np.log(quad(marginal, 0, 40, args=(keep,), limit=400, points=[0.05, 0.2, 1.0])[0])
            for keep in [every, *(np.delete(every, g) for g in every)]]  # fmt: skip
    expected = both[0] - np.array(both[1:])
    np.testing.assert_allclose(answer["elpd_i"].values, expected, atol=0.03)
    assert int(answer["n_flagged"]) == 0


def drawn(report: xr.DataTree, name: str) -> np.ndarray:
    """Draws of a report."""
    return report["posterior"].to_dataset()[name].values


def _without(tally: xr.Dataset, g: int) -> xr.Dataset:
    """The tally without the rows of one subgroup, everything that is not of its rows left as it is."""
    left = tally.copy(deep=True)
    for name, nothing in (("count", 0.0), ("successes", 0.0), ("estimate", np.nan), ("sampling_variance", np.nan),
                          ("row_variance", np.nan)):  # fmt: skip
        left[name].values[:, g] = nothing
    if "cell_count" in left:
        left["cell_count"].values[g] = 0.0
    return left


def refitted(tally: xr.Dataset, estimator: Any, subgroups: list[int], metric: int = 0) -> np.ndarray:
    """Log predictive probability of the counts of subgroups, each from a fit without its rows."""
    answers = []
    for g in subgroups:
        mu = drawn(bg.estimate(_without(tally, g), estimator, seed=2), "mu")[:, :, metric, g].ravel()
        k, n = (float(tally[name].values[metric, g]) for name in ("successes", "count"))
        answers.append(np.log(binom.pmf(k, n, mu).mean()))
    return np.array(answers)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "estimator",
    [
        bg.PartialPooling(),
        bg.CrossedEffects(),
        pytest.param(bg.PartialPooling(overall_scale=0.7, tau_scale=1.0), marks=SLOW),
        pytest.param(bg.CrossedEffects(own_effects="fixed"), marks=SLOW),
        pytest.param(bg.CrossedEffects(prior="r2d2", order=1), marks=SLOW),
        pytest.param(bg.NoPooling(), marks=SLOW),
        pytest.param(bg.CompletePooling(), marks=SLOW),
    ],
    ids=str,
)
def test_rates_against_fits_without_the_subgroup(estimator: Any) -> None:
    answer = bg.loo(bg.estimate(TALLY, estimator, seed=1)).isel(metric=0)
    assert not answer["flagged"].values.any()
    subgroups = [0, 4, 6]
    expected = refitted(TALLY, estimator, subgroups)
    np.testing.assert_allclose(answer["elpd_i"].values[subgroups], expected, atol=0.08)
    assert abs(answer["elpd_i"].values[subgroups] - expected).mean() < 0.04


@pytest.mark.parametrize(
    "estimator",
    [
        bg.PartialPooling(likelihood="normal"),
        bg.CrossedEffects(likelihood="normal"),
        pytest.param(bg.StructuredRegression(prior="laplace", bootstrap=2), marks=SLOW),
    ],
    ids=str,
)
def test_estimates_against_fits_without_the_subgroup(estimator: Any) -> None:
    answer = bg.loo(bg.estimate(TALLY, estimator, seed=1)).isel(metric=0)
    assert set(answer["method"].values) == {"integrated", ""}
    for g in (0, 4):
        mu = drawn(bg.estimate(_without(TALLY, g), estimator, seed=2), "mu")[:, :, 0, g].ravel()
        sd = np.sqrt(TALLY["sampling_variance"].values[0, g])
        density = norm.pdf(TALLY["estimate"].values[0, g], mu, sd)
        assert float(answer["elpd_i"][g]) == pytest.approx(np.log(density.mean()), abs=0.06)


@pytest.fixture(scope="module")
def cells() -> xr.Dataset:
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"race": rng.choice(list("abc"), 900, p=[0.7, 0.2, 0.1]), "sex": rng.choice(["f", "m"], 900),
                         "y": rng.integers(0, 2, 900)})  # fmt: skip
    rows["d"] = (rows["y"] + rng.normal(0, 1, 900) > 0.5).astype(int)
    return bg.tally(rows, ["race", "sex"], ["fnr", "acc"], y_true="y", y_pred="d", confusion=True)


@pytest.mark.parametrize("follow", [True, pytest.param(False, marks=SLOW)])
def test_cells_against_fits_without_the_subgroup(cells: xr.Dataset, follow: bool) -> None:
    estimator = bg.ConfusionModel(follow_selection=follow)
    answer = bg.loo(bg.estimate(cells, estimator, seed=1))
    np.testing.assert_array_equal(answer["elpd_i"].values[0], answer["elpd_i"].values[1])
    assert "every metric has the same numbers" in answer.attrs["note"]
    for g in (1, 4):
        share = drawn(bg.estimate(_without(cells, g), estimator, seed=2), "cell_share")[:, :, g]
        count = cells["cell_count"].transpose("subgroup", "outcome", "decision").values[g]
        table = count.sum(axis=0)  # decisions, then outcomes given them
        choose = gammaln(table.sum() + 1) - gammaln(table + 1).sum()
        choose += (gammaln(table + 1) - gammaln(count + 1).sum(axis=0)).sum()
        density = xlogy(count, share).sum(axis=(2, 3)).ravel() + choose
        expected = logsumexp(density) - np.log(len(density))
        assert float(answer["elpd_i"][0, g]) == pytest.approx(expected, abs=0.1)


def test_tasks_are_left_out_one_at_a_time() -> None:
    counts = [bg.tally_from_counts(SUCCESSES[::step], TRIALS[::step], WHO[::step].reset_index(drop=True), metric=name)
              for step, name in ((2, "x"), (2, "y"))]  # fmt: skip
    both = xr.concat(counts, "metric", data_vars="minimal", combine_attrs="override")
    answer = bg.loo(bg.estimate(both, bg.CrossedEffects(tasks=True), seed=1))
    assert answer["elpd_i"].shape == (2, 6)
    assert int(answer["n_data_points"].sum()) == 2 * int((TRIALS[::2] > 0).sum())
    alone = bg.loo(bg.estimate(counts[0], bg.CrossedEffects(), seed=1))
    assert float(answer["elpd"].sel(metric="x")) > float(alone["elpd"].item())  # the other task has the same counts


def test_weights_with_long_tails_are_flagged() -> None:
    trials = np.array([4000, 10, 10, 10, 10, 10])
    successes = np.array([3600, 1, 1, 2, 1, 0])
    tally = bg.tally_from_counts(successes, trials, SITES[:6], metric="fnr")
    answer = bg.loo(bg.estimate(tally, bg.PartialPooling(tau_scale=0.2), seed=1)).isel(metric=0)
    assert answer["flagged"].values.tolist() == [1, 0, 0, 0, 0, 0]
    assert int(answer["n_flagged"]) == 1
    assert float(answer["pareto_k"][0]) > 0.7
    assert "do not reach the posterior without this subgroup" in answer["reason"].item(0)
    assert "the k-hat of 1 subgroups is above 0.70" in answer.attrs["note"]


def test_estimators_without_an_answer_give_the_reason(cells: xr.Dataset) -> None:
    rows = pd.DataFrame({"race": list("aabb") * 30, "label": ["x", "y"] * 60, "disagrees": [0, 1, 1, 0, 0] * 24})
    judged = bg.disagreement_tally(rows, by=["race"], label="label", disagrees="disagrees")
    answer = bg.loo(bg.estimate(judged, bg.DisagreementModel(), seed=1))
    assert np.isnan(answer["elpd"].values).all()
    assert np.isnan(answer["elpd_i"].values).all()
    assert "parameters of the likelihood" in answer["reason"].values.ravel()[0]
    few = bg.tally_from_counts([1, 2, 3], [5, 6, 7], SITES[:3], metric="fnr")
    left = bg.loo(bg.estimate(few, bg.JamesStein(), seed=1))
    assert "flat priors leave no predictive distribution" in left["reason"].values[0, 0]
    nothing = bg.loo(bg.estimate(bg.tally_from_counts([0, 0], [0, 0], SITES[:2]), bg.PartialPooling(), seed=1))
    assert nothing["reason"].values[0, 0] == "no rows"
    assert np.isnan(nothing["elpd"].values).all()


def test_draws_are_thinned_where_there_are_many_densities(
    reports: dict[str, xr.DataTree], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bg.loo(reports["shared"])
    monkeypatch.setattr(module, "MAX_DENSITIES", 24_000)
    thinned = bg.loo(reports["shared"])
    assert thinned.attrs["n_samples"] == 2000
    np.testing.assert_allclose(thinned["elpd"].values, whole["elpd"].values, atol=0.2)


def test_reports_that_cannot_be_scored_are_refused(reports: dict[str, xr.DataTree]) -> None:
    with pytest.raises(bg.SchemaError, match="expected a report"):
        bg.loo(xr.Dataset())  # type: ignore[arg-type]
    bare = reports["shared"].copy()
    del bare["posterior"]
    with pytest.raises(bg.InputError, match="saved without its draws"):
        bg.loo(bare)
    confused = reports["shared"].copy()
    confused.attrs |= {"estimator": "confusion", "estimator_class": "confusion", "settings": "{}"}
    with pytest.raises(bg.InputError, match="lacks what the likelihood of confusion needs"):
        bg.loo(confused)
    with pytest.raises(bg.InputError, match="report 'bare' has no leave-one-subgroup-out score"):
        bg.compare({"shared": reports["shared"], "bare": bare}, loo=True)


def test_reports_are_compared(reports: dict[str, xr.DataTree]) -> None:
    table = bg.compare(reports, loo=True).sel(metric="fnr")
    scores = {name: bg.loo(report).sel(metric="fnr") for name, report in reports.items()}
    best = max(scores, key=lambda name: float(scores[name]["elpd"]))
    assert best == "shared"
    for name, score in scores.items():
        shown = table.sel(estimator=name)
        pointwise = (score["elpd_i"] - scores[best]["elpd_i"]).dropna("subgroup").values
        assert float(shown["elpd"]) == float(score["elpd"])
        assert float(shown["elpd_diff"]) == pytest.approx(pointwise.sum())
        assert float(shown["dse"]) == pytest.approx(np.sqrt(len(pointwise) * pointwise.var()))
        assert int(shown["n_flagged"]) == 0
        assert int(shown["n_common"]) == 11
        assert shown["loo_reason"].item() == ""
    assert "elpd" not in bg.compare(reports)
    xr.testing.assert_identical(bg.compare(reports), bg.compare(reports, loo=True)[list(bg.compare(reports).data_vars)])


def test_densities_of_different_data_do_not_compare(reports: dict[str, xr.DataTree], cells: xr.Dataset) -> None:
    normal = bg.estimate(TALLY, bg.JamesStein(), seed=1)
    table = bg.compare({"shared": reports["shared"], "normal": normal}, loo=True).sel(metric="fnr")
    assert "densities of different data do not compare" in table["loo_reason"].sel(estimator="normal").item()
    assert np.isnan(float(table["elpd_diff"].sel(estimator="normal")))
    assert np.isfinite(float(table["elpd"].sel(estimator="normal")))
    assert float(table["elpd_diff"].sel(estimator="shared")) == 0


def test_reports_of_other_tallies_are_refused(reports: dict[str, xr.DataTree]) -> None:
    more = bg.tally_from_counts(SUCCESSES + (TRIALS > 100), TRIALS, WHO, metric="fnr")
    other = bg.estimate(more, bg.NoPooling(), seed=1)
    with pytest.raises(bg.InputError, match="the successes of metric 'fnr' in subgroup 'a | m | y' is 19 and 20"):
        bg.compare({"shared": reports["shared"], "other": other}, loo=True)
    bg.compare({"shared": reports["shared"], "other": other})


def test_the_table_has_differences_and_reasons(
    reports: dict[str, xr.DataTree], capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Console

    normal = bg.estimate(TALLY, bg.JamesStein(), seed=1)
    table = bg.compare({**reports, "normal": normal}, loo=True)
    Console(width=140).print(predictive_table(table))
    printed = capsys.readouterr().out
    assert "std. error" in printed
    assert "densities of different data" in printed
    assert comparison_summary(table).row_count == 4
    with pytest.raises(bg.InputError, match="make it with bg.compare"):
        predictive_table(bg.compare(reports))


def test_the_command_adds_scores(
    reports: dict[str, xr.DataTree], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(tmp_path / f"{name}.nc") for name in reports]
    for name, report in zip(names, reports.values(), strict=True):
        bg.save_report(report, name)
    assert run(["compare", *names, "--loo"]) == 0
    assert "density of a subgroup left out" in " ".join(capsys.readouterr().out.split())


def test_folds_of_rows_order_models_alike(reports: dict[str, xr.DataTree]) -> None:
    """Rows of a subgroup predict others of it, a question of its own, but partial pooling is best at both."""
    words = {"alone": bg.NoPooling(), "same": bg.CompletePooling(), "shared": bg.PartialPooling()}
    sums = dict.fromkeys(words, 0.0)
    for fold in deal(TALLY, folds=3, seed=1):
        for name, word in words.items():
            k, n = (np.rint(np.nan_to_num(fold.training[each].values[0])) for each in ("successes", "count"))
            training = bg.tally_from_counts(k, n, WHO, metric="fnr")
            mu = drawn(bg.estimate(training, word, seed=1), "mu")[:, :, 0].reshape(-1, len(TRIALS))
            n, k = (np.rint(np.nan_to_num(fold.validation[each].values[0])) for each in ("count", "successes"))
            sums[name] += float(np.log(binom.pmf(k, n, mu).mean(axis=0)).sum())
    table = bg.compare(reports, loo=True).sel(metric="fnr")
    for name in ("alone", "same"):
        left_out = float(table["elpd"].sel(estimator=name)) - float(table["elpd"].sel(estimator="shared"))
        assert np.sign(sums[name] - sums["shared"]) == np.sign(left_out) == -1
