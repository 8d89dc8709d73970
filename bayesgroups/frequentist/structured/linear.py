"""Linear predictors of subgroups, and the checks on what they are fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.errors import InputError

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""


@dataclass(frozen=True)
class Line:
    """A linear predictor: ``intercept`` and one ``coefficient`` per column, in the units of the metric."""

    intercept: float
    coefficient: FloatArray

    def at(self, x: FloatArray) -> FloatArray:
        """Value at features (subgroup, column)."""
        value: FloatArray = self.intercept + x @ self.coefficient
        return value

    @property
    def selected(self) -> BoolArray:
        """Columns whose coefficient is not exactly 0."""
        return np.asarray(self.coefficient != 0)


@dataclass(frozen=True)
class Centred:
    """Columns with their weighted means taken out, on the scale where every row weighs the same.

    ``mean`` (column,) are weighted means, ``share`` (subgroup,) the weights divided by their sum ``total``, and ``x`` is
    ``sqrt(share) (x - mean)``, with exact zeros in columns that do not vary. ``subgroup`` (column,) is the one that a column
    indicates, -1 for any other column.
    """

    mean: FloatArray
    share: FloatArray
    total: float
    x: FloatArray
    subgroup: IntArray

    def response(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted means (...,) of estimates (..., subgroup), and ``sqrt(share) (z - mean)``."""
        mean = z @ self.share
        return mean, np.sqrt(self.share) * (z - mean[..., None])


def centred(x: FloatArray, w: FloatArray) -> Centred:
    """Columns with their weighted means taken out.

    InputError if shapes do not fit, there is no subgroup, a feature is not finite or a weight not positive and finite.

    >>> columns = centred(np.array([[1.0], [0.0]]), np.array([3.0, 1.0]))
    >>> columns.mean.tolist(), (columns.x**2).sum(axis=0).tolist()
    ([0.75], [0.1875])
    """
    if x.ndim != 2 or w.ndim != 1 or len(x) != len(w) or len(w) == 0:
        raise InputError(f"features {x.shape} and weights {w.shape} must have one row per subgroup, at least one")
    if not np.isfinite(x).all():
        raise InputError("features must be finite; impute what is missing")
    if not (np.isfinite(w) & (w > 0)).all():
        raise InputError("weights must be positive and finite; leave subgroups without an estimate out")
    largest = w.max()
    total = float((w / largest).sum())
    share = w / largest / total
    mean = share @ x
    deviations = np.where(np.ptp(x, axis=0) > 0, x - mean, 0.0)
    return Centred(mean, share, total * float(largest), np.sqrt(share)[:, None] * deviations, indicated(x))


def indicated(x: FloatArray) -> IntArray:
    """Subgroup (column,) that a column indicates, -1 for any other column."""
    indicates = ((x == 0) | (x == 1)).all(axis=0) & (x.sum(axis=0) == 1)
    return np.where(indicates, np.argmax(x, axis=0), -1)


def line(of: Centred, mean: float, coefficient: FloatArray) -> Line:
    """Line through the weighted means."""
    return Line(float(mean - of.mean @ coefficient), coefficient)


def least_squares(of: Centred, y: FloatArray) -> FloatArray:
    """Coefficients (..., column) of least squares with the smallest norm, for centred responses y (..., subgroup)."""
    coefficient: FloatArray = y @ np.linalg.pinv(of.x, rcond=RANK).T
    return coefficient
