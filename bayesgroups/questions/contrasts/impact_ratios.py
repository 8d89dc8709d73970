"""Impact ratios: rates over that of the most selected category, in a table per attribute and in one of all combinations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.certification.overlapping import ALL, open_table
from bayesgroups.questions.contrasts.answers import Answer, Asked, from_draws, from_tally
from bayesgroups.questions.contrasts.estimates import read_cells
from bayesgroups.questions.contrasts.weighing import Weighted
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Source, Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed
from bayesgroups.tallies.subgroups import attributes_of

EVERYTHING = " x "
"""Word between the attributes of the table of combinations."""
NUMBERS = ("impact_ratio", "lower", "upper", "probability_best", "probability_below")


@checked_keywords
def impact_ratios(
    source: xr.Dataset | xr.DataTree, *, attributes: Sequence[str] | None = None, threshold: float = 0.8,
    smallest_share: float = 0.0, level: float = 0.95, using: Using = "auto", imputed: Imputed = "leave_out", seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Rates of categories over that of the most selected one, separately for each attribute and for their combinations.

    Estimand: the rate of a category over the largest rate of its table, at most 1, in the superpopulation behind the rows.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally or a report of rates, such as ``sel``.
    attributes : sequence of str, optional
        Attributes that get a table of their own; all when left out. The table of all combinations comes last.
    threshold : float
        Ratio below which probabilities are given: four fifths.
    smallest_share : float
        Categories with a smaller share of the rows are shown without a ratio and are not the most selected one; 0.02 where
        a rule allows for it.
    level : float
        Probability of the intervals.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``) or its tally. Replicates of a bootstrap are refused:
        the most selected category of replicates is no replicate of the most selected one.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    seed : int
        Source of randomness; nothing is drawn at present.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``category`` (with the coordinates ``table``, ``subgroup`` and one per attribute): ``rows`` that count,
        ``share`` of the rows, ``rate``, ``impact_ratio``, ``lower``, ``upper``, ``probability_best``, ``probability_below`` the
        threshold (of a report), ``status`` and ``reason``. Along ``metric``: ``estimand``, ``interval_kind``, ``interval_method``,
        and ``usable``, 0 of a report that failed its diagnostics.

    Raises
    ------
    InputError
        If an attribute or setting does not exist, a metric is no rate, or a bootstrap is asked for.
    SchemaError
        If the source is neither a tally, margins nor a report.

    Notes
    -----
    A ratio below four fifths is generally regarded as evidence of adverse impact of a selection in the employment of the
    United States (29 CFR 1607.4 D), where smaller gaps may count when significant and larger ones may not when they rest on
    small numbers. New York City's rule (6 RCNY 5-300 to 5-304) asks for the numbers and has no threshold. None of it is a
    definition of fairness, and nothing here is a verdict: with many small categories some ratio is below four fifths nearly
    for sure where all rates are the same. A tally's limits allow for not knowing which category is the most selected
    (Hsu), and so does every draw of a posterior.

    A rule about scores counts those above the median of all: give the smallest score above it as ``threshold`` to
    `bayesgroups.tally`, which counts scores of at least that much.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
    >>> counts = bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], who, metric="sel")
    >>> ratios = bg.impact_ratios(counts).sel(metric="sel")
    >>> dict(zip(ratios["subgroup"].values[:4].tolist(), ratios["impact_ratio"].values[:4].round(3).tolist()))
    {'A | (all)': 0.619, 'B | (all)': 1.0, '(all) | f': 1.0, '(all) | m': 0.571}
    """
    tail(level)  # refuses a level outside (0, 1)
    if not 0 < threshold < 1:
        raise InputError(f"threshold={threshold!r} must lie strictly between 0 and 1, such as 0.8")
    if not 0 <= smallest_share < 1:
        raise InputError(f"smallest_share={smallest_share!r} must be 0 or larger and below 1, such as 0.02")
    if using == "bootstrap":
        raise InputError("using='bootstrap' has no most selected category; give using='tally' or 'posterior'")
    opened = open_table(source, using, with_margins=True, imputed=imputed)
    tables = _tables(opened.tally, attributes)
    places = np.concatenate(list(tables.values()))
    parts = [
        _metric(opened, i, tables, threshold, smallest_share, level, seed) for i in range(opened.tally.sizes["metric"])
    ]
    joined = xr.concat(parts, dim="metric", data_vars="all", join="exact")
    names = np.concatenate([np.full(len(at), name) for name, at in tables.items()])
    labels = opened.tally["subgroup"].values[places]
    coordinates: dict[str, object] = {
        # An attribute may have any name: those of the answer come after, and win.
        **{name: ("category", opened.tally[name].values[places]) for name in attributes_of(opened.tally)},
        "metric": opened.tally["metric"].values,
        "category": [f"{table}: {label}" for table, label in zip(names, labels, strict=True)],
        "table": ("category", names),
        "subgroup": ("category", labels),
    }
    attrs = {"level": level, "threshold": threshold, "smallest_share": smallest_share, "imputed": imputed}
    return joined.assign_coords(coordinates).assign_attrs(attrs | {"using": opened.using})


def _tables(table: xr.Dataset, attributes: Sequence[str] | None) -> dict[str, IndexArray]:
    """Positions of the categories of every table, by its name."""
    every = attributes_of(table)
    for name in attributes or ():
        if name not in every:
            raise InputError(f"attributes=: there is no attribute {name!r}; {near_misses(name, every)}")
    looks = np.stack([table[name].values != ALL for name in every])
    tables = {}
    for name in every if attributes is None else attributes:
        tables[name] = np.flatnonzero(looks[every.index(name)] & (looks.sum(axis=0) == 1))
    if len(every) > 1:
        tables[EVERYTHING.join(every)] = np.flatnonzero(looks.all(axis=0))
    # An attribute of one level is in every margin and has no table.
    kept = {name: at for name, at in tables.items() if len(at)}
    return kept or {every[0]: np.arange(table.sizes["subgroup"])}


def _metric(
    opened: Source, position: int, tables: dict[str, IndexArray], threshold: float, smallest_share: float, level: float,
    seed: int,
) -> xr.Dataset:  # fmt: skip
    values = opened.read(position)
    if values.kind != "rate":
        raise InputError(f"metric {values.metric!r} is no rate of rows, so it has no impact ratio; tally 'sel'")
    asked = Asked("ratio", level, 1, np.array([threshold]), together=False, best=True)
    columns: dict[str, list[np.ndarray]] = {
        name: [] for name in (*NUMBERS, "rows", "share", "rate", "status", "reason")
    }
    method, kind = "", ""
    for places in tables.values():
        count = np.nan_to_num(values.denominators[places])
        share = count / max(count.sum(), 1.0)
        kept = values.included[places] & (share >= smallest_share)
        weighted = _against_best(len(values.included), places, kept)
        answer = _answer(opened, values, position, weighted, asked, seed)
        numbers = answer.numbers
        columns["impact_ratio"].append(np.minimum(numbers["estimate"], 1.0))
        columns["lower"].append(np.minimum(numbers["lower"], 1.0))
        columns["upper"].append(np.minimum(numbers["upper"], 1.0))
        columns["probability_best"].append(numbers["probability_best"])
        columns["probability_below"].append(numbers["probability_beyond"][:, 0])
        columns["rows"].append(count)
        columns["share"].append(share)
        columns["rate"].append(values.sample.estimate[places])
        small = values.included[places] & ~kept
        reason = np.where(small, f"a smaller share of the rows than {smallest_share:g}", answer.reason)
        columns["reason"].append(np.where(~values.included[places], values.reason[places], reason))
        columns["status"].append(np.where(kept, answer.status, np.where(small, "left out", "not estimable")))
        method, kind = str(answer.method[0]), answer.kind
    data = {name: ("category", np.concatenate(parts)) for name, parts in columns.items()}
    labels = {"estimand": values.estimand, "interval_kind": kind, "interval_method": method}
    return xr.Dataset({**data, **labels, "usable": np.int8(values.usable)})


def _against_best(cells: int, places: IndexArray, kept: BoolArray) -> Weighted:
    """Every category of a table against the best of those that are kept."""
    over: FloatArray = np.zeros((len(places), cells))
    over[np.arange(len(places))[kept], places[kept]] = 1.0
    among = np.zeros(cells)
    among[places[kept]] = 1 / max(int(kept.sum()), 1)
    blank = np.full(len(places), np.nan)
    reason = np.where(kept, "", "left out")
    return Weighted(
        over,
        np.where(kept[:, None], among, 0.0),
        np.zeros_like(over),
        blank,
        np.ones(len(places)),
        np.zeros(len(places)),
        reason,
    )


def _answer(opened: Source, values: Values, position: int, weighted: Weighted, asked: Asked, seed: int) -> Answer:
    if values.draws is not None:
        return from_draws(values.draws, weighted, asked)
    return from_tally(
        weighted, read_cells(opened.tally, position), asked, generator(seed, values.metric, "impact ratios")
    )
