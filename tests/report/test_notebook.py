"""Reports as the last line of a cell: the verdict, the estimand and the table, in IPython and to anyone who asks for HTML."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import arviz as az
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.report.tree import Report, as_report
from tests.conftest import make_report, make_tally

VOID = {"br", "input", "img", "hr", "path", "use", "meta", "link"}


class Balance(HTMLParser):
    """Open elements of a page, and its text outside of them."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.opened.pop() == tag


def html_of(tree: Any) -> str:
    """HTML that a notebook asks an object for."""
    return str(tree._repr_html_())


def shown(report: xr.DataTree) -> str:
    """The part of the HTML that is not folded."""
    html = html_of(report)
    return html[: html.index("<details>")]


def test_the_last_line_of_a_cell_in_ipython() -> None:
    from IPython.core.formatters import DisplayFormatter  # in the group dev: it is there or the test fails

    report = bg.estimate(make_tally(), bg.NoPooling(), seed=1)
    formatter: Any = DisplayFormatter()
    data, _ = formatter.format(report)
    assert data["text/html"].startswith(shown(report))  # the folded tree has random identifiers
    assert "Usable." in data["text/html"]


def test_the_last_line_of_a_cell_in_a_kernel() -> None:
    import nbformat
    from nbclient import NotebookClient

    code = (
        "import bayesgroups as bg\nimport pandas as pd\n"
        'tally = bg.tally_from_counts([4, 30], [10, 100], pd.DataFrame({"sex": ["<b>f", "m"]}), metric="fnr")\n'
        "bg.estimate(tally, bg.NoPooling(), seed=1)"
    )
    notebook: Any = nbformat.v4
    book = notebook.new_notebook(cells=[notebook.new_code_cell(code)])
    NotebookClient(book, kernel_name="python3", timeout=120).execute()
    (output,) = book.cells[0].outputs
    html = output["data"]["text/html"]
    assert "<strong>Usable.</strong> The one check of the computation passed." in html
    assert '<th scope="row">&lt;b&gt;f</th>' in html


MARIMO = """
import sys
import bayesgroups as bg
from marimo._output.formatting import get_formatter

report = bg.open_report(sys.argv[1])
kind, html = get_formatter(report)(report)
assert kind == "text/html", kind
sys.stdout.write(html)
"""


def test_the_last_line_of_a_cell_of_marimo(report: xr.DataTree, tmp_path: Path) -> None:
    """In a process of its own, for marimo hooks into every import that follows."""
    path = bg.save_report(report, tmp_path / "report.nc")
    command = [sys.executable, "-c", MARIMO, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(shown(bg.open_report(path)))


def test_verdict_estimand_and_table(report: xr.DataTree) -> None:
    html = shown(report)
    assert "<strong>Usable.</strong> All 2 checks of the computation passed." in html
    for metric in ("fnr", "acc"):
        assert f"<caption>{metric}: superpopulation rate per subgroup; 95% credible (equal-tailed" in html
    assert html.count('<tr><th scope="row">African American | Female</th>') == 2
    table = report["estimates"].to_dataset().sel(metric="fnr", approach="bayesian", subgroup="Caucasian | Male")
    value = float(table["estimate"])
    low, high = (float(table[name].sel(level=0.95)) for name in ("lower", "upper"))
    assert f"{value:.3f} [{low:.3f}, {high:.3f}]" in html


def test_a_report_that_is_not_usable() -> None:
    html = shown(make_report(usable=False, notes=["fnr: NUTS was run"]))
    assert (
        'role="alert"><strong>NOT usable: the Bayesian numbers below must not be relied on.</strong> 2 of 2 checks'
        in html
    )
    assert html.count("<li>") == 2
    assert "<p>Note: fnr: NUTS was run</p>" in html


def test_labels_are_text() -> None:
    attributes = {"<b>sex": ["<script>alert(1)</script>", 'a"&b']}
    report = make_report(make_tally(attributes, metrics=["fnr"]), notes=["<img src=x onerror=alert(1)>"])
    html = html_of(report)
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown(report)


def test_the_page_is_whole_html_with_the_tree_folded(report: xr.DataTree) -> None:
    html = html_of(report)
    parser = Balance()
    parser.feed(html)
    assert parser.opened == []
    assert "script" not in parser.seen
    folded = html[html.index("<details>") :]
    assert "<summary>All groups, as xarray shows them</summary>" in folded
    assert "posterior" in folded
    assert not re.search(r"https?://(?!www\.w3\.org)", shown(report))


def test_many_subgroups_and_metrics_are_told() -> None:
    levels = {"site": [f"s{i:02}" for i in range(25)]}
    html = shown(make_report(make_tally(levels, metrics=[f"m{i}" for i in range(8)])))
    assert html.count("<table>") == 6
    assert "<p>The 20 largest of 25 subgroups are shown.</p>" in html
    assert "<p>2 more metrics: m6, m7.</p>" in html


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.copy(),
        lambda report: report.copy(deep=True),
        copy.deepcopy,
        lambda report: pickle.loads(pickle.dumps(report)),
        lambda report: report.sel(metric=["fnr"]),
        lambda report: report.isel(subgroup=[0, 1]),
        lambda report: report.load(),
    ],
)
def test_what_is_made_of_a_report_is_one(change: Callable[[xr.DataTree], xr.DataTree], report: xr.DataTree) -> None:
    changed = change(report)
    assert isinstance(changed, Report)
    assert changed.attrs == report.attrs
    assert "Usable." in shown(changed)


def test_parts_are_shown_as_xarray_shows_them(report: xr.DataTree) -> None:
    plain = xr.DataTree.from_dict({name: report[name].to_dataset() for name in report.children})
    for part in (report["estimates"], report.sel(level=[0.5]), report.isel(metric=0), as_report(plain)):
        assert "bg-report" not in html_of(part)
        assert "xr-wrap" in html_of(part)
    assert type(plain) is xr.DataTree
    assert "bg-report" not in html_of(plain)  # trees of other programs are not touched


def test_estimates_files_and_added_groups_are_reports(tmp_path: Path) -> None:
    tally = bg.tally_from_counts([4, 30], [10, 100], pd.DataFrame({"sex": ["f", "m"]}), metric="fnr")
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    opened = bg.open_report(bg.save_report(report, tmp_path / "fnr.nc"))
    added = bg.add_groups(report, ["prior"])
    drawn = bg.report_from_draws(tally, report["posterior"].to_dataset())
    for each in (report, opened, added, drawn):
        assert isinstance(each, Report)
        assert "Usable." in shown(each)
    assert html_of(opened).count("<table>") == html_of(report).count("<table>")
    assert az.summary(report, var_names=["overall"]).index.tolist() == ["overall[fnr]"]
    assert (
        "posterior" in az.extract(report).coords.to_dataset().attrs or az.extract(report)["mu"].sizes["sample"] == 4000
    )
