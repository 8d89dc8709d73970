"""Covariates of rows that describe their scores, from sums of products of a tally. No PyMC here.

Within a subgroup and outcome the score is a linear function of the covariates plus normal noise; the slopes depend on the
outcome alone. Covariates are turned into as many uncorrelated ones with variance 1 within cells, so that priors of slopes mean
the same for all data and their means in cells have covariance 1 / rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .score_cells import CONTRAST, ScoreCells

FloatArray = NDArray[np.float64]

SLOPE_SCALE = (1.0, 0.5)
"""Standard deviations of the slopes that outcomes share, and of their difference, in standard units."""
CENTRE_SCALE = 3.0
"""Standard deviation of the mean of a covariate given the outcome, in its standard deviations within cells."""
TAU_SCALES = (1.0, 0.3)
"""Half-normal scales of the standard deviations of what moves its means in both outcomes of a subgroup, and their distance."""
PRIOR_ROWS = 10.0
"""Rows of a cell for which the pooled covariance of the covariates counts."""


@dataclass(frozen=True)
class CovariateCells:
    """Uncorrelated covariates and scores in standard units, by subgroup and outcome.

    Attributes
    ----------
    count : array (subgroup, outcome)
        Rows.
    mean : array (subgroup, outcome, covariate)
        Means, 0 where there are no rows.
    product : array (subgroup, outcome, covariate, covariate)
        Sums of products of deviations from the means.
    cross : array (subgroup, outcome, covariate)
        Sums of products with the deviations of the score.
    """

    count: FloatArray
    mean: FloatArray
    product: FloatArray
    cross: FloatArray

    def covariance(self, *, finite: bool) -> FloatArray:
        """Covariances within cells (subgroup, outcome, covariate, covariate).

        Those of the rows themselves (``finite``), or shrunk to the pooled one as if it were `PRIOR_ROWS` rows more.
        """
        pooled = np.eye(self.mean.shape[-1])
        count = self.count[..., None, None]
        if finite:
            return np.where(count > 0, self.product / np.maximum(count, 1.0), pooled)
        return (self.product + PRIOR_ROWS * pooled) / (np.maximum(count - 1, 0.0) + PRIOR_ROWS)


def covariate_cells(tally: xr.Dataset, scores: ScoreCells, names: Sequence[str]) -> CovariateCells:
    """Covariates of a tally that keeps them by packets.

    Parameters
    ----------
    tally : xr.Dataset
        Read are the variables along ``score_packet``.
    scores : ScoreCells
        Its scores.
    names : sequence of str
        Covariates to take.

    Returns
    -------
    CovariateCells

    Raises
    ------
    ValueError
        If the tally keeps no such covariate of rows.

    Examples
    --------
    >>> along, both = "score_packet", ("score_packet", "score_covariate")
    >>> tally = xr.Dataset(
    ...     {"packet_subgroup": (along, [0, 0]), "packet_outcome": (along, [0, 0]), "packet_rows": (along, [1.0, 1.0]),
    ...      "packet_score": (along, [-2.0, 2.0]), "packet_covariate": (both, [[-1.0], [1.0]]),
    ...      "packet_cross": (both, [[2.0], [2.0]]),
    ...      "packet_product": ((*both, "score_covariate_other"), [[[1.0]], [[1.0]]])},
    ...     coords={"score_covariate": ["age"]})
    >>> count, zero = np.array([[2.0, 0.0]]), np.zeros((1, 2))
    >>> found = covariate_cells(tally, ScoreCells(count, zero, zero, 0.0, 2.0, 0.0, True), ["age"])
    >>> found.product[0, 0].round(3).tolist(), found.cross[0, 0].round(3).tolist()
    ([[1.0]], [1.414])
    """
    known = [str(name) for name in tally["score_covariate"].values] if "score_packet" in tally.dims else []
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"the tally keeps no covariate {missing[0]!r} of rows; it keeps {', '.join(known) or 'none'}. Give it those of its "
            "rows with bayesgroups.tallies.score_covariates.keep_covariates(tally, frame, [...])"
        )
    at = [known.index(name) for name in names]
    cell = 2 * tally["packet_subgroup"].values + tally["packet_outcome"].values
    shape = scores.count.shape

    def total(values: FloatArray) -> FloatArray:
        found = np.zeros((2 * shape[0], *values.shape[1:]))
        np.add.at(found, cell, values)
        return found.reshape(*shape, *values.shape[1:])

    count, score = total(tally["packet_rows"].values), total(tally["packet_score"].values)
    sums, cross = (total(tally[f"packet_{name}"].values[:, at]) for name in ("covariate", "cross"))
    product = total(tally["packet_product"].values[:, at][:, :, at])
    some = np.maximum(count, 1e-300)[..., None]
    mean = np.where(count[..., None] > 0, sums / some, 0.0)
    cross = (cross - mean * score[..., None]) / scores.unit
    product = product - mean[..., :, None] * sums[..., None, :]
    pooled = product.sum(axis=(0, 1)) / np.maximum(count - 1, 0.0).sum()
    turn = np.linalg.inv(np.linalg.cholesky(pooled)).T
    product = np.einsum("ij,gyik,kl->gyjl", turn, product, turn)
    return CovariateCells(count, mean @ turn, product, cross @ turn)


def slope_columns(covariates: CovariateCells) -> FloatArray:
    """Columns (subgroup, outcome, 2 covariate) of the means of cells: shared slopes, then their difference."""
    return np.concatenate([covariates.mean, covariates.mean * np.array(CONTRAST)[:, None]], axis=-1)


def slope_scales(covariates: CovariateCells) -> FloatArray:
    """Prior standard deviations (2 covariate,) of the coefficients of `slope_columns`."""
    return np.repeat(SLOPE_SCALE, covariates.mean.shape[-1])
