"""A process from its start to a report of 32 subgroups, beside one that samples the same model with PyMC.

Run with ``pytest -m benchmark -s``. Times of one run, in alternating repetitions; only ratios are asserted: a floor below the
smallest ratio measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.table import Table

pytestmark = pytest.mark.benchmark

REPETITIONS = 5
BARS = {"functions compiled": 18.0, "compiled functions on disk": 15.0}
"""What the design asks for, by what the peer finds."""
FLOOR = 8.0
"""Somewhat below the smallest ratio that was measured; beneath it we have lost something."""

DATA = """
import sys
sys.modules["dask"] = None  # xarray loads it where it is installed; neither process is to pay for that
import numpy as np
size = np.array([2, 3, 3, 5, 5, 6, 6, 9, 15, 18, 19, 20, 21, 23, 27, 28, 31, 34, 58, 66, 80, 94, 153, 157, 202, 244, 330,
                 432, 482, 525, 946, 956])
misses = np.random.default_rng(1).binomial(size, 0.25)
"""
OURS = f"""{DATA}
import pandas as pd
import bayesgroups as bg
groups = pd.DataFrame({{"group": [str(i) for i in range(32)]}})
report = bg.estimate(bg.tally_from_counts(misses, size, groups), bg.PartialPooling(), seed=1)
assert report.attrs["usable"] == 1
"""
PEER = f"""{DATA}
import pymc as pm
with pm.Model(coords={{"group": np.arange(32)}}):
    alpha, tau = pm.Normal("alpha", 0.0, 1.5), pm.HalfNormal("tau", 0.5)
    z = pm.Normal("z", dims="group")
    mu = pm.Deterministic("mu", pm.math.invlogit(alpha + tau * z), dims="group")
    pm.Binomial("misses", n=size, p=mu, observed=misses, dims="group")
    tree = pm.sample(nuts_sampler="nutpie", cores=2, random_seed=1, target_accept=0.9, progressbar=False, quiet=True)
import arviz as az
az.summary(tree, var_names=["mu", "tau"])
tree["posterior"]["mu"].quantile([0.025, 0.05, 0.1, 0.25, 0.75, 0.9, 0.95, 0.975], dim=["chain", "draw"])
"""


def _seconds(code: str, cache: Path) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTENSOR_FLAGS": f"base_compiledir={cache}", "NUMBA_CACHE_DIR": str(cache / "numba")}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


@pytest.fixture(scope="module")
def ratios(tmp_path_factory: pytest.TempPathFactory, table: Table) -> list[float]:
    """Median ratios to a peer that must compile, and to one that finds its compiled functions on the disk."""
    folder = tmp_path_factory.mktemp("compiled")
    kept = folder / "kept"
    for code in (OURS, PEER):  # writes the bytecode of both, and what the peer keeps of its compiled functions
        _seconds(code, kept)
    ours, first, later = [], [], []
    for i in range(REPETITIONS):
        ours.append(_seconds(OURS, kept))
        later.append(_seconds(PEER, kept))
        first.append(_seconds(PEER, folder / f"empty_{i}"))
    what = "process start to a report of 32 subgroups"
    peers = {"functions compiled": first, "compiled functions on disk": later}
    return [
        table.ratio(what, f"pm.sample with nutpie, az.summary; {peer}", seconds, ours, bar=BARS[peer])
        for peer, seconds in peers.items()
    ]


def test_nothing_was_lost(ratios: list[float]) -> None:
    assert min(ratios) >= FLOOR
