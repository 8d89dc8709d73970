"""Weighted sum of the values of cells for one target: its variance, its limits, and bounds where cells have no rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.finite_rates import hypergeometric_limits
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile, t_quantile
from bayesgroups.frequentist.intervals.linear_contrasts import clustered_freedom
from bayesgroups.frequentist.intervals.proportions import clopper_pearson, mid_p_limits
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from bayesgroups.frequentist.intervals.weighted_score import score_sum
from bayesgroups.questions.populations.answers import Answer, between
from bayesgroups.questions.populations.cells import wilson_limits
from bayesgroups.questions.populations.finite import effective_rows, remaining
from bayesgroups.questions.populations.raking_variance import raking_variance
from bayesgroups.questions.populations.second_sample import composition_variance
from bayesgroups.questions.populations.variances import cell_variance, satterthwaite, survey_variance
from bayesgroups.report.levels import LEVELS

if TYPE_CHECKING:
    from bayesgroups.questions.populations.frequentist_side import Side


@dataclass(frozen=True, eq=False)
class Target:
    """One target: ``weights`` (cell,) of cells with rows add up to 1 less the share ``gap`` of people without."""

    side: Side
    members: BoolArray
    weights: FloatArray
    gap: float

    def answer(self) -> Answer:
        """Estimate with limits, or bounds with theirs."""
        if self.side.replicates is not None and self.gap == 0 and self.side.plan.interval == "wilson":
            return self._resampled(self.side.replicates)
        return self._bounded() if self.gap > 0 else self._mean()

    @property
    def variance(self) -> FloatArray:
        """Variances (cell,), less what is known of a finite population; infinite nowhere that has weight."""
        cells, size = self.side.cells, self.side.sizes.size
        return cells.variance * remaining(cells.count, size) if self.side.plan.finite else cells.variance

    @property
    def method(self) -> str:
        """Name of the method of a rate's limits."""
        return {"wilson": "mover", "mid_p": "mover_mid_p", "exact": "mover_exact", "score": "score"}[
            self.side.plan.interval
        ]

    def rate_limits(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits (level,) of the weighted sum of the rates of cells (cell,): score limits, or limits of cells put together."""
        cells, plan, used = self.side.cells, self.side.plan, weights > 0
        if plan.interval == "score":
            rows = self._rows(used)[used]
            quantiles = np.array([normal_quantile(level) for level in LEVELS])
            return score_sum(cells.values[used], rows, weights[used], quantiles)
        sums = [mover_sum(cells.values, *self._cell_limits(used, level), weights) for level in LEVELS]
        return np.array([low for low, _ in sums]), np.array([high for _, high in sums])

    def _rows(self, used: BoolArray) -> FloatArray:
        """Rows (cell,) that limits of rates are taken with, 2 of cells that are not ``used``."""
        rows = np.where(used, self.side.cells.count, 2.0)
        return effective_rows(rows, np.where(used, self.side.sizes.size, np.inf)) if self.side.plan.finite else rows

    def _cell_limits(self, used: BoolArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Limits (cell,) of the rates of the cells that are ``used``: Wilson's, mid-p or exact ones."""
        cells, plan = self.side.cells, self.side.plan
        rate, rows = np.where(used, cells.values, 0.5), np.where(used, cells.count, 2.0)
        successes = np.rint(rate * rows)
        if plan.interval == "wilson":
            limits = wilson_limits(rate, self._rows(used), level)
        elif plan.interval == "mid_p":
            limits = mid_p_limits(rate, self._rows(used), normal_quantile(level))
        elif plan.finite:
            limits = hypergeometric_limits(successes, rows, np.where(used, self.side.sizes.size, 2.0), level)
        else:
            limits = clopper_pearson(successes, rows, level)
        return limits.lower, limits.upper

    def composition(self, values: FloatArray) -> float:
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
        base = self._sum_variance(self.variance)
        main = base
        if cells.covariance is not None:
            return main, 1.0
        if sizes.margins and self.gap == 0 and plan.empty != "collapse":
            main = raking_variance(sizes.size, cells.count, cells.values, cells.scatter, sizes.margins, self.members)
        elif plan.variance == "survey":
            main = float(survey_variance(self.weights, cells.variance, cells.count))
            if plan.finite:
                main *= float(remaining(np.asarray(cells.count.sum()), np.asarray(sizes.size.sum())))
        return main, (main / base if base > 0 else 1.0)

    def _sum_variance(self, variance: FloatArray) -> float:
        """Variance of the weighted sum from those of cells (cell,), with their covariances where cells share clusters."""
        cells = self.side.cells
        if cells.covariance is None:
            return float(cell_variance(self.weights, variance))
        together = np.outer(self.weights, self.weights)
        return float(np.where(together != 0, together * cells.covariance, 0.0).sum())

    def _freedom(self) -> float:
        """Degrees of freedom by Satterthwaite: over the cells, or over the clusters where cells share them."""
        cells = self.side.cells
        if cells.covariance is not None and cells.shared_clusters is not None:
            return float(clustered_freedom(self.weights[None], cells.covariance, cells.shared_clusters)[0])
        return float(satterthwaite(self.weights, self.variance, cells.freedom))

    def _mean(self) -> Answer:
        cells = self.side.cells
        estimate = float((self.weights * cells.values).sum())
        main, ratio = self._main()
        extra = self.composition(cells.values)
        error = float(np.sqrt(main + extra))
        used = self.weights > 0
        if cells.kind == "rate" and cells.covariance is None:
            low, high = self.rate_limits(self.weights)
            more = np.array([normal_quantile(level) for level in LEVELS]) ** 2 * extra
            lower = estimate - np.sqrt(ratio * (estimate - low) ** 2 + more)
            upper = estimate + np.sqrt(ratio * (high - estimate) ** 2 + more)
            limits = Interval(lower, upper)
            if error == 0 and not self.side.plan.finite:  # rows that agree in every cell are no certainty
                error = float(np.sqrt(self._sum_variance(cells.spread)))
            saturated = bool(np.isin(cells.values[used], (0.0, 1.0)).all()) and len(np.unique(cells.values[used])) == 1
            census = self.side.plan.finite and bool(lower[-1] == upper[-1])
            flag = ("saturated", "all rows agree") if saturated and not census else ("ok", "")
            return Answer(estimate, error, limits, (estimate, estimate), *flag, method=self.method)
        freedom = self._freedom()
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
        extra = self.composition(side.cells.values)
        if side.sizes.margins:
            ratio = self._main()[1]
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
            self.composition(np.where(empty, end if np.isfinite(end) else observed, cells.values))
            for end in cells.range
        ]
        spread = cells.spread * (remaining(cells.count, self.side.sizes.size) if self.side.plan.finite else 1.0)
        main = self._sum_variance(spread)
        return between((ends[0], ends[1]), float(np.sqrt(main + max(extra))))
