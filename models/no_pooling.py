"""No pooling: every subgroup value on its own, with a weak prior and no population behind it.

For metric m and subgroup g,

rates (binomial likelihood)
    mu[m, g] ~ Beta(1/2, 1/2)              (Jeffreys)
    successes[m, g] ~ Binomial(count[m, g], mu[m, g])

all other metrics (normal likelihood; centre and scale from ``scales``)
    mu[m, g] ~ Normal(centre, 4 scale)
    estimate[m, g] ~ Normal(mu[m, g], std_error[m, g]), standard errors known

Both have closed forms: Beta(1/2 + successes, 1/2 + count - successes), and the normal with precision
1/std_error^2 + 1/(4 scale)^2. Parameters: ``mu(metric, subgroup)``. Subgroups that are not observed keep their prior.

What the priors imply (quantiles):

=============================================  ======  =====  =====  =====  ======
quantity                                       2.5 %   25 %   50 %   75 %   97.5 %
=============================================  ======  =====  =====  =====  ======
rates: mu of a subgroup                        .0015   .15    .50    .85    .9985
range [0, 1], normal: mu of a subgroup         -3.4    -.85   .50    1.85   4.4
=============================================  ======  =====  =====  =====  ======

References
----------
Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", doi:10.1214/ss/1009213286.
"""

from __future__ import annotations

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
        With ``mu(metric, subgroup)``; if metrics of both likelihoods are present it is assembled from the latent
        ``mu_binomial(binomial_metric, subgroup)`` and ``mu_normal(normal_metric, subgroup)``.

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
    ['mu']
    """
    binomial = binomial_metrics(tally, likelihood)
    natural = natural_scale(tally)
    counts = binomial_cells(tally, binomial)
    estimates = normal_cells(tally, ~binomial, natural["scale"].values)

    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    with pm.Model(coords=coords) as model:
        mu = weak_prior("mu", natural, binomial, ("metric", "subgroup"))
        observe_successes(counts, mu[counts.metric, counts.subgroup])
        observe_estimates(estimates, mu[estimates.metric, estimates.subgroup])
    return model
