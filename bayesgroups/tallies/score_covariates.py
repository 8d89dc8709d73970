"""Covariates of rows beside their scores: sums of products by subgroup and outcome, dealt into packets.

A regression of the score on covariates of the rows needs of each subgroup and outcome the number of rows, the sums of scores
and covariates, and those of their products. They are kept in at most 64 packets per subgroup and outcome, to which rows are
dealt at random: a bootstrap draws packets instead of rows. Where there are no more rows than packets, a packet is a row.
Packets of parts of the data add up, see `bayesgroups.tallies.covariate_addition`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr

from bayesgroups.data import lazy_columns
from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.data.columns import Roles
from bayesgroups.data.frames import Missing
from bayesgroups.data.keyed_cells import read_cells
from bayesgroups.data.sources import Source, open_source
from bayesgroups.data.texts import as_json, level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.pushdown import push_down
from bayesgroups.tallies.score_moments import Scale, keep_scores, kept, to_scale
from bayesgroups.tallies.subgroups import attributes_of, of_tally

PACKETS = 64
"""Packets per subgroup and outcome, at most."""


@dataclass(frozen=True)
class Packets:
    """Sums over the rows of each packet, sorted by subgroup and outcome; arrays (packet,) first.

    In the sums, the covariates ``names`` are standardised over all rows (mean ``origin`` and standard deviation ``unit``, arrays
    (covariate,)), and scores, on the modelling scale, are taken less their mean ``centre``. ``rows`` are effective ones, with
    weights, and ``members`` those counted whatever their weights; rows without any weight are in no packet. ``score`` and
    ``squares`` sum scores and their squares, ``covariate`` and ``cross`` (packet, covariate) covariates and their products with
    the score, and ``product`` (packet, covariate, covariate) their products with each other.
    """

    names: tuple[str, ...]
    subgroup: IntArray
    outcome: IntArray
    rows: FloatArray
    score: FloatArray
    squares: FloatArray
    covariate: FloatArray
    cross: FloatArray
    product: FloatArray
    centre: float
    members: IntArray
    origin: FloatArray
    unit: FloatArray


def keep_covariates(
    tally: xr.Dataset, frame: object, covariates: Sequence[str], *, scale: Scale | None = None
) -> xr.Dataset:
    """Give a tally with an ``auc`` what a regression of its scores on covariates of the rows needs.

    Parameters
    ----------
    tally : xr.Dataset
        A tally of rows with ``auc`` among its metrics.
    frame : dataframe, str or Path
        The rows that it was made from. Of lazy frames and of patterns of files the columns that are needed are taken into
        memory.
    covariates : sequence of str
        Columns of numbers. The score is regressed on them as they are: take logarithms of heavy tails first, and columns of
        0 and 1 for levels.
    scale : {"logit", "identity"}, optional
        As in `bayesgroups.tallies.score_moments.keep_scores`, which is applied if it was not yet.

    Returns
    -------
    xr.Dataset
        With ``packet_subgroup``, ``packet_outcome``, ``packet_rows``, ``packet_members``, ``packet_score``,
        ``packet_score_squares`` (score_packet), ``packet_covariate``, ``packet_cross`` (score_packet, score_covariate),
        ``packet_product`` (score_packet, score_covariate, score_covariate_other), ``packet_origin``, ``packet_unit``
        (score_covariate) and ``packet_centre``.

    Raises
    ------
    InputError
        If the tally is of no rows with scores, the rows are not those it was made from, or a covariate is absent, no finite
        number or named twice. Whether covariates say anything of rows is looked at when they are used: a part of the data
        need not tell.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.tallies.score_covariates import keep_covariates, packets_of
    >>> rows = pd.DataFrame({"s": ["a"] * 4, "y": [0, 0, 1, 1], "p": [0.2, 0.4, 0.3, 0.9], "age": [30, 50, 40, 60]})
    >>> found = keep_covariates(bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p"), rows, ["age"])
    >>> packets_of(found, ["age"]).covariate.round(3).ravel().tolist()
    [-1.342, 0.447, -0.447, 1.342]
    """
    names = (covariates,) if isinstance(covariates, str) else tuple(covariates)
    if not names:
        raise InputError("covariates= is empty; name at least one column")
    if len(set(names)) < len(names):
        raise InputError(f"covariates= names a column twice: {list(names)}")
    source = tally if kept(tally) is not None and scale is None else keep_scores(tally, scale=scale)
    settings = json.loads(source.attrs["settings"])
    if settings.get("source") != "rows" or not (settings.get("y_true") and settings.get("y_score")):
        raise InputError(
            "the tally was not made by bg.tally() from rows with y_true= and y_score=, so none can be matched"
        )
    subgroup, outcome, score, weight, values = _columns(source, frame, names, settings)
    where = np.bincount(subgroup, minlength=source.sizes["subgroup"])
    if (where != source["rows"].values).any():
        worst = int(np.argmax(where != source["rows"].values))
        raise InputError(
            f"subgroup {str(source['subgroup'].values[worst])!r} has {source['rows'].values[worst]:.0f} rows in the tally and "
            f"{where[worst]} in frame=; give the rows that the tally was made from"
        )
    cell = 2 * subgroup + outcome
    total, squares = (np.bincount(cell, power, 2 * len(where)) for power in (weight, weight**2))
    weight = weight * (total / np.where(squares > 0, squares, 1.0))[cell]
    middle = np.average(values, axis=0, weights=weight)
    width = np.sqrt(np.average((values - middle) ** 2, axis=0, weights=weight))
    width = np.where(width > 0, width, 1.0)
    values = (values - middle) / width
    centre = float(np.average(score, weights=weight))
    whole = attach(source, _deal(names, cell, weight, score - centre, values, centre, middle, width))
    return whole.assign_attrs(settings=as_json(settings | {"row_covariates": list(names)}))


def packets_of(tally: xr.Dataset, names: Sequence[str]) -> Packets:
    """Packets of some of the covariates that a tally keeps, for a regression of the score on them.

    An error where it does not keep one of them, or one is the same for all rows of each subgroup and outcome, or a linear
    function of others.
    """
    packets = read(tally, names)
    _check_spread(packets)
    return packets


def read(tally: xr.Dataset, names: Sequence[str]) -> Packets:
    """Packets of some of the covariates that a tally keeps, whether or not they say anything."""
    kept = [str(name) for name in tally["score_covariate"].values] if "score_packet" in tally.dims else []
    for name in names:
        if name not in kept:
            hint = near_misses(name, kept) if kept else "it keeps none"
            raise InputError(
                f"row_covariates: the tally keeps no covariate {name!r} of rows; {hint}. Tally its rows with row_covariates=, or "
                "give it theirs with bayesgroups.tallies.score_covariates.keep_covariates(tally, frame, [...])"
            )
    if "packet_unit" not in tally.data_vars:
        raise InputError("the tally keeps covariates without their units; tally its rows again and keep them again")
    at = [kept.index(name) for name in names]
    singles = ("subgroup", "outcome", "rows", "score", "score_squares")
    subgroup, outcome, rows, score, squares = (tally[f"packet_{name}"].values for name in singles)
    covariate, cross = (tally[f"packet_{name}"].values[:, at] for name in ("covariate", "cross"))
    product = tally["packet_product"].values[:, at][:, :, at]
    members, origin, unit = (tally[f"packet_{name}"].values for name in ("members", "origin", "unit"))
    return Packets(
        tuple(names), subgroup, outcome, rows, score, squares, covariate, cross, product, float(tally["packet_centre"]),
        members, origin[at], unit[at],
    )  # fmt: skip


def _columns(
    tally: xr.Dataset, frame: object, names: tuple[str, ...], settings: dict[str, object]
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Subgroup, outcome, score on its scale, weight and covariates (row, covariate) of the rows."""
    truth, weights = str(settings["y_true"]), settings.get("weights")
    by = tuple(attributes_of(tally))
    needed = (*by, truth, str(settings["y_score"]), *([] if weights is None else [str(weights)]), *names)
    source = _in_memory(open_source(frame), needed)
    present = source.frame.collect_schema().names()
    for name in names:
        if name not in present:
            raise InputError(f"column {name!r} (a covariate of rows) is not in the frame; {near_misses(name, present)}")
    roles = Roles(by, y_true=truth, y_score=str(settings["y_score"]), weights=None if weights is None else str(weights))
    missing: Missing = settings.get("missing", "error")  # type: ignore[assignment]
    pushed = push_down(source, roles, [], dict.fromkeys(by), missing)
    numbers = [
        lazy_columns.number(source, name, f"covariates[{i}]", f"__covariate_{i}__") for i, name in enumerate(names)
    ]
    frame = pushed.frame.with_columns(*[nw.col(each.name).cast(nw.Float64).alias(each.column) for each in numbers])
    for each in numbers:
        lazy_columns.check_rows(source, frame, each)
    keys, columns = [f"__by_{i}__" for i in range(len(by))], [each.column for each in numbers]
    weighted = [] if weights is None else ["__weight__"]
    rows = read_cells(
        source.collect(frame.select(*keys, "__truth__", "__y_score__", *weighted, *columns)), keys, ["__truth__"]
    )
    labels = rows.labels["__truth__"]
    positive = {label: level_text(label) == settings.get("positive") for label in set(labels)}
    outcome = np.array([positive[label] for label in labels], dtype=np.int64)
    position = {levels: i for i, levels in enumerate(of_tally(tally).table)}
    place = pushed.locate(rows)
    subgroup = np.array([position.get(levels, -1) for levels in pushed.subgroups.table], dtype=np.int64)[place]
    if (subgroup < 0).any():
        strange = pushed.subgroups.table[int(place[subgroup < 0][0])]
        raise InputError(f"frame= has rows of {' | '.join(strange)}, a subgroup that the tally does not have")
    bins = kept(tally)
    assert bins is not None, "keep_scores() attaches them"
    score = to_scale(rows.table["__y_score__"], bins.scale)
    weight = rows.table.get("__weight__", np.ones(len(score)))
    return subgroup, outcome, score, weight, np.stack([rows.table[column] for column in columns], axis=1)


def _in_memory(source: Source, needed: Sequence[str]) -> Source:
    """The same rows in memory; of lazy ones, the columns that are needed."""
    if source.memory is not None:
        return source
    names = source.frame.collect_schema().names()
    # Where one of them is missing, all names are needed to say which is meant.
    wanted = list(dict.fromkeys(needed)) if set(needed) <= set(names) else names
    query = source.frame.select(wanted)
    return open_source(source.collect(query if set(needed) <= set(names) else query.head(1)))


def _check_spread(packets: Packets) -> None:
    cell = 2 * packets.subgroup + packets.outcome
    total, names = np.bincount(cell, packets.rows), packets.names
    sums = np.stack([np.bincount(cell, value) for value in packets.covariate.T], axis=1)
    mean = sums / np.where(total > 0, total, 1.0)[:, None]
    within = (packets.product.sum(axis=0) - mean.T @ sums) / total.sum()
    for i, name in enumerate(names):
        if not within[i, i] > 1e-12:
            raise InputError(
                f"covariate {name!r} is the same for all rows of each subgroup and outcome, so it says nothing of rows; give "
                "the tally its means with features= and name it in covariates="
            )
        # What is left of it when those before it are taken out.
        if i:
            share = np.linalg.solve(within[:i, :i], within[:i, i])
            if not within[i, i] - within[:i, i] @ share > 1e-9 * within[i, i]:
                raise InputError(
                    f"covariate {name!r} is a linear function of {', '.join(names[:i])}; leave one of them out"
                )


def _deal(
    names: tuple[str, ...], cell: IntArray, weight: FloatArray, score: FloatArray, values: FloatArray, centre: float,
    origin: FloatArray, unit: FloatArray,
) -> Packets:  # fmt: skip
    """Deal rows to the packets of their cell at random, but the same rows to the same packets in whatever order they come."""
    ranking = np.lexsort((weight, *values.T, score, cell))
    some = ranking[weight[ranking] > 0]
    order = some[np.random.default_rng(0).permutation(len(some))]
    order = order[np.argsort(cell[order], kind="stable")]
    first = np.searchsorted(cell[order], cell[order], side="left")
    turn = (np.arange(len(order)) - first) % PACKETS
    key = cell[order] * PACKETS + turn
    by_packet = np.argsort(key, kind="stable")
    order, key = order[by_packet], key[by_packet]
    start = np.flatnonzero(np.diff(key, prepend=-1))
    w, u, c = weight[order], score[order], values[order]

    def total(value: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(value, start, axis=0), dtype=np.float64)

    size = len(names)
    product = np.empty((len(start), size, size))
    for i in range(size):
        product[:, i] = total((w * c[:, i])[:, None] * c)
    cell_of_packet = key[start] // PACKETS
    return Packets(
        names, cell_of_packet // 2, cell_of_packet % 2, total(w), total(w * u), total(w * u**2), total(w[:, None] * c),
        total((w * u)[:, None] * c), product, centre, np.diff(start, append=len(order)), origin, unit,
    )  # fmt: skip


def attach(tally: xr.Dataset, packets: Packets) -> xr.Dataset:
    """A tally with these packets, and no others."""
    along, other = "score_packet", "score_covariate"
    kept = tally.drop_dims([dim for dim in (along, other) if dim in tally.dims]).assign(
        packet_subgroup=(along, packets.subgroup), packet_outcome=(along, packets.outcome),
        packet_rows=(along, packets.rows), packet_members=(along, packets.members), packet_score=(along, packets.score),
        packet_score_squares=(along, packets.squares), packet_covariate=((along, other), packets.covariate),
        packet_cross=((along, other), packets.cross),
        packet_product=((along, other, "score_covariate_other"), packets.product), packet_centre=((), packets.centre),
        packet_origin=(other, packets.origin), packet_unit=(other, packets.unit),
    )  # fmt: skip
    return kept.assign_coords(score_covariate=np.array(packets.names))
