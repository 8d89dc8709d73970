"""Sets of systems that a table cannot order: those that may be the best, and sets without a shown difference, as letters."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray


def rank_limits(better: BoolArray) -> tuple[FloatArray, FloatArray]:
    """First and last rank of each system, from ``better`` (system, system): the row is shown to be better than the column.

    >>> lower, upper = rank_limits(np.array([[False, False, True], [False, False, False], [False, False, False]]))
    >>> lower.tolist(), upper.tolist()
    ([1.0, 1.0, 2.0], [2.0, 3.0, 3.0])
    """
    ahead, behind = better.sum(axis=0).astype(np.float64), better.sum(axis=1).astype(np.float64)
    return 1 + ahead, len(better) - behind


def tie_letters(better: BoolArray, rank: FloatArray) -> list[str]:
    """Letters of each system: systems that share one are in a largest set without a shown difference, ``a`` the best.

    Such sets can overlap. That systems share a letter says that they cannot be told apart, not that they are equal.

    >>> tie_letters(np.array([[False, False, True], [False, False, False], [False, False, False]]), np.array([1.0, 2.0, 3.0]))
    ['a', 'ab', 'b']
    """
    apart = better | better.T
    order = np.argsort(rank, kind="stable")
    position = {int(system): place for place, system in enumerate(order)}
    sets = sorted(sorted(position[each] for each in clique) for clique in _cliques(~apart))
    letters = ["" for _ in rank]
    for number, places in enumerate(sets):
        for place in places:
            letters[order[place]] += _letter(number)
    return letters


def _cliques(near: BoolArray) -> list[set[int]]:
    """Largest sets of which every two are near: Bron, Kerbosch (1973), doi:10.1145/362342.362367."""
    neighbours = [set(np.flatnonzero(row).tolist()) - {i} for i, row in enumerate(near)]
    cliques: list[set[int]] = []

    def extend(clique: set[int], candidates: set[int], excluded: set[int]) -> None:
        if not candidates and not excluded:
            cliques.append(clique)
            return
        pivot = max(sorted(candidates | excluded), key=lambda i: len(neighbours[i] & candidates))
        for i in sorted(candidates - neighbours[pivot]):
            extend(clique | {i}, candidates & neighbours[i], excluded & neighbours[i])
            candidates, excluded = candidates - {i}, excluded | {i}

    extend(set(), set(range(len(near))), set())
    return cliques


def _letter(number: int) -> str:
    rounds, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(rounds) if rounds else "")
