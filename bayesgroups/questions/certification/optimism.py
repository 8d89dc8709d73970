"""Optimist and pessimist: up to which value a system is fair to everyone, and from which it is certified to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.certification import multiplicity, worst
from bayesgroups.questions.certification.bounds import Choice
from bayesgroups.questions.certification.multiplicity import Correction
from bayesgroups.questions.certification.one_sided import evidence, method, one_sided
from bayesgroups.questions.certification.overlapping import open_table
from bayesgroups.questions.certification.standards import standards_of
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed
from bayesgroups.tallies.subgroups import with_attributes

PROBABILITIES = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Along ``probability``: how sure one may want to be that every subgroup reaches a value."""


@renamed_keyword("part", "using")
@checked_keywords
def certify(
    source: xr.Dataset | xr.DataTree,
    *,
    level: float = 0.95,
    correction: Correction = "none",
    critical_value: float | None = None,
    interval: Choice = "auto",
    standards: float | Sequence[float] | None = None,
    margins: bool = False,
    order: int | None = None,
    using: Using = "auto",
    larger_is_better: bool | None = None,
    imputed: Imputed = "leave_out",
    seed: int = 0,
) -> xr.Dataset:
    """Say how good a system is for its worst subgroup, giving it or denying it the benefit of the doubt.

    Estimand: the value of a metric in the subgroup where it is worst. The optimist believes that every subgroup reaches a
    standard until one is shown not to: ``optimist`` is the best standard that no subgroup is shown to miss. The pessimist
    believes so only when every subgroup is shown to: ``pessimist`` is the best standard that all are shown to reach.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally, margins or a report.
    level : float
        One-sided confidence, or posterior probability.
    correction : {"none", "bonferroni", "holm", "simultaneous"}
        Of limits and p-values, for the number of subgroups. Without one the optimist errs more often the more subgroups
        there are; the pessimist needs none (see Notes). ``simultaneous`` uses what is known of the dependence: nothing is
        shared by intersections (Sidak), margins share rows (multiplier bootstrap), draws are taken as they are.
    critical_value : float, optional
        Replaces the quantile of the level; 1.64 is published, and with it rates get the published Wald limits.
    interval : str
        Limits of a tally: ``wald``, ``wilson``, ``jeffreys``, ``clopper_pearson`` for rates, ``pooled_t``,
        ``pooled_normal``, ``separate_normal`` for every metric. ``auto`` is Clopper-Pearson for rates, pooled t for means.
        ``anytime``, for rates and means of rows, holds at all looks at a growing tally together.
    standards : float or sequence of float, optional
        Values of the metric to decide about, 0.75 for a rate of 75 percent. One alone is a requirement, so all metrics must
        have one direction; several are decided about one by one.
    margins : bool
        Ask of every margin as well as of the intersections, see `bayesgroups.margins`.
    order : int, optional
        Most attributes of a margin.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.
    larger_is_better : bool, optional
        Replaces the direction of all metrics. Counts whose metric has no known name are taken for errors.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    seed : int
        Source of randomness of simulated critical values.

    Returns
    -------
    xr.Dataset
        Along ``metric``:

        - ``optimist``, ``pessimist``, clipped to the range of the metric, and ``optimist_unclipped``,
          ``pessimist_unclipped``; ``pessimist_uncorrected``, which is enough for one statement about all,
        - ``optimist_subgroup``, ``pessimist_subgroup``: the subgroup that decides, the one with the fewest rows where
          several do, with its denominator ``optimist_count``, ``pessimist_count``,
        - ``worst``, ``worst_subgroup``: the worst estimate and whose it is,
        - ``estimand``, ``interval_kind``, ``interval_method``, ``critical_value``, ``groups`` (that take part), ``left_out``
          (names and reasons of those that do not).

        Along ``metric`` and ``subgroup``: ``estimate``, ``count``, one-sided ``lower`` and ``upper`` (not clipped), ``status``
        (``degenerate`` where the limits coincide, which is no certainty), ``reason``, ``included`` (0 where the subgroup takes no
        part; its numbers are NaN), and ``optimist_critical``, ``pessimist_critical`` for all that tie.

        With ``standards``, along ``standard``: ``reaches(metric, standard)``, 1 where the pessimist certifies it;
        ``misses(metric, standard)``, 1 where the optimist denies it; and along ``subgroup`` too the adjusted p-values ``p_below``
        (small: it misses) and ``p_above`` (small: it reaches the standard or better, counted in the direction that is good).

        From a posterior: ``worst_median``; ``probability_worst(metric, subgroup)``; ``certified(metric, probability)``,
        the best standard that all reach with that probability; with ``standards`` ``probability_all`` and, per subgroup,
        ``probability_reached`` instead of p-values. ``interval="jeffreys"`` gives ``certified`` and ``probability_all`` of
        a tally of rates exactly, for independent priors. The attribute ``note`` is there where the direction of a metric was
        assumed, because neither its name nor ``larger_is_better`` gives it.

    Raises
    ------
    InputError
        If a setting does not exist or does not suit the metric, a standard is outside the range of a metric, one standard is
        for metrics of both directions, or both a correction and a critical value are given.
    SchemaError
        If ``source`` is neither a tally, margins nor a report.

    Notes
    -----
    With :math:`U_G, L_G` the one-sided limits of subgroup G and larger values better, the optimist says min U and the
    pessimist min L; where larger is worse, max L and max U. The optimist's is a union-intersection test, whose error grows
    with the number of subgroups; the pessimist's is an intersection-union test, which rejects only if all do and keeps its
    level uncorrected. Wald limits of 0 or 1 have no width, and raw ones may fall when a metric rises; exact ones do neither.
    From a posterior both are quantiles of the worst value itself, and no correction changes them. Where many small
    subgroups have independent flat priors that worst value is too low; use an estimator that pools.

    References
    ----------
    Himmelreich, Hsu, Lum, Veomett, The Intersectionality Problem for Algorithmic Fairness, Eqs 4 and 5,
    https://doi.org/10.48550/arXiv.2411.02569; Berger (1982), doi:10.1080/00401706.1982.10487790 (intersection-union tests).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"site": ["a", "b", "c", "d"]})
    >>> counts = bg.tally_from_counts([90, 27, 9, 2], [100, 30, 12, 2], who, metric="acc")
    >>> found = bg.certify(counts, critical_value=1.64).sel(metric="acc")
    >>> [(round(float(found[name]), 6), str(found[f"{name}_subgroup"].values)) for name in ("optimist", "pessimist")]
    [(0.9492, 'a'), (0.545, 'c')]
    >>> exact = bg.certify(counts).sel(metric="acc")
    >>> round(float(exact["pessimist"]), 6), str(exact["pessimist_subgroup"].values)
    (0.223607, 'd')
    """
    tail(level)  # refuses a level outside (0, 1)
    if critical_value is not None and correction != "none":
        raise InputError("give critical_value= or correction=: the first replaces the quantile that the second chooses")
    opened = open_table(
        source,
        using,
        with_margins=margins,
        order=order,
        larger_is_better=larger_is_better,
        imputed=imputed,
        targets=True,
    )
    asked = None if standards is None else standards_of(standards, opened.metrics)
    tables = []
    for numbers in opened.metrics:
        rng = generator(seed, numbers.metric, "certification")
        chosen = method(numbers, interval, critical_value)
        limit = one_sided(
            numbers, level=level, correction=correction, interval=chosen, critical_value=critical_value, rng=rng
        )
        plain = limit
        if correction != "none":
            plain = one_sided(numbers, level=level, correction="none", interval=chosen, critical_value=None, rng=rng)
        data = {
            **_subgroups(numbers, limit.lower, limit.upper),
            "estimand": numbers.estimand,
            "interval_kind": limit.kind,
            "interval_method": limit.method,
            "critical_value": limit.critical_value,
            "usable": np.int8(numbers.usable),
        }
        data |= _critical(
            numbers, *_ends(numbers, limit.lower, limit.upper), _ends(numbers, plain.lower, plain.upper)[1]
        )
        if numbers.using == "posterior":
            data |= _posterior(numbers, level, asked)
        else:
            data |= _tested(numbers, chosen, correction, level, asked)
            if chosen == "jeffreys" and numbers.using == "tally":
                data |= _jeffreys(numbers, asked)
        coordinates = {"probability": list(PROBABILITIES)} | ({} if asked is None else {"standard": asked})
        tables.append(xr.Dataset(data, coords=coordinates))
    joined = xr.concat(tables, dim="metric", data_vars="all", join="exact", fill_value=np.nan)
    assert isinstance(joined, xr.Dataset)  # xarray's own types leave it open
    attrs = {
        "level": level,
        "correction": correction,
        "using": opened.using,
        "margins": int(margins),
        "imputed": imputed,
    }
    return with_attributes(joined, opened.coordinates).assign_attrs(attrs | opened.direction)


def _ends(numbers: Values, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits turned so that smaller is worse: the one that hopes and the one that fears."""
    return (upper, lower) if numbers.sign > 0 else (-lower, -upper)


def _subgroups(numbers: Values, lower: FloatArray, upper: FloatArray) -> dict[str, Any]:
    flat = numbers.included & (upper - lower <= 0)
    return {
        "estimate": ("subgroup", numbers.sample.estimate),
        "count": ("subgroup", numbers.sample.count),
        "lower": ("subgroup", lower),
        "upper": ("subgroup", upper),
        "status": ("subgroup", np.where(flat, "degenerate", numbers.status)),
        "reason": ("subgroup", numbers.reason),
        "included": ("subgroup", numbers.included.astype(np.int8)),
        "groups": int(numbers.included.sum()),
        "left_out": numbers.left_out,
    }


def _critical(numbers: Values, hope: FloatArray, fear: FloatArray, plain: FloatArray) -> dict[str, Any]:
    """The worst subgroup by its estimate and by either limit."""
    data: dict[str, Any] = {}
    for name, limit in (("optimist", hope), ("pessimist", fear), ("worst", numbers.sign * numbers.sample.estimate)):
        smallest = worst.critical(limit, numbers.sample.count)
        value = numbers.sign * smallest.value
        data[f"{name}_subgroup"] = str(numbers.labels[smallest.position]) if smallest.position >= 0 else ""
        if name == "worst":
            data["worst"] = value
            continue
        data[f"{name}_unclipped"] = value
        data[name] = float(np.clip(value, *numbers.range))
        data[f"{name}_count"] = (
            float(numbers.sample.count[smallest.position]) if smallest.position >= 0 else float("nan")
        )
        data[f"{name}_critical"] = ("subgroup", smallest.tied.astype(np.int8))
    uncorrected = numbers.sign * worst.critical(plain, numbers.sample.count).value
    data["pessimist_uncorrected"] = float(np.clip(uncorrected, *numbers.range))
    return data


def _tested(
    numbers: Values, interval: str, correction: Correction, level: float, standards: FloatArray | None
) -> dict[str, Any]:
    """Decisions about standards by p-values."""
    if standards is None:
        return {}
    below, above, misses, reaches = [], [], [], []
    for standard in standards:
        at_least, at_most = evidence(numbers, interval, float(standard))
        against, in_favour = (at_least, at_most) if numbers.sign > 0 else (at_most, at_least)
        against, in_favour = (np.where(numbers.included, p, np.nan) for p in (against, in_favour))
        below.append(multiplicity.adjust(against, correction))
        above.append(multiplicity.adjust(in_favour, correction))
        misses.append(bool((below[-1][numbers.included] <= 1 - level).any()))
        reaches.append(bool(numbers.included.any() and (in_favour[numbers.included] <= 1 - level).all()))
    cell = ("standard", "subgroup")
    return {
        "p_below": (cell, np.stack(below)),
        "p_above": (cell, np.stack(above)),
        "misses": ("standard", np.array(misses, dtype=np.int8)),
        "reaches": ("standard", np.array(reaches, dtype=np.int8)),
    }


def _posterior(numbers: Values, level: float, standards: FloatArray | None) -> dict[str, Any]:
    """Statements about the worst value itself, which replace those from limits of single subgroups."""
    assert numbers.draws is not None, "a posterior has draws"
    some = numbers.included
    best = np.full(some.shape, np.nan)
    data: dict[str, Any] = {"certified": ("probability", np.full(len(PROBABILITIES), np.nan))}
    if some.any():
        lowest, times = [], np.zeros(int(some.sum()))
        reaching = np.zeros((0 if standards is None else len(standards), len(times)))
        for part in numbers.oriented():
            lowest.append(worst.of_draws(part))
            times += worst.times_worst(part)
            for i, standard in enumerate(() if standards is None else standards):
                reaching[i] += (part >= numbers.sign * standard).sum(axis=0)
        smallest = np.concatenate(lowest)
        fear, middle, hope = numbers.sign * np.quantile(smallest, [1 - level, 0.5, level])
        data = {"certified": ("probability", numbers.sign * np.quantile(smallest, [1 - at for at in PROBABILITIES]))}
        for name, value in (("optimist", hope), ("pessimist", fear)):
            data[f"{name}_unclipped"] = float(value)
            data[name] = float(np.clip(value, *numbers.range))
        data["pessimist_uncorrected"] = data["pessimist"]
        data["worst_median"] = float(middle)
        best[some] = times / len(numbers.draws)
        if standards is not None:
            reached = np.full((len(standards), len(some)), np.nan)
            reached[:, some] = reaching / len(numbers.draws)
            everyone = worst.probability_all(smallest, numbers.sign * standards)
            data |= {
                "probability_reached": (("standard", "subgroup"), reached),
                "probability_all": ("standard", everyone),
                "reaches": ("standard", (everyone >= level).astype(np.int8)),
                "misses": ("standard", (everyone <= 1 - level).astype(np.int8)),
            }
    data["probability_worst"] = ("subgroup", best)
    return data


def _jeffreys(numbers: Values, standards: FloatArray | None) -> dict[str, Any]:
    """The same for independent Jeffreys priors, without draws."""
    some = numbers.included
    hits, trials = numbers.sample.successes[some], numbers.sample.count[some]
    if numbers.sign < 0:  # the largest rate is one less the smallest share of failures
        hits = trials - hits
    certified = np.full(len(PROBABILITIES), np.nan)
    everyone = None if standards is None else np.full(len(standards), np.nan)
    if some.any():
        smallest = np.array([worst.jeffreys_quantile(hits, trials, 1 - at) for at in PROBABILITIES])
        certified = smallest if numbers.sign > 0 else 1 - smallest
        if standards is not None:
            everyone = worst.jeffreys_all(hits, trials, standards if numbers.sign > 0 else 1 - standards)
    data: dict[str, Any] = {"certified": ("probability", certified)}
    return data if everyone is None else {**data, "probability_all": ("standard", everyone)}
