"""Net benefit of deciding at a threshold, where false positives cost the odds of that threshold in true positives.

Shares of the four confusion cells have thresholds as their last axis, as ``odds``, t / (1 - t). Vickers and Elkin (2006),
doi:10.1177/0272989X06295361; Kerr, Brown, Zhu, Janes (2016), doi:10.1200/JCO.2015.65.5654, for the standardised one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.questions.curves import bands
from bayesgroups.questions.curves.rates import Confusion

METRICS = ("net_benefit", "standardised_net_benefit")
OVER_ALL = "minus_treat_all"
"""Net benefit beyond that of selecting everyone."""
SMOOTHED_ROWS = 0.5
"""Rows added to every cell for the width of limits alone, as by a Dirichlet prior, so that no limits are without width."""


def odds(thresholds: FloatArray) -> FloatArray:
    """Odds of thresholds, true positives that a false one costs; an InputError where one is no probability below 1."""
    broken = (thresholds < 0) | (thresholds >= 1)
    if broken.any():
        raise InputError(
            f"net benefit needs thresholds in [0, 1), for their odds are the cost of a false positive; got "
            f"{thresholds[broken][0]:g}; give thresholds=[0.1, 0.2], and scores that are probabilities"
        )
    return np.asarray(thresholds / (1 - thresholds))


def below_one(thresholds: ArrayLike | None, chosen: FloatArray) -> FloatArray:
    """Thresholds without 1 where they are the default ones."""
    return chosen[chosen < 1] if thresholds is None and chosen.min() >= 0 and chosen.max() <= 1 else chosen


def value(name: str, cells: Confusion, odds_of: FloatArray) -> FloatArray:
    """Metric, or `OVER_ALL`, from counts or shares; NaN without rows, the standardised one without positives."""
    total = odds_of * cells.tn - cells.fn if name == OVER_ALL else cells.tp - odds_of * cells.fp
    per = denominator(name, cells)
    return np.divide(total, per, out=np.full_like(total, np.nan), where=per > 0)


def treat_all(cells: Confusion, odds_of: FloatArray) -> FloatArray:
    """Net benefit of selecting everyone; that of selecting no one is 0."""
    return value("net_benefit", _everyone(cells), odds_of)


def denominator(name: str, cells: Confusion) -> FloatArray:
    """Rows that a metric is per: all, or the positives."""
    positives = cells.tp + cells.fn
    return positives if name == "standardised_net_benefit" else positives + cells.fp + cells.tn


def std_error(name: str, cells: Confusion, odds_of: FloatArray, added: float = 0.0) -> FloatArray:
    """Standard error from counts, by the delta method for the standardised one; ``added`` rows are in every cell."""
    counts = np.stack(np.broadcast_arrays(*(part + added for part in (cells.tp, cells.fn, cells.fp, cells.tn))))
    rows = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / rows
        positives, zero, unit = shares[0] + shares[1], np.zeros_like(rows), np.ones_like(rows)
        if name == OVER_ALL:
            slopes = np.stack([zero, -unit, zero, odds_of * unit])
        elif name == "net_benefit":
            slopes = np.stack([unit, zero, -odds_of * unit, zero])
        else:
            loss = (shares[0] - odds_of * shares[2]) / positives**2
            slopes = np.stack([1 / positives - loss, -loss, -odds_of / positives, zero])
        spread = (shares * slopes**2).sum(axis=0) - (shares * slopes).sum(axis=0) ** 2
        return np.asarray(np.sqrt(np.maximum(spread, 0.0) / rows))


def around(name: str, cells: Confusion, odds_of: FloatArray, level: float) -> Interval:
    """Normal limits from counts, clipped to the range of the metric; NaN where it has no value."""
    estimate, half = (
        value(name, cells, odds_of),
        std_error(name, cells, odds_of, SMOOTHED_ROWS) * normal_quantile(level),
    )
    if name == "standardised_net_benefit":
        return Interval(estimate - half, np.minimum(estimate + half, 1.0))
    low, high = (-1.0, odds_of) if name == OVER_ALL else (-odds_of, 1.0)
    return Interval(np.maximum(estimate - half, low), np.minimum(estimate + half, high))


def resampled(
    name: str, seen: Confusion, law: Confusion, drawn: Confusion, odds_of: FloatArray, level: float
) -> bands.CurveLimits:
    """Limits of one curve from counts (point,), its bands at the level that holds whole curves of replicates (replicate, point)."""
    from scipy.special import ndtr

    error = std_error(name, drawn, odds_of, SMOOTHED_ROWS)
    distance = np.abs(value(name, drawn, odds_of) - value(name, law, odds_of)) / error
    misses = np.where(np.isfinite(distance), 2 * ndtr(-np.nan_to_num(distance)), 1.0)
    level_of_band = float(bands.calibrated(misses, level))
    return bands.CurveLimits(
        around(name, seen, odds_of, level), around(name, seen, odds_of, level_of_band), level_of_band
    )


def useful(cells: Confusion, odds_of: FloatArray) -> BoolArray:
    """Draws in which deciding at the threshold is better than selecting everyone and better than selecting no one."""
    net = value("net_benefit", cells, odds_of)
    return np.asarray(net > np.maximum(treat_all(cells, odds_of), 0.0))


def beside_counts(cells: Confusion, odds_of: FloatArray, level: float) -> list[FloatArray]:
    """The variables of `BESIDE` (point,) from counts."""
    limits = around(OVER_ALL, cells, odds_of, level)
    return [treat_all(cells, odds_of), value(OVER_ALL, cells, odds_of), limits.lower, limits.upper]


def beside_draws(cells: Confusion, odds_of: FloatArray, level: float) -> list[FloatArray]:
    """The variables of `BESIDE` (point,) from draws (draw, point)."""
    over = value(OVER_ALL, cells, odds_of)
    lower, upper = np.quantile(over, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [treat_all(cells, odds_of).mean(axis=0), over.mean(axis=0), lower, upper]


BESIDE = ("treat_all", OVER_ALL, f"{OVER_ALL}_lower", f"{OVER_ALL}_upper")
"""Variables (approach, threshold, subgroup) beside net benefit."""


def variables(sides: list[FloatArray], probability: FloatArray) -> dict[str, Any]:
    """Variables of a Dataset, from `BESIDE` of both sides (variable, threshold, subgroup) and P(useful) (threshold, subgroup)."""
    along = ("threshold", "subgroup")
    beside = {name: (("approach", *along), np.stack([side[i] for side in sides])) for i, name in enumerate(BESIDE)}
    return {**beside, "probability_useful": (along, probability)}


def _everyone(cells: Confusion) -> Confusion:
    nobody = np.zeros_like(cells.tp)
    return Confusion(cells.tp + cells.fn, nobody, cells.fp + cells.tn, nobody)
