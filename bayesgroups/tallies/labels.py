"""Labels of subgroups as people read them; the coordinate ``subgroup`` stays as it is.

A level that is a bare number stands with its attribute, ``edu=2``, and a level that was given a name stands with that, ``college``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.subgroups import attributes_of, label

NAMES = "level_names"
"""Attribute of a coordinate along ``subgroup`` that has the names of its levels, as JSON."""


@checked_keywords
def name_levels[Named: (xr.Dataset, xr.DataTree)](data: Named, names: Mapping[str, Mapping[str, str]]) -> Named:
    """Give levels of attributes the names that people read in tables, plots and pages.

    Parameters
    ----------
    data : xr.Dataset or xr.DataTree
        A tally or a report.
    names : mapping
        Names by attribute and level, as ``{"edu": {"2": "college"}}``. Levels that are left out keep the name they have.

    Returns
    -------
    xr.Dataset or xr.DataTree
        A copy that carries the names, also into files, reports and answers made of it. Labels, levels and numbers are the
        same: subgroups are asked for by the labels of the coordinate ``subgroup``.

    Raises
    ------
    InputError
        If there is no such attribute or level, a name is empty or no text, or two levels of an attribute would be called
        the same.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"edu": [1, 2], "sex": ["f", "f"]})
    >>> counts = bg.name_levels(bg.tally_from_counts([3, 4], [9, 8], who), {"edu": {"2": "college"}})
    >>> shown_labels(counts)
    {'1 | f': 'edu=1 | f', '2 | f': 'college | f'}
    """
    if not isinstance(data, xr.Dataset | xr.DataTree):
        raise InputError(f"data must be a tally or a report; got a value of type {type(data).__name__}")
    copy = data.copy()
    if isinstance(copy, xr.Dataset):
        return _named(copy, names)
    for node in copy.subtree:
        if set(attributes_of(node.to_dataset())):
            node.dataset = _named(node.to_dataset(), names)
    return copy


def shown_labels(dataset: xr.Dataset) -> dict[str, str]:
    """Labels as people read them, by the labels of the coordinate ``subgroup``.

    Labels that are not made of the levels of attributes, as those of margins, stay as they are, and so do all where two would
    be one.
    """
    by = attributes_of(dataset)
    labels = [str(text) for text in dataset["subgroup"].values]
    levels = [[str(value) for value in dataset[name].values] for name in by]
    names = [level_names(dataset, name) for name in by]
    shown = {}
    for i, text in enumerate(labels):
        parts = [column[i] for column in levels]
        read = [_shown(attribute, level, called) for attribute, level, called in zip(by, parts, names, strict=True)]
        shown[text] = label(read) if by and label(parts) == text else text
    return shown if len(set(shown.values())) == len(shown) else {text: text for text in labels}


def shown_left_out(left_out: str, labels: Mapping[str, str]) -> str:
    """The variable ``left_out`` of an answer, labels and their reasons, as people read it.

    >>> shown_left_out("2 | f (no rows); 3 | f (no rows)", {"2 | f": "edu=2 | f"})
    'edu=2 | f (no rows); 3 | f (no rows)'
    """
    parts = [part.rpartition(" (") for part in left_out.split("; ")]
    return "; ".join(f"{labels.get(text, text)}{bracket}{reason}" for text, bracket, reason in parts)


def carry_names(parts: Sequence[xr.Dataset], total: xr.Dataset) -> xr.Dataset:
    """A tally with the names of levels of the tallies it was made of; of two names of a level the first."""
    for attribute in attributes_of(total):
        names: dict[str, str] = {}
        for part in parts:
            names = level_names(part, attribute) | names
        if names:
            total[attribute].attrs[NAMES] = _as_text(names)
    return total


def shown_level(dataset: xr.Dataset, attribute: str, level: str) -> str:
    """A level where its attribute is named beside it, as along an axis: its name where it has one."""
    return level_names(dataset, attribute).get(level, level)


def level_names(dataset: xr.Dataset, attribute: str) -> dict[str, str]:
    """Names of the levels of an attribute, by level; empty where none were given."""
    try:
        names = json.loads(dataset[attribute].attrs.get(NAMES, "{}"))
    except (TypeError, ValueError):
        return {}
    return {str(level): str(name) for level, name in names.items()} if isinstance(names, dict) else {}


def _shown(attribute: str, level: str, names: Mapping[str, str]) -> str:
    return names.get(level, f"{attribute}={level}" if _is_number(level) else level)


def _is_number(level: str) -> bool:
    try:
        return math.isfinite(float(level))
    except ValueError:
        return False


def _as_text(names: Mapping[str, str]) -> str:
    return json.dumps(dict(names), ensure_ascii=False, sort_keys=True)


def _named(dataset: xr.Dataset, names: Mapping[str, Mapping[str, str]]) -> xr.Dataset:
    by = attributes_of(dataset)
    for attribute, given in names.items():
        if attribute not in by:
            raise InputError(
                f"names= has attribute {attribute!r}, which the subgroups do not have; {near_misses(attribute, by)}"
            )
        levels = list(dict.fromkeys(dataset[attribute].values.astype(str).tolist()))
        for level, name in given.items():
            if str(level) not in levels:
                raise InputError(
                    f"names= has level {level!r} of {attribute!r}, which does not occur; {near_misses(str(level), levels)}"
                )
            if not isinstance(name, str) or not name.strip():
                raise InputError(
                    f"names= calls level {level!r} of {attribute!r} {name!r}; a name is a text that is not empty"
                )
        called = level_names(dataset, attribute) | {str(level): name for level, name in given.items()}
        read = [called.get(level, level) for level in levels]
        twice = next((name for name in read if read.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"names= calls two levels of {attribute!r} {twice!r}; give each a name of its own")
        coordinate = dataset[attribute].copy()
        coordinate.attrs[NAMES] = _as_text(called)
        dataset = dataset.assign_coords({attribute: coordinate})
    return dataset
