"""Components of groups that fall apart into blocks: one for every level of an attribute.

Given the components that do not cross an attribute, groups at different levels of it are independent. With groups numbered by
level and by cell of the other attributes, and R = diag(root of u),

    K = blockdiag(B) + Z Q Z',   A = R (I + R B R)^-1 R,   W = A - A Z T Z' A,   T = (Q^-1 + S)^-1,   S = Z' A Z

where B (level, cell, cell) has the components that cross the attribute, Q (cell, cell) the others, and Z (group, cell) is 1 where a
group lies in a cell (Woodbury). So no matrix is larger than (cell, cell): 900 groups of ten levels take ten factors of 90 x 90
where one of 900 x 900 is thirty times the work. With S = C C' and N = I + C' Q C,

    T = C'^-1 (I - N^-1) C^-1,   Z' W Z = C N^-1 C',   log det(I + K diag(u)) = sum log det(I + R B R) + log det N

and Q may be singular. A likelihood needs no inverse of N: with t = C^-1 Z' A z,

    z' W z = z' A z - t' t + t' N^-1 t,   1' W z = (C' 1)' N^-1 t,   1' W 1 = (C' 1)' N^-1 (C' 1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace, Posterior
from bayesgroups.frequentist.crossed.families import Family
from bayesgroups.frequentist.crossed.level_layout import Layout
from bayesgroups.frequentist.crossed.precision import inverse_and_log_determinant, invert_lower, noise

CHUNK = 60_000
"""Numbers that the matrices of a chunk of points may hold."""
ROUNDING = 1e-13
"""Share of a precision that is rounding."""


@dataclass(frozen=True)
class BlockMatrices:
    """Matrices at some variances, (..., level, cell, cell) for ``b`` B and ``a`` A, (..., cell, cell) for the others.

    ``back`` is C^-1, ``pull`` T, ``kept`` I - S T, and ``collapsed`` Z' W Z; ``log_determinant`` (...) is log det(I + K diag(u)).
    """

    b: FloatArray
    q: FloatArray
    a: FloatArray
    back: FloatArray
    pull: FloatArray
    kept: FloatArray
    collapsed: FloatArray
    log_determinant: FloatArray


@dataclass(frozen=True)
class _Levels:
    """B, Q, A, C and N, as the module has them, and the sum of log det(I + R B R), (...); ``some`` (cell,) has data."""

    b: FloatArray
    q: FloatArray
    a: FloatArray
    c: FloatArray
    n: FloatArray
    log_determinant: FloatArray
    some: BoolArray


@dataclass(frozen=True)
class LevelBlocks(ComponentSpace[BlockMatrices]):
    """Components of a family, and kernels beside them, by the levels of one of its attributes.

    ``level`` and ``cell`` (group,) are the place of a group; ``crossing`` (component, level, cell, cell) and ``other`` (component,
    cell, cell) are the matrices C_S of the components that cross the attribute and of the others, at ``places`` among all.

    >>> from bayesgroups.frequentist.crossed.families import family
    >>> from bayesgroups.frequentist.crossed.level_layout import layout_of
    >>> components = family([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], ["race", "sex"])
    >>> layout = layout_of(components)
    >>> blocks = LevelBlocks.of(components, layout)
    >>> blocks.crossing.shape, blocks.other.shape, [place.tolist() for place in blocks.places]
    ((2, 3, 2, 2), (2, 2, 2), [[1, 3], [0, 2]])
    >>> dense = np.tensordot([1.0, 0.5, 0.2, 0.1], components.agreement(), 1)
    >>> w = np.linalg.inv(dense + np.diag([1.0, 0.5, 2.0, 1.0, 2.0]))
    >>> solved = blocks.solve(np.array([1.0, 2.0, 0.5, 1.0, 0.5]), np.array([1.0, 0.5, 0.2, 0.1]))
    >>> np.allclose(blocks.weigh(solved, np.arange(5.0)), w @ np.arange(5.0))
    True
    """

    level: IntArray
    cell: IntArray
    crossing: FloatArray
    other: FloatArray
    places: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, family: Family, layout: Layout, kernels: Sequence[FloatArray] = ()) -> LevelBlocks:
        """Blocks of a family, and before its identity of kernels, each by its root (group, effect).

        They are laid out by `bayesgroups.frequentist.crossed.level_layout`.
        """
        level, cell, crosses = layout.level, layout.cell, layout.crosses
        grids = np.full((int(crosses.sum()), layout.levels, layout.cells), -1)
        grids[:, level, cell] = family.cells[crosses]
        alike = (grids[..., :, None] == grids[..., None, :]) & (grids[..., None] >= 0)
        names = np.zeros((int((~crosses).sum()), layout.cells), dtype=np.int64)
        names[:, cell] = family.cells[~crosses]
        crossing, other = [*alike.astype(np.float64)], [*(names[:, :, None] == names[:, None, :]).astype(np.float64)]
        identity = crossing.pop()
        for root, apart in zip(kernels, layout.kernels_cross, strict=True):
            if apart:
                grid = np.zeros((layout.levels, layout.cells, root.shape[1]))
                grid[level, cell] = root
                crossing.append(grid @ np.swapaxes(grid, -1, -2))
            else:
                repeated = np.zeros((layout.cells, root.shape[1]))
                repeated[cell] = root
                other.append(repeated @ repeated.T)
        places = np.append(np.append(crosses[:-1], layout.kernels_cross), True)
        return cls(
            level,
            cell,
            np.stack([*crossing, identity]),
            np.stack(other),
            (np.flatnonzero(places), np.flatnonzero(~places)),
        )

    def __len__(self) -> int:
        return len(self.crossing) + len(self.other)

    def matrices(self) -> FloatArray:
        """Matrices C_S, array (component, group, group)."""
        groups = len(self.level)
        matrices = np.empty((len(self), groups, groups))
        cells, same = np.ix_(self.cell, self.cell), self.level[:, None] == self.level
        matrices[self.places[0]] = self.crossing[:, self.level[:, None], *cells] * same
        matrices[self.places[1]] = self.other[:, *cells]
        return matrices

    def without_shared(self) -> LevelBlocks:
        """The components but the first, the level that all groups share."""
        return replace(self, other=self.other[1:], places=(self.places[0] - 1, self.places[1][1:] - 1))

    def _grid(self, x: FloatArray) -> FloatArray:
        """Values (..., group) by level and cell, 0 where there is no group."""
        grid = np.zeros((*x.shape[:-1], *self.crossing.shape[1:3]))
        grid[..., self.level, self.cell] = x
        return grid

    def _groups(self, grid: FloatArray) -> FloatArray:
        """Values (..., level, cell) by group."""
        values: FloatArray = grid[..., self.level, self.cell]
        return values

    def _by_component(self, blocks: FloatArray, cells: FloatArray) -> FloatArray:
        """Traces with C_S of a matrix of groups, from its ``blocks`` (level, cell, cell) and its sums over levels, ``cells``."""
        traces = np.empty(len(self))
        traces[self.places[0]] = self.crossing.reshape(len(self.crossing), -1) @ blocks.ravel()
        traces[self.places[1]] = self.other.reshape(len(self.other), -1) @ cells.ravel()
        return traces

    def _covariances(self, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B and Q at variances (..., component)."""
        b, q = (
            (variances[..., place] @ parts.reshape(len(parts), -1)).reshape(*variances.shape[:-1], *parts.shape[1:])
            for place, parts in zip(self.places, (self.crossing, self.other), strict=True)
        )
        return b, q

    def _levels(self, u: FloatArray, variances: FloatArray) -> _Levels:
        b, q = self._covariances(variances)
        root = np.sqrt(self._grid(u))
        scale = root[:, :, None] * root[:, None, :]
        inverse, log_determinants = inverse_and_log_determinant(np.eye(root.shape[1]) + scale * b)
        a = scale * inverse
        # Without data a cell has no weight, whatever the others say of it.
        some = root.any(axis=0)
        s = a.sum(axis=-3)
        diagonal = np.arange(len(some))
        s[..., diagonal, diagonal] = np.where(some, s[..., diagonal, diagonal] * (1 + ROUNDING), 1.0)
        c = np.linalg.cholesky(s)
        n = np.eye(len(some)) + np.swapaxes(c, -1, -2) @ (np.outer(some, some) * q) @ c
        return _Levels(b, q, a, c, n, log_determinants.sum(axis=-1), some)

    def solve(self, u: FloatArray, variances: FloatArray) -> BlockMatrices:
        """Matrices at variances (..., component) for precisions ``u`` (group,), 0 where there are no data."""
        levels = self._levels(u, variances)
        inner, log_determinant = inverse_and_log_determinant(levels.n)
        back, half = invert_lower(levels.c), levels.c @ inner
        pull = np.swapaxes(back, -1, -2) @ (back - inner @ back)
        collapsed = np.outer(levels.some, levels.some) * (half @ np.swapaxes(levels.c, -1, -2))
        every = levels.log_determinant + log_determinant
        return BlockMatrices(levels.b, levels.q, levels.a, back, pull, half @ back, collapsed, every)

    def log_likelihood(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> FloatArray:
        """Log restricted likelihood (...,), without all that `solve` has besides."""
        levels = self._levels(u, variances)
        grid = self._grid(z - u @ z / u.sum())[..., None]
        weighed = levels.a @ grid
        # NumPy solves all of them in one call; SciPy, which knows of triangles, one after another in Python.
        t = np.linalg.solve(levels.c, weighed.sum(axis=-3))
        ones = np.swapaxes(levels.c, -1, -2) @ levels.some[:, None]
        factor = np.linalg.cholesky(levels.n)
        columns = np.linalg.solve(factor, np.concatenate([ones, t], axis=-1))
        row, pulled = np.moveaxis(columns, -1, 0)
        within = (grid * weighed).sum(axis=(-3, -2, -1)) - (t**2).sum(axis=(-2, -1))
        precision, product = (row**2).sum(axis=-1), (row * pulled).sum(axis=-1)
        square = within + (pulled**2).sum(axis=-1) - product**2 / precision
        log_determinant = 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        likelihood: FloatArray = -(levels.log_determinant + log_determinant + np.log(precision) + square) / 2
        return likelihood

    def weigh(self, solved: BlockMatrices, x: FloatArray) -> FloatArray:
        """W x, (..., group): A (x - Z c) + W Z c, whose terms do not cancel for c = S^-1 Z' A x."""
        grid = self._grid(x)
        sums = (solved.a @ grid[..., None]).sum(axis=-3)
        cells = np.swapaxes(solved.back, -1, -2) @ (solved.back @ sums)
        kept = np.swapaxes(solved.kept, -1, -2) @ cells
        return self._groups((solved.a @ (grid[..., None] - cells[..., None, :, :] + kept[..., None, :, :]))[..., 0])

    def row_sums(self, solved: BlockMatrices, groups: int) -> FloatArray:
        """W 1 = W Z 1, (..., group)."""
        kept = solved.kept.sum(axis=-2)[..., None, :, None]
        return self._groups((solved.a @ kept)[..., 0])

    def mean_precision(self, solved: BlockMatrices, row: FloatArray) -> FloatArray:
        """Precision 1' W 1 = 1' Z' W Z 1, (...): never negative."""
        precision: FloatArray = solved.collapsed.sum(axis=(-2, -1))
        return precision

    def covary(self, variances: FloatArray, x: FloatArray) -> FloatArray:
        """K x, (..., group)."""
        b, q = self._covariances(variances)
        grid = self._grid(x)
        shared = q @ grid.sum(axis=-2)[..., None]
        return self._groups((b @ grid[..., None] + shared[..., None, :, :])[..., 0])

    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Products p' C_S q for every component, (component,)."""
        first, second = self._grid(p), self._grid(q)
        return self._by_component(
            first[:, :, None] * second[:, None, :], np.outer(first.sum(axis=0), second.sum(axis=0))
        )

    def traces(self, solved: BlockMatrices) -> FloatArray:
        """Traces tr(C_S W), (component,)."""
        return self._by_component(solved.a - solved.a @ (solved.pull[..., None, :, :] @ solved.a), solved.collapsed)

    def noisy_traces(self, solved: BlockMatrices, v: FloatArray) -> tuple[float, FloatArray]:
        """Trace tr(W V), and tr(C_S W V W), (component,)."""
        grid, pulled = self._grid(v), solved.pull[..., None, :, :] @ solved.a
        noisy = (solved.a * grid[:, None, :]) @ solved.a
        every = noisy.sum(axis=0)
        blocks = noisy + np.swapaxes(pulled, -1, -2) @ (every @ pulled - 2 * noisy)
        diagonal = float((grid * self._diagonal(solved, pulled)).sum())
        return diagonal, self._by_component(blocks, solved.kept @ every @ solved.kept.T)

    @staticmethod
    def _diagonal(solved: BlockMatrices, pulled: FloatArray) -> FloatArray:
        """Diagonal of W by level and cell, from T A."""
        diagonal: FloatArray = np.diagonal(solved.a, axis1=-2, axis2=-1) - (solved.a * pulled).sum(axis=-2)
        return diagonal

    def conditional_variance(self, solved: BlockMatrices, u: FloatArray) -> FloatArray:
        """Diagonal of K - K W K, (..., group): v - v W v where there are data."""
        v = noise(u)
        pulled = solved.pull[..., None, :, :] @ solved.a
        variance = np.maximum(v * (1 - v * self._groups(self._diagonal(solved, pulled))), 0.0)
        for level in np.unique(self.level[u == 0]):
            empty = np.flatnonzero((u == 0) & (self.level == level))
            b, q = (each[..., self.cell[empty]] for each in (solved.b[..., level, :, :], solved.q))
            a = solved.a[..., level, :, :]
            within = a @ (b - pulled[..., level, :, :] @ b)
            across = 2 * a @ (np.swapaxes(solved.kept, -1, -2) @ q)
            explained = (b * (within + across)).sum(axis=-2) + (q * (solved.collapsed @ q)).sum(axis=-2)
            here = self.cell[empty], range(len(empty))
            variance[..., empty] = np.maximum(b[..., *here] + q[..., *here] - explained, 0.0)
        return variance

    def information(self, u: FloatArray, variances: FloatArray) -> FloatArray:
        """Expected information on the variances, as in `marginal_likelihood.information`."""
        solved = self.solve(u, variances)
        row = self.row_sums(solved, len(u))
        grid, total = self._grid(row), float(self.mean_precision(solved, row))
        crossing, other = self.places
        cells = grid.sum(axis=0)
        # P = W - row row' / total, whose sums over levels are taken on one side and on both.
        across = solved.a @ solved.kept.T - grid[:, :, None] * cells / total
        reached = across @ self.other[:, None] @ np.swapaxes(across, -1, -2)
        inner = (solved.collapsed - np.outer(cells, cells) / total) @ self.other
        matrix = np.zeros((len(self), len(self)))
        matrix[np.ix_(crossing, other)] = _products(self.crossing, reached)
        matrix[np.ix_(other, crossing)] = matrix[np.ix_(crossing, other)].T
        matrix[np.ix_(other, other)] = _products(inner, np.swapaxes(inner, -1, -2))
        for level, a in enumerate(solved.a):
            p = -(a @ solved.pull) @ solved.a - grid[level][:, None] * grid[:, None, :] / total
            p[level] += a
            matrix[np.ix_(crossing, crossing)] += _products(p @ self.crossing, self.crossing[:, level, None] @ p)
        return matrix / 2

    def typical_noise(self, u: FloatArray) -> FloatArray:
        """Sampling variance of a typical cell of every component, as in `mixture.typical_noise`."""
        precision, groups = self._grid(u), self._grid(np.ones(len(u)))
        typical = np.empty(len(self))
        typical[self.places[0]] = _typical(self.crossing, precision, groups)
        typical[self.places[1]] = _typical(self.other, precision.sum(axis=0), groups.sum(axis=0))
        return typical

    def law(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[FloatArray, Callable[[], Posterior]]:
        """Log restricted likelihood (point,) and the call for the posterior, which takes twice as long."""
        parts = np.array_split(variances, -(-len(variances) // max(1, CHUNK // self.crossing[0].size)))

        def posterior() -> Posterior:
            each = [self.posterior(z, u, some)[1] for some in parts]
            return Posterior(
                *(np.concatenate([getattr(law, name) for law in each]) for name in ("estimate", "variance"))
            )

        return np.concatenate([self.log_likelihood(z, u, some) for some in parts]), posterior


def _products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Sums of products of every array of ``first`` with every one of ``second``."""
    sums: FloatArray = first.reshape(len(first), -1) @ second.reshape(len(second), -1).T
    return sums


def _typical(matrices: FloatArray, precision: FloatArray, groups: FloatArray) -> FloatArray:
    """Geometric means over cells of 1 / precision, from matrices C_S (component, ..., cell, cell); ``groups`` counts them."""
    weight = np.abs(matrices)  # those of an order may be negative
    sums, sizes = ((weight @ each[..., None])[..., 0] for each in (precision, groups))
    some = sums > 0
    share = np.where(some, groups / np.where(some, sizes, 1.0), 0.0)
    logs = share * np.log(np.where(some, sums, 1.0))
    along = tuple(range(1, sums.ndim))
    typical: FloatArray = np.exp(-logs.sum(axis=along) / share.sum(axis=along))
    return typical
