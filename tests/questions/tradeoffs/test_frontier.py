"""Candidates and their frontier: the worked example, brute force, ties, copies, one point, NaN, draws, every raise."""

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
from bayesgroups.questions.tradeoffs import probability_efficient
from bayesgroups.questions.tradeoffs.curves import curve, efficient
from bayesgroups.questions.tradeoffs.points import pair, read_points

WORKED = pd.DataFrame(
    [(0.62, 0.97), (0.70, 0.90), (0.75, 0.80), (0.78, 0.72), (0.80, 0.60), (0.72, 0.70), (0.66, 0.93)],
    columns=["performance", "fairness"],
    index=list("abcdefg"),
)
# Few different values, so that ties and copies are the rule.
clouds = arrays(float, st.tuples(st.just(2), st.integers(1, 9)), elements=st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]))


def brute(p: np.ndarray, f: np.ndarray) -> list[bool]:
    def beats(j: int, i: int) -> bool:
        same = p[j] == p[i] and f[j] == f[i]
        return bool(p[j] >= p[i] and f[j] >= f[i] and (not same or j < i))

    return [not any(beats(j, i) for j in range(len(p)) if j != i) for i in range(len(p))]


def test_the_worked_frontier() -> None:
    frontier = bg.pareto_frontier(WORKED)
    assert frontier.index.tolist() == ["a", "g", "b", "c", "d", "e"]
    assert (np.diff(frontier["performance"]) > 0).all()
    assert (np.diff(frontier["fairness"]) < 0).all()


@given(clouds)
@settings(deadline=None)
def test_it_is_what_brute_force_finds(cloud: np.ndarray) -> None:
    assert efficient(*cloud).tolist() == brute(*cloud)


@given(clouds)
@settings(deadline=None, max_examples=20)
def test_properties(cloud: np.ndarray) -> None:
    points = pd.DataFrame({"performance": cloud[0], "fairness": cloud[1]})
    frontier = bg.pareto_frontier(points)
    pd.testing.assert_frame_equal(bg.pareto_frontier(frontier), frontier)  # nothing more to leave out
    mirrored = bg.pareto_frontier(points.rename(columns={"performance": "fairness", "fairness": "performance"}))
    assert sorted(mirrored.index) == sorted(frontier.index)
    turned = bg.pareto_frontier(points.iloc[::-1])[["performance", "fairness"]].to_numpy()
    np.testing.assert_array_equal(turned, frontier.to_numpy())
    for _, point in points.iterrows():
        assert ((frontier["performance"] >= point["performance"]) & (frontier["fairness"] >= point["fairness"])).any()


def test_leading_axes_have_their_own_frontier() -> None:
    cloud = np.random.default_rng(1).integers(0, 6, (2, 50, 8)) / 5
    many = efficient(*cloud)
    assert [row.tolist() for row in many] == [brute(*cloud[:, i]) for i in range(50)]
    corners = curve(cloud[0], cloud[1], (0.1, 1.0))
    for i in range(50):
        one = curve(cloud[0, i, many[i]], cloud[1, i, many[i]], (0.1, 1.0))
        np.testing.assert_array_equal(np.unique(corners.performance[i]), np.unique(one.performance))
        assert np.sum(np.diff(corners.performance[i]) * corners.fairness[i, 1:]) == pytest.approx(
            np.sum(np.diff(one.performance) * one.fairness[1:])
        )


def test_one_point_copies_and_nan() -> None:
    one = WORKED.iloc[[5]]
    pd.testing.assert_frame_equal(bg.pareto_frontier(one), one)
    copies = pd.concat([one, one]).set_axis(["x", "y"])
    assert bg.pareto_frontier(copies).index.tolist() == ["x"]
    holed = WORKED.copy()
    holed.loc["a", "fairness"] = np.nan
    with pytest.warns(UserWarning, match="NaN for 'a': left out"):
        assert bg.pareto_frontier(holed).index.tolist() == ["g", "b", "c", "d", "e"]
    many = pd.DataFrame({"performance": [np.nan] * 5 + [0.5], "fairness": 0.5})
    with pytest.warns(UserWarning, match="NaN for '0', '1', '2' and 2 more: left out"):
        bg.pareto_frontier(many)
    assert efficient(np.array([np.nan, 0.2]), np.array([0.9, 0.1])).tolist() == [False, True]


def test_names_of_rows_stay_as_they_are() -> None:
    pairs = WORKED.set_axis(pd.MultiIndex.from_product([["m"], range(7)]))
    assert bg.pareto_frontier(pairs).index.tolist()[0] == ("m", 0)
    assert read_points(pairs)["candidate"].values.tolist()[0] == "m | 0"
    assert bg.pareto_frontier(WORKED.assign(note="x")).columns.tolist() == ["performance", "fairness", "note"]


def test_a_dataset_without_draws() -> None:
    table = xr.Dataset.from_dataframe(WORKED.rename_axis("setting"))
    frontier = bg.pareto_frontier(table)
    assert frontier["candidate"].values.tolist() == ["a", "g", "b", "c", "d", "e"]
    assert "probability_efficient" not in frontier
    np.testing.assert_array_equal(probability_efficient(table), [1, 1, 1, 1, 1, 0, 1])


def test_draws_give_probabilities() -> None:
    rng = np.random.default_rng(1)
    dims = ("chain", "draw", "candidate")
    noise = rng.normal(0, 0.02, (2, 2, 500, 7))
    points = xr.Dataset(
        {goal: (dims, WORKED[goal].to_numpy() + noise[i]) for i, goal in enumerate(("performance", "fairness"))},
        {"candidate": WORKED.index.tolist()},
    )
    share = probability_efficient(points)
    by_hand = np.mean(
        [brute(*points.isel(chain=c, draw=d).to_array().values) for c in range(2) for d in range(100)], axis=0
    )
    np.testing.assert_allclose(share, by_hand, atol=0.15)
    assert float(share.sel(candidate="f")) < 0.2 < float(share.sel(candidate="e"))
    frontier = bg.pareto_frontier(points)
    assert frontier["performance"].dims == dims
    np.testing.assert_array_equal(frontier["probability_efficient"], share.sel(candidate=frontier["candidate"]))


BAD: list[tuple[Any, str]] = [
    ([1, 2], "points must be a pandas DataFrame or an xarray.Dataset; got list"),
    (WORKED[["performance"]], r"points lack 'fairness'; there are \['performance'\]"),
    (xr.Dataset({"x": 1}), "points lack 'performance' and 'fairness'"),
    (WORKED.iloc[:0], "points have no candidate"),
    (WORKED.set_axis(list("aabcdef")), "candidate 'a' is there twice"),
    (WORKED.assign(fairness=np.inf), "fairness holds an infinite value"),
    (WORKED.assign(performance="high"), "performance holds something that is no number"),
    (WORKED * np.nan, "no candidate has both goals; performance or fairness is NaN for 'a', 'b', 'c' and 4 more"),
    (xr.Dataset({"performance": 0.5, "fairness": 0.5}), r"one dim of candidates besides .*; got \[\]"),
    (xr.Dataset({g: (("x", "y"), [[0.5]]) for g in WORKED}), r"one dim of candidates besides .*; got \['x', 'y'\]"),
]  # fmt: skip


@pytest.mark.parametrize(("points", "message"), BAD)
def test_what_cannot_be_read_is_named(points: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.pareto_frontier(points)


def test_goals_of_different_dims_are_laid_out() -> None:
    points = xr.Dataset(
        {"performance": ("candidate", [0.5, 0.6]), "fairness": (("draw", "candidate"), [[0.5, 0.4], [0.3, 0.4]])}
    )
    table = read_points(points)
    assert table["performance"].dims == table["fairness"].dims == ("draw", "candidate")


@pytest.mark.parametrize("given_", [(1.0,), (1.0, 2.0, 3.0), (np.nan, 1.0), 0.3])
def test_a_pair_is_two_numbers(given_: Any) -> None:
    with pytest.raises(InputError, match=r"utopia must be \(performance, fairness\), two finite numbers"):
        pair(given_, "utopia")
