"""The value of the worst subgroup: which it is, and what draws or counts say of it.

Everything here takes smaller values to be worse; `oriented` turns metrics round where larger is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.questions.certification.multiplicity import check_level


@dataclass(frozen=True)
class Critical:
    """The smallest of several limits.

    ``value``; ``tied`` (subgroup,) true for every subgroup that has it; ``position`` of the one with the fewest rows among
    them, -1 where there is none.
    """

    value: float
    tied: BoolArray
    position: int


def critical(limit: FloatArray, count: FloatArray) -> Critical:
    """Find the smallest limit and who has it.

    Parameters
    ----------
    limit : array (subgroup,)
        NaN where the subgroup takes no part.
    count : array (subgroup,)
        Denominators, by which ties are broken; NaN counts as none.

    Returns
    -------
    Critical

    Examples
    --------
    >>> import numpy as np
    >>> found = critical(np.array([0.9, 0.5, np.nan, 0.5]), np.array([10.0, 7.0, 1.0, 3.0]))
    >>> found.value, found.tied.tolist(), found.position
    (0.5, [False, True, False, True], 3)
    """
    known = np.isfinite(limit)
    if not known.any():
        return Critical(float("nan"), np.zeros(limit.shape, dtype=bool), -1)
    value = float(limit[known].min())
    tied = known & (limit == value)
    return Critical(value, tied, int(np.argmin(np.where(tied, np.nan_to_num(count), np.inf))))


def of_draws(draws: FloatArray) -> FloatArray:
    """Value of the worst subgroup in each draw (draw,), from draws (draw, subgroup) of the subgroups that take part."""
    found: FloatArray = draws.min(axis=-1)
    return found


def times_worst(draws: FloatArray) -> FloatArray:
    """In how many draws each subgroup is the worst, (subgroup,); subgroups that tie in a draw share it.

    Examples
    --------
    >>> import numpy as np
    >>> times_worst(np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.1], [0.0, 1.0]])).tolist()
    [2.5, 1.5]
    """
    worst = draws == draws.min(axis=-1, keepdims=True)
    found: FloatArray = (worst / worst.sum(axis=-1, keepdims=True)).sum(axis=0)
    return found


def probability_all(worst: FloatArray, standards: FloatArray) -> FloatArray:
    """Share of draws (draw,) of the worst value that reach each standard (standard,).

    Examples
    --------
    >>> import numpy as np
    >>> probability_all(np.array([0.2, 0.4, 0.6]), np.array([0.3, 0.4, 0.7])).round(4).tolist()
    [0.6667, 0.6667, 0.0]
    """
    found: FloatArray = (worst[:, None] >= standards).mean(axis=0)
    return found


def jeffreys_all(successes: FloatArray, trials: FloatArray, standards: FloatArray) -> FloatArray:
    """Probability that every rate is above each standard, under independent Jeffreys priors, without draws.

    Parameters
    ----------
    successes, trials : arrays (subgroup,)
        Of the subgroups that take part.
    standards : array (standard,)
        Rates.

    Returns
    -------
    array (standard,)

    Examples
    --------
    >>> import numpy as np
    >>> k, n = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    >>> jeffreys_all(k, n, np.array([0.7, 0.5])).round(6).tolist()
    [0.501173, 0.887949]
    """
    from scipy.special import betainc

    c = np.clip(standards, 0.0, 1.0)[:, None]
    found: FloatArray = (1 - betainc(successes + 0.5, trials - successes + 0.5, c)).prod(axis=1)
    return found


def jeffreys_quantile(successes: FloatArray, trials: FloatArray, probability: float) -> float:
    """Quantile of the smallest rate under independent Jeffreys priors.

    Examples
    --------
    >>> import numpy as np
    >>> k, n = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    >>> [round(jeffreys_quantile(k, n, at), 6) for at in (0.05, 0.5, 0.95)]
    [0.406015, 0.700401, 0.860716]
    """
    check_level(probability)
    low, high = 0.0, 1.0
    for _ in range(60):  # the distribution function is monotone: halving is exact to the last bit
        middle = (low + high) / 2
        if 1 - jeffreys_all(successes, trials, np.array([middle]))[0] < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
