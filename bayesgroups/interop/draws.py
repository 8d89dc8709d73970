"""From the draws of any model to a report: plain PyMC, Bambi, Stan, one's own sampler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.descriptions import describe
from bayesgroups.estimators.groups import Group, with_groups, with_likelihood
from bayesgroups.estimators.likelihood_groups import LikelihoodGroups, parts_of
from bayesgroups.inference.nuts import along_metrics, parameters_of
from bayesgroups.questions.sampling_variances import check_tally
from bayesgroups.report.diagnostics import Check, chain_checks, nuts_checks
from bayesgroups.report.posterior import Posterior
from bayesgroups.report.schema import assemble

SAMPLES = ("chain", "draw")


@checked_keywords
def report_from_draws(
    tally: xr.Dataset,
    draws: xr.DataArray | xr.Dataset | xr.DataTree,
    *,
    variable: str = "mu",
    dim: str | None = None,
    estimator: str | Estimator = "own_model",
    reference: Estimator | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> xr.DataTree:
    """Make a report of draws that another program made, beside a frequentist answer to the same tally.

    Parameters
    ----------
    tally : xr.Dataset
        What the model was given.
    draws : xr.DataArray, xr.Dataset or xr.DataTree
        Posterior draws of the metric in every subgroup, on the metric's own scale (a rate, no logit), with the dims ``chain``,
        ``draw``, ``metric`` where the tally has several, and one of subgroups. Of a DataTree (the InferenceData of PyMC and
        Bambi) its group ``posterior`` is read, and ``sample_stats`` for divergences and energies.
    variable : str
        The variable of a Dataset or DataTree that has them.
    dim : str, optional
        The dim of the subgroups: ``subgroup``, or the only one left. Its labels are matched with those of the tally; a dim
        without labels, or numbered from 0 as ``__obs__`` of Bambi is, must be in the order of the tally.
    estimator : str or Estimator
        Name of the model in the report. Give the estimator itself if the draws are those of ``estimator.model(tally)``, priors
        unchanged: the report then has its settings, priors in words, parameters and checks of the fit, as that of `estimate` has.
    reference : Estimator, optional
        Whose frequentist side answers; where left out, that of ``estimator``, or of ``bg.NoPooling()`` if that is a name.
    settings : mapping, optional
        Kept in the report, with a name.
    seed : int
        Of the reference; kept in the report.

    Returns
    -------
    xr.DataTree
        A report, see `bayesgroups.report.schema`, with R-hat and effective sample sizes, and divergences and E-BFMI where the draws
        come with them: ``report.attrs["usable"]`` is 0 where one fails. ``overall`` and ``tau`` are kept if there;
        ``attrs["sampler"]`` is the package that drew, with its version, where the draws say so. With an estimator it has
        ``/observed_data`` and ``/log_likelihood`` as that of `estimate`; with a name, the groups of ArviZ about data, likelihood
        and priors that a DataTree has, as they are.

    Raises
    ------
    InputError
        If dims or labels do not fit the tally, draws lie outside the range of the metric, or the draws lack a parameter of the
        estimator or come with settings beside its own.
    SchemaError
        If ``tally`` is not a tally.

    References
    ----------
    Vehtari et al. (2021), doi:10.1214/20-BA1221 (the checks).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> beta = np.random.default_rng(1).beta([1.5, 30.5], [1.5, 70.5], size=(4, 1000, 2))
    >>> own = xr.DataArray(beta, dims=("chain", "draw", "subgroup"), coords={"subgroup": ["a", "b"]})
    >>> report = report_from_draws(counts, own, estimator="beta_binomial")
    >>> report.attrs["estimator"], report.attrs["usable"]
    ('beta_binomial', 1)
    """
    from bayesgroups.estimators.no_pooling import NoPooling

    check_tally(tally)
    posterior, stats = _groups(draws, variable)
    mu = _laid_out(tally, posterior[variable], dim)
    _check_range(tally, mu)
    metrics = [str(metric) for metric in tally["metric"].values]
    kept = {"mu": mu} | {
        name: _hyper(posterior[name], metrics) for name in ("overall", "tau") if name in posterior and name != variable
    }
    if isinstance(estimator, Estimator):
        _check_settings(estimator, settings)
        kept = _parameters(tally, posterior, estimator, variable) | kept
    data = xr.Dataset({name: values.drop_vars(set(values.coords) - set(values.dims)) for name, values in kept.items()})
    checked = [metric for i, metric in enumerate(metrics) if np.isfinite(mu.values[:, :, i]).any()]
    sampled = None if stats is None else xr.DataTree.from_dict({"posterior": data, "sample_stats": stats})
    checks: list[Check] = []
    for metric in checked:
        checks += chain_checks(data, metric) if sampled is None else nuts_checks(sampled, metric)
    sampler = _sampler(posterior)
    if isinstance(estimator, Estimator):
        for part in parts_of(tally.sel(metric=checked), estimator):
            checks += estimator.fit_checks(part, data.sel(metric=part["metric"].values))
    fitted = Posterior(data, tuple(checks), "nuts" if stats is not None else "draws", stats)
    answer = (reference or (estimator if isinstance(estimator, Estimator) else NoPooling())).reference(tally, seed=seed)
    if isinstance(estimator, Estimator):
        report = assemble(
            tally, fitted, answer, estimator=estimator.word, settings=estimator.settings(), seed=seed,
            estimands=estimator.estimands(tally), description=describe(estimator, tally) | sampler,
        )  # fmt: skip
        return with_likelihood(report, tally, estimator, seed=seed)
    report = assemble(
        tally, fitted, answer, estimator=estimator, settings=dict(settings or {}), seed=seed, description=sampler
    )
    return with_groups(report, LikelihoodGroups(_own_groups(draws), {}))


def _own_groups(draws: object) -> dict[str, xr.Dataset]:
    """Groups about data, likelihood and priors that draws of a model of one's own come with, samples numbered as its own."""
    if not isinstance(draws, xr.DataTree):
        return {}
    groups = {name: draws[name].to_dataset() for name in get_args(Group) if name in draws.children}
    return {
        name: group.assign_coords(
            {sample: np.arange(group.sizes[sample]) for sample in SAMPLES if sample in group.dims}
        )
        for name, group in groups.items()
    }


def _sampler(posterior: xr.Dataset) -> dict[str, str]:
    """The package that drew, as the attributes of ArviZ say it; empty where they do not."""
    name, version = (posterior.attrs.get(f"inference_library{end}", "") for end in ("", "_version"))
    return {"sampler": f"{name} {version}".strip()} if name else {}


def _check_settings(estimator: Estimator, settings: Mapping[str, Any] | None) -> None:
    if settings is not None:
        name = type(estimator).__name__
        raise InputError(
            f"settings={dict(settings)!r} beside the estimator {name}: its settings are its own; leave settings= out, or give "
            f"a model that is not quite {name} a name, as estimator='my_model'"
        )


def _parameters(
    tally: xr.Dataset, posterior: xr.Dataset, estimator: Estimator, variable: str
) -> dict[str, xr.DataArray]:
    """Parameters of the model of an estimator beside the values of subgroups, as its own report keeps them."""
    model, posterior = estimator.model(tally), along_metrics(posterior)
    names = [name for name in parameters_of(model) if name not in ("mu", "alpha")]
    for name in names:
        if name not in posterior or name == variable:
            raise InputError(
                f"the draws have no variable {name!r}, a parameter of {type(estimator).__name__}; keep all variables of "
                "estimator.model(tally), or give a model of your own a name, as estimator='my_model'"
            )
    laid = {name: posterior[name].transpose(*SAMPLES, ...) for name in names}
    return {
        name: (_matched(values, "metric", tally["metric"].values) if "metric" in values.dims else values).assign_coords(
            {sample: np.arange(values.sizes[sample]) for sample in SAMPLES}
        )
        for name, values in laid.items()
    }


def _groups(draws: object, variable: str) -> tuple[xr.Dataset, xr.Dataset | None]:
    """The posterior, and the statistics of the sampler where it has those that are checked."""
    if isinstance(draws, xr.DataArray):
        return xr.Dataset({variable: draws.drop_attrs()}), None
    stats = None
    if isinstance(draws, xr.DataTree):
        if "posterior" not in draws.children:
            raise InputError(f"draws= has no group 'posterior'; it has {sorted(draws.children)}")
        if "sample_stats" in draws.children:
            sample_stats = draws["sample_stats"].to_dataset()
            names = [name for name in ("diverging", "energy") if name in sample_stats]
            stats = sample_stats[names] if len(names) == 2 else None
        draws = draws["posterior"].to_dataset()
    if not isinstance(draws, xr.Dataset):
        raise InputError(f"draws must be a DataArray, a Dataset or a DataTree of xarray; got {type(draws).__name__}")
    if variable not in draws:
        raise InputError(f"the draws have no variable {variable!r}; {near_misses(variable, map(str, draws.data_vars))}")
    return draws, stats


def _laid_out(tally: xr.Dataset, values: xr.DataArray, dim: str | None) -> xr.DataArray:
    """Draws along (chain, draw, metric, subgroup), with the labels of the tally."""
    for name in SAMPLES:
        if name not in values.dims:
            raise InputError(f"the draws have the dims {[str(dim_name) for dim_name in values.dims]} and lack {name!r}")
    dims = [str(name) for name in values.dims if name not in (*SAMPLES, "metric")]
    place = dim or ("subgroup" if "subgroup" in dims else dims[0] if len(dims) == 1 else None)
    if place is None or dims != [place]:
        raise InputError(
            f"the draws must have one dim of subgroups beside chain, draw and metric; got {dims}; name it, as dim='subgroup'"
        )
    metrics, labels = tally["metric"].values, tally["subgroup"].values
    if "metric" not in values.dims:
        if len(metrics) > 1:
            raise InputError(
                f"the tally has the metrics {[str(dim_name) for dim_name in metrics]}, the draws have no dim 'metric'; select one"
            )
        values = values.expand_dims(metric=metrics)
    renamed = values.rename({place: "subgroup"}) if place != "subgroup" else values
    laid = _matched(_matched(renamed, "metric", metrics), "subgroup", labels)
    laid = laid.transpose(*SAMPLES, "metric", "subgroup").astype(np.float64)
    return laid.assign_coords({name: np.arange(laid.sizes[name]) for name in SAMPLES})


def _matched(values: xr.DataArray, dim: str, labels: np.ndarray[Any, Any]) -> xr.DataArray:
    numbered = dim not in values.coords or values[dim].values.tolist() == list(range(values.sizes[dim]))
    if numbered:
        if values.sizes[dim] != len(labels):
            raise InputError(
                f"the draws have {values.sizes[dim]} {dim}s and the tally {len(labels)}; they must be as many"
            )
        return values.drop_vars(dim, errors="ignore").assign_coords({dim: labels})
    given = [str(label) for label in values[dim].values]
    if len(set(given)) < len(given):
        raise InputError(f"{dim} {next(label for label in given if given.count(label) > 1)!r} is twice in the draws")
    absent = [str(label) for label in labels if str(label) not in given]
    if absent:
        raise InputError(
            f"the draws have no {dim} {absent[0]!r} ({len(absent)} of {len(labels)} are absent); they have {given[:3]} ..."
        )
    return values.assign_coords({dim: np.array(given)}).sel({dim: [str(label) for label in labels]})


def _hyper(values: xr.DataArray, metrics: list[str]) -> xr.DataArray:
    """A hyper-parameter along (chain, draw, metric)."""
    if set(values.dims) == set(SAMPLES):
        values = values.expand_dims(metric=metrics, axis=-1)
    if set(values.dims) != {*SAMPLES, "metric"}:
        raise InputError(f"{values.name} must have the dims chain, draw and, where there are several metrics, metric")
    ordered = _matched(values, "metric", np.array(metrics)).transpose(*SAMPLES, "metric")
    return ordered.assign_coords({name: np.arange(ordered.sizes[name]) for name in SAMPLES})


def _check_range(tally: xr.Dataset, mu: xr.DataArray) -> None:
    for i, metric in enumerate(tally["metric"].values):
        low, high = float(tally["range_lower"].values[i]), float(tally["range_upper"].values[i])
        draws = mu.values[:, :, i]
        outside = (draws < low) | (draws > high)
        if outside.any():
            place = int(np.argmax(outside.any(axis=(0, 1))))
            raise InputError(
                f"metric {str(metric)!r}, subgroup {str(mu['subgroup'].values[place])!r}: a draw is {draws[outside][0]:.4g}, "
                f"outside [{low:g}, {high:g}]; give draws on the metric's own scale, not of a logit"
            )
