"""``bayesgroups poststratify``: from a report and the sizes of a population to a report of targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import Flag, Output, Show, SortTable, Written

if TYPE_CHECKING:
    import xarray as xr

Repeated = Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)]
Files = Annotated[tuple[Path, ...], Parameter(name="--margin", negative=(), show_default=False)]
Totals = Annotated[tuple[str, ...], Parameter(name="--benchmark", negative=(), show_default=False)]


def poststratify(
    source: Path,
    *,
    population: str | None = None,
    margins: Files = (),
    by: Repeated = (),
    population_of: Literal["people", "positives", "negatives", "selected", "not_selected", "denominator"] = "people",
    prevalence: Path | None = None,
    sampled: Flag = False,
    prior: float = 0.0,
    empty: Literal["bounds", "drop", "collapse"] = "bounds",
    composition: Literal["drawn", "fixed"] = "drawn",
    smoothing: float = 0.0,
    finite: Flag = False,
    benchmarks: Totals = (),
    benchmark_scale: Literal["logit", "ratio", "difference", "variance"] = "logit",
    variance: Literal["cells", "survey"] = "cells",
    interval: Literal["wilson", "mid_p", "score", "exact"] = "wilson",
    seed: int = 0,
    level: float = 0.95,
    output: Output | None = None,
    html: Written | None = None,
    json: Flag = False,
    show: Show = 50,
    sort: SortTable = "label",
) -> int:
    """Estimate every metric in a target population: the people who will be served, not those evaluated.

    For example:

        bayesgroups poststratify fnr.nc --population rows --by race
        bayesgroups poststratify acc.nc --population census.csv --by race --by sex --output target.nc --html target.html
        bayesgroups poststratify acc.nc --margin race.csv --margin sex_age.csv

    The exit code is 1 when the report is not usable.

    Parameters
    ----------
    source
        A report with its draws, or a tally (.nc).
    population
        Sizes: a table with the attributes and a column count (.csv, .parquet), a tally of the population (.nc), or the word rows
        for the evaluated rows themselves.
    margins
        A table with some attributes and a column count; repeat it for each margin, in place of --population.
    by
        An attribute, or another column of the population, whose levels are targets; repeat it for several.
    population_of
        Those whom the sizes count.
    prevalence
        Share of positives among the people: a table with the attributes and a column prevalence (.csv, .parquet), for metrics
        of positives or negatives.
    sampled
        The population is a second sample of people, whose counts have an error.
    prior
        With --sampled: counts added in all, for cells that the second sample lacks.
    empty
        Frequentist answer for cells without rows: bounds, the covered people alone, or the mean of a margin.
    composition
        Of margins: draw the composition inside them, or take it for known.
    smoothing
        Of margins: rows added to every cell.
    finite
        The value of just these people; sizes are numbers of people.
    benchmarks
        A known mean of a metric in the population, as --benchmark acc=0.7; repeat it for several.
    benchmark_scale
        Direction in which values of cells are moved to it.
    variance
        Frequentist variance: per cell, or as survey packages have it.
    interval
        Frequentist limits of rates: Wilson's, mid-p (for few rows and rare rates) or exact ones of the cells put together, the
        last with --finite by the hypergeometric distribution, or those of a score test of the weighted sum.
    seed
        Source of randomness.
    level
        Level of the intervals shown: 0.5, 0.8, 0.9 or 0.95. The report has them all.
    output
        Write the report of targets to this NetCDF file.
    html
        Write it to this page.
    json
        Print JSON instead of tables.
    """
    from bayesgroups.cli.estimate import deliver
    from bayesgroups.cli.invocations import signed
    from bayesgroups.cli.values import pairs
    from bayesgroups.questions.populations import poststratify as weigh
    from bayesgroups.report.view import check_level

    check_level(level)
    totals: Any = pairs(benchmarks, option="--benchmark", kind=float)
    report = signed(
        weigh(
            _source(source), _population(population, margins, sampled=sampled, prior=prior), by=by,
            population_of=population_of, prevalence=prevalence, empty=empty, composition=composition,
            smoothing=smoothing, finite=finite,
            benchmark=totals or None, benchmark_scale=benchmark_scale, variance=variance, interval=interval, seed=seed,
        )
    )  # fmt: skip
    return deliver(report, output, html, level=level, json=json, show=show, sort=sort)


def _source(path: Path) -> xr.Dataset | xr.DataTree:
    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.options import ROWS
    from bayesgroups.errors import InputError

    if path.suffix.lower() != ".nc":
        raise InputError(
            f"file {str(path)!r}: expected a report or a tally (.nc); make one of rows with bayesgroups estimate"
        )
    return source_of(path, ROWS)


def _population(population: str | None, margins: tuple[Path, ...], *, sampled: bool, prior: float) -> Any:
    """The population of the options; an InputError where there is none, or two."""
    from bayesgroups.errors import InputError
    from bayesgroups.questions.populations import PopulationSample

    if (population is None) == (not margins):
        raise InputError(
            "name the population, as --population census.csv or --population rows, or its margins, as --margin race.csv"
        )
    if margins:
        given: Any = dict(map(_margin, margins))
    elif population is not None and population.endswith(".nc"):
        given = _tally(Path(population))
    else:
        given = population
    return PopulationSample(given, prior) if sampled else given


def _margin(path: Path) -> tuple[tuple[str, ...], object]:
    """Attributes of a margin, which are its columns but the count, and its table."""
    from bayesgroups.cli.inputs import table_of

    frame = table_of(path, ("count",))
    return tuple(str(name) for name in frame.columns if name != "count"), frame


def population_of(population: str) -> Any:
    """Sizes of a population from a table or a tally, a report of targets, or the word for the rows themselves."""
    if not population.endswith(".nc"):
        return population
    return _source(Path(population))


def _tally(path: Path) -> xr.Dataset:
    from bayesgroups.tallies.files import open_tally

    return open_tally(path)
