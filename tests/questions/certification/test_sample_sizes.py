"""Numbers of rows before they are collected, each checked by collecting simulated ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import (
    minimum_detectable_gap,
    probability_of_finding_worst,
    rows_to_certify,
    rows_to_narrow,
)
from bayesgroups.questions.certification.bounds import limits
from bayesgroups.questions.subgroup_values import Sample

Z = 1.6448536269514722
WHO = pd.DataFrame({"site": ["a", "b", "c"]})
DRAWS = 20_000


def counts(hits: list[int], trials: list[int], metric: str = "acc") -> xr.Dataset:
    return bg.tally_from_counts(hits, trials, WHO, metric=metric)


def exact_lower(hits: np.ndarray, trials: np.ndarray) -> np.ndarray:
    n = np.broadcast_to(trials, hits.shape).astype(float)
    nothing = np.full(hits.shape, np.nan)
    return limits(Sample(hits / n, n, hits.astype(float), nothing, nothing, np.nan), "clopper_pearson", Z).lower


@pytest.mark.parametrize("power", [0.8, 0.95])
def test_the_rows_certify_as_often_as_asked(power: float) -> None:
    """With Clopper-Pearson limits; whole numbers make the power of each subgroup go up and down by some percent."""
    table = counts([90, 171, 45], [100, 180, 50])
    found = rows_to_certify(table, 0.8, power=power).isel(metric=0)
    needed = found["needed"].values
    hits = np.random.default_rng(1).binomial(needed.astype(int), [0.9, 0.95, 0.9], size=(DRAWS, 3))
    certified = (exact_lower(hits, needed) > 0.8).all(axis=1).mean()
    assert certified == pytest.approx(power, abs=0.05)
    np.testing.assert_allclose(found["more"], np.maximum(needed - [100, 180, 50], 0))
    assert float(found["total"]) == float(found["more"].sum())


def test_errors_are_certified_from_above() -> None:
    right = rows_to_certify(counts([90, 171, 45], [100, 180, 50], "tpr"), 0.8)
    wrong = rows_to_certify(counts([10, 9, 5], [100, 180, 50], "fnr"), 0.2)
    np.testing.assert_allclose(right["needed"], wrong["needed"])


def test_what_is_not_true_is_never_certified() -> None:
    found = rows_to_certify(counts([90, 75, 0], [100, 100, 0]), 0.8).isel(metric=0)
    assert found["needed"].values[1] == np.inf
    assert np.isnan(found["needed"].values[2])
    assert float(found["total"]) == np.inf


def test_assumed_values_replace_estimates() -> None:
    table = counts([90, 5, 45], [100, 5, 50])
    report = bg.estimate(table, bg.PartialPooling(), seed=1)
    truth = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian")
    alone, shrunken = rows_to_certify(table, 0.8), rows_to_certify(table, 0.8, truth=truth)
    assert float(shrunken["needed"][0, 1]) > float(alone["needed"][0, 1])
    with pytest.raises(InputError, match="truth= must be a DataArray along metric and subgroup with metric 'acc'"):
        rows_to_certify(table, 0.8, truth=truth.isel(subgroup=[0]))


def test_means_are_certified_by_the_pooled_variance() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"site": np.repeat(["a", "b"], 500), "loss": rng.normal(1.0, 2.0, 1000)})
    table = bg.tally(frame, by=["site"], metrics=["mean"], loss="loss")
    truth = xr.full_like(table["estimate"], 1.0)
    needed = rows_to_certify(table, 1.5, truth=truth, power=0.81).isel(metric=0)["needed"].values
    error = np.sqrt(float(table["pooled_variance"][0]) / needed)
    means = 1.0 + error * rng.standard_normal((DRAWS, 2))
    assert (means + Z * error < 1.5).all(axis=1).mean() == pytest.approx(0.81, abs=0.02)


def test_the_widest_interval_is_halved() -> None:
    table = counts([450, 30, 9], [500, 50, 12])
    found = rows_to_narrow(table).isel(metric=0)
    now = np.sqrt(0.25 * 0.75 / 12)
    rates = np.array([0.9, 0.6, 0.75])
    then = np.sqrt(rates * (1 - rates) / np.maximum(found["needed"].values, [500, 50, 12]))
    assert then.max() <= now / 2
    assert then.max() > now / 2 * 0.97
    assert found["more"].values[0] == 0
    saturated = rows_to_narrow(counts([450, 30, 4], [500, 50, 4])).isel(metric=0)
    assert saturated["more"].values[2] == 12  # pooled variance: four times as many
    assert np.isnan(rows_to_narrow(counts([0, 0, 0], [0, 0, 0]))["needed"].values).all()


@pytest.mark.parametrize("correction", ["none", "bonferroni"])
def test_a_gap_of_that_size_is_found_as_often_as_asked(correction: str) -> None:
    table = counts([400, 240, 80], [500, 300, 100])
    found = minimum_detectable_gap(table, correction=correction).isel(metric=0)  # type: ignore[arg-type]
    gap = float(found["gap"][2])
    rng = np.random.default_rng(1)
    # Everyone else at .8 and the third subgroup a gap below; tested with pooled variance as the formula has it.
    truth, size = np.array([0.8, 0.8, 0.8 - gap]), np.array([500, 300, 100])
    estimate = truth + rng.standard_normal((DRAWS, 3)) * np.sqrt(0.16 / size)
    rest = estimate[:, :2] @ np.array([5 / 8, 3 / 8])
    z = Z if correction == "none" else 2.1280452341849843
    shown = (rest - estimate[:, 2]) > z * np.sqrt(0.16 * (1 / 100 + 1 / 800))
    assert shown.mean() == pytest.approx(0.8, abs=0.02)


def test_a_subgroup_alone_has_no_gap() -> None:
    assert np.isnan(minimum_detectable_gap(counts([400, 0, 0], [500, 0, 0]))["gap"].values).all()


def test_the_worst_is_found_as_often_as_computed() -> None:
    table = counts([170, 160, 45], [200, 200, 50])
    found = probability_of_finding_worst(table, factors=(1, 4, 16)).isel(metric=0)
    assert found["worst_subgroup"] == "b"
    rng = np.random.default_rng(1)
    for factor, expected in zip((1, 4, 16), found["probability"].values, strict=True):
        sizes = factor * np.array([200, 200, 50])
        rates = rng.binomial(sizes, [0.85, 0.8, 0.9], size=(DRAWS, 3)) / sizes
        lowest = rates == rates.min(axis=1, keepdims=True)
        simulated = (lowest / lowest.sum(axis=1, keepdims=True))[:, 1].mean()
        assert simulated == pytest.approx(float(expected), abs=0.015)
    errors = probability_of_finding_worst(counts([30, 40, 5], [200, 200, 50], "fnr"), factors=(1, 4, 16)).isel(metric=0)
    np.testing.assert_allclose(errors["probability"], found["probability"])
    nobody = probability_of_finding_worst(counts([0, 0, 0], [0, 0, 0])).isel(metric=0)
    assert nobody["worst_subgroup"] == ""


def test_what_makes_no_sense() -> None:
    table = counts([400, 240, 80], [500, 300, 100])
    with pytest.raises(InputError, match="power=1.0 must lie strictly between 0 and 1"):
        rows_to_certify(table, 0.8, power=1.0)
    with pytest.raises(InputError, match="level=0.0 must lie strictly between 0 and 1"):
        minimum_detectable_gap(table, level=0.0)
    with pytest.raises(InputError, match="standard=nan must be a finite value"):
        rows_to_certify(table, np.nan)
    with pytest.raises(InputError, match="factor=1.0 must lie strictly between 0 and 1"):
        rows_to_narrow(table, factor=1.0)
    with pytest.raises(InputError, match="must be positive numbers: how many times the rows"):
        probability_of_finding_worst(table, factors=(0.0,))
