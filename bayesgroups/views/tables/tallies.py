"""One metric of a tally for the terminal."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import number, plain, whole
from bayesgroups.views.tables.layout import Footnotes, captioned, empty_table, largest


def tally_table(tally: xr.Dataset, metric: str, *, decimals: int = 3, limit: int | None = None) -> Table:
    """One metric of a tally for the terminal.

    Rows, effective denominator ``n``, estimate, standard error (from the pooled row variance) and remark per subgroup; ``limit``
    shows the largest subgroups only, largest first, when there are more.
    """
    names = [str(name) for name in tally["metric"].values]
    if metric not in names:
        raise InputError(f"the tally has no metric {metric!r}; {near_misses(metric, names)}")
    metric_tally = tally.sel(metric=metric)
    table = empty_table(plain(metric))
    table.add_column("subgroup", overflow="fold", min_width=12)
    for heading in ("rows", "n", "estimate", "std. error"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    notes = Footnotes()
    spread = np.sqrt(metric_tally["sampling_variance"].values)
    labels = tally["subgroup"].values
    shown = largest(metric_tally["count"].values, limit, np.arange(len(labels)))
    for i in shown:
        table.add_row(
            Text(plain(str(labels[i]))),
            whole(float(metric_tally["rows"].values[i])),
            whole(float(metric_tally["count"].values[i])),
            number(float(metric_tally["estimate"].values[i]), decimals),
            number(float(spread[i]), decimals),
            notes.mark(str(metric_tally["reason"].values[i])),
        )
    return captioned(table, notes.lines(), len(shown), len(labels))
