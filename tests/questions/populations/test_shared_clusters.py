"""Target populations of cells that share clusters: the covariance of their errors counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesgroups as bg
from tests.questions.populations.examples import frequentist, limits

TEMPLATES = 40


def prompts() -> pd.DataFrame:
    """Scores of two names in the same templates, which differ much."""
    rng = np.random.default_rng(5)
    of_template = rng.normal(0, 1, TEMPLATES)
    return pd.DataFrame(
        {
            "name": np.repeat(["anna", "ben"], TEMPLATES), "template": np.tile(np.arange(TEMPLATES), 2),
            "score": np.tile(of_template, 2) + rng.normal(0, 0.3, 2 * TEMPLATES),
        }
    )  # fmt: skip


def test_the_mean_of_both_names_is_that_of_the_templates() -> None:
    """With equal shares the target is the mean of the templates' means: the interval is their one-sample t interval."""
    rows = prompts()
    tally = bg.tally(rows, ["name"], "mean", loss="score", cluster="template", shared_clusters="covariance")
    answer = bg.poststratify(tally, pd.DataFrame({"name": ["anna", "ben"], "count": [500, 500]}))
    of_templates = rows.groupby("template")["score"].mean()
    expected = stats.t.interval(0.95, TEMPLATES - 1, of_templates.mean(), stats.sem(of_templates))
    assert limits(answer) == pytest.approx(expected, rel=1e-9)
    assert str(frequentist(answer)["interval_method"].values) == "satterthwaite_t"
    assert "taken for independent" not in answer.attrs["notes"]


def test_errors_taken_for_independent_are_too_small_and_say_so() -> None:
    rows = prompts()
    sums = pd.DataFrame({"name": ["anna", "ben"], "count": [500, 500]})
    alone = bg.poststratify(bg.tally(rows, ["name"], "mean", loss="score", cluster="template"), sums)
    together = bg.poststratify(
        bg.tally(rows, ["name"], "mean", loss="score", cluster="template", shared_clusters="covariance"), sums
    )
    assert float(frequentist(alone)["std_error"]) < 0.8 * float(frequentist(together)["std_error"])
    assert "taken for independent" in alone.attrs["notes"]
