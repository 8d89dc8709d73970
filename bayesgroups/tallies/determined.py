"""Attributes that determine a rate: it is 0 or 1 in every one of their levels."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.tallies.subgroups import attributes_of

MIN_ROWS_OF_LEVEL = 10
"""Rows of every level from which this is no chance of few rows."""


def determined_notes(tally: xr.Dataset) -> list[str]:
    """Sentences, one for every rate and attribute of which the one follows from the other.

    Such a table is mostly a slip: subgroups formed by the decision or the outcome itself. The effect of the attribute has no
    bound on the logit scale, so that posteriors have long tails and take minutes.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"site": list("ab") * 20, "sex": list("ffmm") * 10, "d": [0, 1] * 20})
    >>> determined_notes(bg.tally(rows, ["site", "sex"], "sel", y_pred="d"))[0].partition(";")[0]
    "sel: it is 0 or 1 in every level of 'site', which determines it"
    """
    if "successes" not in tally:
        return []
    sentences = []
    for i, metric in enumerate(tally["metric"].values):
        k, n = (np.asarray(tally[name].values[i], dtype=np.float64) for name in ("successes", "count"))
        seen = np.isfinite(k) & (n > 0)
        for name in attributes_of(tally):
            levels, at = np.unique(tally[name].values.astype(str)[seen], return_inverse=True)
            successes, rows = (np.bincount(at, weights=part[seen], minlength=len(levels)) for part in (k, n))
            none, every = successes == 0, successes == rows
            if (
                len(levels) > 1
                and (none | every).all()
                and none.any()
                and every.any()
                and rows.min() >= MIN_ROWS_OF_LEVEL
            ):
                sentences.append(
                    f"{metric}: it is 0 or 1 in every level of {name!r}, which determines it; leave {name!r} out of by=, for its "
                    "effect has no bound, and a fit takes minutes"
                )
    return sentences
