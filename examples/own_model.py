"""A PyMC model of one's own, in the form of the package's: a function of a tally, with named dims."""

from __future__ import annotations

import numpy as np
import pymc as pm
import xarray as xr


def build(tally: xr.Dataset, *, rows: float) -> pm.Model:
    """Rates with a Beta prior around the overall rate, worth so many rows.

    Parameters
    ----------
    tally : xr.Dataset
        A tally of rates.
    rows : float
        What the prior is worth.

    Returns
    -------
    pm.Model
        ``mu(metric, subgroup)``, rates.
    """
    count = np.nan_to_num(tally["count"].values).round().astype(int)
    successes = np.nan_to_num(tally["successes"].values).round().astype(int)
    overall = successes.sum(axis=1, keepdims=True) / count.sum(axis=1, keepdims=True)
    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    with pm.Model(coords=coords) as model:
        dims = ("metric", "subgroup")
        mu = pm.Beta("mu", alpha=rows * overall, beta=rows * (1 - overall), dims=dims)
        pm.Binomial("y", n=count, p=mu, observed=successes, dims=dims)
    return model
