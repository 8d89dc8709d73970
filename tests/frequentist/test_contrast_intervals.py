"""Worked numbers of intervals for differences, ratios and contrasts, and their laws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesgroups.frequentist.intervals.comparisons_with_best import (
    LARGEST_TABLE,
    WithBest,
    critical_values,
    with_best,
)
from bayesgroups.frequentist.intervals.interval import Interval, t_quantile
from bayesgroups.frequentist.intervals.linear_contrasts import (
    difference_factor,
    freedom,
    log_ratio_factor,
    weighted_sum,
)
from bayesgroups.frequentist.intervals.many_to_one import dunnett
from bayesgroups.frequentist.intervals.odds_ratios import odds_ratio_statistic, score_odds_ratio, woolf
from bayesgroups.frequentist.intervals.proportions import wilson_limits
from bayesgroups.frequentist.intervals.rate_differences import mover_difference, newcombe, score_difference
from bayesgroups.frequentist.intervals.rate_ratios import katz, mover_ratio, ratio_statistic, score_ratio
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum

GOLDEN = Path(__file__).parents[1] / "golden" / "targets"
NUMBERS: dict[str, Any] = json.loads((GOLDEN / "targets.json").read_text(encoding="utf-8"))
SURVEY: dict[str, Any] = json.loads((GOLDEN / "contrasts.json").read_text(encoding="utf-8"))
BEST: dict[str, Any] = json.loads((GOLDEN / "more.json").read_text(encoding="utf-8"))["best_ex_n"]
Z = float(stats.norm.ppf(0.975))
TABLES = NUMBERS["N3_two_rates"]
K, N = np.array([18.0, 30, 18, 6]), np.array([60.0, 150, 40, 25])
P, W = K / N, N / N.sum()
V = P * (1 - P) / (N - 1)


def _mover_ratio(k1: np.ndarray, n1: np.ndarray, k2: np.ndarray, n2: np.ndarray, z: float) -> Interval:
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = k1 / n1, k2 / n2
    return mover_ratio(a, wilson_limits(a, n1, z), b, wilson_limits(b, n2, z))


METHODS: dict[str, Callable[..., Interval]] = {
    "newcombe_diff": newcombe,
    "miettinen_nurminen_diff": score_difference,
    "mee_diff": lambda *table: score_difference(*table, corrected=False),
    "mover_ratio": _mover_ratio,
    "koopman_ratio": score_ratio,
    "miettinen_nurminen_ratio": lambda *table: score_ratio(*table, corrected=True),
    "katz_ratio": katz,
    "woolf_odds": woolf,
    "score_odds_mn": score_odds_ratio,
    "score_odds": lambda *table: score_odds_ratio(*table, corrected=False),
}


@pytest.mark.parametrize("name", METHODS)
def test_two_rates(name: str) -> None:
    """All tables of the worked numbers at once, so that a limit depends on its own table alone."""
    tables = [(json.loads(f"[{key[1:-1]}]"), row[name][-2:]) for key, row in TABLES.items() if name in row]
    columns = np.array([table for table, _ in tables], dtype=np.float64).T
    limits = METHODS[name](columns[0], columns[1], columns[2], columns[3], Z)
    expected = np.array([[float(end) for end in ends] for _, ends in tables]).T
    np.testing.assert_allclose(limits.lower, expected[0], atol=1e-9, rtol=1e-8)
    np.testing.assert_allclose(limits.upper, expected[1], atol=1e-9, rtol=1e-8)


def test_against_statsmodels() -> None:
    """Where statsmodels is right: not for its score interval of differences."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    for table in ((56, 70, 48, 80), (9, 10, 3, 10), (18, 40, 30, 150), (6, 25, 18, 40)):
        columns = [np.array([float(number)]) for number in table]
        for name, compare, method, correction in (
            ("newcombe_diff", "diff", "newcomb", False),
            ("koopman_ratio", "ratio", "score", False),
            ("miettinen_nurminen_ratio", "ratio", "score", True),
            ("katz_ratio", "ratio", "log", False),
            ("woolf_odds", "odds-ratio", "logit", False),
            ("score_odds_mn", "odds-ratio", "score", True),
        ):
            with np.errstate(invalid="ignore", divide="ignore"):
                expected = confint_proportions_2indep(
                    *table, compare=compare, method=method, correction=correction, alpha=0.05
                )
            limits = METHODS[name](*columns, Z)
            np.testing.assert_allclose([limits.lower[0], limits.upper[0]], expected, rtol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_reversing_mirrors(name: str) -> None:
    rng = np.random.default_rng(3)
    n1, n2 = rng.integers(1, 200, 300).astype(float), rng.integers(1, 200, 300).astype(float)
    k1, k2 = rng.binomial(n1.astype(int), 0.2).astype(float), rng.binomial(n2.astype(int), 0.3).astype(float)
    there_and_back = METHODS[name](k1, n1, k2, n2, Z), METHODS[name](k2, n2, k1, n1, Z)
    with np.errstate(divide="ignore"):
        turned = (
            (-there_and_back[1].upper, -there_and_back[1].lower)
            if name.endswith("diff")
            else (1 / there_and_back[1].upper, 1 / there_and_back[1].lower)
        )
    np.testing.assert_allclose(there_and_back[0].lower, turned[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(there_and_back[0].upper, turned[1], rtol=1e-6, atol=1e-8)


def test_score_limits_are_where_the_test_turns() -> None:
    table = (np.array([6.0, 5]), np.array([25.0, 56]), np.array([18.0, 0]), np.array([40.0, 29]))
    ratios = score_ratio(*table, Z)
    np.testing.assert_allclose(ratio_statistic(*table, ratios.lower), Z, rtol=1e-9)
    np.testing.assert_allclose(ratio_statistic(*table, ratios.upper)[:1], -Z, rtol=1e-9)
    odds = score_odds_ratio(*table, Z, corrected=False)
    np.testing.assert_allclose(odds_ratio_statistic(*table, odds.lower), Z, rtol=1e-9)


def test_statistic_at_four_fifths() -> None:
    statistic = ratio_statistic(np.array([6.0]), np.array([25.0]), np.array([18.0]), np.array([40.0]), 0.8)
    expected = NUMBERS["N8_four_fifths"]
    assert statistic[0] == pytest.approx(expected["score_z_at_0.8"], abs=1e-12)
    assert stats.norm.cdf(statistic[0]) == pytest.approx(expected["p_value_ratio_at_least_0.8"], abs=1e-12)


def test_nothing_known() -> None:
    """No rows on a side is no limit; no success on any side is no bound of a ratio."""
    zero, five, nothing = np.zeros(1), np.full(1, 5.0), np.zeros(1)
    for method in METHODS.values():
        limits = method(zero, nothing, zero, five, Z)
        assert np.isnan(limits.lower).all()
        assert np.isnan(limits.upper).all()
    for name in ("koopman_ratio", "score_odds", "mover_ratio"):
        limits = METHODS[name](zero, five, zero, five, Z)
        assert (limits.lower[0], limits.upper[0]) == (0.0, np.inf)
    full = score_odds_ratio(five, five, five, five, Z)
    assert (full.lower[0], full.upper[0]) == (0.0, np.inf)


def test_huge_counts() -> None:
    """Limits of 1e12 rows close in on the estimate from both sides."""
    many = np.array([1e12])
    centres = {"newcombe_diff": -0.1, "mee_diff": -0.1, "koopman_ratio": 0.75, "score_odds_mn": 9 / 14}
    for name, centre in centres.items():
        limits = METHODS[name](0.3 * many, many, 0.4 * many, many, Z)
        assert limits.lower[0] <= centre <= limits.upper[0]
        assert limits.upper[0] - limits.lower[0] < 1e-5


def _overall(rest: bool) -> np.ndarray:
    shares = np.tile(W, (4, 1))
    return (shares - np.diag(W)) / (1 - W[:, None]) if rest else shares


@pytest.mark.parametrize("rest", [False, True])
def test_minus_overall_and_rest(rest: bool) -> None:
    under = _overall(rest)
    factor = difference_factor(np.eye(4), under, V)
    answer = np.stack([P - weighted_sum(under, P), np.sqrt((factor**2).sum(axis=1))], axis=1)
    np.testing.assert_allclose(answer, SURVEY["minus_rest" if rest else "minus_overall"], atol=1e-12)


def test_ratio_to_overall_and_rest() -> None:
    factor = log_ratio_factor(np.eye(4), _overall(False), P, V)[2]
    expected = NUMBERS["N2_references"]["B|f_over_overall"]
    assert [P[2] / (W @ P), float(np.sqrt((factor**2).sum()))] == pytest.approx(expected[:2], abs=1e-12)
    rest = _overall(True)[2]
    limits = wilson_limits(P, N, Z)
    of_rest = Interval(*mover_sum(P, limits.lower, limits.upper, rest))
    mine = Interval(limits.lower[2], limits.upper[2])
    difference = mover_difference(P[2], mine, rest @ P, of_rest)
    ratio = mover_ratio(P[2], mine, rest @ P, of_rest)
    expected = NUMBERS["N2_references"]
    assert [difference.lower, difference.upper] == pytest.approx(expected["B|f_minus_rest_mover"], abs=1e-12)
    assert [float(ratio.lower), float(ratio.upper)] == pytest.approx(expected["B|f_over_rest_mover"], abs=1e-12)


def test_sums_of_signed_weights() -> None:
    limits = wilson_limits(P, N, Z)
    shares = np.array([210, 65]) / 275
    weights = np.array([[shares[0], -shares[0], shares[1], -shares[1]], [1, -1, -1, 1]])
    lower, upper = mover_sum(P, limits.lower, limits.upper, weights)
    np.testing.assert_allclose([lower[0], upper[0]], NUMBERS["N5_standardised"]["mover"], atol=1e-12)
    np.testing.assert_allclose([lower[1], upper[1]], NUMBERS["N6_difference_in_differences"]["mover"], atol=1e-12)
    np.testing.assert_allclose(weights @ P, [0.126, -0.11], atol=1e-12)
    factor = difference_factor(np.maximum(weights, 0), np.maximum(-weights, 0), V)
    expected = [SURVEY["standardised"][1], SURVEY["did"][1]]
    np.testing.assert_allclose(np.sqrt((factor**2).sum(axis=1)), expected, atol=1e-12)


def test_sum_of_saturated_rates_has_width() -> None:
    limits = wilson_limits(np.zeros(3), np.full(3, 10.0), Z)
    lower, upper = mover_sum(np.zeros(3), limits.lower, limits.upper, np.full(3, 1 / 3))
    assert lower == 0.0
    assert upper > 0.1
    lacking = mover_sum(np.array([0.1, np.nan]), np.zeros(2), np.ones(2), np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert np.isnan(lacking[0]).tolist() == [False, True]


def test_welch_is_scipys() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=9), rng.normal(size=23) * 3 + 1
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
    factor = np.sqrt(np.array([[first.var(ddof=1) / 9, second.var(ddof=1) / 23]]))
    half = t_quantile(0.9, freedom(factor, np.array([9.0, 23]))) * np.sqrt((factor**2).sum(axis=1))
    limits = first.mean() - second.mean() + half[0] * np.array([-1.0, 1.0])
    assert limits == pytest.approx([expected.low, expected.high], abs=1e-12)
    assert freedom(factor, np.array([np.inf, np.inf]))[0] == np.inf


def test_dunnett() -> None:
    expected = NUMBERS["N9_simultaneous"]
    control = dunnett(V[[0, 2, 3]], float(V[1]), 0.95)
    assert control == pytest.approx(expected["critical_value"], abs=1e-9)
    assert control == pytest.approx(SURVEY["dunnett"], abs=2e-4)  # mvtnorm simulates
    assert dunnett(V[:1], float(V[1]), 0.95) == pytest.approx(Z, abs=1e-9)
    assert control < expected["sidak3"] < expected["bonferroni3"]
    assert dunnett(np.ones(3), 1e-12, 0.95) == pytest.approx(expected["sidak3"], abs=1e-6)


def test_dunnett_of_a_noisy_reference() -> None:
    """A reference that varies much more than the others makes all comparisons nearly the same."""
    assert dunnett(np.full(50, 1e-4), 1.0, 0.95) == pytest.approx(Z, abs=0.05)


def _best_of_differences(estimates: np.ndarray, variances: np.ndarray, level: float) -> WithBest:
    """Limits of every value less the best of the others; larger is better."""
    difference = estimates[:, None] - estimates[None, :]
    scale = np.sqrt(variances[:, None] + variances[None, :])

    def pairwise(critical: np.ndarray) -> Interval:
        return Interval(difference - critical * scale, difference + critical * scale)

    return with_best(pairwise, critical_values(variances, level), equal=0.0)


def test_best() -> None:
    rates, rows = np.array([0.3, 0.2, 0.45, 0.24]), np.array([60, 150, 40, 25])
    example = _best_of_differences(rates, rates * (1 - rates) / (rows - 1), 0.95)
    assert example.limits.upper.round(6).tolist() == [0.056015, 0.0, 0.351087, 0.026265]
    assert example.candidates.tolist() == [True, False, True, True]
    answer = _best_of_differences(P, V, 0.95)
    np.testing.assert_allclose(answer.critical_values, BEST["critical_values"], atol=1e-9)
    assert np.flatnonzero(answer.candidates).tolist() == BEST["candidates"]
    np.testing.assert_allclose(answer.limits.lower, BEST["lower"], atol=1e-9)
    np.testing.assert_allclose(answer.limits.upper, BEST["upper"], atol=1e-9)
    alone = _best_of_differences(np.array([0.9, 0.1]), np.full(2, 1e-4), 0.95)
    assert alone.candidates.tolist() == [True, False]
    assert (alone.limits.lower[0], alone.limits.upper[1]) == (0.0, 0.0)


def test_critical_values_of_large_tables_are_conservative() -> None:
    at, beyond = (critical_values(np.ones(many), 0.95) for many in (LARGEST_TABLE, LARGEST_TABLE + 1))
    assert beyond[0] > at[0]
    assert beyond[0] - at[0] < 0.4
