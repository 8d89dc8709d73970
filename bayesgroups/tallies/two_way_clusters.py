"""The covariance of subgroups whose rows lie in clusters of two kinds that cross, from three tallies of the same rows."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.tallies.cluster_covariance import residual_table, robust_covariance, two_way_covariance, weight_table
from bayesgroups.tallies.shared_clusters import cells_of_metric, marked_as, places_of, with_this_covariance

MIN_LEVELS = 10
"""Clusters of either kind below which those that cross have no covariance."""


@checked_keywords
def two_way_clusters(first: xr.Dataset, second: xr.Dataset, both: xr.Dataset) -> xr.Dataset:
    """The covariance of subgroups whose rows lie in clusters of two kinds that cross, such as items and templates.

    Parameters
    ----------
    first, second, both : xr.Dataset
        Tallies of the same rows with ``cluster=`` a column of either kind, and one of their combinations.

    Returns
    -------
    xr.Dataset
        The first tally with ``sampling_covariance(metric, subgroup, subgroup_other)``: that by the first kind and by the second,
        less that by both, negative eigenvalues set to 0; its diagonal is ``sampling_variance``. In units of the metric, squared.

    Raises
    ------
    InputError
        If a tally has no clusters, the tallies are not of the same rows, or a kind has fewer than 10 clusters in a subgroup.

    References
    ----------
    Cameron, Gelbach, Miller (2011), doi:10.1198/jbes.2010.07136.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rng = np.random.default_rng(1)
    >>> item, template = (part.ravel() for part in np.indices((12, 10)))
    >>> loss = rng.normal(size=12)[item] + rng.normal(size=10)[template] + rng.normal(size=120)
    >>> rows = pd.DataFrame({"sex": np.where(rng.random(120) < 0.5, "f", "m"), "item": item, "template": template, "loss": loss})
    >>> rows["both"] = rows["item"].astype(str) + "/" + rows["template"].astype(str)
    >>> tallies = [bg.tally(rows, ["sex"], "mean", loss="loss", cluster=kind) for kind in ("item", "template", "both")]
    >>> bg.two_way_clusters(*tallies)["sampling_covariance"].dims
    ('metric', 'subgroup', 'subgroup_other')
    """
    tallies = {"first": first, "second": second, "both": both}
    for name, tally in tallies.items():
        if "cluster_cell" not in tally.dims:
            raise InputError(f"{name} has no clusters; make it with bg.tally(..., cluster=)")
        alike = tally["subgroup"].equals(first["subgroup"]) and tally["row_mean"].shape == first["row_mean"].shape
        if not alike or not np.allclose(tally["row_mean"].values, first["row_mean"].values, equal_nan=True):
            raise InputError(f"{name} is not of the same rows as first; tally the same rows with another cluster=")
        number = np.where(tally["rows"].values > 0, tally["clusters"].values, np.inf)
        if number.min() < MIN_LEVELS:
            raise InputError(
                f"{name} has {number.min():g} clusters in subgroup {str(tally['subgroup'].values[number.argmin()])!r}, and "
                f"{MIN_LEVELS} are needed; make a kind of few clusters an attribute in by="
            )
    by_kind = [_robust(tally) for tally in tallies.values()]
    covariance = np.full_like(by_kind[0], np.nan)
    for i in range(len(covariance)):
        some = np.isfinite(np.diagonal(by_kind[0][i]))
        parts = [each[i][np.ix_(some, some)] for each in by_kind]
        covariance[i][np.ix_(some, some)] = two_way_covariance(*parts)
    return with_this_covariance(marked_as(first, "two_way"), covariance)


def _robust(tally: xr.Dataset) -> FloatArray:
    """Covariances (metric, subgroup, subgroup) by the clusters themselves."""
    subgroup, cluster = places_of(tally)
    covariance = np.full((tally.sizes["metric"], *[tally.sizes["subgroup"]] * 2), np.nan)
    for i, kind in enumerate(tally["row_kind"].values):
        if str(kind) in ("rate", "mean"):
            metric = tally.isel(metric=i)
            cells = cells_of_metric(metric, subgroup)
            residuals = residual_table(cells, cluster, metric["row_mean"].values)
            covariance[i] = robust_covariance(residuals, weight_table(cells, cluster))
    return covariance
