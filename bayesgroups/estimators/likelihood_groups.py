"""The groups of a report about its likelihood: observed data, log likelihood, posterior predictive distribution.

Variables and dims are those of the observed nodes of the PyMC model: ``successes(binomial_cell)`` and
``estimate(normal_cell)`` for most estimators, labelled by metric and subgroup. Cells without rows are no observation and
have no entry, so that ``az.loo`` and its relatives work as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.estimators.base import Estimator
from bayesgroups.inference.observed_nodes import Node, ObservedNodes
from bayesgroups.report.posterior import Posterior, generator

LikelihoodGroup = Literal["observed_data", "log_likelihood", "posterior_predictive"]

MAX_NUMBERS = 4_000_000
"""Draws of ``mu`` above which a report leaves its log likelihood to `bayesgroups.add_groups`; 32 MB of numbers."""
SAMPLES = ("chain", "draw")


@dataclass(frozen=True)
class LikelihoodGroups:
    """Groups by name, those of one fit or of several, and the reasons of those that there are not."""

    groups: dict[str, xr.Dataset]
    reasons: dict[str, str]
    hidden: bool = False
    """True where parameters of the likelihood were lacking."""


def likelihood_groups(
    fit: Posterior, tally: xr.Dataset, estimator: Estimator, wanted: Sequence[str], *, seed: int
) -> LikelihoodGroups:
    """Groups of one fit, of the metrics of its tally; ``seed`` is for replicates of the data."""
    draws = fit.draws if fit.latent is None else fit.draws.merge(fit.latent, join="exact", compat="no_conflicts")
    if set(wanted) <= {"observed_data"}:
        draws = draws.isel(chain=[0], draw=[0])
    answer = _observed(draws, tally, estimator)
    groups, reasons = {}, {}
    for name in (name for name in get_args(LikelihoodGroup) if name in wanted):
        if answer.hidden and name in fit.observed:
            groups[name] = fit.observed[name]
        elif answer.hidden or (answer.reason and name != "observed_data"):
            reasons[name] = answer.reason
        elif name == "observed_data":
            groups[name] = _dataset({node.name: _variable(node) for node in answer.nodes}, answer.nodes)
        elif name == "log_likelihood":
            densities = {node.name: _sampled(node, node.log_density(), draws, whole=False) for node in answer.nodes}
            groups[name] = _dataset(densities, answer.nodes, draws, whole=False)
        else:
            rng = generator(seed, ", ".join(map(str, tally["metric"].values)), name)
            replicates = {node.name: _sampled(node, node.drawn(rng), draws) for node in answer.nodes}
            groups[name] = _dataset(replicates, answer.nodes, draws)
    return LikelihoodGroups(groups, reasons, answer.hidden)


def too_large(numbers: int) -> str:
    """Reason why a report with so many draws of ``mu`` leaves its log likelihood out; empty where it does not."""
    if numbers <= MAX_NUMBERS:
        return ""
    return (
        f"the report has {numbers:,} draws of mu, and above {MAX_NUMBERS:,} the log likelihood is computed on request, by "
        "bayesgroups.add_groups(report, ['log_likelihood'])"
    )


def parts_of(tally: xr.Dataset, estimator: Estimator) -> list[xr.Dataset]:
    """Tallies that are fitted at once: every metric by itself, or all together."""
    return [tally] if estimator.joint else [tally.isel(metric=[i]) for i in range(tally.sizes["metric"])]


def joined(fits: Sequence[LikelihoodGroups]) -> LikelihoodGroups:
    """Groups of fits of single metrics as those of one model: cells of one name stand behind one another.

    A group that one of the fits has no answer to is left out whole, for a part of it would pass for all of it.
    """
    reasons = {name: reason for fit in reversed(fits) for name, reason in fit.reasons.items()}
    names = {name: None for fit in fits for name in fit.groups if name not in reasons}
    parts = {name: [fit.groups[name] for fit in fits if fit.groups[name].data_vars] for name in names}
    return LikelihoodGroups(
        {name: _concatenated(several) for name, several in parts.items() if several},
        reasons,
        any(fit.hidden for fit in fits),
    )


def _observed(draws: xr.Dataset, tally: xr.Dataset, estimator: Estimator) -> ObservedNodes:
    if not np.isfinite(draws["mu"].values).any():
        return ObservedNodes(())  # nothing was fitted
    return estimator.observed_nodes(draws.stack(sample=SAMPLES, create_index=False), tally)


def _concatenated(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    names = {str(name): None for part in parts for name in part.data_vars}
    variables = {}
    for name in names:
        several = [part[name] for part in parts if name in part]
        dim = next(str(dim) for dim in several[0].dims if dim not in SAMPLES)
        cells = xr.concat(several, dim=dim, join="exact", coords="minimal", compat="override", combine_attrs="drop")
        if len(several) > 1 and cells[dim].dtype.kind in "iu":  # without labels, cells are numbered
            cells = cells.assign_coords({dim: np.arange(cells.sizes[dim])})
        variables[name] = cells.transpose(*[dim for dim in SAMPLES if dim in cells.dims], ...)
    return xr.Dataset(variables)


def _variable(node: Node) -> tuple[tuple[str, ...], np.ndarray]:
    values = node.observed.astype(np.int64) if node.whole else node.observed
    return (node.dim, *node.beside), values


def _sampled(
    node: Node, values: np.ndarray, draws: xr.Dataset, *, whole: bool = True
) -> tuple[tuple[str, ...], np.ndarray]:
    """Values (sample, cell, ...) along chains and draws; whole observations, or one number of each."""
    shape = (draws.sizes["chain"], draws.sizes["draw"], *values.shape[1:])
    return (*SAMPLES, node.dim, *(node.beside if whole else ())), values.reshape(shape)


def _dataset(
    variables: Mapping[str, tuple[tuple[str, ...], np.ndarray]],
    nodes: Sequence[Node],
    draws: xr.Dataset | None = None,
    *,
    whole: bool = True,
) -> xr.Dataset:
    """Variables with the labels of cells and, where observations have several numbers, of these."""
    coordinates = {} if draws is None or not nodes else {name: draws[name].values for name in SAMPLES}
    for node in nodes:
        coordinates |= {node.dim: np.asarray(node.labels)}
        coordinates |= {dim: np.asarray(labels) for dim, labels in node.beside.items() if whole}
    return xr.Dataset(variables, coords=coordinates)
