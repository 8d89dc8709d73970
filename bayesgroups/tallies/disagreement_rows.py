"""The tally of disagreement feedback: what the system said, and whether the critic said otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr

from bayesgroups.data import lazy_columns
from bayesgroups.data.arrays import IndexArray
from bayesgroups.data.columns import Roles
from bayesgroups.data.frames import Missing
from bayesgroups.data.keyed_cells import read_cells
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.sources import Source, open_source
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.disagreement_counts import JudgedItems, Judgements, assemble
from bayesgroups.tallies.pushdown import Pushed, push_down
from bayesgroups.tallies.subgroups import check_attributes, cross

OWN = frozenset({"label", "critic", "critic_group", "notion", "metric_label", "agreements", "disagreements"})
"""Names that this tally uses itself, besides those of every tally."""


@checked_keywords
def disagreement_tally(
    frame: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None],
    label: str,
    disagrees: str,
    *,
    critic: str | None = None,
    critic_group: str | None = None,
    item: str | None = None,
    labels: Sequence[object] | None = None,
    missing: Missing = "error",
) -> xr.Dataset:
    """Reduce judgements to agreements and disagreements per label and subgroup.

    One row is one judgement: a critic saw an item with the label that the system gave and agreed or not. Which label the
    critic had in mind is not asked.

    Parameters
    ----------
    frame : dataframe, str or Path
        Judgements, in any frame that `bayesgroups.tally` takes.
    by : sequence of str, or mapping
        Columns whose combinations are the subgroups, with declared levels in a mapping, as in `bayesgroups.tally`.
    label : str
        Column of the label that the system gave.
    disagrees : str
        Column that is 1 or true where the critic disagrees, 0 or false where the critic agrees.
    critic : str, optional
        Column of the critic; counts per critic are kept, and a bootstrap resamples critics.
    critic_group : str, optional
        Column of a group of critics (a profession, an age), the same in all rows of a critic.
    item : str, optional
        Column of the item; a bootstrap then resamples items.
    labels : sequence, optional
        All labels that a critic can have in mind, in their order; by default those that the system gave. With two labels
        every rate is known exactly, with more only within bounds, so a label that the system never gave must be named here.
    missing : {"error", "level", "drop"}
        What to do with rows whose attribute is missing, as in `bayesgroups.tally`.

    Returns
    -------
    xr.Dataset
        ``agreements``, ``disagreements`` (label, subgroup) and, with ``critic``, ``critic_agreements``,
        ``critic_disagreements`` (critic, label, subgroup). It is a tally as well: its metrics are the rates of
        `bayesgroups.tallies.disagreement_notions`, those that are known exactly with counts, the others undefined.

    Raises
    ------
    InputError
        If a column is absent or has missing values, there are fewer than two labels, a label is none of those declared,
        ``disagrees`` holds something else than 0 and 1, or a critic is in two groups.

    References
    ----------
    Telukunta, Nadendla, fairness evaluation from non-expert disagreement feedback, Eqs 7-9.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f", "f", "m", "m", "m"], "risk": ["low", "high", "low", "high", "high"],
    ...                      "disagrees": [0, 1, 0, 0, 1]})
    >>> found = bg.disagreement_tally(rows, ["sex"], "risk", "disagrees")
    >>> found["disagreements"].sel(label="high").values.tolist()
    [1.0, 1.0]
    >>> found["estimate"].sel(metric="tpr[low]").values.tolist()
    [0.5, 0.5]
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    check_attributes(names)
    taken = next((name for name in names if name in OWN), None)
    if taken is not None:
        raise InputError(
            f"attribute {taken!r} has a name that this tally uses itself; rename the column, e.g. {taken + '_'!r}"
        )
    source = open_source(frame)
    columns = source.frame.collect_schema().names()
    given = {"label": label, "disagrees": disagrees, "critic": critic, "critic_group": critic_group, "item": item}
    roles = {role: column for role, column in given.items() if column is not None}
    if critic_group is not None and critic is None:
        raise InputError("critic_group= is given without critic=; name the column of the critics as well")
    for role, column in roles.items():
        if column not in columns:
            raise InputError(f"column {column!r} ({role}=) is not in the frame; {near_misses(column, columns)}")
        lazy_columns.refuse_missing(source, source.frame, column, column, role)
    _check_answers(source, disagrees)
    declared = dict(by) if isinstance(by, Mapping) else dict.fromkeys(names)
    pushed = push_down(source, Roles(names), [], declared, missing)
    subgroup, table = _count(source, pushed, len(names), roles)
    order = _labels(table["label"], labels)
    where = Judgements(
        subgroup=subgroup,
        label=np.array([order.index(level_text(value)) for value in table["label"]], dtype=np.intp),
        disagrees=np.array(table["disagrees"], dtype=np.intp),
        number=np.array(table["number"], dtype=np.float64),
        size=(len(order), len(pushed.subgroups.table)),
    )
    settings = {"source": "judgements", "missing": missing, **given, **pushed.notes}
    return assemble(
        where, pushed.subgroups, order, settings=settings,
        critics=_positions(table["critic"]) if critic is not None else None,
        critic_groups=_groups(table["critic"], table["critic_group"], critic_group) if critic_group is not None else None,
        items=_items(table["item"]) if item is not None else None,
    )  # fmt: skip


def _check_answers(source: Source, disagrees: str) -> None:
    """Refuse answers other than 0 and 1."""
    answers = lazy_columns.number(source, disagrees, "disagrees", "__disagrees__")
    frame = source.frame.with_columns(nw.col(disagrees).cast(nw.Float64).alias("__disagrees__"))
    lazy_columns.check_rows(source, frame, answers)
    answer = nw.col("__disagrees__")
    odd, row = lazy_columns.first_row(source, frame, "__disagrees__", (answer != 0) & (answer != 1))
    if odd is not None:
        where = "a row" if row is None else f"row {row}"
        raise InputError(
            f"column {disagrees!r} (disagrees=) must hold 1 (disagrees) or 0 (agrees); {where} has {odd:g}"
        )


def _count(
    source: Source, pushed: Pushed, attributes: int, roles: Mapping[str, str]
) -> tuple[IndexArray, dict[str, list[Any]]]:
    """Subgroup and number of rows of every combination of the columns, and their values as lists."""
    columns = [nw.col(column).alias(f"__{role}__") for role, column in roles.items() if role != "disagrees"]
    answers = nw.col(roles["disagrees"]).cast(nw.Float64).cast(nw.Int64).alias("__disagrees__")
    by, keys = [f"__by_{i}__" for i in range(attributes)], [f"__{role}__" for role in roles]
    query = pushed.frame.with_columns(*columns, answers).group_by(*by, *keys).agg(nw.len().alias("number"))
    counted = read_cells(source.collect(query).sort(*by, *keys), by, keys)
    table = {role: counted.labels[f"__{role}__"] for role in roles}
    return pushed.locate(counted), {**table, "number": counted.table["number"].tolist()}


def _labels(seen: Sequence[object], declared: Sequence[object] | None) -> list[str]:
    """All labels in their order."""
    if declared is not None:
        order = [level_text(value) for value in declared]
        if len(set(order)) < len(order):
            raise InputError(f"labels= names a label twice: {order}")
        strange = next((level_text(value) for value in seen if level_text(value) not in order), None)
        if strange is not None:
            raise InputError(f"the system gave the label {strange!r}, which is not among labels={order}")
    else:
        order = [levels[0] for levels in cross(["label_"], {"label_": seen}, {}).table]
    if len(order) < 2:
        raise InputError(f"there is only the label {order[0]!r}; name all that critics can have in mind in labels=")
    return order


def _positions(values: Sequence[object]) -> tuple[list[str], IndexArray]:
    """Distinct values as text, sorted as levels are, and the position of each value."""
    names = [levels[0] for levels in cross(["critic_"], {"critic_": values}, {}).table]
    at = {name: i for i, name in enumerate(names)}
    return names, np.array([at[level_text(value)] for value in values], dtype=np.intp)


def _items(values: Sequence[object]) -> JudgedItems:
    at = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return JudgedItems(len(at), np.array([at[value] for value in values], dtype=np.intp))


def _groups(critics: Sequence[object], groups: Sequence[object], column: str) -> dict[str, str]:
    """The group of every critic."""
    group_of: dict[str, str] = {}
    for critic, group in zip(critics, groups, strict=True):
        name, other = level_text(critic), level_text(group)
        if group_of.setdefault(name, other) != other:
            raise InputError(
                f"critic {name!r} is in two groups of column {column!r} (critic_group=): {group_of[name]!r} and {other!r}"
            )
    return group_of
