"""Errors of estimates that are correlated between subgroups, turned to directions in which they are not.

Along the eigenvectors U of their covariance V errors are independent, with the eigenvalues as variances. Effects that are
independent with one variance stay so in any directions, so that a model of exchangeable subgroups is one of U'z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray

SMALLEST_SHARE = 1e-12
"""Smallest variance of a direction as a share of the largest: fewer clusters than subgroups are no certainty."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the subgroups that are ``seen`` (subgroup,): ``vectors`` (seen, direction), ``variance`` (subgroup,).

    Subgroups without data keep their places, with a variance of NaN.
    """

    seen: BoolArray
    vectors: FloatArray
    variance: FloatArray

    def along(self, values: FloatArray) -> FloatArray:
        """Values (..., subgroup) in the directions."""
        turned = np.array(values, dtype=np.float64)
        turned[..., self.seen] = turned[..., self.seen] @ self.vectors
        return turned

    def back(self, values: FloatArray) -> FloatArray:
        """Values (..., subgroup) of the subgroups from those in the directions."""
        turned = np.array(values, dtype=np.float64)
        turned[..., self.seen] = turned[..., self.seen] @ self.vectors.T
        return turned


def covariance_of(tally: xr.Dataset) -> FloatArray | None:
    """Covariance (subgroup, subgroup) of the errors of the first metric; None where errors are independent."""
    if "sampling_covariance" not in tally.data_vars:
        return None
    covariance = np.asarray(tally["sampling_covariance"].values[0], dtype=np.float64)
    return covariance if np.isfinite(covariance).any() else None


def directions_of(covariance: FloatArray) -> Directions:
    """Directions of errors with a covariance (subgroup, subgroup), NaN for subgroups without data.

    >>> turned = directions_of(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> turned.variance.round(6).tolist(), turned.back(turned.along(np.array([1.0, 3.0]))).round(6).tolist()
    ([1.0, 3.0], [1.0, 3.0])
    """
    seen = np.isfinite(np.diagonal(covariance))
    values, vectors = np.linalg.eigh(covariance[np.ix_(seen, seen)])
    variance = np.full(len(covariance), np.nan)
    variance[seen] = np.maximum(values, SMALLEST_SHARE * values.max(initial=0.0))
    return Directions(seen, vectors, variance)


def log_density(values: FloatArray, tally: xr.Dataset) -> FloatArray:
    """Log density (draw, direction) of the estimates of the first metric given values (draw, subgroup), 0 without data.

    Its sum over directions is that of all estimates together; no column is of a subgroup.
    """
    covariance = covariance_of(tally)
    assert covariance is not None, "asked for correlated errors only"
    turned = directions_of(covariance)
    gap = turned.along(np.where(turned.seen, np.nan_to_num(tally["estimate"].values[0]) - values, 0.0))
    variance = np.where(turned.seen, turned.variance, 1.0)
    density = -0.5 * (np.log(2 * np.pi * variance) + gap**2 / variance)
    return np.where(turned.seen, density, 0.0)
