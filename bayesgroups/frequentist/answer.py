"""The form in which every word of the frequentist side answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import Interval
from bayesgroups.levels import LEVELS

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """Answer for one metric: arrays (subgroup,), one interval per level, and hyper-parameters.

    ``status`` is that of the tally unless the word changes it; ``subgroup`` variables and ``scalar`` ones go by name.
    """

    estimate: FloatArray
    std_error: FloatArray
    intervals: Sequence[Interval]
    method: str
    status: NDArray[np.str_]
    subgroup: Mapping[str, FloatArray] = field(default_factory=dict)
    scalar: Mapping[str, float] = field(default_factory=dict)


def lay_out(tally: xr.Dataset, answers: Sequence[Answer]) -> xr.Dataset:
    """Answers of all metrics as one Dataset.

    Parameters
    ----------
    tally : xr.Dataset
        The tally, for its coordinates.
    answers : sequence of Answer
        One per metric, in its order.

    Returns
    -------
    xr.Dataset
    """
    cell = ("metric", "subgroup")
    lower = np.stack([np.stack([interval.lower for interval in answer.intervals], axis=-1) for answer in answers])
    upper = np.stack([np.stack([interval.upper for interval in answer.intervals], axis=-1) for answer in answers])
    data: dict[str, Any] = {
        "estimate": (cell, np.stack([answer.estimate for answer in answers])),
        "std_error": (cell, np.stack([answer.std_error for answer in answers])),
        "lower": ((*cell, "level"), lower),
        "upper": ((*cell, "level"), upper),
        "interval_kind": ("metric", np.full(len(answers), "confidence")),
        "interval_method": ("metric", np.array([answer.method for answer in answers], dtype=str)),
        "status": (cell, np.stack([answer.status.astype("<U10") for answer in answers])),
    }
    data |= {name: (cell, np.stack([answer.subgroup[name] for answer in answers])) for name in answers[0].subgroup}
    data |= {name: ("metric", np.array([answer.scalar[name] for answer in answers])) for name in answers[0].scalar}
    coordinates = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values, "level": np.array(LEVELS)}
    return xr.Dataset(data, coords=coordinates)
