"""Confidence sets: critical values, which units vary, and how often the set covers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import ndtr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds import confidence_sets
from bayesgroups.frequentist.bounds.sets import critical_value, joined
from bayesgroups.tallies.disagreement_rates import Bounds, bounds
from tests.frequentist.bounds.judgements import crossed, tally_of

SHARE, RATE = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.5])


def test_the_critical_value_solves_its_equation() -> None:
    width, error = np.array([0.0, 0.01, 0.05, 0.2, 3.0]), np.array([0.1, 0.1, 0.05, 0.1, 0.1])
    for level in (0.5, 0.8, 0.95):
        found = critical_value(Bounds(np.zeros(5), width), Bounds(error, error / 2), level)
        np.testing.assert_allclose(ndtr(found + width / error) - ndtr(-found), level, atol=1e-12)
        assert (np.diff(found) < 0).all()
    none = critical_value(Bounds(np.zeros(2), np.array([0.5, np.nan])), Bounds(np.zeros(2), np.zeros(2)), 0.95)
    assert none[0] == pytest.approx(1.6448536)
    assert np.isnan(none[1])


@pytest.mark.parametrize("across", [None, "subgroups"])
def test_shape_order_and_labels(across: Any) -> None:
    found = confidence_sets(
        tally_of(crossed(1), critic="critic", item="item"), "predictive_equality", seed=1, across=across
    )
    assert found["confidence_lower"].dims == (*(() if across else ("label", "subgroup")), "level")
    assert found["level"].values.tolist() == [0.5, 0.8, 0.9, 0.95]
    assert (found.attrs["interval_kind"], found.attrs["interval_method"]) == ("bound", "imbens_manski")
    assert found.attrs["resampled"] == "judgements, critics, items"
    some = np.isfinite(found["lower"])
    assert (found["confidence_lower"] <= found["lower"]).where(some, other=True).all()
    assert (found["confidence_upper"] >= found["upper"]).where(some, other=True).all()
    assert (found["confidence_upper"].diff("level") >= 0).where(some, other=True).all()
    assert bool(some.all()) == (across is not None)  # the third subgroup is empty
    again = confidence_sets(
        tally_of(crossed(1), critic="critic", item="item"), "predictive_equality", seed=1, across=across
    )
    xr.testing.assert_identical(found, again)


def test_critics_and_items_widen_the_set() -> None:
    tally = tally_of(crossed(3), critic="critic", item="item")
    error = {
        unit: confidence_sets(tally, "calibration", seed=1, resample=unit)["lower_std_error"].values[:, :2]
        for unit in ("judgements", "critics", "items", "all")
    }
    assert (error["critics"] > error["judgements"]).all()
    assert (error["all"] >= np.maximum(error["critics"], error["items"])).all()
    both = error["critics"] ** 2 + error["items"] ** 2 - error["judgements"] ** 2
    np.testing.assert_allclose(error["all"] ** 2, np.maximum(both, np.maximum(error["critics"], error["items"]) ** 2))


def test_the_joint_variance_is_never_below_a_part() -> None:
    parts = {"judgements": np.array([4.0]), "critics": np.array([3.0]), "items": np.array([1.0])}
    assert joined(parts).tolist() == [4.0]  # type: ignore[arg-type]


def test_a_rate_that_rarely_exists() -> None:
    rows = pd.DataFrame({"sex": ["f", "f"], "said": ["a", "b"], "disagrees": [0, 0]})
    found = confidence_sets(bg.disagreement_tally(rows, ["sex"], "said", "disagrees"), "calibration", seed=1)
    assert found["lower_std_error"].values.tolist() == [[0.0], [0.0]]
    np.testing.assert_array_equal(found["confidence_lower"], np.ones((2, 1, 4)))


def test_what_is_wrong_is_named() -> None:
    tally = tally_of(crossed(1))
    with pytest.raises(InputError, match="resample='critic' is not one of 'all', 'judgements', 'critics', 'items'"):
        confidence_sets(tally, "calibration", seed=1, resample="critic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="draws=1: a spread needs at least 2 replicates"):
        confidence_sets(tally, "calibration", seed=1, draws=1)


@pytest.mark.parametrize("notion", ["equal_opportunity", "predictive_equality"])
def test_coverage_at_the_ends_of_the_identified_set(notion: Any) -> None:
    random = np.random.default_rng(5)
    law = np.concatenate([(1 - RATE) * SHARE, RATE * SHARE])
    truth = bounds(law[:3, None], law[3:, None], notion)
    covered = np.zeros((2, 3))
    rows = pd.DataFrame({"sex": "f", "said": list("abcabc"), "disagrees": [0, 1] * 3})
    template = bg.disagreement_tally(rows, ["sex"], "said", "disagrees")
    repeats, cell = 200, ("label", "subgroup")
    for i in range(repeats):
        counts = random.multinomial(400, law).astype(float)[:, None]
        tally = template.assign(agreements=(cell, counts[:3]), disagreements=(cell, counts[3:]))
        found = confidence_sets(tally, notion, seed=i, draws=200)
        low, high = found["confidence_lower"].values[:, 0, -1], found["confidence_upper"].values[:, 0, -1]
        for side, value in enumerate((truth.lower[:, 0], truth.upper[:, 0])):
            covered[side] += (low <= value) & (value <= high)
    share = covered / repeats
    # 95 % asked; four standard errors of the simulation, and a bootstrap of 400 judgements by a normal law.
    assert (share > 0.95 - 4 * 0.0154 - 0.01).all(), share
    # The set is not simply everything: where the end has an error, it is missed now and then.
    assert share.min() < 1.0
