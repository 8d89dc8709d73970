"""Complete pooling: all subgroups of a metric share one value.

For metric m and every subgroup g, mu[m, g] = overall[m] and

rates (binomial likelihood)
    overall[m] ~ Beta(1/2, 1/2)            (Jeffreys)
    successes[m, g] ~ Binomial(count[m, g], overall[m])

all other metrics (normal likelihood; centre and scale from ``scales``)
    overall[m] ~ Normal(centre, 4 scale)
    estimate[m, g] ~ Normal(overall[m], std_error[m, g]), standard errors known

Both have closed forms: Beta(1/2 + sum of successes, 1/2 + sum of failures), and the precision-weighted mean of the
estimates and the prior. Parameters: ``overall(metric)``, ``mu(metric, subgroup)`` (``overall`` repeated).

What the priors imply (quantiles):

=============================================  ======  =====  =====  =====  ======
quantity                                       2.5 %   25 %   50 %   75 %   97.5 %
=============================================  ======  =====  =====  =====  ======
rates: overall                                 .0015   .15    .50    .85    .9985
range [0, 1], normal: overall                  -3.4    -.85   .50    1.85   4.4
=============================================  ======  =====  =====  =====  ======

References
----------
Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", doi:10.1214/ss/1009213286. Gelman and
Hill (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models, section 12.2.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import xarray as xr

from .likelihoods import observe_estimates, observe_successes
from .shared.cells import Likelihood, binomial_cells, binomial_metrics, normal_cells
from .shared.scales import natural_scale
from .weak_priors import weak_prior


def build(tally: xr.Dataset, *, likelihood: Likelihood = "auto") -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with dims ``metric`` and ``subgroup``.
    likelihood : {"auto", "binomial", "normal"}
        ``auto`` is binomial for rates and normal for all other metrics.

    Returns
    -------
    pm.Model
        With ``overall(metric)`` and ``mu(metric, subgroup)``; if metrics of both likelihoods are present ``overall``
        is assembled from the latent ``overall_binomial(binomial_metric)`` and ``overall_normal(normal_metric)``.

    Raises
    ------
    ValueError
        If the likelihood is not one of the three, or a binomial likelihood is asked of a metric that is not a rate.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[10.0, 5.0]]), "successes": (cells, [[2.0, 4.0]]), "kind": ("metric", ["rate"]),
    ...      "estimate": (cells, [[0.2, 0.8]]), "sampling_variance": (cells, [[0.016, 0.032]]),
    ...      "pooled_variance": ("metric", [0.16]), "range_lower": ("metric", [0.0]),
    ...      "range_upper": ("metric", [1.0])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a", "b"]})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['overall']
    """
    binomial = binomial_metrics(tally, likelihood)
    natural = natural_scale(tally)
    counts = binomial_cells(tally, binomial)
    estimates = normal_cells(tally, ~binomial, natural["scale"].values)

    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    with pm.Model(coords=coords) as model:
        overall = weak_prior("overall", natural, binomial, ("metric",))
        every_subgroup = np.zeros((1, tally.sizes["subgroup"]))
        pm.Deterministic("mu", overall[:, None] + every_subgroup, dims=("metric", "subgroup"))
        observe_successes(counts, overall[counts.metric])
        observe_estimates(estimates, overall[estimates.metric])
    return model
