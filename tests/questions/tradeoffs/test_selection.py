"""Selection criteria on development data, with scores on test data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.tradeoffs import CRITERIA
from bayesgroups.questions.tradeoffs.criteria import Rule, parse

DEV = pd.DataFrame(
    {"performance": [0.82, 0.80, 0.775, 0.72, 0.50], "fairness": [0.58, 0.63, 0.69, 0.76, 0.95]},
    index=["plain", "a", "b", "c", "d"],
)


def chosen(criterion: str, points: pd.DataFrame = DEV, **more: Any) -> str | None:
    vanilla = "plain" if "@" in criterion and "threshold" not in more else None
    found = bg.select_model(points, criterion, **({"vanilla": vanilla} | more))
    return None if found is None else found.candidate


def test_every_criterion() -> None:
    assert {name: chosen(name) for name in CRITERIA} == {
        "DTO": "c", "P": "plain", "P@F+5%": "a", "P@F+10%": "b", "F": "d", "F@P-5%": "b", "F@P-10%": "c",
    }  # fmt: skip
    assert chosen("min DTO") == chosen("DTO")
    assert chosen("P@F+12.5%") == "c"


def test_percentages_are_points_and_meet_them_exactly() -> None:
    """.58 + .05 is a little more than .63 and .82 - .10 a little less than .72 in binary."""
    assert parse("P@F+5%") == Rule("performance", 0.05)
    found = bg.select_model(DEV, "P@F+5%", vanilla=(0.82, 0.58))
    assert found is not None
    assert (found.candidate, round(found.threshold, 12), found.fairness) == ("a", 0.63, 0.63)
    lower = bg.select_model(DEV, "F@P-10%", vanilla="plain")
    assert lower is not None
    assert lower.candidate == "c"
    assert np.isnan(bg.select_model(DEV, "P").threshold)  # type: ignore[union-attr]


def test_a_threshold_takes_the_place_of_the_plain_model() -> None:
    assert chosen("P@F+5%", threshold=0.65) == "b"
    assert chosen("F@P-5%", threshold=0.78) == "a"


def test_test_data_are_scored_and_do_not_select() -> None:
    test = pd.DataFrame({"performance": [0.5, 0.6, 0.7], "fairness": [0.9, 0.8, 0.7]}, index=["plain", "c", "x"])
    found = bg.select_model(DEV, test=test)
    assert found is not None
    assert (found.candidate, found.test_performance, found.test_fairness) == ("c", 0.6, 0.8)
    assert found.test_dto == pytest.approx(np.hypot(0.4, 0.2))
    assert found.dto == pytest.approx(np.hypot(0.28, 0.24))
    assert np.isnan(found.probability)


def test_nobody_feasible() -> None:
    with pytest.warns(UserWarning, match=r"no candidate has fairness of at least 0.98, .*'P@F\+40%' asks for: nothing"):
        assert chosen("P@F+40%") is None
    with pytest.warns(UserWarning, match="selected without that"):
        found = bg.select_model(DEV, "P@F+40%", vanilla="plain", fallback=True)
    assert found is not None
    assert (found.candidate, found.feasible) == ("plain", False)
    assert np.isnan(found.threshold)


def test_ties_go_to_the_other_goal_then_to_the_first() -> None:
    tied = pd.DataFrame(
        {"performance": [0.8, 0.8, 0.6, 0.6, 0.8], "fairness": [0.5, 0.6, 0.8, 0.8, 0.6]}, index=list("abcde")
    )
    assert chosen("P", tied) == "b"
    assert chosen("F", tied) == "c"
    mirrored = pd.DataFrame({"performance": [0.75, 0.5], "fairness": [0.5, 0.75]}, index=list("ab"))
    assert chosen("DTO", mirrored) == chosen("DTO", mirrored.iloc[::-1]) == "a"


@given(
    arrays(float, st.tuples(st.just(2), st.integers(2, 8)), elements=st.sampled_from(np.linspace(0.1, 0.9, 9).tolist()))
)
@settings(deadline=None, max_examples=25)
def test_what_is_selected_is_efficient(cloud: np.ndarray) -> None:
    points = pd.DataFrame({"performance": cloud[0], "fairness": cloud[1]})
    best = {tuple(row) for row in bg.pareto_frontier(points).to_numpy().tolist()}
    for criterion in ("DTO", "P", "F"):
        found = bg.select_model(points, criterion)
        assert found is not None
        assert (found.performance, found.fairness) in best


def test_draws_say_how_sure_the_selection_is() -> None:
    rng = np.random.default_rng(1)
    dims = ("chain", "draw", "candidate")
    noise = rng.normal(0, 0.02, (2, 1, 2000, 5))
    points = xr.Dataset(
        {
            goal: (dims, np.minimum(DEV[goal].to_numpy() + noise[i], 1))
            for i, goal in enumerate(("performance", "fairness"))
        },
        {"candidate": DEV.index.tolist()},
    )
    found = bg.select_model(points)
    assert found is not None
    assert found.candidate == "c"
    apart = bg.distance_to_optimum(points)
    assert found.probability == pytest.approx(float((apart.argmin("candidate") == 3).mean()))
    assert found.regret == pytest.approx(float((apart.sel(candidate="c") - apart.min("candidate")).mean()))
    assert 0 < found.regret < 0.02
    sure = bg.select_model(points, "P@F+40%", threshold=0.9)
    assert sure is not None
    assert sure.probability > 0.9


BAD: list[tuple[dict[str, Any], str]] = [
    ({"criterion": "best"}, r"criterion='best' does not exist; expected one of \['DTO', 'P'"),
    ({"criterion": "P@F-5%"}, "criterion='P@F-5%' does not exist"),
    ({"criterion": "P", "vanilla": "plain"}, "criterion 'P' has no constraint"),
    ({"criterion": "DTO", "threshold": 0.5}, "criterion 'DTO' has no constraint"),
    ({"criterion": "P@F+5%"}, r"criterion 'P@F\+5%' needs either vanilla="),
    ({"criterion": "P@F+5%", "vanilla": "plain", "threshold": 0.6}, "needs either vanilla="),
    ({"criterion": "P@F+5%", "threshold": np.nan}, "threshold=nan must be a finite number"),
    ({"criterion": "P@F+5%", "vanilla": "plane"}, "vanilla='plane' is no candidate; did you mean 'plain'"),
    ({"criterion": "P@F+5%", "vanilla": (0.5, np.nan)}, "vanilla must be"),
    ({"utopia": (0.8, 1)}, "beyond the utopia of 0.8"),
    ({"test": DEV.drop(index="c")}, "test lacks candidate 'c', which was selected"),
    ({"test": DEV + 0.3}, "beyond the utopia of 1"),
]


@pytest.mark.parametrize(("settings_", "message"), BAD)
def test_bad_settings_are_named(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.select_model(DEV, **settings_)
