"""One question, two approaches: from a tally and an estimator to a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress

import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, NotUsableError, SchemaError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.checked_fits import Inference, checked_fit, constant_metrics, is_fitted, names_of
from bayesgroups.estimators.descriptions import describe
from bayesgroups.estimators.exact_fits import exact_fits
from bayesgroups.estimators.groups import Group, all_groups, check_groups, with_groups
from bayesgroups.estimators.likelihood_groups import LikelihoodGroups, likelihood_groups, parts_of, too_large
from bayesgroups.estimators.model_errors import errors_of_models
from bayesgroups.estimators.named import class_to_write
from bayesgroups.estimators.sampled_fits import DRAWS
from bayesgroups.estimators.shared_clusters import covariance_notes
from bayesgroups.inference.degenerate import imputed_without_limits, not_determined, without_limits
from bayesgroups.report.diagnostics import Check
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.posterior import CHAINS, Posterior
from bayesgroups.report.schema import assemble, check_names
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.constant_metrics import without_variance
from bayesgroups.tallies.determined import determined_notes
from bayesgroups.tallies.notes import binary_notes

Progress = Callable[[str, int, int], None]


@checked_keywords
def estimate(
    tally: xr.Dataset,
    estimator: Estimator,
    *,
    seed: int,
    inference: Inference = "auto",
    strict: bool = False,
    progress: Progress | None = None,
    groups: Sequence[Group] = (),
) -> xr.DataTree:
    """Estimate every metric in every subgroup, the Bayesian and the frequentist way.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.tally`, `tally_from_counts` or `tally_from_estimates`.
    estimator : Estimator
        The word with its settings, such as ``bg.PartialPooling()``.
    seed : int
        Source of all randomness: the same seed gives the same bytes of every array, and a metric has the same draws
        whichever other metrics are in the tally.
    inference : {"auto", "collapsed", "nuts", "nuts_jax"}
        ``collapsed`` is the exact engine, ``nuts`` samples the PyMC model, ``nuts_jax`` does so with JAX; ``auto`` takes the
        exact engine where there is one and its checks pass, and falls back to NUTS.
    strict : bool
        Raise instead of returning a report that is not usable.
    progress : callable, optional
        Called with (metric, position, number of metrics) before each metric is fitted.
    groups : sequence of str
        Groups to add to the report, as in `bayesgroups.add_groups`.

    Returns
    -------
    xr.DataTree
        The report, described in `bayesgroups.report.schema`. ``report.attrs["usable"]`` is 0 when a diagnostic failed.
        ``/observed_data`` and, up to 4 million draws of ``mu``, ``/log_likelihood`` are always made; the attribute
        ``without_groups`` says why a group is not there.

    Raises
    ------
    InputError
        If arguments are of the wrong kind or the engine cannot fit the model.
    SchemaError
        If ``tally`` is not a tally.
    NotUsableError
        With ``strict=True``, if a diagnostic failed.
    MissingDependencyError
        With ``inference="nuts_jax"``, if JAX or nutpie is not installed.

    Notes
    -----
    What takes longer than half a second and shares nothing runs on as many processes as there are processors, with the same bytes:
    metrics, the frequentist side beside the posterior, factors of confusion cells. The environment variable
    ``LOKY_MAX_CPU_COUNT=1`` keeps to one, as do pools and threads of one's own.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
    >>> report = bg.estimate(counts, bg.PartialPooling(), seed=1)
    >>> report.attrs["usable"], report.attrs["inference"]
    (1, 'collapsed')
    """
    _check_arguments(tally, estimator)
    requested = check_groups(groups)
    large = too_large(CHAINS * DRAWS * tally["estimate"].size) if "log_likelihood" not in requested else ""
    wanted = list(dict.fromkeys([*(["observed_data"] if large else ["observed_data", "log_likelihood"]), *requested]))
    notes: list[str] = covariance_notes(tally, estimator)
    fits, made = [], []
    parts = parts_of(tally, estimator)
    constants = [constant_metrics(part, estimator) for part in parts]
    fitted = [is_fitted(part, constant) for part, constant in zip(parts, constants, strict=True)]
    exactly = list(compress(parts, fitted)) if inference in ("auto", "collapsed") else []
    with exact_fits(tally, exactly, estimator, seed) as (reference, exact):
        with errors_of_models():
            description = describe(estimator, tally)
        for i, (part, constant) in enumerate(zip(parts, constants, strict=True)):
            if progress is not None:
                progress(names_of(part), i, len(parts))
            fit = checked_fit(part, estimator, constant, seed, inference, exact, notes)
            if fitted[i]:
                made.append(likelihood_groups(fit, part, estimator, wanted, seed=seed))
            # Only the groups were made from them.
            fits.append(replace(fit, latent=None, observed={}))
    constant = without_variance(tally)
    notes += [*without_limits(tally, reference, constant), *imputed_without_limits(tally, reference, constant)]
    notes += not_determined(reference)
    notes += [*estimator.notes(tally), *_ignored_clusters(tally), *binary_notes(tally), *determined_notes(tally)]
    report = assemble(
        tally, _join(fits), reference, estimator=estimator.word, settings=estimator.settings(), seed=seed, notes=notes,
        bootstrap=estimator.replicates(tally, seed=seed), estimands=estimator.estimands(tally),
        description=description,
    )  # fmt: skip
    posterior = report["posterior"].to_dataset()
    every = all_groups(made, tally, posterior, estimator, wanted, seed=seed)
    reasons = {"log_likelihood": large} if large else {}
    report = with_groups(report, LikelihoodGroups(every.groups, {**every.reasons, **reasons}))
    if strict and not report.attrs["usable"]:
        checks = report["diagnostics"].to_dataset()
        sentences = [str(sentence) for sentence in checks["sentence"].values[checks["passed"].values == 0]]
        raise NotUsableError("the fit is not usable: " + "; ".join(sentences))
    return report


def _check_arguments(tally: object, estimator: object) -> None:
    refuse_overlapping(tally, "estimate")
    if not isinstance(tally, xr.Dataset) or tally.attrs.get("schema") != SCHEMA:
        raise SchemaError(_no_tally(tally))
    check_names(tally)
    if isinstance(estimator, type) and issubclass(estimator, Estimator):
        raise InputError(f"estimator must be an instance: write {estimator.__name__}() with brackets")
    if isinstance(estimator, str):
        raise InputError(f"estimator must be an instance, not a text: {class_to_write(estimator)}")
    if not isinstance(estimator, Estimator):
        raise InputError(f"estimator must be one such as bg.PartialPooling(); got {type(estimator).__name__}")


def _no_tally(source: object) -> str:
    """The message of what is no tally."""
    if isinstance(source, xr.Dataset) and "members" in source and "attributes_crossed" in source:
        return (
            "tally must not come from bg.margins(): its subgroups overlap, so every row would count several times. Estimate the "
            "tally that the margins were taken of, and ask the report, as bg.certify(report, margins=True)"
        )
    if isinstance(source, xr.DataTree):
        return "tally must come from bg.tally() or a related function; got a report, whose tally is report['constant_data']"
    hint = (
        "; reduce rows first, as bg.tally(frame, by=['sex'], metrics=['fnr'], ...)"
        if hasattr(source, "columns")
        else ""
    )
    return f"tally must come from bg.tally() or a related function; got {type(source).__name__}{hint}"


def _ignored_clusters(tally: xr.Dataset) -> list[str]:
    """A note where rows of one cluster are taken for independent, because that was asked or there is no other way."""
    if "cluster_analysis" not in tally.data_vars:
        return []
    names = [str(name) for name in tally["metric"].values[tally["cluster_analysis"].values == "ignore"]]
    if not names:
        return []
    return [f"{', '.join(names)}: rows come in clusters and are treated as independent, so intervals can be too short"]


def _join(fits: list[Posterior]) -> Posterior:
    """Fits of several metrics side by side."""
    draws = fits[0].draws  # what a joint fit has beside its metrics stays without them
    if len(fits) > 1:
        draws = xr.concat(
            [fit.draws for fit in fits], dim="metric", join="exact", combine_attrs="drop", data_vars="all",
            coords="minimal",
        )  # fmt: skip
    draws = draws.transpose("chain", "draw", "metric", ...)
    stats = [fit.sample_stats for fit in fits if fit.sample_stats is not None]
    checks: tuple[Check, ...] = tuple(check for fit in fits for check in fit.checks)
    engines = sorted({fit.engine for fit in fits})
    joined = xr.concat(stats, dim="metric", join="outer", combine_attrs="drop") if stats else None
    return Posterior(draws, checks, ", ".join(engines), joined)
