"""Reports and tables whose subgroups overlap, and the refusal of questions that need disjoint ones."""

from __future__ import annotations

import xarray as xr

from bayesgroups.errors import InputError

TARGETS_SCHEMA = "bayesgroups.targets"
"""Schema of ``/constant_data`` of a poststratified report: not that of a tally, whose subgroups share no rows."""


def overlaps(source: xr.DataTree | xr.Dataset) -> bool:
    """True for a poststratified report, and for the table of its targets."""
    return bool(int(source.attrs.get("overlapping", 0)))


def refuse_overlapping(source: object, question: str) -> None:
    """Refusal, as an InputError that names the question, of targets that share people."""
    if isinstance(source, xr.DataTree | xr.Dataset) and overlaps(source):
        raise InputError(
            f"{question} needs subgroups that do not overlap, and the targets of a poststratified report share people; ask it of "
            "the report or tally that bg.poststratify() was given"
        )
