"""Simulated estimates of the variance between subgroups, and the replicates of one of them: figures 3 to 5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from examples.pages import table
from examples.published.debiasing.meta_metrics import BOOTSTRAP, REPLICATIONS, VarianceDesign, designs

SEED = 20_220_624
CORRECTIONS = ("uncorrected", "corrected", "double_corrected")
FIGURES: Mapping[int, tuple[str, ...]] = {3: CORRECTIONS[:2], 4: CORRECTIONS[:2], 5: CORRECTIONS}
"""What each of the published figures shows: 3 estimates, 4 and 5 bootstrap replicates of one evaluation set."""


@dataclass(frozen=True)
class Sample:
    """Variances in one design, truncated at 0 as published, by correction: arrays (draw,)."""

    design: VarianceDesign
    values: Mapping[str, FloatArray]

    @property
    def truth(self) -> float:
        """The variance of the true rates, exactly 0 where these are all the same."""
        return self.design.truth if self.design.rate.min() < self.design.rate.max() else 0.0


def corrected(y: FloatArray, n: FloatArray) -> dict[str, FloatArray]:
    """The three published variances of rates (draw, subgroup), truncated at 0.

    Examples
    --------
    >>> import numpy as np
    >>> estimates = corrected(np.array([[0.9, 0.8, 0.7, 0.6]]), np.array([40.0, 20, 10, 5]))
    >>> [round(float(value[0]), 6) for value in estimates.values()]
    [0.016667, 0.0, 0.0]
    """
    spread, plain = y.var(axis=1, ddof=1), y * (1 - y)
    factors = (np.zeros(len(n)), 1 / n, (2 * n - 1) / n**2)
    return {
        name: np.maximum(spread - plain @ factor / len(n), 0.0)
        for name, factor in zip(CORRECTIONS, factors, strict=True)
    }


def estimates(replications: int = REPLICATIONS, seed: int = SEED) -> list[Sample]:
    """Estimates of many evaluation sets, of every design: figure 3."""
    samples = []
    for position, design in enumerate(designs()):
        rng = np.random.default_rng([seed, position])
        drawn = rng.binomial(design.size.astype(np.int64), design.rate, size=(replications, len(design.rate)))
        samples.append(Sample(design, corrected(drawn / design.size, design.size)))
    return samples


def replicates(draws: int = BOOTSTRAP, seed: int = SEED) -> list[Sample]:
    """Bootstrap replicates of the first evaluation set, of every design: figures 4 and 5."""
    samples = []
    for position, design in enumerate(designs()):
        rng = np.random.default_rng([seed, position])
        n = design.size.astype(np.int64)
        y = rng.binomial(n, design.rate) / n
        again = rng.binomial(n, y, size=(draws, len(n))) / design.size
        samples.append(Sample(design, corrected(again, design.size)))
    return samples


def sample_table(samples: Iterable[Sample], corrections: Sequence[str]) -> str:
    """Mean and middle 95 % of every histogram, times 10,000, with the truth.

    Returns
    -------
    str
        Markdown, a line per design.
    """
    head = ["design", "truth", *(f"{name.replace('_', '-')}" for name in corrections)]
    rows = []
    for sample in samples:
        cells = [sample.design.name, f"{10_000 * sample.truth:.1f}"]
        for name in corrections:
            value = 10_000 * sample.values[name]
            low, high = np.quantile(value, [0.025, 0.975])
            cells.append(f"{value.mean():.1f} ({low:.1f} to {high:.1f})")
        rows.append(cells)
    return table(head, rows)
