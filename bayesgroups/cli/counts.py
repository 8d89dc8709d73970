"""Tallies of published tables and of parts: ``bayesgroups tally-from-counts | tally-from-estimates | add-tallies``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayesgroups.cli.options import Larger, Names

Target = Annotated[Path, Parameter(alias="-o")]


def tally_from_counts(
    table: Path,
    *,
    by: Names,
    output: Target,
    successes: str = "successes",
    trials: str = "trials",
    metric: str = "rate",
    larger_is_better: Larger = None,
) -> int:
    """Make a tally of rates from published counts, one row per subgroup.

    For example:

        bayesgroups tally-from-counts table.csv --by race --by sex --metric fnr -o fnr.tally.nc

    Parameters
    ----------
    table
        The table (.csv, .parquet).
    by
        Column whose levels form subgroups; repeat it for intersections.
    output
        Write the tally to this NetCDF file.
    successes
        Column of the numerators.
    trials
        Column of the denominators.
    metric
        Name of the metric.
    larger_is_better
        Direction of the metric, where its name does not tell it.
    """
    from bayesgroups.cli.inputs import table_of
    from bayesgroups.cli.tally import wrote
    from bayesgroups.tallies import tally_from_counts as convert

    frame = table_of(table, (*by, successes, trials))
    subgroups = frame.filter(items=list(by))
    return wrote(
        convert(frame[successes], frame[trials], subgroups, metric=metric, larger_is_better=larger_is_better), output
    )


def tally_from_estimates(
    table: Path,
    *,
    by: Names,
    output: Target,
    estimate: str = "estimate",
    sampling_variance: str | None = None,
    std_error: str | None = None,
    metric: str = "estimate",
    lower: float = float("-inf"),
    upper: float = float("inf"),
    larger_is_better: Larger = None,
) -> int:
    """Make a tally from published estimates and their standard errors, one row per subgroup.

    For example:

        bayesgroups tally-from-estimates table.csv --by site --std-error se --lower 0 --upper 1 -o auc.tally.nc

    Parameters
    ----------
    table
        The table (.csv, .parquet).
    by
        Column whose levels form subgroups; repeat it for intersections.
    output
        Write the tally to this NetCDF file.
    estimate
        Column of the estimates.
    sampling_variance
        Column of their sampling variances.
    std_error
        Column of their standard errors, instead of variances.
    metric
        Name of the metric.
    lower
        Least possible value of the metric.
    upper
        Largest possible value of the metric.
    larger_is_better
        Direction of the metric, where its name does not tell it.
    """
    from bayesgroups.cli.inputs import table_of
    from bayesgroups.cli.tally import wrote
    from bayesgroups.errors import InputError
    from bayesgroups.tallies import tally_from_estimates as convert

    if (sampling_variance is None) == (std_error is None):
        raise InputError("name the column of the sampling variances or that of the standard errors: --std-error se")
    spread = std_error if sampling_variance is None else sampling_variance
    frame = table_of(table, (*by, estimate, *([spread] if spread else [])))
    variance = frame[spread] if sampling_variance is not None else frame[spread] ** 2
    return wrote(
        convert(
            frame[estimate],
            variance,
            frame.filter(items=list(by)),
            metric=metric,
            lower=lower,
            upper=upper,
            larger_is_better=larger_is_better,
        ),
        output,
    )


def add_tallies(*tallies: Path, output: Target) -> int:
    """Add tallies of disjoint parts of the data (sites, days).

    For example:

        bayesgroups add-tallies north.tally.nc south.tally.nc --output all.tally.nc

    Parameters
    ----------
    tallies
        The tallies (.nc).
    output
        Write the sum to this NetCDF file.
    """
    from bayesgroups.cli.tally import wrote
    from bayesgroups.tallies import add_tallies as add
    from bayesgroups.tallies.files import open_tally

    return wrote(add([open_tally(path) for path in tallies]), output)
