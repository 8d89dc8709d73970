"""Numbers per subgroup, with or without draws, wherever they come from: the input of every measure of disparity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.report.draw_blocks import blocks
from bayesgroups.report.schema import check
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values
from bayesgroups.tallies.participation import Imputed, participants

FloatArray = NDArray[np.float64]

Approach = Literal["bayesian", "frequentist"]
_GROUPS = {"bayesian": "posterior", "frequentist": "bootstrap"}


@dataclass(frozen=True)
class Source:
    """A tally, and draws ``mu`` of its metrics, dims (sample, metric, subgroup), where there are any.

    ``kind`` says what the draws are: ``posterior`` or ``bootstrap``, or ``plug_in`` without any; ``estimands`` (metric,) names
    the values of the subgroups in words, empty where a report does not.
    """

    tally: xr.Dataset
    mu: FloatArray | None
    kind: str
    estimands: NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Values:
    """One metric: what was drawn (sample, every subgroup), and which samples and subgroups are in use.

    Samples without a value in one of the subgroups in use are not; ``dropped`` counts them. ``count`` has the denominators
    of the subgroups in use, ``left_out`` the labels of the others.
    """

    drawn: FloatArray
    whole: NDArray[np.bool_]
    used: NDArray[np.bool_]
    count: FloatArray
    left_out: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and subgroups in use."""
        return int(self.whole.sum()), int(self.used.sum())

    @property
    def dropped(self) -> int:
        """Samples that are not in use."""
        return int((~self.whole).sum())

    @property
    def y(self) -> FloatArray:
        """The values in use, (sample, subgroup)."""
        return np.asarray(self.drawn[self.whole][:, self.used], dtype=np.float64)

    def by_sample(self, summary: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Summary of the values in use, from (sample, subgroup) to (sample,), never of all samples at once."""
        found = [
            summary(self.drawn[block][self.whole[block]][:, self.used])
            for block in blocks(*self.drawn.shape)
            if self.whole[block].any()
        ]
        return np.concatenate(found) if found else np.zeros(0)


def open_source(source: object, approach: Approach = "bayesian") -> Source:
    """Find the tally and the draws.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally or a report.
    approach : {"bayesian", "frequentist"}
        Of a report, its posterior or its bootstrap.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If the approach does not exist, or the report was made, or saved, without its draws.
    SchemaError
        If the source is neither a tally nor a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> tally = bg.tally_from_counts([1, 3], [10, 9], pd.DataFrame({"site": ["a", "b"]}))
    >>> open_source(tally).kind, open_source(bg.estimate(tally, bg.NoPooling(), seed=1)).kind
    ('plug_in', 'posterior')
    """
    if approach not in _GROUPS:
        raise InputError(f"approach={approach!r} does not exist; choose 'bayesian' or 'frequentist'")
    if isinstance(source, xr.Dataset) and source.attrs.get("schema") == SCHEMA:
        return Source(source, None, "plug_in", superpopulation_values(source))
    check(source)
    assert isinstance(source, xr.DataTree), "checked"
    group = _GROUPS[approach]
    if group not in source.children:
        mend = "ask bg.NoPooling(bootstrap=2000) for it" if group == "bootstrap" else "save the report with its draws"
        raise InputError(f"the report has no group {group!r}, which approach={approach!r} needs; {mend}")
    mu = source[group].to_dataset()["mu"].transpose("chain", "draw", "metric", "subgroup").values
    estimands = reported_estimands(source["estimates"].to_dataset().sel(approach=approach))
    return Source(source["constant_data"].to_dataset(), mu.reshape(-1, *mu.shape[2:]), group, estimands)


def values(source: Source, position: int, imputed: Imputed = "leave_out") -> Values:
    """Take one metric out of a source, with the subgroups that take part.

    Parameters
    ----------
    source : Source
        From `open_source`.
    position : int
        Of the metric.
    imputed : {"leave_out", "include"}
        Whether subgroups without rows that count take part where draws answer for them.

    Returns
    -------
    Values

    Raises
    ------
    InputError
        If ``imputed`` is something else.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> tally = bg.tally_from_counts([1, 3, 0], [10, 9, 0], pd.DataFrame({"site": ["a", "b", "c"]}))
    >>> found = values(open_source(tally), 0)
    >>> found.y.shape, found.left_out
    ((1, 2), ('c (no rows)',))
    """
    one = source.tally.isel(metric=position)
    y = one["estimate"].values[None] if source.mu is None else source.mu[:, position]
    answered = np.any([np.isfinite(y[block]).any(axis=0) for block in blocks(*y.shape)], axis=0)
    observed = np.isfinite(one["estimate"].values)
    taking_part = participants(one, answered | observed, imputed)
    used = taking_part.included
    whole = np.concatenate([np.isfinite(y[block][:, used]).all(axis=1) for block in blocks(*y.shape)])
    count = np.asarray(one["count"].values[used], dtype=np.float64)
    return Values(y, whole, used, count, taking_part.left_out)
