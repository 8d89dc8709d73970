from __future__ import annotations

from typing import Any, get_args

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.metrics import NAMES
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.no_pooling import Interval
from bayesgroups.views.html import words

SITES = pd.DataFrame({"site": list("abcd")})


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_has_words(name: str) -> None:
    assert name in words._METRICS


ANSWERED = ("equal_tailed", "one_sided", "pooled_normal", "morris", "plug_in", "robust", "fab")


@pytest.mark.parametrize("method", [*(name for name in get_args(Interval) if name != "auto"), *ANSWERED])
def test_every_interval_has_words(method: str) -> None:
    assert method in words._INTERVALS


def test_metrics_of_a_class_name_it() -> None:
    rows = pd.DataFrame({"site": list("abab"), "y": ["cat", "dog", "cat", "cow"], "d": ["cat", "dog", "dog", "cow"]})
    tally = bg.tally(rows, by=["site"], metrics=["tpr[cat]"], y_true="y", y_pred="d")
    said = words.metric_words(tally, "tpr[cat]")
    assert said.title == "True positive rate of cat"
    assert "where cat is positive" in said.definition


def test_a_direction_that_nobody_gave_is_told_as_assumed() -> None:
    counts = bg.tally_from_counts([1, 2, 3, 4], [9, 9, 9, 9], SITES, metric="refusals")
    said = words.metric_words(counts, "refusals")
    assert (said.title, said.definition) == ("refusals", "successes out of trials")
    assert said.direction == "smaller is better, for no direction was given"
    told = bg.tally_from_counts([1, 2, 3, 4], [9, 9, 9, 9], SITES, metric="refusals", larger_is_better=True)
    assert words.metric_words(told, "refusals").direction == "larger is better"
    table = bg.tally_from_estimates([1, 2, 3, 4], [1, 1, 1, 1], SITES)
    assert words.metric_words(table, "estimate").definition == "estimates with their sampling variances, as published"


def test_n_is_said_to_be_what_it_is() -> None:
    rows = pd.DataFrame(
        {"site": list("ab") * 60, "doc": [i // 4 for i in range(120)], "w": [1.0, 2.0, 1.0] * 40,
         "y": [1, 1, 0, 1, 1, 1, 0, 0] * 15, "d": [1, 0, 0, 1, 1, 1] * 20}
    ).assign(gold=lambda rows: rows["y"].astype(float).where(rows.index % 3 == 0))  # fmt: skip

    def said(metric: str, y_true: str = "y", **more: Any) -> tuple[str, bool]:
        told = words.metric_words(bg.tally(rows, ["site"], metric, y_true=y_true, y_pred="d", **more), metric)
        return told.counted, told.effective

    effective, ending = "n is the effective number of ", ": so many independent ones tell as much"
    assert said("fnr") == ("n counts positives", False)
    assert said("acc", cluster="doc") == (f"{effective}rows, for rows of a cluster say in part the same{ending}", True)
    assert said("acc", cluster="doc", cluster_analysis="ignore") == ("n counts rows", False)
    assert said("acc", cluster="doc", cluster_analysis="mean") == (
        "n counts clusters, each of which counts once",
        False,
    )
    weighted = "rows have weights and rows of a cluster say in part the same"
    assert said("fnr", cluster="doc", weights="w") == (f"{effective}positives, for {weighted}{ending}", True)
    labels = {"y_true": "gold", "unlabelled": "keep"}
    assert said("prev", **labels) == (f"{effective}rows, for not every row has a label{ending}", True)
    assert said("sel", **labels) == ("n counts rows", False)
    assert said("judge_bias", **labels) == ("n counts rows with a label", False)
    pairs = bg.paired_tally(rows, ["site"], ["y", "d"])
    told = words.metric_words(pairs, "y - d")
    assert told.definition == "the mean of the values of y less those of d, over the items that both have"
    assert words.metric_words(pairs, "y").definition == "the mean of the values of y over the items that it has"


def test_of_targets_with_few_labels_n_is_effective() -> None:
    rows = pd.DataFrame({"site": list("ab") * 60, "gold": [1.0, None, 0.0, None, None, 1.0] * 20, "d": [1, 0, 0] * 40})
    tally = bg.tally(rows, ["site"], "prev", y_true="gold", y_pred="d", unlabelled="keep")
    targets = bg.poststratify(tally, "rows")["constant_data"].to_dataset()
    assert words.metric_words(targets, "prev").effective
    whole = bg.poststratify(bg.tally(rows, ["site"], "sel", y_pred="d"), "rows")["constant_data"].to_dataset()
    assert not words.metric_words(whole, "sel").effective


def test_a_signed_metric_has_no_direction_unless_it_is_given() -> None:
    rows = pd.DataFrame({"site": list("ab") * 4, "y": [1, 0] * 4, "d": [1, 1, 0, 0] * 2})
    tally = bg.tally(rows, ["site"], "judge_bias", y_true="y", y_pred="d")
    said = words.metric_words(tally, "judge_bias")
    assert said.direction == "0 is fair, and neither larger nor smaller values are better"
    given = bg.tally(rows, ["site"], "judge_bias", y_true="y", y_pred="d", larger_is_better=True)
    assert words.metric_words(given, "judge_bias").direction == "larger is better"


def test_priors_are_those_of_the_settings() -> None:
    counts = bg.tally_from_counts([1, 2, 3, 4], [9, 9, 9, 9], SITES, metric="fnr")

    def said(estimator: Estimator) -> str:
        return words.model_words(bg.estimate(counts, estimator, seed=1))[0]

    assert "centre ~ Normal(0, 1.5) and tau ~ HalfNormal(0.5)" in said(bg.PartialPooling())
    assert "centre ~ Normal(0, 3) and tau ~ HalfNormal(2)" in said(bg.PartialPooling(overall_scale=3, tau_scale=2))
    assert "centre ~ Normal(0.5, 0.5) and tau ~ HalfNormal(0.25)" in said(bg.PartialPooling(likelihood="normal"))
    assert "the prior of each subgroup is Beta(0.5, 0.5)" in said(bg.NoPooling())
    assert "normal likelihood" in said(bg.JamesStein())
    assert "flat priors of the centre and of the square of tau" in said(bg.JamesStein())
    assert "the prior of the one value is Normal(0.5, 2)" in said(bg.CompletePooling(likelihood="normal"))


def test_priors_of_the_confusion_model_say_what_follows_selection() -> None:
    who = pd.DataFrame(
        {"race": list("aabb") * 30, "sex": list("fm") * 60, "y": [0, 1, 1] * 40, "d": [0, 0, 1, 0, 0] * 24}
    )

    def said(by: list[str], **settings: Any) -> str:
        tally = bg.tally(who, by, ["sel", "fnr"], y_true="y", y_pred="d", confusion=True)
        return words.model_words(bg.estimate(tally, bg.ConfusionModel(**settings), seed=1))[0]

    follows = "outcomes where the decision is negative follow the selection rate, slope ~ Normal(0.3, 0.3)"
    assert "scale 0.5 for decisions and 0.2 for outcomes given them" in said(["race", "sex"])
    assert f"; {follows}, and a scale of 0.15 besides" in said(["race", "sex"])
    assert said(["race", "sex"], tau_scale=0.4).endswith(f"{follows}.")
    for by, settings in ((["race"], {}), (["race", "sex"], {"follow_selection": False, "own_effects": "learned"})):
        assert "follow" not in said(by, **settings)
    tally = bg.tally(who, ["race", "sex"], ["fnr"], y_true="y", y_pred="d", confusion=True)
    correlated = bg.ConfusionModel(correlated=True).describe_priors(tally)
    assert correlated.endswith("correlated across them with an LKJ prior")


def test_unknown_words_are_shown_as_they_are() -> None:
    report = xr.DataTree(xr.Dataset(attrs={"estimator": "james_<b>"}))
    assert words.estimator_words(report) == "Estimator james <b>."
    assert words.interval_words("new_method") == "new method"
