"""Simulation-based calibration of the exact engines of partial pooling.

    python -m tests.recovery.studies.partial_pooling_calibration --output tests/recovery/records/sbc_partial_pooling.csv

Besides the parameters the log likelihood is ranked: it also tells an engine that ignores part of the data. The record and the
ranks beside it are those of `tests.recovery.studies.calibration_study`; quantities are ``overall``, ``tau``, ``log_likelihood`` and
``mu[n]`` of the subgroup with n rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesgroups.inference.collapsed import binomial, gaussian
from tests.recovery.studies.calibration_study import DRAWS, CalibrationStudy, Draws

FloatArray = NDArray[np.float64]

TRIALS = (0, 1, 2, 4, 9, 30, 120, 700)
"""Counts of the subgroups of the binomial design."""
COUNTS = (0, 1, 2, 4, 9, 30, 120, 700)
"""Counts of the normal design: known sampling variances of `ROW_VARIANCE` / count; none where the count is 0."""
ROW_VARIANCE = 0.16
OVERALL_SCALE, TAU_SCALE = 1.5, 0.5
CENTRE, NORMAL_OVERALL_SCALE, NORMAL_TAU_SCALE = 0.5, 0.5, 0.25
REPLICATIONS = 2_000
SEED = 20_180_418


def binomial_replication(rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set with a binomial likelihood.

    Parameters
    ----------
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        True values of all quantities, each of shape (1,), and draws, each of shape (`DRAWS`,).

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = binomial_replication(np.random.default_rng(1))
    >>> list(truth) == list(draws), truth["tau"].shape, draws["mu[0]"].shape
    (True, (1,), (999,))
    """
    n = np.array(TRIALS, dtype=np.float64)
    alpha, tau = OVERALL_SCALE * rng.standard_normal(1), TAU_SCALE * np.abs(rng.standard_normal(1))
    mu = _expit(alpha + tau * rng.standard_normal(len(n)))
    k = rng.binomial(n.astype(np.int64), mu).astype(np.float64)
    posterior = binomial.sample(k, n, rng, draws=DRAWS, overall_scale=OVERALL_SCALE, tau_scale=TAU_SCALE)

    def log_likelihood(rate: FloatArray) -> FloatArray:
        inside = np.clip(rate, 1e-300, 1 - 1e-16)
        return np.asarray((k * np.log(inside) + (n - k) * np.log1p(-inside)).sum(axis=-1), dtype=np.float64)

    truth = {"overall": _expit(alpha), "tau": tau, "log_likelihood": log_likelihood(mu[None])}
    draws = {"overall": posterior.overall, "tau": posterior.tau, "log_likelihood": log_likelihood(posterior.mu)}
    return truth | _by_subgroup(mu[None], TRIALS), draws | _by_subgroup(posterior.mu, TRIALS)


def normal_replication(rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set with a normal likelihood.

    Parameters
    ----------
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        As those of `binomial_replication`.

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = normal_replication(np.random.default_rng(1))
    >>> list(truth)[:4], draws["overall"].shape
    (['overall', 'tau', 'log_likelihood', 'mu[0]'], (999,))
    """
    d = np.array(COUNTS, dtype=np.float64)
    v = ROW_VARIANCE / np.where(d > 0, d, np.nan)
    overall = CENTRE + NORMAL_OVERALL_SCALE * rng.standard_normal(1)
    tau = NORMAL_TAU_SCALE * np.abs(rng.standard_normal(1))
    mu = overall + tau * rng.standard_normal(len(d))
    z = mu + np.sqrt(v) * rng.standard_normal(len(d))
    posterior = gaussian.sample(
        z, v, rng, centre=CENTRE, overall_scale=NORMAL_OVERALL_SCALE, tau_scale=NORMAL_TAU_SCALE, draws=DRAWS
    )

    def log_likelihood(mean: FloatArray) -> FloatArray:
        return np.asarray(-0.5 * np.nansum((z - mean) ** 2 / v, axis=-1), dtype=np.float64)

    truth = {"overall": overall, "tau": tau, "log_likelihood": log_likelihood(mu[None])}
    draws = {"overall": posterior.overall, "tau": posterior.tau, "log_likelihood": log_likelihood(posterior.mu)}
    return truth | _by_subgroup(mu[None], COUNTS), draws | _by_subgroup(posterior.mu, COUNTS)


def _by_subgroup(mu: FloatArray, sizes: Sequence[int]) -> Draws:
    return {f"mu[{size}]": mu[:, a] for a, size in enumerate(sizes)}


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-eta)), dtype=np.float64)


STUDY = CalibrationStudy(
    "tests.recovery.studies.partial_pooling_calibration",
    "Simulation-based calibration of partial pooling.",
    {"binomial": binomial_replication, "normal": normal_replication},
    REPLICATIONS,
    SEED,
)
main = STUDY.main


if __name__ == "__main__":
    main()
