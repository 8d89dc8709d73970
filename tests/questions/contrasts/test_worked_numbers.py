"""Contrasts of the worked example: four subgroups, every reference, both approaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.contrasts.scales import Scale

GOLDEN = Path(__file__).parents[2] / "golden" / "targets"
NUMBERS: dict[str, Any] = json.loads((GOLDEN / "targets.json").read_text(encoding="utf-8"))
SURVEY: dict[str, Any] = json.loads((GOLDEN / "contrasts.json").read_text(encoding="utf-8"))
DRAWN: dict[str, Any] = json.loads((GOLDEN / "extra.json").read_text(encoding="utf-8"))["ex_n_jeffreys"]
BEST: dict[str, Any] = json.loads((GOLDEN / "more.json").read_text(encoding="utf-8"))["best_ex_n"]
WHO = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
SCALES: tuple[Scale, ...] = ("difference", "ratio", "odds_ratio")
DID = {"gap": {"A | f": 1, "A | m": -1, "B | f": -1, "B | m": 1}}


def example() -> xr.Dataset:
    return bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], WHO, metric="sel")


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    """Independent Jeffreys posteriors."""
    return bg.estimate(example(), bg.NoPooling(), seed=1)


def part(answer: xr.Dataset, scale: str, approach: str = "frequentist") -> xr.Dataset:
    return answer.sel(scale=scale, approach=approach, metric="sel")


def limits(answer: xr.Dataset, at: int = 0) -> list[float]:
    return [float(answer[name].values[at]) for name in ("lower", "upper")]


@pytest.mark.parametrize("reference", ["overall", "rest"])
def test_everyone(reference: str) -> None:
    answer = bg.contrasts(example(), reference, scale=SCALES)
    gap = part(answer, "difference")
    expected = np.array(SURVEY[f"minus_{reference}"])
    np.testing.assert_allclose(gap["estimate"], expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(gap["std_error"], expected[:, 1], atol=1e-12)
    assert limits(gap, 2) == pytest.approx(NUMBERS["N2_references"][f"B|f_minus_{reference}_mover"], abs=1e-9)
    if reference == "rest":
        assert limits(part(answer, "ratio"), 2) == pytest.approx(
            NUMBERS["N2_references"]["B|f_over_rest_mover"], abs=1e-9
        )


def test_delta_of_the_ratio_to_everyone() -> None:
    answer = part(bg.contrasts(example(), scale="ratio", interval="delta"), "ratio").isel(contrast=2)
    numbers = [float(answer[name]) for name in ("estimate", "std_error", "lower", "upper")]
    assert numbers == pytest.approx(NUMBERS["N2_references"]["B|f_over_overall"], abs=1e-9)


def test_ratio_to_everyone_is_that_to_the_rest_transformed() -> None:
    """r = q / (w q + 1 - w), where q is the ratio to everyone else and w the share of the subgroup."""
    everyone, rest = (part(bg.contrasts(example(), name), "ratio") for name in ("overall", "rest"))
    share = np.array([60, 150, 40, 25]) / 275
    for name in ("estimate", "lower", "upper"):
        q = rest[name].values
        np.testing.assert_allclose(everyone[name], q / (share * q + 1 - share), rtol=1e-12)


@pytest.mark.parametrize(
    ("scale", "interval", "name"),
    [
        ("difference", "auto", "newcombe_diff"), ("difference", "score", "miettinen_nurminen_diff"),
        ("ratio", "auto", "koopman_ratio"), ("ratio", "delta", "katz_ratio"), ("odds_ratio", "auto", "score_odds_mn"),
        ("odds_ratio", "delta", "woolf_odds"),
    ],
)  # fmt: skip
def test_two_cells(scale: Any, interval: Any, name: str) -> None:
    for key, labels in (("(18, 40, 30, 150)", ("B | f", "A | m")), ("(6, 25, 18, 40)", ("B | m", "B | f"))):
        answer = part(bg.contrasts(example(), labels[1], of=labels[0], scale=scale, interval=interval), scale)
        assert limits(answer) == pytest.approx(NUMBERS["N3_two_rates"][key][name][-2:], abs=1e-8)


def test_dunnett_against_one_subgroup() -> None:
    answer = part(bg.contrasts(example(), "A | m"), "difference")
    assert float(answer["critical_value"]) == pytest.approx(NUMBERS["N9_simultaneous"]["critical_value"], abs=1e-9)
    assert answer["interval_method"].values.tolist() == ["newcombe"] * 3
    width = answer["upper"] - answer["lower"]
    assert (answer["upper_simultaneous"] - answer["lower_simultaneous"] > width).all()
    assert (answer["p_value_adjusted"] >= answer["p_value"]).all()


def test_best() -> None:
    answer = part(bg.contrasts(example(), "best"), "difference")
    np.testing.assert_allclose(answer["lower"], BEST["lower"], atol=1e-9)
    np.testing.assert_allclose(answer["upper"], BEST["upper"], atol=1e-9)
    assert np.flatnonzero(answer["may_be_best"]).tolist() == BEST["candidates"]
    np.testing.assert_allclose(answer["estimate"], [-0.15, -0.25, 0.15, -0.21], atol=1e-12)
    assert str(answer["interval_kind"].values) == "simultaneous"
    assert np.isnan(answer["p_value"]).all()


def test_within_strata() -> None:
    answer = bg.contrasts(example(), {"sex": "m"}, within="race")
    expected = NUMBERS["N5_standardised"]
    gap, ratio = part(answer, "difference"), part(answer, "ratio")
    assert answer["contrast"].values.tolist() == [
        "sex=f against sex=m at equal race", "sex=f against sex=m, race=A", "sex=f against sex=m, race=B",
    ]  # fmt: skip
    assert answer["race"].values.tolist() == ["(all)", "A", "B"]
    assert float(gap["estimate"][0]) == pytest.approx(expected["difference"], abs=1e-12)
    assert float(gap["std_error"][0]) == pytest.approx(SURVEY["standardised"][1], abs=1e-12)
    assert limits(gap) == pytest.approx(expected["mover"], abs=1e-9)
    assert float(ratio["estimate"][0]) == pytest.approx(expected["ratio"], abs=1e-12)
    crude = part(bg.contrasts(example(), {"sex": "m"}), "difference")
    assert float(crude["estimate"][0]) == pytest.approx(expected["crude_difference"], abs=1e-12)


def test_difference_of_differences() -> None:
    answer = bg.contrasts(example(), contrasts=DID, scale=SCALES)
    expected = NUMBERS["N6_difference_in_differences"]
    gap, ratio, odds = (part(answer, scale).isel(contrast=0) for scale in SCALES)
    assert [float(gap["estimate"]), float(gap["std_error"])] == pytest.approx(
        [expected["value"], expected["se"]], abs=1e-12
    )
    assert [float(gap["lower"]), float(gap["upper"])] == pytest.approx(expected["mover"], abs=1e-9)
    assert [float(ratio["estimate"]), float(ratio["std_error"])] == pytest.approx(
        [expected["ratio_of_ratios"], expected["ratio_of_ratios_se_log"]], abs=1e-12
    )
    assert [float(odds["estimate"]), float(odds["std_error"])] == pytest.approx(
        [expected["ratio_of_odds_ratios"], expected["se_log"]], abs=1e-12
    )


def test_four_fifths() -> None:
    answer = part(bg.contrasts(example(), "B | f", of="B | m"), "ratio").isel(contrast=0, threshold=0)
    expected = NUMBERS["N8_four_fifths"]
    assert float(answer["estimate"]) == pytest.approx(expected["ratio"], abs=1e-12)
    assert float(answer["p_value_threshold"]) == pytest.approx(expected["p_value_ratio_at_least_0.8"], abs=1e-9)


def test_posterior(report: xr.DataTree) -> None:
    """4,000 draws against the worked numbers from millions: within four Monte Carlo errors."""
    answer = part(bg.contrasts(report, thresholds={"ratio": (0.8,)}), "difference", "bayesian")
    error = np.array(DRAWN["minus_overall_sd"]) / np.sqrt(4000)
    assert (np.abs(answer["estimate"] - DRAWN["minus_overall_mean"]) < 4 * error).all()
    np.testing.assert_allclose(answer["std_error"], DRAWN["minus_overall_sd"], rtol=0.06)
    p = 1 - np.array(DRAWN["P_worse_than_overall_if_smaller_is_better"])  # selected: larger is better
    assert (np.abs(answer["probability_worse"] - p) < 4 * np.sqrt(p * (1 - p) / 4000) + 1e-3).all()
    assert float(answer["critical_value"]) == pytest.approx(DRAWN["sup_t_0.95"], abs=0.08)
    ratio = part(bg.contrasts(report), "ratio", "bayesian").isel(contrast=2)
    np.testing.assert_allclose(
        [float(ratio[name]) for name in ("lower", "median", "upper")],
        DRAWN["ratio_B|f_to_overall_quantiles"],
        rtol=0.02,
    )


def test_posterior_of_pairs_and_contrasts(report: xr.DataTree) -> None:
    four = part(bg.contrasts(report, "B | f", of="B | m"), "ratio", "bayesian").isel(contrast=0)
    expected = NUMBERS["N8_four_fifths"]
    assert float(four["probability_beyond"][0]) == pytest.approx(
        expected["P_ratio_below_0.8_jeffreys_exact"], abs=0.025
    )
    assert float(four["probability_worse"]) == pytest.approx(expected["P_less_exact"], abs=0.015)
    equal = part(bg.contrasts(report, {"sex": "m"}, within="race"), "difference", "bayesian")
    mean, deviation, low, high = DRAWN["standardised_difference"]
    assert float(equal["estimate"][0]) == pytest.approx(mean, abs=4 * deviation / 63)
    assert limits(equal) == pytest.approx([low, high], abs=0.012)
    gap = part(bg.contrasts(report, contrasts=DID), "difference", "bayesian").isel(contrast=0)
    assert float(gap["estimate"]) == pytest.approx(DRAWN["difference_in_differences"][0], abs=0.009)
    best = part(bg.contrasts(report, "best"), "difference", "bayesian")
    np.testing.assert_allclose(best["estimate"], DRAWN["minus_best_of_draw_mean"], atol=0.008)
    np.testing.assert_allclose(best["probability_best"], DRAWN["P_best"], atol=0.02)
    assert np.isnan(best["probability_worse"]).all()
    assert (best["upper_simultaneous"] <= 0).all()
