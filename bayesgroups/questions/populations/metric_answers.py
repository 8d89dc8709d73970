"""Both answers about one metric: the population read for it, weighted estimates, and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.populations.cells import Cells, read_cells
from bayesgroups.questions.populations.conditional import Confusion, check_counted, counted_by, read_confusion
from bayesgroups.questions.populations.draws import benchmarked_draws, everybody_values, ratio_draws, weighted_draws
from bayesgroups.questions.populations.finite import check_exact, check_finite, check_survey
from bayesgroups.questions.populations.frequentist_side import Side
from bayesgroups.questions.populations.plan import Plan, totals_of
from bayesgroups.questions.populations.prevalence import turned
from bayesgroups.questions.populations.raking import TOLERANCE
from bayesgroups.questions.populations.sizes import Declared, Sizes
from bayesgroups.questions.populations.target_facts import Targeted
from bayesgroups.questions.populations.targets import Targets, targets_of
from bayesgroups.report.diagnostics import Check, at_most
from bayesgroups.report.posterior import generator


@dataclass(frozen=True, eq=False)
class _Metric:
    """One metric with its population."""

    cells: Cells
    confusion: Confusion | None
    sizes: Sizes
    targets: Targets


def _prepared(
    tally: xr.Dataset, report: xr.DataTree | None, position: int, declared: Declared, plan: Plan, by: Sequence[str]
) -> _Metric:
    """Cells, sizes and targets of a metric, after checks that the sizes count the right people."""
    cells, confusion = read_cells(tally, position), read_confusion(tally, position)
    rows = declared.table is None and declared.tally is None and not declared.margins
    averaged = counted_by(cells)
    people = plan.population_of == "people" and averaged != "people" and not (rows and cells.kind != "f1")
    by_prevalence = declared.prevalence is not None and averaged in ("positives", "negatives")
    people = people and not by_prevalence
    if plan.interval == "exact":
        check_exact(cells)
    if plan.variance == "survey":
        check_survey(cells)
    drawn = report is None or "posterior" not in report.children or "cell_share" in report["posterior"].data_vars
    exact = people and confusion is not None and drawn
    if (not rows or cells.kind in ("f1", "auc")) and not by_prevalence:
        check_counted(cells, plan.population_of, exact=exact)
    if exact and (plan.finite or plan.benchmark is not None):
        raise InputError(
            f"metric {cells.metric!r} averages over {averaged.replace('_', ' ')}: finite=True and benchmark= need sizes of "
            f"them, and population_of={averaged!r}"
        )
    weighed = confusion.rows if exact and confusion is not None else cells.weight
    sizes = declared.sizes(cells, weighed, denominator=plan.population_of == "denominator", smoothing=plan.smoothing)
    if by_prevalence and declared.prevalence is not None:
        sizes = turned(sizes, declared.prevalence, cells.labels, negatives=averaged == "negatives")
    if plan.finite:
        certain = sizes.whole and sizes.sampled is None and not sizes.margins
        parts = np.bincount(sizes.cell, weights=sizes.size > 0, minlength=len(cells.labels)) > 1
        check_finite(cells, np.bincount(sizes.cell, weights=sizes.size, minlength=len(cells.labels)), certain, parts)
        sizes = _whole_cells(sizes, len(cells.labels)) if not sizes.regions else sizes
    return _Metric(cells, confusion if exact else None, sizes, targets_of(by, declared.columns, sizes))


def _whole_cells(sizes: Sizes, cells: int) -> Sizes:
    """Sizes by cell, where no region splits any."""
    return Sizes(
        np.bincount(sizes.cell, weights=sizes.size, minlength=cells), np.arange(cells, dtype=np.intp), {}, sizes.whole
    )


def both_answers(
    tally: xr.Dataset, report: xr.DataTree | None, position: int, declared: Declared, plan: Plan, by: Sequence[str],
    metrics: Sequence[str],
) -> Targeted:  # fmt: skip
    """Both answers of one metric."""
    ready = _prepared(tally, report, position, declared, plan, by)
    cells, sizes, targets = ready.cells, ready.sizes, ready.targets
    totals = tuple(
        totals_of(plan.benchmark, cells.metric, metrics, targets.labels, cells.kind, cells.range, plan.benchmark_scale)
    )
    side = Side(cells, ready.confusion, sizes, targets, plan, totals, _of(report, "bootstrap", position))
    mu, shift, checks = None, None, []
    if report is not None and "posterior" in report.children:
        values = _of(report, "posterior", position)
        assert values is not None
        rng = generator(plan.seed, cells.metric, "poststratify")
        drawn = sizes.drawn(rng, len(values)) if sizes.sampled is not None or plan.composition == "drawn" else None
        composition = None if drawn is None else drawn[0]
        if sizes.margins:
            checks = [_raked(cells.metric, 0.0 if drawn is None else drawn[1])]
        if ready.confusion is not None:
            shares = _shares(report)
            of_cells = Confusion(shares, ready.confusion.rows, ready.confusion.numerator, ready.confusion.denominator)
            mu = ratio_draws(of_cells, sizes, targets, composition)
        else:
            if plan.finite:
                values = everybody_values(values, tally, position, sizes.size, rng)
            if totals:
                moved = benchmarked_draws(values, sizes, targets, composition, totals, plan.benchmark_scale, rng)
                values, shift = moved.values, moved.shift
            mu = weighted_draws(values, sizes, targets, composition)
    return Targeted(side, side.answers(), mu, shift, tuple(checks))


def _raked(metric: str, miss: float) -> Check:
    return at_most(
        "raking", metric, miss, TOLERANCE, "the largest distance of a raked draw from a margin, of the total,"
    )


def _of(report: xr.DataTree | None, group: str, position: int) -> FloatArray | None:
    """Draws (draw, cell) of a group of the report, where it has that group."""
    if report is None or group not in report.children:
        return None
    mu = report[group].to_dataset()["mu"].isel(metric=position).transpose("chain", "draw", "subgroup").values
    return np.asarray(mu.reshape(-1, mu.shape[-1]), dtype=np.float64)


def _shares(report: xr.DataTree) -> FloatArray:
    """Draws (draw, cell, kind) of the shares of confusion cells."""
    shares = report["posterior"].to_dataset()["cell_share"]
    values = shares.transpose("chain", "draw", "subgroup", "outcome", "decision").values
    return np.asarray(values.reshape(values.shape[0] * values.shape[1], values.shape[2], -1), dtype=np.float64)
