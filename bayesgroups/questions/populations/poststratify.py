"""Values for target populations: weighted sums of the values of cells, for both approaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, NotUsableError
from bayesgroups.questions.populations.benchmarks import Scale
from bayesgroups.questions.populations.conditional import PopulationOf
from bayesgroups.questions.populations.metric_answers import both_answers
from bayesgroups.questions.populations.plan import Benchmark, Composition, Empty, Limits, Plan, Variance
from bayesgroups.questions.populations.prevalence import with_prevalence
from bayesgroups.questions.populations.sizes import declare
from bayesgroups.questions.populations.target_report import target_report
from bayesgroups.questions.sampling_variances import check_tally
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.schema import check
from bayesgroups.report.view import failures
from bayesgroups.tallies.subgroups import attributes_of, check_attributes


@checked_keywords
def poststratify(
    source: xr.DataTree | xr.Dataset, population: Any, *, by: Sequence[str] = (), population_of: PopulationOf = "people",
    prevalence: Any = None, empty: Empty = "bounds", composition: Composition = "drawn", smoothing: float = 0.0,
    finite: bool = False, benchmark: Benchmark | None = None, benchmark_scale: Scale = "logit", variance: Variance = "cells",
    interval: Limits = "wilson", strict: bool = False, seed: int = 0,
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
    prevalence : frame, optional
        Share of positives among the people of every cell, with the attributes and ``prevalence``: sizes of people become sizes of
        positives for ``fnr`` and ``tpr``, of negatives for ``fpr`` and ``tnr``. It is taken for known.
    empty : {"bounds", "drop", "collapse"}
        Frequentist answer where the population has people in cells without rows: bounds without an assumption; the covered
        people alone; or the mean of the finest margin around the cell that has rows, of equally fine ones that with most rows.
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
        Frequentist variance: unbiased given the rows of each cell, or with one factor n / (n - 1) as survey packages have it,
        of rows that have neither weights nor clusters.
    interval : {"wilson", "mid_p", "score", "exact"}
        Frequentist limits of rates. Wilson's limits of the cells put together, for rows enough; ``mid_p``, mid-p limits of the
        cells put together, which hold with few rows and at rare rates too; ``score``, of a test of the weighted sum itself; or
        exact limits of the cells put together, by the binomial distribution (Clopper and Pearson) or with ``finite`` the
        hypergeometric, which are wider.
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
        If the population has an unknown attribute or level, counts that are negative, missing or all 0, or margins that
        disagree or cannot be met; if a prevalence is lacking or no share; if a metric averages over other people than the
        population counts, or is an AUC; if ``finite`` meets shares or sizes below the evaluated rows, or exact limits a metric
        that is no rate; if a total is out of range; or a setting does not exist.
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
    (2004), doi:10.1093/pan/mph024; Holt, Smith (1979), doi:10.2307/2344652; Zou, Donner (2008), doi:10.1002/sim.3095.

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
        population_of, empty, composition, smoothing, finite, benchmark, benchmark_scale, variance, interval, seed
    )  # fmt: skip
    wanted = _names(by)
    tally, report = _opened(source)
    if strict and report is not None and not int(report.attrs["usable"]):
        raise NotUsableError("the source is not usable: " + "; ".join(failures(report)))
    columns = {name: np.asarray(tally[name].values).astype(str) for name in attributes_of(tally)}
    declared = with_prevalence(declare(population, columns, wanted, smoothing), prevalence, population_of)
    metrics = [str(name) for name in tally["metric"].values]
    targeted = [both_answers(tally, report, i, declared, plan, wanted, metrics) for i in range(len(metrics))]
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
