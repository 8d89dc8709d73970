"""Simulation-based calibration of the exact engines of crossed effects, with the priors of the estimator.

    python -m tests.recovery.studies.crossed_calibration --output tests/recovery/records/sbc_crossed_effects.csv

Everything is drawn from the prior, data from the likelihood. The two files it writes, and the tests, are those of
`tests.recovery.studies.calibration_study`. The engine draws by chains given rates, or by weights where chains fail, and by
weights given means of so few subgroups; with ``chains`` those too are drawn by chains, and with ``weights`` rates by weights
where these are good. Of ``learned`` residual effects nothing is known beforehand. Beside the ranks it writes whether a fit was
made by chains and whether it passed the gate, for a fit that fails would be repeated by NUTS, and the number of subgroups whose
rows have both outcomes (with a normal likelihood, that have rows): the prior of the overall rate is so wide that a sixth of the
tables have two at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import chains as by_chains
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.models.shared.component_scales import DEGREES, LOGIT_SCALE, OVERALL_LOGIT, OWN_EFFECT, ROW_SHARE
from bayesgroups.report.diagnostics import usable
from tests.recovery.studies.calibration_study import DRAWS, CalibrationStudy, Draws

LEVELS = (3, 2, 2)
CHAINS, WEIGHTS, LEARNED = ", chains", ", weights", ", learned"
COUNTS = (0, 1, 2, 4, 9, 30, 120, 700, 20, 3, 60, 15)
"""Rows of the subgroups."""
ROW_VARIANCE = 0.16
"""Variance of a row of a mean, in squared units of the metric."""
OVERALL_SCALE = {"binomial": OVERALL_LOGIT, "normal": 0.5}
TAU_SCALE = {"binomial": LOGIT_SCALE, "normal": ROW_SHARE * math.sqrt(ROW_VARIANCE)}
LIKELIHOODS = ("binomial", "normal", "binomial, weights", "normal, chains", "binomial, learned")
MEASURES = ("chains", "passed", "informative")
"""What is written of a fit: made by chains (1 or 0), passed the gate, informative subgroups."""
REPLICATIONS = 500
SEED = 20_241_119


def cells() -> NDArray[np.int64]:
    """Cells of the seven components, (component, subgroup).

    Examples
    --------
    >>> cells().shape
    (7, 12)
    """
    a, b, c = (level.ravel() for level in np.meshgrid(*map(np.arange, LEVELS), indexing="ij"))
    return np.stack([a, b, c, a * 2 + b, a * 2 + c, b * 2 + c, np.arange(len(a))]).astype(np.int64)


def replication(likelihood: str, rng: np.random.Generator) -> tuple[Draws, Draws, dict[str, float]]:
    """Truth and draws of one simulated data set, what made the fit and whether it passed, and how many subgroups inform it.

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws, quality = replication("normal", np.random.default_rng(1))
    >>> list(truth) == list(draws), truth["tau[5]"].shape, draws["mu[0]"].shape, quality["passed"]
    (True, (1,), (999,), True)
    """
    chains, weights, learned = (likelihood.endswith(way) for way in (CHAINS, WEIGHTS, LEARNED))
    likelihood = likelihood.partition(",")[0]
    design, n = cells(), np.array(COUNTS, dtype=np.float64)
    wide, scale = OVERALL_SCALE[likelihood], TAU_SCALE[likelihood]
    overall, tau = wide * rng.standard_normal(), scale * np.abs(rng.standard_t(DEGREES, len(design)))
    eta = np.full(len(n), overall)
    for position, cell in enumerate(design):
        eta += tau[position] * rng.standard_normal(int(cell.max()) + 1)[cell]
    known = np.full(len(n), 0.0 if learned else (OWN_EFFECT * scale) ** 2)
    eta += np.sqrt(known) * rng.standard_normal(len(n))
    predictor = Predictor(design, np.empty((len(n), 0)), wide, 1.0)
    prior = Prior("half_t", (scale,) * len(design))
    if likelihood == "binomial":
        k = rng.binomial(n.astype(np.int64), 1 / (1 + np.exp(-eta))).astype(np.float64)
        by_weights = (
            engine.binomial_by_weights(predictor, k, n, prior, rng, draws=DRAWS, known=known) if weights else None
        )
        posterior = by_weights or engine.binomial(predictor, k, n, prior, rng, draws=DRAWS, known=known)
        informative = int(((k > 0) & (k < n)).sum())

        def fit(at: FloatArray) -> FloatArray:
            return np.asarray((k * at - n * np.logaddexp(0, at)).sum(axis=-1))
    else:
        v = np.where(n > 0, ROW_VARIANCE / np.maximum(n, 1), np.inf)
        z = eta + np.where(n > 0, np.sqrt(ROW_VARIANCE / np.maximum(n, 1)), 0.0) * rng.standard_normal(len(n))
        sample = by_chains.gaussian if chains else engine.gaussian
        posterior = sample(predictor, z, v, prior, rng, draws=DRAWS, known=known)
        informative = int((n > 0).sum())

        def fit(at: FloatArray) -> FloatArray:
            return np.asarray(-0.5 * ((z - at) ** 2 / v).sum(axis=-1))

    truth = {"overall": np.array([overall]), "log_likelihood": fit(eta[None])}
    draws = {"overall": posterior.overall, "log_likelihood": fit(posterior.eta)}
    for position in range(prior.dimension):
        name = f"tau[{position}]"
        truth[name], draws[name] = tau[position, None], posterior.tau[:, position]
    for g, count in enumerate(COUNTS):
        truth[f"mu[{count}]"], draws[f"mu[{count}]"] = eta[g, None], posterior.eta[:, g]
    passed = usable(posterior.checks(likelihood))
    return truth, draws, {"chains": posterior.mixing is not None, "passed": passed, "informative": informative}


def fits(calibrations: Mapping[str, xr.Dataset]) -> dict[str, list[list[object]]]:
    """What made every fit, whether it passed, and the number of informative subgroups, as rows of a record."""
    lines = [
        [likelihood, i, *(int(value) for value in fit)]
        for likelihood, calibration in calibrations.items()
        for i, fit in enumerate(calibration["fit"].sel(measure=list(MEASURES)).values.T)
    ]
    return {"fits": [["likelihood", "replication", *MEASURES], *lines]}


STUDY = CalibrationStudy(
    "tests.recovery.studies.crossed_calibration",
    "Simulation-based calibration of crossed effects.",
    {likelihood: partial(replication, likelihood) for likelihood in LIKELIHOODS},
    REPLICATIONS,
    SEED,
    beside=fits,
)
main = STUDY.main


if __name__ == "__main__":
    main()
