"""Reports as tables for documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
import xarray as xr

from bayesgroups.errors import InputError, MissingDependencyError
from bayesgroups.interop import export_report, great_table
from bayesgroups.views.tables import report_document, report_frame, report_schema


def test_every_form_is_written(report: xr.DataTree, tmp_path: Path) -> None:
    for name in ("r.csv", "r.parquet", "r.json", "r.html", "r.tex"):
        assert export_report(report, tmp_path / name) == tmp_path / name
    frame = report_frame(report)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "r.parquet"), frame)
    assert len(pd.read_csv(tmp_path / "r.csv")) == len(frame)
    document = json.loads((tmp_path / "r.json").read_text("utf-8"))
    jsonschema.validate(document, report_schema(), cls=jsonschema.Draft202012Validator)
    assert document == report_document(report)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("<table") == 2
    assert "Bayesian (credible)" in page
    assert r"\begin{" in (tmp_path / "r.tex").read_text("utf-8")


def test_labels_cannot_bring_markup(make_report: object, make_tally: object) -> None:
    report = make_report(make_tally({"site": ["<b>x</b>", "y"]}, metrics=["fnr"]))  # type: ignore[operator]
    assert "<b>x</b>" not in great_table(report).as_raw_html()
    assert "NOT usable" not in great_table(report).as_latex()
    report.attrs["usable"] = 0
    assert "NOT usable: the Bayesian fit failed its diagnostics" in great_table(report).as_latex()


def test_the_schema_refuses_what_is_no_report(report: xr.DataTree) -> None:
    broken: dict[str, Any]
    validator = jsonschema.Draft202012Validator(report_schema())
    jsonschema.Draft202012Validator.check_schema(report_schema())
    document = report_document(report)
    assert validator.is_valid(document)
    for broken in (
        {"usable": None},
        {"schema": "other"},
        {"tables": document["tables"][1:]},
        {"diagnostics": [{}]},
        {"more": 1},
    ):
        assert not validator.is_valid(document | broken)
    undefined = [record for record in document["tables"][2]["records"] if record["estimate"] is None]
    assert {record["nulls"]["estimate"] for record in undefined} == {"no rows"}


def test_what_cannot_be_written_is_told(report: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"r.doc': a table is written as .csv, .parquet"):
        export_report(report, tmp_path / "r.doc")
    monkeypatch.setitem(sys.modules, "great_tables", None)
    with pytest.raises(MissingDependencyError, match=r"bayesgroups\[tables\]"):
        great_table(report)

    def no_engine(*_: object, **__: object) -> None:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", no_engine)
    with pytest.raises(MissingDependencyError, match=r"bayesgroups\[parquet\]"):
        export_report(report, tmp_path / "r.parquet")
