"""Ranks of subgroups, with what is not known about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.certification import multiplicity
from bayesgroups.questions.certification.overlapping import open_table, shared_errors
from bayesgroups.questions.certification.rank_shares import SUMMARIES, rank, rank_probabilities, rank_summaries
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed

PAIRS = 20_000
"""More pairs of subgroups get Bonferroni's critical value instead of a simulated one."""
SIMULATIONS = 4_000
"""Normal vectors behind the simulated one."""
CHUNK = 2_000_000
"""Numbers held at once."""


@renamed_keyword("part", "using")
@checked_keywords
def ranks(
    source: xr.Dataset | xr.DataTree, *, level: float = 0.95, using: Using = "auto", larger_is_better: bool | None = None,
    imputed: Imputed = "leave_out", all_ranks: bool = False, seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Rank the subgroups of a table, 1 for the best, and say how sure every rank is.

    Estimand: the rank of each subgroup's true value among those of all subgroups that have one.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally or a report.
    level : float
        Probability of the limits.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.
    larger_is_better : bool, optional
        Replaces the direction of all metrics.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    all_ranks : bool
        Add ``rank_share``, as many numbers as the square of the number of subgroups.
    seed : int
        Source of randomness of simulated critical values.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``estimate``; ``rank`` of the estimate (posterior: median of the rank in a draw);
        ``lower`` and ``upper`` limits of the true rank; from a posterior ``expected_rank``, ``probability_best`` and
        ``probability_worst``. Along ``metric``: ``groups`` that have a rank, ``left_out`` (labels and reasons of the others,
        joined by "; "), ``critical_value``, ``estimand`` of the values that are ranked, ``interval_kind``: ``simultaneous``
        limits hold for all subgroups together (tally and bootstrap), ``credible`` ones for each, and
        ``interval_method``. NaN where undefined or left out.

        With ``all_ranks``, along ``place`` (1, 2, ...) too: ``rank_share``, the share of draws in which the subgroup has that
        rank. From a posterior it is the probability of the rank, from a bootstrap the share of replicates; of a tally there
        is one draw, the estimates. Over subgroups, and over the places up to ``groups``, it sums to 1.

    Raises
    ------
    InputError
        If a setting does not exist.
    SchemaError
        If ``source`` is neither a tally nor a report.

    Notes
    -----
    Subgroups that tie over the ranks r to r + m - 1 share them: each has all of these ranks with 1 / m, and their mean as its
    rank. Draws without a value in some subgroup have no ranks.

    Without a posterior a subgroup ranks behind those that are shown to be better, in tests of all pairs at once, and before
    those shown to be worse; sampling variances are pooled, so that no subgroup is certain. Limits that span all ranks say
    that the table cannot order the subgroups, however far apart its estimates are.

    References
    ----------
    Mogstad, Romano, Shaikh, Wilhelm (2024), https://doi.org/10.1093/restud/rdad006; Laird, Louis (1989),
    https://doi.org/10.2307/1164724 (posterior ranks).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"site": ["a", "b", "c"]})
    >>> table = bg.ranks(bg.tally_from_counts([950, 5, 700], [1000, 6, 1000], who, metric="acc"))
    >>> [table[name].values[0].tolist() for name in ("rank", "lower", "upper")]
    [[1.0, 2.0, 3.0], [1.0, 1.0, 2.0], [2.0, 3.0, 3.0]]
    """
    tail(level)  # refuses a level outside (0, 1)
    opened = open_table(source, using, larger_is_better=larger_is_better, imputed=imputed)
    tables = []
    for numbers in opened.metrics:
        table = _posterior(numbers, level) if numbers.using == "posterior" else _pairwise(numbers, level, seed)
        if all_ranks:
            shares = _shares(numbers)
            table = table.assign(rank_share=(("subgroup", "place"), shares))
            table = table.assign_coords(place=np.arange(1, len(shares) + 1))
        kind = "credible" if numbers.using == "posterior" else "simultaneous"
        table = table.assign(
            estimate=("subgroup", numbers.sample.estimate),
            groups=int(numbers.included.sum()),
            left_out=numbers.left_out,
            estimand=numbers.estimand,
            interval_kind=kind,
            interval_method="equal_tailed" if kind == "credible" else "tests_of_all_pairs",
            usable=np.int8(numbers.usable),
        )
        tables.append(table)
    attrs = {"level": level, "using": opened.using, "imputed": imputed, **opened.noted}
    return opened.answer(tables, attrs)


def rank_limits(values: FloatArray, covariance: FloatArray, critical_value: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits (subgroup,) of ranks of values, larger better, from tests of all pairs of values.

    ``covariance`` is that of their errors, ``critical_value`` in standard errors of a difference.
    """
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    behind = (values - values[:, None]) > critical_value * error  # the other is shown to be better
    lower = 1.0 + behind.sum(axis=1, dtype=np.float64)
    return np.asarray(lower, dtype=np.float64), len(values) - behind.sum(axis=0, dtype=np.float64)


def _posterior(numbers: Values, level: float) -> xr.Dataset:
    """Ranks in the draws: their quantiles and means, and the probabilities of the first and the last."""
    assert numbers.draws is not None, "a posterior has draws"
    some = numbers.included
    summaries = np.full((len(SUMMARIES), len(some)), np.nan)
    if some.any():
        summaries[:, some] = rank_summaries(numbers.oriented(), len(numbers.draws), int(some.sum()), level)
    data: dict[str, Any] = {name: ("subgroup", row) for name, row in zip(SUMMARIES, summaries, strict=True)}
    return xr.Dataset(data).assign(critical_value=np.nan)


def _pairwise(numbers: Values, level: float, seed: int) -> xr.Dataset:
    """Ranks of the estimates, with limits from tests of all pairs."""
    some = numbers.included
    summaries = np.full((3, len(some)), np.nan)
    z = float("nan")
    if some.any():
        rng = generator(seed, numbers.metric, "ranks")
        values = (numbers.sign * numbers.sample.estimate)[some]
        variance = numbers.sample.variance if numbers.draws is None else numbers.spread(rng)[1] ** 2
        covariance = np.diag(variance[some])
        factor = shared_errors(numbers)
        if factor is not None:
            covariance = factor[some] @ factor[some].T
        z = critical_value_of_pairs(covariance, level, rng)
        summaries[:, some] = [rank(values), *rank_limits(values, covariance, z)]
    names = ("rank", "lower", "upper")
    data: dict[str, Any] = {name: ("subgroup", row) for name, row in zip(names, summaries, strict=True)}
    return xr.Dataset(data).assign(critical_value=z)


def _shares(numbers: Values) -> FloatArray:
    """Share of draws, or of the estimates of a tally, with each rank, (subgroup, place); NaN beyond the last rank."""
    some = numbers.included
    groups = int(some.sum())
    shares = np.full((len(some), len(some)), np.nan)
    estimates = (numbers.sign * numbers.sample.estimate)[None, some]
    blocks_of_draws = numbers.oriented() if numbers.draws is not None else iter([estimates])
    shares[np.ix_(some, np.arange(groups))] = rank_probabilities(blocks_of_draws, groups)
    return shares


def critical_value_of_pairs(covariance: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Quantile of the largest standardised difference of two errors; Bonferroni's where too many pairs would be simulated."""
    many = len(covariance)
    first, second = np.triu_indices(many, k=1)
    if len(first) == 0 or len(first) > PAIRS:
        return multiplicity.critical_value("bonferroni", level, max(len(first), 1), sides=2)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[first] + variance[second] - 2 * covariance[first, second], 0.0))
    error = np.where(error > 0, error, np.inf)
    step = max(1, CHUNK // len(first))
    largest = []
    for start in range(0, SIMULATIONS, step):
        noise = rng.standard_normal((min(step, SIMULATIONS - start), many)) @ root.T
        largest.append((np.abs(noise[:, first] - noise[:, second]) / error).max(axis=1))
    return float(np.quantile(np.concatenate(largest), level))
