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

BAR = 500.0
BAMBI = """
import json, sys, time
import arviz as az, bambi as bmb, pandas as pd
rows = pd.read_csv(sys.argv[1], dtype={name: str for name in ["a", "b", "c", "d", "cell"]})
start = time.process_time()
model = bmb.Model("p(y, n) ~ 1 + (1|a) + (1|b) + (1|c) + (1|d) + (1|cell)", rows, family="binomial")
tree = model.fit(draws=1000, tune=1000, chains=4, inference_method="nutpie", target_accept=0.9, random_seed=1, progressbar=False)
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
tree = nuts.sample(model, seed=1, draws=1000, tune=1000, chains=4, target_accept=0.9)
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
    start = time.process_time()
    exact = sample(counts, seed=1, order=ORDER)
    seconds = time.process_time() - start
    assert all(check.passed for check in exact.checks)
    ours = min(next(check.value for check in exact.checks if check.name == "importance ESS"), 4000) / seconds
    what = "2,592 rates, 4 attributes, crossed effects: smallest bulk effective number per second of a whole fit"
    python = os.environ.get("BAYESGROUPS_BAMBI_PYTHON")
    if python is None:
        table.add(Row(what, "bambi with nutpie", (), "x", BAR, note="not installed: set BAYESGROUPS_BAMBI_PYTHON"))
        theirs = _fit(sys.executable, NUTPIE)
        table.add(Row(what, "nutpie on our PyMC model, with compilation", (ours / theirs,)))
        return
    rows = counts[["successes", "count"]].isel(metric=0).to_dataframe().reset_index()
    rows = rows.rename(columns={"successes": "y", "count": "n", "subgroup": "cell"}).query("n > 0")
    rows = rows.astype({"y": int, "n": int})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    theirs = _fit(python, BAMBI, str(tmp_path / "rows.csv"))
    table.add(Row(what, "bambi with nutpie", (ours / theirs,), "x", BAR))
