"""Sparse regression on features of subgroups: few of many effects are expected to matter.

For metric m, subgroup g with features x[g] and coefficient j, in units of the metric,

    ththeta[m, g] = intercept[m] + x[g] . beta[m],   intercept ~ Normal(centre, scale)
    estimate[m, g] ~ Normal(ththeta[m, g], std_error[m, g]), standard errors known, rates included
    mu, overall = ththeta, intercept, brought into the range of the metric

horseshoe (regularised, with a fixed slab)
    beta[m, j] ~ Normal(0, s[m, j]),               1 / s^2 = 1 / (tau local)^2 + 1 / slab_scale^2
    local[m, j] ~ half-t(local_df),                tau[m] ~ half-Cauchy(tau0[m])
laplace (Bayesian lasso)
    beta[m, j] ~ Laplace(0, tau[m]),               tau[m] ~ HalfNormal(scale / 2 / sqrt(2))

``centre`` and ``scale`` are those of ``scales``, ``slab_scale`` is ``scale`` by default, and ``tau0`` comes from the
expected number of effects, see ``sparsity``. A Laplace variable with scale tau is Normal(0, tau local) with local^2
exponential of mean 2; so both priors have the same form.

Parameters: ``overall(metric)``, ``tau(metric)``, ``beta(metric, coefficient)``, ``mu(metric, subgroup)``; latent
``z_intercept(metric)``, ``z_local(metric, coefficient)`` and ``z_beta(metric, coefficient)``, the coefficients as in
``latent_coefficients``. Subgroups that are not
observed are answered from features.

What the priors imply for a metric on [0, 1] with ten columns of information 100 and one expected effect (quantiles):

=============================================  ======  =====  =====  =====  ======
quantity                                       2.5 %   25 %   50 %   75 %   97.5 %
=============================================  ======  =====  =====  =====  ======
overall                                        0       .16    .50    .84    1
horseshoe: tau                                 .0004   .005   .011   .027   .28
horseshoe: size of a coefficient               .00003  .001   .004   .017   .20
laplace: tau                                   .006    .06    .12    .20    .40
laplace: size of a coefficient                 .001    .020   .067   .18    .72
=============================================  ======  =====  =====  =====  ======

References
----------
Piironen and Vehtari (2017), regularised horseshoe, doi:10.1214/17-EJS1337SI. Park and Casella (2008), the Bayesian
lasso, doi:10.1198/016214508000000337. Herlihy et al. (2024), structured regression.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .latent_coefficients import latent_coefficients
from .likelihoods import observe_estimates
from .shared.cells import normal_cells
from .shared.scales import natural_scale
from .shared.sparsity import global_scale

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

Prior = Literal["horseshoe", "laplace"]


def build(
    tally: xr.Dataset,
    *,
    features: xr.DataArray | None = None,
    prior: Prior = "horseshoe",
    expected_effects: float = 1.0,
    slab_scale: float | None = None,
    local_df: float = 3.0,
) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with dims ``metric`` and ``subgroup``.
    features : xr.DataArray, optional
        Dims ``subgroup``, in the order of the tally, and ``coefficient`` with a coordinate; without an intercept. By default
        an indicator of each subgroup.
    prior : {"horseshoe", "laplace"}
        Prior of the coefficients.
    expected_effects : float
        Number of coefficients expected to matter, for the horseshoe.
    slab_scale : float, optional
        Standard deviation of a coefficient that escapes shrinkage, in units of the metric; by default its scale.
    local_df : float
        Degrees of freedom of the local scales; 1 is the half-Cauchy.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``, ``overall(metric)``, ``tau(metric)`` and ``beta(metric, coefficient)``.

    Raises
    ------
    ValueError
        If the prior is not one of the two, a number is not positive and finite, or the features do not fit the tally.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[10.0, 5.0]]), "kind": ("metric", ["rate"]),
    ...      "estimate": (cells, [[0.2, 0.8]]), "sampling_variance": (cells, [[0.016, 0.032]]),
    ...      "pooled_variance": ("metric", [0.16]), "range_lower": ("metric", [0.0]),
    ...      "range_upper": ("metric", [1.0])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a", "b"]})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['z_intercept', 'tau', 'z_local', 'z_beta']
    """
    if prior not in get_args(Prior):
        raise ValueError(f"prior must be one of {', '.join(get_args(Prior))}; got {prior!r}")
    for name, value in (("expected_effects", expected_effects), ("slab_scale", slab_scale), ("local_df", local_df)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number; got {value!r}")
    subgroups = [str(label) for label in tally["subgroup"].values]
    if features is None:
        features = xr.DataArray(np.eye(len(subgroups)), {"subgroup": subgroups, "coefficient": subgroups})
    if [str(label) for label in features["subgroup"].values] != subgroups:
        raise ValueError("the features must have the subgroups of the tally, in the same order")
    natural = natural_scale(tally)
    centre, scale = natural["centre"].values, natural["scale"].values
    x = np.asarray(features.transpose("subgroup", "coefficient").values, dtype=np.float64)
    cells = normal_cells(tally, np.ones(tally.sizes["metric"], dtype=np.bool_), scale)
    coords = {"metric": tally["metric"].values, "subgroup": subgroups, "coefficient": features["coefficient"].values}
    with pm.Model(coords=coords) as model:
        intercept = pm.Normal("z_intercept", mu=centre, sigma=scale, dims="metric")
        low, high = tally["range_lower"].values, tally["range_upper"].values
        pm.Deterministic("overall", pm.math.clip(intercept, low, high), dims="metric")
        if prior == "horseshoe":
            std_error = np.full((len(scale), len(subgroups)), np.nan)
            std_error[cells.metric, cells.subgroup] = cells.std_error
            tau0 = np.array([global_scale(x, one, expected_effects) for one in std_error])
            tau = pm.HalfCauchy("tau", beta=tau0, dims="metric")
            slab = scale if slab_scale is None else np.full_like(scale, slab_scale)
        else:
            tau = pm.HalfNormal("tau", sigma=natural["tau_scale"].values / math.sqrt(2), dims="metric")
            slab = None
        theta = pm.math.zeros_like(tally["estimate"].values) + intercept[:, None]
        if x.shape[1]:
            estimate, precision = np.zeros((2, len(scale), len(subgroups)))
            estimate[cells.metric, cells.subgroup] = cells.estimate
            precision[cells.metric, cells.subgroup] = cells.std_error**-2
            score = precision * (estimate - intercept[:, None])
            spread = _spread(tau[:, None], slab, local_df)
            beta = latent_coefficients("z_beta", x, score, precision, spread, ("metric", "coefficient"))
            pm.Deterministic("beta", beta, dims=("metric", "coefficient"))
            theta = theta + beta @ x.T
        pm.Deterministic("mu", pm.math.clip(theta, low[:, None], high[:, None]), dims=("metric", "subgroup"))
        observe_estimates(cells, theta[cells.metric, cells.subgroup])
    return model


def _spread(tau: Tensor, slab: FloatArray | None, local_df: float) -> Tensor:
    """Prior standard deviations (metric, coefficient); without a slab the prior is Laplace. ``tau`` is (metric, 1)."""
    across = ("metric", "coefficient")
    if slab is None:
        return tau * pm.math.sqrt(2 * pm.Exponential("z_local", lam=1.0, dims=across))
    free = tau * pm.HalfStudentT("z_local", nu=local_df, sigma=1.0, dims=across)
    return free * slab[:, None] / pm.math.sqrt(slab[:, None] ** 2 + free**2)
