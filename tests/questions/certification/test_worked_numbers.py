"""Worked numbers of the functions behind certification."""

from __future__ import annotations

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.questions import subgroup_values
from bayesgroups.questions.certification import (
    bounds,
    false_discoveries,
    multiplicity,
    overlapping,
    published,
    rank_intervals,
    rank_shares,
    sample_sizes,
    worst,
)


def test_limits() -> None:
    k, n = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    nothing = np.full(4, np.nan)
    found = bounds.limits(subgroup_values.Sample(k / n, n, k, nothing, nothing, np.nan), "wald", 1.64)
    assert found.upper.round(6).tolist() == [0.9492, 0.989826, 0.955, 1.0]
    assert found.lower.round(6).tolist() == [0.8508, 0.810174, 0.545, 1.0]


def test_p_values() -> None:
    k, n = np.array([17.0, 2.0]), np.array([20.0, 2.0])
    nothing = np.full(2, np.nan)
    below, above = bounds.p_values(
        subgroup_values.Sample(k / n, n, k, nothing, nothing, np.nan), "clopper_pearson", 0.5
    )
    assert below.round(4).tolist() == [0.9998, 1.0]
    assert above.round(4).tolist() == [0.0013, 0.25]


def test_bayesian_discoveries() -> None:
    assert false_discoveries.bayesian_discoveries(np.array([0.99, 0.5, 0.93, np.nan, 0.97]), 0.05).tolist() == [
        True,
        False,
        True,
        False,
        True,
    ]


def test_step_up() -> None:
    p = np.array([0.01, 0.04, 0.03, np.nan, 0.9])
    assert false_discoveries.step_up(p, 0.05, dependent=False).tolist() == [True, False, False, False, False]
    assert false_discoveries.step_up(p, 0.05, dependent=True).tolist() == [False, False, False, False, False]


def test_contrasts() -> None:
    everyone = np.ones(2, dtype=bool)
    assert false_discoveries.contrasts(np.array([3.0, 1.0]), everyone, "overall").tolist() == [
        [-0.25, 0.25],
        [0.75, -0.75],
    ]
    assert false_discoveries.contrasts(np.array([3.0, 1.0]), everyone, "rest").tolist() == [[-1.0, 1.0], [1.0, -1.0]]


def test_critical_value() -> None:
    assert [
        round(multiplicity.critical_value(name, 0.95, 4), 6) for name in ("none", "bonferroni", "simultaneous")
    ] == [1.644854, 2.241403, 2.234002]


def test_correlated_critical_value() -> None:
    same = np.ones((5, 1))
    assert round(multiplicity.correlated_critical_value(same, 0.95, np.random.default_rng(1)), 1) == 1.6


def test_max_t() -> None:
    draws = np.random.default_rng(1).standard_normal((40000, 2))
    assert round(multiplicity.max_t(draws, np.zeros(2), np.ones(2), 0.95), 1) == 2.2


def test_adjust() -> None:
    p = np.array([0.01, 0.04, np.nan, 0.03])
    np.testing.assert_equal(
        (multiplicity.adjust(p, "holm").round(6).tolist(), multiplicity.adjust(p, "bonferroni").round(6).tolist()),
        ([0.03, 0.06, np.nan, 0.06], [0.03, 0.12, np.nan, 0.09]),
    )


def test_collapse() -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    counts = bg.tally_from_counts([9, 5, 4, 2], [10, 10, 5, 5], who)
    assert overlapping.collapse(counts, "race")["successes"].values.tolist() == [[13.0, 7.0]]


def test_overall() -> None:
    assert overlapping.overall(bg.tally_from_counts([9, 1], [10, 10], pd.DataFrame({"site": ["a", "b"]}))).tolist() == [
        0.5
    ]


def test_weighted_means() -> None:
    members = np.array([[True, True, True], [False, False, True]])
    assert overlapping.weighted_means(np.array([0.9, 0.6, 0.1]), np.array([10.0, 20, 0]), members).tolist() == [
        0.7,
        0.1,
    ]


def test_deviations() -> None:
    half = overlapping.deviations(
        np.array([0.2, 0.8]), np.array([50.0, 50.0]), 0.16, np.array([[True, True], [True, False]])
    )
    assert (half @ half.T).round(6).tolist() == [[0.0025, 0.0016], [0.0016, 0.0032]]


def test_equality_gap() -> None:
    assert published.equality_gap(np.array([0.15, 0.85]), 0.85).round(6).tolist() == 0.7


def test_size_weighted_gap() -> None:
    assert [
        published.size_weighted_gap(np.array([0.15]), np.array([share]), 0.85).round(6).tolist()
        for share in (0.01, 0.2)
    ] == [0.007, 0.14]


def test_differential_ratio() -> None:
    assert published.differential_ratio(np.array([[0.4, 0.8], [0.0, 0.8], [0.0, 0.0]])).round(4).tolist() == [
        0.6931,
        np.inf,
        0.0,
    ]


def test_share_beyond() -> None:
    assert published.share_beyond(np.array([0.15, 0.84, 0.9]), np.array([0.2, 0.5, 0.3]), 0.85, 0.1).tolist() == 0.2


def test_rank_limits() -> None:
    low, high = rank_intervals.rank_limits(np.array([0.9, 0.5, 0.45]), np.diag([0.0001, 0.0001, 0.01]), 2.4)
    assert low.tolist() == [1.0, 2.0, 2.0]
    assert high.tolist() == [1.0, 3.0, 3.0]


def test_critical_value_of_pairs() -> None:
    assert abs(rank_intervals.critical_value_of_pairs(np.eye(2), 0.95, np.random.default_rng(1)) - 1.96) < 0.1


def test_rank() -> None:
    np.testing.assert_equal(rank_shares.rank(np.array([0.3, 0.9, np.nan, 0.3])).tolist(), [2.5, 1.0, np.nan, 2.5])


def test_times_ranked() -> None:
    assert rank_shares.times_ranked(np.array([[0.9, 0.2, 0.2], [0.1, 0.2, 0.3]])).tolist() == [
        [1.0, 0.0, 1.0],
        [0.0, 1.5, 0.5],
        [1.0, 0.5, 0.5],
    ]


def test_rank_probabilities() -> None:
    assert rank_shares.rank_probabilities([np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])], 2).tolist() == [
        [0.75, 0.25],
        [0.25, 0.75],
    ]


def test_times_at_ends() -> None:
    best, worst = rank_shares.times_at_ends(np.array([[0.9, 0.2, 0.2], [0.1, 0.2, 0.3]]))
    assert best.tolist() == [1.0, 0.0, 1.0]
    assert worst.tolist() == [1.0, 0.5, 0.5]


def test_rank_summaries() -> None:
    summaries = rank_shares.rank_summaries([np.array([[0.9, 0.2], [0.3, 0.3]])], 2, 2, 0.95)
    assert dict(zip(rank_shares.SUMMARIES, summaries[:, 0].tolist(), strict=False))["expected_rank"] == 1.25
    assert summaries[-1].tolist() == [0.25, 0.75]


def test_rows_for_gap() -> None:
    np.testing.assert_equal(
        sample_sizes.rows_for_gap(
            np.array([0.1, 0.0, np.nan]), np.array([0.4]), np.array([0.3]), 1.645, 0.842
        ).tolist(),
        [83.0, np.inf, np.nan],
    )


def test_continuity_corrected() -> None:
    assert sample_sizes.continuity_corrected(np.array([83.0, np.inf]), np.array([0.1, 0.0])).tolist() == [93.0, np.inf]


def test_chance_of_lowest() -> None:
    assert round(sample_sizes.chance_of_lowest(np.array([0.0, 0.0, 0.0]), np.ones(3)), 6) == 0.333333


def test_critical() -> None:
    found = worst.critical(np.array([0.9, 0.5, np.nan, 0.5]), np.array([10.0, 7.0, 1.0, 3.0]))
    assert found.value == 0.5
    assert found.tied.tolist() == [False, True, False, True]
    assert found.position == 3


def test_times_worst() -> None:
    assert worst.times_worst(np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.1], [0.0, 1.0]])).tolist() == [2.5, 1.5]


def test_probability_all() -> None:
    assert worst.probability_all(np.array([0.2, 0.4, 0.6]), np.array([0.3, 0.4, 0.7])).round(4).tolist() == [
        0.6667,
        0.6667,
        0.0,
    ]


def test_jeffreys_all() -> None:
    k, n = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    assert worst.jeffreys_all(k, n, np.array([0.7, 0.5])).round(6).tolist() == [0.501173, 0.887949]


def test_jeffreys_quantile() -> None:
    k, n = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    assert [round(worst.jeffreys_quantile(k, n, at), 6) for at in (0.05, 0.5, 0.95)] == [0.406015, 0.700401, 0.860716]
