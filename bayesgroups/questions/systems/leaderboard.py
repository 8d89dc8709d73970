"""The order of systems on the same items, by subgroup and for everyone, with what is not known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.estimators.level_orders import Orders, orders_of
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.frequentist.paired_systems import PairedInterval
from bayesgroups.questions.certification.rank_shares import rank, rank_summaries
from bayesgroups.questions.systems.answers import both_answers
from bayesgroups.questions.systems.differences import Answer, SystemCorrection
from bayesgroups.questions.systems.pairs import Systems, everyone, open_systems
from bayesgroups.questions.systems.ties import rank_limits, tie_letters

NUMBERS = ("estimate", "lower", "upper", "rank", "rank_lower", "rank_upper", "probability_best")


@checked_keywords
def leaderboard(
    source: xr.Dataset, *, level: float = 0.95, ordered: Sequence[str] | Mapping[str, Sequence[str]] = (),
    cyclic: Sequence[str] = (), seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Rank systems on the same items in every subgroup and for everyone, 1 for the best, and say how sure every rank is.

    Estimand: the value of each system over the population that the items come from, and its rank.

    Parameters
    ----------
    source : xr.Dataset
        A tally of systems, see `bayesgroups.paired_tally`.
    level : float
        Probability of the intervals, and of all statements about the pairs of a subgroup together.
    ordered, cyclic : sequence of str, or mapping from str to sequence of str
        Attributes whose levels have an order, as in `bayesgroups.compare_systems`.
    seed : int
        Source of all randomness.

    Returns
    -------
    xr.Dataset
        Along ``approach`` (``bayesian``, ``frequentist``), ``subgroup`` (the last is ``(all)``, everyone) and ``system``:
        ``estimate``, ``lower``, ``upper`` of the value; ``rank`` (Bayesian: median of the rank in a draw) with its limits
        ``rank_lower``, ``rank_upper`` (Bayesian: quantiles, for each system by itself; frequentist: from limits of all pairs of the
        subgroup at once); Bayesian: ``probability_best``; ``may_be_best``, 1 for systems that are not shown to be worse than any
        other, and ``tie``, letters: systems of a subgroup that share one cannot be told apart (both approaches: by limits of all
        pairs of the subgroup at once, so that a system may be the best whose Bayesian ranks, of itself alone, begin at 2);
        ``status`` (``ok``, ``imputed``: from the model alone, ``single``: no limits, ``degenerate``: limits without a width,
        ``undefined``) and ``reason``. Along
        ``subgroup``: ``items`` that all systems have. Along ``approach``: ``usable``, ``method`` of the limits of values. NaN where
        there is no such number.

    Raises
    ------
    InputError
        If the level is not between 0 and 1, or an order cannot be meant.
    SchemaError
        If ``source`` is no tally of systems.

    Notes
    -----
    Items that a system lacks are left out of all values here, so that all systems are asked the same. Whether two systems can be
    told apart is read from their difference, never from whether two intervals overlap. Systems that cannot be told apart are not
    shown to be equal.

    References
    ----------
    Mogstad, Romano, Shaikh, Wilhelm (2024), https://doi.org/10.1093/restud/rdad006 (ranks from tests of pairs).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": list("fm") * 20, "new": [1] * 36 + [0] * 4, "old": [1, 0, 0, 1] * 10, "base": [0] * 40})
    >>> board = bg.leaderboard(bg.paired_tally(rows, by=["sex"], systems=["base", "old", "new"]))
    >>> board["tie"].sel(approach="frequentist", subgroup="(all)").values.tolist()
    ['c', 'b', 'a']
    """
    return board_of(source, level, "holm", "newcombe", orders_of("leaderboard", ordered, cyclic), seed)


def board_of(
    source: xr.Dataset, level: float, correction: SystemCorrection, interval: PairedInterval, orders: Orders, seed: int
) -> xr.Dataset:
    """The order of systems, with letters by limits that hold for what the correction counts; errors as in `leaderboard`."""
    tail(level)  # refuses a level outside (0, 1)
    systems = open_systems(source)
    answers, basis = both_answers(
        systems, np.arange(len(systems.first)), level=level, interval=interval, correction=correction, pooling="crossed",
        orders=orders, overall=True, seed=seed,
    )  # fmt: skip
    limits, value = basis.values.limits(level), systems.tally.sel(metric=systems.names[0])
    # Normal draws, and t limits of few items or clusters, reach beyond what a rate can be.
    ends = float(value["range_lower"]), float(value["range_upper"])
    lower, upper = (np.clip(side.T, *ends) for side in (limits.lower, limits.upper))
    shape = (basis.draws.shape[-1], len(systems.names))
    tables = {
        "bayesian": _of_draws(basis.draws, systems.sign, level, ends),
        "frequentist": {
            "estimate": basis.values.estimate.T, "lower": lower, "upper": upper,
            "probability_best": np.full(shape, np.nan),
        },
    }  # fmt: skip
    dims = ("approach", "subgroup", "system")
    for approach, table in tables.items():
        for name in ("rank", "rank_lower", "rank_upper", "may_be_best"):
            table.setdefault(name, np.full(shape, np.nan))
        letters = np.full(shape, "", dtype=object)
        for g in np.flatnonzero(np.isfinite(table["estimate"]).all(axis=1)):
            better = _better(answers[approach], systems, int(g))
            if approach == "frequentist":
                table["rank"][g] = rank(systems.sign * table["estimate"][g])
                table["rank_lower"][g], table["rank_upper"][g] = rank_limits(better)
            table["may_be_best"][g] = ~better.any(axis=0)
            letters[g] = tie_letters(better, rank(systems.sign * table["estimate"][g]))
        table["tie"] = letters.astype(str)
    data: dict[str, Any] = {
        name: (dims, np.stack([table[name] for table in tables.values()])) for name in (*NUMBERS, "may_be_best", "tie")
    }
    told = [_told(table, basis.values.items) for table in tables.values()]
    data["status"], data["reason"] = ((dims, np.stack([each[i] for each in told])) for i in (0, 1))
    data["items"] = ("subgroup", basis.values.items)
    data["usable"] = ("approach", np.array([basis.usable, 1], dtype=np.int8))
    data["method"] = ("approach", np.array([basis.method, "wilson" if basis.values.rates else "t"]))
    coordinates = {"approach": list(tables), "subgroup": everyone(systems.labels), "system": systems.names}
    attrs = {
        "level": level,
        "estimand": "superpopulation value of every system, over the population that the items come from",
        "larger_is_better": int(systems.sign > 0),
        **({"note": basis.failures} if basis.failures else {}),
    }
    return xr.Dataset(data, coordinates, attrs)


def _told(table: Mapping[str, FloatArray], items: FloatArray) -> tuple[TextArray, TextArray]:
    """Status and reason (subgroup, system): a model answers also where no item is there for all systems to answer."""
    answered, limited = (np.isfinite(table[name]) for name in ("estimate", "lower"))
    empty = np.broadcast_to(~(items > 0)[:, None], answered.shape)
    choices = [empty & answered, ~answered, ~limited, table["lower"] == table["upper"]]
    status = np.select(choices, ["imputed", "undefined", "single", "degenerate"], "ok")
    reasons = {
        "imputed": "no item that all systems have: the model alone answers", "single": "one item or cluster, so no limits",
        "degenerate": "all items or clusters have one value, so that the limits have no width and claim to know",
    }  # fmt: skip
    reason = np.vectorize(lambda word: reasons.get(word, ""), otypes=[object])(status)
    reason[(status == "undefined") & empty] = "no item that all systems have"
    return status, reason.astype(str)


def _of_draws(draws: FloatArray, sign: int, level: float, ends: tuple[float, float]) -> dict[str, FloatArray]:
    """Values between the ends of the range, and ranks, of draws (draw, system, subgroup), each (subgroup, system)."""
    at = [(1 - level) / 2, (1 + level) / 2]
    values = np.clip(draws, *ends)
    lower, upper = np.quantile(values, at, axis=0)
    ranks = np.stack(
        [rank_summaries([sign * draws[..., g]], len(draws), draws.shape[1], level) for g in range(draws.shape[-1])],
        axis=1,
    )
    return {
        "estimate": values.mean(axis=0).T, "lower": lower.T, "upper": upper.T, "rank": ranks[0], "rank_lower": ranks[1],
        "rank_upper": ranks[2], "probability_best": ranks[4],
    }  # fmt: skip


def _better(answer: Answer, systems: Systems, g: int) -> BoolArray:
    """Pairs (system, system) of a subgroup of which the row is shown to be better than the column."""
    shown = systems.sign * answer.shown[:, g]
    better = np.zeros((len(systems.names), len(systems.names)), dtype=bool)
    for first, second, side in zip(systems.first, systems.second, shown, strict=True):
        better[first, second], better[second, first] = side > 0, side < 0
    return better
