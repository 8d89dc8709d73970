"""Simulation-based calibration of crossed effects with an ordered attribute: its share, components, rates and means.

    python -m tests.recovery.studies.ordered_calibration --output tests/recovery/records/sbc_ordered.csv

Everything is drawn from the prior, with the covariance of the walk from its definition and not from the root that models and
engines share: the squared pseudo-inverse of the differences of neighbours, of geometric mean variance 1. Rates have the priors of
the estimator, means known sampling variances and priors of given scales. The files are those of
`tests.recovery.studies.calibration_study`; beside them it writes whether every fit passed its checks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups import tallies
from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.models.shared.component_scales import DEGREES, OWN_EFFECT
from bayesgroups.models.shared.ordered_levels import ordered_blocks
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.diagnostics import usable
from tests.recovery.studies.calibration_study import DRAWS, CalibrationStudy, Draws
from tests.recovery.studies.crossed_calibration import OVERALL_SCALE, ROW_VARIANCE, TAU_SCALE

AGES = ("18", "25", "35", "50", "65")
WHO = pd.DataFrame(itertools.product(AGES, "fm"), columns=["age", "sex"])
COUNTS = (0, 2, 9, 30, 120, 4, 700, 60, 15, 3)
"""Rows of the subgroups."""
COMPONENTS = ("age", "sex", "age x sex")
REPLICATIONS = 500
SEED = 20_261_126


def walk_covariance(levels: int) -> FloatArray:
    """Covariance of the squared random walk over so many levels, (level, level).

    Examples
    --------
    >>> float(np.log(np.diag(walk_covariance(5))).mean().round(9)) + 0.0
    0.0
    """
    differences = np.diff(np.eye(levels), axis=0)
    inverse = np.linalg.pinv(differences.T @ differences)
    covariance = inverse @ inverse
    return np.asarray(covariance / np.exp(np.log(np.diag(covariance)).mean()))


def effects(rng: np.random.Generator, tau: FloatArray, share: float) -> FloatArray:
    """Sum of the effects of age, of sex, and of both together, (subgroup,), subgroups as in `WHO`."""
    walk = walk_covariance(len(AGES))

    def ordered(columns: int) -> FloatArray:
        """Effects (age, column): a share of their variance follows the order."""
        loose = rng.standard_normal((len(AGES), columns))
        along = rng.multivariate_normal(np.zeros(len(AGES)), walk, size=columns, check_valid="ignore").T
        return np.asarray(math.sqrt(1 - share) * loose + math.sqrt(share) * along)

    grid = tau[0] * ordered(1) + tau[1] * rng.standard_normal((1, 2)) + tau[2] * ordered(2)
    return np.asarray(grid.ravel())


def replication(likelihood: str, rng: np.random.Generator) -> tuple[Draws, Draws, dict[str, float]]:
    """Truth and draws of one simulated data set, and whether its fit passed.

    Examples
    --------
    >>> truth, draws, quality = replication("normal", np.random.default_rng(1))
    >>> list(truth) == list(draws), draws["share"].shape, quality["passed"]
    (True, (999,), True)
    """
    n = np.array(COUNTS, dtype=np.float64)
    wide, scale = OVERALL_SCALE[likelihood], TAU_SCALE[likelihood]
    overall, share = wide * rng.standard_normal(), float(rng.random())
    tau = scale * np.abs(rng.standard_t(DEGREES, len(COMPONENTS)))
    known = np.full(len(n), (OWN_EFFECT * scale) ** 2)
    eta = overall + effects(rng, tau, share) + np.sqrt(known) * rng.standard_normal(len(n))
    design = tallies.tally_from_counts(np.zeros(len(n), dtype=int), np.ones(len(n), dtype=int), WHO)
    components = subsets(design)
    along = ordered_blocks(design, components, {"age": AGES})
    predictor, prior = (
        Predictor(components.cells, np.empty((len(n), 0)), wide, 1.0),
        Prior("half_t", (scale,) * len(tau)),
    )
    if likelihood == "binomial":
        k = rng.binomial(n.astype(np.int64), 1 / (1 + np.exp(-eta))).astype(np.float64)
        drawn = engine.binomial(predictor, k, n, prior, rng, draws=DRAWS, known=known, ordered=along)

        def fit(at: FloatArray) -> FloatArray:
            return np.asarray((k * at - n * np.logaddexp(0, at)).sum(axis=-1))
    else:
        v = np.where(n > 0, ROW_VARIANCE / np.maximum(n, 1), np.inf)
        z = eta + np.where(n > 0, np.sqrt(ROW_VARIANCE / np.maximum(n, 1)), 0.0) * rng.standard_normal(len(n))
        drawn = engine.gaussian(predictor, z, v, prior, rng, draws=DRAWS, known=known, ordered=along)

        def fit(at: FloatArray) -> FloatArray:
            return np.asarray(-0.5 * ((z - at) ** 2 / v).sum(axis=-1))

    truth = {"overall": np.array([overall]), "share": np.array([share]), "log_likelihood": fit(eta[None])}
    draws = {"overall": drawn.overall, "share": drawn.share[:, 0], "log_likelihood": fit(drawn.eta)}
    truth |= {f"tau[{name}]": tau[k, None] for k, name in enumerate(COMPONENTS)}
    draws |= {f"tau[{name}]": drawn.tau[:, k] for k, name in enumerate(COMPONENTS)}
    truth |= {f"mu[{count}]": eta[g, None] for g, count in enumerate(COUNTS)}
    draws |= {f"mu[{count}]": drawn.eta[:, g] for g, count in enumerate(COUNTS)}
    return truth, draws, {"passed": usable(drawn.checks(likelihood))}


def fits(calibrations: Mapping[str, xr.Dataset]) -> dict[str, list[list[object]]]:
    """Whether every fit passed, as rows of a record."""
    lines: list[list[object]] = [
        [likelihood, i, int(passed)]
        for likelihood, calibration in calibrations.items()
        for i, passed in enumerate(calibration["fit"].sel(measure="passed").values)
    ]
    return {"fits": [["likelihood", "replication", "passed"], *lines]}


STUDY = CalibrationStudy(
    "tests.recovery.studies.ordered_calibration",
    "Simulation-based calibration of crossed effects with an ordered attribute.",
    {likelihood: partial(replication, likelihood) for likelihood in OVERALL_SCALE},
    REPLICATIONS,
    SEED,
    beside=fits,
)
main = STUDY.main


if __name__ == "__main__":
    main()
