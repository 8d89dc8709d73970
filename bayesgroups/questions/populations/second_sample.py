"""A population known from a second sample: counts in place of sizes, and their error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError


@dataclass(frozen=True, eq=False)
class PopulationSample:
    """A sample of the population, other than the one that was evaluated, for `bayesgroups.poststratify`.

    Parameters
    ----------
    sample : frame, mapping of columns, path or tally
        Sampled people. A frame has the attributes, and ``count`` where its rows are cells; otherwise every row is one of the
        sampled people, with weight ``weight`` where there is such a column.
    prior : float
        Added to the counts in all, the same share of it to every cell, so that cells the sample lacks can have members in
        the Bayesian answer; 0 is the Bayesian bootstrap.

    Raises
    ------
    InputError
        If the prior is negative or not finite.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap, doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"type": ["E", "H", "M"]})
    >>> tally = bg.tally_from_counts([101, 9, 14], [142, 25, 33], who, metric="acc")
    >>> second = bg.PopulationSample(who.assign(count=[300, 60, 40]))
    >>> table = bg.poststratify(tally, second)["estimates"].sel(approach="frequentist", subgroup="all")
    >>> table["estimate"].values.round(4).tolist(), table["std_error"].values.round(4).tolist()
    ([0.6299], [0.0341])
    """

    sample: Any
    prior: float = 0.0

    def __post_init__(self) -> None:
        prior: object = self.prior
        if isinstance(prior, bool) or not isinstance(prior, int | float) or not (0 <= prior < np.inf):
            raise InputError(
                f"PopulationSample: prior={prior!r} must be a number, 0 or larger: counts that are added in all"
            )


def effective_counts(weight: FloatArray, squares: FloatArray) -> FloatArray:
    """Counts (cell,) that weighted people are worth: (sum w)^2 / sum w^2 in all, shared out by weight.

    >>> effective_counts(np.array([6.0, 2.0]), np.array([12.0, 4.0])).tolist()
    [3.0, 1.0]
    """
    total, spread = float(weight.sum()), float(squares.sum())
    return np.asarray(weight * (total / spread if spread > 0 else 0.0), dtype=np.float64)


def composition_variance(weights: FloatArray, values: FloatArray, size: FloatArray) -> FloatArray:
    """Variance that estimated shares add to sum W z: (sum W z^2 - (sum W z)^2) / (M - 1), over the last axis.

    ``size`` M is the number of sampled people behind the shares; NaN where there is one or none.
    """
    centre = (weights * values).sum(axis=-1)
    scatter = np.maximum((weights * values**2).sum(axis=-1) - centre**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(size > 1, scatter / (size - 1), np.nan))


def drawn_shares(counts: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Draws (draw, cell) of shares from Dirichlet(counts); cells with a count of 0 have none."""
    drawn = rng.standard_gamma(np.broadcast_to(counts, (draws, len(counts))))
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
