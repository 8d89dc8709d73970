"""Frequentist answers for all targets of one metric: weighted standard estimates, with limits per level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.questions.populations.answers import NOBODY, NOT_ESTIMABLE, Answer, benchmarked
from bayesgroups.questions.populations.benchmarks import benchmark
from bayesgroups.questions.populations.cells import Cells
from bayesgroups.questions.populations.conditional import Confusion
from bayesgroups.questions.populations.empty_cells import collapsed_weights, donor_names
from bayesgroups.questions.populations.plan import KnownTotal, Plan
from bayesgroups.questions.populations.ratio_answer import ratio_answer
from bayesgroups.questions.populations.sizes import Sizes
from bayesgroups.questions.populations.target_answer import Target
from bayesgroups.questions.populations.targets import Targets

MARGINS_NAMED = 3
"""Margins that a reason names."""
ROUNDING = 1e-12
"""Share of people in cells without rows that is rounding."""


@dataclass(frozen=True, eq=False)
class Side:
    """One metric for the frequentist answer: its cells, or its confusion cells where it is a ratio of sums."""

    cells: Cells
    confusion: Confusion | None
    sizes: Sizes
    targets: Targets
    plan: Plan
    totals: tuple[KnownTotal, ...] = ()
    replicates: FloatArray | None = None

    @property
    def weights(self) -> FloatArray:
        """Weights (target, cell)."""
        return self.targets.weights(self.sizes, len(self.cells.labels))

    @property
    def with_rows(self) -> BoolArray:
        """Cells with rows that count for the metric; of a ratio of sums those with rows."""
        return self.cells.with_rows if self.confusion is None else self.confusion.rows > 0

    @property
    def imputed_share(self) -> FloatArray:
        """Share (target,) of people in cells without rows; NaN for a target of nobody."""
        return np.where(self.with_rows, 0.0, self.weights).sum(axis=1)

    def answers(self) -> list[Answer]:
        """Answers for all targets."""
        answers, weights = [], self.weights
        moved = self._moved(weights) if self.totals else None
        for place, weight in enumerate(weights):
            if not np.isfinite(weight).all():
                answers.append(NOBODY)
                continue
            share = float(np.where(self.with_rows, 0.0, weight).sum())
            share = share if share > ROUNDING else 0.0
            used, status, reason = self._filled(weight, share)
            if used is None:
                answers.append(Answer(status=NOT_ESTIMABLE, reason=reason))
                continue
            gap = share if self.plan.empty == "bounds" else 0.0
            target = Target(self, self.targets.members[place], used, gap)
            answer = target.answer() if self.confusion is None else ratio_answer(target, self.confusion)
            told = answer.status if status == "ok" else status
            answer = replace(answer, status=told, reason=reason or answer.reason)
            answers.append(answer if moved is None else benchmarked(answer, used, moved, gap, self.cells.range))
        return answers

    def _filled(self, weight: FloatArray, share: float) -> tuple[FloatArray | None, str, str]:
        """Weights with empty cells dealt with, a status and a reason."""
        told = f"{100 * share:.3g}% of the people without rows"
        if share == 0:
            return np.where(self.with_rows, weight, 0.0), "ok", ""
        if self.plan.empty == "collapse" and self.with_rows.any():
            rows = np.where(self.with_rows, self.cells.weight if self.confusion is None else self.confusion.rows, 0.0)
            names = donor_names(weight, rows, self.cells.columns)
            more = f" and {len(names) - MARGINS_NAMED} more" if len(names) > MARGINS_NAMED else ""
            means = f"the mean of {' and of '.join(names[:MARGINS_NAMED])}{more}"
            return collapsed_weights(weight, rows, self.cells.columns), "imputed", f"{told}, given {means}"
        if self.plan.empty == "drop" and share < 1 - ROUNDING:
            return np.where(self.with_rows, weight, 0.0) / (1 - share), "ok", f"{told}, left out"
        if self.plan.empty == "bounds":
            return np.where(self.with_rows, weight, 0.0), NOT_ESTIMABLE, told
        return None, NOT_ESTIMABLE, "no row is in a cell of these people"

    def _moved(self, weights: FloatArray) -> FloatArray:
        """Cell values that meet the known totals, NaN where none do."""
        cells = self.cells
        used = [
            self._filled(weights[total.target], float(self.imputed_share[total.target]))[0] for total in self.totals
        ]
        empty = self.plan.empty == "bounds" and any(
            self.imputed_share[total.target] > ROUNDING for total in self.totals
        )
        if empty or any(weight is None or not np.isfinite(weight).all() for weight in used):
            return np.full(len(cells.labels), np.nan)
        spread = np.where(self.with_rows, cells.variance, 0.0)
        known_weights = [np.asarray(weight) for weight in used]
        return benchmark(
            cells.values, known_weights, [np.asarray(total.value) for total in self.totals], self.plan.benchmark_scale,
            spread,
        ).values  # fmt: skip
