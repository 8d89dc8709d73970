"""Limits that hold together: every contrast that has limits counts, also where counts are 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.frequentist.intervals.rate_ratios import score_ratio
from bayesgroups.questions.certification.multiplicity import critical_value
from bayesgroups.questions.contrasts.scales import Scale

GROUPS = pd.DataFrame({"g": list("RABCDEFGHI")})
ROWS = [200] + [20] * 9
RATIOS: tuple[Scale, ...] = ("ratio", "odds_ratio")


@pytest.mark.parametrize("scale", RATIOS)
def test_contrasts_of_counts_of_0_count(scale: Scale) -> None:
    """Log ratios of 0 have no standard error, and Koopman's limits of them can miss as those of others can."""
    counts = bg.tally_from_counts([40] + [0] * 8 + [6], ROWS, GROUPS, metric="sel")
    answer = bg.contrasts(counts, "R", scale=scale).sel(approach="frequentist", scale=scale, metric="sel")
    nine = critical_value("simultaneous", 0.95, 9, sides=2)
    assert float(answer["critical_value"]) == pytest.approx(nine, abs=1e-12)
    assert (answer["upper_simultaneous"] > 1.2 * answer["upper"])[:8].all()
    if scale == "ratio":
        k1, n1, k2, n2 = (np.array([float(number)]) for number in (0, 20, 40, 200))
        assert float(answer["upper_simultaneous"][0]) == pytest.approx(
            float(score_ratio(k1, n1, k2, n2, nine).upper[0])
        )


def test_correlated_contrasts_and_those_of_0() -> None:
    """What is known of the correlations is used; the others are as if independent, which is enough."""
    some = bg.tally_from_counts([40, 0, 0, 0, 0, 2, 3, 4, 5, 6], ROWS, GROUPS, metric="sel")
    five = bg.tally_from_counts([40, 2, 3, 4, 5, 6], ROWS[:6], GROUPS[:1].merge(GROUPS[5:], how="outer"), metric="sel")
    values = [float(bg.contrasts(counts, "R", scale="ratio")["critical_value"].squeeze()) for counts in (five, some)]
    assert values[0] + 0.05 < values[1] < critical_value("simultaneous", 0.95, 9, sides=2) + 0.02


def test_limits_that_cannot_miss_do_not_count() -> None:
    """Of no successes on both sides the limits are 0 and infinity, whatever the critical value is."""
    counts = bg.tally_from_counts([0, 0, 0, 5], [20] * 4, GROUPS[:4], metric="sel")
    answer = bg.contrasts(counts, "A", scale="ratio").squeeze()
    assert (
        answer["reason"].values.tolist()[:2]
        == ["the contrast has no value: both sides are 0, or a side is at an end of the range"] * 2
    )
    assert float(answer["critical_value"]) == pytest.approx(1.959964, abs=1e-6)


def test_differences_of_rates_that_are_all_0_count() -> None:
    counts = bg.tally_from_counts([0] * 4, [20] * 4, GROUPS[:4], metric="sel")
    answer = bg.contrasts(counts, "R", scale="difference").squeeze()
    assert float(answer["critical_value"]) == pytest.approx(critical_value("simultaneous", 0.95, 3, sides=2))
    assert (answer["upper_simultaneous"] > answer["upper"]).all()
