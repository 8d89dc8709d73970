"""A report as a dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesgroups.report.view import marked, metrics_of, read
from bayesgroups.tallies.subgroups import attributes_of

if TYPE_CHECKING:
    import pandas as pd


def report_frame(report: xr.DataTree, *, level: float = 0.95, truth: xr.DataArray | None = None) -> pd.DataFrame:
    """A report as one row per metric and subgroup.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    level : float
        Level of the intervals.
    truth : xr.DataArray, optional
        True values along ``subgroup`` (and ``metric``).

    Returns
    -------
    pandas.DataFrame
        Columns ``metric``, ``subgroup``, one per attribute, ``level`` of the intervals, ``count``, ``remark`` (with a mark where
        the Bayesian fit failed its diagnostics); per approach
        ``<approach>`` (the estimate), ``<approach>_lower``, ``<approach>_upper``, ``<approach>_status``,
        ``<approach>_estimand`` (what is estimated, in words), ``<approach>_interval_kind`` and
        ``<approach>_interval_method``; with a truth also ``truth`` and ``<approach>_covers``. An attribute named like
        such a column gives way to it.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the level is not in the report or the truth does not fit it.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> frame = report_frame(bg.estimate(counts, bg.NoPooling(), seed=1))
    >>> frame[["site", "count", "frequentist"]].values.tolist()
    [['a', 2.0, 0.5], ['b', 100.0, 0.3]]
    """
    import pandas as pd

    readings = {name: read(report, name, level=level, truth=truth) for name in metrics_of(report)}
    table = report["estimates"].to_dataset()
    attributes = {name: table[name].values.astype(str) for name in attributes_of(table)}
    blocks = []
    for name, reading in readings.items():
        columns: dict[str, Any] = {**attributes, "metric": name, "subgroup": table["subgroup"].values.astype(str)}
        remarks = [marked(each, usable=reading.usable).removeprefix("; ") for each in reading.remarks()]
        columns |= {"level": level, "count": reading.count, "remark": remarks}
        for side in (reading.bayesian, reading.frequentist):
            columns |= {
                side.approach: side.estimate,
                f"{side.approach}_lower": side.lower,
                f"{side.approach}_upper": side.upper,
                f"{side.approach}_status": list(side.status),
                f"{side.approach}_estimand": side.estimand,
                f"{side.approach}_interval_kind": side.interval_kind,
                f"{side.approach}_interval_method": list(side.interval_method),
            }
            if reading.truth is not None:
                columns |= {"truth": reading.truth, f"{side.approach}_covers": reading.inside(side)}
        blocks.append(pd.DataFrame(columns))
    first = ["metric", "subgroup", *[name for name in attributes if name not in ("metric", "subgroup")]]
    frame: pd.DataFrame = pd.concat(blocks, ignore_index=True)
    return frame.reindex(columns=first + [name for name in frame.columns if name not in first])
