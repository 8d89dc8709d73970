"""Populations that cannot be used: every message names the offending column, level, value or metric, and the fix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.models.shared.finite_population import FinitePopulation, values_with_others
from bayesgroups.views import plots
from tests.questions.populations.examples import BOTH, MARGINS, POPULATION, SCHOOLS, schools, two_way

TYPES, TARGET = MARGINS[("type",)], MARGINS[("target",)]


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    return bg.estimate(schools(), bg.NoPooling(), seed=1)


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (
            POPULATION.rename(columns={"type": "Type"}),
            "no column 'type', an attribute of the tally .*did you mean 'Type'",
        ),
        (POPULATION.drop(columns="count"), "no column 'count' with the size of each cell"),
        (POPULATION.assign(count=["x", "y", "z"]), "column 'count' must hold numbers"),
        (POPULATION.assign(type=["E", "H", "MM"]), "attribute 'type' has level 'MM', which the tally has not .*'M'"),
        (POPULATION.assign(type=["E", "H", None]), "column 'type' has a missing value"),
        (POPULATION.assign(count=[1, 2, -3]), "'M' has a count that is negative"),
        (POPULATION.assign(count=[1, 2, np.nan]), "'M' has a count that is missing or not finite"),
        (POPULATION.assign(count=[1, 2, np.inf]), "'M' has a count that is missing or not finite"),
        (POPULATION.assign(count=0), "all counts are 0"),
        (xr.Dataset({"a": 1}), "the tally lacks the attribute 'type'"),
        (xr.Dataset({"a": 1}, coords={"type": "E"}), "expected a tally from bg.tally.*got a Dataset"),
        (bg.tally_from_counts([1], [2], pd.DataFrame({"school": ["E"]})), "lacks the attribute 'type'"),
        (
            bg.tally_from_estimates([0.1, 0.2, 0.3], [0.1] * 3, SCHOOLS),
            "holds published estimates without numbers of rows",
        ),
        (3, "frame must be a dataframe"),
        ({("type", "sex"): POPULATION}, "population margin 'type', 'sex': 'sex' is no attribute of the tally"),
        ({("type", "type"): POPULATION}, "name one attribute or more, each once"),
        (bg.PopulationSample({("type",): POPULATION}), "margins are no sample of people"),
        (bg.PopulationSample("rows"), "the evaluated rows are no second sample"),
    ],
)
def test_populations_that_cannot_be_read(population: Any, message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.poststratify(schools(), population)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        (
            {("type",): TYPES, ("target",): TARGET.assign(count=[1000, 1000])},
            "margin 'type' adds up to 6194 and margin 'target' to 2000; margins must have one total",
        ),
        (
            {("type",): TYPES, ("target",): TARGET.assign(count=[0.3, 0.7])},
            r"one total \(counts and shares cannot be mixed\)",
        ),
    ],
)
def test_margins_that_disagree(margins: Any, message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.poststratify(two_way(), margins)


def test_margins_with_people_where_nobody_was_evaluated() -> None:
    tally = bg.tally_from_counts([0, 101, 0, 9], [34, 108, 14, 11], BOTH.iloc[:4], metric="acc")
    more = bg.tally_from_counts([0, 101, 0, 9, 0, 0], [34, 108, 14, 11, 0, 0], BOTH, metric="acc")
    with pytest.raises(
        bg.InputError, match="margin 'type' has 1018 in 'M', where no cell has rows .'M . No', 'M . Yes'"
    ):
        bg.poststratify(more, MARGINS)
    assert tally.sizes["subgroup"] == 4
    smoothed = bg.poststratify(more, MARGINS, smoothing=0.5)
    assert float(smoothed["estimates"].to_dataset()["imputed_share"].values[0, 0]) == pytest.approx(1018 / 6194)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"by": ["Type"]},
            "by: 'Type' is neither an attribute of the tally nor a column of the population .did you mean 'type'",
        ),
        ({"by": [1]}, "by must be names of attributes"),
        ({"by": ["count"]}, "attribute 'count' has a name that the tally uses itself"),
        ({"population_of": "folk"}, "population_of='folk' is not one of 'people'"),
        ({"empty": "fill"}, "empty='fill' is not one of 'bounds', 'drop', 'collapse'"),
        ({"composition": "known"}, "composition='known' is not one of"),
        ({"variance": "both"}, "variance='both' is not one of"),
        ({"benchmark_scale": "log"}, "benchmark_scale='log' is not one of"),
        ({"smoothing": -1.0}, "smoothing=-1.0 must be a number, 0 or larger"),
        ({"smoothing": 1.0}, "smoothing=1.0 is for a population of margins"),
        ({"finite": 1}, "finite=1 must be True or False"),
        ({"seed": -1}, "seed must be a whole number, 0 or larger; got -1"),
        ({"finite": True, "benchmark": 0.5}, "finite=True and benchmark= cannot be had together"),
        ({"benchmark": 1.5}, r"benchmark of 'acc', 'all': 1.5 lies outside the range of the metric, \[0, 1\]"),
        ({"benchmark": {"tpr": 0.5}}, "benchmark: there is no metric 'tpr'; known: 'acc'"),
        ({"benchmark": {"acc": {"type=E": 0.5}}}, "there is no target 'type=E'"),
        ({"benchmark": {"acc": (0.5, -1)}}, r"expected a number, or \(total, standard error\)"),
        ({"benchmark": {"acc": "half"}}, "expected a number, or"),
    ],
)
def test_settings_that_do_not_exist(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.poststratify(schools(), POPULATION, **arguments)


def test_a_population_that_is_a_report(report: xr.DataTree) -> None:
    with pytest.raises(bg.InputError, match="population: got a report; give a tally"):
        bg.poststratify(report, report)
    with pytest.raises(bg.SchemaError, match="got int"):
        bg.poststratify(3, POPULATION)  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="PopulationSample: prior=-1 must be a number, 0 or larger"):
        bg.PopulationSample(POPULATION, prior=-1)
    for name, fix in (("tpr", "no metric 'tpr' to count its denominators by"),):
        other = bg.tally_from_counts([1, 1, 1], [2, 2, 2], SCHOOLS, metric=name)
        with pytest.raises(bg.InputError, match=fix.replace("tpr", "acc")):
            bg.poststratify(schools(), other, population_of="denominator")


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (POPULATION.assign(count=[0.7, 0.1, 0.2]), "needs the numbers of people in the population, whole numbers"),
        (POPULATION.assign(count=[100, 755, 1018]), "'E' has 100 people in the population and 142 were evaluated"),
        (bg.PopulationSample(POPULATION), "needs the numbers of people"),
        ({("type",): POPULATION}, "needs the numbers of people"),
    ],
)
def test_finite_populations_need_numbers_of_people(population: Any, message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.poststratify(schools(), population, finite=True)


def test_finite_populations_need_plain_rows_and_undivided_cells() -> None:
    regions = pd.concat([POPULATION.assign(region=name) for name in ("north", "south")])
    with pytest.raises(
        bg.InputError, match="the population splits subgroup 'E' by columns that the evaluation has not"
    ):
        bg.poststratify(schools(), regions, by=["region"], finite=True)
    frame = pd.DataFrame({"type": list("EHM") * 4, "w": [1.0, 2.0] * 6, "right": [0, 1, 1] * 4})
    weighted = bg.tally(frame, ["type"], ["correct"], correct="right", weights="w")
    with pytest.raises(bg.InputError, match="metric 'correct' has weighted or clustered rows"):
        bg.poststratify(weighted, POPULATION, finite=True)
    with pytest.raises(
        bg.InputError, match="variance='survey': metric 'correct' has weighted or clustered rows, and the factor"
    ):
        bg.poststratify(weighted, POPULATION, variance="survey")
    estimates = bg.tally_from_estimates([0.1, 0.2, 0.3], [0.1] * 3, SCHOOLS)
    with pytest.raises(bg.InputError, match="is of kind 'estimate'; expected a rate or a mean"):
        bg.poststratify(estimates, POPULATION, finite=True)
    with pytest.raises(
        bg.InputError, match="population='rows': metric 'estimate' was published without numbers of rows"
    ):
        bg.poststratify(estimates, "rows")
    with pytest.raises(
        bg.InputError, match="benchmark_scale='logit' is for rates and 'estimate' is of kind 'estimate'"
    ):
        bg.poststratify(estimates, POPULATION, benchmark=0.2)
    people = FinitePopulation(np.ones(1), np.ones(1), np.ones(1), 0.0)
    with pytest.raises(ValueError, match="others must be whole numbers, 0 or larger"):
        values_with_others(np.ones((2, 1)), people, np.array([-1.0]), np.random.default_rng(1), rates=True)


def rows() -> pd.DataFrame:
    """Rows with outcome, decision and score."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "type": rng.choice(list("EHM"), 90),
            "y": rng.integers(0, 2, 90),
            "d": rng.integers(0, 2, 90),
            "s": rng.random(90),
        }
    )


@pytest.mark.parametrize(
    ("metric", "counted"),
    [
        ("fnr", "positives"),
        ("fpr", "negatives"),
        ("ppv", "selected"),
        ("npv", "not_selected"),
        ("tpr[1]", "denominator"),
    ],
)
def test_weights_of_people_are_refused_for_metrics_of_some_people(metric: str, counted: str) -> None:
    tally = bg.tally(rows(), ["type"], [metric], y_true="y", y_pred="d")
    with pytest.raises(
        bg.InputError, match=rf"averages over .* and the population counts people.*population_of='{counted}'"
    ):
        bg.poststratify(tally, POPULATION)
    answered = bg.poststratify(tally, POPULATION, population_of=counted)  # type: ignore[arg-type]
    assert np.isfinite(float(answered["estimates"].to_dataset()["estimate"].values[1, 0, 0]))
    bg.poststratify(tally, "rows")


def test_metrics_that_are_no_means_of_cells() -> None:
    scored = bg.tally(rows(), ["type"], ["auc"], y_true="y", y_score="s")
    with pytest.raises(bg.InputError, match="an AUC over several subgroups is no mean of theirs"):
        bg.poststratify(scored, "rows")
    f1 = bg.tally(rows(), ["type"], ["f1"], y_true="y", y_pred="d")
    with pytest.raises(
        bg.InputError, match="an F1 score over several subgroups is no mean of theirs; give a tally with confusion"
    ):
        bg.poststratify(f1, "rows")
    two = bg.tally(rows(), ["type"], ["fnr", "acc"], y_true="y", y_pred="d", confusion=True)
    with pytest.raises(
        bg.InputError, match="'fnr' averages over positives: finite=True and benchmark= need sizes of them"
    ):
        bg.poststratify(two, POPULATION, finite=True)
    with pytest.raises(bg.InputError, match=r"there are the metrics \['fnr', 'acc'\]; say whose total it is"):
        bg.poststratify(bg.tally(rows(), ["type"], ["fnr", "acc"], y_true="y", y_pred="d"), "rows", benchmark=0.5)
    plain = bg.estimate(two, bg.NoPooling(), seed=1)
    with pytest.raises(bg.InputError, match="'fnr' averages over positives .* for draws a report of bg.ConfusionModel"):
        bg.poststratify(plain, POPULATION)


def test_a_source_that_failed_its_diagnostics(report: xr.DataTree) -> None:
    failed = report.copy()
    failed.attrs = {**report.attrs, "usable": 0}
    with pytest.raises(bg.NotUsableError, match="the source is not usable"):
        bg.poststratify(failed, POPULATION, strict=True)
    assert bg.poststratify(failed, POPULATION).attrs["usable"] == 0


def test_questions_that_need_disjoint_subgroups_refuse_targets(report: xr.DataTree) -> None:
    target = bg.poststratify(report, POPULATION, by=["type"])
    table = target["constant_data"].to_dataset()
    questions: list[Any] = [
        lambda: bg.estimate(table, bg.NoPooling(), seed=1), lambda: bg.disparity(target), lambda: bg.ranks(target),
        lambda: bg.discoveries(target), lambda: bg.between_group_variance(table), lambda: bg.prior_sensitivity(target),
        lambda: bg.add_groups(target, ["prior"]), lambda: bg.variance_attribution(target),
        lambda: bg.poststratify(target, POPULATION), lambda: bg.poststratify(table, POPULATION),
        lambda: bg.certify(target, using="tally"), lambda: bg.simultaneous_intervals(table),
        lambda: plots.certification(target), lambda: plots.disparity_posterior(target), lambda: bg.maihda(target),
        lambda: bg.maihda(table),
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(bg.InputError, match="needs subgroups that do not overlap"):
            question()
    assert float(bg.certify(target)["pessimist"][0]) < 0.5
    assert bg.simultaneous_intervals(target)["lower"].shape == (1, 4)
