"""Reports against a known truth for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError
from bayesgroups.report.view import metrics_of, number, percent, plain, read
from bayesgroups.views.tables.layout import empty_table


def truth_table(reports: Mapping[str, xr.DataTree], truth: xr.DataArray, *, level: float = 0.95) -> Table:
    """Errors of reports where the truth (metric, subgroup) is known, in one row per metric, report and approach.

    Mean absolute error of the estimates, how many intervals hold the truth, and their mean width, over the subgroups that have
    an answer and a truth.
    """
    if not reports:
        raise InputError("truth_table() got no report; give at least one")
    table = empty_table(f"Against the truth ({percent(level)} intervals, subgroups with an answer)")
    for heading in ("metric", "estimates"):
        table.add_column(heading, overflow="fold")
    for heading in ("mean error", "truth inside", "mean width"):
        table.add_column(heading, justify="right")
    for metric in metrics_of(next(iter(reports.values()))):
        for name, report in reports.items():
            reading = read(report, metric, level=level, truth=truth)
            if reading.truth is None:
                raise InputError(f"the truth lacks the metric {metric!r}")
            for side in (reading.frequentist, reading.bayesian):
                scored = np.isfinite(reading.truth) & np.isfinite(side.estimate) & np.isfinite(side.lower)
                error = np.abs(side.estimate - reading.truth)[scored]
                held = f"{int(reading.inside(side)[scored].sum())} of {int(scored.sum())}"
                width = (side.upper - side.lower)[scored]
                numbers = [number(float(values.mean())) if len(values) else "" for values in (error, width)]
                words = Text(f"{plain(name)}, {side.approach.capitalize()}")
                table.add_row(Text(reading.metric), words, numbers[0], held, numbers[1])
    return table
