"""Worked numbers of the functions behind model selection."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.questions.tradeoffs import criteria, curves, distances, points


def test_parse() -> None:
    assert criteria.parse("P@F+5%") == criteria.Rule(goal="performance", margin=0.05)
    assert criteria.parse("DTO").other == "performance"


def test_choose() -> None:
    p, f = np.array([0.82, 0.78, 0.78]), np.array([0.58, 0.64, 0.66])
    assert int(criteria.choose(p, f, criteria.parse("P@F+5%"), least=0.63, utopia=(1.0, 1.0))) == 2


def test_efficient() -> None:
    assert curves.efficient(np.array([0.8, 0.7, 0.7, 0.8]), np.array([0.6, 0.9, 0.8, 0.6])).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_curve() -> None:
    assert curves.curve(np.array([0.8, 0.7, 0.6]), np.array([0.6, 0.9, 0.8]), (0.5, 1.0)).performance.tolist() == [
        0.5,
        0.7,
        0.7,
        0.8,
    ]


def test_distance() -> None:
    assert float(distances.distance(np.array(0.7), np.array(0.6), (1.0, 1.0))) == 0.5


def test_check_dominates() -> None:
    distances.check_dominates((1.0, 1.0), np.array([0.8]), np.array([0.9]))


def test_steps_area() -> None:
    assert (
        round(float(curves.steps_area(curves.Curve(np.array([0.5, 0.7, 0.8]), np.array([1.0, 0.9, 0.6])), 0.5)), 6)
        == 0.24
    )


def test_polar_area() -> None:
    assert (
        round(float(curves.polar_area(curves.Curve(np.array([0.5, 0.8]), np.array([1.0, 0.6])), (0.8, 1.0))), 6) == 0.06
    )


def test_polar_dto() -> None:
    assert (
        round(float(curves.polar_dto(curves.Curve(np.array([0.5, 0.8]), np.array([1.0, 0.6])), (0.8, 1.0))), 6)
        == 0.430022
    )


def test_part() -> None:
    found = curves.part(curves.Curve(np.array([0.5, 0.8]), np.array([1.0, 0.6])), fairness=0.8)
    assert round(float(found.area), 6) == 0.135
    assert round(float(found.upper), 6) == 0.65


def test_read_points() -> None:
    table = pd.DataFrame({"performance": [0.8, 0.7], "fairness": [0.6, 0.9]}, index=["plain", "debiased"])
    assert points.read_points(table)["candidate"].values.tolist() == ["plain", "debiased"]


def test_without_unknown() -> None:
    table = xr.Dataset({goal: ("candidate", [0.8, 0.7]) for goal in points.GOALS}, {"candidate": ["plain", "debiased"]})
    assert points.without_unknown(table).sizes["candidate"] == 2


def test_goals() -> None:
    assert [
        one.tolist() for one in points.goals(xr.Dataset({goal: ("candidate", [0.8]) for goal in points.GOALS}))
    ] == [[0.8], [0.8]]


def test_mean_points() -> None:
    table = xr.Dataset({goal: (("draw", "candidate"), [[0.8], [0.6]]) for goal in points.GOALS})
    assert float(points.mean_points(table)["fairness"].item().__round__(6)) == 0.7


def test_pair() -> None:
    assert points.pair(0.3, "anchor", fairness=1.0) == (0.3, 1.0)
    assert points.pair((0.3, 0.9), "anchor") == (0.3, 0.9)
