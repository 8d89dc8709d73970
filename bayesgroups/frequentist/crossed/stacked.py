"""Several tasks as one: every cell of task and group is a group of its own, and the tasks' shared centre is one more family.

    mu[t, g] = overall + centre[g] + own[t, g],   centre ~ Normal(0, Gamma),   own[t] ~ Normal(0, K)

Gamma and K belong to one family; the shared level of Gamma is the overall mean, which has no component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace
from bayesgroups.frequentist.crossed.components import Components


@dataclass(frozen=True)
class Stack:
    """Components over all cells (task, group), flattened.

    ``agreement`` (component, cell, cell) has first those of the task-specific family, then those of the centre, without
    the components that are missing; ``specific`` and ``centre`` say which components of the family are present.
    """

    agreement: Components
    specific: BoolArray
    centre: BoolArray

    def split(self, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variances of the task-specific and of the centre family, NaN where a component is missing."""
        specific, centre = np.full(len(self.specific), np.nan), np.full(len(self.centre), np.nan)
        number = int(self.specific.sum())
        specific[self.specific], centre[self.centre] = variances[:number], variances[number:]
        return specific, centre


def stack(agreement: Components, tasks: int, *, shares_centre: bool) -> Stack:
    """Components of several tasks, from the matrices C_S of a `Family`, the shared level first.

    With one task there is no centre apart from it, and the shared level is the overall mean. ``shares_centre`` is True if
    tasks share more than the overall mean.

    >>> cells = stack(np.stack([np.ones((2, 2)), np.eye(2)]), 2, shares_centre=True)
    >>> cells.agreement.shape, cells.specific.tolist(), cells.centre.tolist(), cells.agreement[2].tolist()[0]
    ((3, 4, 4), [True, True], [False, True], [1.0, 0.0, 1.0, 0.0])
    """
    number = len(agreement)
    specific, centre = np.ones(number, dtype=bool), np.zeros(number, dtype=bool)
    if tasks == 1:
        specific[0] = False
    else:
        centre[1:] = shares_centre
    if isinstance(agreement, ComponentSpace):
        return Stack(agreement.without_shared(), specific, centre)
    alone, together = np.eye(tasks), np.ones((tasks, tasks))
    parts = [np.kron(alone, each) for each in agreement[specific]] + [
        np.kron(together, each) for each in agreement[centre]
    ]
    return Stack(np.stack(parts), specific, centre)
