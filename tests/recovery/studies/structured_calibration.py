"""Simulation-based calibration of the sampler of structured regression.

    python -m tests.recovery.studies.structured_calibration --output tests/recovery/records/sbc_structured_regression.csv

Everything is drawn from the prior, scales and slab included, which is simple because coefficients are normal given
scales; data come from the likelihood. The two files it writes, and the tests, are those of
`tests.recovery.studies.calibration_study`; the column ``likelihood`` names the prior. Draws of Markov chains are not quite
independent, which widens the law of ranks by about one over the effective number of draws, a few tenths of a percent.
"""

from __future__ import annotations

from functools import partial
from typing import get_args

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.gibbs import Chains
from bayesgroups.inference.scale_mixtures import CoefficientPrior, Prior
from bayesgroups.models.shared.sparsity import global_scale
from tests.recovery.studies.calibration_study import DRAWS, CalibrationStudy, Draws

LEVELS = (3, 4)
"""Levels of two attributes, crossed; one more column varies within both."""
COUNTS = (0, 1, 2, 4, 9, 30, 120, 700, 20, 3, 60, 15)
"""Rows of the subgroups: known sampling variances of `ROW_VARIANCE` / count, in units of the metric's scale."""
ROW_VARIANCE = 0.64
EXPECTED_EFFECTS = 2.0
LAPLACE_SCALE = 0.5 / np.sqrt(2)
CHAINS, THIN = 16, 2
REPLICATIONS = 300
SEED = 20_241_107


def features() -> FloatArray:
    """Columns of the design: levels, a gradual feature, an indicator of each subgroup; (subgroup, column).

    Examples
    --------
    >>> features().shape
    (12, 20)
    """
    first, second = (levels.ravel() for levels in np.meshgrid(*map(np.arange, LEVELS), indexing="ij"))
    levels = [first == level for level in range(LEVELS[0])] + [second == level for level in range(LEVELS[1])]
    gradual = np.linspace(-1.5, 1.5, len(first))[::-1] * np.where(np.arange(len(first)) % 2, 1, -0.5)
    return np.column_stack([*levels, gradual, np.eye(len(first))]).astype(np.float64)


def replication(kind: Prior, rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set.

    Parameters
    ----------
    kind : {"horseshoe", "laplace"}
        Prior of the coefficients.
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        True values of all quantities, each of shape (1,), and draws, each of shape (`DRAWS`,).

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = replication("horseshoe", np.random.default_rng(1))
    >>> list(truth) == list(draws), truth["tau"].shape, draws["mu[0]"].shape
    (True, (1,), (999,))
    """
    x, count = features(), np.array(COUNTS, dtype=np.float64)
    v = ROW_VARIANCE / np.where(count > 0, count, np.nan)
    if kind == "horseshoe":
        prior = CoefficientPrior(global_scale(x, np.sqrt(v), EXPECTED_EFFECTS), kind)
        tau = np.abs(rng.standard_cauchy())
        local = np.abs(rng.standard_t(prior.local_df, x.shape[1]))
    else:
        prior = CoefficientPrior(LAPLACE_SCALE, kind)
        tau = np.abs(rng.standard_normal())
        local = np.sqrt(rng.exponential(2.0, x.shape[1]))
    scales = np.sqrt(prior.variance(np.log(prior.tau_scale * tau * local)))[None]
    intercept, beta = rng.standard_normal(1), scales * rng.standard_normal(scales.shape)
    mu = intercept[:, None] + beta @ x.T
    z = mu[0] + np.sqrt(v) * rng.standard_normal(len(v))
    found = Chains(x, z, v, prior, rng).sample(-(-DRAWS // CHAINS), THIN)
    drawn = found.beta.reshape(-1, x.shape[1])[:DRAWS]
    drawn_intercept = found.intercept.ravel()[:DRAWS]

    def quantities(intercept: FloatArray, tau: FloatArray, beta: FloatArray) -> Draws:
        mu = intercept[:, None] + beta @ x.T
        found = {
            "overall": intercept,
            "tau": tau,
            "log_likelihood": np.asarray(-0.5 * np.nansum((z - mu) ** 2 / v, axis=1), dtype=np.float64),
        }
        found |= {f"mu[{n}]": mu[:, COUNTS.index(n)] for n in COUNTS[:8]}
        return found | {"beta[level]": beta[:, 0], "beta[gradual]": beta[:, 7], "beta[subgroup]": beta[:, -5]}

    truth = quantities(intercept, np.array([prior.tau_scale * tau]), beta)
    return truth, quantities(drawn_intercept, found.tau.ravel()[:DRAWS], drawn)


STUDY = CalibrationStudy(
    "tests.recovery.studies.structured_calibration",
    "Simulation-based calibration of structured regression.",
    {kind: partial(replication, kind) for kind in get_args(Prior)},
    REPLICATIONS,
    SEED,
)
main = STUDY.main


if __name__ == "__main__":
    main()
