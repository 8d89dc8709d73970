"""Notes of a tally: directions that nobody gave, and means of columns that hold only 0 and 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.directions import SIGNED, Direction
from bayesgroups.tallies.moments import Moments

ASSUMED = "direction_assumed"
"""Setting of a tally: names of the metrics whose direction neither their name nor an argument gives."""
BINARY = "binary_means"
"""Setting of a tally: columns that hold only 0 and 1, by the metric that is their mean."""


def direction_settings(names: Sequence[str], directions: Sequence[Direction]) -> dict[str, list[str]]:
    """The setting that tells which directions were assumed; nothing where none was.

    >>> direction_settings(["acc", "wer"], [Direction(True), Direction(False, assumed=True)])
    {'direction_assumed': ['wer']}
    """
    assumed = [name for name, direction in zip(names, directions, strict=True) if direction.assumed]
    return {ASSUMED: assumed} if assumed else {}


def is_binary(moments: Moments, i: int, lowest: float, highest: float) -> bool:
    """True if the values behind a mean are 0 and 1 alone, by their extremes and their scatter in every subgroup.

    Values in [0, 1] have at most the scatter ``weight * mean * (1 - mean)``, and reach it only at the ends.
    """
    weight, mean = moments.weight[i], np.nan_to_num(moments.mean[i])
    if not weight.sum() > 0 or lowest < 0 or highest > 1:
        return False
    return bool((moments.scatter[i] >= weight * mean * (1 - mean) - 1e-9 * weight).all())


def merge(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Notes that hold of all parts of a tally, from the settings of the parts."""
    assumed = [name for name in settings[0].get(ASSUMED, []) if all(name in part.get(ASSUMED, []) for part in settings)]
    binary = {
        name: column
        for name, column in settings[0].get(BINARY, {}).items()
        if all(name in part.get(BINARY, {}) for part in settings)
    }
    return ({ASSUMED: assumed} if assumed else {}) | ({BINARY: binary} if binary else {})


def assumed_directions(tally: xr.Dataset) -> list[str]:
    """Names of the metrics of a tally whose direction was assumed, in their order."""
    assumed = _settings(tally).get(ASSUMED, [])
    return [str(name) for name in np.atleast_1d(tally["metric"].values) if str(name) in assumed]


def undirected(tally: xr.Dataset) -> list[str]:
    """Names of the metrics of a tally of which 0 is the fair value, and of which nobody said that one side of it is better."""
    return [name for name in assumed_directions(tally) if name in SIGNED]


def direction_note(tally: xr.Dataset) -> str:
    """Note on assumed directions for a reader of better and worse subgroups; empty where none was assumed."""
    without = undirected(tally)
    taken = [name for name in assumed_directions(tally) if name not in without]
    sentences = []
    if taken:
        sentences.append(
            f"{', '.join(taken)}: no direction was given, so smaller values are taken to be better; say larger_is_better= in the "
            "tally"
        )
    if without:
        sentences.append(
            f"{', '.join(without)}: 0 is fair and no direction fits, so that better and worse mean smaller and larger alone"
        )
    return "; ".join(sentences)


def shared_clusters_note(tally: xr.Dataset) -> str:
    """Note on errors that are correlated and taken for independent; empty where a tally has no covariance of them."""
    if "sampling_covariance" not in tally:
        return ""
    return "subgroups share clusters, and what is said of several of them at once takes their errors for independent"


def binary_notes(tally: xr.Dataset) -> list[str]:
    """A sentence per mean of a column that holds only 0 and 1."""
    columns: Mapping[str, str] = _settings(tally).get(BINARY, {})
    sentences = []
    for metric in (tally.isel(metric=[i]) for i in range(tally.sizes["metric"])):
        name = str(metric["metric"].values[0])
        if name in columns:
            better = "larger" if bool(metric["larger_is_better"].values[0]) else "smaller"
            taken = (
                "larger values are taken to be worse" if better == "smaller" else "larger values are better, as said"
            )
            sentences.append(
                f"{name}: column {columns[name]!r} holds only 0 and 1: use correct= or a rate for a binomial likelihood; {taken}"
            )
    return sentences


def _settings(tally: xr.Dataset) -> dict[str, Any]:
    settings = json.loads(str(tally.attrs.get("settings", "{}")))
    return settings if isinstance(settings, dict) else {}
