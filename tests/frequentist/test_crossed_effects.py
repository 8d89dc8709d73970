"""Crossed effects on a tally: settings, statuses, tasks, and data at the edge."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import crossed_effects
from bayesgroups.frequentist.crossed import mixture, multi_task, sure
from bayesgroups.frequentist.crossed.families import family_of
from bayesgroups.frequentist.crossed.joint_fit import Choice, Method, Tasks
from bayesgroups.report.levels import LEVELS

METHODS: tuple[Method, ...] = get_args(Method)
TASKS: tuple[Tasks, ...] = get_args(Tasks)
TABLE = pd.MultiIndex.from_product([["a", "b", "c"], ["f", "m"], ["x", "y"]], names=["race", "sex", "age"])


def counts(seed: int = 0, metrics: tuple[str, ...] = ("fnr",), table: pd.MultiIndex = TABLE) -> xr.Dataset:
    """The third subgroup is empty."""
    rng = np.random.default_rng(seed)
    trials = rng.integers(3, 60, (len(metrics), len(table)))
    trials[:, 2] = 0
    hits = rng.binomial(trials, rng.uniform(0.2, 0.5, len(table)))
    frame = table.to_frame(index=False)
    return bg.tally_from_counts(dict(zip(metrics, hits, strict=True)), dict(zip(metrics, trials, strict=True)), frame)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", get_args(Choice))
def test_every_answer(method: Method, interval: Choice) -> None:
    tally = counts(metrics=("fnr", "acc"))
    found = crossed_effects.estimate(tally, method=method, interval=interval)
    assert found["component"].values.tolist()[:2] == ["shared", "race"]
    assert found["component"].values.tolist()[-1] == "identity"
    assert found["interval_method"].values.tolist() == [interval, interval]
    assert found["status"].values[0].tolist() == ["ok", "ok", "imputed", *["ok"] * 9]
    assert found["lower"].dims == ("metric", "subgroup", "level")
    assert found["race"].values.tolist() == tally["race"].values.tolist()
    widths = (found["upper"] - found["lower"]).values
    assert (widths > 0).all()
    assert (np.diff(widths, axis=-1) > 0).all()
    assert ((found["estimate"] >= 0) & (found["estimate"] <= 1)).all()
    middle = (found["upper"] + found["lower"]).isel(level=0).values / 2
    np.testing.assert_allclose(np.clip(middle, 0, 1), found["estimate"].values, atol=1e-12)
    assert "centre_sd" not in found
    assert np.isnan(found["component_sd"].values[:, 0]).all() == (method == "marginal_likelihood")
    assert np.isfinite(found["risk"]).all() == (method == "suremap")
    assert np.isfinite(found["effective_points"]).all() == (interval == "corrected")
    tau = np.sqrt((found["component_sd"].isel(component=slice(1, None)) ** 2).sum("component"))
    np.testing.assert_allclose(found["tau"], tau)


def test_numbers_are_those_of_the_fits() -> None:
    tally = counts(1, ("acc",))
    agreement = family_of(tally).agreement()
    z = tally["estimate"].values[0]
    with np.errstate(divide="ignore"):
        u = np.where(np.isfinite(z), 1 / tally["sampling_variance"].values[0], 0.0)
    y = np.nan_to_num(z)
    alone = sure.fit(y, u, agreement, centre=1.0)
    law = mixture.mix(y, u, agreement[1:], seed=3).posterior
    found = crossed_effects.estimate(tally, seed=3).sel(metric="acc")
    np.testing.assert_allclose(found["estimate"], alone.estimate, atol=1e-4)
    np.testing.assert_allclose(found["component_sd"][1:] ** 2, alone.variances[1:], atol=1e-4)
    assert found["risk"].item() == pytest.approx((alone.risk + 1) / 11, abs=1e-4)
    expected = np.sqrt(law.variance + (alone.estimate - law.estimate) ** 2)
    np.testing.assert_allclose(found["std_error"], expected, rtol=1e-3)
    likely = crossed_effects.estimate(tally, method="marginal_likelihood", seed=3).sel(metric="acc")
    np.testing.assert_allclose(likely["estimate"], law.estimate, atol=1e-4)
    np.testing.assert_allclose(likely["std_error"] ** 2, law.variance, rtol=1e-3)


def test_the_plug_in_is_the_posterior() -> None:
    tally = counts(2)
    found = crossed_effects.estimate(tally, interval="plug_in").sel(metric="fnr")
    agreement = family_of(tally).agreement()
    covariance = np.tensordot(found["component_sd"].values ** 2, agreement, 1)
    v = tally["sampling_variance"].values[0]
    used = np.flatnonzero(np.isfinite(v))
    gain = covariance[:, used] @ np.linalg.inv(covariance[np.ix_(used, used)] + np.diag(v[used]))
    expected = np.diagonal(covariance - gain @ covariance[used])
    np.testing.assert_allclose(found["std_error"] ** 2, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tasks", TASKS)
def test_tasks(tasks: Tasks) -> None:
    tally = counts(3, ("one", "two", "three"))
    found = crossed_effects.estimate(tally, tasks=tasks)
    with np.errstate(divide="ignore"):
        u = np.nan_to_num(1 / tally["sampling_variance"].values)
    joint = multi_task.fit(np.nan_to_num(tally["estimate"].values), u, family_of(tally).agreement(), variant=tasks)
    np.testing.assert_allclose(found["estimate"], joint.estimate, atol=2e-3)
    for name in ("component_sd", "centre_sd", "risk"):
        np.testing.assert_array_equal(found[name].values[0], found[name].values[2])
    assert np.isfinite(found["centre_sd"]).all() == (tasks == "metamap")
    assert (found["upper"] > found["lower"]).all()
    plain = crossed_effects.estimate(tally, tasks=tasks, interval="plug_in")
    np.testing.assert_array_equal(plain["estimate"], found["estimate"])
    assert (plain["std_error"] >= 0).all()


@pytest.mark.parametrize("tasks", ["zero", "metamap"])
@pytest.mark.parametrize("interval", get_args(Choice))
def test_tasks_by_likelihood(tasks: Tasks, interval: Choice) -> None:
    tally = counts(4, ("one", "two"))
    found = crossed_effects.estimate(tally, method="marginal_likelihood", tasks=tasks, interval=interval)
    assert np.isfinite(found["component_sd"]).all()
    assert np.isnan(found["centre_sd"].values[:, 0]).all()
    assert np.isfinite(found["centre_sd"].values[:, 1:]).all() == (tasks == "metamap")
    assert (found["upper"] > found["lower"]).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_task_is_no_task(method: Method) -> None:
    tally = counts(5)
    alone, one = (crossed_effects.estimate(tally, method=method, tasks=tasks) for tasks in (None, "zero"))
    np.testing.assert_allclose(alone["estimate"], one["estimate"], atol=1e-9)
    np.testing.assert_allclose(alone["std_error"], one["std_error"], atol=1e-9)


def test_many_tasks_are_split_for_their_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = counts(6, ("one", "two", "three"))
    whole = crossed_effects.estimate(tally, tasks="metamap")
    monkeypatch.setattr("bayesgroups.frequentist.crossed.joint_fit.TOGETHER", 12)
    split = crossed_effects.estimate(tally, tasks="metamap")
    np.testing.assert_array_equal(whole["estimate"], split["estimate"])
    assert 0.5 < float((split["std_error"] / whole["std_error"]).mean()) < 2
    empty = tally.copy(deep=True)
    for name in ("estimate", "sampling_variance"):
        empty[name][{"metric": 1}] = np.nan
    found = crossed_effects.estimate(empty, tasks="metamap")
    assert np.isfinite(found["estimate"]).all()
    assert np.isnan(found["std_error"].values[1]).all()
    assert np.isfinite(found["std_error"].values[[0, 2]]).all()


@pytest.mark.parametrize("method", METHODS)
def test_names_and_order_of_subgroups_do_not_matter(method: Method) -> None:
    frame, rng = TABLE.to_frame(index=False), np.random.default_rng(7)
    trials = rng.integers(3, 60, len(frame))
    hits = rng.binomial(trials, 0.3)
    turn = rng.permutation(len(frame))
    renamed = frame.assign(race=frame["race"].map({"a": "z", "b": "y", "c": "x"}))
    plain = crossed_effects.estimate(bg.tally_from_counts(hits, trials, frame), method=method)
    other = bg.tally_from_counts(hits[turn], trials[turn], renamed.iloc[turn].reset_index(drop=True))
    turned = crossed_effects.estimate(other, method=method)
    np.testing.assert_allclose(turned["estimate"].values[0], plain["estimate"].values[0][turn], atol=1e-3)
    np.testing.assert_allclose(turned["std_error"].values[0], plain["std_error"].values[0][turn], atol=2e-3)


def test_one_attribute_is_partial_pooling() -> None:
    site = pd.DataFrame({"site": list("abcdefgh")})
    tally = bg.tally_from_counts([9, 12, 3, 8, 2, 20, 5, 0], [30, 25, 20, 10, 15, 40, 12, 0], site)
    found = crossed_effects.estimate(tally, method="marginal_likelihood", interval="plug_in").isel(metric=0)
    assert found["component"].values.tolist() == ["shared", "identity"]
    z, v = tally["estimate"].values[0, :-1], tally["sampling_variance"].values[0, :-1]
    share = v / (v + float(found["tau"]) ** 2)
    centre = float(found["overall"])
    assert centre == pytest.approx(((1 - share) * z).sum() / (1 - share).sum())
    np.testing.assert_allclose(found["estimate"].values, [*(z + share * (centre - z)), centre], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_few_estimates_are_left_alone(method: Method) -> None:
    tally = bg.tally_from_counts([3, 2, 5, 0], [9, 8, 7, 0], pd.DataFrame({"race": list("aabb"), "sex": list("fmfm")}))
    found = crossed_effects.estimate(tally, method=method)
    assert found["interval_method"].values.tolist() == ["unshrunk"]
    np.testing.assert_allclose(found["estimate"].values[0, :3], tally["estimate"].values[0, :3])
    assert np.isnan(found["component_sd"]).all()
    assert found["status"].values[0].tolist() == ["ok", "ok", "ok", "imputed"]


@pytest.mark.parametrize("method", METHODS)
def test_a_sampling_variance_of_zero(method: Method) -> None:
    tally = counts(8).copy(deep=True)
    tally["sampling_variance"][{"subgroup": 0}] = 0.0
    found = crossed_effects.estimate(tally, method=method)
    assert found["estimate"].values[0, 0] == tally["estimate"].values[0, 0]
    assert found["status"].values[0, 0] == "degenerate"
    assert np.isfinite(found["estimate"]).all()
    nothing = crossed_effects.estimate(tally.assign(sampling_variance=tally["sampling_variance"] * 0), method=method)
    np.testing.assert_array_equal(nothing["estimate"].values[0, :2], tally["estimate"].values[0, :2])


def test_no_data_at_all() -> None:
    tally = counts(8)
    found = crossed_effects.estimate(tally.assign(estimate=tally["estimate"] * np.nan))
    assert np.isnan(found["estimate"]).all()


@pytest.mark.parametrize("method", METHODS)
def test_units_do_not_matter(method: Method) -> None:
    tally = counts(9)
    scaled = tally.assign(
        estimate=tally["estimate"] * 1e6,
        sampling_variance=tally["sampling_variance"] * 1e12,
        range_upper=tally["range_upper"] * 1e6,
    )
    plain, large = (crossed_effects.estimate(each, method=method) for each in (tally, scaled))
    np.testing.assert_allclose(large["estimate"], plain["estimate"] * 1e6, rtol=1e-6)
    np.testing.assert_allclose(large["upper"], plain["upper"] * 1e6, rtol=1e-6)


def test_a_perfect_model_of_an_unbounded_metric_has_zero() -> None:
    tally = counts(10)
    one = crossed_effects.estimate(tally.assign(range_lower=("metric", [-np.inf])))
    np.testing.assert_array_equal(one["estimate"], crossed_effects.estimate(tally)["estimate"])
    assert one.sizes["level"] == len(LEVELS)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"method": "suremaps"}, "method='suremaps' is not one of .*; did you mean 'suremap'"),
    ({"interval": "morris"}, "interval='morris' is not one of"),
    ({"tasks": "all"}, "tasks='all' is not one of"),
    ({"order": -1}, "order=-1 must be 0 or more"),
    ({"tasks": "solve", "method": "marginal_likelihood"}, "has no likelihood; use 'metamap' or 'zero'"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSALS)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        crossed_effects.estimate(counts(metrics=("one", "two")), **settings)


def test_tasks_must_be_alike() -> None:
    tally = counts(metrics=("fnr", "acc"))
    with pytest.raises(InputError, match=r"their larger_is_better differs \(fnr: 0, acc: 1\)"):
        crossed_effects.estimate(tally, tasks="metamap")
    with pytest.raises(InputError, match="needs two metrics or more, and the tally has only 'fnr'"):
        crossed_effects.estimate(counts(), tasks="solve")


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossed_effects, "MAX_CELLS_FOR_JOINT_LIKELIHOOD", 20)
    tally = counts(metrics=("one", "two"))
    with pytest.raises(InputError, match="the likelihood of 24 cells of task and subgroup takes too long"):
        crossed_effects.estimate(tally, method="marginal_likelihood", tasks="metamap")
    assert np.isfinite(crossed_effects.estimate(tally, tasks="metamap")["estimate"]).all()
