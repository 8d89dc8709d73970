"""Coefficients of columns that belong to one subgroup: their scales given what the subgroups share.

Given the predictor m of all shared columns, r = z - m is normal with the variances of the error and of the own coefficients of a
subgroup. The scale of one of these, the collapsed one, is integrated out by quadrature (`scale_mixtures`) where tau is drawn, and
then drawn itself. Further ones, where a subgroup has more than one, keep their scales.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.scale_mixtures import CoefficientPrior, Nodes, nodes_for

AT_ONCE = 512_000
"""Bytes handled at once, which stay in the cache."""

NODES_PER_LEADING_NODE = 3
"""Nodes of the quadrature for each that leads trajectories."""
LARGEST_ERROR = 1.0
"""Standard error that is taken for one where there is none."""
LOWEST = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -300.0}
"""Logarithm of the smallest ratio of likelihoods: numbers too small for full precision take processors much longer. In single
precision, where its product with a small weight would be such a number, it is taken for 0."""
SMALL_TAU, MIN_LAST_WEIGHT = 1e-3, 1e-28
"""Share of the prior's scale of tau at which the last node has so much weight at least where single precision does, which
takes half the time: ratios of likelihoods below the lowest then add nothing that would tell."""
MIN_WEIGHT = 1e-37
"""Floor of weights, which are not to vanish in single precision."""
MAX_PRECISION = 1e15
"""Largest precision of data whose products stay in the range of single precision."""


@dataclass(frozen=True)
class Layer:
    """Columns of one subgroup each, no two of the same: where they are ``at`` the features, their ``row`` and their ``entry``."""

    at: IntArray
    row: IntArray
    entry: FloatArray


NO_LAYER = Layer(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


def layers(seen: FloatArray) -> list[Layer]:
    """Columns of features (subgroup, column) that are not zero in one subgroup only, the last one of every subgroup first.

    >>> [layer.at.tolist() for layer in layers(np.array([[1.0, 1, 0], [1, 0, 2], [1, 0, 0]]))]
    [[1, 2]]
    >>> [layer.at.tolist() for layer in layers(np.eye(2).repeat(2, axis=1))]
    [[1, 3], [0, 2]]
    """
    at = np.flatnonzero((seen != 0).sum(axis=0) == 1)
    row = np.nonzero(seen[:, at].T)[1]
    collected: list[Layer] = []
    while len(at):
        last = len(at) - 1 - np.unique(row[::-1], return_index=True)[1]
        collected.append(Layer(at[last], row[last], seen[row[last], at[last]]))
        left = np.setdiff1d(np.arange(len(at)), last)
        at, row = at[left], row[left]
    return collected


class Collapsed:
    """One own coefficient of every subgroup, whose scale is integrated out; its ``entry`` (subgroup,) may be 0.

    Arrays of likelihoods have dims (chain, node, subgroup). They are in single precision where the tails of the prior are heavy:
    likelihoods with scales integrated out are then some millionths off.
    """

    def __init__(self, entry: FloatArray, v: FloatArray, prior: CoefficientPrior) -> None:
        self.entry, self.v = entry, v
        with_entry = entry != 0
        errors = np.sqrt(v[with_entry]) / np.abs(entry[with_entry])
        self.nodes: Nodes = nodes_for(prior, float(errors.min(initial=LARGEST_ERROR)))
        with np.errstate(invalid="ignore"):
            heavy = self.nodes.weights(np.log([SMALL_TAU * prior.tau_scale]))[0, -1] > MIN_LAST_WEIGHT
        single = heavy and v.min(initial=np.inf) > 1 / MAX_PRECISION
        self.number: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
        self._set(entry**2 * prior.variance(self.nodes.log_free)[:, None])

    def _set(self, variances: FloatArray) -> None:
        self.variances = variances
        self._known = self._terms(self.v)
        self._room = np.empty((0, *variances.shape), self.number)
        # Arrays as large take half the time of one number, of which another routine may make another exponential.
        self._lowest = np.full(variances.shape, LOWEST[self.number], self.number)
        self._nothing = np.exp(self._lowest) if self.number == np.float32 else None

    @cached_property
    def _coarse(self) -> Collapsed:
        other = copy.copy(self)
        other._set(self.variances[::NODES_PER_LEADING_NODE])
        return other

    def near_slope(self, residual: FloatArray, further: FloatArray | None, weight: FloatArray) -> FloatArray:
        """About the derivative that `with_slope` has, from few of the nodes.

        It depends on nothing but the arguments, and so leads trajectories that lead back; which are accepted the density decides.
        """
        few = weight[:, ::NODES_PER_LEADING_NODE]
        return self._coarse.with_slope(residual, further, few / few.sum(axis=1, keepdims=True))[1]

    def _terms(self, error: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Half the precision of the last node and the gain of it on others, and the same of logarithms of variances."""
        variance = error[..., None, :] + self.variances
        half_precision, half_log = 0.5 / variance, 0.5 * np.log(variance)
        last = half_precision[..., -1:, :], half_log[..., -1:, :]
        gain, log_gain = (
            (at_last - each).astype(self.number) for at_last, each in zip(last, (half_precision, half_log), strict=True)
        )
        return last[0][..., 0, :], gain, last[1][..., 0, :], log_gain

    def likelihood(self, residual: FloatArray, further: FloatArray | None) -> FloatArray:
        """Likelihoods (chain, node, subgroup) over that of the last node.

        ``residual`` (chain, subgroup) of data about the shared predictor; ``further`` variance of own columns of other layers.
        The array is used again by the next call.
        """
        _, gain, _, log_gain = self._known if further is None else self._terms(self.v + further)
        shape = (len(residual), *self.variances.shape)
        if self._room.shape != shape:
            self._room = np.empty(shape, self.number)
        square = (residual**2).astype(self.number)
        np.multiply(square[:, None], gain, out=self._room)
        self._room += log_gain
        # The first node has the smallest ratios, but for their logarithms of variances, which add to all.
        if (square * gain[..., 0, :]).min(initial=0.0) > LOWEST[self.number]:
            return np.exp(self._room, out=self._room)
        np.maximum(self._room, self._lowest, out=self._room)
        np.exp(self._room, out=self._room)
        if self._nothing is not None:
            self._room -= self._nothing
        return self._room

    def mixture(self, likelihood: FloatArray, weight: FloatArray) -> FloatArray:
        """Likelihoods (chain, ..., subgroup) with scales integrated out, given weights (chain, ..., node)."""
        if self.number == np.float32:
            weight = np.maximum(weight, MIN_WEIGHT, dtype=np.float32)
        return np.asarray(weight @ likelihood)

    def log_density(self, residual: FloatArray, further: FloatArray | None, weight: FloatArray) -> FloatArray:
        """Log density (chain, subgroup) of data about the shared predictor, given weights (chain, node)."""
        return self._density(residual, further, weight, slope=None)

    def log_density_of(
        self, likelihood: FloatArray, residual: FloatArray, further: FloatArray | None, weight: FloatArray
    ) -> FloatArray:
        """The log density of residuals whose `likelihood` is at hand."""
        precision, _, log_variance, _ = self._known if further is None else self._terms(self.v + further)
        density = self.mixture(likelihood, weight[:, None])[:, 0]
        return np.asarray(np.log(density) - residual**2 * precision - log_variance)

    def with_slope(
        self, residual: FloatArray, further: FloatArray | None, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The log density and its derivative with respect to the residual."""
        slope = np.empty(residual.shape)
        return self._density(residual, further, weight, slope), slope

    def _density(
        self, residual: FloatArray, further: FloatArray | None, weight: FloatArray, slope: FloatArray | None
    ) -> FloatArray:
        density = np.empty(residual.shape)
        precision, gain, log_variance, _ = self._known if further is None else self._terms(self.v + further)
        each = max(1, AT_ONCE // max(1, self.variances.size * self.number.itemsize))
        for first in range(0, len(density), each):
            part = slice(first, first + each)
            likelihood = self.likelihood(residual[part], None if further is None else further[part])
            density[part] = self.mixture(likelihood, weight[part, None])[:, 0]
            if slope is not None:
                likelihood *= gain if further is None else gain[part]
                slope[part] = self.mixture(likelihood, weight[part, None])[:, 0]
        if slope is not None:
            slope[:] = 2 * residual * (slope / density - precision)
        return np.asarray(np.log(density) - residual**2 * precision - log_variance)

    def draw(self, likelihood: FloatArray, weight: FloatArray, rng: np.random.Generator) -> IntArray:
        """Nodes (chain, subgroup) given weights (chain, node)."""
        level = rng.random(likelihood[:, 0].shape) * self.mixture(likelihood, weight[:, None])[:, 0]
        node, mass = np.zeros(level.shape, dtype=np.int64), np.zeros(level.shape)
        for at in range(len(self.variances) - 1):
            mass += weight[:, at, None] * likelihood[:, at]
            node += mass < level
        return node
