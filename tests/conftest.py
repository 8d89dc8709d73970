"""Reports with every status there is, put together by hand so that no estimator is asked."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import settings
from threadpoolctl import threadpool_limits

import bayesgroups as bg
from bayesgroups.estimators.descriptions import describe
from bayesgroups.report.diagnostics import Check, at_most
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.posterior import Posterior
from bayesgroups.report.schema import assemble

# Every processor has a worker: threads of linear algebra beside them double the time of small matrices. The names are for
# libraries that are loaded later and for processes that tests start.
threadpool_limits(1)
LIMITS = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"
os.environ.update({name: os.environ.get(name, "1") for name in LIMITS})
# Reports carry the second in which they were made: two that a test compares may fall into different ones.
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
# No time is asserted: a processor that is busy elsewhere makes an example slow, and no answer wrong.
settings.register_profile("untimed", settings(deadline=None))
settings.load_profile("untimed")

MakeReport = Callable[..., xr.DataTree]

ATTRIBUTES = {"race": ["African American", "Asian", "Caucasian"], "sex": ["Female", "Male"]}


def make_tally(
    attributes: dict[str, list[str]] | None = None, metrics: Sequence[str] = ("fnr", "acc"), *, seed: int = 0
) -> xr.Dataset:
    """Counts for every combination: the first is empty, the second one row, the third saturated."""
    levels = ATTRIBUTES if attributes is None else attributes
    table = pd.MultiIndex.from_product(list(levels.values()), names=list(levels)).to_frame(index=False)
    random = np.random.default_rng(seed)
    trials = random.integers(5, 400, size=(len(metrics), len(table)))
    successes = random.binomial(trials, 0.4)
    for position, (hits, size) in enumerate(((0, 0), (1, 1), (0, 4))[: max(len(table) - 1, 0)]):
        trials[:, position], successes[:, position] = size, hits
    named = {name: successes[i] for i, name in enumerate(metrics)}
    return bg.tally_from_counts(named, {name: trials[i] for i, name in enumerate(metrics)}, table)


def make_report(tally: xr.Dataset | None = None, *, usable: bool = True, notes: Sequence[str] = ()) -> xr.DataTree:
    """A report of a tally whose draws are Beta draws and whose reference is a normal interval, unclipped."""
    given = make_tally() if tally is None else tally
    cells, shape = ("metric", "subgroup"), given["estimate"].shape
    random = np.random.default_rng(1)
    hits, count = np.nan_to_num(given["successes"].values), given["count"].values
    mu = random.beta(2 + hits, 3 + count - hits, size=(4, 250, *shape))
    coordinates = {"metric": given["metric"].values, "subgroup": given["subgroup"].values}
    draws = xr.Dataset(
        {
            "mu": (("chain", "draw", *cells), mu),
            "overall": (("chain", "draw", "metric"), mu.mean(axis=-1)),
            "tau": (("chain", "draw", "metric"), random.gamma(2.0, 0.1, size=(4, 250, shape[0]))),
        },
        {"chain": np.arange(4), "draw": np.arange(250), **coordinates},
    )
    error = np.sqrt(given["sampling_variance"].values)
    half = error[..., None] * np.array([0.67, 1.28, 1.64, 1.96])
    estimate = given["estimate"].values
    reference = xr.Dataset(
        {
            "estimate": (cells, estimate),
            "std_error": (cells, error),
            "lower": ((*cells, "level"), estimate[..., None] - half),
            "upper": ((*cells, "level"), estimate[..., None] + half),
            "interval_kind": ("metric", np.full(shape[0], "confidence")),
            "interval_method": ("metric", np.full(shape[0], "morris")),
            "status": (cells, given["status"].values),
        },
        {**coordinates, "level": np.array(LEVELS)},
    )
    value = 1e-9 if usable else 0.4
    checks: list[Check] = [
        at_most("grid edge mass", str(name), value, 1e-6, "the posterior mass at the edge of the grid")
        for name in given["metric"].values
    ]
    posterior = Posterior(draws, tuple(checks), "collapsed")
    estimator = bg.PartialPooling()
    return assemble(
        given, posterior, reference, estimator=estimator.word, settings=estimator.settings(), seed=1, notes=notes,
        description=describe(estimator, given),
    )  # fmt: skip


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many processes as there are processors, but one alone where time is measured."""
    if config.option.markexpr == "benchmark":
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # inherited: threads of several processes get in each other's way
    return os.cpu_count() or 1


@pytest.fixture(name="make_tally")
def _make_tally() -> Callable[..., xr.Dataset]:
    return make_tally


@pytest.fixture(name="make_report")
def _make_report() -> MakeReport:
    return make_report


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose pictures are not looked at do not draw them, which takes most of the time of a page."""
    from bayesgroups.views.html.sections import context

    blank = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg"/>').decode("ascii")
    monkeypatch.setattr(context, "_drawing", lambda draw: blank)


_READ: dict[tuple[str, str], Any] = {}
"""Files that were read, by their bytes and by what opened them."""


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports and tallies are not read again from bytes that were read before, which takes most of the time of a command."""
    from bayesgroups.data.netcdf import read_netcdf
    from bayesgroups.report import schema
    from bayesgroups.tallies import files

    def read(path: str | Path, opened: Callable[..., Any]) -> Any:
        if not Path(path).is_file():
            return read_netcdf(path, opened)
        key = (hashlib.sha256(Path(path).read_bytes()).hexdigest(), opened.__name__)
        if key not in _READ:
            _READ[key] = read_netcdf(path, opened)
        return _READ[key].copy(deep=True)

    for module in (schema, files):
        monkeypatch.setattr(module, "read_netcdf", read)


@pytest.fixture
def report() -> xr.DataTree:
    """Two metrics, six subgroups, every status of a tally."""
    return make_report()


@pytest.fixture
def truth(report: xr.DataTree) -> xr.DataArray:
    """True values: all 0.4."""
    estimates = report["constant_data"].to_dataset()["estimate"]
    return xr.full_like(estimates, 0.4).rename("truth")
