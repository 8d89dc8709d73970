"""Report of targets: both answers, the weights behind them, and checks, in the schema of every report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, TextArray
from bayesgroups.data.texts import as_json
from bayesgroups.questions.populations.frequentist_side import NOT_ESTIMABLE, Answer, Side
from bayesgroups.questions.populations.plan import Plan
from bayesgroups.questions.populations.sizes import Declared
from bayesgroups.report.diagnostics import Check, checks_dataset
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.overlap import TARGETS_SCHEMA
from bayesgroups.report.posterior import CHAINS
from bayesgroups.report.schema import SCHEMA, SCHEMA_VERSION, estimates, made_at
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values

WARNED_SHARE = 0.05
"""Share of people in cells without rows from which on a note says so."""
CELL = ("metric", "subgroup")
METRIC_FACTS = ("kind", "range_lower", "range_upper", "larger_is_better", "undefined_when", "ties")


@dataclass(frozen=True, eq=False)
class Targeted:
    """Both answers of one metric: of the frequentist side an answer per target, of the Bayesian one draws (draw, target).

    ``shift`` (draw,) is that of the benchmark, where there is one; ``checks`` are those of raking.
    """

    side: Side
    answers: list[Answer]
    draws: FloatArray | None
    shift: FloatArray | None
    checks: tuple[Check, ...]


def target_report(
    tally: xr.Dataset, report: xr.DataTree | None, targeted: Sequence[Targeted], plan: Plan, declared: Declared,
    by: Sequence[str],
) -> xr.DataTree:  # fmt: skip
    """Tree of the targets, in the order of metrics of the tally."""
    table = _table(tally, targeted)
    reference = _reference(table, targeted)
    drawn = _posterior(table, report, targeted)
    answered = estimates(table, drawn, reference)
    answered = _with_facts(answered, targeted, report, plan, tally)
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
    source: Mapping[str, Any] = report.attrs if report is not None else {
        "estimator": "standard_estimates", "settings": "{}", "inference": "none", "notes": "[]", "versions": "{}",
    }  # fmt: skip
    passed = bool((groups["diagnostics"]["passed"].values == 1).all()) and bool(int(source.get("usable", 1)))
    notes = [*json.loads(str(source.get("notes", "[]"))), *_notes(tally, targeted, plan, declared, report)]
    tree.attrs = {
        **{name: value for name, value in source.items() if name not in ("without_groups", "command")},
        "schema": SCHEMA, "schema_version": SCHEMA_VERSION, "seed": plan.seed, "usable": int(passed),
        "notes": json.dumps(notes, ensure_ascii=False), "created_at": created, "poststratified": 1, "overlapping": 1,
        "poststratification": as_json({**asdict(plan), "by": list(by)}),
    }  # fmt: skip
    return tree


def _table(tally: xr.Dataset, targeted: Sequence[Targeted]) -> xr.Dataset:
    """Variables of a tally along targets, and the weights of cells; not a tally, for targets share rows."""
    first = targeted[0].side
    weights = np.stack([each.side.weights for each in targeted])
    inside = np.nan_to_num(weights) > 0  # (metric, target, cell)
    cells = [each.side.cells for each in targeted]
    count, weight = (np.stack([getattr(each, name) for each in cells]) for name in ("count", "weight"))
    values = np.stack([each.values for each in cells])
    people = np.einsum("mtc,mc->mt", inside, np.nan_to_num(weight))
    with np.errstate(divide="ignore", invalid="ignore"):
        crude = np.einsum("mtc,mc,mc->mt", inside, np.nan_to_num(weight), values) / people
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
        "sample_estimate": (CELL, crude),
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
        "interval_method": (CELL, np.array([[answer.method for answer in row] for row in answers], dtype=str)),
        "status": (CELL, table["status"].values),
        "bound_lower": (CELL, np.array([[answer.bounds[0] for answer in row] for row in answers])),
        "bound_upper": (CELL, np.array([[answer.bounds[1] for answer in row] for row in answers])),
    }
    return xr.Dataset(data, coords={**table.drop_dims("cell").coords, "level": np.array(LEVELS)})


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


def _with_facts(
    answered: xr.Dataset, targeted: Sequence[Targeted], report: xr.DataTree | None, plan: Plan, tally: xr.Dataset
) -> xr.Dataset:
    """Statuses that are about targets, their estimands, and the shares behind them."""
    reference = _reference_facts(targeted)
    share = np.stack([each.side.imputed_share for each in targeted])
    frequentist = answered["status"].values[1].astype("<U13")
    mean = answered["estimate"].values[0]
    bayesian = answered["status"].values[0].astype("<U13")
    flat = bayesian == "degenerate"
    bayesian = np.where(share > 0, "imputed", np.where(frequentist == "saturated", "saturated", "ok")).astype("<U13")
    bayesian = np.where(flat & (not plan.finite) & np.isfinite(mean), "degenerate", bayesian)
    bayesian = np.where(np.isfinite(mean), bayesian, np.where(np.isnan(share), "undefined", NOT_ESTIMABLE))
    estimands = _estimands(tally, report, plan, bool((share > 0).any()))
    kind = answered["interval_kind"].values.astype("<U10")
    if report is None or "posterior" not in report.children:
        kind[0] = "none"
    method = answered["interval_method"].values
    method[0] = np.where(np.isfinite(mean)[..., None], method[0], "")
    reason = answered["reason"].values.astype(object)
    lost = (reason == "") & ~np.isfinite(mean)
    why = "no draws: the source is a tally" if report is None else "the estimator has no answer for a cell with people"
    reason[lost] = why
    return answered.assign(
        status=(("approach", *CELL), np.stack([bayesian, frequentist])),
        interval_kind=(("approach", "metric"), kind),
        interval_method=(("approach", *CELL, "level"), method),
        reason=(CELL, reason.astype(str)),
        estimand=(("approach", "metric"), estimands),
        imputed_share=(CELL, share),
        covered_share=(CELL, 1 - share),
        **reference,
    )


def _reference_facts(targeted: Sequence[Targeted]) -> dict[str, Any]:
    answers = [each.answers for each in targeted]
    members = [each.side.targets.members @ each.side.sizes.size for each in targeted]
    return {
        "bound_lower": (CELL, np.array([[answer.bounds[0] for answer in row] for row in answers])),
        "bound_upper": (CELL, np.array([[answer.bounds[1] for answer in row] for row in answers])),
        "population": (CELL, np.stack(members)),
    }


def _estimands(tally: xr.Dataset, report: xr.DataTree | None, plan: Plan, gaps: bool) -> TextArray:
    """Estimands (approach, metric) in words."""
    plain = superpopulation_values(tally)
    sides = [plain, plain]
    if report is not None:
        table = report["estimates"].to_dataset()
        sides[0] = reported_estimands(table.sel(approach="bayesian"))
    covered = " of the covered population" if plan.empty == "drop" and gaps else " of the target population"
    words = [
        [f"{text}{of}" for text in side] for side, of in zip(sides, (" of the target population", covered), strict=True)
    ]
    if plan.finite:
        words = [
            [text.replace("superpopulation ", "").replace("of the", "of all people of the") for text in row]
            for row in words
        ]
    return np.array(words, dtype=str)


def _checks(report: xr.DataTree | None, checks: Sequence[Check]) -> xr.Dataset:
    """Checks of the source, and those of raking."""
    added = checks_dataset(checks)
    if report is None:
        return added
    source = report["diagnostics"].to_dataset()
    return xr.concat([source, added], dim="check", join="exact", data_vars="all") if len(checks) else source


def _notes(
    tally: xr.Dataset, targeted: Sequence[Targeted], plan: Plan, declared: Declared, report: xr.DataTree | None
) -> list[str]:
    from bayesgroups.questions.populations.cells import shares_clusters

    notes = []
    if report is None:
        notes.append("the source is a tally, so there are no Bayesian values")
    for each in targeted:
        side, metric = each.side, each.side.cells.metric
        share = float(side.imputed_share[0])
        if share >= WARNED_SHARE:
            notes.append(
                f"{metric}: {100 * share:.3g}% of the population is in cells without rows, answered by the model alone"
            )
        if each.shift is not None:
            unit = "in log odds" if plan.benchmark_scale == "logit" else "in units of the metric"
            notes.append(
                f"{metric}: values of cells were moved by {float(np.nanmean(each.shift)):.3g} {unit} to meet the benchmark; "
                "frequentist standard errors are those before"
            )
    first = targeted[0].side
    held = np.bincount(first.sizes.cell, weights=first.sizes.size, minlength=len(first.cells.labels))
    for name, levels in declared.columns.items():
        absent = [level for level in dict.fromkeys(levels.tolist()) if not held[levels == level].sum() > 0]
        if absent:
            notes.append(f"the population has nobody with {name} {', '.join(map(repr, absent))}")
    if declared.margins:
        notes.append(
            "the composition inside the margins is that of the evaluated rows; raking gives no people to cells without rows"
        )
    if shares_clusters(tally):
        notes.append(
            "clusters are in several cells, whose errors are taken for independent, so intervals can be too short"
        )
    return notes
