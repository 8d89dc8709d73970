"""From runs with different seeds to candidates: the mean of each setting, or its bootstrap over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.tradeoffs.points import GOALS

if TYPE_CHECKING:
    import pandas as pd


def points_from_runs(runs: pd.DataFrame, by: str | Sequence[str], *, draws: int = 0, seed: int = 0) -> xr.Dataset:
    """Average the runs of each setting, and draw those averages again by a bootstrap over runs.

    Parameters
    ----------
    runs : pandas DataFrame
        One row per run, with ``performance`` and ``fairness`` and the columns of the setting.
    by : str or sequence of str
        The columns that make a setting; runs that agree in them differ in their seed alone.
    draws : int
        Bootstrap draws; 0 for the averages alone.
    seed : int
        Source of randomness.

    Returns
    -------
    xr.Dataset
        ``performance`` and ``fairness`` (candidate), or (chain = 1, draw, candidate) with the draws of the means; ``runs``
        (candidate). A candidate of one run does not vary. Candidates are in the order in which they first appear.

    Raises
    ------
    InputError
        If a column is missing, a setting has a missing value, or ``draws`` is negative.

    Notes
    -----
    Both goals of a run are drawn together. With few seeds the bootstrap is too confident, by a factor of about
    sqrt((n - 1) / n) in the standard error; rows of the test set are taken as given.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.questions.tradeoffs import points_from_runs
    >>> runs = pd.DataFrame({"weight": [0, 0, 1], "performance": [0.8, 0.6, 0.5], "fairness": [0.5, 0.7, 0.9]})
    >>> points = points_from_runs(runs, "weight")
    >>> points["performance"].values.round(6).tolist(), points["runs"].values.tolist()
    ([0.7, 0.5], [2, 1])
    """
    columns = [by] if isinstance(by, str) else list(by)
    absent = [name for name in (*columns, *GOALS) if name not in runs.columns]
    if absent or not columns:
        advice = near_misses(absent[0], map(str, runs.columns)) if absent else "name at least one"
        raise InputError(f"runs have no column {absent[0]!r}; {advice}" if absent else f"by= is empty; {advice}")
    if draws < 0:
        raise InputError(f"draws={draws} must be 0 or more")
    if len(runs) == 0:
        raise InputError("runs has no rows; give at least one run")
    if runs[columns].isna().to_numpy().any():
        raise InputError(f"a setting is missing in {columns}; name all of them")
    groups = runs.groupby(columns, sort=False, observed=True)
    code = groups.ngroup().to_numpy()
    size = np.bincount(code)
    keys = runs.drop_duplicates(columns)[columns].astype(str).to_numpy().tolist()
    order = np.argsort(code, kind="stable")
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    goals = {goal: runs[goal].to_numpy(dtype=np.float64)[order] for goal in GOALS}
    coordinates = {"candidate": np.array([" | ".join(key) for key in keys], dtype=str)}
    data: dict[str, tuple[tuple[str, ...], np.ndarray]] = {"runs": (("candidate",), size)}
    if draws == 0:
        means = {goal: np.add.reduceat(values, first) / size for goal, values in goals.items()}
        return xr.Dataset(data | {goal: (("candidate",), mean) for goal, mean in means.items()}, coordinates)
    # Each place of a run gets a run of its own setting.
    place = np.repeat(first, size)
    rng = np.random.default_rng(seed)
    chosen = place + rng.integers(0, np.repeat(size, size), size=(draws, len(runs)))
    for goal, values in goals.items():
        data[goal] = (("chain", "draw", "candidate"), (np.add.reduceat(values[chosen], first, axis=-1) / size)[None])
    return xr.Dataset(data, coordinates)
