"""Estimates and risks of SureMap, by its authors' program on the cells in cells.csv.

    python values.py CHECKOUT

in this folder makes values.json; CHECKOUT is a folder with ``suremap.py`` and ``data.py`` of
https://github.com/mkhodak/SureMap, commit 0e74f86, and the environment has NumPy, SciPy and numba.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, sys.argv[1])
import suremap
from data import MultiTaskStatistics

FIXED = (0.02, 0.5, 0.1, 0.05, 0.03, 0.01, 0.04, 0.06)
"""Ratios of variances to that of a row at which the risk is asked for: the cell itself, then subsets of attributes."""

with open("cells.csv", newline="", encoding="utf-8") as file:
    cells = list(csv.DictReader(file))
codes = {name: sorted({cell[name] for cell in cells}) for name in ("region", "income", "sex")}
groups = [tuple(codes[name].index(cell[name]) + 1 for name in codes) for cell in cells]
tasks = [
    [np.repeat([1.0, 0.0], [int(cell[k]), int(cell["n"]) - int(cell[k])]) for cell in cells] for k in ("old", "new")
]
minimise, minima = suremap.sp.optimize.minimize, []


def remember(*arguments, **options):
    """The minimiser of SciPy, which the program calls and whose answer it drops."""
    minima.append(minimise(*arguments, **options))
    return minima[-1]


suremap.sp.optimize.minimize = remember
answers = []
for errors in tasks:
    data = MultiTaskStatistics([errors], groups=groups)
    rows, ends = data.UTs_idx()
    starts = np.append(0, ends[:-1])
    matrices = [np.eye(data.d), *(rows[start:end].T @ rows[start:end] for start, end in zip(starts, ends, strict=True))]
    at = sum(ratio * matrix for ratio, matrix in zip(FIXED, matrices, strict=True))
    given = (data.y, data.unscaled_precision, data.shared_variance, data.theta, at)
    cache: list = []
    risk = suremap.map_risk_estimator(*given, cache=cache)
    answers.append(
        {
            "row_variance": float(data.shared_variance[0]),
            "risk": float(risk[0]),
            "estimate": suremap.map_estimator(data.y, data.unscaled_precision, data.theta, at, cache=cache)[0].tolist(),
            "tuned": suremap.single_task(data)[0].tolist(),
            "tuned_risk": float(np.ravel(minima[-1].fun)[0]),
            "tuned_ratios": minima[-1].x.tolist(),
        }
    )
both = MultiTaskStatistics(tasks, groups=groups)
scale = float((both.shared_variance * both.unscaled_precision.sum(1)).sum() / both.unscaled_precision.sum())
joint = {
    name: float(suremap.meta_risk_estimator(both.y, both.unscaled_precision, scale, at, gamma))
    for name, gamma in (("metamap", 2.0 * at), ("solve", None))
}
Path("values.json").write_text(
    json.dumps({"fixed": FIXED, "tasks": answers, "scale": scale, "joint_risk": joint}, indent=1) + "\n",
    encoding="utf-8",
)
