"""Labels that people read: numbers stand with their attribute, levels have the names that were given, and labels stay."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from rich.console import Console

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.cli.analysis_files import run_analysis
from bayesgroups.errors import InputError
from bayesgroups.tallies.files import open_tally, save_tally
from bayesgroups.tallies.labels import level_names, shown_labels
from bayesgroups.views import plots
from bayesgroups.views.html.page import render
from bayesgroups.views.tables import comparison_summary, comparison_table, report_table, tally_table

WHO = pd.DataFrame({"edu": [1, 2, 1, 2], "sex": ["f", "f", "m", "m"]})
SHOWN = ["edu=1 | f", "edu=2 | f", "edu=1 | m", "edu=2 | m"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def tally() -> xr.Dataset:
    return bg.tally_from_counts([3, 9, 4, 0], [9, 20, 8, 0], WHO, metric="fnr")


@pytest.fixture(scope="module")
def report(tally: xr.Dataset) -> xr.DataTree:
    return bg.estimate(bg.name_levels(tally, {"edu": {"2": "college"}}), bg.PartialPooling(), seed=1)


def text(*tables: object) -> str:
    console = Console(file=io.StringIO(), width=300)
    for table in tables:
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_bare_numbers_stand_with_their_attribute(tally: xr.Dataset) -> None:
    assert list(shown_labels(tally).values()) == SHOWN
    assert list(shown_labels(tally)) == tally["subgroup"].values.tolist() == ["1 | f", "2 | f", "1 | m", "2 | m"]
    table = text(tally_table(tally, "fnr"))
    assert all(label in table for label in SHOWN)


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("2.5", "a=2.5"),
        ("-1", "a=-1"),
        ("1e3", "a=1e3"),
        ("<25", "<25"),
        ("18-30", "18-30"),
        ("nan", "nan"),
        ("x|2", r"x\|2"),
    ],
)
def test_what_is_no_number_stays(level: str, shown: str) -> None:
    counts = bg.tally_from_counts([3, 4], [9, 8], pd.DataFrame({"a": [level, "other"]}))
    assert list(shown_labels(counts).values()) == [shown, "other"]


def test_two_labels_are_never_shown_as_one() -> None:
    counts = bg.tally_from_counts([3, 4], [9, 8], pd.DataFrame({"a": ["2", "a=2"]}))
    assert list(shown_labels(counts).values()) == ["2", "a=2"]


def test_draws_without_attributes_have_their_labels() -> None:
    assert shown_labels(xr.Dataset(coords={"subgroup": ["1", "2"]})) == {"1": "1", "2": "2"}


def test_names_travel_into_reports_answers_files_and_sums(
    tally: xr.Dataset, report: xr.DataTree, tmp_path: Path
) -> None:
    named = bg.name_levels(tally, {"edu": {"2": "college"}})
    bg.save_report(report, tmp_path / "r.nc")
    save_tally(named, tmp_path / "t.nc")
    opened = bg.open_report(tmp_path / "r.nc")
    places = [
        named, open_tally(tmp_path / "t.nc"), report["estimates"].to_dataset(), opened["estimates"].to_dataset(),
        opened["constant_data"].to_dataset(), bg.ranks(report), bg.certify(opened), bg.disparity(report),
        bg.prior_sensitivity(report), bg.add_tallies([named, tally]), bg.margins(named), bg.compare({"a": report, "b": opened}),
        bg.prior_predictive(named, bg.PartialPooling(), seed=1),
    ]  # fmt: skip
    for place in places:
        if "edu" in place.coords:
            assert level_names(place, "edu") == {"2": "college"}
        if "subgroup" in place.dims:
            assert "college | f" in shown_labels(place).values()
            assert "2 | f" in place["subgroup"].values
    assert sum("edu" in place.coords for place in places) >= 11
    assert not level_names(tally, "edu")


def test_tables_pages_and_plots_show_the_names(report: xr.DataTree) -> None:
    compared = bg.compare({"a": report, "b": report})
    shown = text(report_table(report), comparison_table(compared, "fnr"), comparison_summary(compared))
    page = render(report)
    for place in (shown, page):
        assert "college | f" in place
        assert "edu=1 | m" in place
        assert "college | m (no rows)" in place
        assert "2 | f" not in place.replace("edu=", "")
    axes = plots.forest(report, group_by="edu")
    drawn = [label.get_text() for label in axes.get_yticklabels()] + [item.get_text() for item in axes.texts]
    assert any("college | f" in label for label in drawn)
    assert any("edu: college" in label for label in drawn)
    across = plots.heat_map(report, "sex", "edu")
    assert [label.get_text() for label in across.get_xticklabels()] == ["1", "college"]


def test_a_report_can_be_given_names(report: xr.DataTree) -> None:
    again = bg.name_levels(report, {"sex": {"f": "women"}})
    assert "college | women" in text(report_table(again))
    assert "women" not in text(report_table(report))
    assert again["posterior"].to_dataset().equals(report["posterior"].to_dataset())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"education": {"2": "x"}}, r"names= has attribute 'education', which .* known: 'edu', 'sex'"),
        ({"edu": {"3": "x"}}, r"names= has level '3' of 'edu', which does not occur; known: '1', '2'"),
        ({"edu": {"2": " "}}, r"names= calls level '2' of 'edu' ' '; a name is a text"),
        ({"edu": {"2": 5}}, r"names= calls level '2' of 'edu' 5; a name is a text"),
        ({"edu": {"2": "1"}}, r"names= calls two levels of 'edu' '1'; give each a name of its own"),
    ],
)
def test_bad_names_are_refused(tally: xr.Dataset, names: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.name_levels(tally, names)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"edu": [1, 2, 2, 1] * 5, "hired": [1, 0, 1, 1] * 5})
    frame.to_csv("rows.csv", index=False)
    return tmp_path / "rows.csv"


LINE = ["tally", "rows.csv", "--by", "edu", "--metric", "sel", "--y-pred", "hired", "-o", "t.nc"]


def test_the_command_line_names_levels(rows: Path, capsys: Captured) -> None:
    assert run([*LINE, "--level-name", "edu:2=some college"]) == 0
    assert "some college" in capsys.readouterr().out
    for question in ("ranks t.nc", "certify t.nc", "show t.nc"):
        assert run(question.split()) == 0
        printed = capsys.readouterr().out
        assert "some college" in printed
        assert ("edu=1" in printed) == (question != "certify t.nc")  # which names the worst alone
    assert run(["ranks", "t.nc", "--json"]) == 0
    records = next(t for t in json.loads(capsys.readouterr().out)["tables"] if "rank" in t["values"])["records"]
    assert [record["subgroup"] for record in records] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("2=x", "not of the form attribute:level=name"), ("edu:7=x", "does not occur"), ("edu:2", "name=value")],
)
def test_bad_names_of_the_command_line(rows: Path, capsys: Captured, name: str, message: str) -> None:
    assert run([*LINE, "--level-name", name]) == 2
    assert message in capsys.readouterr().err


def test_an_analysis_names_levels(rows: Path) -> None:
    text = (
        'rows = "rows.csv"\n[tally]\nby = ["edu"]\nmetrics = ["sel"]\ny_pred = "hired"\noutput = "t.nc"\n'
        '[tally.level_names.edu]\n2 = "college"\n'
    )
    Path("analysis.toml").write_text(text)
    assert list(shown_labels(run_analysis("analysis.toml").tally).values()) == ["edu=1", "college"]
    Path("again.toml").write_text('[tally]\nfile = "t.nc"\noutput = "u.nc"\n[tally.level_names.edu]\n1 = "school"\n')
    assert list(shown_labels(run_analysis("again.toml").tally).values()) == ["school", "college"]
    Path("bad.toml").write_text(text.replace('"college"', "5"))
    with pytest.raises(InputError, match=r"tally\.level_names\.edu\.2 must be a text in quotes; got 5"):
        run_analysis("bad.toml")
    Path("wrong.toml").write_text(text.replace("2 =", "7 ="))
    with pytest.raises(InputError, match=r"wrong\.toml: \[tally\] .*level '7' of 'edu'"):
        run_analysis("wrong.toml")
