"""Report of targets: both answers, the weights behind them, and checks, in the schema of every report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.texts import as_json
from bayesgroups.questions.populations.answers import Answer
from bayesgroups.questions.populations.plan import Plan
from bayesgroups.questions.populations.sizes import Declared
from bayesgroups.questions.populations.target_facts import CELL, Targeted, notes_of, with_facts
from bayesgroups.report.diagnostics import Check, checks_dataset
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.overlap import TARGETS_SCHEMA
from bayesgroups.report.posterior import CHAINS
from bayesgroups.report.schema import SCHEMA, SCHEMA_VERSION, estimates, made_at
from bayesgroups.tallies.origins import origin_of

TALLY_ATTRS: Mapping[str, Any] = {
    "estimator": "standard_estimates", "settings": "{}", "inference": "none", "notes": "[]", "versions": "{}",
}  # fmt: skip
"""Attributes where there is no report to take them from."""
METRIC_FACTS = ("kind", "range_lower", "range_upper", "larger_is_better", "undefined_when", "ties")


def target_report(
    tally: xr.Dataset, report: xr.DataTree | None, targeted: Sequence[Targeted], plan: Plan, declared: Declared,
    by: Sequence[str],
) -> xr.DataTree:  # fmt: skip
    """Tree of the targets, in the order of metrics of the tally."""
    table = _table(tally, targeted)
    reference = _reference(table, targeted)
    drawn = _posterior(table, report, targeted)
    answered = estimates(table, drawn, reference)
    answered = with_facts(answered, targeted, report, plan, tally)
    created = made_at()
    made_by = {
        "created_at": created, "modeling_interface": "bayesgroups", "modeling_interface_version": version("bayesgroups"),
    }  # fmt: skip
    groups: dict[str, xr.Dataset] = {}
    if report is not None and "posterior" in report.children:
        groups["posterior"] = drawn.assign_attrs({**made_by, "sample_dims": ["chain", "draw"]})
    replicates = _replicates(table, report, targeted)
    if replicates is not None:
        groups["bootstrap"] = replicates.assign_attrs(made_by)
    groups["estimates"] = answered
    groups["diagnostics"] = _checks(report, [check for each in targeted for check in each.checks])
    groups["constant_data"] = table
    tree = xr.DataTree.from_dict(groups)
    source = dict(TALLY_ATTRS) if report is None else {str(name): value for name, value in report.attrs.items()}
    passed = bool((groups["diagnostics"]["passed"].values == 1).all()) and bool(int(source.get("usable", 1)))
    notes = [*json.loads(str(source.get("notes", "[]"))), *notes_of(tally, targeted, plan, declared, report)]
    tree.attrs = {
        **{name: value for name, value in source.items() if name not in ("without_groups", "command")},
        "schema": SCHEMA, "schema_version": SCHEMA_VERSION, "seed": plan.seed, "usable": int(passed),
        "notes": json.dumps(notes, ensure_ascii=False), "created_at": created, "poststratified": 1, "overlapping": 1,
        "poststratification": as_json({**asdict(plan), "by": list(by), "source": _made_from(tally, report, declared)}),
    }  # fmt: skip
    return tree


def _made_from(tally: xr.Dataset, report: xr.DataTree | None, declared: Declared) -> dict[str, Any]:
    """Basis of the targets that they no longer show: the origin of the tally, the seed of the fit, and what was given."""
    return {
        **origin_of(tally), "population": "rows" if declared.is_rows else "given",
        "prevalence": declared.prevalence is not None, **({} if report is None else {"seed": int(report.attrs["seed"])}),
    }  # fmt: skip


def _table(tally: xr.Dataset, targeted: Sequence[Targeted]) -> xr.Dataset:
    """Variables of a tally along targets, and the weights of cells; not a tally, for targets share rows."""
    first = targeted[0].side
    weights = np.stack([each.side.weights for each in targeted])
    inside = np.nan_to_num(weights) > 0  # (metric, target, cell)
    cells = [each.side.cells for each in targeted]
    count, weight = (np.stack([getattr(each, name) for each in cells]) for name in ("count", "weight"))
    values = np.stack([each.values for each in cells])
    answers = [each.answers for each in targeted]
    error = np.array([[answer.std_error for answer in row] for row in answers])
    rows = np.nan_to_num(first.cells.rows)
    rates = np.array([each.kind == "rate" for each in cells])[:, None, None]
    successes = np.einsum("mtc,mc->mt", inside, values * np.nan_to_num(count))
    estimate = np.array([[answer.estimate for answer in row] for row in answers])
    status = np.array([[answer.status for answer in row] for row in answers], dtype=str)
    data: dict[str, Any] = {
        "rows": ("subgroup", inside.any(axis=0) @ rows),
        "count": (CELL, np.einsum("mtc,mc->mt", inside, count)),
        "successes": (CELL, np.where(rates[..., 0], successes, np.nan)),
        "estimate": (CELL, estimate),
        "row_variance": (CELL, np.full(estimate.shape, np.nan)),
        "sampling_variance": (CELL, error**2),
        "bootstrap_variance": (CELL, error**2),
        "pooled_variance": ("metric", np.full(len(cells), np.nan)),
        "pooled_df": ("metric", np.full(len(cells), np.nan)),
        "status": (CELL, status),
        "reason": (CELL, np.array([[answer.reason for answer in row] for row in answers], dtype=str)),
        "weight": ((*CELL, "cell"), weights),
        "cell_rows": (("metric", "cell"), np.nan_to_num(weight)),
        **{name: ("metric", tally[name].values) for name in METRIC_FACTS},
    }
    columns = {name: ("subgroup", levels) for name, levels in first.targets.columns.items()}
    coordinates = {
        "metric": tally["metric"].values.astype(str), "subgroup": np.array(first.targets.labels, dtype=str),
        "cell": first.cells.labels, **columns,
    }  # fmt: skip
    attrs = {**tally.attrs, "schema": TARGETS_SCHEMA, "overlapping": 1, "by": as_json({"by": list(columns)})}
    return xr.Dataset(data, coords=coordinates, attrs=attrs)


def _reference(table: xr.Dataset, targeted: Sequence[Targeted]) -> xr.Dataset:
    answers = [each.answers for each in targeted]
    bounded = (*CELL, "level")
    data: dict[str, Any] = {
        "estimate": (CELL, table["estimate"].values),
        "std_error": (CELL, np.sqrt(table["sampling_variance"].values)),
        "lower": (bounded, np.array([[answer.limits.lower for answer in row] for row in answers])),
        "upper": (bounded, np.array([[answer.limits.upper for answer in row] for row in answers])),
        "interval_kind": ("metric", np.full(len(answers), "confidence")),
        "interval_method": (CELL, np.array([_methods(row) for row in answers], dtype=str)),
        "status": (CELL, table["status"].values),
        "bound_lower": (CELL, np.array([[answer.bounds[0] for answer in row] for row in answers])),
        "bound_upper": (CELL, np.array([[answer.bounds[1] for answer in row] for row in answers])),
    }
    return xr.Dataset(data, coords={**table.drop_dims("cell").coords, "level": np.array(LEVELS)})


def _methods(answers: Sequence[Answer]) -> list[str]:
    """Interval methods of the targets of a metric; a target without limits has that of the first that has some."""
    usual = next((answer.method for answer in answers if answer.method), "none")
    return [answer.method or usual for answer in answers]


def _posterior(table: xr.Dataset, report: xr.DataTree | None, targeted: Sequence[Targeted]) -> xr.Dataset:
    """Draws with the chains of the source; of a tally NaN."""
    number, targets = len(targeted), table.sizes["subgroup"]
    if report is None or "posterior" not in report.children:
        chains, draws = CHAINS, 2
        mu = np.full((chains, draws, number, targets), np.nan)
    else:
        sizes = report["posterior"].to_dataset().sizes
        chains, draws = sizes["chain"], sizes["draw"]
        mu = np.stack([np.asarray(each.draws).reshape(chains, draws, targets) for each in targeted], axis=2)
    dims = ("chain", "draw", "metric")
    data: dict[str, Any] = {"mu": ((*dims, "subgroup"), mu), "overall": (dims, mu[..., 0].copy())}
    if any(each.shift is not None for each in targeted):
        empty = np.full((chains, draws), np.nan)
        shifts = [empty if each.shift is None else each.shift.reshape(chains, draws) for each in targeted]
        data["benchmark_shift"] = (dims, np.stack(shifts, axis=2))
    labels = {name: table[name].values for name in ("metric", "subgroup")}
    return xr.Dataset(data, coords={"chain": np.arange(chains), "draw": np.arange(draws), **labels})


def _replicates(table: xr.Dataset, report: xr.DataTree | None, targeted: Sequence[Targeted]) -> xr.Dataset | None:
    """Weighted bootstrap replicates of the source, where it has some; NaN where a cell with people has none."""
    if report is None or any(each.side.replicates is None or each.side.confusion is not None for each in targeted):
        return None
    source = report["bootstrap"].to_dataset()
    weighted = []
    for each in targeted:
        values, weights = np.asarray(each.side.replicates), each.side.weights
        lost = ~np.isfinite(values).all(axis=0) & (weights > 0)
        means = np.nan_to_num(values) @ np.nan_to_num(weights).T
        weighted.append(np.where(lost.any(axis=1), np.nan, means))
    shape = (source.sizes["chain"], source.sizes["draw"], len(targeted), table.sizes["subgroup"])
    labels = {name: table[name].values for name in ("metric", "subgroup")}
    mu = np.stack(weighted, axis=1).reshape(shape)
    coordinates = {"chain": source["chain"].values, "draw": source["draw"].values, **labels}
    return xr.Dataset({"mu": (("chain", "draw", *CELL), mu)}, coords=coordinates, attrs=dict(source.attrs))


def _checks(report: xr.DataTree | None, checks: Sequence[Check]) -> xr.Dataset:
    """Checks of the source, and those of raking."""
    added = checks_dataset(checks)
    if report is None:
        return added
    source = report["diagnostics"].to_dataset()
    return xr.concat([source, added], dim="check", join="exact", data_vars="all") if len(checks) else source
