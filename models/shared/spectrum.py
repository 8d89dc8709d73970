"""Directions in which all components of crossed effects vary on their own: the eigenvectors that their covariances share.

All combinations of the levels of some factors have the basis of the analysis of variance: products over the factors of a
constant and of contrasts. The covariance of every component, 1 where two combinations agree on its factors, is diagonal in it, and
so is the covariance of an ordered part, whose contrasts are the eigenvectors of the walk. Given the variances of the components all
directions are then independent beforehand, and nothing has to be factorised. Subgroups are the combinations or some of them.
No PyMC here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_DENSE = 200
"""Directions up to which one product with the whole basis is as fast as one product per factor."""
MERGED_LEVELS = 16
"""Levels up to which one product for two factors is faster than two."""
MAX_LEVELS = 2000
"""Levels of a factor beyond which its basis takes too long."""
MAX_DIRECTIONS = 8
"""Combinations of levels for every subgroup beyond which most directions would say nothing."""
NEGLIGIBLE = 1e-9
"""Share of an eigenvalue that counts as rounding."""


@dataclass(frozen=True)
class Spectrum:
    """Basis of all combinations of the levels of some factors, or some directions of it, and the eigenvalues of covariances there.

    ``bases`` are orthogonal matrices (level, direction) of the factors, the constant first; ``rows`` (subgroup,) says where a
    subgroup stands among the combinations, ``columns`` (direction,) where a direction does among those of the whole basis.
    Directions with the same eigenvalues are of one kind: ``kind`` (direction,) and ``power`` (kind, covariance). The first
    direction is the constant.
    """

    bases: tuple[FloatArray, ...]
    rows: IntArray
    columns: IntArray
    kind: IntArray
    power: FloatArray
    member: FloatArray = field(init=False)
    """1 where a direction is of a kind, (direction, kind)."""
    dense: FloatArray | None = field(init=False)
    in_turn: bool = field(init=False)
    """True if the subgroups are all combinations in turn."""

    def __post_init__(self) -> None:
        member = np.asarray(self.kind[:, None] == np.arange(len(self.power)), dtype=np.float64)
        object.__setattr__(self, "member", member)
        few = self.directions <= MAX_DENSE
        object.__setattr__(self, "dense", _product(self.bases)[np.ix_(self.rows, self.columns)] if few else None)
        object.__setattr__(self, "in_turn", np.array_equal(self.rows, np.arange(self.combinations)))

    @property
    def directions(self) -> int:
        """Number of directions."""
        return len(self.kind)

    @property
    def combinations(self) -> int:
        """Number of combinations of levels."""
        return int(np.prod([len(basis) for basis in self.bases], dtype=np.int64))

    def of(self, covariances: Sequence[int]) -> Spectrum:
        """Directions in which some of the covariances vary, and the constant."""
        power = self.power[:, covariances]
        varies = (power > 0).any(axis=1)
        kept = varies[self.kind]
        kept[0] = True
        left, kind = np.unique(self.kind[kept], return_inverse=True)
        return Spectrum(self.bases, self.rows, self.columns[kept], kind, power[left])

    def values(self, along: FloatArray) -> FloatArray:
        """Values of subgroups (draw, subgroup) from those along the directions (draw, direction)."""
        if self.dense is not None:
            return np.asarray(along @ self.dense.T)
        whole = np.zeros((len(along), self.combinations), along.dtype)
        whole[:, self.columns] = along
        turned = self._turned(whole, [basis.T for basis in self.bases])
        return turned if self.in_turn else np.take(turned, self.rows, axis=1)

    def along(self, values: FloatArray) -> FloatArray:
        """The transpose of `values`: (draw, subgroup) to (draw, direction)."""
        if self.dense is not None:
            return np.asarray(values @ self.dense)
        return np.take(self._turned(self._placed(values), self.bases), self.columns, axis=1)

    def squared(self, weight: FloatArray) -> FloatArray:
        """Diagonal of the matrix of weights (subgroup,) in the basis, (direction,)."""
        if self.dense is not None:
            return np.asarray(weight @ self.dense**2)
        return np.asarray(self._turned(self._placed(weight[None]), [basis**2 for basis in self.bases])[0, self.columns])

    def _placed(self, values: FloatArray) -> FloatArray:
        if self.in_turn:
            return values
        placed = np.zeros((len(values), self.combinations), values.dtype)
        placed[:, self.rows] = values
        return placed

    def _turned(self, values: FloatArray, bases: Sequence[FloatArray]) -> FloatArray:
        for basis in bases:
            values = values.reshape(len(values), len(basis), -1).transpose(0, 2, 1) @ basis
        return values.reshape(len(values), -1)


def spectrum(cells: IntArray, kernels: Sequence[FloatArray]) -> tuple[Spectrum, list[bool]] | None:
    """Spectrum of components and of further covariances, and which of the latter are diagonal in it.

    ``cells`` (component, subgroup) has a cell number for every subgroup; ``kernels`` are roots R (subgroup, column) of covariances
    R R'. None if the coarsest components do not tell subgroups apart, or have very many levels or combinations, or if some
    component does not consist of them. The eigenvalues are those of the components in turn, then those of the covariances that are
    diagonal: none of them where some combination is no subgroup.

    >>> cells = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
    >>> parts, _ = spectrum(cells, [])
    >>> parts.power.tolist()
    [[2.0, 2.0, 1.0], [0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    factors = [cells[position] for position in _coarsest(cells)]
    levels = [int(factor.max()) + 1 for factor in factors]
    directions, number = int(np.prod(levels, dtype=np.float64)), cells.shape[1]
    if max(levels, default=MAX_LEVELS + 1) > MAX_LEVELS or directions > MAX_DIRECTIONS * number:
        return None
    rows = np.asarray(np.ravel_multi_index(factors, levels))
    if len(np.unique(rows)) < number:
        return None
    complete = directions == number
    bases = [_basis(factor, kernels if complete else []) for factor in factors]
    eigenvalues = []
    for cell in cells:
        inside = [_refines(cell, factor) for factor in factors]
        crossed = np.stack([factor for factor, each in zip(factors, inside, strict=True) if each])
        if np.unique(crossed, axis=1).shape[1] != int(cell.max()) + 1:
            return None
        ends = zip(levels, inside, strict=True)
        eigenvalues.append(_product([np.ones((1, size)) if each else size * np.eye(1, size) for size, each in ends])[0])
    diagonal = []
    whole = _product(bases)[rows] if kernels and complete else np.empty((0, 0))
    for root in kernels:
        turned = whole.T @ root if complete else root
        kernel = turned @ turned.T
        each = np.diag(kernel).copy()
        diagonal.append(complete and bool(np.abs(kernel - np.diag(each)).max() < NEGLIGIBLE * each.max()))
        if diagonal[-1]:
            eigenvalues.append(np.where(each > NEGLIGIBLE * each.max(), each, 0.0))
    every = np.stack(eigenvalues, axis=1)
    _, first, kind = np.unique(every.round(9), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    kinds = np.argsort(order)[kind.ravel()]
    return Spectrum(_few(bases), rows, np.arange(directions), kinds, every[first[order]]), diagonal


def unfactored(number: int) -> Spectrum:
    """Spectrum without directions, of so many subgroups."""
    none = np.empty(0, dtype=np.int64)
    return Spectrum((), np.zeros(number, dtype=np.int64), none, none, np.empty((0, 0)))


def _product(parts: Sequence[FloatArray]) -> FloatArray:
    whole: FloatArray = np.ones((1, 1))
    for part in parts:
        whole = np.asarray(np.kron(whole, part), dtype=np.float64)
    return whole


def _few(bases: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """The same basis as fewer factors, neighbours of few levels as one."""
    few: list[FloatArray] = []
    for basis in bases:
        if few and len(few[-1]) * len(basis) <= MERGED_LEVELS:
            few[-1] = np.asarray(np.kron(few[-1], basis), dtype=np.float64)
        else:
            few.append(basis)
    return tuple(few)


def _refines(fine: IntArray, coarse: IntArray) -> bool:
    """True if subgroups in one cell of the first are in one cell of the second."""
    pairs = fine * (int(coarse.max()) + 1) + coarse
    return len(np.unique(pairs)) == int(fine.max()) + 1


def _coarsest(cells: IntArray) -> list[int]:
    """Components that refine no other one."""
    return [
        position
        for position, cell in enumerate(cells)
        if not any(other != position and _refines(cell, cells[other]) for other in range(len(cells)))
    ]


def _basis(factor: IntArray, kernels: Sequence[FloatArray]) -> FloatArray:
    """Constant and contrasts of one factor, those of a covariance of its levels that sums to zero where there is one."""
    levels = int(factor.max()) + 1
    first = np.array([int(np.argmax(factor == level)) for level in range(levels)])
    for root in kernels:
        kernel = root[first] @ root[first].T
        if np.array_equal(root, root[first][factor]) and np.abs(kernel.sum(axis=0)).max() < NEGLIGIBLE * kernel.max():
            values, vectors = np.linalg.eigh(kernel)
            if (values > NEGLIGIBLE * values.max()).sum() == levels - 1:
                return np.column_stack([np.full(levels, levels**-0.5), vectors[:, 1:]])
    start = np.eye(levels)
    start[:, 0] = 1.0
    basis = np.linalg.qr(start)[0]
    basis[:, 0] = levels**-0.5
    return np.asarray(basis, dtype=np.float64)
