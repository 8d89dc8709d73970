"""Worked numbers of power-scaling and of the readers of estimates and values."""

from __future__ import annotations

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.questions import sampling_variances, values
from bayesgroups.questions.priors import power_scaling


def test_weights() -> None:
    assert power_scaling.weights(np.log([0.1, 0.1, 0.4]), 2.0)[0].round(3).tolist() == [0.167, 0.167, 0.667]


def test_sensitivity() -> None:
    u = np.random.default_rng(1).standard_normal((4000, 2))
    strong, none = power_scaling.sensitivity(u, -2 * u[:, 0] ** 2)
    assert bool(strong > 0.2)
    assert bool(none < 0.05)


def test_read_estimates() -> None:
    sites = pd.DataFrame({"site": ["a", "b", "c", "d"]})
    estimates = sampling_variances.read_estimates(bg.tally_from_counts([1, 3, 0, 1], [4, 9, 0, 1], sites), 0)
    assert estimates.y.round(3).tolist() == [0.25, 0.333, 1.0]
    assert estimates.left_out == "c (no rows)"
    assert estimates.v.round(3).tolist() == [0.062, 0.028, 0.25]
    assert estimates.rests_on_pooling.tolist() == [False, False, True]


def test_open_source() -> None:
    tally = bg.tally_from_counts([1, 3, 0], [10, 9, 0], pd.DataFrame({"site": ["a", "b", "c"]}))
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    assert [values.open_source(given).using for given in (tally, report)] == ["tally", "posterior"]
    assert values.open_source(report, "tally").using == "tally"
    metric_values = values.open_source(report).read(0)
    assert metric_values.draws is not None
    assert metric_values.draws.shape == (4000, 3)
    assert metric_values.included.tolist() == [True, True, False]
    assert metric_values.left_out == "c (no rows)"


def test_approach_shown() -> None:
    assert values.approach_shown("auto") == "bayesian"
    assert values.approach_shown("tally") == "frequentist"
