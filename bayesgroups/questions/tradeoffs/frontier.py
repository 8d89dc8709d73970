"""The Pareto frontier of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.questions.tradeoffs.curves import efficient
from bayesgroups.questions.tradeoffs.points import goals, mean_points, read_points, without_unknown

if TYPE_CHECKING:
    import pandas as pd


@overload
def pareto_frontier(points: xr.Dataset) -> xr.Dataset: ...
@overload
def pareto_frontier(points: pd.DataFrame) -> pd.DataFrame: ...
@checked_keywords
def pareto_frontier(points: pd.DataFrame | xr.Dataset) -> pd.DataFrame | xr.Dataset:
    """Keep the candidates that no other beats, by rising performance.

    A candidate stays if none is at least as good in both goals and better in one; of equal ones the first stays. Use
    development data: a frontier of the test set, from which one selects, is a leak.

    Parameters
    ----------
    points : pandas DataFrame or xr.Dataset
        ``performance`` and ``fairness``, both larger the better, per candidate.

    Returns
    -------
    pandas DataFrame or xr.Dataset
        The rows of the DataFrame, all columns; or a Dataset along ``candidate``. With draws those that are efficient at
        the mean of the draws, with their draws and ``probability_efficient(candidate)``.

    Raises
    ------
    InputError
        If the points cannot be read or all have NaN.

    Warns
    -----
    UserWarning
        If a candidate has NaN; it is left out.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, section 4.2.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> points = pd.DataFrame({"performance": [0.80, 0.62, 0.72, 0.75], "fairness": [0.60, 0.97, 0.70, 0.80]})
    >>> bg.pareto_frontier(points).index.tolist()
    [1, 3, 0]
    """
    table = without_unknown(read_points(points))
    centre = mean_points(table)
    performance, fairness = goals(centre)
    kept = np.flatnonzero(efficient(performance, fairness))
    kept = kept[np.argsort(performance[kept], kind="stable")]
    if isinstance(points, xr.Dataset):
        frontier = table.isel(candidate=kept)
        if table.sizes.keys() == {"candidate"}:
            return frontier
        return frontier.assign(probability_efficient=probability_efficient(table).isel(candidate=kept))
    everybody = read_points(points)["candidate"].values.tolist()
    return points.iloc[[everybody.index(name) for name in table["candidate"].values[kept].tolist()]]


def probability_efficient(points: xr.Dataset) -> xr.DataArray:
    """Say how often each candidate is on the frontier of its draw.

    Parameters
    ----------
    points : xr.Dataset
        ``performance`` and ``fairness`` along ``chain``, ``draw`` and the candidates.

    Returns
    -------
    xr.DataArray
        Along ``candidate``, in [0, 1]; 0 or 1 without draws. Draws that are exactly equal count for the first candidate.

    Raises
    ------
    InputError
        If the points cannot be read or all have NaN.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = {"performance": [[0.8, 0.7], [0.8, 0.7]], "fairness": [[0.6, 0.9], [0.6, 0.5]]}
    >>> points = xr.Dataset({goal: (("draw", "candidate"), values) for goal, values in draws.items()})
    >>> probability_efficient(points).values.tolist()
    [1.0, 0.5]
    """
    table = without_unknown(read_points(points))
    mask = efficient(*goals(table))
    share = mask.reshape(-1, mask.shape[-1]).mean(axis=0)
    return xr.DataArray(share, {"candidate": table["candidate"].values}, name="probability_efficient")
