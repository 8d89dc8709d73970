"""Areas of the performance-fairness curve: worked numbers, numerical integration, parts, copies, draws, every raise."""

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

WORKED = pd.DataFrame(
    [(0.62, 0.97), (0.70, 0.90), (0.75, 0.80), (0.78, 0.72), (0.80, 0.60), (0.72, 0.70), (0.66, 0.93)],
    columns=["performance", "fairness"],
)
clouds = arrays(float, st.tuples(st.just(2), st.integers(1, 7)), elements=st.floats(0.05, 0.95))
GRID = 4_001


def table(cloud: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"performance": cloud[0], "fairness": cloud[1]})


def corners(points: pd.DataFrame, anchor: float) -> tuple[np.ndarray, np.ndarray]:
    """The curve, put together another way."""
    frontier = bg.pareto_frontier(points)
    p = np.append(frontier["performance"], anchor)
    f = np.append(frontier["fairness"], 1.0)
    order = np.lexsort((-f, p))
    return p[order], f[order]


def along(points: pd.DataFrame, anchor: float) -> tuple[np.ndarray, np.ndarray]:
    """Many places on every piece of the curve, (place, piece)."""
    p, f = corners(points, anchor)
    t = np.linspace(0, 1, GRID)[:, None]
    return p[:-1] + t * np.diff(p), f[:-1] + t * np.diff(f)


def test_worked_readings() -> None:
    def area(reading: Any, **more: Any) -> float:
        return float(bg.auc_pfc(WORKED, anchor=0.5, reading=reading, **more))

    assert area("frontier") == pytest.approx(0.2713, abs=1e-12)
    assert area("steps") == pytest.approx(0.2632, abs=1e-12)
    assert area("polar_area", utopia=(0.8, 1)) == pytest.approx(0.0287, abs=1e-12)
    assert area("polar_dto", utopia=(0.8, 1)) == pytest.approx(0.290376, abs=5e-7)
    assert area("polar_area", utopia=(1, 1)) - area("polar_area", utopia=(0.8, 1)) == pytest.approx(0.04)
    assert area("polar_dto", utopia=(1, 1)) - area("polar_dto", utopia=(0.8, 1)) == pytest.approx(0.0970, abs=5e-5)


def test_worked_parts() -> None:
    def part(**within: float) -> xr.DataArray:
        return bg.auc_pfc(WORKED, anchor=0.5, within=within)  # type: ignore[arg-type]

    assert float(part(performance=0.7)) == pytest.approx(0.0785, abs=1e-12)
    assert float(part(fairness=0.75)) == pytest.approx(0.249831, abs=5e-7)
    close = part(dto=0.35)
    assert float(close) == pytest.approx(0.102243, abs=5e-7)
    assert [float(close[name]) for name in ("lower", "upper")] == pytest.approx([0.656346, 0.775781], abs=5e-7)
    assert float(close["share"]) == pytest.approx(float(close) / (0.775781 - 0.656346), abs=1e-5)
    smallest = np.hypot(1 - along(WORKED, 0.5)[0], 1 - along(WORKED, 0.5)[1]).min()
    assert smallest == pytest.approx(0.313050, abs=5e-7)
    assert float(part(dto=smallest - 1e-6)) == 0
    whole = part(performance=0.1, fairness=0.1, dto=2)
    assert float(whole) == pytest.approx(0.2713)
    assert (float(whole["lower"]), float(whole["upper"]), int(whole["met"])) == (0.5, 0.8, 1)


@given(clouds, st.floats(0.0, 0.9))
@settings(deadline=None, max_examples=25)
def test_readings_are_what_numerical_integration_finds(cloud: np.ndarray, anchor: float) -> None:
    points = table(cloud)
    p, f = along(points, anchor)
    trapezoid = float(np.trapezoid(f, p, axis=0).sum())
    assert float(bg.auc_pfc(points, anchor=anchor)) == pytest.approx(trapezoid, abs=1e-9)
    # The pole lies further out than the curve, so that the angle moves one way along each piece.
    turn = np.unwrap(np.arctan2(1 - f, 1 - p), axis=0)
    r = np.hypot(1 - p, 1 - f)
    for reading, integrand in (("polar_dto", r), ("polar_area", r**2 / 2)):
        expected = np.abs(np.trapezoid(integrand, turn, axis=0)).sum()
        got = bg.auc_pfc(points, anchor=anchor, reading=reading, utopia=(1, 1))  # type: ignore[arg-type]
        assert float(got) == pytest.approx(float(expected), rel=1e-4, abs=1e-6)


@given(
    clouds,
    st.fixed_dictionaries(
        {}, optional={"performance": st.floats(0.1, 0.9), "fairness": st.floats(0.1, 0.9), "dto": st.floats(0.1, 1.2)}
    ),
)
@settings(deadline=None, max_examples=25)  # fmt: skip
def test_parts_are_what_numerical_integration_finds(cloud: np.ndarray, within: dict[str, float]) -> None:
    points = table(cloud)
    p, f = along(points, 0.02)
    met = (p >= within.get("performance", 0)) & (f >= within.get("fairness", 0))
    met &= np.hypot(1 - p, 1 - f) <= within.get("dto", 9)
    inner = met[1:] & met[:-1]
    expected = (np.diff(p, axis=0) * (f[1:] + f[:-1]) / 2 * inner).sum()
    got = bg.auc_pfc(points, anchor=0.02, within=within or None)  # type: ignore[arg-type]
    assert float(got) == pytest.approx(float(expected), abs=2e-3)
    assert float(got["length"]) == pytest.approx(float((np.diff(p, axis=0) * inner).sum()), abs=2e-3)
    if met.any():
        assert float(got["lower"]) == pytest.approx(p[met].min(), abs=2e-3)
        assert float(got["upper"]) == pytest.approx(p[met].max(), abs=2e-3)


@given(clouds)
@settings(deadline=None, max_examples=25)
def test_the_polar_area_is_the_rest(cloud: np.ndarray) -> None:
    """With the anchor at fairness 1 and the pole above the last point, the area beside the curve and that under it fill a box."""
    points = table(cloud)
    last = float(points["performance"].max())
    under = float(bg.auc_pfc(points, anchor=0.01))
    beside = float(bg.auc_pfc(points, anchor=0.01, reading="polar_area", utopia=(last, 1)))
    assert under + beside == pytest.approx(last - 0.01)


@given(clouds)
@settings(deadline=None, max_examples=25)
def test_copies_order_and_the_dominated_do_not_matter(cloud: np.ndarray) -> None:
    points = table(cloud)
    area = float(bg.auc_pfc(points, anchor=0.01))
    more = pd.concat([points, points.iloc[::-1], points - 0.01], ignore_index=True)
    assert float(bg.auc_pfc(more, anchor=0.01)) == pytest.approx(area)
    assert float(bg.auc_pfc(bg.pareto_frontier(points), anchor=0.01)) == pytest.approx(area)
    assert float(bg.auc_pfc(points, anchor=0.01, reading="steps")) <= area + 1e-12


def test_one_point_is_a_trapezoid() -> None:
    area = bg.auc_pfc(pd.DataFrame({"performance": [0.8], "fairness": [0.6]}), anchor=(0.3, 0.9))
    assert float(area) == pytest.approx(0.5 * 0.75)
    assert int(area["frontier_size"]) == 1
    assert area.attrs["anchor"] == [0.3, 0.9]


def test_an_anchor_right_of_a_point_takes_its_place() -> None:
    points = pd.DataFrame({"performance": [0.2981, 0.5], "fairness": [0.999, 0.8]})
    expected = 0.0019 * (0.999 + 1) / 2 + 0.2 * 0.9
    assert float(bg.auc_pfc(points, anchor=0.3)) == pytest.approx(expected)
    assert float(bg.auc_pfc(points, anchor=0.3, reading="steps")) == pytest.approx(0.2 * 0.8)


def test_negative_fairness_counts() -> None:
    points = pd.DataFrame({"performance": [0.5], "fairness": [-0.5]})
    assert float(bg.auc_pfc(points, anchor=0.3)) == pytest.approx(0.2 * 0.25)


def test_a_flat_piece_is_in_or_out() -> None:
    points = pd.DataFrame({"performance": [0.6], "fairness": [1.0]})
    assert float(bg.auc_pfc(points, anchor=0.3, within={"fairness": 1.0})) == pytest.approx(0.3)
    none = bg.auc_pfc(points - [0, 0.2], anchor=(0.3, 0.8), within={"fairness": 0.9})
    assert (float(none), int(none["met"])) == (0.0, 0)
    assert np.isnan(none["lower"])
    assert np.isnan(none["share"])


def test_the_distance_can_be_normalised() -> None:
    raw = bg.auc_pfc(WORKED, anchor=0.5, within={"dto": 0.3}, utopia=(1, 1))
    same = bg.auc_pfc(WORKED, anchor=0.5, within={"dto": 0.3}, utopia=(1, 1), normalise=True)
    assert float(raw) == pytest.approx(float(same))
    percent = bg.auc_pfc(WORKED * [100, 1], anchor=50, within={"dto": 0.35}, utopia=(100, 1), normalise=True)
    assert float(percent) == pytest.approx(10.2243, abs=5e-5)


def test_draws_have_their_own_area() -> None:
    cloud = np.random.default_rng(2).uniform(0.2, 0.9, (2, 2, 30, 6))
    points = xr.Dataset(
        {goal: (("chain", "draw", "setting"), cloud[i]) for i, goal in enumerate(("performance", "fairness"))}
    )
    for within in (None, {"fairness": 0.5}, {"dto": 0.6}):
        areas = bg.auc_pfc(points, anchor=0.1, within=within)  # type: ignore[arg-type]
        assert areas.dims == ("chain", "draw")
        one = bg.auc_pfc(table(cloud[:, 1, 7]), anchor=0.1, within=within)  # type: ignore[arg-type]
        assert float(areas[1, 7]) == pytest.approx(float(one))
        assert float(areas["length"][1, 7]) == pytest.approx(float(one["length"]))


def test_nan_is_left_out_with_a_warning() -> None:
    holed = WORKED.astype(float)
    holed.loc[0, "fairness"] = np.nan
    with pytest.warns(UserWarning, match="NaN for '0': left out"):
        assert float(bg.auc_pfc(holed, anchor=0.5)) == pytest.approx(float(bg.auc_pfc(WORKED.drop(0), anchor=0.5)))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"reading": "frontiers"}, "reading='frontiers' is not one of .*; did you mean 'frontier'"),
    ({"anchor": np.nan}, r"anchor must be \(performance, fairness\)"),
    ({"reading": "polar_area"}, "reading='polar_area' needs utopia="),
    ({"reading": "polar_dto", "utopia": (0.7, 1)}, "a candidate has performance 0.8, beyond the utopia of 0.7"),
    ({"within": {}}, "must have one or more of 'performance', 'fairness', 'dto'"),
    ({"within": {"gap": 0.1}}, "must have one or more of 'performance', 'fairness', 'dto'"),
    ({"within": {"dto": np.nan}}, "must have finite numbers"),
    ({"within": {"dto": None}}, "must have finite numbers"),
    ({"within": {"dto": 0.5}, "reading": "steps"}, "it does not go with reading='steps'"),
    ({"within": {"dto": 0.5}, "utopia": (1, -1), "normalise": True}, "cannot be divided by; give positive ideals"),
]


@pytest.mark.parametrize(("settings_", "message"), BAD)
def test_bad_settings_are_named(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.auc_pfc(WORKED, **({"anchor": 0.5} | settings_))


def test_straight_lines_are_not_monotone_and_steps_are() -> None:
    """A further efficient candidate below the line between its neighbours lowers the area, but not that of the steps."""
    points = pd.DataFrame({"performance": [0.5, 0.9], "fairness": [0.9, 0.5]})
    more = pd.concat([points, pd.DataFrame({"performance": [0.6], "fairness": [0.6]})], ignore_index=True)
    assert len(bg.pareto_frontier(more)) == 3
    assert float(bg.auc_pfc(more, anchor=0.3)) < float(bg.auc_pfc(points, anchor=0.3))
    assert float(bg.auc_pfc(more, anchor=0.3, reading="steps")) > float(bg.auc_pfc(points, anchor=0.3, reading="steps"))
