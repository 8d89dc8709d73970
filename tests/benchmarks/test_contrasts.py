"""Contrasts of 1,000 subgroups with three references, beside statsmodels' intervals of the same pairs.

Run with ``pytest -m benchmark -s``. Of the peer, which takes pairs one by one, 100 are measured and extrapolated to all.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

REPETITIONS, PAIRS = 5, 100
BAR = 1.0
"""Seconds of processor."""


@pytest.fixture(scope="module")
def tally() -> xr.Dataset:
    levels = [[f"{name}{i}" for i in range(10)] for name in "abc"]
    who = pd.DataFrame(itertools.product(*levels), columns=["a", "b", "c"])
    rng = np.random.default_rng(1)
    count = rng.integers(5, 200, len(who))
    return bg.tally_from_counts(rng.binomial(count, 0.3), count, who, metric="fnr")


def _seconds(function: Callable[[], object]) -> list[float]:
    """Seconds of processor of every repetition; what is imported on the way is imported before."""
    function()
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return times


def test_a_thousand_subgroups_and_three_references(tally: xr.Dataset, table: Table) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep

    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        pytest.skip(
            "seconds of processor are counted with OPENBLAS_NUM_THREADS=1: idle threads of BLAS count as busy ones"
        )
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    first = str(tally["subgroup"].values[0])

    def ours(source: xr.Dataset | xr.DataTree) -> None:
        for reference in ("overall", "rest", first):
            bg.contrasts(source, reference)

    k, n = (tally[name].isel(metric=0).values for name in ("successes", "count"))

    def theirs() -> None:
        for i in range(1, PAIRS + 1):
            for compare, method in (("diff", "newcomb"), ("ratio", "score")):
                confint_proportions_2indep(k[i], n[i], k[0], n[0], compare=compare, method=method)

    peer = [seconds * 3 * len(k) / PAIRS for seconds in _seconds(theirs)]
    what = "contrasts of 1,000 subgroups with three references, differences and ratios"
    of_report, of_tally = _seconds(lambda: ours(report)), _seconds(lambda: ours(tally))
    for name, seconds in (("report, both sides", of_report), ("tally", of_tally)):
        table.add(Row(f"{what}, {name}, processor", "-", tuple(seconds), "s", BAR, larger=False))
    assert table.ratio(f"{what}, tally", "statsmodels, limits alone", peer, of_tally) > 1
