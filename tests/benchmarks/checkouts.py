"""Seconds of processor of everyday work in two checkouts of the project, taken in turn in one run.

    python -m tests.benchmarks.checkouts BEFORE AFTER
    python -m tests.benchmarks.checkouts BEFORE AFTER --exact --repetitions 1
    python -m tests.benchmarks.checkouts BEFORE AFTER --reference --repetitions 1

Both run with this interpreter and its libraries, each task in a fresh process that warms up once; the table has medians and, in
brackets, the smallest and the largest of the repetitions. With ``--exact`` the tasks are cells of the map of seconds, with
``--reference`` frequentist fits of such tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from examples.pages import table

REPETITIONS = 5
ROWS = """
import numpy as np, pandas as pd, bayesgroups as bg
rng = np.random.default_rng(1)
def rows(n, levels=(2, 4, 5)):
    frame = pd.DataFrame({f"a{i}": rng.integers(k, size=n).astype(str) for i, k in enumerate(levels)})
    score = rng.random(n)
    return frame.assign(y=(rng.random(n) < .2 + .5 * score).astype(int), d=(score > .5).astype(int), s=score)
by = ["a0", "a1", "a2"]
"""
RATES = "tally = bg.tally(rows(5000), by, ['fnr', 'sel'], y_true='y', y_pred='d')\n"
TASKS = {
    "import": ("", "import bayesgroups"),
    "tally of 1,000,000 rows, four metrics": (
        ROWS + "frame = rows(1_000_000)", "bg.tally(frame, by, ['acc', 'fnr', 'fpr', 'sel'], y_true='y', y_pred='d')",
    ),
    "tally of 20,000 rows with AUC": (
        ROWS + "frame = rows(20_000)", "bg.tally(frame, by, ['auc'], y_true='y', y_score='s')",
    ),
    "partial pooling, 40 subgroups, two metrics": (ROWS + RATES, "bg.estimate(tally, bg.PartialPooling(), seed=1)"),
    "crossed effects, 40 subgroups, two metrics": (ROWS + RATES, "bg.estimate(tally, bg.CrossedEffects(), seed=1)"),
    "certificate of a report": (
        ROWS + RATES + "report = bg.estimate(tally, bg.PartialPooling(), seed=1)", "bg.certify(report)",
    ),
    "page of a report": (
        ROWS + RATES + "report = bg.estimate(tally, bg.PartialPooling(), seed=1)", "bg.write_html(report, 'page.html')",
    ),
}  # fmt: skip
"""Preparation and work by name; what is prepared is not timed."""
SHAPES = {12: (4, 3), 36: (6, 6), 120: (5, 4, 3, 2), 384: (8, 6, 4, 2), 900: (10, 9, 5, 2)}
"""Levels of the attributes by number of subgroups."""
WORDS = ("crossed_effects", "confusion", "structured_regression", "model_based_metrics")
PREPARED = """
from examples.comparisons.seconds_map import ESTIMATORS, measured, table, tally_of
measured({word!r}, (3, 2), 20, 0.3)
estimator = ESTIMATORS[{word!r}]
estimator.reference(tally_of({word!r}, table((3, 2), 20, 0.3)), seed=1)
tally = tally_of({word!r}, table({shape}, {rows}, {spread}))
"""
EXACT = {
    f"{word}, {subgroups} subgroups, {rows} rows, spread {spread}": (
        PREPARED.format(word=word, shape=SHAPES[subgroups], rows=rows, spread=spread),
        "estimator.collapsed(tally, seed=1)",
    )
    for word in WORDS
    for subgroups in (12, 36, 120, 900)
    for rows, spread in ((100, 0.3), (1000, 3.0))
}
REFERENCE = {
    f"{word}, {subgroups} subgroups, frequentist": (
        PREPARED.format(word=word, shape=shape, rows=100, spread=0.3),
        "estimator.reference(tally, seed=1)",
    )
    for word in WORDS
    for subgroups, shape in SHAPES.items()
}
"""Exact and frequentist fits, which are warm after small ones."""
TIMED = """
import os, tempfile, time, warnings
os.chdir(tempfile.mkdtemp())
{before}
warm = {warm}
if warm:
    {work}
start = time.process_time()
{work}
print(time.process_time() - start)
"""


def seconds(checkout: Path, task: str) -> float:
    """Seconds of processor of one task in a fresh process."""
    before, work = (TASKS | EXACT | REFERENCE)[task]
    one = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"], "1")
    environment = {**os.environ, "PYTHONPATH": str(checkout), **one}
    code = TIMED.format(before=before, work=work, warm=task in TASKS and task != "import")
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, cwd=checkout, capture_output=True, text=True
    )
    return float(run.stdout)


def main(arguments: Sequence[str] | None = None) -> None:
    """Time every task in both checkouts and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.checkouts", description="Two checkouts in turn.")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--exact", action="store_true", help="time exact fits of the map of seconds")
    instead.add_argument("--reference", action="store_true", help="time frequentist fits of such tables")
    given = parser.parse_args(arguments)
    lines = []
    for task in EXACT if given.exact else REFERENCE if given.reference else TASKS:
        times: dict[Path, list[float]] = {given.before.resolve(): [], given.after.resolve(): []}
        for _ in range(given.repetitions):
            for checkout, taken in times.items():
                taken.append(seconds(checkout, task))
        first, second = times.values()
        texts = [f"{median(each):.2f} s ({min(each):.2f} s to {max(each):.2f} s)" for each in (first, second)]
        lines.append([task, *texts, f"{median(second) / median(first):.2f}"])
    sys.stdout.write(table(["what", "before", "after", "ratio"], lines) + "\n")


if __name__ == "__main__":
    main()
