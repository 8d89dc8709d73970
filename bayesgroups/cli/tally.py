"""``bayesgroups tally``: count rows per metric and subgroup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from bayesgroups.cli.options import ROWS, RowOptions


def tally(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
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

    Parameters
    ----------
    data
        Rows as .csv, .csv.gz or .parquet, or a quoted pattern such as "rows/*.parquet".
    rows
        What is in the rows.
    output
        Write the tally to this NetCDF file.
    show
        Print at most so many subgroups per metric, the largest; 0 prints none.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import save_tally, tally_rows
    from bayesgroups.tables import tally_table

    found = tally_rows(data, rows)
    console = consoles.output()
    for metric in found["metric"].values if show else ():
        console.print(tally_table(found, str(metric), limit=show))
        console.print()
    if output is not None:
        save_tally(found, output)
        console.print(Text(f"Wrote the tally to {output}. Next: bayesgroups estimate {output}"))
    return 0
