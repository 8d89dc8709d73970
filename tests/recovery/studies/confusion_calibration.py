"""Simulation-based calibration of the exact engine of the confusion model.

    python -m tests.recovery.studies.confusion_calibration --output tests/recovery/records/sbc_confusion.csv

Everything is drawn from the prior, decisions and then outcomes from their binomials. Ranks are those of metrics, the files those of
`tests.recovery.studies.calibration`; beside them it writes the k-hat and the effective number of draws of every fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

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
from bayesgroups.studies.execution import HERE, Executor
from tests.recovery.studies.calibration import DRAWS, Found, by_quantity, command, ranked, replicate

FloatArray = NDArray[np.float64]

METRICS = ("sel", "acc", "fnr", "fpr", "ppv", "f1")
WHO = pd.DataFrame(itertools.product("abc", "fm"), columns=["race", "sex"])
ROWS = (0, 3, 12, 40, 150, 8)
"""Rows of the subgroups."""
REPLICATIONS = 300
SEED = 20_241_123
PER_CHAIN = (DRAWS + 1) // 4
"""Draws are made in chains of equal length; the last one is left out."""


def replication(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, FloatArray], tuple[float, float]]:
    """Truth and draws of the metrics of one simulated data set, and the k-hat and effective number of its fit.

    Examples
    --------
    >>> truth, draws, quality = replication(np.random.default_rng(1))
    >>> len(truth), draws["acc[40]"].shape, quality[0] < 0.7
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
    found = sample(_tally(counts), seed=int(rng.integers(2**31)), draws=4 * PER_CHAIN)
    k_hat, ess = (check.value for check in found.checks[:2])
    mu = found.draws["mu"].values.reshape(-1, len(METRICS), len(ROWS))[:DRAWS]
    right = metrics_of(form, share)
    names = [(f"{metric}[{n}]", m, g) for m, metric in enumerate(METRICS) for g, n in enumerate(ROWS)]
    truth = {name: float(right[g, m]) for name, m, g in names}
    return truth, {name: mu[:, m, g] for name, m, g in names}, (k_hat, ess)


def study(
    replications: int, seed: int, *, executor: Executor = HERE
) -> tuple[dict[str, NDArray[np.int64]], list[tuple[float, float]]]:
    """Ranks by quantity, 0 to `DRAWS`, and the quality of every fit.

    Raises
    ------
    InputError
        If there are no replications.
    """
    work = partial(_ranks_of_one, seed)
    found = replicate("ranks of the confusion model", work, replications, seed, executor)
    return by_quantity([ranks for ranks, _, _ in found]), [(k_hat, ess) for _, k_hat, ess in found]


def _ranks_of_one(seed: int, number: int) -> tuple[dict[str, int], float, float]:
    truth, draws, (k_hat, ess) = replication(np.random.default_rng([seed, number]))
    return ranked(truth, draws), float(k_hat), float(ess)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its three records."""
    description = "Simulation-based calibration of the confusion model."
    command(arguments, "confusion_calibration", description, REPLICATIONS, SEED, _found)


def _found(replications: int, seed: int, executor: Executor) -> Found:
    ranks, fits = study(replications, seed, executor=executor)
    lines = [[i, round(k, 3), round(ess)] for i, (k, ess) in enumerate(fits)]
    return Found({"binomial": ranks}, {"fits": [["replication", "k_hat", "ess"], *lines]})


def _tally(counts: NDArray[np.int64]) -> xr.Dataset:
    """A tally with these rows per subgroup, outcome and decision."""
    subgroup, outcome, decision = (index.ravel() for index in np.indices(counts.shape))
    at = np.repeat(np.arange(counts.size), counts.ravel())
    rows = WHO.iloc[subgroup[at]].assign(y=outcome[at], d=decision[at])
    levels = {name: sorted(set(WHO[name])) for name in WHO}
    return tallies.tally(rows, levels, METRICS, y_true="y", y_pred="d", confusion=True)


if __name__ == "__main__":
    main()
