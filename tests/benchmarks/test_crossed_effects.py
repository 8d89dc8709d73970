"""Crossed effects of many subgroups: the exact engine beside NUTS on the same model, and its memory.

Run with ``pytest -m benchmark -s``. Seconds are of the processor, over all threads; only ratios and memory are asserted. The
bars are those of the design; what is asserted are floors. NUTS of today's model is too good for that of the worst quantity.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

LEVELS = (6, 6, 6, 12)
ORDER = 1
WORST_BAR, CPU_BAR = 1_000.0, 30.0
WORST_FLOOR, CPU_FLOOR = 30.0, 30.0
MOST_MEGABYTES = 900.0
REPETITIONS = 5

TALLY = """
import itertools, time
import numpy as np, pandas as pd
import bayesgroups as bg
rng = np.random.default_rng(1)
who = pd.DataFrame(itertools.product(range(10), range(10), range(10), range(20)), columns=list("abcd")).astype(str)
n = np.maximum(rng.lognormal(np.log(25) - 0.5, 1, len(who)).astype(int), 1)
effects = sum(rng.normal(0, 0.3, 20)[who[name].astype(int)] for name in who) + rng.normal(0, 0.2, len(who))
tally = bg.tally_from_estimates(effects + rng.standard_normal(len(who)) / np.sqrt(n), 1 / n, who)
start, processor = time.perf_counter(), time.process_time()
"""

FIT = """
from bayesgroups.inference.collapsed.crossed_effects import sample
found = sample(tally, seed=1, binomial_likelihood=False, order=1)
assert all(check.passed for check in found.checks), found.checks
found.draws["mu"].values.mean(axis=(0, 1))
"""

REPORT = """
report = bg.estimate(tally, bg.CrossedEffects(order=1), seed=1)
assert report.attrs["usable"] and "observed_data" in report
assert np.isfinite(report["estimates"]["upper"].values).all()
"""

PRINTED = """
from examples.comparisons.scaling import peak_megabytes
print(time.perf_counter() - start, time.process_time() - processor, peak_megabytes())
"""


def tally() -> xr.Dataset:
    rng = np.random.default_rng(1)
    who = pd.DataFrame(itertools.product(*map(range, LEVELS)), columns=list("abcd")).astype(str)
    n = rng.lognormal(np.log(40) - 0.5, 1, len(who)).astype(int)
    logit = -1 + sum(rng.normal(0, 0.3, 12)[who[name].astype(int)] for name in who) + rng.normal(0, 0.3, len(who))
    return bg.tally_from_counts(rng.binomial(n, 1 / (1 + np.exp(-logit))), n, who, metric="fnr")


def test_many_rates(table: Table) -> None:
    import arviz as az
    import nutpie

    from bayesgroups.inference.collapsed.crossed_effects import sample
    from bayesgroups.models import crossed_effects

    counts = tally()
    sample(counts.isel(subgroup=slice(0, 100)), seed=1, order=ORDER)  # imports
    compiled = nutpie.compile_pymc_model(crossed_effects.build(counts, order=ORDER))
    settings: dict[str, Any] = {"chains": 4, "target_accept": 0.9, "progress_bar": False}
    nutpie.sample(compiled, seed=0, draws=10, tune=10, **settings)
    worst, processor = [], []
    for seed in range(1, REPETITIONS + 1):
        start = time.process_time()
        exact = sample(counts, seed=seed, order=ORDER)
        ours = time.process_time() - start
        assert all(check.passed for check in exact.checks)
        effective = min(next(check.value for check in exact.checks if check.name == "importance ESS"), 4000)
        start = time.process_time()
        tree = nutpie.sample(compiled, seed=seed, draws=1000, tune=1000, **settings)
        theirs = time.process_time() - start
        posterior = tree["posterior"].to_dataset()
        least = min(float(az.ess(posterior[name]).min()) for name in ("mu", "overall", "component_sd"))
        worst.append((effective / ours) / (least / theirs))
        processor.append(theirs / ours)
        print(f"\n2,592 rates, 4 attributes: exact {ours:.1f} s, {effective:.0f} effective draws of every quantity")
        print(f"NUTS (nutpie), {int(tree['sample_stats']['diverging'].sum())} divergences, compilation not counted: "
              f"{theirs:.1f} s, {least:.0f} of the worst")  # fmt: skip
    what, peer = "2,592 rates of 4 attributes, crossed effects", "nutpie on the same PyMC model, compiled before"
    table.add(Row(f"{what}: worst quantity per second", peer, tuple(worst), "x", WORST_BAR))
    table.add(Row(f"{what}: processor per fit", peer, tuple(processor), "x", CPU_BAR))
    assert min(worst) >= WORST_FLOOR
    assert min(processor) >= CPU_FLOOR


@pytest.mark.parametrize(("levels", "bar"), [((5, 4, 3), 0.3), ((5, 4, 3, 2), 1.0), ((10, 10, 5, 2), 3.0)])
def test_rates_of_every_order(table: Table, levels: tuple[int, ...], bar: float) -> None:
    """Seconds of processor of one metric, all components crossed; every fit passes its checks."""
    from bayesgroups.inference.collapsed.crossed_effects import sample

    rng = np.random.default_rng(1)
    who = pd.DataFrame(itertools.product(*map(range, levels)), columns=list("abcd")[: len(levels)]).astype(str)
    logit = np.full(len(who), -1.0)
    for size in range(1, len(levels) + 1):
        for chosen in itertools.combinations(who.columns, size):
            cell = who.groupby(list(chosen)).ngroup().to_numpy()
            logit += rng.normal(0, 0.3, cell.max() + 1)[cell]
    n = rng.lognormal(np.log(30) - 0.5, 1, len(who)).astype(int)
    counts = bg.tally_from_counts(rng.binomial(n, 1 / (1 + np.exp(-logit))), n, who)
    sample(counts, seed=0)
    seconds = []
    for seed in range(1, REPETITIONS + 1):
        start = time.process_time()
        fit = sample(counts, seed=seed)
        seconds.append(time.process_time() - start)
        assert all(check.passed for check in fit.checks), fit.checks
    effective = min(check.value for check in fit.checks if check.name.endswith("ESS"))
    print(
        f"\n{len(who)} rates, {2 ** len(levels) - 1} components: {effective:.0f} effective draws of the worst quantity"
    )
    what = f"{len(who)} rates, {2 ** len(levels) - 1} components, crossed effects: processor"
    table.add(Row(what, "-", tuple(seconds), "s", bar, larger=False))


@pytest.mark.parametrize(("name", "script"), [("4,000 draws", FIT), ("report of both approaches", REPORT)])
def test_twenty_thousand_means(table: Table, name: str, script: str) -> None:
    """Each time in a process of its own; the first may wait for memory that the machine has yet to find."""
    runs = []
    for _ in range(REPETITIONS):
        found = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TALLY + script + PRINTED], check=True, capture_output=True, text=True
        )
        runs.append([float(each) for each in found.stdout.split()])
        seconds, processor, megabytes = runs[-1]
        print(f"\n20,000 estimates, {name}: {seconds:.1f} s ({processor:.1f} s of processor), {megabytes:.0f} MB")
    what = f"20,000 estimates of 4 attributes, crossed effects, {name}"
    bar = 3.0 if script is FIT else None
    table.add(Row(what, "-", tuple(run[0] for run in runs), "s", bar, larger=False))
    table.add(Row(f"{what}: peak", "-", tuple(run[2] / 1000 for run in runs), "GB", 0.9, larger=False))
    assert max(run[2] for run in runs) < MOST_MEGABYTES
