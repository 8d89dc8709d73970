"""Sections of a page that are asked for: contrasts with a reference, and a target population."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli.pages import write_html
from bayesgroups.views.html import page as page_module
from bayesgroups.views.html.page import render
from bayesgroups.views.html.sections import context, contrasts
from bayesgroups.views.html.sections.targets import asked_targets

pytestmark = pytest.mark.usefixtures("no_pictures")

WHO = pd.DataFrame({"race": ["A", "A", "B", "B", "C", "C"], "sex": ["f", "m"] * 3})
PEOPLE = WHO.assign(count=[100, 90, 80, 200, 50, 40])


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    tally = bg.tally_from_counts([18, 30, 18, 6, 3, 0], [60, 150, 40, 25, 7, 0], WHO, metric="sel")
    return bg.estimate(tally, bg.PartialPooling(), seed=1)


def rows(page: str, label: str) -> list[list[str]]:
    """Cells as text of the rows of a table, found by its label."""
    table = page.partition(f'aria-label="Table: {label}"')[2].partition("</table>")[0]
    body = table.partition("<tbody>")[2]
    return [
        [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.split(r"</t[hd]>", row)[:-1]]
        for row in body.split("</tr>")[:-1]
    ]


def test_a_page_has_neither_unless_asked(report: xr.DataTree) -> None:
    page = render(report)
    assert "to everyone" not in page
    assert "target population" not in page


def test_contrasts_are_those_of_the_question(report: xr.DataTree) -> None:
    page = render(report, reference="overall")
    answer = bg.contrasts(report, "overall", seed=1).isel(metric=0)
    for scale, places in (("difference", 3), ("ratio", 2)):
        shown = rows(page, f"{scale.capitalize()} to everyone, Selection rate (sel)")
        assert [row[0].split("  ")[0] for row in shown] == answer["subgroup"].values.tolist()
        part = answer.sel(scale=scale)
        estimates = [f"{value:z.{places}f}" if np.isfinite(value) else "–" for value in part["estimate"].values[0]]
        assert [row[1] for row in shown] == estimates
        lower = part["lower"].values[1, 2]
        assert shown[2][5].startswith(f"{lower:.{places}f} to ")
        assert shown[2][6] == f"{part['p_value_adjusted'].values[1, 2]:.3f}"
    assert (
        "difference to everyone in the superpopulation rate; 95% credible (equal-tailed) and confidence (MOVER)" in page
    )
    assert "not estimable: no rows that count on the side of C | m" in page
    assert "Worse than everyone with a probability of 95% or more, each by itself: A | m" in page


def test_the_best_has_its_own_evidence(report: xr.DataTree) -> None:
    page = render(report, reference="best", imputed="include")
    shown = rows(page, "Ratio to the best subgroup, Selection rate (sel)")
    assert "P(best)" in page
    assert "May be best" in page
    assert [row[6] for row in shown] == ["yes", "no", "yes", "yes", "yes", "–"]
    assert "Frequentist: not estimable" in shown[5][0]


def test_the_picture_is_of_the_metric_and_the_scale(report: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_drawing", lambda draw: draw().get_xlabel())
    sections = contrasts.contrasts(context.contexts(report, 0.95, None)[0], "A | f")
    assert [part["picture"].source.partition(",")[2] for part in sections] == [
        "difference in sel (subgroup - reference)", "ratio in sel (subgroup / reference)",
    ]  # fmt: skip


def test_many_contrasts_are_drawn_and_listed_in_part(report: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "DRAWN", 2)
    monkeypatch.setattr(contrasts, "LISTED", 3)
    monkeypatch.setattr(contrasts, "NAMED", 0)
    page = render(report, reference=0.6)
    assert "Drawn are the 2 of 6 farthest from equality." in page
    assert "Listed are the 3 farthest from equality; 3 more are answers of bg.contrasts" in page
    assert re.search(r"each by itself: ; and \d more\.", page)


def test_losses_below_zero_have_differences_alone_and_nothing_to_draw(report: xr.DataTree) -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "estimate": [0.2, 0.4], "variance": [0.01, 0.02]})
    tally = bg.tally_from_estimates([-0.2, 0.4], [0.1, 0.1], frame[["g"]], metric="score")
    page = render(bg.estimate(tally, bg.NoPooling(), seed=1), reference="a")
    assert "Difference to a" in page
    assert "Ratio to a" not in page
    assert "None is worse than a with a probability" in page or "Worse than a with a probability" in page


def test_a_population_beside_the_sample(report: xr.DataTree) -> None:
    page = render(report, population=PEOPLE)
    targets = bg.poststratify(report, PEOPLE, by=["race", "sex"], seed=1)
    table = targets["estimates"].to_dataset().sel(metric="sel", level=0.95)
    shown = rows(page, "Selection rate (sel) in the target population")
    assert [row[0] for row in shown] == ["all", "race=A", "race=B", "race=C", "sex=f", "sex=m"]
    assert [row[2] for row in shown] == [f"{value:.3f}" for value in table["estimate"].values[0]]
    assert shown[1][6] == f"{table['lower'].values[1, 1]:.3f} to {table['upper'].values[1, 1]:.3f}"
    assert shown[0][7].startswith("not estimable")
    assert "Most likely the worst" in page  # the subgroups stay what the page is about
    assert "Note: sel: 7.14% of the population is in cells without rows" in page
    again = asked_targets(report, targets, 0.95).contexts["sel"].reading
    assert [f"{value:.3f}" for value in again.bayesian.estimate] == [row[2] for row in shown]


def test_a_report_of_targets_of_some_metrics() -> None:
    frame = pd.concat([WHO.iloc[:4].assign(y=[0, 1, 1, 1], hat=[1, 0, 1, 0])] * 5)
    tally = bg.tally(frame, by=["race", "sex"], metrics=["sel", "acc"], y_true="y", y_pred="hat")
    both = bg.estimate(tally, bg.NoPooling(), seed=1)
    alone = bg.poststratify(bg.estimate(tally.sel(metric=["acc"]), bg.NoPooling(), seed=1), PEOPLE.iloc[:4])
    page = render(both, population=alone)
    assert "The report of the target population has no sel, only acc." in page
    assert len(rows(page, "Accuracy (acc) in the target population")) == 1
    other = bg.estimate(tally.sel(metric=["sel"]), bg.NoPooling(), seed=1)
    with pytest.raises(bg.InputError, match=r"has the metrics \['acc'\], and that of the page \['sel'\]"):
        render(other, population=alone)


def test_what_cannot_be_asked(report: xr.DataTree) -> None:
    targets = bg.poststratify(report, PEOPLE)
    few = bg.tally_from_counts([1, 2], [9, 9], WHO.iloc[:2], metric="sel")
    cases: list[tuple[xr.DataTree, dict[str, Any], str]] = [
        (targets, {"population": PEOPLE}, "the report is of a target population itself"),
        (report, {"population": report}, "population= is a report of subgroups"),
        (bg.estimate(few, bg.NoPooling(), seed=1), {"population": targets}, "of other subgroups, see 'B | f'"),
        (report, {"population": PEOPLE.assign(count=-1)}, "count"),
        (report, {"reference": "D | f"}, "D | f"),
    ]
    for source, settings, message in cases:
        with pytest.raises(bg.InputError, match=re.escape(message)):
            render(source, **settings)


def test_the_command_has_both_options(report: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def noted(report: xr.DataTree, **settings: Any) -> str:
        asked.append(settings)
        return ""

    monkeypatch.setattr(page_module, "render", noted)
    source = bg.save_report(report, tmp_path / "r.nc")
    targets = bg.save_report(bg.poststratify(report, PEOPLE), tmp_path / "t.nc")
    for reference, population in (("sex=m", "people.csv"), ("0.5", str(targets)), (None, None)):
        assert write_html(source, output=tmp_path / "p.html", reference=reference, population=population) == 0
    assert [settings["reference"] for settings in asked] == [{"sex": "m"}, 0.5, None]
    assert asked[0]["population"] == "people.csv"
    assert asked[1]["population"].attrs["poststratified"] == 1
    assert asked[2]["population"] is None


def test_sizes_may_be_a_file(report: xr.DataTree, tmp_path: Path) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    from_file = asked_targets(report, str(tmp_path / "people.csv"), 0.95).contexts["sel"].reading
    in_memory = asked_targets(report, PEOPLE, 0.95).contexts["sel"].reading
    assert from_file.bayesian.estimate.tolist() == in_memory.bayesian.estimate.tolist()
