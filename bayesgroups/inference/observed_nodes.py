"""Observed nodes of the PyMC models at draws of their parameters: log densities, and data drawn anew.

A node has the name, the dim and the labels that it has in the model of its estimator. It holds observed cells alone: a
subgroup without rows that count for a metric has no entry, so that every log density carries information. Densities are
whole, with their constants.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.prior_conflict import inside
from bayesgroups.models.shared.cells import draw_successes

HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Node(ABC):
    """Observed node of a model: its observed values (cell, ...) and its law at every draw.

    ``beside`` names the dims of an observation beside that of the cells, with their labels.
    """

    name: str
    dim: str
    labels: Sequence[Any]
    observed: FloatArray

    @property
    def beside(self) -> dict[str, Sequence[Any]]:
        """Dims of one observation with their labels; by default it is a number."""
        return {}

    @property
    def whole(self) -> bool:
        """True if observations are whole numbers, and replicates too."""
        return False

    @abstractmethod
    def log_density(self) -> FloatArray:
        """Log density of what was observed, (draw, cell)."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> NDArray[Any]:
        """One replicate of the observations at every draw, (draw, cell, ...)."""


@dataclass(frozen=True)
class BinomialNode(Node):
    """Successes among ``count`` (cell,) at rates ``p`` (draw, cell); counts that are not whole continue the density."""

    count: FloatArray
    p: FloatArray

    @property
    def whole(self) -> bool:
        """True where no rows have weights."""
        return all(np.array_equal(values, np.rint(values)) for values in (self.observed, self.count))

    def log_density(self) -> FloatArray:
        """Binomial, continued to counts that are not whole.

        >>> node = BinomialNode("successes", "binomial_cell", ["fnr | a"], np.array([1.0]), np.array([2.0]), np.array([[0.5]]))
        >>> np.exp(node.log_density()).round(6).tolist()
        [[0.5]]
        """
        k, n, p = self.observed, self.count, inside(self.p)
        choose = _log_gamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1)
        return np.asarray(choose + k * np.log(p) + (n - k) * np.log1p(-p))

    def drawn(self, rng: np.random.Generator) -> NDArray[Any]:
        """Successes; among the nearest whole number of rows, scaled to the count, where counts are not whole."""
        successes = draw_successes(self.count, inside(self.p), rng)
        return successes.astype(np.int64) if self.whole else successes


@dataclass(frozen=True)
class NormalNode(Node):
    """Observations with ``mean`` (draw, cell) and standard deviation ``sd``, (cell,) where it is known or (draw, cell)."""

    mean: FloatArray
    sd: FloatArray

    def log_density(self) -> FloatArray:
        """Normal.

        >>> node = NormalNode("estimate", "normal_cell", ["auc | a"], np.array([1.0]), np.array([[0.0]]), np.array([2.0]))
        >>> node.log_density().round(4).tolist()
        [[-1.7371]]
        """
        return np.asarray(-0.5 * ((self.observed - self.mean) / self.sd) ** 2 - np.log(self.sd) - HALF_LOG_TWO_PI)

    def drawn(self, rng: np.random.Generator) -> NDArray[Any]:
        """Normal."""
        return np.asarray(rng.normal(self.mean, self.sd))


@dataclass(frozen=True)
class GammaNode(Node):
    """Sums of squares with ``shape`` (cell,) and ``rate`` (draw, cell)."""

    shape: FloatArray
    rate: FloatArray

    def log_density(self) -> FloatArray:
        """Gamma.

        >>> node = GammaNode("scatter", "cell", [0], np.array([2.0]), np.array([1.0]), np.array([[0.5]]))
        >>> node.log_density().round(4).tolist()
        [[-1.6931]]
        """
        x, a, b = self.observed, self.shape, self.rate
        return np.asarray(a * np.log(b) - _log_gamma(a) + (a - 1) * np.log(x) - b * x)

    def drawn(self, rng: np.random.Generator) -> NDArray[Any]:
        """Gamma."""
        return np.asarray(rng.gamma(self.shape, 1 / self.rate))


@dataclass(frozen=True)
class MultinomialNode(Node):
    """Counts (cell, class) with shares (draw, cell, class); ``classes`` are the dim and the labels of the classes."""

    share: FloatArray
    classes: tuple[str, Sequence[Any]]

    @property
    def beside(self) -> dict[str, Sequence[Any]]:
        """The classes."""
        return {self.classes[0]: self.classes[1]}

    @property
    def whole(self) -> bool:
        """Always."""
        return True

    def log_density(self) -> FloatArray:
        """Multinomial, of all classes of a cell together.

        >>> node = MultinomialNode("judgements", "cell", [0], np.array([[1.0, 1.0]]), np.array([[[0.5, 0.5]]]), ("label", "ab"))
        >>> np.exp(node.log_density()).round(6).tolist()
        [[0.5]]
        """
        choose = _log_gamma(self.observed.sum(axis=-1) + 1) - _log_gamma(self.observed + 1).sum(axis=-1)
        return np.asarray(choose + (self.observed * np.log(inside(self.share))).sum(axis=-1))

    def drawn(self, rng: np.random.Generator) -> NDArray[Any]:
        """Multinomial, with as many in a cell as were observed."""
        total = np.broadcast_to(self.observed.sum(axis=-1).astype(np.int64), self.share.shape[:-1])
        return np.asarray(rng.multinomial(total, self.share))


def _log_gamma(values: FloatArray) -> FloatArray:
    """Log gamma function of every value, from the standard library: counts are few, and loading SciPy takes longer."""
    return np.array([math.lgamma(value) for value in values.ravel().tolist()]).reshape(values.shape)


@dataclass(frozen=True)
class ObservedNodes:
    """Observed nodes of a model at draws, and the reason why they are not the whole likelihood, empty where they are.

    ``hidden`` says that the reason is parameters which the engine has and a report does not keep.
    """

    nodes: tuple[Node, ...]
    reason: str = ""
    hidden: bool = False
