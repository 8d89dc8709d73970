"""Values for target populations: weighted sums of the values of cells, for both approaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError, NotUsableError
from bayesgroups.questions.populations.benchmarks import Scale
from bayesgroups.questions.populations.cells import Cells, read_cells
from bayesgroups.questions.populations.conditional import (
    Confusion,
    PopulationOf,
    check_counted,
    counted_by,
    read_confusion,
)
from bayesgroups.questions.populations.draws import (
    benchmarked_draws,
    everybody_values,
    ratio_draws,
    weighted_draws,
)
from bayesgroups.questions.populations.finite import check_finite
from bayesgroups.questions.populations.frequentist_side import Side
from bayesgroups.questions.populations.plan import Benchmark, Composition, Empty, Plan, Variance, totals_of
from bayesgroups.questions.populations.raking import TOLERANCE
from bayesgroups.questions.populations.sizes import Declared, Sizes, declare
from bayesgroups.questions.populations.target_report import Targeted, target_report
from bayesgroups.questions.populations.targets import Targets, targets_of
from bayesgroups.questions.sampling_variances import check_tally
from bayesgroups.report.diagnostics import Check, at_most
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.posterior import generator
from bayesgroups.report.schema import check
from bayesgroups.report.view import failures
from bayesgroups.tallies.subgroups import attributes_of, check_attributes


def poststratify(
    source: xr.DataTree | xr.Dataset, population: Any, *, by: Sequence[str] = (), population_of: PopulationOf = "people",
    empty: Empty = "bounds", composition: Composition = "drawn", smoothing: float = 0.0, finite: bool = False,
    benchmark: Benchmark | None = None, benchmark_scale: Scale = "logit", variance: Variance = "cells", strict: bool = False,
    seed: int = 0,
) -> xr.DataTree:  # fmt: skip
    """Estimate every metric in a target population, and in parts of it: the people who will be served, not those evaluated.

    Estimand: ``sum_g W_g mu_g`` with the share ``W_g`` of cell g among the people of the target and the superpopulation value
    ``mu_g`` of the metric there; of metrics that average over some people the ratio of two such sums.

    Parameters
    ----------
    source : xr.DataTree or xr.Dataset
        A report, for both approaches, or a tally, for the frequentist one alone.
    population : frame, mapping, path, xr.Dataset, PopulationSample or "rows"
        Sizes of the cells: a frame with the attributes and ``count`` (numbers or shares); a mapping from tuples of attributes to
        such frames, margins that are raked; a tally of the population; a sample of it (`PopulationSample`); or ``"rows"``, the
        evaluated rows themselves, which gives margins of an intersectional fit.
    by : sequence of str
        Attributes, or columns of the population that are no attributes, whose levels are targets beside everybody.
    population_of : {"people", "positives", "negatives", "selected", "not_selected", "denominator"}
        Those whom the sizes count; ``denominator`` are the ones that each metric averages over. ``"rows"`` always counts these.
    empty : {"bounds", "drop", "collapse"}
        Frequentist answer where the population has people in cells without rows: bounds without an assumption; the covered
        people alone; or the mean of the smallest margin around the cell.
    composition : {"drawn", "fixed"}
        Margins alone leave the composition inside them open: drawn with its error in the Bayesian answer, or taken as known.
    smoothing : float
        Rows added to every cell before raking, so that cells without rows may have people.
    finite : bool
        Whether the value is that of just these people, of whom the evaluated ones are known; sizes are numbers of people.
    benchmark : float or mapping, optional
        A known mean for everybody, or by metric, as ``{"acc": 0.7}``, ``{"acc": (0.7, 0.01)}`` with its standard error, or
        ``{"acc": {"all": 0.7, "sex=f": 0.6}}``; values of cells are moved to meet it.
    benchmark_scale : {"logit", "ratio", "difference", "variance"}
        Direction in which they are moved: alike in log odds (rates), in proportion, alike, or the imprecise most.
    variance : {"cells", "survey"}
        Frequentist variance: unbiased given the rows of each cell, or with one factor n / (n - 1) as survey packages have it.
    strict : bool
        Raise if the source failed its diagnostics.
    seed : int
        Source of randomness where a composition, people or totals are drawn.

    Returns
    -------
    xr.DataTree
        A report whose subgroups are targets, ``"all"`` first, then ``"race=a"`` ...; its attributes have ``poststratified=1`` and
        ``overlapping=1``, and questions that need disjoint subgroups refuse it. ``/posterior`` has ``mu(chain, draw, metric,
        subgroup)``, ``/estimates`` beside the usual variables ``imputed_share`` and ``covered_share`` (metric, subgroup),
        ``bound_lower`` and ``bound_upper`` (metric, subgroup), the frequentist value without an assumption on cells without rows,
        ``sample_estimate`` (metric, subgroup), the mean of the target's rows, and ``population(metric, subgroup)``;
        ``/constant_data`` has ``weight(metric, subgroup, cell)`` and ``cell_rows(metric, cell)``. Of a tally the Bayesian values
        are NaN.

    Raises
    ------
    InputError
        If the population has an unknown attribute or level, counts that are negative, missing or all 0, or margins that disagree
        or cannot be met; if a metric averages over other people than the population counts, or is an AUC; if ``finite`` meets
        shares or sizes below the evaluated rows; if a total is out of range; or a setting does not exist.
    NotUsableError
        With ``strict=True``, if the source failed its diagnostics.
    SchemaError
        If the source is neither a tally nor a report.

    Notes
    -----
    Values of a pooled estimator are drawn towards each other, so that a margin with ``population="rows"`` differs from the mean of
    its rows (``sample_estimate``): small cells borrow. The frequentist side is always the weighted standard estimate, with limits
    by the method of variance estimates recovery from Wilson limits (rates) or Student's t with Satterthwaite's degrees of freedom;
    of a report with replicates it has their percentiles. Cells are taken to be sampled independently. Benchmarking leaves
    standard errors as they are and is no evidence about single cells.

    References
    ----------
    Gelman, Little (1997), Poststratification into many categories using hierarchical logistic regression; Park, Gelman, Bafumi
    (2004), doi:10.1093/pan/mph024; Holt, Smith (1979), doi:10.2307/2344652; Donner, Zou (2012), doi:10.1177/0962280210384714.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> schools = pd.DataFrame({"type": ["E", "H", "M"]})
    >>> tally = bg.tally_from_counts([101, 9, 14], [142, 25, 33], schools, metric="acc")
    >>> report = bg.estimate(tally, bg.NoPooling(), seed=1)
    >>> target = bg.poststratify(report, schools.assign(count=[4421, 755, 1018]))
    >>> table = target["estimates"].sel(metric="acc", subgroup="all", level=0.95)
    >>> table["estimate"].values.round(2).tolist(), table["lower"].values.round(2).tolist()
    ([0.62, 0.62], [0.56, 0.56])
    """
    plan = Plan(
        population_of, empty, composition, smoothing, finite, benchmark, benchmark_scale, variance, seed
    )  # fmt: skip
    wanted = _names(by)
    tally, report = _opened(source)
    if strict and report is not None and not int(report.attrs["usable"]):
        raise NotUsableError("the source is not usable: " + "; ".join(failures(report)))
    columns = {name: np.asarray(tally[name].values).astype(str) for name in attributes_of(tally)}
    declared = declare(population, columns, wanted, smoothing)
    metrics = [str(name) for name in tally["metric"].values]
    targeted = [_metric(tally, report, i, declared, plan, wanted, metrics) for i in range(len(metrics))]
    return target_report(tally, report, targeted, plan, declared, wanted)


def _names(by: Sequence[str]) -> tuple[str, ...]:
    names: Any = (by,) if isinstance(by, str) else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"by must be names of attributes or of columns of the population, as ['race']; got {by!r}")
    check_attributes(names)
    return tuple(dict.fromkeys(names))


def _opened(source: object) -> tuple[xr.Dataset, xr.DataTree | None]:
    """The tally behind a source, and the report where it is one."""
    if isinstance(source, xr.DataTree):
        check(source)
        refuse_overlapping(source, "poststratify")
        return source["constant_data"].to_dataset(), source
    if isinstance(source, xr.Dataset):
        refuse_overlapping(source, "poststratify")
    check_tally(source)
    assert isinstance(source, xr.Dataset)
    return source, None


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
    drawn = report is None or "posterior" not in report.children or "cell_share" in report["posterior"].data_vars
    exact = people and confusion is not None and drawn
    if not rows or cells.kind in ("f1", "auc"):
        check_counted(cells, plan.population_of, exact=exact)
    if exact and (plan.finite or plan.benchmark is not None):
        raise InputError(
            f"metric {cells.metric!r} averages over {averaged.replace('_', ' ')}: finite=True and benchmark= need sizes of them, and "
            f"population_of={averaged!r}"
        )
    weighed = confusion.rows if exact and confusion is not None else cells.weight
    sizes = declared.sizes(cells, weighed, denominator=plan.population_of == "denominator", smoothing=plan.smoothing)
    if plan.finite:
        known = sizes.whole and sizes.sampled is None and not sizes.margins
        parts = np.bincount(sizes.cell, weights=sizes.size > 0, minlength=len(cells.labels)) > 1
        check_finite(cells, np.bincount(sizes.cell, weights=sizes.size, minlength=len(cells.labels)), known, parts)
        sizes = _whole_cells(sizes, len(cells.labels)) if not sizes.regions else sizes
    return _Metric(cells, confusion if exact else None, sizes, targets_of(by, declared.columns, sizes))


def _whole_cells(sizes: Sizes, cells: int) -> Sizes:
    """Sizes by cell, where no region splits any."""
    return Sizes(
        np.bincount(sizes.cell, weights=sizes.size, minlength=cells), np.arange(cells, dtype=np.intp), {}, sizes.whole
    )


def _metric(
    tally: xr.Dataset, report: xr.DataTree | None, position: int, declared: Declared, plan: Plan, by: Sequence[str],
    metrics: Sequence[str],
) -> Targeted:  # fmt: skip
    """Both answers of one metric."""
    ready = _prepared(tally, report, position, declared, plan, by)
    cells, sizes, targets = ready.cells, ready.sizes, ready.targets
    totals = tuple(
        totals_of(
            plan.benchmark, cells.metric, metrics, targets.labels, cells.kind, cells.range, plan.benchmark_scale
        )  # fmt: skip
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
