"""Prior of the slope, from normal scores that subgroups have in different places."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize, special, stats

from bayesgroups.models.shared.confusion_tree import SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD

GRID = np.linspace(-8, 8, 2001)


def rates(place: float, intercept: float, slope: float, threshold: float) -> np.ndarray:
    """Logits of the selection rate, the PPV and the FOR of a subgroup with scores around ``place``."""
    weight = stats.norm.pdf(GRID - place)
    weight /= weight.sum()
    positive = special.expit(intercept + slope * GRID) * weight
    above = GRID > threshold
    share = weight[above].sum()
    return np.asarray(special.logit([share, positive[above].sum() / share, positive[~above].sum() / (1 - share)]))


def auc(intercept: float, slope: float) -> float:
    weight = stats.norm.pdf(GRID)
    positive = special.expit(intercept + slope * GRID)
    one, none = weight * positive / (weight * positive).sum(), weight * (1 - positive) / (weight * (1 - positive)).sum()
    return float((one * (np.cumsum(none) - none / 2)).sum())


@pytest.fixture(scope="module")
def slopes() -> np.ndarray:
    """AUC, and slopes of the logits of PPV and FOR by that of the selection rate."""
    found = []
    for slope, prevalence, selected in itertools.product((0.5, 1.0, 2.0, 4.0), (0.1, 0.3, 0.5), (0.1, 0.3, 0.5)):
        intercept = optimize.brentq(
            lambda a, b=slope, p=prevalence: np.average(special.expit(a + b * GRID), weights=stats.norm.pdf(GRID)) - p,
            -30,
            30,
        )
        threshold = stats.norm.isf(selected)
        low, high = (rates(place, intercept, slope, threshold) for place in (-0.3, 0.3))
        moved = high - low
        found.append([auc(intercept, slope), *moved[1:] / moved[0]])
    return np.array(found)


def test_it_spans_what_normal_scores_make_of_it(slopes: np.ndarray) -> None:
    usual = slopes[(slopes[:, 0] > 0.6) & (slopes[:, 0] < 0.95)]
    assert len(usual) >= 20
    assert usual[:, 2].min() == pytest.approx(0.1, abs=0.05)
    assert usual[:, 2].max() == pytest.approx(0.6, abs=0.05)
    assert usual[:, 2].mean() == pytest.approx(SELECTION_SLOPE_MEAN, abs=0.05)
    assert (
        SELECTION_SLOPE_MEAN - 2 * SELECTION_SLOPE_SD
        < usual[:, 2].min()
        < usual[:, 2].max()
        < SELECTION_SLOPE_MEAN + 2 * SELECTION_SLOPE_SD
    )


def test_outcomes_given_the_rarer_decision_follow_less(slopes: np.ndarray) -> None:
    """Equal at a selection rate of a half, which is every third line."""
    rarer = slopes[np.arange(len(slopes)) % 3 < 2]
    assert (rarer[:, 1] < rarer[:, 2]).all()
    assert rarer[:, 1].mean() == pytest.approx(rarer[:, 2].mean() / 2, rel=0.2)
