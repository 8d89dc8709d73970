"""Whether the sampler of score laws draws from the posterior: simulation-based calibration.

    python -m bayesgroups.studies.score_calibration --output tests/recovery/records/sbc_model_based_metrics.csv

Everything is drawn from the prior, scales, variances and warp included; rows come from the law of their cell. The two files
it writes are those of `bayesgroups.studies.calibration`; the column ``likelihood`` says whether scores were warped. Draws of
Markov chains are not quite independent, which widens the law of ranks a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.frequentist.score_laws import ScoreLaw, metric_of
from bayesgroups.frequentist.score_shapes import PRIOR_SD, BinnedScores, fit
from bayesgroups.frequentist.score_warps import undo, warp
from bayesgroups.inference.score_effects import CONTRAST, Design
from bayesgroups.inference.score_gibbs import ScorePrior, Warped, sample
from bayesgroups.models.score_cells import EFFECT_SCALE, INTERCEPT_SCALE, LOG_SD_SCALE, SPREAD_SCALE
from bayesgroups.studies.calibration import DRAWS, Draws, Found, by_quantity, command, ranked, replicate
from bayesgroups.studies.execution import HERE, Executor

FloatArray = NDArray[np.float64]
Kind = Literal["normal", "skewed"]

LEVELS = 3
"""Of one attribute; each has two subgroups."""
COUNT = np.array([[40, 25], [12, 6], [0, 3], [5, 0], [90, 30], [0, 0]], dtype=np.float64)
"""Rows by subgroup and outcome."""
WATCHED = ((0, 0), (1, 1), (2, 0), (3, 1), (5, 1))
CHAINS = 4
TUNE = 120
THIN = 1
REPLICATIONS = 300
SEED = 20_241_121


def design() -> Design:
    """An intercept for each outcome, and effects of the levels of one attribute, common and different.

    Examples
    --------
    >>> design().x.shape
    (6, 2, 8)
    """
    own = np.eye(LEVELS)[np.arange(len(COUNT)) % LEVELS]
    parts = [np.broadcast_to(np.eye(2), (len(COUNT), 2, 2)), np.repeat(own[:, None], 2, axis=1)]
    parts.append(own[:, None] * CONTRAST[None, :, None])
    owner = np.array([-1, -1, *[0] * LEVELS, *[1] * LEVELS])
    return Design(np.concatenate(parts, axis=2), owner, np.full(len(owner), INTERCEPT_SCALE), 2)


def replication(kind: Kind, rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set.

    Parameters
    ----------
    kind : {"normal", "skewed"}
        Whether scores are warped.
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        True values of all quantities, each of shape (1,), and draws, each of shape (`DRAWS`,).

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = replication("normal", np.random.default_rng(1))
    >>> list(truth) == list(draws), truth["spread"].shape, draws["auc[0]"].shape
    (True, (1,), (999,))
    """
    columns, prior = design(), ScorePrior(EFFECT_SCALE, LOG_SD_SCALE, SPREAD_SCALE)
    scales = EFFECT_SCALE * np.abs(rng.standard_normal(columns.components + 2))
    hyper = np.array([*(LOG_SD_SCALE * rng.standard_normal(2)), np.log(SPREAD_SCALE * np.abs(rng.standard_normal()))])
    scale = np.where(columns.owner >= 0, scales[np.maximum(columns.owner, 0)], columns.fixed)
    theta = scale * rng.standard_normal(len(scale))
    effects = scales[-2:] * rng.standard_normal((len(COUNT), 2))
    mean = columns.x @ theta + effects[:, :1] + CONTRAST * effects[:, 1:]
    df = 0.5 * np.exp(-2 * hyper[2])
    variance = 0.5 * df * np.exp(2 * hyper[:2]) / rng.standard_gamma(0.5 * df, COUNT.shape)
    shape = PRIOR_SD * rng.standard_normal(2) if kind == "skewed" else np.zeros(2)
    cell = np.repeat(np.arange(COUNT.size), COUNT.ravel().astype(np.int64))
    value = mean.ravel()[cell] + np.sqrt(variance.ravel()[cell]) * rng.standard_normal(len(cell))
    x = undo(warp(shape[0], shape[1]), value)
    rows = BinnedScores(x, np.ones(len(x)), np.zeros(len(x)), cell, COUNT.size)
    observed = np.bincount(cell, x, COUNT.size) / np.maximum(COUNT.ravel(), 1)
    scatter = np.bincount(cell, (x - observed[cell]) ** 2, COUNT.size)
    warped = Warped(rows, fit(rows)) if kind == "skewed" else None
    found = sample(
        columns, COUNT, observed.reshape(COUNT.shape), scatter.reshape(COUNT.shape), prior, rng, warped=warped,
        chains=CHAINS, draws=-(-DRAWS // CHAINS), tune=TUNE, thin=THIN,
    )  # fmt: skip

    def flat(values: FloatArray) -> FloatArray:
        return values.reshape(-1, *values.shape[2:])[:DRAWS]

    def quantities(
        mean: FloatArray, sd: FloatArray, theta: FloatArray, scales: FloatArray, hyper: FloatArray, shape: FloatArray
    ) -> Draws:
        parts = (mean[..., 0], mean[..., 1], sd[..., 0], sd[..., 1])
        auc = metric_of("auc", ScoreLaw(np.full_like(parts[0], 0.5), *parts))
        out = {
            "intercept[0]": theta[:, 0],
            "intercept[1]": theta[:, 1],
            "effect[0]": theta[:, 2],
            "effect[5]": theta[:, 7],
        }
        out |= {f"scale[{i}]": scales[:, i] for i in range(scales.shape[1])}
        out |= {"sigma[0]": hyper[:, 0], "sigma[1]": hyper[:, 1], "spread": hyper[:, 2]}
        out |= {f"mean[{g},{y}]": mean[:, g, y] for g, y in WATCHED} | {f"sd[{g},{y}]": sd[:, g, y] for g, y in WATCHED}
        out |= {f"auc[{g}]": auc[:, g] for g in (0, 2, 5)}
        if kind == "skewed":
            out |= {"epsilon": shape[:, 0], "log_delta": shape[:, 1]}
        return out

    truth = quantities(*(part[None] for part in (mean, np.sqrt(variance), theta, scales, hyper, shape)))
    names = ("mean", "sd", "theta", "scales", "hyper", "shape")
    return truth, quantities(*(flat(getattr(found, name)) for name in names))


def ranks(
    kind: Kind, replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE
) -> dict[str, NDArray[np.int64]]:
    """The rank of every true value among the draws, 0 to `DRAWS`.

    Parameters
    ----------
    kind : {"normal", "skewed"}
        Whether scores are warped.
    replications : int
        Simulated data sets; each has its own stream, so that more of them leave the first ones as they were.
    seed : int
        Source of randomness.
    executor : Executor
        Where replications are computed and kept.

    Returns
    -------
    dict
        By quantity, arrays (replication,).

    Raises
    ------
    InputError
        If the kind is neither of the two, or there are no replications.

    Examples
    --------
    >>> ranks("normal", replications=1, seed=1)["spread"].shape
    (1,)
    """
    if kind not in get_args(Kind):
        raise InputError(f"kind={kind!r} is not one of {', '.join(map(repr, get_args(Kind)))}")
    name, work = f"ranks of model-based metrics, {kind}", partial(_ranks_of_one, kind, seed)
    return by_quantity(replicate(name, work, replications, seed, executor))


def _ranks_of_one(kind: Kind, seed: int, number: int) -> dict[str, int]:
    return ranked(*replication(kind, np.random.default_rng([seed, get_args(Kind).index(kind), number])))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its two records."""
    description = "Simulation-based calibration of model-based metrics."
    command(arguments, "score_calibration", description, REPLICATIONS, SEED, _found)


def _found(replications: int, seed: int, executor: Executor) -> Found:
    return Found({kind: ranks(kind, replications, seed, executor=executor) for kind in get_args(Kind)})


if __name__ == "__main__":
    main()
