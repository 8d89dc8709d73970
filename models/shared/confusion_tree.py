"""A multinomial over confusion cells as a tree of binomials: first the decision, then the outcome given it. No PyMC here.

With two classes the factors are

    sel   selected, among all rows                 for   positive, among the rows not selected
    ppv   positive, among the rows selected

With more, each is cut into one-against-the-rest steps: decisions from the most frequent to the least, and given a decision
the outcome that it names first, then the others from the most frequent to the least. The likelihood does not depend on
the order of the steps; the prior does, as a step late in the order is about few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .scales import check_scale

FloatArray = NDArray[np.float64]

DECISION_SCALE, OUTCOME_SCALE, FOLLOWER_SCALE = 0.5, 0.2, 0.15
"""Scales of the priors of the components' standard deviations, on the logit scale: of decisions, of outcomes given one, and of
what these have besides where they follow the selection rate."""
DECISION_OWN, OUTCOME_OWN = 0.5, 0.8
"""Standard deviations of a subgroup's own effects where they are fixed, as shares of these scales."""
FEW_LABELS_SCALE, FEW_LABELS_OWN = 0.4, 0.5
"""The same two of outcomes given a decision that depend on the judged rate, see ``judged_rate``."""
SELECTION_SLOPE_MEAN, SELECTION_SLOPE_SD = 0.3, 0.3
"""Prior of the slope by which outcomes follow the selection rate. Where subgroups differ in the place of a normal score alone,
the logit of a positive outcome given the more frequent decision moves by 0.1 to 0.6 for every 1 that the logit
of the selection rate moves, for scores that tell the classes apart with an AUC of 0.6 to 0.95."""

Path = tuple[tuple[int, bool], ...]
"""Factors on the way to a cell, and whether the cell is on the side of their successes."""


@dataclass(frozen=True)
class Tree:
    """Counts of every factor, and the way to every cell.

    ``names`` (F,); ``successes`` and ``count`` (F, G); ``decides`` (F,) whether a factor is about the decision;
    ``paths[outcome][decision]``; ``labels`` along both.
    """

    names: tuple[str, ...]
    successes: FloatArray
    count: FloatArray
    decides: tuple[bool, ...]
    paths: tuple[tuple[Path, ...], ...]
    labels: tuple[str, ...]


def tree(tally: xr.Dataset) -> Tree:
    """Cut the confusion cells of a tally into binomial factors.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with ``cell_count(subgroup, outcome, decision)``, and with ``decision_count(subgroup, decision)`` where outcomes
        are known of some rows only.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If the tally has no cells, or a metric is no function of them.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"cell_count": (("subgroup", "outcome", "decision"), [[[5.0, 1.0], [2.0, 3.0]]])},
    ...     coords={"subgroup": ["a"], "outcome": ["0", "1"], "decision": ["0", "1"]})
    >>> found = tree(tally)
    >>> found.names, found.successes[:, 0].tolist(), found.count[:, 0].tolist()
    (('sel', 'ppv', 'for'), [4.0, 3.0, 2.0], [11.0, 4.0, 7.0])
    """
    if "cell_count" not in tally:
        raise ValueError("the tally has no confusion cells; make it with confusion=True")
    if "cell_numerator" in tally:
        known = np.isfinite(tally["cell_numerator"].values).all(axis=(1, 2))
        for name in tally["metric"].values[~known]:
            raise ValueError(f"metric {str(name)!r} is no function of outcome and decision; leave it out")
    cells = np.asarray(tally["cell_count"].transpose("subgroup", "outcome", "decision").values, dtype=np.float64)
    labels = tuple(str(label) for label in tally["outcome"].values)
    decided = cells.sum(axis=1)
    if "decision_count" in tally:
        decided = np.asarray(tally["decision_count"].transpose("subgroup", "decision").values, dtype=np.float64)
    by_outcome, by_decision = cells.sum(axis=(0, 2)), decided.sum(axis=0)
    two = len(labels) == 2
    decisions = [1, 0] if two else sorted(range(len(labels)), key=lambda c: -by_decision[c])
    names: list[str] = []
    successes: list[FloatArray] = []
    count: list[FloatArray] = []
    paths: list[list[Path]] = [[()] * len(labels) for _ in labels]

    def cut(name: str, order: Sequence[int], values: FloatArray, before: Path) -> list[Path]:
        """Cut columns ``values`` (subgroup, class) one after the other; the ways to the classes in that order."""
        ways, way = [], before
        for step, chosen in enumerate(order[:-1]):
            left = order[step:]
            names.append(name if two else _name(name, [labels[c] for c in order], step))
            successes.append(values[:, chosen])
            count.append(values[:, left].sum(axis=1))
            ways.append((*way, (len(names) - 1, True)))
            way = (*way, (len(names) - 1, False))
        return [*ways, way]

    to_decision = cut("sel" if two else "decision", decisions, decided, ())
    deciding = len(names)
    for decision, before in zip(decisions, to_decision, strict=True):
        outcomes = [1, 0] if two else sorted(range(len(labels)), key=lambda c: (c != decision, -by_outcome[c]))
        name = ("ppv" if decision == 1 else "for") if two else f"given {labels[decision]}, outcome"
        for outcome, way in zip(outcomes, cut(name, outcomes, cells[:, :, decision], before), strict=True):
            paths[outcome][decision] = way
    return Tree(
        tuple(names),
        np.stack(successes),
        np.stack(count),
        tuple(i < deciding for i in range(len(names))),
        tuple(tuple(row) for row in paths),
        labels,
    )


def factor_scales(
    found: Tree, given: float | None = None, *, followed: int | None = None, judged: bool = False
) -> FloatArray:
    """Scale of the prior of every factor's standard deviations, (factor,), of which one may follow the selection rate.

    With ``judged`` outcomes depend on the judged rate, see ``judged_rate``.

    Raises
    ------
    ValueError
        If ``given`` is not a positive finite number.

    Examples
    --------
    >>> factor_scales(Tree(("sel", "ppv"), np.ones((2, 1)), np.ones((2, 1)), (True, False), (), ())).tolist()
    [0.5, 0.2]
    """
    if given is not None:
        check_scale(given, "tau_scale", logit=True)
    outcome = FEW_LABELS_SCALE if judged else OUTCOME_SCALE
    scales = [FOLLOWER_SCALE if i == followed else outcome for i in range(len(found.names))]
    return np.array([given or (DECISION_SCALE if yes else one) for yes, one in zip(found.decides, scales, strict=True)])


def own_spreads(
    found: Tree, given: float | None = None, *, followed: int | None = None, judged: bool = False
) -> FloatArray:
    """Standard deviation of the own effects of subgroups in every factor, where it is fixed or has a floor, (factor,).

    Raises
    ------
    ValueError
        If ``given`` is not a positive finite number.

    Examples
    --------
    >>> own_spreads(Tree(("sel", "ppv"), np.ones((2, 1)), np.ones((2, 1)), (True, False), (), ())).round(3).tolist()
    [0.25, 0.16]
    """
    outcome = FEW_LABELS_OWN if judged else OUTCOME_OWN
    shares_of = np.array([DECISION_OWN if yes else outcome for yes in found.decides])
    return np.asarray(shares_of * factor_scales(found, given, followed=followed, judged=judged))


def follower(found: Tree, *, own_fixed: bool) -> int | None:
    """Factor whose effects follow those of the selection rate: outcomes given the more frequent decision.

    Parameters
    ----------
    found : Tree
        The factors.
    own_fixed : bool
        Whether what sets a single subgroup apart has a known standard deviation; if not, nothing follows.

    Returns
    -------
    int or None
        None with more than two classes.

    Examples
    --------
    >>> cells = ("subgroup", "outcome", "decision")
    >>> tally = xr.Dataset(
    ...     {"cell_count": (cells, [[[5.0, 1.0], [2.0, 3.0]]])},
    ...     coords={"subgroup": ["a"], "outcome": ["0", "1"], "decision": ["0", "1"]})
    >>> found = tree(tally)
    >>> found.names[follower(found, own_fixed=True)]
    'for'
    """
    if len(found.labels) != 2 or not own_fixed:
        return None
    ppv, unselected = found.names.index("ppv"), found.names.index("for")
    return ppv if found.count[ppv].sum() > found.count[unselected].sum() else unselected


def share(p: Any, path: Path) -> Any:
    """Share of one cell from the probabilities ``p`` (factor, ...) of the successes, NumPy or PyTensor.

    Examples
    --------
    >>> round(float(share(np.array([0.2, 0.5]), ((0, True), (1, False)))), 3)
    0.1
    """
    found: Any = 1.0
    for factor, success in path:
        found = found * (p[factor] if success else 1 - p[factor])
    return found


def shares(p: FloatArray, paths: Sequence[Sequence[Path]]) -> FloatArray:
    """Shares (..., outcome, decision) of all cells from the probabilities (factor, ...).

    Examples
    --------
    >>> paths = ((((0, False), (2, False)), ((0, True), (1, False))), (((0, False), (2, True)), ((0, True), (1, True))))
    >>> shares(np.array([0.5, 0.5, 0.5]), paths).tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    cells = np.empty((*p.shape[1:], len(paths), len(paths[0])))
    for outcome, row in enumerate(paths):
        for decision, path in enumerate(row):
            cells[..., outcome, decision] = share(p, path)
    return cells


def _name(name: str, order: Sequence[str], step: int) -> str:
    return f"{name} {order[step]}" + (f" but not {', '.join(order[:step])}" if step else "")
