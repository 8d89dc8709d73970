"""Scores of a tally by subgroup and outcome, in standard units, and the columns that describe them. No PyMC here.

A standard unit is the pooled standard deviation of scores within cells; zero is the mean of all of them. Priors have these
units, so that they mean the same for sharp and for blunt scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .covariates import standardised
from .subsets import subsets

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EFFECT_SCALE = 0.3
"""Half-normal scale of every standard deviation of effects, in standard units."""
INTERCEPT_SCALE = 3.0
"""Standard deviation of the mean score of an outcome, in standard units."""
COEFFICIENT = 2.0
"""Standard deviation of the coefficient of a covariate, in scales of effects."""
LOG_SD_SCALE = 0.5
"""Standard deviation of the log of the typical standard deviation of an outcome."""
SPREAD_SCALE = 0.25
"""Half-normal scale of the spread of log standard deviations between subgroups."""
EDGE = 1e-6
"""Scores nearer to 0 or 1 than this have the logit of it."""

CONTRAST = (-0.5, 0.5)
"""How the difference between outcomes enters the mean of each."""


@dataclass(frozen=True)
class ScoreCells:
    """Scores in standard units; arrays (subgroup, outcome).

    ``count`` rows, their ``mean`` (0 where there are none) and ``scatter``, the sum of squared deviations from it; ``centre``
    and ``unit`` of the standard scale, and ``cut``, the threshold on it (NaN where there is none).
    """

    count: FloatArray
    mean: FloatArray
    scatter: FloatArray
    centre: float
    unit: float
    cut: float
    logit: bool


@dataclass(frozen=True)
class ScoreColumns:
    """Columns ``x`` (subgroup, outcome, column) of the means; see `columns`.

    ``owner`` (column,) is the component of a column, -1 where its scale is ``fixed`` (column,); ``names`` (component,).
    """

    x: FloatArray
    owner: IntArray
    fixed: FloatArray
    names: tuple[str, ...]


def score_cells(tally: xr.Dataset) -> ScoreCells:
    """Scores of a tally that keeps score moments.

    Parameters
    ----------
    tally : xr.Dataset
        Read are ``score_count``, ``score_mean``, ``score_variance`` (score_outcome, subgroup) and the settings
        ``score_scale`` and ``threshold``.

    Returns
    -------
    ScoreCells

    Raises
    ------
    ValueError
        If the tally keeps no score moments, or scores do not vary within any cell.

    Examples
    --------
    >>> cell = ("score_outcome", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"score_count": (cell, [[3.0], [2.0]]), "score_mean": (cell, [[-1.0], [1.5]]),
    ...      "score_variance": (cell, [[4.0], [4.0]])},
    ...     attrs={"settings": '{"score_scale": "logit", "threshold": 0.5}'})
    >>> found = score_cells(tally)
    >>> found.centre, found.unit, found.mean.tolist(), found.cut
    (0.0, 2.0, [[-0.5, 0.75]], 0.0)
    """
    if "score_count" not in tally:
        raise ValueError(
            "the tally keeps no scores by outcome; make it with 'auc' among its metrics, and give it moments with "
            "bayesgroups.tallies.score_moments.keep_scores()"
        )
    parts = (
        tally[f"score_{name}"].transpose("subgroup", "score_outcome").values for name in ("count", "mean", "variance")
    )
    count, mean, variance = (np.asarray(part, dtype=np.float64) for part in parts)
    scatter = np.where(count > 1, np.nan_to_num(variance) * (count - 1), 0.0)
    freedom = np.maximum(count - 1, 0.0).sum()
    pooled = scatter.sum() / freedom if freedom > 0 else 0.0
    settled = np.where(count > 0, np.nan_to_num(mean), 0.0)
    if not pooled > 0:
        where = ", ".join(repr(str(name)) for name in tally["subgroup"].values[count.sum(axis=1) > 0][:3])
        raise ValueError(
            f"scores do not vary among rows of one outcome in any subgroup (such as {where}), so they have no distribution "
            "to model; look at the column that is given as y_score="
        )
    unit, centre = math.sqrt(pooled), float((count * settled).sum() / count.sum())
    settings = json.loads(str(tally.attrs.get("settings", "{}")))
    logit = settings.get("score_scale", "logit") == "logit"
    threshold = settings.get("threshold")
    cut = math.nan if threshold is None else (on_scale(float(threshold), logit=logit) - centre) / unit
    away = np.where(count > 0, (settled - centre) / unit, 0.0)
    return ScoreCells(count, away, scatter / pooled, centre, unit, cut, logit)


def on_scale(score: float, *, logit: bool) -> float:
    """A score on the scale on which it is modelled.

    Examples
    --------
    >>> on_scale(0.5, logit=True), on_scale(0.5, logit=False)
    (0.0, 0.5)
    """
    if not logit:
        return score
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    inside = min(max(score, EDGE), 1 - EDGE)
    return math.log(inside) - math.log1p(-inside)


def columns(tally: xr.Dataset, order: int, covariates: Sequence[str], effect_scale: float) -> ScoreColumns:
    """What describes the mean score of a cell, besides the effects of its own subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    order : int
        Attributes are crossed at most so often: 0 for none of them, 1 for each by itself.
    covariates : sequence of str
        Features of the tally; their subgroup means enter standardised.
    effect_scale : float
        Scale of effects.

    Returns
    -------
    ScoreColumns
        An intercept for each outcome; for every subset of attributes an indicator of each of its cells, once for both
        outcomes and once for their difference; for every covariate likewise.

    Raises
    ------
    ValueError
        If the order is negative, the tally names no attributes, or has no such feature.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     coords={"subgroup": ["a | f", "a | m", "b | f", "b | m"], "race": ("subgroup", ["a", "a", "b", "b"]),
    ...             "sex": ("subgroup", ["f", "m", "f", "m"])}, attrs={"by": '{"by": ["race", "sex"]}'})
    >>> found = columns(tally, 1, (), 0.3)
    >>> found.names, found.x.shape, found.owner.tolist()
    (('race', 'race:outcome', 'sex', 'sex:outcome'), (4, 2, 10), [-1, -1, 0, 0, 1, 1, 2, 2, 3, 3])
    """
    components = subsets(tally, order)
    size = tally.sizes["subgroup"]
    parts = [np.broadcast_to(np.eye(2), (size, 2, 2))]
    owner, fixed = [-1, -1], [INTERCEPT_SCALE] * 2
    names: list[str] = []
    for name, cells, number in zip(components.names[:-1], components.cells[:-1], components.sizes[:-1], strict=True):
        own = np.eye(number)[cells]
        parts += _both(own)
        owner += [len(names)] * number + [len(names) + 1] * number
        fixed += [1.0] * (2 * number)
        names += [name, f"{name}:outcome"]
    if covariates:
        values = np.asarray(standardised(tally, covariates).values, dtype=np.float64)
        parts += _both(values)
        owner += [-1] * (2 * values.shape[1])
        fixed += [COEFFICIENT * effect_scale] * (2 * values.shape[1])
    return ScoreColumns(np.concatenate(parts, axis=2), np.array(owner), np.array(fixed), tuple(names))


def _both(own: FloatArray) -> list[FloatArray]:
    """Columns (subgroup, outcome, column) that are the same for both outcomes, and that differ between them."""
    return [np.repeat(own[:, None, :], 2, axis=1), own[:, None, :] * np.array(CONTRAST)[None, :, None]]
