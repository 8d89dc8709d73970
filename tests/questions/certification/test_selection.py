"""Statements that survive picking the most striking subgroup: bands, ranks, discoveries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.certification.false_discoveries import contrasts, step_up
from bayesgroups.questions.certification.multiplicity import adjust, correlated_critical_value, critical_value, max_t

WHO = pd.DataFrame({"site": ["a", "b", "c", "d", "e"]})


def counts(hits: list[int] | None = None, trials: list[int] | None = None, metric: str = "acc") -> xr.Dataset:
    return bg.tally_from_counts(hits or [900, 88, 7, 0, 60], trials or [1000, 100, 8, 0, 100], WHO, metric=metric)


def test_a_band_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal([0, 1, 2], np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 4]]), size=40_000)
    z = max_t(draws, np.array([0.0, 1, 2]), np.array([1.0, 1, 2]), 0.9)
    inside = (np.abs((draws - [0, 1, 2]) / [1, 1, 2]) <= z).all(axis=1).mean()
    assert inside == pytest.approx(0.9, abs=1e-4)
    assert critical_value("none", 0.9, 1, 2) < z < critical_value("bonferroni", 0.9, 3, 2)


def test_sides_of_max_t() -> None:
    draws = np.array([[0.0], [1.0], [2.0], [10.0]])
    assert max_t(draws, np.zeros(1), np.ones(1), 0.5, "above") == 1.5
    assert max_t(draws, np.zeros(1), np.ones(1), 0.5, "below") == -1.5
    assert max_t(draws, np.zeros(1), np.zeros(1), 0.95, "above") == pytest.approx(1.644854, abs=1e-6)


def test_correlated_critical_values() -> None:
    rng = np.random.default_rng(1)
    assert correlated_critical_value(np.eye(10), 0.95, rng) == pytest.approx(
        critical_value("simultaneous", 0.95, 10), abs=0.04
    )
    assert correlated_critical_value(np.eye(10), 0.95, rng, 2) == pytest.approx(
        critical_value("simultaneous", 0.95, 10, 2), abs=0.04
    )


def test_sidak_adjusts_as_its_critical_value() -> None:
    p = np.array([0.0102, 0.5, np.nan, 0.9, 0.2, 0.3])
    assert adjust(p, "simultaneous")[0] == pytest.approx(1 - (1 - 0.0102) ** 5)
    assert np.isnan(adjust(p, "simultaneous")[2])
    assert np.array_equal(adjust(p, "none"), p, equal_nan=True)


@pytest.mark.parametrize("using", ["tally", "posterior", "bootstrap"])
def test_bands_of_every_origin(using: str) -> None:
    report = bg.estimate(counts(), bg.NoPooling(bootstrap=2000), seed=1)
    band = bg.simultaneous_intervals(report, using=using).isel(metric=0)  # type: ignore[arg-type]
    single = bg.simultaneous_intervals(report, using=using, level=0.8).isel(metric=0)  # type: ignore[arg-type]
    defined = np.array([True, True, True, False, True])
    if using == "posterior":  # the prior answers for the empty subgroup, or nobody does
        defined = np.isfinite(band["estimate"].values)
    assert np.array_equal(np.isfinite(band["lower"].values), defined)
    assert (band["lower"] <= single["lower"]).values[defined].all()
    assert (band["upper"] >= single["upper"]).values[defined].all()
    assert float(band["critical_value"]) == pytest.approx(2.49, abs=0.25)  # Sidak's for four is 2.491
    assert band["interval_kind"] == ("simultaneous credible" if using == "posterior" else "simultaneous")
    assert ((band["lower"] >= 0) & (band["upper"] <= 1)).values[defined].all()


def test_bands_of_margins_are_narrower_than_sidak() -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    table = bg.tally_from_counts([80, 70, 30, 45], [100, 100, 50, 50], who, metric="acc")
    found = bg.simultaneous_intervals(table, margins=True)
    assert float(found["critical_value"][0]) < critical_value("simultaneous", 0.95, 8, 2)


def test_ranks_of_clear_and_unclear_subgroups() -> None:
    found = bg.ranks(counts()).isel(metric=0)
    # The one without rows has no rank; the one with eight rows could be anywhere; the last is last or before it.
    assert found["rank"].values.tolist()[:3] == [1, 2, 3]
    assert np.isnan(found["rank"].values[3])
    assert (found["lower"].values[2], found["upper"].values[2]) == (1, 4)
    assert (found["lower"].values[4], found["upper"].values[4]) == (3, 4)
    turned = bg.ranks(counts(), larger_is_better=False).isel(metric=0)
    assert turned["rank"].values.tolist()[4] == 1


def test_equal_subgroups_have_no_order() -> None:
    found = bg.ranks(counts([50] * 5, [100] * 5)).isel(metric=0)
    assert found["rank"].values.tolist() == [3.0] * 5
    assert (found["lower"].values.tolist(), found["upper"].values.tolist()) == ([1.0] * 5, [5.0] * 5)


def test_posterior_ranks() -> None:
    report = bg.estimate(counts([990, 900, 800, 700, 600], [1000] * 5), bg.NoPooling(), seed=1)
    found = bg.ranks(report).isel(metric=0)
    assert found["rank"].values.tolist() == [1, 2, 3, 4, 5]
    assert found["lower"].values.tolist() == found["upper"].values.tolist() == [1, 2, 3, 4, 5]
    assert found["probability_best"].values.tolist() == [1, 0, 0, 0, 0]
    assert found["probability_worst"].values.tolist() == [0, 0, 0, 0, 1]


def test_many_subgroups_use_bonferroni() -> None:
    who = pd.DataFrame({"site": np.arange(250)})
    found = bg.ranks(bg.tally_from_counts([5] * 250, [10] * 250, who))
    assert float(found["critical_value"][0]) == pytest.approx(critical_value("bonferroni", 0.95, 250 * 249 // 2, 2))


def test_rank_limits_hold_together() -> None:
    """All limits contain the true ranks in 95 % of tables, here where neighbours differ by one standard error."""
    rng = np.random.default_rng(2)
    truth = np.array([0.7, 0.73, 0.76, 0.79, 0.82])
    held = []
    for _ in range(120):
        hits = rng.binomial(200, truth)
        found = bg.ranks(counts(hits.tolist(), [200] * 5)).isel(metric=0)
        true = np.array([5, 4, 3, 2, 1])
        held.append(bool(((found["lower"].values <= true) & (true <= found["upper"].values)).all()))
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 120)


def test_contrasts_of_a_margin_take_everyone_else() -> None:
    weight = np.array([6.0, 4.0, 10.0, 16.0])  # three intersections, and the first and third together
    rest = contrasts(weight, np.array([True, True, True, False]), "rest")
    values = np.array([0.5, 0.8, 0.9, (6 * 0.5 + 10 * 0.9) / 16])
    assert (rest @ values)[3] == pytest.approx(0.8 - values[3])
    assert (rest @ values)[0] == pytest.approx((4 * 0.8 + 10 * 0.9) / 14 - 0.5)


def test_discoveries_by_reference() -> None:
    table = counts([900, 880, 7, 0, 700], [1000, 1000, 8, 0, 1000])
    overall = bg.discoveries(table, 0.05).isel(metric=0)
    assert overall["discovered"].values.tolist() == [0, 0, 0, 0, 1]
    assert overall["method"] == "benjamini_hochberg"
    assert float(overall["gap"][4]) == pytest.approx((900 + 880 + 7 + 700) / 3008 - 0.7)
    fixed = bg.discoveries(table, reference=0.85).isel(metric=0)
    assert float(fixed["gap"][4]) == pytest.approx(0.15)
    rest = bg.discoveries(table, reference="rest").isel(metric=0)
    assert float(rest["gap"][4]) > float(overall["gap"][4])
    # A rate of errors is worse where it is larger.
    errors = bg.discoveries(counts([100, 120, 1, 0, 300], [1000, 1000, 8, 0, 1000], "fnr"), 0.05).isel(metric=0)
    np.testing.assert_allclose(errors["gap"], overall["gap"])
    assert errors["discovered"].values.tolist() == [0, 0, 0, 0, 1]


def test_discoveries_from_draws() -> None:
    report = bg.estimate(counts([900, 880, 7, 0, 700], [1000, 1000, 8, 0, 1000]), bg.NoPooling(bootstrap=500), seed=1)
    found = bg.discoveries(report, 0.05).isel(metric=0)
    assert found["discovered"].values[4] == 1
    assert found["discovered"].values[0] == 0
    assert 0 <= float(found["expected_false"]) <= 0.05 * float(found["number"])
    resampled = bg.discoveries(report, 0.05, using="bootstrap").isel(metric=0)
    assert resampled["discovered"].values.tolist() == [0, 0, 0, 0, 1]
    with_margins = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    crossed = bg.tally_from_counts([900, 890, 900, 600], [1000] * 4, with_margins, metric="acc")
    table = bg.discoveries(crossed, margins=True).isel(metric=0)
    assert table["method"] == "benjamini_yekutieli"
    assert set(table["subgroup"].values[table["discovered"].values == 1]) == {"b | m", "b | (all)", "(all) | m"}


def test_the_share_of_false_discoveries_is_as_expected() -> None:
    """Posterior expectation and truth, where the truth is drawn from the prior: 10 tables of 60 subgroups."""
    rng = np.random.default_rng(3)
    who = pd.DataFrame({"site": np.arange(60)})
    false = expected = number = 0.0
    for _ in range(10):
        truth = rng.beta(20, 5, 60)
        hits = rng.binomial(40, truth)
        report = bg.estimate(bg.tally_from_counts(hits, [40] * 60, who, metric="acc"), bg.PartialPooling(), seed=1)
        found = bg.discoveries(report, 0.02, reference=0.8, error=0.2).isel(metric=0)
        chosen = found["discovered"].values == 1
        false += float((0.8 - truth[chosen] <= 0.02).sum())
        expected += float(found["expected_false"])
        number += float(found["number"])
    assert number > 30
    assert expected / number <= 0.2
    assert false / number == pytest.approx(expected / number, abs=0.1)


def test_benjamini_hochberg_steps_up() -> None:
    p = np.array([0.001, 0.019, 0.0375, 0.05, 0.9])
    assert step_up(p, 0.05, dependent=False).tolist() == [True, True, False, False, False]
    assert not step_up(np.full(3, np.nan), 0.05, dependent=False).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": np.inf}, "tolerance=inf must be a finite number"),
        ({"error": 0.0}, "error=0.0 must lie strictly between 0 and 1"),
        ({"reference": "best"}, "reference='best' is not 'overall', 'rest' or a value"),
        ({"reference": True}, "reference=True is not 'overall', 'rest' or a value"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.discoveries(counts(), **settings)  # type: ignore[arg-type]
