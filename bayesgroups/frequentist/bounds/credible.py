"""Posterior of the bounds themselves: what is known of the shares, and no more.

    (a, d) ~ Dirichlet(prior + counts)   in each subgroup, over labels and agreement

and the bounds of every draw. No prior is needed for where disagreement goes, since bounds do not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds.bounds import Across, disagreement_bounds
from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.disagreement_notions import Notion
from bayesgroups.tallies.disagreement_rates import Bounds, bounds
from bayesgroups.tallies.participation import Imputed, check_imputed

PRIOR = 0.5
"""Parameter of the Dirichlet prior of every cell."""


def credible_sets(
    tally: xr.Dataset,
    notion: Notion,
    *,
    seed: int,
    across: Across | None = None,
    imputed: Imputed = "leave_out",
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
    imputed : {"leave_out", "include"}
        Whether a subgroup without judgements to bound a rate by, of which the prior alone speaks, counts for the largest
        difference.
    prior : float
        Parameter of the Dirichlet prior, positive.
    draws : int
        Number of draws.

    Returns
    -------
    xr.Dataset
        ``lower``, ``upper`` (posterior means of the ends), ``credible_lower``, ``credible_upper`` (.., level): with
        probability ``level`` or more the bounds lie within. A subgroup without judgements has what the prior implies; with
        ``across="subgroups"`` it takes no part by default, and ``left_out(label)`` names it.

    Raises
    ------
    InputError
        If the prior is not a positive number or a choice does not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist.bounds import credible_sets
    >>> said, disagrees = [*"a" * 50, *"b" * 30, *"c" * 20], [0] * 40 + [1] * 10 + [0] * 18 + [1] * 12 + [0] * 10 + [1] * 10
    >>> rows = pd.DataFrame({"sex": "f", "said": said, "disagrees": disagrees})
    >>> answer = credible_sets(bg.disagreement_tally(rows, ["sex"], "said", "disagrees"), "equal_opportunity", seed=1)
    >>> answer["lower"].sel(label="a").values.round(2).tolist()
    [0.64]
    """
    if not (np.isfinite(prior) and prior > 0):
        raise InputError(f"prior={prior} must be a positive number")
    check_imputed(imputed)
    template = disagreement_bounds(tally, notion, across=across)
    agree, disagree = shares(tally["agreements"].values, tally["disagreements"].values, prior, draws, seed)
    rate = bounds(agree, disagree, notion)
    if across is not None and imputed == "leave_out":
        observed = np.isfinite(bounds(tally["agreements"].values, tally["disagreements"].values, notion).lower)
        rate = Bounds(np.where(observed, rate.lower, np.nan), np.where(observed, rate.upper, np.nan))
    ends = rate if across is None else over_labels(differences(rate))
    below, above = [(1 - level) / 2 for level in LEVELS], [(1 + level) / 2 for level in LEVELS]
    dims = template["lower"].dims
    data: dict[str, Any] = {
        "lower": (dims, ends.lower.mean(axis=0)),
        "upper": (dims, ends.upper.mean(axis=0)),
        "credible_lower": ((*dims, "level"), np.moveaxis(np.quantile(ends.lower, below, axis=0), 0, -1)),
        "credible_upper": ((*dims, "level"), np.moveaxis(np.quantile(ends.upper, above, axis=0), 0, -1)),
    }
    if across is not None:
        nobody = xr.full_like(template["left_out"], "")
        data["left_out"] = template["left_out"] if imputed == "leave_out" else nobody
    attrs = {**template.attrs, "interval_kind": "bound", "interval_method": "dirichlet", "imputed": imputed}
    return xr.Dataset(data, coords={**template.coords, "level": np.array(LEVELS)}, attrs=attrs)


def shares(
    agreements: FloatArray, disagreements: FloatArray, prior: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Draws (draw, label, subgroup) of the shares of agreement and of disagreement, which sum to 1 over both and labels.

    Counts are (label, subgroup); ``prior`` is the parameter of the Dirichlet prior.
    """
    counts = np.stack([agreements, disagreements])
    mass = np.random.default_rng([seed, 9]).standard_gamma(prior + counts, size=(draws, *counts.shape))
    mass = mass / mass.sum(axis=(1, 2), keepdims=True)
    return mass[:, 0], mass[:, 1]
