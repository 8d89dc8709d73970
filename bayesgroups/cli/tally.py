"""``bayesgroups tally``: count rows per metric and subgroup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from bayesgroups.cli.options import ROWS, RowOptions

if TYPE_CHECKING:
    import xarray as xr


def tally(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    show: int = 50,
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
    output
        Write the tally to this NetCDF file.
    json
        Print JSON instead of tables.
    show
        Print at most so many subgroups per metric, the largest; 0 prints none.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import tally_rows
    from bayesgroups.cli.results import print_json
    from bayesgroups.tallies.notes import binary_notes
    from bayesgroups.views.tables import tally_table

    result = tally_rows(data, rows)
    console = consoles.output()
    if json:
        print_json(result, "tally", usable=None)
    for metric in result["metric"].values if show and not json else ():
        console.print(tally_table(result, str(metric), limit=show))
        console.print()
    for note in () if json else binary_notes(result):
        console.print(Text(f"Note: {note}"))
    return 0 if output is None else wrote(result, output, quiet=json)


def wrote(tally: xr.Dataset, output: Path, *, quiet: bool = False) -> int:
    """Write a tally and say what one can do with it; the exit code."""
    from bayesgroups.cli import consoles
    from bayesgroups.tallies.files import save_tally

    save_tally(tally, output)
    if not quiet:
        consoles.output().print(Text(f"Wrote the tally to {output}. Next: bayesgroups estimate {output}"))
    return 0
