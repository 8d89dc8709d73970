"""Posterior of the bounds themselves: what is known of the shares, and no more.

    (a, d) ~ Dirichlet(prior + counts)   in each subgroup, over labels and agreement

and the bounds of every draw. No prior is needed for where disagreement goes, since bounds do not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.disagreement.bounds import Across, disagreement_bounds
from bayesgroups.disagreement.differences import differences, over_labels
from bayesgroups.disagreement.notions import Notion
from bayesgroups.disagreement.rates import bounds
from bayesgroups.errors import InputError
from bayesgroups.levels import LEVELS

FloatArray = NDArray[np.float64]

PRIOR = 0.5
"""Parameter of the Dirichlet prior of every cell."""


def credible_sets(
    tally: xr.Dataset,
    notion: Notion,
    *,
    seed: int,
    across: Across | None = None,
    prior: float = PRIOR,
    draws: int = 4000,
) -> xr.Dataset:
    """Credible sets for the sharp bounds of a notion.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.disagreement_tally`. Judgements are taken for independent, critics and items notwithstanding.
    notion : str
        As in `bayesgroups.disagreement_bounds`.
    seed : int
        Source of randomness.
    across : {"subgroups"}, optional
        As in `bayesgroups.disagreement_bounds`.
    prior : float
        Parameter of the Dirichlet prior, positive.
    draws : int
        Number of draws.

    Returns
    -------
    xr.Dataset
        ``lower``, ``upper`` (posterior means of the ends), ``credible_lower``, ``credible_upper`` (.., level): with
        probability ``level`` or more the bounds lie within. A subgroup without judgements has what the prior implies.

    Raises
    ------
    InputError
        If the prior is not a positive number.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.disagreement import credible_sets
    >>> said, disagrees = [*"a" * 50, *"b" * 30, *"c" * 20], [0] * 40 + [1] * 10 + [0] * 18 + [1] * 12 + [0] * 10 + [1] * 10
    >>> rows = pd.DataFrame({"sex": "f", "said": said, "disagrees": disagrees})
    >>> found = credible_sets(bg.disagreement_tally(rows, ["sex"], "said", "disagrees"), "equal_opportunity", seed=1)
    >>> found["lower"].sel(label="a").values.round(2).tolist()
    [0.64]
    """
    if not (np.isfinite(prior) and prior > 0):
        raise InputError(f"prior={prior} must be a positive number")
    template = disagreement_bounds(tally, notion, across=across)
    agree, disagree = shares(tally["agreements"].values, tally["disagreements"].values, prior, draws, seed)
    rate = bounds(agree, disagree, notion)
    ends = rate if across is None else over_labels(differences(rate))
    below, above = [(1 - level) / 2 for level in LEVELS], [(1 + level) / 2 for level in LEVELS]
    dims = template["lower"].dims
    data: dict[str, Any] = {
        "lower": (dims, ends.lower.mean(axis=0)),
        "upper": (dims, ends.upper.mean(axis=0)),
        "credible_lower": ((*dims, "level"), np.moveaxis(np.quantile(ends.lower, below, axis=0), 0, -1)),
        "credible_upper": ((*dims, "level"), np.moveaxis(np.quantile(ends.upper, above, axis=0), 0, -1)),
    }
    attrs = {**template.attrs, "interval_kind": "bound", "interval_method": "dirichlet"}
    return xr.Dataset(data, coords={**template.coords, "level": np.array(LEVELS)}, attrs=attrs)


def shares(
    agreements: FloatArray, disagreements: FloatArray, prior: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Draws of the shares of agreement and disagreement.

    Parameters
    ----------
    agreements, disagreements : arrays (label, subgroup)
        Counts.
    prior : float
        Parameter of the Dirichlet prior.
    draws : int
        Number of draws.
    seed : int
        Source of randomness.

    Returns
    -------
    tuple of two arrays (draw, label, subgroup)
        They sum to 1 over both and labels.
    """
    counts = np.stack([agreements, disagreements])
    mass = np.random.default_rng([seed, 9]).standard_gamma(prior + counts, size=(draws, *counts.shape))
    mass = mass / mass.sum(axis=(1, 2), keepdims=True)
    return mass[:, 0], mass[:, 1]
