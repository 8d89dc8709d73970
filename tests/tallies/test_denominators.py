"""Weights of subgroups in the value over all rows: rows and their weights, and not how much an estimate tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies.denominators import denominators


def answers() -> pd.DataFrame:
    """Answers about documents, many of each in one domain and one of each in the other, where they are worse."""
    rng = np.random.default_rng(0)
    parts = []
    for lang, domain, documents, each in (
        ("en", "law", 40, 1),
        ("en", "code", 4, 20),
        ("sw", "law", 40, 1),
        ("sw", "code", 2, 20),
    ):
        level = np.clip((0.3 if domain == "law" else 0.9) + rng.normal(0, 0.25, documents), 0.02, 0.98)
        for document, chance in enumerate(level):
            right = (rng.random(each) < chance).astype(int)
            parts.append(
                pd.DataFrame(
                    {"lang": lang, "domain": domain, "document": f"{lang} {domain} {document}", "right": right}
                )
            )
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(weight=rng.lognormal(0, 1, len(rows)))


ANSWERS = answers()
BY = ["lang", "domain"]


def tallied(by: list[str] = BY, **more: Any) -> xr.Dataset:
    return bg.tally(ANSWERS, by, "correct", correct="right", **more)


def of_rows(by: str, weights: str | None) -> pd.Series:
    """Means of rows by an attribute."""
    weight = ANSWERS[weights] if weights else pd.Series(1.0, index=ANSWERS.index)
    total = (ANSWERS["right"] * weight).groupby(ANSWERS[by]).sum()
    return total / weight.groupby(ANSWERS[by]).sum()


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "document"])
def test_they_are_rows_or_weights_and_no_effective_numbers(weights: str | None, cluster: str | None) -> None:
    tally = tallied(weights=weights, cluster=cluster)
    weight = ANSWERS[weights] if weights else pd.Series(1.0, index=ANSWERS.index)
    wanted = weight.groupby([ANSWERS[name] for name in BY]).sum()
    labels = list(zip(tally["lang"].values, tally["domain"].values, strict=True))
    np.testing.assert_allclose(denominators(tally.isel(metric=0)), [wanted[label] for label in labels])


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "document"])
def test_sums_over_subgroups_are_the_means_of_the_rows(weights: str | None, cluster: str | None) -> None:
    """Post-stratified to the rows, contrasts of margins, contrasts with everyone, margins."""
    tally = tallied(weights=weights, cluster=cluster)
    wanted = of_rows("lang", weights)
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    answer = (
        bg.poststratify(report, "rows", by=["lang"])["estimates"]
        .to_dataset()
        .sel(approach="frequentist")
        .isel(metric=0)
    )
    found = dict(zip(answer["subgroup"].values, answer["estimate"].values, strict=True))
    assert [found["lang=en"], found["lang=sw"]] == pytest.approx([wanted["en"], wanted["sw"]])
    for source in (tally, tallied(["lang"], weights=weights, cluster=cluster), report):
        contrast = bg.contrasts(source, {"lang": "en"}, scale="difference").isel(metric=0, contrast=0)
        difference = float(contrast["estimate"].sel(approach="frequentist").squeeze())
        assert difference == pytest.approx(wanted["sw"] - wanted["en"])


def test_disparity_by_population_is_about_the_mean_of_the_rows() -> None:
    tally = tallied(cluster="document")
    rows, rate = tally["rows"].values / tally["rows"].values.sum(), tally["estimate"].values[0]
    wanted = rows @ np.abs(rate - ANSWERS["right"].mean())
    found = bg.disparity(tally, ["mean_absolute_deviation"], weights="population")["value"]
    assert float(found.squeeze()) == pytest.approx(wanted)


def judged(weights: bool = False) -> tuple[pd.DataFrame, xr.Dataset]:
    """Judged answers of two languages, of which very different shares have a gold label."""
    rng = np.random.default_rng(4)
    parts = []
    for lang, number, share, labelled in (("en", 1000, 0.8, 0.05), ("sw", 500, 0.3, 0.5)):
        gold = (rng.random(number) < share).astype(float)
        judge = np.where(rng.random(number) < 0.9, gold, 1 - gold).astype(int)
        seen = np.where(rng.random(number) < labelled, gold, np.nan)
        parts.append(pd.DataFrame({"lang": lang, "gold": seen, "judge": judge, "w": rng.lognormal(0, 0.5, number)}))
    rows = pd.concat(parts, ignore_index=True)
    by, metrics, weight = ["lang"], ["prev", "tpr", "sel"], "w" if weights else None
    return rows, bg.tally(rows, by, metrics, y_true="gold", y_pred="judge", unlabelled="keep", weights=weight)


@pytest.mark.parametrize("weights", [False, True])
def test_few_labels_weigh_all_the_rows_that_they_stand_for(weights: bool) -> None:
    rows, tally = judged(weights)
    weight = rows["w"] if weights else pd.Series(1.0, index=rows.index)
    everybody = weight.groupby(rows["lang"]).sum().to_numpy()
    for metric in ("prev", "sel"):
        np.testing.assert_allclose(denominators(tally.sel(metric=metric)), everybody)
    positives = denominators(tally.sel(metric="tpr"))
    np.testing.assert_allclose(positives, everybody * tally["estimate"].sel(metric="prev").values)
    report = bg.estimate(tally.sel(metric=["prev"]), bg.NoPooling(), seed=1)
    table = bg.poststratify(report, "rows")["estimates"].to_dataset()
    answer = table["estimate"].sel(approach="frequentist").values.ravel()
    wanted = everybody @ tally["estimate"].sel(metric="prev").values / everybody.sum()
    assert np.isclose(answer, wanted).any()


def test_decisions_without_a_label_are_shared_out_evenly() -> None:
    rows = pd.DataFrame({"g": "a", "gold": [1.0, 0.0, np.nan, np.nan], "judge": [1, 1, 0, 0]})
    tally = bg.tally(rows, ["g"], ["tpr"], y_true="gold", y_pred="judge", unlabelled="keep")
    assert denominators(tally.isel(metric=0)).tolist() == [2.0]


def test_published_estimates_have_none() -> None:
    tally = bg.tally_from_estimates([0.1, 0.2], [0.01, 0.02], pd.DataFrame({"g": ["a", "b"]}))
    assert np.isnan(denominators(tally.isel(metric=0))).all()
