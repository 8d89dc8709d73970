"""Scores in bins: AUC and curves of streams in bounded memory, with a bound of the error.

A tally keeps one cell per subgroup and distinct score. Where scores are continuous that is one cell per row; binned, it
is at most one cell per subgroup and bin, whatever comes. Pairs in different bins keep their order and are counted
exactly. Pairs in one bin become ties, which count one half; each is wrong by one half at most, so

    |AUC of bins - AUC of scores| <= 1/2 sum over bins of n1_b n0_b / (n1 n0).
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.tallies.addition import add_tallies
from bayesgroups.tallies.auc import sort_cells, statistics
from bayesgroups.tallies.auc_variances import score_cells


def check_edges(edges: ArrayLike) -> FloatArray:
    """Edges as an array; at least two, finite and increasing."""
    values = np.asarray(edges, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all() or not (np.diff(values) > 0).all():
        raise InputError("edges= must be two or more finite, increasing numbers, such as np.linspace(0, 1, 1001)")
    return values


def bin_scores(tally: xr.Dataset, edges: ArrayLike) -> xr.Dataset:
    """Bin the scores that a tally keeps; binned tallies with the same edges add up to a binned tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with an ``auc`` as its metric, or one among others.
    edges : array (edge,)
        Increasing. A bin holds its lower edge and not its upper one, as the decision ``score >= edge`` does, so every
        count at a threshold that is an edge stays exact. The last bin holds both of its edges.

    Returns
    -------
    xr.Dataset
        With score cells at the lower edges, and estimate and variances of every AUC as the bins have them.

    Raises
    ------
    InputError
        If edges are not increasing, the tally keeps no scores, a score is outside the edges, or ties of an AUC do not
        count one half (then the bound would not hold).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.tallies.score_histograms import auc_error_bound, bin_scores
    >>> rows = pd.DataFrame({"s": ["a"] * 4, "y": [0, 1, 1, 0], "p": [0.21, 0.24, 0.9, 0.35]})
    >>> exact = bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p")
    >>> binned = bin_scores(exact, np.linspace(0, 1, 11))
    >>> exact["estimate"].values.tolist(), binned["estimate"].values.tolist(), auc_error_bound(binned).values.tolist()
    ([[0.75]], [[0.625]], [0.125])
    """
    bounds, cells = check_edges(edges), score_cells(tally)
    bad = (cells.score < bounds[0]) | (cells.score > bounds[-1])
    if bad.any():
        worst = int(np.argmax(bad))
        where = str(tally["subgroup"].values[cells.subgroup[worst]])
        raise InputError(
            f"subgroup {where!r} has the score {cells.score[worst]}, outside the edges from {bounds[0]} to {bounds[-1]}"
        )
    for metric, kind, ties in zip(tally["metric"].values, tally["kind"].values, tally["ties"].values, strict=True):
        if str(kind) == "auc" and ties != 0.5:
            raise InputError(f"metric {str(metric)!r} counts ties as {ties}; bins need ties that count one half")
    bins = np.minimum(np.searchsorted(bounds, cells.score, side="right") - 1, len(bounds) - 2)
    binned = sort_cells(replace(cells, score=bounds[bins]))
    replaced = tally.drop_dims("score_cell").assign(
        binned.variables(weighted="score_positive_squares" in tally.data_vars)
    )
    total = add_tallies([replaced])  # one part: whatever rests on the scores is made anew
    total.attrs["settings"] = as_json({**json.loads(tally.attrs["settings"]), "score_edges": bounds.tolist()})
    return total


def auc_error_bound(tally: xr.Dataset) -> xr.DataArray:
    """Bound on the difference between the AUC of binned scores and that of the scores themselves.

    Parameters
    ----------
    tally : xr.Dataset
        From `bin_scores`, or a sum of such.

    Returns
    -------
    xr.DataArray
        ``(subgroup,)``, half the share of pairs of a positive and a negative in one bin; NaN where a class is empty.

    Raises
    ------
    InputError
        If the tally keeps no scores.

    Notes
    -----
    Attained when all pairs of every bin are ordered alike. About 1 / (2 bins) times the mean product of the two
    densities of the scores, in units of their range: 1,000 bins give about .001 or less.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"site": ["a"] * 4, "y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.7, 0.9]})
    >>> exact = bg.tally(rows, by=["site"], metrics=["auc"], y_true="y", y_score="score")
    >>> binned = bin_scores(exact, np.array([0.0, 0.5, 1.0]))  # .6 shares a bin with .7 and .9
    >>> auc_error_bound(binned).values.tolist(), binned["estimate"].values.tolist()
    ([0.25], [[0.75]])
    """
    cells, size = score_cells(tally), tally.sizes["subgroup"]
    half, strict = (statistics(cells, size, ties=ties).estimate for ties in (0.5, 0.0))
    return xr.DataArray(half - strict, dims="subgroup", coords=tally["subgroup"].coords, name="auc_error_bound")
