"""Groups of a report in the schema of ArviZ that are made on request, from the report alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.descriptions import estimator_of
from bayesgroups.estimators.likelihood_groups import LikelihoodGroups, joined, likelihood_groups, parts_of, too_large
from bayesgroups.estimators.prior_groups import log_prior_group, prior_groups
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.posterior import Posterior
from bayesgroups.report.schema import check
from bayesgroups.report.tree import report_of

Group = Literal["observed_data", "log_likelihood", "posterior_predictive", "prior", "prior_predictive", "log_prior"]
WITHOUT = "without_groups"
"""Root attribute of a report: why it lacks groups, by their names, as JSON."""


@checked_keywords
def add_groups(report: xr.DataTree, groups: Sequence[Group], *, tally: xr.Dataset | None = None) -> xr.DataTree:
    """Add groups of the schema of ArviZ to a report: data, likelihood, priors and predictive distributions.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    groups : sequence of str
        Of ``observed_data``; ``log_likelihood``, at every draw and observed cell; ``posterior_predictive``, one replicate
        of the data at every draw; ``prior``, 1,000 draws of the parameters in ``/posterior``; ``prior_predictive``, data
        at these; ``log_prior``, the log density of the hyper-priors at every posterior draw, up to a constant.
    tally : xr.Dataset, optional
        What the report was made from; needed only where the report was saved without parts of it.

    Returns
    -------
    xr.DataTree
        A report with these groups besides those that it had, which are made anew where they are named. Variables and dims
        are those of the observed nodes of ``estimator.model(tally)``: ``successes(binomial_cell)`` (a count),
        ``estimate(normal_cell)`` (units of the metric) and, of some estimators, others. Cells without rows have no entry.

    Raises
    ------
    InputError
        If a group does not exist or cannot be made, which says why; the report has no draws; the estimator is not
        imported; or the tally is not that of the report.
    SchemaError
        If it is not a report.

    Notes
    -----
    Draws are made from the seed of the report: the same report gives the same bytes. Where an engine has parameters that
    a report does not keep, the exact engine is run again and its draws must be those of the report.

    References
    ----------
    InferenceData schema specification of ArviZ, https://python.arviz.org.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> report = bg.add_groups(bg.estimate(counts, bg.NoPooling(), seed=1), ["posterior_predictive"])
    >>> report["posterior_predictive"]["successes"].dims
    ('chain', 'draw', 'binomial_cell')
    >>> report["observed_data"]["successes"].values.tolist()
    [1, 30]
    """
    check(report)
    refuse_overlapping(report, "add_groups")
    wanted = check_groups(groups)
    if "posterior" not in report.children:
        raise InputError(
            "the report was saved without its draws (group 'posterior'), which every other group is made from"
        )
    if "mu" not in report["posterior"].data_vars:
        raise InputError("the group 'posterior' of the report has no draws 'mu'")
    estimator, seed = estimator_of(report), int(report.attrs["seed"])
    source = report["constant_data"].to_dataset() if tally is None else _checked(tally, report)
    posterior = report["posterior"].to_dataset()
    try:
        fits = [_of_fit(part, posterior, estimator, wanted, seed) for part in parts_of(source, estimator)]
        made = all_groups(fits, source, posterior, estimator, wanted, seed=seed)
    except (InputError, ValueError) as problem:
        if tally is not None:
            raise
        raise InputError(
            f"the tally in the report does not suffice ({problem}); give the one it was made from, as tally="
        ) from problem
    for name in wanted:
        if name in made.reasons:
            raise InputError(f"{name} cannot be added to this report of {estimator.word}: {made.reasons[name]}")
    return with_groups(report, made)


def check_groups(groups: Iterable[str]) -> list[Group]:
    """Names of groups that can be made, each once; InputError says which there are."""
    if isinstance(groups, str):
        raise InputError(f"groups={groups!r} must be a list of names, as groups=[{groups!r}]")
    wanted = list(dict.fromkeys(groups))
    for name in wanted:
        if name not in get_args(Group):
            raise InputError(f"groups= names {name!r}, which is not one of {', '.join(map(repr, get_args(Group)))}")
    return wanted  # type: ignore[return-value]


def all_groups(
    fits: Sequence[LikelihoodGroups], tally: xr.Dataset, posterior: xr.Dataset, estimator: Estimator,
    wanted: Sequence[str], *, seed: int,
) -> LikelihoodGroups:  # fmt: skip
    """Groups of a report from those of its fits, and the groups about its priors."""
    sources = [joined(fits)]
    if "log_prior" in wanted:
        sources.append(log_prior_group(tally, estimator, posterior))
    drawn = [name for name in ("prior", "prior_predictive") if name in wanted]
    sources.append(prior_groups(tally, estimator, posterior, drawn, seed=seed))
    groups = {name: group for source in sources for name, group in source.groups.items()}
    return LikelihoodGroups(groups, {name: reason for source in sources for name, reason in source.reasons.items()})


def with_groups(report: xr.DataTree, made: LikelihoodGroups) -> xr.DataTree:
    """The report with groups added, and with the reasons of those that it lacks as an attribute."""
    shared = ("created_at", "modeling_interface", "modeling_interface_version")
    attributes = {name: report["posterior"].attrs[name] for name in shared if name in report["posterior"].attrs}
    datasets = {name: report[name].to_dataset() for name in report.children}
    for name, group in made.groups.items():
        sampled = {} if name == "observed_data" else {"sample_dims": ["chain", "draw"]}
        datasets[name] = group.drop_attrs().assign_attrs({**attributes, **sampled})
    reasons = {**json.loads(str(report.attrs.get(WITHOUT, "{}"))), **made.reasons}
    reasons = {name: reason for name, reason in reasons.items() if name not in datasets}
    attrs = {name: value for name, value in report.attrs.items() if name != WITHOUT}
    if reasons:
        attrs[WITHOUT] = json.dumps(reasons, ensure_ascii=False)
    return report_of(datasets, attrs)


def with_likelihood(report: xr.DataTree, tally: xr.Dataset, estimator: Estimator, *, seed: int) -> xr.DataTree:
    """A report of draws that are given, with the groups that `estimate` always makes, or the reasons why there are none."""
    posterior = report["posterior"].to_dataset()
    large = too_large(posterior["mu"].size)
    names = ["observed_data"] if large else ["observed_data", "log_likelihood"]
    fits = [
        likelihood_groups(
            Posterior(posterior.sel(metric=part["metric"].values), (), "report"), part, estimator, names, seed=seed
        )
        for part in parts_of(tally, estimator)
    ]
    made = joined(fits)
    return with_groups(
        report, LikelihoodGroups(made.groups, made.reasons | ({"log_likelihood": large} if large else {}))
    )


def _of_fit(
    tally: xr.Dataset, posterior: xr.Dataset, estimator: Estimator, wanted: Sequence[Group], seed: int
) -> LikelihoodGroups:
    """Groups about the likelihood of one fit, with its latent parameters drawn again where these are needed."""
    names = [name for name in ("observed_data", "log_likelihood", "posterior_predictive") if name in wanted]
    fit = Posterior(posterior.sel(metric=tally["metric"].values), (), "report")
    made = likelihood_groups(fit, tally, estimator, names, seed=seed)
    if not made.reasons or not estimator.hides_parameters:
        return made
    again = estimator.collapsed(tally, seed=seed)
    if again is None or not np.array_equal(again.draws["mu"].values, fit.draws["mu"].values, equal_nan=True):
        return made
    return likelihood_groups(replace(fit, latent=again.latent), tally, estimator, names, seed=seed)


def _checked(tally: xr.Dataset, report: xr.DataTree) -> xr.Dataset:
    """The tally, if it has the metrics and subgroups of the report and its estimates."""
    kept = report["constant_data"].to_dataset()
    for name in ("metric", "subgroup", "estimate"):
        if name not in tally or not _equal(tally[name].values, kept[name].values):
            raise InputError(f"tally= is not what the report was made from: its {name}s differ")
    return tally


def _equal(first: np.ndarray, second: np.ndarray) -> bool:
    return np.array_equal(first, second, equal_nan=first.dtype.kind == "f" == second.dtype.kind)
