"""Differences between systems on the same items, by subgroup and approach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.estimators.level_orders import orders_of
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.frequentist.paired_systems import Differences, PairedInterval
from bayesgroups.questions.systems.answers import both_answers
from bayesgroups.questions.systems.differences import Answer, SystemCorrection
from bayesgroups.questions.systems.pairs import PairChoice, Pooling, chosen_pairs, everyone, open_systems

NUMBERS = (
    "difference", "std_error", "lower", "upper", "band_lower", "band_upper", "p_value", "p_adjusted", "probability_better",
)  # fmt: skip
ESTIMAND = "difference between the superpopulation values of two systems, over the population that the items come from"


@checked_keywords
def compare_systems(
    source: xr.Dataset, pairs: PairChoice = "auto", *, level: float = 0.95, correction: SystemCorrection = "holm",
    interval: PairedInterval = "newcombe", pooling: Pooling = "crossed",
    ordered: Sequence[str] | Mapping[str, Sequence[str]] = (), cyclic: Sequence[str] = (), overall: bool = False, seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Compare systems on the same items: is the first of a pair better, by how much, how surely, and for whom.

    Estimand: the difference between the values of two systems in a subgroup, over the population that its items come from.

    Parameters
    ----------
    source : xr.Dataset
        A tally of systems, see `bayesgroups.paired_tally`.
    pairs : {"auto", "baseline", "all"}
        Pairs with the baseline of the tally, or all; ``auto`` takes the baseline where there is one.
    level : float
        Probability of the intervals.
    correction : {"holm", "holm_all", "none"}
        Adjustment of p-values for the pairs of a subgroup, for all pairs and subgroups, or none; bands hold for the same pairs.
    interval : {"newcombe", "tango", "wald"}
        Frequentist limits of right and wrong answers; ``wald`` is for large samples. Means have t limits.
    pooling : {"crossed", "none"}
        Prior of two systems with right and wrong answers: subgroups borrow strength from each other, or each subgroup has a
        Dirichlet prior of its own.
    ordered : sequence of str, or mapping from str to sequence of str
        Attributes whose levels have an order, in that of the tally or as named: a share of what crosses one follows it, as in
        `bayesgroups.CrossedEffects`. The frequentist side has no use of it.
    cyclic : sequence of str
        Ordered attributes whose last level is beside the first.
    overall : bool
        Add a last subgroup ``(all)``: everyone, each item of the tally with the same weight.
    seed : int
        Source of all randomness.

    Returns
    -------
    xr.Dataset
        Along ``approach`` (``bayesian``, ``frequentist``), ``pair`` (with coordinates ``first``, ``second``) and ``subgroup``:
        ``difference``, first - second (Bayesian: posterior mean), ``std_error``, ``lower``, ``upper``, ``band_lower``,
        ``band_upper`` (limits that hold for all pairs of the subgroup together), ``status`` (``ok``, ``imputed``: from the model
        alone, ``single``: no limits, ``undefined``) and ``reason``. Frequentist: ``p_value`` (McNemar's mid-p, or of t),
        ``p_adjusted``. Bayesian: ``probability_better`` of the first system. Along ``pair`` and ``subgroup``: ``items`` that both
        systems have, ``discordant`` ones that one system has right and the other one wrong. Along ``approach``: ``usable``,
        ``method``. NaN where there is no such number.

    Raises
    ------
    InputError
        If a setting does not exist, the tally has no baseline that is asked for, ``pooling="none"`` does not suit it, or an order
        cannot be meant.
    SchemaError
        If ``source`` is no tally of systems.

    Notes
    -----
    Right and wrong answers of two systems: of the items a share D is discordant, and in a share T of these the first system is
    right, so that the difference is D (2 T - 1). Counts say nothing of one that they do not say of the other, and both have a
    crossed prior of their own; systems in the other order give the mirrored answer, to the byte. More systems, means and
    clusters: values of all systems with the covariance that the items give them, a normal likelihood.

    An interval that holds 0 does not say that two systems are equal; in one of twenty subgroups a system is "better" by chance.

    References
    ----------
    Fagerland, Lydersen, Laake (2013), doi:10.1186/1471-2288-13-91 (tests); (2014), doi:10.1002/sim.6148 (intervals); Holm
    (1979), https://www.jstor.org/stable/4615733.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f"] * 21, "new": [1, 1] + [0] * 19, "old": [1, 0] + [1] * 7 + [0] * 12})
    >>> pairs = bg.paired_tally(rows, by=["sex"], systems=["new", "old"])
    >>> answer = bg.compare_systems(pairs).isel(pair=0, subgroup=0).sel(approach="frequentist")
    >>> [round(float(answer[name]), 4) for name in ("difference", "lower", "upper", "p_value")]
    [-0.2857, -0.5069, -0.0256, 0.0391]
    """
    tail(level)  # refuses a level outside (0, 1)
    systems = open_systems(source)
    chosen = chosen_pairs(systems, pairs)
    answers, about = both_answers(
        systems,
        chosen,
        level=level,
        interval=interval,
        correction=correction,
        pooling=pooling,
        orders=orders_of("compare_systems", ordered, cyclic),
        overall=overall,
        seed=seed,
    )
    both, dims = about.differences, ("approach", "pair", "subgroup")
    data: dict[str, Any] = {
        name: (dims, np.stack([getattr(answer, name) for answer in answers.values()])) for name in NUMBERS
    }
    told = [_told(answer, both) for answer in answers.values()]
    data["status"], data["reason"] = ((dims, np.stack([each[i] for each in told])) for i in (0, 1))
    data["items"], data["discordant"] = (("pair", "subgroup"), both.items), (("pair", "subgroup"), both.discordant)
    data["usable"] = ("approach", np.array([about.usable, 1], dtype=np.int8))
    data["method"] = ("approach", np.array([about.method, about.reference(interval)]))
    labels = everyone(systems.labels) if overall else systems.labels
    coordinates = {
        "approach": list(answers), "pair": source["pair"].values[chosen], "subgroup": labels,
        "first": ("pair", source["first"].values[chosen]), "second": ("pair", source["second"].values[chosen]),
    }  # fmt: skip
    attrs = {
        "level": level, "correction": correction, "interval": interval, "pooling": pooling, "estimand": ESTIMAND,
        **({"note": about.failures} if about.failures else {}),
    }  # fmt: skip
    return xr.Dataset(data, coordinates, attrs)


def _told(answer: Answer, both: Differences) -> tuple[np.ndarray, np.ndarray]:
    """Status and reason of every pair and subgroup."""
    status = np.full(answer.difference.shape, "ok", dtype="<U9")
    reason = np.empty(answer.difference.shape, dtype=object)
    for place in np.ndindex(*status.shape):
        reasons = []
        if not both.items[place]:
            status[place] = "imputed" if np.isfinite(answer.difference[place]) else "undefined"
            reasons.append("no item that both systems have")
        elif not np.isfinite(answer.difference[place]):
            status[place] = "undefined"
            reasons.append("nothing varies between the items, so there is no error")
        elif not np.isfinite(answer.lower[place]):
            status[place] = "single"
            reasons.append("one item or cluster, so no limits")
        elif both.discordant[place] == 0:
            reasons.append("no discordant item")
        if both.unmatched[place]:
            reasons.append(f"{both.unmatched[place]:g} items that one of the systems lacks left out")
        reason[place] = "; ".join(reasons)
    return status, reason.astype(str)
