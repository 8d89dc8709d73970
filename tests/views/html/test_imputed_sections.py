"""The page and subgroups without rows: marked in table and picture, named, and never the worst."""

from __future__ import annotations

import re

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.report.view import read
from bayesgroups.views.html.page import render
from bayesgroups.views.html.summary import sentences


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    who = pd.DataFrame({"site": ["a", "b", "c", "nobody"]})
    tally = bg.tally_from_counts([900, 890, 880, 0], [1000, 1000, 1000, 0], who, metric="acc")
    return bg.estimate(tally, bg.NoPooling(), seed=1)


def section(text: str, title: str) -> str:
    """The part of the page below a heading, without tags."""
    found = re.search(rf"<h3>{title}</h3>(.*?)(<h3>|</section>)", text, flags=re.DOTALL)
    assert found is not None
    return re.sub(r"<[^>]*>", " ", found[1])


@pytest.mark.usefixtures("no_pictures")
def test_the_page_names_who_is_left_out_and_asks_nothing_of_them(report: xr.DataTree) -> None:
    page = render(report)
    assert "Left out, without rows: nobody (no rows)." in page
    for title in ("Worst subgroups", "Disparity", "Certification"):
        assert "nobody" not in section(page, title)
    glance = page.split("At a glance")[1].split("</table>")[0]
    assert "nobody" not in glance
    assert "at least 0.8" in glance
    assert "imputed <small>no rows</small>" in page  # the table has the answer, marked


def test_included_subgroups_can_be_the_worst(report: xr.DataTree) -> None:
    page = render(report, imputed="include")
    assert "Left out" not in page
    assert "Most likely the worst is nobody" in section(page, "Worst subgroups")
    with pytest.raises(InputError, match="imputed='drop'"):
        render(report, imputed="drop")  # type: ignore[arg-type]


def test_sentences_about_the_range_are_about_subgroups_with_rows(report: xr.DataTree) -> None:
    said = sentences(read(report))
    assert said[0] == "Bayesian estimates of subgroups with rows run from 0.880 (c) to 0.899 (a)."
    assert said[1] == "Frequentist estimates run from 0.880 (c) to 0.900 (a)."
    assert "Bayesian: 1 subgroup answered from the model alone." in said
    assert not any("nobody" in sentence for sentence in said)


def test_a_page_without_anybody_to_ask_about_says_so() -> None:
    said, disagrees = [*"abc" * 20], ([0] * 4 + [1]) * 12
    rows = pd.DataFrame({"sex": ["f", "m"] * 30, "said": said, "disagrees": disagrees})
    tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees").sel(metric=["acc", "tpr[a]"])
    report = bg.estimate(tally, bg.DisagreementModel(), seed=1)
    page = render(report)
    assert "no subgroup remains to be asked about" in page
    assert "Bayesian estimates: none from rows, the model alone answers." in page


@pytest.mark.usefixtures("no_pictures")
def test_a_long_list_of_those_left_out_is_to_be_opened() -> None:
    sites = pd.DataFrame({"site": list("abcdefghijkl")})
    report = bg.estimate(
        bg.tally_from_counts([3, 4, *[0] * 10], [9, 8, *[0] * 10], sites, metric="fnr"), bg.PartialPooling(), seed=1
    )
    page = render(report)
    left_out = page.split('<div class="left-out">')[1].split("</div>")[0]
    assert "<summary>Left out, without rows: 10 subgroups.</summary>" in left_out
    assert [f"<li>{site} (no rows)</li>" in left_out for site in "cdefghijkl"] == [True] * 10
    table = page.split('<details class="imputed">')[1].split("</details>")[0]
    assert "<summary>10 subgroups without rows, answered from the model alone</summary>" in table
    assert table.count('<th scope="row">') == 10


@pytest.mark.usefixtures("no_pictures")
def test_usable_is_about_the_computation_and_the_disparity_has_its_metric(report: xr.DataTree) -> None:
    page = render(report)
    assert (
        "This is about the computation alone: it does not say that the model is right, nor that the system is good."
        in page
    )
    heading = re.search(r'<h2 id="metric-1">(.*?)</h2>', page)
    assert heading is not None
    assert f"<caption>Disparity of {heading[1]}: posterior median" in page
    assert f'aria-label="Table: disparity of {heading[1]}"' in page
