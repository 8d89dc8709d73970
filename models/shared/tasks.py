"""Several metrics or systems as tasks: a tally whose metrics become one more attribute of its subgroups. No PyMC here."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

TASK = "task"
"""Name of the attribute."""

_CELLS = ("rows", "count", "successes", "estimate", "row_variance", "sampling_variance")


def stack(tally: xr.Dataset) -> xr.Dataset:
    """One metric, and a subgroup for every task and subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally whose metrics are the tasks, all of one kind and range.

    Returns
    -------
    xr.Dataset
        What models read of a tally, with one metric ``task``; subgroups run over metrics first, and ``attrs["by"]`` begins
        with ``task``.

    Raises
    ------
    ValueError
        If the metrics differ in kind or range, so that they cannot share a scale.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"estimate": (cells, [[0.1, 0.2], [0.3, 0.4]]), "rows": ("subgroup", [5.0, 6.0]), "kind": ("metric", ["rate"] * 2),
    ...      "range_lower": ("metric", [0.0] * 2), "range_upper": ("metric", [1.0] * 2)},
    ...     coords={"metric": ["fnr of x", "fnr of y"], "subgroup": ["a", "b"], "race": ("subgroup", ["a", "b"])},
    ...     attrs={"by": '{"by": ["race"]}'})
    >>> stack(tally)["estimate"].values.tolist(), stack(tally)["task"].values.tolist()
    ([[0.1, 0.2, 0.3, 0.4]], ['fnr of x', 'fnr of x', 'fnr of y', 'fnr of y'])
    """
    for name in ("kind", "range_lower", "range_upper"):
        if len(set(tally[name].values.tolist())) > 1:
            raise ValueError(
                f"tasks must be alike, but {name} differs between {', '.join(map(repr, tally['metric'].values.tolist()))}; "
                f"fit them without tasks"
            )
    metrics, number = tally["metric"].values, tally.sizes["subgroup"]
    columns = json.loads(tally.attrs["by"])
    by = columns["by"]
    labels = [f"{metric} | {subgroup}" for metric in metrics for subgroup in tally["subgroup"].values]
    attributes = {TASK: np.repeat(metrics, number)} | {name: np.tile(tally[name].values, len(metrics)) for name in by}
    data = {
        name: tally[name].broadcast_like(tally["estimate"]).transpose("metric", "subgroup").values.reshape(1, -1)
        for name in _CELLS
        if name in tally
    }
    rows = data.pop("rows", np.full((1, len(labels)), np.nan))[0]
    single = {
        name: tally[name].values[:1]
        for name in ("kind", "range_lower", "range_upper", "larger_is_better")
        if name in tally
    }
    if "pooled_variance" in tally:
        single["pooled_variance"] = np.array([float(tally["pooled_variance"].mean())])
    stacked = xr.Dataset(
        {
            "rows": ("subgroup", rows),
            **{name: (("metric", "subgroup"), value) for name, value in data.items()},
            **{name: ("metric", value) for name, value in single.items()},
        },
        coords={
            "metric": [TASK],
            "subgroup": labels,
            **{name: ("subgroup", value) for name, value in attributes.items()},
        },
        attrs={"by": json.dumps({**columns, "by": [TASK, *by]})},
    )
    if "feature_mean" in tally:
        features = np.tile(tally["feature_mean"].transpose("subgroup", "feature").values, (len(metrics), 1))
        stacked["feature_mean"] = (("subgroup", "feature"), features)
        stacked = stacked.assign_coords(feature=tally["feature"].values)
    return stacked
