"""Exact fits on threads and processes: the bytes and the errors of fits one by one."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data import processes
from bayesgroups.data.processes import _Shared, on_processors
from bayesgroups.estimators import Estimator
from bayesgroups.estimators.exact_fits import exact_fit, exact_fits
from bayesgroups.report.posterior import Posterior
from tests.data.test_processes import wait_for

MAX_FITS = 20
"""Fits after which another process should have been of use."""


@pytest.fixture(scope="module")
def five_metrics() -> xr.Dataset:
    """Five metrics of 12 subgroups, one of which has no outcomes."""
    rng = np.random.default_rng(1)
    n = 600
    rows = pd.DataFrame({"race": rng.choice(list("abcd"), n), "age": rng.choice(list("xyz"), n)})
    rows["outcome"] = rng.integers(0, 2, n) * (rows["race"] + rows["age"] != "ax")
    rows["decision"] = rng.integers(0, 2, n)
    metrics = ["sel", "fnr", "fpr", "acc", "ppv"]
    return bg.tally(rows, by=["race", "age"], metrics=metrics, y_true="outcome", y_pred="decision")


def bytes_of(report: xr.DataTree) -> dict[str, bytes]:
    return {
        f"{node.path}/{name}": values.values.tobytes()
        for node in report.subtree
        for name, values in node.variables.items()
        if values.dtype.kind != "O"
    }


@pytest.mark.parametrize("estimator", [bg.CrossedEffects(order=1), bg.PartialPooling()], ids=lambda each: each.word)
def test_processors_do_not_change_a_byte(
    estimator: Estimator, five_metrics: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    three = five_metrics.isel(metric=slice(3))
    answers, told = [], []
    for processors in (1, 3):
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        steps: list[tuple[str, int, int]] = []
        report = bg.estimate(three, estimator, seed=3, progress=lambda *step, steps=steps: steps.append(step))
        answers.append(bytes_of(report))
        told.append(steps)
    assert answers[0] == answers[1]
    assert told[0] == told[1]


class Recorded:
    """The engine of an estimator that notes which thread ran it, under which treatment of floating-point errors."""

    def __init__(self, *, in_threads: bool, failing: str = "") -> None:
        self.subgroups_in_threads, self.in_processes, self.failing = 100 * in_threads, False, failing
        self.runs: list[tuple[str, int, str]] = []

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        if self.failing == "reference":
            raise bg.InputError("no reference")
        return tally

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        name = str(tally["metric"].values[0])
        self.runs.append((name, threading.get_ident(), np.geterr()["over"]))
        if name == self.failing:
            raise bg.InputError(f"{name} cannot be fitted")
        return None


def run(engine: Recorded, tally: xr.Dataset) -> list[Posterior | None]:
    parts = [tally.isel(metric=[i]) for i in range(tally.sizes["metric"])]
    with exact_fits(tally, parts, engine, 1) as (reference, fits):  # type: ignore[arg-type]
        assert reference is tally
        return list(fits)


def test_only_engines_that_declare_it_run_in_threads(five_metrics: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    here = threading.get_ident()
    for in_threads in (False, True):
        engine = Recorded(in_threads=in_threads)
        with np.errstate(over="raise"):
            assert run(engine, five_metrics) == [None] * 5
        assert {name for name, *_ in engine.runs} == set(five_metrics["metric"].values)
        assert all((thread == here) is not in_threads for _, thread, _ in engine.runs)
        assert {errors for *_, errors in engine.runs} == {"raise"}


def test_large_metrics_are_fitted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    sites = pd.DataFrame({"site": range(101)})
    counts = bg.tally_from_counts(np.ones(len(sites)), np.full(len(sites), 2.0), sites)
    engine = Recorded(in_threads=True)
    run(
        engine, xr.concat([counts, counts.assign_coords(metric=["other"])], dim="metric", join="exact", data_vars="all")
    )
    assert {thread for _, thread, _ in engine.runs} == {threading.get_ident()}


def test_draws_that_are_too_large_to_be_sent_stay_in_this_process(
    five_metrics: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(calls: object) -> None:
        raise RuntimeError("on processes")

    monkeypatch.setattr(processes, "on_processors", refused)
    engine = Recorded(in_threads=False)
    engine.in_processes = True
    with pytest.raises(RuntimeError, match="on processes"):
        run(engine, five_metrics)
    monkeypatch.setattr(processes, "MAX_SUBGROUPS", five_metrics.sizes["subgroup"] - 1)
    assert run(engine, five_metrics) == [None] * 5


def test_chains_run_on_no_threads() -> None:
    """Their short steps wait for the interpreter's lock."""
    for estimator in (bg.CrossedEffects(), bg.PartialPooling(covariates=("sex",))):
        assert (estimator.subgroups_in_threads, estimator.in_processes) == (0, True)
    assert bg.ConfusionModel().subgroups_in_threads == 0


@pytest.fixture
def _processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two processors, and processes that start at once."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(processes, "WAIT_SECONDS", 0.0)
    yield
    processes._PROCESSES.end()


def with_cells(levels: tuple[int, ...]) -> xr.Dataset:
    """Two metrics of so many subgroups, with cells."""
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(list(itertools.product(*map(range, levels))) * 6, columns=list("abc")[: len(levels)])
    rows["outcome"], rows["decision"] = rng.integers(0, 2, (2, len(rows)))
    by = list(rows.columns[: len(levels)])
    return bg.tally(rows, by, metrics=["sel", "fnr"], y_true="outcome", y_pred="decision", confusion=True)


@pytest.mark.usefixtures("_processes")
@pytest.mark.parametrize(
    ("estimator", "levels", "metrics"),
    [
        (bg.CrossedEffects(), (7, 6), 2),
        (bg.StructuredRegression(), (3, 2), 1),
        (bg.ConfusionModel(), (7, 6), 2),
    ],
    ids=lambda each: getattr(each, "word", ""),
)
def test_processes_do_not_change_a_byte(
    estimator: Estimator, levels: tuple[int, ...], metrics: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally, sent = with_cells(levels).isel(metric=slice(metrics)), list[int]()
    given_up = _Shared.given_up

    def noted(self: _Shared[object]) -> bool:
        sent.extend(self.sent)
        return given_up(self)

    monkeypatch.setattr(_Shared, "given_up", noted)
    reports = [bg.estimate(tally, estimator, seed=3)]
    while (
        not sent and len(reports) < MAX_FITS
    ):  # the other process takes longest to start where the machine has other work
        reports.append(bg.estimate(tally, estimator, seed=3))
    assert sent
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    assert bytes_of(reports[-1]) == bytes_of(bg.estimate(tally, estimator, seed=3))


@pytest.mark.usefixtures("_processes")
def test_errors_of_models_in_other_processes_are_input_errors(tmp_path: Path) -> None:
    """They are told by their frames, which do not come along."""
    tally, file = with_cells((3, 2)).isel(metric=[0]), tmp_path / "begun"
    fit = partial(exact_fit, bg.CrossedEffects(covariates=("height",)), tally, 1)
    calls: list[Callable[[], object]] = [partial(wait_for, file), partial(_begin, file, fit)]
    with on_processors(calls) as results:
        next(results)
        with pytest.raises(bg.InputError, match="height"):
            next(results)


def _begin(file: Path, fit: Callable[[], Posterior | None]) -> Posterior | None:
    file.touch()
    return fit()


def test_an_error_is_raised_and_ends_the_rest(five_metrics: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for in_threads in (False, True):
        with pytest.raises(bg.InputError, match="fnr cannot be fitted"):
            run(Recorded(in_threads=in_threads, failing="fnr"), five_metrics)
        with pytest.raises(bg.InputError, match="no reference"):
            run(Recorded(in_threads=in_threads, failing="reference"), five_metrics)
