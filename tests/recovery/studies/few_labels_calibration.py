"""Simulation-based calibration of the confusion model of few gold labels.

    python -m tests.recovery.studies.few_labels_calibration --output tests/recovery/records/sbc_few_labels.csv

Everything is drawn from the prior: decisions of all judged rows, then outcomes of a few rows of either decision from their
binomials, with a slope on the judged rate, which follows from the decisions alone. Ranks are those of metrics, the files those of
`tests.recovery.studies.calibration_study`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.inference.collapsed.confusion import metrics_of, sample
from bayesgroups.models.shared.confusion_tree import factor_scales, own_spreads, shares, tree
from bayesgroups.models.shared.judged_rate import SLOPE_SD, judged_rates
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.diagnostics import Check
from bayesgroups.report.posterior import Posterior
from tests.recovery.studies.calibration_study import DRAWS, PER_CHAIN, CalibrationStudy, Draws

METRICS = ("prev", "tpr", "tnr", "judge_bias")
WHO = pd.DataFrame(itertools.product("abc", "fm"), columns=["race", "sex"])
JUDGED = (20, 60, 150, 400, 40, 100)
"""Judged rows of the subgroups."""
LABELLED = (0, 2, 5, 12, 1, 30)
"""Labelled rows of either decision, of as many as there are."""
REPLICATIONS = 300
SEED = 20_261_124


def replication(rng: np.random.Generator) -> tuple[dict[str, float], Draws, dict[str, float]]:
    """Truth and draws of the metrics of one simulated data set; 1 where its fit passed its checks.

    Examples
    --------
    >>> truth, draws, quality = replication(np.random.default_rng(1))
    >>> len(truth), draws["prev[60]"].shape, quality["passed"]
    (24, (999,), 1.0)
    """
    judged = np.array(JUDGED)
    some = np.zeros((len(JUDGED), 2, 2), dtype=np.int64)
    some[0, 0, 0] = 1
    form = _tally(np.stack([judged - 1, np.ones_like(judged)], axis=1), some)
    components, found = subsets(form), tree(form)
    scales, own = (one(found, judged=True) for one in (factor_scales, own_spreads))

    def effects(i: int) -> NDArray[np.float64]:
        total = LOGIT_OVERALL_SCALE * rng.standard_normal() + own[i] * rng.standard_normal(len(JUDGED))
        for cells, size in zip(components.cells, components.sizes, strict=True):
            total = total + scales[i] * np.abs(rng.standard_normal()) * rng.standard_normal(size)[cells]
        return np.asarray(total)

    eta = np.stack([effects(i) for i in range(3)])
    selected = rng.binomial(judged, expit(eta[0]))
    decided = np.stack([judged - selected, selected], axis=1)
    labelled = np.minimum(decided, np.array(LABELLED)[:, None])
    labelled[0] = [1, 0] if not labelled.any() and decided[0, 0] else labelled[0]
    seed = int(rng.integers(2**31))
    # The judged rate is that of the fit, which takes it from the decisions alone: labels are of no account to it.
    first = _fitted(_tally(decided, np.stack([labelled, np.zeros_like(labelled)], axis=1)), seed)
    share = first.draws["cell_share"].sum("outcome").values.reshape(-1, len(JUDGED), 2)
    for name, x in judged_rates(share, found).items():
        eta[found.names.index(name)] += SLOPE_SD * rng.standard_normal() * x
    p = expit(eta)
    positive = rng.binomial(labelled, np.stack([p[found.names.index("for")], p[found.names.index("ppv")]], axis=1))
    posterior = _fitted(_tally(decided, np.stack([labelled - positive, positive], axis=1)), seed)
    mu = posterior.draws["mu"].values.reshape(-1, len(METRICS), len(JUDGED))[:DRAWS]
    right = metrics_of(form, shares(p, found.paths))
    names = [(f"{metric}[{n}]", m, g) for m, metric in enumerate(METRICS) for g, n in enumerate(JUDGED)]
    truth = {name: float(right[g, m]) for name, m, g in names}
    passed = float(all(check.passed for check in posterior.checks if _of_engine(check)))
    return truth, {name: mu[:, m, g] for name, m, g in names}, {"passed": passed}


def _fitted(tally: xr.Dataset, seed: int) -> Posterior:
    return sample(tally, seed=seed, draws=4 * PER_CHAIN)


def _of_engine(check: Check) -> bool:
    """A thousand draws have no thousand effective ones."""
    return "ESS" not in check.name


def _tally(decided: NDArray[np.int64], cells: NDArray[np.int64]) -> xr.Dataset:
    return bg.tally_from_cells(decided, cells, WHO, METRICS)


def fits(calibrations: Mapping[str, xr.Dataset]) -> dict[str, list[list[object]]]:
    """Whether every fit passed its checks, as rows of a record."""
    passed = calibrations["few_labels"]["fit"].sel(measure="passed").values
    lines: list[list[object]] = [[i, int(each)] for i, each in enumerate(passed)]
    return {"fits": [["replication", "passed"], *lines]}


STUDY = CalibrationStudy(
    "tests.recovery.studies.few_labels_calibration",
    "Simulation-based calibration of the confusion model of few labels.",
    {"few_labels": replication},
    REPLICATIONS,
    SEED,
    streams=False,
    beside=fits,
)
main = STUDY.main


if __name__ == "__main__":
    main()
