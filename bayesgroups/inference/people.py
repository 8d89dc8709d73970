"""From values of endless populations, which PyMC models describe, to those of the people of the subgroups."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.draw_blocks import blocks
from bayesgroups.inference.posterior import generator
from bayesgroups.models.sampled_share import people, values
from bayesgroups.models.tasks import stack
from bayesgroups.models.variances import with_shrunk_variances

FloatArray = NDArray[np.float64]


def of_people(tally: xr.Dataset, draws: xr.Dataset, share: float, *, rates: bool, tasks: bool, seed: int) -> xr.Dataset:
    """Replace the values of endless populations by those of the people of whom a share was sampled.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with one metric, or with tasks.
    draws : xr.Dataset
        Draws of a crossed model, with ``mu(chain, draw, metric, subgroup)``.
    share : float
        Share of the people of a subgroup whose rows are in the tally.
    rates : bool
        Whether the likelihood is binomial.
    tasks : bool
        Whether the metrics are tasks.
    seed : int
        Source of randomness.

    Returns
    -------
    xr.Dataset
        The draws with another ``mu``, which takes the place of the one that is given.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> tally = bg.tally_from_counts([1, 3], [2, 4], pd.DataFrame({"sex": ["f", "m"]}))
    >>> endless = xr.Dataset({"mu": (("chain", "draw", "metric", "subgroup"), np.full((1, 2, 1, 2), 0.3))})
    >>> of_people(tally, endless, 1.0, rates=True, tasks=False, seed=1)["mu"].values[0, 0].tolist()
    [[0.5, 0.75]]
    """
    source = with_shrunk_variances(stack(tally) if tasks else tally)
    of = people(source, share)
    draws = draws.transpose("chain", "draw", "metric", ...)
    flat = np.ascontiguousarray(draws["mu"].values, dtype=np.float64).reshape(-1, source.sizes["subgroup"])
    rng = generator(seed, ", ".join(str(metric) for metric in tally["metric"].values), "people")
    for block in blocks(*flat.shape):  # in place: with many subgroups a copy is most of the memory
        flat[block] = values(flat[block], of, rng, rates=rates)
    return draws.assign(mu=draws["mu"].copy(data=flat.reshape(draws["mu"].shape)))
