"""Tallies of parts of the data, added up to the tally of the whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.frames import MISSING_LEVEL
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.periods import calendar
from bayesgroups.errors import InputError
from bayesgroups.tallies import sums
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.assembly import assemble, descriptions
from bayesgroups.tallies.auc_variances import score_cells
from bayesgroups.tallies.confusion import add_cells
from bayesgroups.tallies.covariate_addition import carry_covariates
from bayesgroups.tallies.labels import carry_names
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.notes import ASSUMED, BINARY, merge
from bayesgroups.tallies.paired_sums import carry_pairs
from bayesgroups.tallies.score_moments import carry
from bayesgroups.tallies.shared_clusters import carry_covariance
from bayesgroups.tallies.subgroups import Subgroups, attributes_of, cross, of_tally
from bayesgroups.tallies.sums import Clusters, Features, Sums


@checked_keywords
def add_tallies(tallies: Sequence[xr.Dataset]) -> xr.Dataset:
    """Add tallies of disjoint parts of the data (chunks of a file, sites, days).

    Parameters
    ----------
    tallies : sequence of xr.Dataset
        Tallies of rows or counts with the same attributes and metrics; levels may differ. Thresholds must be the same,
        so set one with ``threshold=`` rather than ``selection_rate=``.

    Returns
    -------
    xr.Dataset
        The tally that all rows together would give, up to rounding.

    Raises
    ------
    InputError
        If there is no tally, or attributes, metrics, directions, settings, kinds of tally, confusion cells or covariates of
        rows differ.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> site = pd.DataFrame({"site": ["a", "b"]})
    >>> both = bg.add_tallies([bg.tally_from_counts([1, 2], [4, 5], site), bg.tally_from_counts([2, 0], [2, 5], site)])
    >>> both["successes"].values.tolist(), both["count"].values.tolist()
    ([[3.0, 2.0]], [[6.0, 10.0]])
    """
    parts = list(tallies)
    if not parts:
        raise InputError("add_tallies() got no tally; give at least one")
    first = parts[0]
    for other in parts[1:]:
        _check_alike(first, other)
    if any("auc_as_rate" in json.loads(part.attrs["settings"]) for part in parts):
        raise InputError(
            "an AUC taken as a rate cannot be added; add the tallies first, then take bayesgroups.tallies.auc_as_rate() of the sum"
        )
    if any("judged_rows" in part.data_vars for part in parts):
        raise InputError("tallies of gold scores have slopes of all rows and cannot be added; tally the rows together")
    if "estimate" in first["kind"].values:
        raise InputError(
            "tallies of published estimates have no sums to add; pool them with bg.CompletePooling() instead"
        )
    by = attributes_of(first)
    levels = {name: [level for part in parts for level in part[name].values.tolist()] for name in by}
    alike = all(of_tally(part) == of_tally(first) for part in parts)
    subgroups = of_tally(first) if alike else cross(by, levels, _orders(parts, by))
    whole = reduce(sums.add, [_sums(part, subgroups) for part in parts])
    settings = json.loads(first.attrs["settings"])
    pooling = settings.pop("pooled_variance")
    analysis: ClusterAnalysis = settings.get("cluster_analysis", "ignore")
    lowest = np.min([part["range_lower"].values for part in parts], axis=0)
    pairs = zip(descriptions(first), lowest, strict=True)
    described = [replace(description, lower=float(low)) for description, low in pairs]
    notes = merge([json.loads(part.attrs["settings"]) for part in parts])
    settings = {name: value for name, value in settings.items() if name not in (ASSUMED, BINARY)} | notes
    settings["parts"] = len(parts)
    total = carry_names(
        parts, assemble(subgroups, described, whole, pooling=pooling, cluster_analysis=analysis, settings=settings)
    )
    summed = carry_covariance(parts, total)
    return carry_pairs(parts, carry_covariates(parts, carry(parts, add_cells(summed, parts, subgroups))))


def _orders(parts: Sequence[xr.Dataset], by: Sequence[str]) -> dict[str, list[str]]:
    """Levels in order, of attributes that all parts order alike and of periods, whose calendar has no gaps."""
    periods = json.loads(parts[0].attrs["settings"]).get("time", {})
    orders = {}
    for name in by:
        each = [list(dict.fromkeys(part[name].values.astype(str).tolist())) for part in parts]
        given = [dict(of_tally(part).orders).get(name) for part in parts]
        if name in periods:
            every = list(dict.fromkeys(level for levels in each for level in levels))
            without = [level for level in every if level == MISSING_LEVEL]
            orders[name] = calendar([level for level in every if level != MISSING_LEVEL], periods[name]) + without
        elif given[0] is not None and all(levels == given[0] for levels in given):
            orders[name] = [level for level in given[0] if any(level in levels for levels in each)]
        elif all(levels == each[0] for levels in each):
            orders[name] = each[0]
    return orders


def _check_alike(first: xr.Dataset, other: xr.Dataset) -> None:
    if attributes_of(first) != attributes_of(other):
        raise InputError(f"tallies have different attributes: {attributes_of(first)} and {attributes_of(other)}")
    if first["metric"].values.tolist() != other["metric"].values.tolist():
        raise InputError(
            f"tallies have different metrics: {first['metric'].values.tolist()} and {other['metric'].values.tolist()}"
        )
    turned = first["larger_is_better"].values != other["larger_is_better"].values
    if turned.any():
        name = str(first["metric"].values[turned][0])
        raise InputError(
            f"tallies have different directions: larger values of metric {name!r} are better in one and worse in another; say "
            "the same larger_is_better= in all of them"
        )
    if ("weight" in first.data_vars) != ("weight" in other.data_vars) or ("cluster_cell" in first.dims) != (
        "cluster_cell" in other.dims
    ):
        raise InputError("tallies differ in weights= or cluster=; make all of them alike")
    if first.get("feature", xr.DataArray([])).values.tolist() != other.get("feature", xr.DataArray([])).values.tolist():
        raise InputError("tallies have different features; make all of them alike")
    mine, theirs = json.loads(first.attrs["settings"]), json.loads(other.attrs["settings"])
    for setting in (
        "threshold",
        "positive",
        "pooled_variance",
        "cluster_analysis",
        "score_edges",
        "score_grid",
        "time",
    ):
        if mine.get(setting) != theirs.get(setting):
            raise InputError(
                f"tallies were made with different {setting}: {mine.get(setting)} and {theirs.get(setting)}"
            )


def _sums(tally: xr.Dataset, subgroups: Subgroups) -> Sums:
    """Take a tally back to its sums, laid out over the subgroups of the whole."""
    position = subgroups.codes(of_tally(tally).table)
    size = len(subgroups.table)

    def spread(values: FloatArray, fill: float = 0.0) -> FloatArray:
        full = np.full((*values.shape[:-1], size), fill)
        full[..., position] = values
        return full

    clusters = None
    if "cluster_cell" in tally.dims:
        names = ("cluster_label", "cluster_rows", "cluster_weight", "cluster_sum", "cluster_weight_squares")
        arrays = (tally.get(name, tally["cluster_weight"]).values for name in names)
        clusters = Clusters(position[tally["cluster_subgroup"].values], *arrays)
    kind = tally["kind"].values
    count = np.where((kind == "auc")[:, None], 0.0, tally["count"].values)
    weighted = "weight" in tally.data_vars
    weight = np.where(count > 0, tally["weight"].values, 0.0) if weighted else count
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(count > 0, weight**2 / count, 0.0)
        estimate = np.where((kind == "f1")[:, None], tally["estimate"] / (2 - tally["estimate"]), tally["estimate"])
        estimate = np.where(count > 0, estimate, np.nan)
        binary = np.isin(kind, ["rate", "f1"])[:, None]
        mean_scatter = np.nan_to_num(tally["row_variance"].values) * (count - 1) / count * weight
        scatter = np.where(binary, weight * estimate * (1 - estimate), mean_scatter)
    scatter = np.where(count > 0, scatter, 0.0)
    features = scores = None
    if "feature_mean" in tally.data_vars:
        feature_weight = tally.get("feature_weight", tally["rows"]).values
        total = np.nan_to_num(tally["feature_mean"].values) * feature_weight[:, None]
        features = Features(tuple(tally["feature"].values.tolist()), spread(total.T).T, spread(feature_weight))
    if "score_cell" in tally.dims:
        cells = score_cells(tally)
        scores = replace(cells, subgroup=position[cells.subgroup])
    table = Moments(spread(weight), spread(squares), spread(estimate, np.nan), spread(scatter))
    if clusters is not None:  # an analysis by clusters changes what the above is read from, so the sums are kept
        kept = {"row_weight": 0.0, "row_weight_squares": 0.0, "row_mean": np.nan, "row_scatter": 0.0}
        table = Moments(*(spread(tally[name].values, fill) for name, fill in kept.items()))
    return Sums(spread(tally["rows"].values), table, weighted, scores, features, clusters)
