"""Desiderata of a definition of fairness across subgroups, as checks of any definition on any table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import published
from bayesgroups.questions.certification.bounds import limits
from bayesgroups.questions.certification.multiplicity import critical_value
from bayesgroups.questions.certification.overlapping import open_table
from bayesgroups.questions.subgroup_values import Sample

Judge = Callable[[FloatArray, FloatArray, float], float]
"""Unfairness from values (subgroup,), sizes (subgroup,) and the value over everyone."""

CHECKS = ("minimal_justice", "consistent_conceptualisation", "data_not_punished", "errors_not_rewarded")
SIZE_FACTOR = 1e9
"""Factor on sizes at which a definition is seen without sampling error."""
MORE_DATA = (2.0, 10.0, 100.0)
"""Factors by which a subgroup grows."""
NEGLIGIBLE = 1e-4
"""Largest change that counts as none: limits still move that little at sizes times `SIZE_FACTOR`."""


@dataclass(frozen=True)
class Definition:
    """A definition of fairness: values are fair where ``unfairness(values, sizes, overall)`` is at most ``tolerance``.

    Values are rates of which larger ones are better.
    """

    name: str
    unfairness: Judge
    tolerance: float


@dataclass(frozen=True)
class _Trial:
    """One change of one subgroup and the unfairness before and after."""

    subgroup: int
    before: float
    after: float
    failed: bool


def definitions(tolerance: float = 0.05, *, standard: float = 0.8, level: float = 0.95) -> tuple[Definition, ...]:
    """Published definitions, and the optimist's and the pessimist's by raw, clipped and exact limits.

    Parameters
    ----------
    tolerance : float
        Of the gaps and the log ratio; also the share of people that may be in subgroups beyond it.
    standard : float
        What the optimist and the pessimist hold every subgroup to.
    level : float
        Their one-sided confidence.

    Returns
    -------
    tuple of Definition

    Examples
    --------
    >>> [one.name for one in definitions()][:3]
    ['equality_gap', 'size_weighted_gap', 'differential_ratio']
    """
    z = critical_value("none", level, 1)
    gaps: dict[str, Judge] = {
        "equality_gap": lambda m, n, overall: float(published.equality_gap(m, overall)),
        "size_weighted_gap": lambda m, n, overall: float(published.size_weighted_gap(m, n / n.sum(), overall)),
        "differential_ratio": lambda m, n, overall: float(published.differential_ratio(m)),
        "share_beyond": lambda m, n, overall: float(published.share_beyond(m, n / n.sum(), overall, tolerance)),
    }
    every = [Definition(name, unfairness, tolerance) for name, unfairness in gaps.items()]
    kinds = (("raw", "wald", False), ("clipped", "wald", True), ("exact", "clopper_pearson", True))
    for word, interval, clipped in kinds:
        for side in ("optimist", "pessimist"):
            every.append(Definition(f"{side}_{word}", _limit(side, interval, z, clipped=clipped), 1 - standard))
    return tuple(every)


def desiderata(definition: Definition, tally: xr.Dataset) -> xr.Dataset:
    """Check what may be required of a definition of fairness, and say in which subgroups of a table it fails.

    Estimand: none; the definition is tried on changed copies of the table.

    Parameters
    ----------
    definition : Definition
        One of `definitions`, or one's own.
    tally : xr.Dataset
        A tally of rates; where larger is worse, 1 - rate is judged.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``check``: ``satisfied`` (1 or 0) and ``sentence``; along ``subgroup`` too: ``fails`` (1 or 0),
        ``before`` and ``after``, the unfairness without and with the change that tells most against the definition. Checks:

        - ``minimal_justice``: the same value of a subgroup is as unfair whether it is as small as the smallest of the table
          or as large as the largest, everyone else being at the value of all, without sampling error,
        - ``consistent_conceptualisation``: no subgroup is exempt: with the worst possible value, everyone else being at the
          value of all, it makes the table unfair, without sampling error,
        - ``data_not_punished``: 2, 10 or 100 times the rows of one subgroup, with the same values, are not more unfair,
        - ``errors_not_rewarded``: making right decisions in one subgroup wrong (one of them, half, all) is not less unfair.

    Raises
    ------
    InputError
        If a metric is no rate.
    SchemaError
        If it is not a tally.

    Notes
    -----
    The last two are incentive compatibility. Where more rows confirm an estimate, the optimist's limit falls, so that he does
    punish data in the critical subgroup at a fixed value; the pessimist's rises. Raw Wald limits have no width at 0 and 1,
    so that there errors can be rewarded.

    References
    ----------
    Himmelreich, Hsu, Lum, Veomett, The Intersectionality Problem for Algorithmic Fairness,
    https://doi.org/10.48550/arXiv.2411.02569.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.certification import definitions, desiderata
    >>> counts = bg.tally_from_counts([850, 3], [1000, 10], pd.DataFrame({"site": ["a", "b"]}), metric="acc")
    >>> found = desiderata(definitions()[1], counts)
    >>> dict(zip(found["check"].values.tolist(), found["satisfied"].values[0].tolist()))["minimal_justice"]
    0
    """
    opened = open_table(tally, "tally")
    tables = []
    for numbers in opened.metrics:
        if numbers.kind != "rate":
            raise InputError(f"metric {numbers.metric!r} is no rate; the checks change shares of right decisions")
        some = numbers.included
        value = numbers.sample.estimate[some]
        value = value if numbers.sign > 0 else 1 - value
        tables.append(_table(definition, value, numbers.sample.count[some], numbers.labels, some))
    attrs = {"definition": definition.name, "tolerance": definition.tolerance, **opened.noted}
    return opened.answer(tables, attrs).assign_coords(check=list(CHECKS))


def _table(
    definition: Definition, value: FloatArray, size: FloatArray, labels: NDArray[np.str_], some: NDArray[np.bool_]
) -> xr.Dataset:
    tried = (_same_standard, _no_exception, _more_data, _more_errors)
    fails = np.zeros((len(CHECKS), len(some)), dtype=np.int8)
    before, after = (np.full(fails.shape, np.nan) for _ in range(2))
    sentences = []
    place = np.flatnonzero(some)
    for i, trial in enumerate(tried):
        telling = [(False, -1.0)] * len(some)
        for outcome in trial(definition, value, size) if len(value) else ():
            at = place[outcome.subgroup]
            change = (
                0.0
                if outcome.before == outcome.after
                else float(np.nan_to_num(abs(outcome.after - outcome.before), nan=SIZE_FACTOR))
            )
            if (outcome.failed, change) > telling[at]:
                telling[at] = (outcome.failed, change)
                fails[i, at], before[i, at], after[i, at] = outcome.failed, outcome.before, outcome.after
        failing = np.flatnonzero(fails[i])
        sentence = f"fails in {len(failing)} of {len(value)} subgroups"
        if len(failing):
            first = failing[0]
            sentence += f", e.g. {labels[first]} ({before[i, first]:.4g} to {after[i, first]:.4g})"
        sentences.append(sentence)
    cell = ("check", "subgroup")
    return xr.Dataset(
        {
            "satisfied": ("check", (fails.sum(axis=1) == 0).astype(np.int8)),
            "sentence": ("check", np.array(sentences)),
            "fails": (cell, fails),
            "before": (cell, before),
            "after": (cell, after),
        }
    )


def _same_standard(definition: Definition, value: FloatArray, size: FloatArray) -> Iterator[_Trial]:
    overall = float((value * size).sum() / size.sum())
    for group in range(len(value)):
        tested = np.full(len(value), overall)
        tested[group] = value[group]
        unfairness = []
        for rows in (size.min(), size.max()):
            sizes = size.copy()
            sizes[group] = rows
            unfairness.append(definition.unfairness(tested, sizes * SIZE_FACTOR, overall))
        small, large = unfairness
        yield _Trial(group, small, large, small != large and not abs(small - large) <= NEGLIGIBLE)


def _no_exception(definition: Definition, value: FloatArray, size: FloatArray) -> Iterator[_Trial]:
    overall = float((value * size).sum() / size.sum())
    everyone = definition.unfairness(np.full(len(value), overall), size * SIZE_FACTOR, overall)
    for group in range(len(value)):
        tested = np.full(len(value), overall)
        tested[group] = 0.0
        unfairness = definition.unfairness(tested, size * SIZE_FACTOR, overall)
        yield _Trial(group, everyone, unfairness, not unfairness > definition.tolerance)


def _more_data(definition: Definition, value: FloatArray, size: FloatArray) -> Iterator[_Trial]:
    overall = float((value * size).sum() / size.sum())
    before = definition.unfairness(value, size, overall)
    for group in range(len(value)):
        for factor in MORE_DATA:
            sizes = size.copy()
            sizes[group] *= factor
            after = definition.unfairness(value, sizes, overall)
            yield _Trial(group, before, after, after > before + NEGLIGIBLE)


def _more_errors(definition: Definition, value: FloatArray, size: FloatArray) -> Iterator[_Trial]:
    overall = float((value * size).sum() / size.sum())
    before = definition.unfairness(value, size, overall)
    for group in range(len(value)):
        rate = value[group]
        for changed in sorted({max(rate - 1 / size[group], 0.0), rate / 2, 0.0}, reverse=True):
            values = value.copy()
            values[group] = changed
            after = definition.unfairness(values, size, float((values * size).sum() / size.sum()))
            yield _Trial(group, before, after, after < before - NEGLIGIBLE)


def _limit(side: str, interval: str, z: float, *, clipped: bool) -> Judge:
    """Distance of the optimist's or pessimist's value from 1."""

    def unfairness(values: FloatArray, sizes: FloatArray, overall: float) -> float:
        nothing = np.full(values.shape, np.nan)
        one_sided = limits(Sample(values, sizes, values * sizes, nothing, nothing, float("nan")), interval, z)
        lowest = float((one_sided.upper if side == "optimist" else one_sided.lower).min())
        return 1 - (min(max(lowest, 0.0), 1.0) if clipped else lowest)

    return unfairness
