"""Crossed effects of 2,592 rates: the smallest bulk effective number of draws per second of a whole fit, beside a formula.

Run with ``pytest -m benchmark -s``. The peer is bambi, which needs an environment of its own: with
``BAYESGROUPS_BAMBI_PYTHON=/path/to/python``, an interpreter that has bambi and nutpie, it runs there. Without it the row says so,
and the nearest peer is measured: nutpie on our PyMC model in a fresh process, with the compilation. Seconds are of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.table import Row, Table
from tests.benchmarks.test_crossed_effects import ORDER, tally

pytestmark = pytest.mark.benchmark

BAR = 2_000.0
"""What the design asks for."""
REPETITIONS = 5
BAMBI = """
import json, sys, time
import arviz as az, bambi as bmb, pandas as pd
rows = pd.read_csv(sys.argv[1], dtype={name: str for name in ["a", "b", "c", "d", "cell"]})
start = time.process_time()
model = bmb.Model("p(y, n) ~ 1 + (1|a) + (1|b) + (1|c) + (1|d) + (1|cell)", rows, family="binomial")
tree = model.fit(draws=1000, tune=1000, chains=4, inference_method="nutpie", target_accept=0.9, random_seed=int(sys.argv[2]),
                 progressbar=False)
seconds = time.process_time() - start
ess = az.ess(tree["posterior"].to_dataset(), method="bulk")
print(json.dumps([seconds, min(float(value.min()) for value in ess.data_vars.values())]))
"""
NUTPIE = f"""
import json, sys, time
import arviz as az, nutpie
from tests.benchmarks.test_crossed_effects import tally
from bayesgroups.inference import nuts
from bayesgroups.models import crossed_effects
counts = tally()
start = time.process_time()
model = crossed_effects.build(counts, order={ORDER})
tree = nuts.sample(model, seed=int(sys.argv[2]), draws=1000, tune=1000, chains=4, target_accept=0.9)
seconds = time.process_time() - start
ess = az.ess(tree["posterior"].to_dataset()[["mu", "overall", "component_sd"]], method="bulk")
print(json.dumps([seconds, min(float(value.min()) for value in ess.data_vars.values())]))
"""


def _fit(python: str, code: str, *arguments: str) -> float:
    """Smallest bulk effective number of draws per second of processor."""
    done = subprocess.run(
        [python, "-W", "ignore", "-c", code, *arguments], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, ess = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"\n{seconds:.1f} s of processor, smallest bulk effective number {ess:.0f}")
    return float(ess) / float(seconds)


def test_beside_a_formula(table: Table, tmp_path: Path) -> None:
    from bayesgroups.inference.collapsed.crossed_effects import sample

    counts = tally()
    sample(counts.isel(subgroup=slice(0, 100)), seed=1, order=ORDER)  # imports
    ours = []
    for seed in range(1, REPETITIONS + 1):
        start = time.process_time()
        exact = sample(counts, seed=seed, order=ORDER)
        seconds = time.process_time() - start
        assert all(check.passed for check in exact.checks)
        ours.append(min(next(check.value for check in exact.checks if check.name == "importance ESS"), 4000) / seconds)
    rows = counts[["successes", "count"]].isel(metric=0).to_dataframe().reset_index()
    rows = rows.rename(columns={"successes": "y", "count": "n", "subgroup": "cell"}).query("n > 0")
    path = tmp_path / "rows.csv"
    rows.astype({"y": int, "n": int}).to_csv(path, index=False)
    what = "2,592 rates, 4 attributes, crossed effects: smallest bulk effective number per second of a whole fit"
    python = os.environ.get("BAYESGROUPS_BAMBI_PYTHON")
    if python is None:
        table.add(Row(what, "bambi with nutpie", (), "x", BAR, note="not installed: set BAYESGROUPS_BAMBI_PYTHON"))
    code, peer = (
        (NUTPIE, "nutpie on our PyMC model, with compilation") if python is None else (BAMBI, "bambi with nutpie")
    )
    theirs = [_fit(python or sys.executable, code, str(path), str(seed)) for seed in range(1, REPETITIONS + 1)]
    ratios = tuple(a / b for a, b in zip(ours, theirs, strict=True))
    table.add(Row(what, peer, ratios, "x", None if python is None else BAR))
