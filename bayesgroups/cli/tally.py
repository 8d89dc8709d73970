"""Tallies: ``bayesgroups tally | tally-from-counts | tally-from-estimates | add-tallies``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bayesgroups.cli.options import ORDERS, ROWS, Json, Larger, Names, RowOptions, Show, SortTable, TallyFile

if TYPE_CHECKING:
    import xarray as xr


def tally(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    output: TallyFile | None = None,
    json: Json = False,
    show: Show = 50,
    sort: SortTable = "label",
) -> int:
    r"""Count rows per metric and subgroup, and print the standard estimates.

    The tally is all that estimators need; rows stay where they are:

        bayesgroups tally rows.csv --by race --by sex --metric fnr --metric acc \
            --y-true outcome --y-pred decision --output fnr.tally.nc
        bayesgroups tally scores.parquet --by age --metric auc \
            --y-true sick --y-score risk
        bayesgroups tally speech.csv --by dialect --metric mean \
            --loss word_error_rate --cluster speaker --cluster-analysis mean
        bayesgroups tally answers.csv --by language --metric correct \
            --correct score --cluster item

    Parameters
    ----------
    data
        Rows as .csv, .csv.gz or .parquet, or a quoted pattern such as "rows/*.parquet".
    rows
        What is in the rows.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import tally_rows
    from bayesgroups.cli.results import print_json
    from bayesgroups.tallies.determined import determined_notes
    from bayesgroups.tallies.notes import binary_notes
    from bayesgroups.views.tables import tally_table

    result = tally_rows(data, rows)
    written = "" if output is None else saved(result, output)
    console = consoles.output()
    if json:
        print_json(result, "tally", usable=None)
    for metric in result["metric"].values if show and not json else ():
        console.print(tally_table(result, str(metric), order=ORDERS[sort], limit=show))
        console.print()
    for note in () if json else [*binary_notes(result), *determined_notes(result)]:
        console.print(Text(f"Note: {note}"))
    if written and not json:
        console.print(Text(written))
    return 0


def saved(tally: xr.Dataset, output: Path) -> str:
    """Write a tally; the line that says where, and what one can do with it."""
    from bayesgroups.tallies.files import save_tally

    save_tally(tally, output)
    question = "compare-systems" if "pair" in tally.dims else "estimate"
    return f"Wrote the tally to {output}. Next: bayesgroups {question} {output}"


def wrote(tally: xr.Dataset, output: Path) -> int:
    """Write a tally and say what one can do with it; the exit code."""
    from bayesgroups.cli import consoles

    line = saved(tally, output)
    consoles.output().print(Text(line))
    return 0


def tally_from_counts(
    table: Path,
    *,
    by: Names,
    output: TallyFile,
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
    output: TallyFile,
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


def two_way_clusters(first: Path, second: Path, both: Path, *, output: TallyFile) -> int:
    """Keep how subgroups go together whose rows lie in clusters of two kinds that cross, such as items and templates.

    For example:

        bayesgroups two-way-clusters by_item.tally.nc by_template.tally.nc by_both.tally.nc --output items.tally.nc

    Parameters
    ----------
    first
        A tally with clusters of the first kind (.nc).
    second
        A tally of the same rows with clusters of the second kind (.nc).
    both
        A tally of the same rows with the combinations of both kinds as clusters (.nc).
    output
        Write the first tally with the covariance of its subgroups to this NetCDF file.
    """
    from bayesgroups.tallies.files import open_tally
    from bayesgroups.tallies.two_way_clusters import two_way_clusters as combined

    return wrote(combined(*(open_tally(path) for path in (first, second, both))), output)


def add_tallies(*tallies: Path, output: TallyFile) -> int:
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
    from bayesgroups.tallies import add_tallies as add
    from bayesgroups.tallies.files import open_tally

    return wrote(add([open_tally(path) for path in tallies]), output)
