"""Ranks of subgroups, with what is not known about them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.certification import multiplicity
from bayesgroups.certification.numbers import Numbers, Part, read, spread
from bayesgroups.draw_blocks import blocks
from bayesgroups.inference.posterior import generator

FloatArray = NDArray[np.float64]

PAIRS = 20_000
"""More pairs of subgroups get Bonferroni's critical value instead of a simulated one."""
SIMULATIONS = 4_000
"""Normal vectors behind the simulated one."""
CHUNK = 2_000_000
"""Numbers held at once."""


def ranks(
    source: xr.Dataset | xr.DataTree, *, level: float = 0.95, part: Part = "auto", larger_is_better: bool | None = None,
    seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Rank the subgroups of a table, 1 for the best, and say how sure every rank is.

    Estimand: the rank of each subgroup's true value among those of all subgroups that have one.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally or a report.
    level : float
        Probability of the limits.
    part : {"auto", "tally", "posterior", "bootstrap"}
        What of a report is read; ``auto`` is its posterior.
    larger_is_better : bool, optional
        Replaces the direction of all metrics.
    seed : int
        Source of randomness of simulated critical values.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``estimate``; ``rank`` of the estimate (posterior: median of the rank in a draw);
        ``lower`` and ``upper`` limits of the true rank; from a posterior ``probability_best`` and ``probability_worst``.
        Along ``metric``: ``groups``, ``critical_value``, ``interval_kind``: ``simultaneous`` limits hold for all subgroups
        together (tally and bootstrap), ``credible`` ones for each. NaN where undefined.

    Raises
    ------
    InputError
        If a setting does not exist.
    SchemaError
        If ``source`` is neither a tally nor a report.

    Notes
    -----
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
    multiplicity.check_level(level)
    found = read(source, part=part, larger_is_better=larger_is_better)
    tables = []
    for numbers in found.metrics:
        one = _posterior(numbers, level) if numbers.part == "posterior" else _pairwise(numbers, level, seed)
        kind = "credible" if numbers.part == "posterior" else "simultaneous"
        one = one.assign(
            estimate=("subgroup", numbers.sample.estimate),
            groups=int(numbers.included.sum()),
            interval_kind=kind,
            usable=np.int8(numbers.usable),
        )
        tables.append(one)
    joined = xr.concat(tables, dim="metric", data_vars="all", join="exact")
    attrs = {"level": level, "part": found.metrics[0].part, **found.noted}
    return joined.assign_coords(found.coordinates).assign_attrs(attrs)


def rank(values: FloatArray) -> FloatArray:
    """Ranks along the last axis, 1 for the largest; ties share the mean of theirs, NaN has none.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.3, 0.9, np.nan, 0.3])).tolist()
    [2.5, 1.0, nan, 2.5]
    """
    from scipy.stats import rankdata

    found: FloatArray = rankdata(-values, axis=-1, nan_policy="omit")
    return found


def rank_limits(values: FloatArray, covariance: FloatArray, critical_value: float) -> tuple[FloatArray, FloatArray]:
    """Limits of ranks from tests of all pairs.

    Parameters
    ----------
    values : array (subgroup,)
        Larger is better.
    covariance : array (subgroup, subgroup)
        Of their errors.
    critical_value : float
        In standard errors of a difference.

    Returns
    -------
    tuple of two arrays (subgroup,)

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rank_limits(np.array([0.9, 0.5, 0.45]), np.diag([0.0001, 0.0001, 0.01]), 2.4)
    >>> low.tolist(), high.tolist()
    ([1.0, 2.0, 2.0], [1.0, 3.0, 3.0])
    """
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    behind = (values - values[:, None]) > critical_value * error  # the other is shown to be better
    lower = 1.0 + behind.sum(axis=1, dtype=np.float64)
    return np.asarray(lower, dtype=np.float64), len(values) - behind.sum(axis=0, dtype=np.float64)


def _posterior(numbers: Numbers, level: float) -> xr.Dataset:
    assert numbers.draws is not None, "a posterior has draws"
    some = numbers.included
    shape = (5, len(some))
    found = np.full(shape, np.nan)
    if some.any():
        many, size = int(some.sum()), len(numbers.draws)
        # Ranks are whole or halves, which single precision holds as they are.
        drawn, quantiles, start = np.empty((size, many), dtype=np.float32), np.empty((3, many)), 0
        for part in numbers.oriented():
            drawn[start : start + len(part)] = rank(part)
            start += len(part)
        for block in blocks(many, size):
            own = drawn[:, block].astype(np.float64)
            quantiles[:, block] = np.quantile(own, [0.5, (1 - level) / 2, (1 + level) / 2], axis=0)
        found[:, some] = [*quantiles, (drawn == 1).mean(axis=0), (drawn == many).mean(axis=0)]
    names = ("rank", "lower", "upper", "probability_best", "probability_worst")
    return xr.Dataset({name: ("subgroup", row) for name, row in zip(names, found, strict=True)}).assign(
        critical_value=np.nan
    )


def _pairwise(numbers: Numbers, level: float, seed: int) -> xr.Dataset:
    some = numbers.included
    found = np.full((3, len(some)), np.nan)
    z = float("nan")
    if some.any():
        rng = generator(seed, numbers.metric, "ranks")
        values = (numbers.sign * numbers.sample.estimate)[some]
        variance = numbers.sample.variance if numbers.draws is None else spread(numbers, rng)[1] ** 2
        covariance = np.diag(variance[some])
        if numbers.factor is not None:
            covariance = numbers.factor[some] @ numbers.factor[some].T
        z = critical_value_of_pairs(covariance, level, rng)
        found[:, some] = [rank(values), *rank_limits(values, covariance, z)]
    names = ("rank", "lower", "upper")
    data = {name: ("subgroup", row) for name, row in zip(names, found, strict=True)}
    return xr.Dataset(data).assign(critical_value=z)


def critical_value_of_pairs(covariance: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Quantile of the largest standardised difference of two errors.

    Parameters
    ----------
    covariance : array (subgroup, subgroup)
        Of the errors.
    level : float
        Confidence.
    rng : numpy Generator
        Source of randomness.

    Returns
    -------
    float
        Bonferroni's where there are too many pairs to simulate.

    Examples
    --------
    >>> import numpy as np
    >>> abs(critical_value_of_pairs(np.eye(2), 0.95, np.random.default_rng(1)) - 1.96) < 0.1  # one pair
    True
    """
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
