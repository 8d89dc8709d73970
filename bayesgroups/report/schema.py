"""The report: one tree for both approaches, in the schema of ArviZ, assembled, saved and opened here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.file_names import check_ending
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.netcdf import check_version, read_netcdf, with_texts, write_netcdf
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.report.credible import EQUAL_TAILED, ONE_SIDED, CredibleLimits, credible_limits
from bayesgroups.report.diagnostics import checks_dataset, usable
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.posterior import Posterior
from bayesgroups.report.tree import as_report, report_of
from bayesgroups.tallies.estimands import superpopulation_values
from bayesgroups.tallies.partial_metrics import mixed, partly_labelled
from bayesgroups.tallies.subgroups import attributes_of, check_attributes

SCHEMA = "bayesgroups.report"
SCHEMA_VERSION = 1
KINDS = {"bayesian": "credible", "frequentist": "confidence"}
"""Kind of the intervals of an approach."""
APPROACHES = tuple(KINDS)
SAMPLERS = {"nuts": ("pymc", "nutpie"), "nuts_jax": ("pymc", "nutpie", "jax")}
"""Packages whose versions are told where they took part."""
ESTIMATES = frozenset({"approach", "level", "metric", "estimate", "std_error", "median", "lower", "upper", "lower_unclipped",
                       "upper_unclipped", "status", "reason", "count", "interval_kind", "interval_method",
                       "estimand"})  # fmt: skip
"""Variables and dims of the table of estimates."""
BLOCK = 2_000_000
"""Draws that are summarised at once, so that a summary takes little memory beside the draws."""
REQUIRED = {
    "estimates": ("estimate", "std_error", "lower", "upper", "interval_kind", "interval_method", "status"),
    "diagnostics": ("value", "threshold", "passed", "sentence"),
    "constant_data": ("estimate", "count", "status", "kind"),
}


def assemble(
    tally: xr.Dataset,
    posterior: Posterior,
    reference: xr.Dataset,
    *,
    estimator: str,
    settings: Mapping[str, Any],
    seed: int,
    notes: Iterable[str] = (),
    bootstrap: xr.Dataset | None = None,
    estimands: np.ndarray | None = None,
    description: Mapping[str, str] | None = None,
) -> xr.DataTree:
    """Tree of both approaches to the same estimands.

    ``estimands`` (approach, metric) is the value behind the rows when left out; ``notes`` are what a reader must know
    besides the diagnostics; ``description`` are attributes from `bayesgroups.estimators.descriptions.describe`, without
    which the report says the estimator's word alone. Groups are ``posterior``, ``sample_stats`` (where a sampler ran),
    ``bootstrap`` (where asked for), ``estimates``, ``diagnostics``, ``constant_data``.
    """
    created = made_at()
    made_by = {
        "created_at": created,
        "modeling_interface": "bayesgroups",
        "modeling_interface_version": version("bayesgroups"),
    }
    groups = {"posterior": posterior.draws.assign_attrs({**made_by, "sample_dims": ["chain", "draw"]})}
    if posterior.sample_stats is not None:
        groups["sample_stats"] = posterior.sample_stats.assign_attrs(made_by)
    if bootstrap is not None:
        groups["bootstrap"] = bootstrap.assign_attrs({**bootstrap.attrs, **made_by})
    described = np.stack([superpopulation_values(tally)] * 2) if estimands is None else estimands
    groups["estimates"] = estimates(tally, posterior.draws, reference).assign(
        estimand=(("approach", "metric"), described)
    )
    groups["diagnostics"] = checks_dataset(posterior.checks)
    groups["constant_data"] = tally
    attrs = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "estimator": estimator,
        "settings": as_json(dict(settings)),
        "inference": posterior.engine,
        "seed": seed,
        "usable": int(usable(posterior.checks)),
        "notes": json.dumps(list(notes), ensure_ascii=False),
        "versions": as_json(_versions(posterior.engine)),
        "created_at": created,
        **(description or {}),
    }
    return report_of(groups, attrs)


def made_at() -> str:
    """Time that a report made now carries: that of the clock, or ``SOURCE_DATE_EPOCH`` (seconds) where it is set.

    InputError if the variable is not a whole number of seconds. https://reproducible-builds.org/specs/source-date-epoch/
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"the environment has SOURCE_DATE_EPOCH={given!r}, which is no whole number of seconds"
        ) from None
    return moment.isoformat(timespec="seconds")


def check_names(tally: xr.Dataset) -> None:
    """Refuse attributes that are named like a variable of the table of estimates."""
    check_attributes(attributes_of(tally), ESTIMATES, "table of estimates")


def estimates(tally: xr.Dataset, draws: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """Table of both approaches: point estimates, standard errors and intervals at every level.

    The Bayesian estimate is the posterior mean; ``median`` (metric, subgroup) is the posterior median, which has the
    least absolute error expected. Bayesian limits hold exactly the mass of the level, see `bayesgroups.report.credible`;
    ``interval_method`` says of every subgroup and level whether they are ``equal_tailed`` or ``one_sided``. Frequentist
    limits ``lower`` and ``upper`` are clipped to the range of the metric; ``lower_unclipped``, ``upper_unclipped`` are
    not.
    """
    mu = draws["mu"].transpose("chain", "draw", "metric", "subgroup").values.reshape(-1, *tally["estimate"].shape)
    mean, error, limits = _summaries(mu, tally)
    status = tally["status"].values.astype("<U10")
    answered = np.isfinite(mean)
    bayesian = np.where((status == "undefined") & answered, "imputed", status)
    if "cell_share" in draws:  # outcomes after the decisions that lack labels are pooled
        bayesian = np.where(answered & partly_labelled(tally), "ok", bayesian)
    # No width, or no answer although there is an estimate: the variances behind it are 0.
    no_width = (limits.lower[:, -1] == limits.upper[:, -1]).reshape(mean.shape)
    flat = np.where(answered, no_width, np.isfinite(tally["estimate"].values))
    bayesian = np.where(flat, "degenerate", bayesian)

    def both(first: Any, second: xr.DataArray, *dims: str) -> tuple[tuple[str, ...], Any]:
        return ("approach", *dims), np.stack([first, second.transpose(*dims).values])

    cell = ("metric", "subgroup")
    bounded, shape = (*cell, "level"), (*mean.shape, len(LEVELS))
    low, high = tally["range_lower"].values[:, None, None], tally["range_upper"].values[:, None, None]
    data: dict[str, Any] = {
        "estimate": both(mean, reference["estimate"], *cell),
        "std_error": both(error, reference["std_error"], *cell),
        "lower_unclipped": both(limits.lower.reshape(shape), reference["lower"], *bounded),
        "upper_unclipped": both(limits.upper.reshape(shape), reference["upper"], *bounded),
        "interval_kind": both(np.full(len(mean), "credible"), reference["interval_kind"], "metric"),
        "interval_method": both(
            np.where(limits.one_sided, ONE_SIDED, EQUAL_TAILED).reshape(shape),
            reference["interval_method"].broadcast_like(reference["lower"]),
            *bounded,
        ),
        "median": (cell, limits.median.reshape(mean.shape)),
        "status": both(bayesian, reference["status"], *cell),
        "reason": (cell, tally["reason"].values),
        "count": (cell, tally["count"].values),
    }
    for side in ("lower", "upper"):
        dims, unclipped = data[f"{side}_unclipped"]
        data[side] = (dims, np.stack([unclipped[0], np.clip(unclipped[1], low, high)]))
    coordinates = {
        "approach": np.array(APPROACHES),
        "level": np.array(LEVELS),
        "metric": tally["metric"].values,
        "subgroup": tally["subgroup"].values,
        **{name: ("subgroup", tally[name].values, tally[name].attrs) for name in attributes_of(tally)},
    }
    return xr.Dataset(data, coords=coordinates)


def _summaries(mu: np.ndarray, tally: xr.Dataset) -> tuple[np.ndarray, np.ndarray, CredibleLimits]:
    """Mean and standard deviation (metric, subgroup) of draws (draw, metric, subgroup), and their credible limits."""
    flat, shape = mu.reshape(len(mu), -1), mu.shape[1:]
    whole = ~mixed(tally)  # no realised row decides a value that mixes decisions
    no_success, all_success = ((mask & whole).ravel() for mask in _saturated(tally))
    ends = [np.repeat(tally[name].values, shape[1]) for name in ("range_lower", "range_upper")]
    parts = max(1, -(-flat.size // BLOCK))
    mean, error, limits = [], [], []
    for block in np.array_split(np.arange(flat.shape[1]), parts):
        if len(block):
            here = slice(block[0], block[-1] + 1)
            part = flat[:, here]
            mean.append(part.mean(axis=0))
            error.append(part.std(axis=0, ddof=1))
            limits.append(
                credible_limits(
                    part, mean[-1], LEVELS, no_success=no_success[here], all_success=all_success[here],
                    ends=(ends[0][here], ends[1][here]),
                )
            )  # fmt: skip
    joined = CredibleLimits(*(np.concatenate(each) for each in zip(*limits, strict=True)))
    return np.concatenate(mean).reshape(shape), np.concatenate(error).reshape(shape), joined


def _saturated(tally: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Mask of rates of which no row is a success, and of those of which every row is one; (metric, subgroup)."""
    count = tally["count"].transpose("metric", "subgroup").values
    successes = tally["successes"].transpose("metric", "subgroup").values
    with_rows = (tally["kind"].values == "rate")[:, None] & (count > 0)
    return with_rows & (successes == 0), with_rows & (successes == count)


@checked_keywords
def save_report(report: xr.DataTree, path: str | Path, *, include: Iterable[str] | None = None) -> Path:
    """Save a report as NetCDF4, whole or not at all.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    path : str or Path
        The file; an older one of that name is replaced in one step.
    include : iterable of str, optional
        Groups to save (``posterior``, ``estimates`` ...), for privacy or size; all when left out. ``estimates``,
        ``diagnostics`` and ``constant_data`` without its score and cluster cells are always saved.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the file cannot be written, its name has the ending of another format, such as ``.csv``, or a group is not in the
        report.

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 3], [10, 9], pd.DataFrame({"site": ["a", "b"]}))
    >>> report = bg.estimate(counts, bg.NoPooling(), seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = bg.save_report(report, pathlib.Path(folder) / "rate.nc", include=[])
    ...     sorted(bg.open_report(path).children)
    ['constant_data', 'diagnostics', 'estimates']
    """
    check(report)
    check_ending(path, "a report", "NetCDF4")
    tree = report if include is None else _part(report, set(include))
    return write_netcdf(path, tree)


@checked_keywords
def open_report(path: str | Path) -> xr.DataTree:
    """Open a report saved by `save_report`, into memory.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    xr.DataTree

    Raises
    ------
    InputError
        If the file does not exist.
    SchemaError
        If it is not a report, was written by a newer version, or lacks a part.

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 3], [10, 9], pd.DataFrame({"site": ["a", "b"]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = bg.save_report(bg.estimate(counts, bg.NoPooling(), seed=1), pathlib.Path(folder) / "rate.nc")
    ...     bg.open_report(path).attrs["estimator"]
    'no_pooling'
    """
    report = as_report(read_netcdf(path, xr.open_datatree).map_over_datasets(with_texts))
    check(report)
    return report


def check(report: object) -> None:
    """Check that a tree is a report of this schema; the message of the SchemaError says what is wrong."""
    if not isinstance(report, xr.DataTree):
        raise SchemaError(f"expected a report (xarray.DataTree from bayesgroups.estimate); got {type(report).__name__}")
    if report.attrs.get("schema") != SCHEMA:
        raise SchemaError(
            f"not a report of bayesgroups: root attribute 'schema' is {report.attrs.get('schema')!r}, not {SCHEMA!r}"
        )
    check_version(report.attrs, SCHEMA_VERSION, "the report")
    for group, variables in REQUIRED.items():
        if group not in report.children:
            raise SchemaError(f"the report lacks the group {group!r}")
        for variable in variables:
            if variable not in report[group].data_vars:
                raise SchemaError(f"group {group!r} of the report lacks the variable {variable!r}")


def _part(report: xr.DataTree, include: set[str]) -> xr.DataTree:
    unknown = sorted(include - set(report.children))
    if unknown:
        raise InputError(
            f"include= names {unknown[0]!r}, which the report does not have; it has {sorted(report.children)}"
        )
    kept = {name: report[name].to_dataset() for name in report.children if name in include or name in REQUIRED}
    if "constant_data" not in include:
        data = kept["constant_data"]
        kept["constant_data"] = data.drop_dims(
            [dim for dim in ("score_cell", "cluster_cell", "score_packet") if dim in data.dims]
        )
    tree = xr.DataTree.from_dict(kept)
    tree.attrs = dict(report.attrs)
    return tree


def _versions(engine: str) -> dict[str, str]:
    """Versions of what took part: the sampler's packages only where it ran."""
    versions = {"bayesgroups": version("bayesgroups"), "numpy": np.__version__, "xarray": xr.__version__}
    for package in SAMPLERS.get(engine, ()):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
