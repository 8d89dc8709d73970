"""The tally of several AI systems on the same items: pairs of answers, which rows of each system alone no longer have."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.arrays import IndexArray
from bayesgroups.data.directions import direction_of
from bayesgroups.data.frames import MISSING_LEVEL, Missing
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.metrics import Metric
from bayesgroups.data.texts import as_json, level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.paired_decisions import check_outcome, rate_of
from bayesgroups.tallies.paired_items import ItemColumns, Items, averaged, long_items, wide_items
from bayesgroups.tallies.paired_sums import STATISTICS, paired_sums
from bayesgroups.tallies.rows import tally
from bayesgroups.tallies.subgroups import attributes_of, check_attributes, of_tally

PairedMetric = Literal["correct", "mean", "sel", "tpr", "fnr", "fpr", "tnr"]
Epochs = Literal["items", "rows"]
OWN = frozenset(
    {"system", "system_other", "pair", "first_right", "second_right", "pair_statistic", "complete_statistic"}
)
"""Names that this tally uses itself, besides those of every tally."""


@checked_keywords
def paired_tally(
    frame: object, by: Sequence[str] | Mapping[str, Sequence[object] | None],
    systems: Mapping[str, str] | Sequence[str] | None = None, *, system: str | None = None, item: str | None = None,
    correct: str | None = None, loss: str | None = None, metric: PairedMetric = "correct",
    y_true: str | None = None, baseline: str | None = None,
    cluster: str | None = None, epoch: str | None = None, epochs: Epochs = "items", missing: Missing = "error",
    larger_is_better: bool | None = None,
) -> xr.Dataset:  # fmt: skip
    """Reduce the answers of several systems to the same items to sums per pair of systems and subgroup.

    Estimand: the value of every system and the differences of systems, over the population that the items come from.

    Parameters
    ----------
    frame : dataframe, str or Path
        Answers, in any frame that `bayesgroups.tally` takes, in one of two shapes. Wide: a row per item and a column per system.
        Long: a row per item and system.
    by : sequence of str, or mapping
        Columns whose combinations are the subgroups, with declared levels in a mapping, as in `bayesgroups.tally`.
    systems : mapping from names to columns, or sequence of str
        Wide: the column of each system, or columns that are the names as well. Long: systems to compare, in this order; all when
        left out.
    system : str, optional
        Long: column of the system.
    item : str, optional
        Column of the item; needed in the long shape and with ``epoch``.
    correct : str, optional
        Long: column of answers graded 1 (right) or 0.
    loss : str, optional
        Long, in place of ``correct``: column of another number per row.
    metric : {"correct", "mean", "sel", "tpr", "fnr", "fpr", "tnr"}
        Wide: whether the columns hold graded answers, other numbers, or decisions (1 or 0), of which a rate is taken; in the long
        shape it follows from the column.
    y_true : str, optional
        Column of the outcome (1 or 0), for the rates of decisions that count positives (``tpr``, ``fnr``) or negatives (``fpr``,
        ``tnr``); other rows do not count.
    baseline : str, optional
        The system that all others are compared with, second in its pairs; metrics are the differences from it alone. All pairs
        when left out.
    cluster : str, optional
        Column of clusters of items that are not independent (documents, templates).
    epoch : str, optional
        Column of repetitions of an item.
    epochs : {"items", "rows"}
        Items with repetitions: ``items`` averages the repetitions, so that every item counts once, ``rows`` counts every
        repetition that both systems have, with items as clusters.
    missing : {"error", "level", "drop"}
        What to do with items whose attribute is missing, as in `bayesgroups.tally`.
    larger_is_better : bool, optional
        Direction of a mean; smaller is taken to be better when left out. Right answers are, and rates of decisions have the
        direction of their name unless this says otherwise.

    Returns
    -------
    xr.Dataset
        A tally, whose metrics are the systems and the differences ``new - old``. Besides, for `bayesgroups.compare_systems`,
        with a copy ``overall_...`` over all subgroups: ``pair_count(pair, first_right, second_right, subgroup)``, items by
        whether the first and the second system of a pair are right (of graded answers, without clusters and repetitions);
        ``unmatched(pair, subgroup)``, items that one of both systems lacks; ``pair_sums(pair, pair_statistic, subgroup)``,
        sums of differences; ``complete``, ``system_sum``, ``system_product``, ``system_cross``, sums over the items that all
        systems have. Tallies of disjoint items add up with `bayesgroups.add_tallies`.

    Raises
    ------
    InputError
        If a column is absent, values are no numbers or no grades, an item has two rows of a system, two subgroups or two
        clusters, there is one system alone, two systems share no item, or a name is taken.

    Notes
    -----
    A missing value means that a system has no answer to an item. Such items count for the other systems and are left out of
    the pairs with this one. A crash is no wrong answer, unless it is graded 0.

    Repetitions of an item are not independent, so they are never counted as items: cells of right and wrong answers need items
    of which each has one answer.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": list("ffffmmmm"), "new": [1, 1, 1, 0, 1, 1, 0, 1], "old": [1, 0, 1, 0, 0, 1, 0, 0]})
    >>> pairs = bg.paired_tally(rows, by=["sex"], systems=["new", "old"])
    >>> pairs["pair_count"].sel(pair="new - old", first_right=1, second_right=0).values.tolist()
    [1.0, 2.0]
    >>> pairs["metric"].values.tolist()
    ['new', 'old', 'new - old']
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    check_attributes(names)
    taken = next((name for name in names if name in OWN), None)
    if taken is not None:
        raise InputError(
            f"attribute {taken!r} has a name that this tally uses itself; rename the column, e.g. {taken + '_'!r}"
        )
    if epoch is not None and item is None:
        raise InputError("epoch= needs the column of the items that are repeated; name it in item=")
    columns = ItemColumns(names, item, epoch, cluster)
    if system is None:
        if correct is not None or loss is not None:
            raise InputError(
                "correct= and loss= are columns of the long shape; name the column of the systems in system= as well"
            )
        graded, rate = metric != "mean", rate_of(metric)
        check_outcome(metric, y_true)
        items = wide_items(frame, columns, _columns_of(systems), graded=graded, rate=rate, outcome=y_true)
    else:
        if item is None or (correct is None) == (loss is None) or isinstance(systems, Mapping):
            raise InputError(
                "with system=, a row is of one item and system: name the item in item=, its value in correct= or loss= (one of "
                "them), and give systems= no columns"
            )
        if metric not in ("correct", "mean") or y_true is not None:
            raise InputError("rates of decisions need a row per item and a column per system; leave system= out")
        graded, rate = correct is not None, None
        items = long_items(frame, columns, system, str(correct if graded else loss), systems, graded=graded)
    _check_names(items.systems, baseline)
    clustered = cluster
    if epoch is not None and epochs == "items":
        items = averaged(items)
    elif epoch is not None and cluster is None:
        clustered = item
    pairs = _pairs(items, baseline)
    shown = pairs if baseline is None else [pair for pair in pairs if items.systems[pair[1]] == baseline]
    base = _tally(
        items,
        by,
        shown,
        clustered,
        missing,
        larger_is_better=_direction(rate, larger_is_better, graded=graded),
        graded=graded,
        binary=graded and epoch is None,
    )
    place, kept = _places(items.table, base)
    values = items.values[kept]
    labels = None if clustered is None else pd.factorize(items.table.loc[kept, clustered])[0].astype(np.intp)
    sums = paired_sums(values, pairs, place, base.sizes["subgroup"], labels, graded=graded and epoch is None)
    for p, (i, j) in enumerate(pairs):
        if not sums["overall_pair_sums"][1][p, 1]:
            raise InputError(f"systems {items.systems[i]!r} and {items.systems[j]!r} share no item; check item=")
    coordinates: dict[str, Any] = {
        "system": list(items.systems), "system_other": list(items.systems),
        "pair": [_difference(items, pair) for pair in pairs],
        "first": ("pair", [items.systems[i] for i, _ in pairs]), "second": ("pair", [items.systems[j] for _, j in pairs]),
        "pair_statistic": list(STATISTICS), "complete_statistic": ["units", "items", "item_squares"],
        **({"first_right": [0, 1], "second_right": [0, 1]} if "pair_count" in sums else {}),
    }  # fmt: skip
    settings = json.loads(base.attrs["settings"]) | {
        "source": "pairs", "baseline": baseline, "graded": graded, "cluster": cluster, "item": item, "epoch": epoch,
        "epochs": epochs, **({} if rate is None else {"metric": rate, "y_true": y_true}),
        "columns": {
            "systems": dict(systems) if isinstance(systems, Mapping) else None if systems is None else list(systems),
            "system": system, "correct": correct, "loss": loss, "larger_is_better": larger_is_better,
            "metric": None if metric == "correct" else metric,
        },
    }  # fmt: skip
    return base.assign_coords(coordinates).assign(sums).assign_attrs(settings=as_json(settings))


def _direction(rate: str | None, given: bool | None, *, graded: bool) -> bool | None:
    """The direction of the values: right answers are better, rates of decisions have one by their name."""
    if rate is None:
        return True if graded else given
    return direction_of(rate) if given is None else given


def _columns_of(systems: Mapping[str, str] | Sequence[str] | None) -> Mapping[str, str]:
    if not systems or isinstance(systems, str):
        raise InputError(
            "name the columns of the systems, as systems={'new': 'column', 'old': 'column'}, or system=, item=, correct="
        )
    if isinstance(systems, Mapping):
        return {str(name): str(column) for name, column in systems.items()}
    twice = next((name for name in systems if list(systems).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"systems= names {twice!r} twice")
    return {str(name): str(name) for name in systems}


def _check_names(systems: Sequence[str], baseline: str | None) -> None:
    if len(systems) < 2:
        raise InputError(f"a comparison needs two systems or more; got {list(systems)}")
    if baseline is not None and baseline not in systems:
        raise InputError(f"baseline={baseline!r} is none of the systems; {near_misses(baseline, systems)}")


def _pairs(items: Items, baseline: str | None) -> list[tuple[int, int]]:
    """All pairs of systems in their order, a baseline last."""
    every = itertools.combinations(range(len(items.systems)), 2)
    return [(j, i) if items.systems[i] == baseline else (i, j) for i, j in every]


def _difference(items: Items, pair: tuple[int, int]) -> str:
    return f"{items.systems[pair[0]]} - {items.systems[pair[1]]}"


def _tally(
    items: Items, by: Sequence[str] | Mapping[str, Sequence[object] | None], pairs: Sequence[tuple[int, int]],
    cluster: str | None, missing: Missing, *, larger_is_better: bool | None, graded: bool, binary: bool,
) -> xr.Dataset:  # fmt: skip
    """The tally of systems and differences, each over the items that have them."""
    answered = np.isfinite(items.values)
    contents: dict[str, tuple[Any, Any]] = {
        name: (items.values[:, i], answered[:, i]) for i, name in enumerate(items.systems)
    }
    for i, j in pairs:
        name = _difference(items, (i, j))
        if name in contents:
            raise InputError(f"systems have names that make {name!r} twice; rename one")
        contents[name] = (items.values[:, i] - items.values[:, j], answered[:, i] & answered[:, j])
    frame, metrics = items.table.copy(), []
    ends = (0.0, 1.0) if graded else (-np.inf, np.inf)
    for place, (name, (value, here)) in enumerate(contents.items()):
        frame[f"__value_{place}__"], frame[f"__here_{place}__"] = np.where(here, value, 0.0), here.astype(np.float64)
        alone = name in items.systems
        lower, upper = ends if alone or not graded else (-1.0, 1.0)
        metrics.append(
            Metric(
                name, nw.col(f"__value_{place}__"), nw.col(f"__here_{place}__") == 1,
                kind="rate" if alone and binary else "mean", lower=lower, upper=upper,
                larger_is_better=larger_is_better, undefined="no item",
            )
        )  # fmt: skip
    return tally(frame, by, metrics, cluster=cluster, missing=missing)


def _places(table: pd.DataFrame, base: xr.Dataset) -> tuple[IndexArray, IndexArray]:
    """The subgroup of every unit that the tally has, and the units."""
    by = attributes_of(base)
    levels = [[MISSING_LEVEL if pd.isna(value) else level_text(value) for value in table[name]] for name in by]
    known_levels = set(of_tally(base).table)
    keys = list(zip(*levels, strict=True))
    kept = np.array([i for i, key in enumerate(keys) if key in known_levels], dtype=np.intp)
    return of_tally(base).codes([keys[i] for i in kept]), kept
