"""Contrasts of all approaches, scales and metrics as one Dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.contrasts.answers import NUMBERS, OF_THRESHOLDS, Answer
from bayesgroups.questions.contrasts.comparisons import Comparison
from bayesgroups.questions.contrasts.scales import Scale, equality


def assemble(
    comparisons: Sequence[Comparison], metrics: object, answers: Mapping[str, Mapping[tuple[int, int], Answer]],
    about: Mapping[str, Sequence[object]], scales: Sequence[Scale], thresholds: FloatArray, attrs: Mapping[str, object],
) -> xr.Dataset:  # fmt: skip
    """Dataset along approach, scale, metric and contrast; ``about`` has what is said once per metric."""
    names = np.asarray(metrics)
    shape = (len(answers), len(scales), len(names))
    places = list(np.ndindex(*shape))
    every = [list(answers.values())[a][i, j] for a, i, j in places]
    cell, contrast = ("approach", "scale", "metric"), (*("approach", "scale", "metric"), "contrast")

    def stacked(values: list[np.ndarray]) -> np.ndarray:
        return np.stack(values).reshape(*shape, *values[0].shape)

    data: dict[str, object] = {name: (contrast, stacked([x.numbers[name] for x in every])) for name in NUMBERS}
    if len(thresholds):
        data |= {name: ((*contrast, "threshold"), stacked([x.numbers[name] for x in every])) for name in OF_THRESHOLDS}
    data["status"] = (contrast, stacked([x.status for x in every]))
    data["reason"] = (contrast, stacked([x.reason for x in every]))
    data["interval_method"] = (contrast, stacked([x.method for x in every]))
    data["interval_kind"] = (cell, stacked([np.array(x.kind) for x in every]))
    data["critical_value"] = (cell, stacked([np.array(x.critical_value) for x in every]))
    worse = [f"{'below' if int(str(about['sign'][j])) > 0 else 'above'} {equality(scales[i]):g}" for _, i, j in places]
    data["worse_is"] = (cell, np.array(worse).reshape(shape))
    data["estimand"] = ("metric", np.array(about["estimand"], dtype=str))
    data["left_out"] = ("metric", np.array(about["left_out"], dtype=str))
    data["usable"] = ("metric", np.array(about["usable"], dtype=np.int8))
    held = {name: [comparison.levels[name] for comparison in comparisons] for name in comparisons[0].levels}
    coordinates: dict[str, object] = {
        # An attribute may have any name: those of the answer come after, and win.
        **{name: ("contrast", levels) for name, levels in held.items()},
        "approach": list(answers), "scale": list(scales), "metric": names,
        "contrast": [comparison.name for comparison in comparisons],
        "subgroup": ("contrast", [comparison.subgroup for comparison in comparisons]),
        "reference": ("contrast", [comparison.reference for comparison in comparisons]),
    }  # fmt: skip
    if len(thresholds):
        coordinates["threshold"] = thresholds
    return xr.Dataset(data, coordinates, dict(attrs))
