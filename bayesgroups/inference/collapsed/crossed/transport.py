"""Normal values with learned variances, drawn around what data would make of them.

    x = L w r y + sqrt(L r) xi,     r = 1 / (1 + L w)

is the posterior of x ~ Normal(0, L) given an observation y of precision w, if xi is standard normal. With w and y that are about
what the data of x say, xi is nearly independent of the variance L, however much or little they say: between the centred and the
non-centred form (Papaspiliopoulos, Roberts and Skoeld 2007, doi:10.1214/088342307000000014), and of no consequence for the density.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray


class Data(NamedTuple):
    """Precision and observation that the data make of some values."""

    precision: FloatArray
    observation: FloatArray


class Transported(NamedTuple):
    """Values (draw, direction) with what they are made of."""

    values: FloatArray
    variance: FloatArray
    precision: FloatArray
    root: FloatArray
    """Standard deviation that an observation leaves."""
    kept: FloatArray
    """The share r of the variance that an observation leaves."""
    weighted: FloatArray
    """w y."""

    @property
    def log_density(self) -> FloatArray:
        """Log density of xi (draw,) beforehand: that of the values, and the stretch of the map."""
        return np.asarray(-0.5 * (self.values**2 / self.variance - np.log(self.kept)).sum(axis=1))


class Pulled(NamedTuple):
    """Derivatives by xi and by the variance, (draw, direction)."""

    xi: FloatArray
    variance: FloatArray

    def observation(self, made: Transported) -> FloatArray:
        """Derivatives by y."""
        return self.xi * made.root * made.precision


def transported(variance: FloatArray, precision: FloatArray, observation: FloatArray, xi: FloatArray) -> Transported:
    """Values of xi (draw, direction); ``precision`` is (direction,) or differs between draws, as variances and y may."""
    kept, weighted = variance * precision, precision * observation
    kept += 1
    np.reciprocal(kept, out=kept)
    left = variance * kept
    root = np.sqrt(left)
    values = root * xi
    values += left * weighted
    return Transported(values, variance, precision, root, kept, weighted)


def pulled(made: Transported, by_values: FloatArray) -> Pulled:
    """Derivatives of a function of the values, of which those by the values are given, and of `Transported.log_density`."""
    ratio = made.values / made.variance
    total = by_values - ratio
    xi = total * made.root
    total *= made.kept
    by_variance = made.weighted * made.kept
    by_variance += ratio
    by_variance *= total
    ratio *= ratio
    by_variance += ratio
    by_variance -= made.precision * made.kept
    by_variance *= 0.5
    return Pulled(xi, by_variance)


def by_log_precision(made: Transported, by_values: FloatArray) -> FloatArray:
    """Derivatives by logarithms of precisions w that differ between draws, y as it is; `pulled` has those by variances."""
    by_log = made.root * made.root
    by_log *= made.weighted
    by_log *= 1 + made.kept
    taken = 1 - made.kept
    by_log -= taken * made.values
    by_log *= by_values - made.values / made.variance
    by_log -= taken
    by_log *= 0.5
    return by_log


def passed_on(made: Transported, by_values: FloatArray) -> FloatArray:
    """Derivatives by what is added to values and taken off y, from those of a function of the sum of both.

    >>> made = transported(np.array([[2.0]]), np.array([3.0]), np.array([0.5]), np.array([[0.7]]))
    >>> by_values = np.array([[0.4]])
    >>> float((by_values - pulled(made, by_values).observation(made) - passed_on(made, by_values)).round(12)[0, 0])
    0.0
    """
    ratio = made.values / made.variance
    return np.asarray(made.kept * (by_values - ratio) + ratio)


def returned(variance: FloatArray, precision: FloatArray, observation: FloatArray, values: FloatArray) -> FloatArray:
    """The xi of values, (draw, direction).

    >>> parts = np.array([[2.0]]), np.array([3.0]), np.array([0.5]), np.array([[0.7]])
    >>> float(transported(*parts[:3], returned(*parts)).values[0, 0])
    0.7
    """
    kept = 1 / (1 + variance * precision)
    left = variance * kept
    return np.asarray((values - left * precision * observation) / np.sqrt(left))
