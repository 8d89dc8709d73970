"""Subgroups that take part in a question asked of subgroups: by default those that have rows of their own for the metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray
from bayesgroups.errors import InputError

Imputed = Literal["leave_out", "include"]
"""The two ways to treat subgroups without rows that count for the metric, which only a model answers."""
UNANSWERED = "no draws"
"""Reason of a subgroup that has rows and no answer."""


@dataclass(frozen=True, eq=False)
class Participants:
    """Subgroups (subgroup,) of one metric that take part, and the labels of the others, each with its reason in brackets."""

    included: BoolArray
    left_out: tuple[str, ...]

    @property
    def names(self) -> str:
        """The variable ``left_out`` of an answer: labels and reasons, joined by "; "."""
        return "; ".join(self.left_out)


def check_imputed(imputed: object) -> None:
    """Refuse a treatment of subgroups without rows that does not exist."""
    if imputed not in get_args(Imputed):
        raise InputError(
            f"imputed={imputed!r} is not one of 'leave_out', 'include': leave subgroups without rows out of the "
            "question, or take the answers of the model for them"
        )


def participants(tally: xr.Dataset, answered: BoolArray, imputed: Imputed) -> Participants:
    """Subgroups that take part in a question about one metric of a tally or of its margins.

    ``answered`` (subgroup,) is true where there is a number to ask about; of a tally without a model these are its estimates.
    One that is answered without an estimate of its own takes part with ``imputed="include"`` only.
    """
    check_imputed(imputed)
    observed = np.isfinite(tally["estimate"].values)
    included = answered & (observed | (imputed == "include"))
    reasons = np.where(observed, "", tally["reason"].values)[~included]
    pairs = zip(tally["subgroup"].values[~included], reasons, strict=True)
    return Participants(included, tuple(f"{label} ({reason or UNANSWERED})" for label, reason in pairs))
