"""Evaluation sets drawn from a labelled population, stratified by subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import IntArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import pandas as pd


def generator(seed: int) -> np.random.Generator:
    """A random generator of a seed, which must be a whole number, 0 or larger."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or larger; got {seed!r}")
    return np.random.default_rng(int(seed))


@checked_keywords
def largest_remainder(sizes: ArrayLike, n: int) -> IntArray:
    """Share n rows among strata in proportion to their sizes, in whole numbers.

    Parameters
    ----------
    sizes : array-like of int (stratum,)
        Rows of each stratum in the population, at least one in all.
    n : int
        Rows to share, at least 0.

    Returns
    -------
    int array (stratum,)
        Each stratum gets the whole part of its quota n N_a / N; what is left goes to the largest remainders,
        ties to the lower index. Sums to n exactly, and exceeds no N_a when n <= N.

    Raises
    ------
    InputError
        If a size or n is negative or not whole, or all sizes are 0.

    Notes
    -----
    Also known as Hamilton's or Hare-Niemeyer apportionment. Computed in integers, so no tie is decided by rounding.

    Examples
    --------
    >>> from bayesgroups.datasets import largest_remainder
    >>> largest_remainder([61, 25, 9, 5], 10).tolist()
    [6, 3, 1, 0]
    """
    counts = np.asarray(sizes)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise InputError(f"sizes must be whole numbers, 0 or larger, one per stratum; got {sizes!r}")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"n must be a whole number, 0 or larger; got {n!r}")
    population = [int(count) for count in counts]
    total = sum(population)
    if total == 0:
        raise InputError("sizes are all 0; there is nothing to share rows among")
    whole, remainder = zip(*(divmod(int(n) * size, total) for size in population), strict=True)
    shares = np.array(whole, dtype=np.int64)
    first = sorted(range(len(population)), key=lambda i: -remainder[i])[: int(n) - sum(whole)]
    shares[first] += 1
    return shares


@checked_keywords
def draw_evaluation(
    frame: pd.DataFrame, by: Sequence[str], n: int, seed: int, *, replace: bool = False
) -> pd.DataFrame:
    """Draw an evaluation set of n rows, stratified by intersectional subgroup.

    Parameters
    ----------
    frame : pandas DataFrame
        The labelled population.
    by : sequence of str
        Attributes whose combinations are the strata.
    n : int
        Rows to draw, at least 1.
    seed : int
        The same frame and seed give the same rows.
    replace : bool
        Draw with replacement within each subgroup: exactly i.i.d. rows. Without it, variances carry the
        finite-population factor (N_a - n_a) / (N_a - 1).

    Returns
    -------
    pandas DataFrame
        Rows of the population in their order, with their index; subgroup sizes by `largest_remainder`.

    Raises
    ------
    InputError
        If the frame is not a pandas DataFrame or empty, a column is absent or has missing values, the seed or
        n is not a whole number, or n exceeds the rows there are (without replacement).

    References
    ----------
    Herlihy, Truong, Chouldechova and Dudik (2024), section 5.1 (stratified evaluation sets of 5,000 rows).

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.datasets import draw_evaluation
    >>> people = pd.DataFrame({"sex": ["f"] * 75 + ["m"] * 25})
    >>> draw_evaluation(people, ["sex"], 20, seed=1)["sex"].value_counts().to_dict()
    {'f': 15, 'm': 5}
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"frame must be a pandas DataFrame; got {type(frame).__name__}")
    attributes = [by] if isinstance(by, str) else list(by)
    if not attributes:
        raise InputError("by= names no column; name at least one attribute, as by=['sex', 'age']")
    for name in attributes:
        if name not in frame.columns:
            columns = [str(column) for column in frame.columns]
            raise InputError(f"column {name!r} (by=) is not in the frame; {near_misses(name, columns)}")
        if frame[name].isna().to_numpy().any():
            raise InputError(f"column {name!r} (by=) has missing values; drop those rows or name them as a level")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a whole number, 1 or larger; got {n!r}")
    if len(frame) == 0:
        raise InputError("the frame has no rows; nothing can be drawn")
    if not replace and n > len(frame):
        raise InputError(f"n = {n} exceeds the {len(frame)} rows there are; draw fewer, or with replace=True")
    rng = generator(seed)
    stratum = frame.groupby(attributes, observed=True, sort=True).ngroup().to_numpy()
    sizes = np.bincount(stratum)
    members = np.split(np.argsort(stratum, kind="stable"), np.cumsum(sizes)[:-1])
    drawn = [
        rng.choice(rows, size=int(share), replace=replace)
        for rows, share in zip(members, largest_remainder(sizes, n), strict=True)
    ]
    return frame.iloc[np.sort(np.concatenate(drawn))]
