"""Prior predictive distribution of an estimator, in units of the metric."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.inference.prior_draws import is_flat, sample_prior
from bayesgroups.questions.sampling_variances import check_tally
from bayesgroups.tallies.subgroups import attributes_of


@checked_keywords
def prior_predictive(tally: xr.Dataset, estimator: Estimator, *, seed: int, draws: int = 1000) -> xr.Dataset:
    """Draw what the priors of an estimator imply for the subgroups of a tally.

    Estimand: the joint prior of the values of all subgroups, and of the estimates one would then see in as many rows as
    the tally has. The outcomes in the tally are not used, only its subgroups, counts and scales.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.tally` or a related function.
    estimator : Estimator
        The word with its settings, such as ``bg.PartialPooling(tau_scale=1.0)``.
    seed : int
        Source of randomness.
    draws : int
        How many.

    Returns
    -------
    xr.Dataset
        ``mu(draw, metric, subgroup)``, values of the subgroups; ``predicted(draw, metric, subgroup)``, estimates of them from
        as many rows, NaN where there are none or the spread of rows is not known; ``worst``, ``gap (draw, metric)``, the worst
        value and the distance of the largest from the smallest; ``overall(draw, metric)`` and the other hyper-parameters
        that the model has; ``observed(metric, subgroup)``, the estimates of the tally, to compare with.

    Raises
    ------
    InputError
        If arguments are of the wrong kind, or the priors of the word are flat, so that nothing can be drawn from them.
    SchemaError
        If ``tally`` is not a tally.

    References
    ----------
    Gabry, Simpson, Vehtari, Betancourt, Gelman (2019), Visualization in Bayesian workflow, https://doi.org/10.1111/rssa.12378.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> wide, narrow = (bg.prior_predictive(counts, bg.PartialPooling(tau_scale=s), seed=1) for s in (1.0, 0.1))
    >>> bool(wide["gap"].median() > 5 * narrow["gap"].median())
    True
    """
    check_tally(tally)
    if not isinstance(estimator, Estimator):
        raise InputError(f"estimator must be one such as bg.PartialPooling(); got {type(estimator).__name__}")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise InputError(f"draws must be a whole number, 1 or larger; got {draws!r}")
    model = estimator.model(tally)
    if is_flat(model):
        raise InputError(
            f"the priors of {estimator.word} are flat, so nothing can be drawn from them; see bg.PartialPooling()"
        )
    wanted = [v.name for v in (*model.free_RVs, *model.deterministics) if _kept(v.name, model.named_vars_to_dims)]
    prior = sample_prior(model, wanted, draws=int(draws), seed=seed)["prior"].isel(chain=0, drop=True)
    mu = np.asarray(prior["mu"].transpose("draw", "metric", "subgroup").values, dtype=np.float64)
    larger = tally["larger_is_better"].values.astype(bool)
    worst = np.where(larger, np.nanmin(mu, axis=2), np.nanmax(mu, axis=2))
    observed = np.asarray(tally["estimate"].transpose("metric", "subgroup").values, dtype=np.float64)
    return prior.assign(
        predicted=(("draw", "metric", "subgroup"), _predicted(mu, tally, np.random.default_rng([seed, draws]))),
        worst=(("draw", "metric"), worst),
        gap=(("draw", "metric"), np.nanmax(mu, axis=2) - np.nanmin(mu, axis=2)),
        observed=(("metric", "subgroup"), observed),
        range_lower=("metric", tally["range_lower"].values),
        range_upper=("metric", tally["range_upper"].values),
    ).assign_coords({n: ("subgroup", tally[n].values, tally[n].attrs) for n in attributes_of(tally)}).assign_attrs(
        {"estimator": estimator.word, "seed": seed}
    )  # fmt: skip


def _kept(name: str, dims: dict[str, tuple[str | None, ...]]) -> bool:
    """Values of subgroups and hyper-parameters, not the latent numbers that they are made of."""
    return name == "mu" or (name in ("overall", "tau", "component_sd", "factor_sd") and bool(dims.get(name)))


def _predicted(mu: FloatArray, tally: xr.Dataset, rng: np.random.Generator) -> FloatArray:
    """Estimates of values ``mu`` (draw, metric, subgroup) from as many rows as there are."""
    predicted = np.full(mu.shape, np.nan)
    for m, kind in enumerate(tally["kind"].values):
        count = np.asarray(tally["count"].values[m], dtype=np.float64)
        if str(kind) == "rate":
            rows = np.round(np.nan_to_num(count)).astype(np.int64)
            seen = rows > 0
            p = np.clip(mu[:, m, seen], 0.0, 1.0)
            predicted[:, m, seen] = rng.binomial(rows[seen], p) / rows[seen]
        else:
            spread = np.sqrt(np.asarray(tally["sampling_variance"].values[m], dtype=np.float64))
            predicted[:, m] = mu[:, m] + spread * rng.standard_normal(mu[:, m].shape)
    return predicted
