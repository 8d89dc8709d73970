"""Simulation-based calibration of the sampler of score laws.

    python -m tests.recovery.studies.score_calibration --output tests/recovery/records/sbc_model_based_metrics.csv

Everything is drawn from the prior, scales, variances and warp included; rows come from the law of their cell. With two
covariates of the rows their slopes and the means of subgroups are drawn as well; within subgroups and outcomes they are
uncorrelated with variance 1, which is taken for known. The two files the command writes are those of
`tests.recovery.studies.calibration_study`; the column ``likelihood`` says whether scores were warped or depend on covariates.
Draws of Markov chains are not quite independent, which widens the law of ranks a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import model_based_metrics, score_covariates
from bayesgroups.inference.score_effects import CONTRAST, Design
from bayesgroups.inference.score_gibbs import ScorePrior, Warped, sample
from bayesgroups.inference.score_slopes import Slopes
from bayesgroups.models.shared.score_cells import EFFECT_SCALE, INTERCEPT_SCALE, LOG_SD_SCALE, SPREAD_SCALE
from bayesgroups.models.shared.score_covariates import (
    CENTRE_SCALE,
    TAU_SCALES,
    CovariateCells,
    slope_columns,
    slope_scales,
)
from bayesgroups.report.posterior import CHAINS
from bayesgroups.scores.laws import ScoreLaw, metric_of
from bayesgroups.scores.shapes import PRIOR_SD, BinnedScores, fit
from bayesgroups.scores.warps import undo, warp
from tests.recovery.studies.calibration_study import DRAWS, CalibrationStudy, Draws

Kind = Literal["normal", "skewed", "row_covariates"]

LEVELS = 3
"""Of one attribute; each has two subgroups."""
COUNT = np.array([[40, 25], [12, 6], [0, 3], [5, 0], [90, 30], [0, 0]], dtype=np.float64)
"""Rows by subgroup and outcome."""
CELL = np.repeat(np.arange(COUNT.size), COUNT.ravel().astype(np.int64))
"""Of each row."""
WATCHED = ((0, 0), (1, 1), (2, 0), (3, 1), (5, 1))
COVARIATES = 2
TUNE, THIN = model_based_metrics.FIRST
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


@dataclass(frozen=True)
class _Covariates:
    """Covariates of all rows (row, covariate), and what they are drawn from."""

    of_rows: FloatArray
    centre: FloatArray
    population: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator) -> _Covariates:
        scales = np.array(TAU_SCALES)[:, None] * np.abs(rng.standard_normal((2, COVARIATES)))
        centre = CENTRE_SCALE * rng.standard_normal((2, COVARIATES))
        common, differing = scales[:, None] * rng.standard_normal((2, len(COUNT), COVARIATES))
        population = centre + common[:, None] + CONTRAST[:, None] * differing[:, None]
        cells = population.reshape(-1, COVARIATES)
        return cls(cells[CELL] + rng.standard_normal((len(CELL), COVARIATES)), centre, population)

    @property
    def means(self) -> FloatArray:
        """Of the rows of each cell, 0 without rows."""
        return np.stack([_sums(value) for value in self.of_rows.T], axis=1) / np.maximum(COUNT.reshape(-1, 1), 1)

    @property
    def away(self) -> FloatArray:
        """Deviations of rows from the means of their cells."""
        return np.asarray(self.of_rows - self.means[CELL], dtype=np.float64)

    def cells(self, score: FloatArray) -> CovariateCells:
        away, cross = self.away, np.empty((COUNT.size, COVARIATES))
        product = np.empty((COUNT.size, COVARIATES, COVARIATES))
        for k in range(COVARIATES):
            cross[:, k] = _sums(away[:, k] * score)
            product[:, k] = np.stack([_sums(away[:, k] * other) for other in away.T], axis=1)
        shape = (*COUNT.shape, COVARIATES)
        return CovariateCells(
            COUNT, self.means.reshape(shape), product.reshape(*shape, COVARIATES), cross.reshape(shape)
        )


def _sums(values: FloatArray) -> FloatArray:
    return np.bincount(CELL, values, COUNT.size)


def _with_slopes(columns: Design, cells: CovariateCells) -> Design:
    x, scales = slope_columns(cells), slope_scales(cells)
    owner = np.concatenate([columns.owner, np.full(len(scales), -1)])
    return Design(
        np.concatenate([columns.x, x], axis=2), owner, np.concatenate([columns.fixed, scales]), columns.components
    )


def replication(kind: Kind, rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set.

    Parameters
    ----------
    kind : {"normal", "skewed", "row_covariates"}
        Whether scores are warped, or depend on covariates of the rows.
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
    covariates = _Covariates.draw(rng) if kind == "row_covariates" else None
    if covariates is not None:
        columns = _with_slopes(columns, covariates.cells(np.zeros(len(CELL))))
    scales = EFFECT_SCALE * np.abs(rng.standard_normal(columns.components + 2))
    hyper = np.array([*(LOG_SD_SCALE * rng.standard_normal(2)), np.log(SPREAD_SCALE * np.abs(rng.standard_normal()))])
    scale = np.where(columns.owner >= 0, scales[np.maximum(columns.owner, 0)], columns.fixed)
    theta = scale * rng.standard_normal(len(scale))
    effects = scales[-2:] * rng.standard_normal((len(COUNT), 2))
    mean = columns.x @ theta + effects[:, :1] + CONTRAST * effects[:, 1:]
    df = 0.5 * np.exp(-2 * hyper[2])
    variance = 0.5 * df * np.exp(2 * hyper[:2]) / rng.standard_gamma(0.5 * df, COUNT.shape)
    shape = PRIOR_SD * rng.standard_normal(2) if kind == "skewed" else np.zeros(2)
    value = mean.ravel()[CELL] + np.sqrt(variance.ravel()[CELL]) * rng.standard_normal(len(CELL))
    if covariates is not None:
        value += (covariates.away * _slopes(theta).reshape(2, COVARIATES)[CELL % 2]).sum(axis=1)
    x = undo(warp(shape[0], shape[1]), value)
    rows = BinnedScores(x, np.ones(len(x)), np.zeros(len(x)), CELL, COUNT.size)
    observed = _sums(x) / np.maximum(COUNT.ravel(), 1)
    scatter = _sums((x - observed[CELL]) ** 2)
    warped = Warped(rows, fit(rows)) if kind == "skewed" else None
    cells = None if covariates is None else covariates.cells(x)
    found = sample(
        columns, COUNT, observed.reshape(COUNT.shape), scatter.reshape(COUNT.shape), prior, rng, warped=warped,
        slopes=None if cells is None else Slopes(cells.product, cells.cross),
        groups=CHAINS, draws=-(-DRAWS // CHAINS), tune=TUNE, thin=THIN,
    )  # fmt: skip
    names = ("mean", "sd", "theta", "scales", "hyper", "shape")
    draws = [getattr(found, name) for name in names]
    draws = [part.reshape(-1, *part.shape[2:])[:DRAWS] for part in draws]
    truth = [part[None] for part in (mean, np.sqrt(variance), theta, scales, hyper, shape)]
    if covariates is None or cells is None:
        return _quantities(kind, *truth), _quantities(kind, *draws)
    nu, centre = score_covariates.sample(cells, rng, finite=False, draws=DRAWS)
    known = (covariates.population[None], covariates.centre[None])
    return (
        _quantities(kind, *truth) | _over_covariates(cells, truth, *known),
        _quantities(kind, *draws) | _over_covariates(cells, draws, nu, centre),
    )


def _slopes(theta: FloatArray) -> FloatArray:
    """Slopes (..., outcome, covariate) from coefficients (..., column), whose last are these."""
    shared, difference = theta[..., -2 * COVARIATES : -COVARIATES], theta[..., -COVARIATES:]
    return np.asarray(shared[..., None, :] + CONTRAST[:, None] * difference[..., None, :], dtype=np.float64)


def _quantities(
    kind: Kind, mean: FloatArray, sd: FloatArray, theta: FloatArray, scales: FloatArray, hyper: FloatArray,
    shape: FloatArray,
) -> Draws:  # fmt: skip
    out = {
        "intercept[0]": theta[:, 0],
        "intercept[1]": theta[:, 1],
        "effect[0]": theta[:, 2],
        "effect[5]": theta[:, 7],
    }
    out |= {f"scale[{i}]": scales[:, i] for i in range(scales.shape[1])}
    out |= {"sigma[0]": hyper[:, 0], "sigma[1]": hyper[:, 1], "spread": hyper[:, 2]}
    out |= {f"mean[{g},{y}]": mean[:, g, y] for g, y in WATCHED} | {f"sd[{g},{y}]": sd[:, g, y] for g, y in WATCHED}
    out |= _aucs(mean, sd)
    if kind == "skewed":
        out |= {"epsilon": shape[:, 0], "log_delta": shape[:, 1]}
    return out


def _aucs(mean: FloatArray, sd: FloatArray) -> Draws:
    parts = (mean[..., 0], mean[..., 1], sd[..., 0], sd[..., 1])
    auc = metric_of("auc", ScoreLaw(np.full_like(parts[0], 0.5), *parts))
    return {f"auc[{g}]": auc[:, g] for g in (0, 2, 5)}


def _over_covariates(cells: CovariateCells, drawn: Sequence[FloatArray], nu: FloatArray, centre: FloatArray) -> Draws:
    """Slopes, means of covariates, and the AUC over the covariates of the population, whose covariance is known."""
    slope = _slopes(drawn[2])
    out = {f"slope[{y},{k}]": slope[:, y, k] for y in range(2) for k in range(COVARIATES)}
    out |= {f"centre[{y},0]": centre[:, y, 0] for y in range(2)}
    out |= {f"covariate[{g},{y}]": nu[:, g, y, 1] for g, y in WATCHED}
    mean = drawn[0] + ((nu - cells.mean) * slope[:, None]).sum(axis=-1)
    return out | _aucs(mean, np.sqrt(drawn[1] ** 2 + (slope**2).sum(axis=-1)[:, None]))


STUDY = CalibrationStudy(
    "tests.recovery.studies.score_calibration",
    "Simulation-based calibration of model-based metrics.",
    {kind: partial(replication, kind) for kind in get_args(Kind)},
    REPLICATIONS,
    SEED,
)
main = STUDY.main


if __name__ == "__main__":
    main()
