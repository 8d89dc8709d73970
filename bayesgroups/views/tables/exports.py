"""A report as a table for documents: CSV, Parquet, JSON, and HTML or LaTeX by Great Tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xarray as xr

from bayesgroups.data.csv_files import write_csv
from bayesgroups.data.files import write_atomically, write_text
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.outputs import check_ending
from bayesgroups.errors import MissingDependencyError
from bayesgroups.report.view import metrics_of, read
from bayesgroups.views.tables.frames import report_frame
from bayesgroups.views.tables.layout import interval_text
from bayesgroups.views.tables.records import as_text
from bayesgroups.views.tables.report_documents import report_document

ENDINGS = (".csv", ".parquet", ".json", ".html", ".tex")


@checked_keywords
def export_report(report: xr.DataTree, path: str | Path, *, level: float = 0.95, escape_formulas: bool = False) -> Path:
    """Write the estimates of a report as a table, whole or not at all, in the form that the ending of the file says.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    path : str or Path
        ``.csv`` and ``.parquet`` have one row per metric and subgroup, ``.json`` is `bayesgroups.views.tables.report_document`,
        ``.html`` and ``.tex`` are set by Great Tables.
    level : float
        Level of the intervals.
    escape_formulas : bool
        Whether texts of a ``.csv`` that a spreadsheet would compute (they open with ``=``, ``+``, ``-``, ``@``, a tab or a
        carriage return, and are no numbers) get a leading apostrophe.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the ending is another one, the level is not in the report, or the file cannot be written.
    MissingDependencyError
        If Parquet or Great Tables is asked for and not installed.
    SchemaError
        If the tree is not a report.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> report = bg.estimate(counts, bg.NoPooling(), seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_report(report, Path(folder) / "fnr.csv").read_text().split(",")[:3]
    ['metric', 'subgroup', 'site']
    """
    target = Path(path)
    ending = check_ending(target, "a table", ENDINGS)
    if ending == ".json":
        return write_text(target, as_text(report_document(report)) + "\n")
    if ending in (".html", ".tex"):
        tables = [great_table(report, name, level=level) for name in metrics_of(report)]
        parts = [table.as_raw_html() if ending == ".html" else table.as_latex() for table in tables]
        return write_text(target, "\n".join(parts) + "\n")
    frame = report_frame(report, level=level)
    if ending == ".csv":
        return write_csv(target, frame, escape_formulas=escape_formulas)
    try:
        return write_atomically(target, lambda place: frame.to_parquet(place, index=False))
    except ImportError as problem:
        raise MissingDependencyError(
            "Parquet needs pyarrow; install it: pip install 'bayesgroups[parquet]'"
        ) from problem


@checked_keywords
def great_table(report: xr.DataTree, metric: str | None = None, *, level: float = 0.95) -> Any:
    """One metric of a report as a Great Table, both approaches side by side.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    metric : str, optional
        One of its metrics; the first when left out.
    level : float
        Level of the intervals.

    Returns
    -------
    great_tables.GT
        To be styled further, or written with ``as_raw_html()`` or ``as_latex()``.

    Raises
    ------
    MissingDependencyError
        If Great Tables is not installed.
    InputError
        If the report lacks the metric or the level.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> table = great_table(bg.estimate(counts, bg.NoPooling(), seed=1))
    >>> "0.300 [" in table.as_raw_html()
    True
    """
    import pandas as pd

    try:
        from great_tables import GT
    except ImportError as problem:
        raise MissingDependencyError(
            "Great Tables is needed; install it: pip install 'bayesgroups[tables]'"
        ) from problem
    reading = read(report, metric, level=level)
    decimals = reading.decimals()
    columns: dict[str, Any] = {"subgroup": list(reading.subgroups), "n": reading.count}
    for side in (reading.bayesian, reading.frequentist):
        rows = zip(side.estimate, side.lower, side.upper, side.status, strict=True)
        texts = [interval_text(float(e), float(low), float(high), decimals) or status for e, low, high, status in rows]
        columns[side.approach] = texts
    columns["remark"] = reading.remarks()
    heads: dict[str, Any] = {
        side.approach: f"{side.approach.capitalize()} ({side.interval_kind})"
        for side in (reading.bayesian, reading.frequentist)
    }
    table = GT(pd.DataFrame(columns), id=f"bayesgroups-{metrics_of(report).index(metric) if metric else 0}")
    return (
        table.tab_header(title=reading.metric, subtitle=reading.headline().partition(": ")[2])
        .cols_label({**heads, "subgroup": "Subgroup", "remark": ""})
        .fmt_integer(columns="n")
    )
