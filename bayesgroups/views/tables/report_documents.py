"""A report as JSON, in the shape of every other answer, and the schema that it keeps."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import xarray as xr

from bayesgroups.data.texts import as_json
from bayesgroups.report.schema import check
from bayesgroups.report.view import metrics_of, read
from bayesgroups.views.tables.records import Record, answer_document


def report_document(report: xr.DataTree) -> Record:
    """A report as plain data, which `json` writes; draws and the tally stay behind.

    Parameters
    ----------
    report : xr.DataTree
        A report.

    Returns
    -------
    dict
        As `bayesgroups.views.tables.answer_document` makes it of ``/estimates``, with the question ``estimate``, the attributes of
        the report, a sentence per metric with its estimand and intervals (``headlines``), and its ``diagnostics``, a list of
        records. `report_schema` says it exactly.

    Raises
    ------
    SchemaError
        If the tree is not a report.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> document = report_document(bg.estimate(counts, bg.NoPooling(), seed=1))
    >>> document["usable"], document["attributes"]["estimator"], document["tables"][2]["dims"]
    (True, 'no_pooling', ['approach', 'metric', 'subgroup'])
    """
    check(report)
    headlines = {name: read(report, name).headline() for name in metrics_of(report)}
    table = report["estimates"].to_dataset().assign_attrs({"headlines": as_json(headlines), **report.attrs})
    document = answer_document(table, "estimate", usable=bool(report.attrs["usable"]))
    checks = answer_document(report["diagnostics"].to_dataset(), "diagnostics")["tables"]
    return document | {"diagnostics": checks[0]["records"]}


def report_schema() -> dict[str, Any]:
    """The JSON schema of `report_document`, draft 2020-12.

    Returns
    -------
    dict

    Examples
    --------
    >>> report_schema()["title"]
    'A report of bayesgroups'
    """
    schema: dict[str, Any] = json.loads(_text("report.schema.json"))
    return schema


def answer_schema() -> dict[str, Any]:
    """The JSON schema of `bayesgroups.views.tables.answer_document`, draft 2020-12.

    Returns
    -------
    dict

    Examples
    --------
    >>> answer_schema()["title"]
    'An answer of bayesgroups'
    """
    schema: dict[str, Any] = json.loads(_text("answer.schema.json"))
    return schema


def _text(name: str) -> str:
    return (files("bayesgroups.views.tables") / name).read_text(encoding="utf-8")
