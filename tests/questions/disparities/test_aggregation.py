"""Two-step aggregation: the worked table, every step and centre, draws, weights, and what is said where nothing is defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities.aggregation_steps import ROWS

NAMES = {"label": ["first", "second"], "subgroup": ["a", "b", "c"]}
M = xr.DataArray([[0.9, 0.8, 0.7], [0.6, 0.6, 0.3]], NAMES)
N = xr.DataArray([[50, 30, 20], [10, 25, 15]], NAMES)

WORKED = [
    ("mean_gap", [0.066667, 0.133333], [0.076667, 0.13]),
    ("variance", [0.01, 0.03], [0.01135, 0.03015]),
    ("max_gap", [0.1, 0.2], [0.13, 0.21]),
    ("min_score", [0.7, 0.3], [0.7, 0.3]),
    ("min_ratio", [0.875, 0.6], [0.843373, 0.588235]),
    ("max_difference", [0.2, 0.3], [0.2, 0.3]),
    ("max_ratio", [1.285714, 2.0], [1.285714, 2.0]),
    ("difference_threshold", [1, 0.666667], [0.666667, 0.666667]),
    ("ratio_threshold", [1, 0.666667], [1, 0.666667]),
    ("sum_gap", [0.2, 0.4], [0.23, 0.39]),
]


@pytest.mark.parametrize(("step", "mean", "pooled"), WORKED)
def test_the_worked_table(step: Any, mean: list[float], pooled: list[float]) -> None:
    given: dict[str, Any] = {"class_power": None, "count": N}
    given["threshold"] = {"difference_threshold": 0.1, "ratio_threshold": 0.2}.get(step)
    np.testing.assert_allclose(bg.aggregate(M, group_power=step, center="mean", **given), mean, atol=5e-7)
    np.testing.assert_allclose(bg.aggregate(M, group_power=step, center="pooled", **given), pooled, atol=5e-7)


def test_the_worked_class_steps_and_fairness() -> None:
    def total(group: Any, classes: Any, **more: Any) -> float:
        return float(bg.aggregate(M, group_power=group, class_power=classes, count=N, **more))

    assert total("mean_gap", "binary", positive="first") == pytest.approx(0.076667, abs=5e-7)
    assert total("mean_gap", "mean") == pytest.approx(0.103333, abs=5e-7)
    assert total("mean_gap", "quadratic_mean") == pytest.approx(0.106719, abs=5e-7)
    assert 1 - total("sum_gap", 2) == pytest.approx(0.679844, abs=5e-7)
    assert 1 - total(1, 2) == pytest.approx(0.893281, abs=5e-7)


@pytest.mark.parametrize(
    ("unit", "power", "name"),
    [
        ("gap", 1, "mean_gap"),
        ("gap", np.inf, "max_gap"),
        ("score", -np.inf, "min_score"),
        ("ratio", -np.inf, "min_ratio"),
    ],
)
def test_rows_that_are_generalised_means(unit: Any, power: float, name: Any) -> None:
    by_power = bg.aggregate(M, unit, group_power=power, count=N)
    by_name = bg.aggregate(M, group_power=name, count=N)
    assert float(by_power) == pytest.approx(float(by_name))
    assert by_power.attrs["unit"] == by_name.attrs["unit"] == unit


def test_the_variance_is_a_quadratic_mean() -> None:
    variance = bg.aggregate(M, group_power="variance", class_power=None, center="mean")
    quadratic = bg.aggregate(M, group_power=2, class_power=None, center="mean")
    np.testing.assert_allclose(variance, 3 / 2 * quadratic**2)
    np.testing.assert_allclose(variance, M.var("subgroup", ddof=1))


def test_every_row_says_how_it_is_read() -> None:
    for name, row in ROWS.items():
        limit = 0.1 if name.endswith("threshold") else None
        got = bg.aggregate(M, group_power=name, count=N, threshold=limit).attrs
        assert (got["better"], got["unit"]) == (row.better, row.unit)
    larger = {name for name, row in ROWS.items() if row.better == "larger"}
    assert larger == {"min_score", "min_ratio", "difference_threshold", "ratio_threshold"}
    assert bg.aggregate(M, "ratio", count=N).attrs["better"] == "closer to 1"
    assert bg.aggregate(M, "score").attrs["center"] == "none"


def test_equal_subgroups_are_fair_by_every_row() -> None:
    same = xr.DataArray(np.full((2, 4), 0.7), dims=("label", "subgroup"))
    for name, row in ROWS.items():
        limit = 0.05 if name.endswith("threshold") else None
        value = float(bg.aggregate(same, group_power=name, center="mean", threshold=limit))
        assert value == pytest.approx(0.7 if name == "min_score" else row.fair, abs=1e-12)


@given(arrays(float, (2, 3), elements=st.floats(0.01, 1)), st.sampled_from(sorted(set(ROWS) - {"min_score"})))
@settings(deadline=None, max_examples=60)
def test_names_and_order_of_subgroups_do_not_matter(values: np.ndarray, step: Any) -> None:
    scores = xr.DataArray(values, NAMES)
    limit = 0.1 if step.endswith("threshold") else None
    turned = scores.isel(subgroup=[2, 0, 1], label=[1, 0])
    one = bg.aggregate(scores, group_power=step, count=N, threshold=limit)
    other = bg.aggregate(turned, group_power=step, count=N, threshold=limit)
    assert float(one) == pytest.approx(float(other), rel=1e-9, abs=1e-9)


@given(arrays(float, (2, 3), elements=st.floats(0.01, 1)), st.floats(0.1, 0.9))
@settings(deadline=None, max_examples=40)
def test_gaps_ignore_a_shift_and_ratios_a_factor(values: np.ndarray, by: float) -> None:
    scores = xr.DataArray(values, NAMES)
    for unit, changed in (("gap", scores + by), ("ratio", scores * by)):
        one, other = (float(bg.aggregate(s, unit, group_power=2, center="mean")) for s in (scores, changed))  # type: ignore[arg-type]
        assert one == pytest.approx(other, rel=1e-7, abs=1e-9)


def test_draws_are_aggregated_one_by_one() -> None:
    draws = xr.DataArray(
        np.random.default_rng(1).random((2, 5, 3, 2, 3)), dims=("chain", "draw", "system", "label", "subgroup")
    )
    all_at_once = bg.aggregate(draws.transpose("label", "chain", "subgroup", "draw", "system"), center="mean")
    assert all_at_once.dims == ("chain", "draw", "system")
    one = bg.aggregate(draws.isel(chain=1, draw=4, system=2), center="mean")
    assert float(all_at_once[1, 4, 2]) == pytest.approx(float(one))
    assert all_at_once["reason"].dims == ("system",)


def test_one_class_needs_no_label() -> None:
    plain = bg.aggregate(M.sel(label="first", drop=True), "gap", center="mean")
    assert float(plain) == pytest.approx(0.066667, abs=5e-7)
    assert plain.attrs["class_power"] == "none"
    assert float(bg.aggregate(M.sel(label="first"), center="mean")) == pytest.approx(0.066667, abs=5e-7)


def test_weights() -> None:
    weights = xr.DataArray([0.5, 0.3, 0.2], {"subgroup": ["a", "b", "c"]})
    gaps = xr.DataArray([[0.1, 0.2, 0.4]], {"label": ["x"], "subgroup": ["a", "b", "c"]})
    assert float(bg.aggregate(gaps, group_power=2, center=0.0, group_weights=weights)) == pytest.approx(
        0.221359, abs=5e-7
    )
    turned = weights.isel(subgroup=[2, 1, 0])
    assert float(bg.aggregate(gaps, group_power=2, center=0.0, group_weights=turned)) == pytest.approx(
        0.221359, abs=5e-7
    )
    classes = xr.DataArray([3.0, 1.0], {"label": ["first", "second"]})
    weighted = bg.aggregate(M, class_power=1, count=N, class_weights=classes)
    assert float(weighted) == pytest.approx((3 * 0.076667 + 0.13) / 4, abs=5e-7)
    by_rows = bg.aggregate(M, "score", group_power=1, class_power=None, group_weights=N)
    np.testing.assert_allclose(by_rows, [0.83, 0.51])


def test_reference_values() -> None:
    given_values = xr.DataArray([0.51, 0.83], {"label": ["second", "first"]})
    pooled = bg.aggregate(M, count=N)
    assert float(bg.aggregate(M, center=given_values)) == pytest.approx(float(pooled))
    assert float(bg.aggregate(M.assign_coords(count=N))) == pytest.approx(float(pooled))
    assert (pooled.attrs["center"], bg.aggregate(M, center=given_values).attrs["center"]) == ("pooled", "given")


def test_an_undefined_cell_is_nan_with_a_reason_or_left_out() -> None:
    holed = M.copy(data=[[0.9, np.nan, 0.7], [0.6, 0.6, 0.3]])
    with pytest.warns(UserWarning, match="'first' is undefined in subgroup 'b': the answer is NaN"):
        unknown = bg.aggregate(holed, count=N)
    assert np.isnan(unknown)
    assert unknown["reason"].item() == "'first' is undefined in subgroup 'b'"
    assert unknown["undefined_cells"].item() == 1
    with pytest.warns(UserWarning, match="'first' is undefined in subgroup 'b': left out"):
        dropped = bg.aggregate(holed, count=N, undefined="drop", class_power=None)
    centre = (50 * 0.9 + 20 * 0.7) / 70
    assert float(dropped[0]) == pytest.approx((abs(0.9 - centre) + abs(0.7 - centre)) / 2)
    assert dropped["undefined_cells"].values.tolist() == [1, 0]
    assert dropped["reason"].values.tolist() == ["", ""]


def test_a_class_that_is_defined_nowhere() -> None:
    holed = M.copy(data=[[np.nan] * 3, [0.6, 0.6, 0.3]])
    with pytest.warns(UserWarning, match="'first' is defined in no subgroup: left out"):
        left = bg.aggregate(holed, count=N, undefined="drop")
    assert float(left) == pytest.approx(0.13)
    with pytest.warns(UserWarning, match="defined in no subgroup"):
        nothing = bg.aggregate(holed * np.nan, count=N, undefined="drop")
    assert np.isnan(nothing)
    assert "'second' is defined in no subgroup" in nothing["reason"].item()


@pytest.mark.parametrize(
    ("values", "settings_", "reason"),
    [
        ([[0.5]], {"group_power": "variance"}, "has one subgroup, which has no variance"),
        ([[0.0, 0.0]], {"group_power": "max_ratio"}, "is 0 in all subgroups"),
        ([[0.0, 0.0]], {"unit": "ratio"}, "has a reference value of 0"),
        ([[-0.1, 0.4]], {"unit": "score", "group_power": 2}, "has negative values, for which group_power=2"),
        ([[0.1, 0.4]], {"count": xr.DataArray([[0, 0]], dims=("label", "subgroup")), "center": "pooled"},
         "has no reference value"),
    ],
)  # fmt: skip
def test_reasons(values: list[list[float]], settings_: dict[str, Any], reason: str) -> None:
    scores = xr.DataArray(values, dims=("label", "subgroup")).assign_coords(label=["x"])
    with pytest.warns(UserWarning, match=f"'x' {reason}"):
        got = bg.aggregate(scores, **({"center": "mean"} | settings_))
    assert np.isnan(got)
    assert reason in got["reason"].item()


def test_the_largest_ratio_can_be_infinite() -> None:
    scores = xr.DataArray([[0.0, 0.5], [0.4, 0.4]], dims=("label", "subgroup"))
    assert bg.aggregate(scores, group_power="max_ratio", class_power=None).values.tolist() == [np.inf, 1.0]
    assert float(bg.aggregate(scores, group_power="max_ratio")) == np.inf


BAD: list[tuple[dict[str, Any], str]] = [
    ({"unit": "gaps"}, "unit='gaps' is not one of"),
    ({"group_power": "mean_gaps"}, "group_power='mean_gaps' does not exist; did you mean 'mean_gap'"),
    ({"group_power": "mean_gap", "unit": "score"}, "group_power='mean_gap' is about unit 'gap', not 'score'"),
    ({"group_power": np.nan}, "group_power=nan is no exponent"),
    ({"group_power": True}, "group_power=True is no exponent"),
    ({"class_power": np.nan}, "class_power=nan is no exponent"),
    ({"class_power": "median"}, "class_power='median' does not exist"),
    ({"center": "median"}, "center='median' does not exist"),
    ({"center": "pooled", "count": None}, "center='pooled' needs the rows behind each score"),
    ({"count": N - 100}, "count must be 0 or more in every cell"),
    ({"count": N.rename(label="class")}, r"count has dims \['class'\] that do not fit"),
    ({"count": N.isel(subgroup=[0, 1])}, "count lacks subgroup 'c'"),
    ({"group_power": "difference_threshold"}, "needs a threshold of 0 or more; got None"),
    ({"group_power": "ratio_threshold", "threshold": -1}, "needs a threshold of 0 or more; got -1"),
    ({"threshold": 0.1}, "threshold=0.1 is for difference_threshold and ratio_threshold"),
    ({"group_power": "variance", "group_weights": N}, "group_power='variance' has no weights"),
    ({"group_weights": N * -1}, "group_weights must be numbers of 0 or more"),
    ({"class_power": "binary"}, "class_power='binary' needs positive="),
    ({"class_power": "binary", "positive": "first", "class_weights": N[:, 0]}, "looks at one class and has no weights"),
    ({"positive": "first"}, "positive='first' is for class_power='binary'"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.aggregate(M, **({"count": N} | changes))


def test_bad_scores_are_named() -> None:
    with pytest.raises(InputError, match=r"with a dim 'subgroup' \(and 'label'\); got \['label', 'group'\]"):
        bg.aggregate(M.rename(subgroup="group"))
    with pytest.raises(InputError, match="got list"):
        bg.aggregate([[0.5]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="hold an infinite value"):
        bg.aggregate(M.where(M < 0.9, np.inf), count=N)
    with pytest.raises(InputError, match=r"no values along \['subgroup'\]"):
        bg.aggregate(M.isel(subgroup=[]), count=N)
