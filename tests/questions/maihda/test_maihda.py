"""MAIHDA of a tally and of reports: golden values, both sides, the boundary, the table, the plot, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data import processes
from bayesgroups.questions.maihda.maihda import ALONG_METRIC, ALONG_MODEL, ALONG_SUBGROUP
from bayesgroups.questions.maihda.shares import project
from bayesgroups.views.tables import maihda_table

mpl.use("Agg")

FOLDER = Path(__file__).parents[2] / "golden" / "targets"
GOLDEN = json.loads((FOLDER / "maihda_python.json").read_text())
BY = ["gender", "employed", "age"]
MAX_ANSWERS = 20
"""Answers after which another process should have been of use."""


def binary() -> xr.Dataset:
    """The strata of `efc` as counts."""
    rows = pd.read_csv(FOLDER / "efc_binary_strata.csv", dtype=str)
    return bg.tally_from_counts(rows["k"].astype(float), rows["n"].astype(float), rows[BY], metric="negc7d")


def quality() -> xr.Dataset:
    """Rows with the numbers, means and sums of squares of the strata of `efc`."""
    frames = []
    for row in csv.DictReader((FOLDER / "efc_strata.csv").read_text().splitlines()):
        n, mean, within = int(row["n"]), float(row["mean"]), float(row["sum_squares"])
        sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        sign[-1] = 0.0 if n % 2 else sign[-1]
        values = mean + sign * np.sqrt(within / abs(sign).sum())
        frames.append(pd.DataFrame({**{name: row[name] for name in BY}, "quality": values}))
    return bg.tally(pd.concat(frames), by=BY, metrics=["mean"], loss="quality", larger_is_better=True)


@pytest.fixture(scope="module")
def rates() -> xr.Dataset:
    return bg.maihda(binary(), seed=1).sel(metric="negc7d")


@pytest.fixture(scope="module")
def means() -> xr.Dataset:
    return bg.maihda(quality(), seed=1).sel(metric="mean")


def test_shape_of_the_answer(rates: xr.Dataset) -> None:
    assert rates["model"].values.tolist() == ["null", "only:gender", "only:employed", "only:age", "adjusted"]
    assert rates["approach"].values.tolist() == ["bayesian", "frequentist"]
    for names, dims in (
        (ALONG_MODEL, ("approach", "model")), (ALONG_METRIC, ("approach",)), (ALONG_SUBGROUP, ("approach", "subgroup")),
    ):  # fmt: skip
        assert all(rates[name].dims == dims for name in names)
    assert int(rates["usable"]) == 1
    assert "no causal shares" in rates.attrs["note"]


def test_frequentist_side_of_rates_is_that_of_the_packages(rates: xr.Dataset) -> None:
    null, golden = rates.sel(approach="frequentist", model="null"), GOLDEN["binary"]["null"]
    for name, key in (
        ("between", "variance"), ("vpc", "vpc_latent"), ("vpc_linearised", "vpc_response_linearised"),
        ("vpc_response", "vpc_response_quadrature"), ("mor", "mor"), ("auc", "auc_shrunk"),
    ):  # fmt: skip
        np.testing.assert_allclose(null[name], golden[key], rtol=2e-5)
    adjusted = rates.sel(approach="frequentist", model="adjusted")
    assert (float(adjusted["boundary"]), float(adjusted["pcv"])) == (1.0, 1.0)
    np.testing.assert_allclose(adjusted["auc"], GOLDEN["binary"]["adjusted"]["auc_main_effects"], rtol=1e-6)
    np.testing.assert_allclose(rates["p_value_zero"].sel(approach="frequentist"), golden["p_zero_mixture"], rtol=1e-5)


def test_bayesian_null_model_is_the_quadrature(rates: xr.Dataset) -> None:
    null, golden = rates.sel(approach="bayesian", model="null"), GOLDEN["bayes_null"]
    np.testing.assert_allclose(null["vpc"], golden["vpc_quantiles"][1], rtol=0.06)
    np.testing.assert_allclose(null["vpc_upper"], golden["vpc_quantiles"][2], rtol=0.08)
    np.testing.assert_allclose(null["mor"], golden["mor_median"], rtol=0.02)


def test_interaction_share_by_projection(rates: xr.Dataset) -> None:
    """Values of the specification, made with other draws of the same posterior."""
    share = rates.sel(approach="bayesian")
    assert float(share["interaction_share"]) == pytest.approx(0.257, abs=0.012)
    assert float(share["interaction_share_lower"]) == pytest.approx(0.030, abs=0.012)
    assert float(share["interaction_share_upper"]) == pytest.approx(0.644, abs=0.03)
    np.testing.assert_allclose(share["interaction_share"] + share["additive_share"], 1)


def test_at_the_bound_interactions_have_no_limits(rates: xr.Dataset) -> None:
    bound = rates.sel(approach="frequentist")
    assert float(bound["interaction_share"]) == 0
    assert (bound["interaction"] == 0).all()
    assert np.isnan(bound["interaction_upper"].values).all()
    assert (rates["interaction_upper"].sel(approach="bayesian") > 0).all()


def test_posterior_areas_are_those_of_the_true_strata(rates: xr.Dataset) -> None:
    areas = rates["auc"].sel(approach="bayesian")
    assert float(areas.sel(model="null")) > float(areas.sel(model="adjusted")) > float(areas.sel(model="only:gender"))
    assert float(areas.sel(model="null")) < float(rates["auc"].sel(approach="frequentist", model="null"))
    gain = rates["auc_gain"].sel(approach="bayesian")
    np.testing.assert_allclose(gain, areas.sel(model="null") - areas.sel(model="adjusted"), rtol=1e-9)


def test_means_by_restricted_maximum_likelihood(means: xr.Dataset) -> None:
    golden = GOLDEN["gaussian_reml"]
    for model, name in (
        ("null", "null"),
        ("only:gender", "gender"),
        ("only:employed", "employed"),
        ("only:age", "age"),
    ):
        here = means.sel(approach="frequentist", model=model)
        for variable in ("between", "residual", "vpc", "loglik"):
            np.testing.assert_allclose(here[variable], golden[name][variable], rtol=1e-6)
        if model != "null":
            np.testing.assert_allclose(here["pcv"], golden[name]["pcv"], rtol=1e-5)
    assert float(means["boundary"].sel(approach="frequentist", model="adjusted")) == 1
    assert np.isnan(means["mor"].values).all()
    assert np.isnan(means["auc"].values).all()


def test_means_by_maximum_likelihood() -> None:
    answer = bg.maihda(quality(), method="ml", seed=1).sel(metric="mean", approach="frequentist", model="null")
    golden = GOLDEN["gaussian_ml"]["null"]
    np.testing.assert_allclose(answer["between"], golden["between"], rtol=1e-6)
    limits = (float(answer["between_lower"]), float(answer["between_upper"]))
    np.testing.assert_allclose(limits, golden["profile_ci_between"], rtol=1e-5)
    assert float(answer["p_value_zero"]) == pytest.approx(3.63e-5, rel=1e-3)


def test_bayesian_side_of_means(means: xr.Dataset) -> None:
    side = means.sel(approach="bayesian", model="null")
    assert float(side["between_lower"]) < 1.22 < float(side["between_upper"])
    assert float(side["residual"]) == pytest.approx(27.34, rel=0.02)
    assert float(side["vpc_lower"]) < 0.043 < float(side["vpc_upper"])


def test_a_report_gives_what_it_has(rates: xr.Dataset) -> None:
    crossed = bg.maihda(bg.estimate(binary(), bg.CrossedEffects(own_effects="learned"), seed=1)).sel(metric="negc7d")
    for name in ("interaction_share", "interaction", "probability_positive"):
        xr.testing.assert_identical(
            crossed[name].sel(approach="bayesian").drop_vars("metric"),
            rates[name].sel(approach="bayesian").drop_vars("metric"),
        )
    assert np.isnan(crossed["between"].sel(approach="bayesian").values).all()
    assert (crossed["reason"].sel(approach="bayesian") == "the report has no draws of this model").all()
    null = bg.maihda(bg.estimate(binary(), bg.PartialPooling(), seed=1)).sel(metric="negc7d", approach="bayesian")
    assert float(null["between"].sel(model="null")) == float(rates["between"].sel(approach="bayesian", model="null"))
    assert np.isnan(null["between"].sel(model="adjusted"))


def test_shares_from_the_regression_and_by_rows() -> None:
    plain, weighted = (
        bg.maihda(binary(), adjust=["gender", "age"], model="regression", weights=weights, seed=1).sel(
            approach="bayesian", metric="negc7d"
        )
        for weights in ("strata", "rows")
    )
    assert plain["model"].values.tolist() == ["null", "only:gender", "only:age", "adjusted"]
    assert 0 < float(weighted["interaction_share"]) < 1
    assert float(plain["interaction_share"]) != float(weighted["interaction_share"])


def test_shares_by_people() -> None:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "xy"], columns=["r", "s"])
    report = bg.estimate(bg.tally_from_counts([9, 12, 4, 20, 8, 3], [40] * 6, who), bg.PartialPooling(), seed=1)
    people = np.array([500.0, 20, 30, 100, 50, 300])
    # The order of the rows of a population means nothing.
    answer = bg.maihda(report, adjust=["r"], population=who.assign(count=people)[::-1]).sel(approach="bayesian")
    assert answer.attrs["weights"] == "population"
    mu = report["posterior"].to_dataset()["mu"].values.reshape(-1, 6)
    dummies = np.column_stack([who["r"] == level for level in "abc"]).astype(float)
    split = project(np.log(mu / (1 - mu)), dummies, people)
    assert float(answer["interaction_share"].isel(metric=0)) == pytest.approx(float(split.interaction_share.mean()))


@pytest.mark.parametrize("make", [binary, quality])
def test_bootstrap_has_limits_and_repeats(make: Any) -> None:
    first, second = (bg.maihda(make(), adjust=["age"], replicates=12, seed=3) for _ in range(2))
    xr.testing.assert_identical(first, second)
    side = first.sel(approach="frequentist").isel(metric=0)
    assert float(side["pcv_lower"].sel(model="adjusted")) < float(side["pcv_upper"].sel(model="adjusted")) <= 1
    assert 0 <= float(side["interaction_share_lower"]) < float(side["interaction_share_upper"]) <= 1


def test_an_interaction_is_found() -> None:
    who = pd.DataFrame([(a, b) for a in "abcd" for b in "xyz"], columns=["race", "age"])
    k = np.full(12, 300)
    k[5] = 700
    answer = bg.maihda(bg.tally_from_counts(k, np.full(12, 1000), who), seed=1).isel(metric=0)
    odd = answer.isel(subgroup=5)
    assert float(odd["discovered"].sel(approach="bayesian")) == 1
    assert float(odd["probability_positive"].sel(approach="bayesian")) > 0.99
    assert float(odd["interaction"].sel(approach="frequentist")) > 0.5
    assert (answer["interaction_share"] > 0.3).all()


def test_strata_without_rows_take_part_as_draws_alone() -> None:
    who = pd.DataFrame([(a, b) for a in "abcd" for b in "xyz"], columns=["race", "age"])
    n = np.array([60, 50, 70, 40, 0, 50, 60, 60, 1, 50, 40, 60])
    answer = bg.maihda(bg.tally_from_counts(n // 3, n, who), seed=1).isel(metric=0)
    assert np.isfinite(answer["value"].sel(approach="bayesian")).all()
    assert np.isnan(answer["value"].sel(approach="frequentist").values).tolist() == (n == 0).tolist()


def test_separation_is_a_reason() -> None:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "xyz"], columns=["race", "age"])
    k = np.array([0, 0, 0, 5, 6, 7, 4, 5, 6])
    tally = bg.tally_from_counts(k, np.full(9, 10), who)
    answer = bg.maihda(bg.estimate(tally, bg.PartialPooling(), seed=1)).isel(metric=0)
    side = answer.sel(approach="frequentist")
    assert "separate rows with successes" in str(side["reason"].sel(model="adjusted").values)
    assert np.isnan(side["between"].sel(model="adjusted"))
    assert float(answer["interaction_share"].sel(approach="bayesian")) > 0


def wide() -> xr.Dataset:
    """Strata whose rates differ by more than the prior of the spread expects."""
    who = pd.DataFrame([(a, b) for a in "abcdefgh" for b in "xyz"], columns=["race", "age"])
    k = np.array([2, 198, 5, 195, 1, 199, 3, 190, 2, 198, 197, 4] * 2)
    return bg.tally_from_counts(k, np.full(24, 200), who, metric="fnr")


def test_what_did_not_pass_its_checks_says_so() -> None:
    answer = bg.maihda(wide(), seed=1).sel(metric="fnr")
    assert int(answer["usable"]) == 0
    bayesian, frequentist = (answer.sel(approach=side) for side in ("bayesian", "frequentist"))
    for model in ("null", "only:race", "only:age"):
        told = str(bayesian["reason"].sel(model=model).values)
        assert told.startswith("not usable: fnr: the prior probability that subgroups differ as they do")
        assert "set tau_scale to about" in told
    assert (frequentist["reason"] == "").all()
    table = maihda_table(answer.expand_dims("metric"))
    assert table.loc["variance between strata", "null"].endswith("(not usable)")
    assert "not usable" not in maihda_table(answer.expand_dims("metric"), using="tally").to_string()
    mended = bg.maihda(wide(), tau_scale=4.0, seed=1).sel(metric="fnr", approach="bayesian")
    assert not mended["reason"].str.contains("prior probability").any()
    # The prior drew the variance towards what it expected.
    assert float(mended["between"].sel(model="null")) > float(bayesian["between"].sel(model="null"))


def test_a_share_that_is_not_usable_says_so() -> None:
    report = bg.estimate(wide(), bg.PartialPooling(), seed=1)
    answer = bg.maihda(report).sel(metric="fnr", approach="bayesian")
    assert str(answer["share_reason"].values).startswith("not usable: fnr: the prior probability")
    assert np.isfinite(answer["interaction_share"])
    assert int(answer["usable"]) == 0
    title = bg.plots.maihda(answer.expand_dims(["metric", "approach"])).get_title(loc="left")
    assert title.replace("\n", " ").endswith("; NOT usable: the Bayesian fit failed its diagnostics")


def test_processes_do_not_change_a_byte_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = list[int]()
    given_up = processes._Shared.given_up

    def noted(self: processes._Shared[object]) -> bool:
        sent.extend(self.sent)
        return given_up(self)

    monkeypatch.setattr(processes._Shared, "given_up", noted)
    monkeypatch.setattr(processes, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    try:
        answers = [bg.maihda(binary(), adjust=["age"], seed=1)]
        while not sent and len(answers) < MAX_ANSWERS:  # the other process takes longest to start
            answers.append(bg.maihda(binary(), adjust=["age"], seed=1))
    finally:
        processes._PROCESSES.end()
    assert sent
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    alone = bg.maihda(binary(), adjust=["age"], seed=1)
    assert all(values.to_numpy().tobytes() == answers[-1][name].to_numpy().tobytes() for name, values in alone.items())


def test_table_as_papers_print_it(rates: xr.Dataset, means: xr.Dataset) -> None:
    table = maihda_table(rates.expand_dims("metric"), using="tally")
    assert table.loc["variance between strata", "adjusted"].endswith("(boundary)")
    assert table.loc["PCV", "null"] == ""
    assert "median odds ratio" not in maihda_table(means.expand_dims("metric")).index
    with pytest.raises(bg.InputError, match="no metric 'x'; it has negc7d"):
        maihda_table(rates.expand_dims("metric"), "x")
    with pytest.raises(bg.SchemaError, match="expected an answer of bayesgroups.maihda"):
        maihda_table(xr.Dataset())


def test_plot_has_strata_in_order(rates: xr.Dataset) -> None:
    answer = rates.expand_dims("metric")
    for using in ("posterior", "tally"):
        axes = bg.plots.maihda(answer, using=using)
        markers = [np.asarray(line.get_xdata()) for line in axes.get_lines()]
        assert (np.diff(markers[0]) >= 0).all()
        assert len(markers[1]) == 12
        assert "interaction share" in axes.get_title(loc="left")


def test_what_is_refused() -> None:
    who = pd.DataFrame({"race": list("abcdef")})
    single = bg.tally_from_counts([1, 2, 3, 4, 5, 6], [9] * 6, who)
    small = bg.tally_from_counts(
        [1, 2, 3, 4], [9] * 4, pd.DataFrame([(a, b) for a in "ab" for b in "xy"], columns=["r", "s"])
    )
    published = bg.tally_from_estimates([0.1, 0.2], [0.1, 0.1], pd.DataFrame({"r": ["a", "b"], "s": ["x", "x"]}))
    table = binary()
    people = pd.read_csv(FOLDER / "efc_binary_strata.csv", dtype=str)[BY].assign(count=1)
    alike = pd.DataFrame([(a, b) for a in "abc" for b in "xyz"] * 2, columns=["r", "s"]).assign(
        loss=2.0, sick=0, alarm=1
    )
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (single, {}, "the tally has one attribute \\(race\\)"),
        (small, {}, "4 subgroups have an estimate, for 3 coefficients"),
        (published, {}, "is of kind 'estimate'; maihda models rows"),
        (bg.tally(alike, ["r", "s"], "mean", loss="loss"), {}, "rows of metric 'mean' do not differ within strata"),
        (
            bg.tally(alike[:9].assign(loss=range(9)), ["r", "s"], "mean", loss="loss"),
            {},
            "every stratum has one row of metric 'mean' at most, so that the variance of rows cannot be told",
        ),
        (
            bg.tally(alike, ["r", "s"], "fnr", y_true="sick", y_pred="alarm", positive=1),
            {},
            "metric 'fnr' is undefined in every stratum \\(no positives\\); leave it out",
        ),
        (table, {"adjust": ["sex"]}, "adjust= names 'sex', which is no attribute"),
        (table, {"adjust": []}, "adjust= is empty"),
        (table, {"weights": "people"}, "weights='people' is not one of 'strata', 'rows'"),
        (table, {"weights": "rows", "population": people}, "weights='rows' and population= are both weights of strata"),
        (table, {"population": people[BY]}, "population= lacks the column 'count'"),
        (
            table,
            {"population": people.iloc[:4]},
            "has people in so few strata with rows that the main effects of gender",
        ),
        (table, {"model": "bayes"}, "model='bayes' is not one of"),
        (table, {"method": "moment"}, "method='moment' is not one of"),
        (table, {"level": 1.0}, "level=1.0 must lie strictly between 0 and 1"),
        (table, {"replicates": -1}, "replicates=-1 must be a whole number"),
        (table, {"tau_scale": -1.0}, "tau_scale=-1.0 must be a positive number"),
        (
            bg.estimate(table, bg.PartialPooling(), seed=1),
            {"tau_scale": 2.0},
            "a report has its own prior, so that tau_scale=2.0 says nothing; estimate it with such a scale",
        ),
        (table, {"seed": 0.5}, "seed must be a whole number"),
    ]
    for source, settings, words in cases:
        with pytest.raises(bg.InputError, match=words):
            bg.maihda(source, **settings)
    with pytest.raises(bg.SchemaError, match="maihda takes a tally or a report; got Dataset"):
        bg.maihda(xr.Dataset())


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (bg.CrossedEffects(), "own_effects='floored'"),
        (bg.NoPooling(), "estimator 'no_pooling' has no learned spread of strata"),
        (bg.PartialPooling(likelihood="normal"), "normal likelihood of rates"),
    ],
)
def test_reports_that_are_refused(estimator: Any, words: str) -> None:
    with pytest.raises(bg.InputError, match=words):
        bg.maihda(bg.estimate(binary(), estimator, seed=1))


def test_an_area_of_a_single_success_has_no_limits() -> None:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "xy"], columns=["r", "s"])
    report = bg.estimate(
        bg.tally_from_counts([1, 0, 0, 0, 0, 0], [2, 40, 40, 30, 20, 20], who), bg.PartialPooling(), seed=1
    )
    side = bg.maihda(report).isel(metric=0).sel(approach="frequentist", model="null")
    assert float(side["between"]) > 0
    assert float(side["auc"]) > 0.9
    assert np.isnan(side["auc_lower"])
    assert str(side["reason"].values).startswith("a single success or failure does not tell the error of an area")


def test_without_a_variance_between_strata_nothing_is_shared_out() -> None:
    """A constant score has an area of one half by construction, and the spread of the main effects is noise."""
    who = pd.DataFrame({"lang": ["de", "en", "sw"] * 2, "dom": ["a"] * 3 + ["b"] * 3})
    tally = bg.tally_from_counts([12, 61, 5, 14, 58, 7], [20, 100, 9, 22, 100, 10], who, metric="acc")
    answer = bg.maihda(tally, replicates=5, seed=1).sel(metric="acc", approach="frequentist")
    assert float(answer["between"].sel(model="null")) == 0
    assert float(answer["auc"].sel(model="null")) == 0.5
    assert np.isnan([answer[f"auc_{side}"].sel(model="null") for side in ("lower", "upper")]).all()
    assert "all of them have the same predicted rate" in str(answer["reason"].sel(model="null").values)
    assert np.isnan(answer["pcv"].values).all()
    assert "finds no variance between strata" in str(answer["reason"].sel(model="adjusted").values)
    for name in ("additive_share", "interaction_share", "auc_gain"):
        assert np.isnan([answer[f"{name}{end}"] for end in ("", "_lower", "_upper")]).all()
    assert "finds no variance between strata" in str(answer["share_reason"].values)
    assert np.isfinite(answer["auc_lower"].sel(model="only:lang"))
    assert float(answer["p_value_zero"]) == 1
