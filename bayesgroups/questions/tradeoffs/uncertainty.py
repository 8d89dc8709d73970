"""Uncertainty of a comparison of curves: areas of several methods draw by draw, and the band around a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.tradeoffs.areas import Reading, Within, auc_pfc
from bayesgroups.questions.tradeoffs.curves import curve
from bayesgroups.questions.tradeoffs.points import goals, mean_points, pair, read_points, without_unknown
from bayesgroups.report.levels import LEVELS

if TYPE_CHECKING:
    import pandas as pd

OF_DRAWS = "draw-based"
"""Kind of limits that are quantiles of draws: credible of a posterior, confidence of a bootstrap over runs."""


@checked_keywords
def compare_auc_pfc(
    methods: Mapping[str, xr.Dataset],
    *,
    anchor: float | tuple[float, float],
    reading: Reading = "frontier",
    within: Within | None = None,
    utopia: tuple[float, float] | None = None,
    normalise: bool = False,
) -> xr.Dataset:
    """Compare the areas of several methods with their uncertainty.

    Parameters
    ----------
    methods : mapping
        The candidates of each method, with equally many draws, from `points_from_runs` or `points_from_reports`. The
        draws of two methods are paired by position.
    anchor, reading, within, utopia, normalise
        As in `bayesgroups.auc_pfc`, the same for all.

    Returns
    -------
    xr.Dataset
        Along ``system``: ``area`` (chain, draw, system); ``estimate``, the area at the means of the draws; ``lower``,
        ``upper`` (system, level), equal-tailed limits; ``probability_best``; and ``probability_larger`` (system, other), that
        the first has the larger area. Ties are shared.

    Raises
    ------
    InputError
        If there are no two methods or their draws differ, or as in `bayesgroups.auc_pfc`.

    Notes
    -----
    The frontier of noisy candidates is a maximum and so lies too high, higher with more candidates and more noise. The draws
    repeat that error: they tend to lie above the estimate, as the estimate does above the truth, and are not centred on it.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> from bayesgroups.questions.tradeoffs import compare_auc_pfc
    >>> rng = np.random.default_rng(1)
    >>> def near(performance, fairness):
    ...     noise = rng.normal(0, 0.003, (2, 500, 2))
    ...     dims = ("draw", "candidate")
    ...     return xr.Dataset({"performance": (dims, performance + noise[0]), "fairness": (dims, fairness + noise[1])})
    >>> methods = {"a": near([0.7, 0.6], [0.7, 0.8]), "b": near([0.7, 0.6], [0.6, 0.7])}
    >>> compared = compare_auc_pfc(methods, anchor=0.5)
    >>> bool(compared["probability_larger"].sel(system="a", other="b") > 0.99)
    True
    """
    if len(methods) < 2:
        raise InputError(f"a comparison needs two methods or more; got {list(methods)}")
    tables = {name: read_points(points) for name, points in methods.items()}
    sizes = {
        name: {dim: table.sizes[dim] for dim in table.dims if dim != "candidate"} for name, table in tables.items()
    }
    first = next(iter(sizes))
    other = next((name for name in sizes if sizes[name] != sizes[first]), None)
    if other is not None or not sizes[first]:
        got = "no draws" if other is None else f"{sizes[first]} and {sizes[other]} for {first!r} and {other!r}"
        raise InputError(f"the methods need draws, equally many; got {got}")
    areas: list[FloatArray] = []
    estimates: list[FloatArray] = []
    for table in tables.values():
        for points, into in ((table, areas), (mean_points(table), estimates)):
            area = auc_pfc(
                points, anchor=anchor, reading=reading, within=within, utopia=utopia, normalise=normalise
            )  # fmt: skip
            into.append(np.asarray(area.values, dtype=np.float64))
    stacked = np.stack(areas, axis=-1)
    flat = stacked.reshape(-1, len(tables))
    larger = (flat[:, :, None] > flat[:, None, :]) + 0.5 * (flat[:, :, None] == flat[:, None, :])
    best = flat == (flat.min if reading.startswith("polar") else flat.max)(axis=1, keepdims=True)
    tails = (1 - np.array(LEVELS)) / 2
    names = np.array(list(tables), dtype=str)
    return xr.Dataset(
        {
            "area": ((*sizes[first], "system"), stacked),
            "estimate": ("system", np.stack(estimates)),
            "lower": (("system", "level"), np.quantile(flat, tails, axis=0).T),
            "upper": (("system", "level"), np.quantile(flat, 1 - tails, axis=0).T),
            "probability_best": ("system", (best / best.sum(axis=1, keepdims=True)).mean(axis=0)),
            "probability_larger": (("system", "other"), larger.mean(axis=0)),
        },
        {"system": names, "other": names, "level": np.array(LEVELS)},
        attrs={
            "reading": reading,
            "anchor": list(pair(anchor, "anchor", fairness=1.0)),
            "interval_kind": OF_DRAWS,
            "interval_method": "equal_tailed",
            "estimand": "area between the curve of each system and the anchor",
        },
    )


def frontier_band(
    points: pd.DataFrame | xr.Dataset, *, anchor: float | tuple[float, float], performance: ArrayLike | None = None
) -> xr.Dataset:
    """Say which fairness the curve has at each performance, with limits from the draws.

    Parameters
    ----------
    points : pandas DataFrame or xr.Dataset
        The candidates of one method; without draws the limits are the curve itself.
    anchor : float or (performance, fairness)
        As in `bayesgroups.auc_pfc`.
    performance : array, optional
        Where to look; 101 places from the anchor to the best performance of the means where left out.

    Returns
    -------
    xr.Dataset
        Along ``performance``: ``fairness`` (median), ``lower`` and ``upper`` (also ``level``) among the draws whose curve
        goes that far, and ``probability_reached``, their share; NaN where it is 0.

    Raises
    ------
    InputError
        If the points or the anchor cannot be read, or ``performance`` is no list of finite numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.questions.tradeoffs import frontier_band
    >>> points = pd.DataFrame({"performance": [0.8, 0.6], "fairness": [0.6, 0.8]})
    >>> frontier_band(points, anchor=0.5, performance=[0.55, 0.7, 0.9])["fairness"].values.round(6).tolist()
    [0.9, 0.7, nan]
    """
    table = without_unknown(read_points(points))
    start = pair(anchor, "anchor", fairness=1.0)
    if performance is None:
        grid = np.linspace(start[0], float(mean_points(table)["performance"].max()), 101)
    else:
        grid = np.asarray(performance, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0 or not np.isfinite(grid).all():
        raise InputError(f"performance= must be a list of finite numbers; got {performance!r}")
    corners = curve(*goals(table), start)
    shape = (-1, corners.performance.shape[-1])
    heights = np.array(
        [
            np.interp(grid, p, f, left=np.nan, right=np.nan)
            for p, f in zip(corners.performance.reshape(shape), corners.fairness.reshape(shape), strict=True)
        ]
    )
    reached = np.isfinite(heights).mean(axis=0)
    tails = (1 - np.array(LEVELS)) / 2
    quantiles = np.full((1 + 2 * len(tails), len(grid)), np.nan)
    somewhere = reached > 0
    quantiles[:, somewhere] = np.nanquantile(heights[:, somewhere], [0.5, *tails, *(1 - tails)], axis=0)
    return xr.Dataset(
        {
            "fairness": ("performance", quantiles[0]),
            "lower": (("performance", "level"), quantiles[1 : 1 + len(tails)].T),
            "upper": (("performance", "level"), quantiles[1 + len(tails) :].T),
            "probability_reached": ("performance", reached),
        },
        {"performance": grid, "level": np.array(LEVELS)},
        attrs={
            "anchor": list(start),
            "interval_kind": OF_DRAWS,
            "interval_method": "equal_tailed",
            "estimand": "fairness of the curve at each performance",
        },
    )
