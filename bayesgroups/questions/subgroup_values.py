"""One metric in every subgroup: estimates with their errors, draws where there are any, and the subgroups that take part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.report.draw_blocks import blocks
from bayesgroups.tallies.denominators import denominators

Origin = Literal["tally", "posterior", "bootstrap"]
"""Where values come from."""


@dataclass(frozen=True)
class Sample:
    """Estimates of one metric and what a tally knows of their errors: arrays of one shape (subgroup,), NaN where unknown.

    ``variance`` is the squared standard error with the row variance pooled over subgroups, ``own_variance`` that of the
    subgroup's own rows; ``freedom`` are the degrees of freedom of the pooled variance.
    """

    estimate: FloatArray
    count: FloatArray
    successes: FloatArray
    variance: FloatArray
    own_variance: FloatArray
    freedom: float


@dataclass(frozen=True, eq=False)
class Values:
    """One metric in every subgroup.

    ``table`` is the metric in the tally, or in its margins; ``estimand`` the quantity in words, empty where a report does
    not name it; ``sign`` is 1 where larger is better and -1 where larger is worse, so that ``sign * value`` is worse where
    it is smaller. ``sample`` is of the tally, but its ``estimate`` is that of the report where there are ``draws`` (draw,
    subgroup), posterior draws or bootstrap replicates, and NaN where not ``included``. ``left_out`` has labels and reasons
    of those that take no part, joined by "; "; ``status`` is as in a tally, ``imputed`` where only a model answers;
    ``usable`` False where the report failed its diagnostics.
    """

    table: xr.Dataset
    using: Origin
    estimand: str
    sign: int
    sample: Sample
    draws: FloatArray | None
    included: BoolArray
    left_out: str
    status: TextArray
    usable: bool

    @cached_property
    def metric(self) -> str:
        """Name of the metric."""
        return str(self.table["metric"].values)

    @cached_property
    def kind(self) -> str:
        """Kind of the metric, as in a tally."""
        return str(self.table["kind"].values)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return float(self.table["range_lower"]), float(self.table["range_upper"])

    @property
    def labels(self) -> TextArray:
        """Names of the subgroups (subgroup,)."""
        return np.asarray(self.table["subgroup"].values)

    @property
    def reason(self) -> TextArray:
        """Reasons of the statuses (subgroup,)."""
        return np.asarray(self.table["reason"].values)

    @property
    def intersection(self) -> BoolArray:
        """False for margins (subgroup,)."""
        return np.isin(self.labels, self.table["cell"].values if "cell" in self.table.dims else self.labels)

    @cached_property
    def denominators(self) -> FloatArray:
        """Rows behind the estimates (subgroup,), or their weights; NaN for published estimates."""
        return denominators(self.table)

    @cached_property
    def complete(self) -> BoolArray:
        """Draws (draw,) with a value in every subgroup that takes part; of a tally the estimates are the one draw."""
        y, used = self._drawn, self.included
        return np.concatenate([np.isfinite(y[block][:, used]).all(axis=1) for block in blocks(*y.shape)])

    def by_draw(self, summary: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Summary, from (draw, subgroup) to (draw,), of all complete draws, of a block of them after the other."""
        y, used, complete = self._drawn, self.included, self.complete
        summaries = [summary(y[at][complete[at]][:, used]) for at in blocks(*y.shape) if complete[at].any()]
        return np.concatenate(summaries) if summaries else np.zeros(0)

    def oriented(self) -> Iterator[FloatArray]:
        """Draws of the subgroups that take part, worse where smaller, a block (draw, subgroup) after the other."""
        assert self.draws is not None, "asked for with draws only"
        for block in blocks(*self.draws.shape):
            yield self.sign * self.draws[block][:, self.included]

    def weights(self) -> FloatArray:
        """Denominators of the subgroups that take part, of published estimates inverse variances.

        0 for imputed subgroups; NaN for all where every one of them is imputed, so that nothing is known of their shares.
        """
        count = self.denominators[self.included]
        observed = self.status[self.included] != "imputed"
        if not observed.any():
            return np.full(count.shape, np.nan)
        if not np.isfinite(count[observed]).all():  # published estimates come without denominators
            count = 1 / self.sample.variance[self.included]
        return np.where(observed, count, 0.0)

    def spread(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws (draw, subgroup) that spread in every subgroup with a value, and their standard deviations (subgroup,).

        Replicates of a saturated or single subgroup are all alike, which is no evidence of certainty: they are replaced
        by normal ones with the pooled row variance, from ``rng``.
        """
        assert self.draws is not None, "asked for with draws only"
        draws = np.where(self.included, self.draws, np.nan)
        some = np.isfinite(draws).sum(axis=0) > 1
        scale = np.full(some.shape, np.nan)
        scale[some] = np.nanstd(draws[:, some], axis=0, ddof=1)
        flat = self.included & ~(scale > 0)
        if self.using == "bootstrap" and flat.any():
            scale = np.where(flat, np.sqrt(self.sample.variance), scale)
            noise = rng.standard_normal((len(draws), int(flat.sum())))
            draws[:, flat] = self.sample.estimate[flat] + scale[flat] * noise
        return draws, scale

    @property
    def _drawn(self) -> FloatArray:
        return self.sample.estimate[None] if self.draws is None else self.draws
