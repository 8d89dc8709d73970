"""Frequentist answer for targets: weighted standard estimates, with limits per level."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile, t_quantile
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from bayesgroups.questions.populations.benchmarks import benchmark
from bayesgroups.questions.populations.cells import Cells, wilson_limits
from bayesgroups.questions.populations.conditional import Confusion, ratio_bounds, ratio_variance
from bayesgroups.questions.populations.empty_cells import collapsed_weights, imbens_manski
from bayesgroups.questions.populations.finite import effective_rows, remaining
from bayesgroups.questions.populations.plan import KnownTotal, Plan
from bayesgroups.questions.populations.raking_variance import raking_variance
from bayesgroups.questions.populations.second_sample import composition_variance
from bayesgroups.questions.populations.sizes import Sizes
from bayesgroups.questions.populations.targets import Targets
from bayesgroups.questions.populations.variances import cell_variance, satterthwaite, survey_variance
from bayesgroups.report.levels import LEVELS

NOT_ESTIMABLE = "not estimable"
"""Status of a target that has no value without an assumption."""
ROUNDING = 1e-12
"""Share of people in cells without rows that is rounding."""


@dataclass(frozen=True)
class Answer:
    """Answer for one target: limits (level,), the bounds without an assumption, a status, a reason and the interval method."""

    estimate: float = np.nan
    std_error: float = np.nan
    limits: Interval = field(
        default_factory=lambda: Interval(np.full(len(LEVELS), np.nan), np.full(len(LEVELS), np.nan))
    )
    bounds: tuple[float, float] = (np.nan, np.nan)
    status: str = "ok"
    reason: str = ""
    method: str = ""


NOBODY = Answer(status="undefined", reason="nobody in the population")


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
            answer = _Target(self, self.targets.members[place], used, gap).answer()
            told = answer.status if status == "ok" else status
            answer = replace(answer, status=told, reason=reason or answer.reason)
            answers.append(answer if moved is None else _benchmarked(answer, used, moved, gap, self.cells.range))
        return answers

    def _filled(self, weight: FloatArray, share: float) -> tuple[FloatArray | None, str, str]:
        """Weights with empty cells dealt with, a status and a reason."""
        told = f"{100 * share:.3g}% of the people are in cells without rows"
        if share == 0:
            return np.where(self.with_rows, weight, 0.0), "ok", ""
        if self.plan.empty == "collapse" and self.with_rows.any():
            rows = np.where(self.with_rows, self.cells.weight if self.confusion is None else self.confusion.rows, 0.0)
            return (
                collapsed_weights(weight, rows, self.cells.columns),
                "imputed",
                f"{told}, who take the mean of a margin",
            )
        if self.plan.empty == "drop" and share < 1 - ROUNDING:
            return np.where(self.with_rows, weight, 0.0) / (1 - share), "ok", f"{told}, who are left out"
        if self.plan.empty == "bounds":
            return np.where(self.with_rows, weight, 0.0), NOT_ESTIMABLE, f"{told}: only bounds without an assumption"
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


@dataclass(frozen=True, eq=False)
class _Target:
    """One target: ``weights`` (cell,) of cells with rows add up to 1 less the share ``gap`` of people without."""

    side: Side
    members: BoolArray
    weights: FloatArray
    gap: float

    def answer(self) -> Answer:
        """Estimate with limits, or bounds with theirs."""
        if self.side.confusion is not None:
            return self._ratio(self.side.confusion)
        if self.side.replicates is not None and self.gap == 0:
            return self._resampled(self.side.replicates)
        return self._bounded() if self.gap > 0 else self._mean()

    @property
    def variance(self) -> FloatArray:
        """Variances (cell,), less what is known of a finite population; infinite nowhere that has weight."""
        cells, size = self.side.cells, self.side.sizes.size
        return cells.variance * remaining(cells.count, size) if self.side.plan.finite else cells.variance

    def _composition(self, values: FloatArray) -> float:
        """Variance that shares from a second sample add."""
        sampled = self.side.sizes.sampled
        if sampled is None:
            return 0.0
        size = np.asarray(float(sampled[self.members].sum()))
        weights = self.weights if self.gap == 0 else np.where(self.side.with_rows, self.weights, 0.0)
        if self.gap > 0:  # people without rows are one more group, of the value that stands in the first empty cell
            weights, values = np.append(weights, self.gap), np.append(values, values[~self.side.with_rows][0])
        return float(composition_variance(weights, values, size))

    def _main(self) -> tuple[float, float]:
        """Variance of the weighted sum, and its ratio to that from cells alone (1 where that is 0)."""
        cells, plan, sizes = self.side.cells, self.side.plan, self.side.sizes
        base = float(cell_variance(self.weights, self.variance))
        main = base
        if sizes.margins and self.gap == 0 and plan.empty != "collapse":
            main = raking_variance(sizes.size, cells.count, cells.values, cells.scatter, sizes.margins, self.members)
        elif plan.variance == "survey":
            main = float(survey_variance(self.weights, cells.variance, cells.count))
            if plan.finite:
                main *= float(remaining(cells.count.sum(), sizes.size.sum()))
        return main, (main / base if base > 0 else 1.0)

    def _mean(self) -> Answer:
        cells = self.side.cells
        estimate = float((self.weights * cells.values).sum())
        main, ratio = self._main()
        extra = self._composition(cells.values)
        error = float(np.sqrt(main + extra))
        used = self.weights > 0
        if cells.kind == "rate":
            lower, upper = [], []
            count = effective_rows(cells.count, self.side.sizes.size) if self.side.plan.finite else cells.count
            for level in LEVELS:
                limits = wilson_limits(np.where(used, cells.values, 0.5), np.where(used, count, 1.0), level)
                low, high = mover_sum(cells.values, limits.lower, limits.upper, self.weights)
                more = normal_quantile(level) ** 2 * extra
                lower.append(estimate - np.sqrt(ratio * (estimate - low) ** 2 + more))
                upper.append(estimate + np.sqrt(ratio * (high - estimate) ** 2 + more))
            limits = Interval(np.array(lower), np.array(upper))
            saturated = bool(np.isin(cells.values[used], (0.0, 1.0)).all()) and len(np.unique(cells.values[used])) == 1
            census = self.side.plan.finite and bool(lower[-1] == upper[-1])
            flag = ("saturated", "all rows agree") if saturated and not census else ("ok", "")
            return Answer(estimate, error, limits, (estimate, estimate), *flag, method="mover")
        freedom = float(satterthwaite(self.weights, self.variance, cells.freedom))
        sampled = self.side.sizes.sampled
        if extra > 0 and sampled is not None:
            rest = main**2 / freedom if np.isfinite(freedom) else 0.0
            freedom = (main + extra) ** 2 / (rest + extra**2 / max(float(sampled[self.members].sum()) - 1, 1.0))
        half = np.array([float(t_quantile(level, np.asarray(freedom))) for level in LEVELS]) * error
        half = half if np.isfinite(freedom) else np.array([normal_quantile(level) for level in LEVELS]) * error
        method = "satterthwaite_t" if np.isfinite(freedom) else "normal"
        # A width of 0 without a census claims to know.
        status = "degenerate" if error == 0 and not self.side.plan.finite else "ok"
        return Answer(
            estimate, error, Interval(estimate - half, estimate + half), (estimate, estimate), status, method=method
        )

    def _resampled(self, replicates: FloatArray) -> Answer:
        """Percentiles of weighted replicates (draw, cell), with shares drawn anew where they are estimated."""
        side = self.side
        estimate = float((self.weights * side.cells.values).sum())
        used = self.weights > 0
        drawn = np.where(used, self.weights * np.where(used, replicates, 0.0), 0.0).sum(axis=1)
        extra = self._composition(side.cells.values)
        if side.sizes.margins:
            main, ratio = self._main()
            drawn = estimate + np.sqrt(ratio) * (drawn - estimate)
        if extra > 0:
            quantiles = np.random.default_rng([side.plan.seed, len(drawn)]).standard_normal(len(drawn))
            drawn = drawn + np.sqrt(extra) * quantiles
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < 2:
            return replace(self._mean(), method="mover")
        tails = [[(1 - level) / 2, (1 + level) / 2] for level in LEVELS]
        limits = np.array([np.quantile(drawn, tail) for tail in tails])
        flat = "degenerate" if limits[-1, 0] == limits[-1, 1] else "ok"
        error = float(drawn.std(ddof=1))
        return Answer(
            estimate, error, Interval(limits[:, 0], limits[:, 1]), (estimate, estimate), flat, method="percentile"
        )

    def _bounded(self) -> Answer:
        """Identified set and the interval of Imbens and Manski; both infinite where the range is."""
        cells = self.side.cells
        observed = float((self.weights * cells.values).sum())
        ends = [observed + self.gap * end for end in cells.range]
        empty = ~self.side.with_rows
        extra = [
            self._composition(np.where(empty, end if np.isfinite(end) else observed, cells.values))
            for end in cells.range
        ]
        spread = cells.spread * (remaining(cells.count, self.side.sizes.size) if self.side.plan.finite else 1.0)
        main = float(cell_variance(self.weights, spread))
        return _between((ends[0], ends[1]), float(np.sqrt(main + max(extra))))

    def _ratio(self, confusion: Confusion) -> Answer:
        """Ratio of sums over confusion cells, with its linearised error."""
        above, below = (np.asarray((self.weights * part).sum()) for part in confusion.parts)
        if not float(below) > 0 and self.gap == 0:
            return Answer(status="undefined", reason="nobody in the denominator")
        if self.gap > 0:
            low, high = ratio_bounds(confusion, above, below, np.asarray(self.gap))
            errors = [
                float(
                    np.sqrt(
                        ratio_variance(
                            confusion, self.weights, end, below + self.gap * float(confusion.denominator.min())
                        )
                    )
                )
                for end in (low, high)
                if below > 0
            ]
            return _between((float(low), float(high)), max(errors, default=0.0))
        ratio = above / below
        variance = float(ratio_variance(confusion, self.weights, ratio, below)) + self._shared_error(
            confusion, ratio, below
        )
        error, value = float(np.sqrt(variance)), float(ratio)
        cells = self.side.cells
        part = self.weights * confusion.parts[1] / below
        base = float(cell_variance(part, np.where(part > 0, cells.variance, 0.0)))
        if cells.kind == "rate":
            scale = variance / base if base > 0 else 1.0
            lower, upper = [], []
            for level in LEVELS:
                used = part > 0
                limits = wilson_limits(np.where(used, cells.values, 0.5), np.where(used, cells.count, 1.0), level)
                low, high = mover_sum(cells.values, limits.lower, limits.upper, part)
                lower.append(value - np.sqrt(scale) * (value - low))
                upper.append(value + np.sqrt(scale) * (high - value))
            return Answer(value, error, Interval(np.array(lower), np.array(upper)), (value, value), method="mover")
        half = np.array([normal_quantile(level) for level in LEVELS]) * error
        return Answer(value, error, Interval(value - half, value + half), (value, value), method="delta")

    def _shared_error(self, confusion: Confusion, ratio: FloatArray, below: FloatArray) -> float:
        """Variance that shares from a second sample add to a ratio: that of the linearised variable between cells."""
        above, under = confusion.parts
        return self._composition(np.asarray((above - ratio * under) / below))


def _between(ends: tuple[float, float], error: float) -> Answer:
    """Bounds and the limits around them, without an estimate."""
    width = ends[1] - ends[0]
    factors = np.array([float(imbens_manski(np.asarray(width), np.asarray(error), level)) for level in LEVELS])
    limits = Interval(ends[0] - factors * error, ends[1] + factors * error)
    return Answer(np.nan, error, limits, ends, NOT_ESTIMABLE, method="imbens_manski")


def _benchmarked(
    answer: Answer, weights: FloatArray, moved: FloatArray, gap: float, range_: tuple[float, float]
) -> Answer:
    """The answer at benchmarked cell values, with its limits moved alike; NaN where the totals cannot be met."""
    used = weights > 0
    if gap > 0 or not np.isfinite(moved[used]).all():
        reason = (
            "a benchmark cannot be met by these cells" if gap == 0 else "a benchmark needs empty='drop' or 'collapse'"
        )
        return Answer(status=NOT_ESTIMABLE, reason=reason)
    estimate = float((weights[used] * moved[used]).sum())
    step = estimate - answer.estimate
    limits = Interval(*(np.clip(side + step, *range_) for side in (answer.limits.lower, answer.limits.upper)))
    return replace(answer, estimate=estimate, limits=limits, bounds=(estimate, estimate))
