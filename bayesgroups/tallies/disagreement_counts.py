"""From counted judgements to the tally of disagreement feedback.

=====================================================  ===================================================================
variable                                               meaning
=====================================================  ===================================================================
``agreements``, ``disagreements`` (label, subgroup)    judgements by the label that the system gave
``critic_agreements``, ``critic_disagreements``        the same for every critic (critic, label, subgroup)
``item_index``, ``item_label``, ``item_subgroup``,     the same for every item, as cells with something in them
``item_agreements``, ``item_disagreements``            (item_cell)
``notion``, ``metric_label`` (metric)                  the notion and the label that a metric is about
=====================================================  ===================================================================

Everything else is as in `bayesgroups.tallies`: rates that are known exactly have counts and successes, the others are
undefined and say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.data.texts import as_json
from bayesgroups.tallies.disagreement_notions import DEFINITE, NOTIONS, Notion, labels_of, metric_names
from bayesgroups.tallies.disagreement_rates import sum_others
from bayesgroups.tallies.published import tally_from_counts
from bayesgroups.tallies.subgroups import Subgroups

ONLY_BOUNDED = "disagreement alone gives bounds only"
"""Why a rate is undefined in the tally although its subgroup has judgements."""


@dataclass(frozen=True)
class Judgements:
    """Numbers of like judgements: one entry per combination that occurs; ``size`` is (labels, subgroups)."""

    subgroup: IndexArray
    label: IndexArray
    disagrees: IndexArray
    number: FloatArray
    size: tuple[int, int]


@dataclass(frozen=True)
class JudgedItems:
    """The item of each entry of `Judgements`."""

    number: int
    position: IndexArray


def assemble(
    judgements: Judgements,
    subgroups: Subgroups,
    labels: Sequence[str],
    *,
    settings: Mapping[str, Any],
    critics: tuple[list[str], IndexArray] | None = None,
    critic_groups: Mapping[str, str] | None = None,
    items: JudgedItems | None = None,
) -> xr.Dataset:
    """Counts as a tally, with the variables above.

    ``settings``, how the tally was made, are stored as one JSON string; ``critics`` are their names and the critic of each
    entry, ``critic_groups`` the group of each, and ``items`` the item of each entry.
    """
    shape = (2, *judgements.size)
    place = (judgements.disagrees, judgements.label, judgements.subgroup)
    both = np.zeros(shape)
    np.add.at(both, place, judgements.number)
    tally = _rates(both[0], both[1], subgroups, labels)
    tally = tally.assign_coords(label=np.array(labels, dtype=str))
    cell = ("label", "subgroup")
    data: dict[str, Any] = {"agreements": (cell, both[0]), "disagreements": (cell, both[1])}
    if critics is not None:
        names, position = critics
        each = np.zeros((2, len(names), *judgements.size))
        np.add.at(each, (judgements.disagrees, position, judgements.label, judgements.subgroup), judgements.number)
        data |= {
            "critic_agreements": (("critic", *cell), each[0]),
            "critic_disagreements": (("critic", *cell), each[1]),
        }
        tally = tally.assign_coords(critic=np.array(names, dtype=str))
        if critic_groups is not None:
            tally = tally.assign_coords(critic_group=("critic", np.array([critic_groups[name] for name in names])))
    if items is not None:
        data |= _item_cells(judgements, items)
    attrs = {**tally.attrs, "settings": as_json(settings)}
    return tally.assign(data).assign_attrs(attrs)


def _rates(agree: FloatArray, disagree: FloatArray, subgroups: Subgroups, labels: Sequence[str]) -> xr.Dataset:
    """The rates as metrics of an ordinary tally."""
    import pandas as pd

    successes: dict[str, FloatArray] = {}
    trials: dict[str, FloatArray] = {}
    notions: list[Notion] = []
    about: list[str] = []
    for notion in NOTIONS:
        hits, tries = _exact_counts(notion, agree, disagree)
        for i, name in enumerate(metric_names(notion, labels)):
            successes[name], trials[name] = hits[i], tries[i]
            notions.append(notion)
            about.append(labels_of(notion, labels)[i])
    table = pd.DataFrame({name: [levels[i] for levels in subgroups.table] for i, name in enumerate(subgroups.by)})
    tally = tally_from_counts(successes, trials, table)
    rows = (agree + disagree).sum(axis=0)
    undefined = (tally["count"].values == 0) & (rows > 0)
    indefinite = np.array([len(labels) > 2 and notion not in DEFINITE for notion in notions])
    reason = tally["reason"].values.astype("<U60")
    reason[undefined] = "no judgement of this kind"
    reason[undefined & indefinite[:, None]] = ONLY_BOUNDED
    return tally.assign(
        rows=("subgroup", rows),
        reason=(("metric", "subgroup"), reason),
        notion=("metric", np.array(notions, dtype=str)),
        metric_label=("metric", np.array(about, dtype=str)),
    )


def _exact_counts(notion: Notion, agree: FloatArray, disagree: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Successes and trials of a rate; none where it is known within bounds only."""
    if notion == "accuracy_equality":
        return agree.sum(axis=0, keepdims=True), (agree + disagree).sum(axis=0, keepdims=True)
    if notion == "calibration":
        return agree, agree + disagree
    if len(agree) > 2:
        return np.zeros_like(agree), np.zeros_like(agree)
    if notion == "predictive_equality":
        return disagree, disagree + sum_others(agree)
    sent = sum_others(disagree)
    return (agree if notion == "equal_opportunity" else sent), agree + sent


def _item_cells(judgements: Judgements, items: JudgedItems) -> dict[str, Any]:
    """Counts of every item, by the label and the subgroup it was shown with."""
    key = np.ravel_multi_index(
        (items.position, judgements.label, judgements.subgroup), (items.number, *judgements.size)
    )
    cells, inverse = np.unique(key, return_inverse=True)
    counts = np.zeros((2, len(cells)))
    np.add.at(counts, (judgements.disagrees, inverse), judgements.number)
    item, label, subgroup = np.unravel_index(cells, (items.number, *judgements.size))
    columns = {"item_index": item, "item_label": label, "item_subgroup": subgroup,
               "item_agreements": counts[0], "item_disagreements": counts[1]}  # fmt: skip
    return {name: ("item_cell", values) for name, values in columns.items()}
