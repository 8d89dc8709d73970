"""Checked fits of metrics: exact, or sampled where that is asked for or needed, with every check of the posterior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.exact_fits import exact_fit
from bayesgroups.estimators.model_errors import errors_of_models
from bayesgroups.estimators.sampled_fits import DRAWS, sampled_fit
from bayesgroups.inference.degenerate import variance_check
from bayesgroups.report.diagnostics import usable
from bayesgroups.report.posterior import CHAINS, Posterior, lay_out
from bayesgroups.tallies.constant_metrics import without_variance

Inference = Literal["auto", "collapsed", "nuts", "nuts_jax"]


def posterior(tally: xr.Dataset, estimator: Estimator, *, seed: int) -> Posterior:
    """Posterior of what an estimator fits at once, one metric or all of a joint model, as `bayesgroups.estimate` has it.

    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
    >>> posterior(counts, bg.PartialPooling(), seed=1).engine
    'collapsed'
    """
    exact = (exact_fit(estimator, tally, seed) for _ in range(1))
    return checked_fit(tally, estimator, constant_metrics(tally, estimator), seed, "auto", exact, [])


def checked_fit(
    tally: xr.Dataset, estimator: Estimator, constant: BoolArray, seed: int, inference: Inference,
    exact_posteriors: Iterator[Posterior | None], notes: list[str],
) -> Posterior:  # fmt: skip
    """The same with its engine chosen, NaN where a metric is undefined or ``constant`` (metric,).

    The next of the exact posteriors is its own, if it is fitted. Notes are added of what is not, and of what took its place.
    """
    if not _is_defined(tally).any():
        notes.append(f"{names_of(tally)}: undefined in every subgroup, so nothing was fitted")
        return _nothing(tally)
    failed = tuple(variance_check(tally.isel(metric=[i])) for i in np.flatnonzero(constant))
    if not is_fitted(tally, constant):
        return replace(_nothing(tally), checks=failed)
    fit = _fit(tally, estimator, seed, inference, exact_posteriors, notes)
    # A model that does not fit is no reason to sample it in another way.
    tested = (*fit.checks, *failed, *estimator.fit_checks(tally, fit.draws))
    return replace(fit, draws=_without_answers(fit.draws, constant), checks=tested)


def constant_metrics(tally: xr.Dataset, estimator: Estimator) -> BoolArray:
    """Metrics (metric,) that an estimator has no posterior of, since their rows do not differ."""
    return np.asarray(without_variance(tally) & estimator.takes_variances_as_known(tally), dtype=np.bool_)


def is_fitted(tally: xr.Dataset, constant: BoolArray) -> bool:
    """True of metrics of which some are defined and not constant."""
    return bool((_is_defined(tally) & ~constant).any())


def names_of(tally: xr.Dataset) -> str:
    """Names of metrics as people read them.

    >>> names_of(xr.Dataset(coords={"metric": ["tpr", "fpr"]}))
    'tpr, fpr'
    """
    return ", ".join(str(metric) for metric in tally["metric"].values)


def _is_defined(tally: xr.Dataset) -> BoolArray:
    """Metrics with an estimate in some subgroup."""
    return np.asarray(np.isfinite(tally["estimate"].values).any(axis=1), dtype=np.bool_)


def _fit(
    tally: xr.Dataset, estimator: Estimator, seed: int, inference: Inference, exact_posteriors: Iterator[Posterior | None],
    notes: list[str],
) -> Posterior:  # fmt: skip
    """Fit one metric, falling back where asked and needed; the next of the exact posteriors is its own."""
    if inference in ("auto", "collapsed"):
        with errors_of_models():
            exact = next(exact_posteriors)
        if exact is not None and (usable(exact.checks) or inference == "collapsed"):
            return exact
        if inference == "collapsed":
            why = f": {estimator.only_sampled}" if estimator.only_sampled else ""
            raise InputError(
                f"{estimator.word} has no exact engine for metric {names_of(tally)!r}{why}; use inference='auto' or 'nuts'"
            )
        missing = "there is no exact engine for these settings"
        return sampled_fit(
            tally,
            estimator,
            seed,
            "default",
            missing if exact is None else "the exact engine did not pass its checks",
            notes,
        )
    return sampled_fit(tally, estimator, seed, "jax" if inference == "nuts_jax" else "default", "", notes)


def _nothing(tally: xr.Dataset) -> Posterior:
    """The posterior of metrics that are undefined everywhere: NaN with a reason, never a prior in disguise."""
    nan = np.full((CHAINS * DRAWS, tally.sizes["subgroup"]), np.nan)
    each = [lay_out(tally.isel(metric=[i]), nan, {}) for i in range(tally.sizes["metric"])]
    return Posterior(xr.concat(each, dim="metric"), (), "collapsed")


def _without_answers(draws: xr.Dataset, constant: BoolArray) -> xr.Dataset:
    """Draws of metrics fitted together, with NaN for those that have no variance."""
    if not constant.any():
        return draws
    return draws.assign(mu=draws["mu"].where(xr.DataArray(~constant, {"metric": draws["metric"]})))
