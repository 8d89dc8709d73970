"""Simulation-based calibration of the exact engine of the confusion model.

    python -m tests.recovery.studies.confusion_calibration --output tests/recovery/records/sbc_confusion.csv

Everything is drawn from the prior, decisions and then outcomes from their binomials. Ranks are those of metrics, the files those of
`tests.recovery.studies.calibration_study`, of every fourth draw of chains; beside them it writes whether a fit passed its checks.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayesgroups import tallies
from bayesgroups.inference.collapsed.confusion import metrics_of, sample
from bayesgroups.models.shared.confusion_tree import (
    SELECTION_SLOPE_MEAN,
    SELECTION_SLOPE_SD,
    factor_scales,
    follower,
    own_spreads,
    shares,
    tree,
)
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.diagnostics import usable
from tests.recovery.studies.calibration_study import DRAWS, PER_CHAIN, CalibrationStudy, Draws

METRICS = ("sel", "acc", "fnr", "fpr", "ppv", "f1")
WHO = pd.DataFrame(itertools.product("abc", "fm"), columns=["race", "sex"])
ROWS = (0, 3, 12, 40, 150, 8)
"""Rows of the subgroups."""
THINNING = 4
REPLICATIONS = 300
SEED = 20_241_123


def replication(rng: np.random.Generator) -> tuple[dict[str, float], Draws, dict[str, float]]:
    """Truth and draws of the metrics of one simulated data set, and whether its fit passed.

    Examples
    --------
    >>> truth, draws, quality = replication(np.random.default_rng(1))
    >>> len(truth), draws["acc[40]"].shape, quality["passed"]
    (36, (999,), True)
    """
    form = _tally(np.ones((len(ROWS), 2, 2), dtype=np.int64))
    components, cut = subsets(form), tree(form)
    eta, effects = np.empty((3, len(ROWS))), np.zeros((3, len(ROWS)))

    def predictor(i: int, followed: int | None = None) -> None:
        scale, own = (one(cut, followed=followed)[i] for one in (factor_scales, own_spreads))
        for cells, size in zip(components.cells[:-1], components.sizes[:-1], strict=True):
            effects[i] += scale * np.abs(rng.standard_normal()) * rng.standard_normal(size)[cells]
        eta[i] = LOGIT_OVERALL_SCALE * rng.standard_normal() + effects[i] + own * rng.standard_normal(len(ROWS))

    predictor(0)
    # Which outcomes follow the selection rate depends on what was decided, so that is drawn first.
    selected = rng.binomial(ROWS, expit(eta[0]))
    decided = np.stack([np.array(ROWS) - selected, selected], axis=1)
    followed = follower(tree(_tally(np.stack([decided, np.zeros_like(decided)], axis=1))), own_fixed=True)
    for i in (1, 2):
        predictor(i, followed)
    eta[followed] += rng.normal(SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD) * effects[0]
    share = shares(expit(eta), cut.paths)
    positive = rng.binomial(decided, expit(eta[[cut.names.index("for"), cut.names.index("ppv")]]).T)
    counts = np.stack([decided - positive, positive], axis=1)
    posterior = sample(_tally(counts), seed=int(rng.integers(2**31)), draws=4 * THINNING * PER_CHAIN)
    mu = posterior.draws["mu"].values.reshape(-1, len(METRICS), len(ROWS))[::THINNING][:DRAWS]
    right = metrics_of(form, share)
    names = [(f"{metric}[{n}]", m, g) for m, metric in enumerate(METRICS) for g, n in enumerate(ROWS)]
    truth = {name: float(right[g, m]) for name, m, g in names}
    return truth, {name: mu[:, m, g] for name, m, g in names}, {"passed": usable(posterior.checks)}


def _tally(counts: NDArray[np.int64]) -> xr.Dataset:
    """A tally with these rows per subgroup, outcome and decision."""
    subgroup, outcome, decision = (index.ravel() for index in np.indices(counts.shape))
    at = np.repeat(np.arange(counts.size), counts.ravel())
    rows = WHO.iloc[subgroup[at]].assign(y=outcome[at], d=decision[at])
    levels = {name: sorted(set(WHO[name])) for name in WHO}
    return tallies.tally(rows, levels, METRICS, y_true="y", y_pred="d", confusion=True)


def fits(calibrations: Mapping[str, xr.Dataset]) -> dict[str, list[list[object]]]:
    """Whether every fit passed, as rows of a record."""
    passed = calibrations["binomial"]["fit"].sel(measure="passed").values
    lines: list[list[object]] = [[i, int(each)] for i, each in enumerate(passed)]
    return {"fits": [["replication", "passed"], *lines]}


STUDY = CalibrationStudy(
    "tests.recovery.studies.confusion_calibration",
    "Simulation-based calibration of the confusion model.",
    {"binomial": replication},
    REPLICATIONS,
    SEED,
    streams=False,
    beside=fits,
)
main = STUDY.main


if __name__ == "__main__":
    main()
