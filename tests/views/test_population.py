"""The picture of a target population, and the page of its report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.views.html.page import render
from bayesgroups.views.plots import forest
from bayesgroups.views.plots.population_plot import population, shares_of
from tests.questions.populations.examples import POPULATION, WEIGHTS, N, schools

TYPES = pd.DataFrame({"type": ["E", "H", "M", "X"]})


@pytest.fixture(scope="module")
def target() -> xr.DataTree:
    """A target population with a cell that nobody evaluated."""
    tally = bg.tally_from_counts([101, 9, 14, 0], [142, 25, 33, 0], TYPES, metric="acc")
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    return bg.poststratify(report, TYPES.assign(count=[4421, 755, 1018, 500]), by=["type"])


def test_shares_of_rows_and_people() -> None:
    report = bg.poststratify(schools(), POPULATION, by=["type"])
    everybody = shares_of(report)
    np.testing.assert_allclose(everybody.rows, N / N.sum())
    np.testing.assert_allclose(everybody.people, WEIGHTS)
    single = shares_of(report, target="type=H")
    assert (single.labels, single.rows.tolist(), single.people.tolist()) == (("H",), [1.0], [1.0])


def test_the_picture_marks_people_without_a_row(target: xr.DataTree) -> None:
    axes = population(target)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["X", "M", "H", "E"]
    labels = [line.get_label() for line in axes.lines]
    assert labels == ["evaluated rows", "people of the target", "people without a row"]
    np.testing.assert_allclose(np.asarray(axes.lines[2].get_xdata(), dtype=np.float64), 100 * 500 / 6694)
    few = population(target, show=2)
    assert len(few.get_yticklabels()) == 2
    assert "the 2 cells that differ most" in few.get_title(loc="left").replace("\n", " ")


def test_pictures_that_cannot_be_drawn(target: xr.DataTree) -> None:
    with pytest.raises(bg.InputError, match=r"the report has no target population; make one with bg.poststratify"):
        population(bg.estimate(schools(), bg.NoPooling(), seed=1))
    with pytest.raises(bg.InputError, match="the report has no metric 'ac'; did you mean 'acc'"):
        population(target, metric="ac")
    with pytest.raises(bg.InputError, match="the report has no target 'type=Q'"):
        population(target, target="type=Q")
    with pytest.raises(bg.InputError, match="show must be 1 or more; got 0"):
        population(target, show=0)


def test_the_page_speaks_of_targets(target: xr.DataTree) -> None:
    page = render(target)
    for text in (
        "Accuracy by type, target population", "What is the accuracy in the target population and in 4 parts of it, by type",
        "At a glance: the whole target population", "Evaluated rows and target population",
        "7.5% of the people are in cells without rows, about whom the model alone speaks", "not estimable",
        "confidence set of Imbens and Manski around the bounds", "method of variance estimates recovery",
    ):  # fmt: skip
        assert text in page, text
    for text in ("Worst subgroups", "<h3>Disparity", "<h3>Certification", "Sensitivity to the prior"):
        assert text not in page, text
    assert ">200<" in page  # rows once, not once per target


@pytest.mark.usefixtures("no_pictures")
def test_targets_with_rows_of_some_of_their_people_are_not_said_to_have_none(target: xr.DataTree) -> None:
    page = render(target)
    assert "without rows, answered from the model alone" not in page
    assert "<h3>All targets</h3>" in page
    assert "Bayesian: 2 targets answered in part from the model alone." in page
    table = page.partition("<h3>All targets</h3>")[2].partition("</table>")[0]
    listed = [part.partition("</th>")[0] for part in table.split('<th scope="row">')[1:]]
    assert listed == ["all", "type=E", "type=H", "type=M", "type=X"]
    assert "imputed <small>7.47% of the people without rows</small>" in table


def test_the_page_of_a_tally_has_no_bayesian_values() -> None:
    page = render(bg.poststratify(schools(), POPULATION))
    assert "Every cell with people has rows" in page
    assert "the source is a tally, so there are no Bayesian values" in page
    assert "weighted to the target population the frequentist estimate is 0." in page
    assert ">Weighted, frequentist<" in page


@pytest.mark.parametrize("width", [5.0, 7.6, 12.0])
def test_the_legend_of_targets_stays_in_the_picture(target: xr.DataTree, width: float) -> None:
    axes = forest(target, width=width)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box, frame = legend.get_window_extent(), figure.bbox
    assert frame.x0 <= box.x0
    assert box.x1 <= frame.x1
    assert len(legend.get_texts()) == 4


@pytest.mark.usefixtures("no_pictures")
def test_of_a_tally_no_model_speaks() -> None:
    tally = bg.tally_from_counts([101, 9, 14, 0], [142, 25, 33, 0], TYPES, metric="acc")
    people = TYPES.assign(count=[4421, 755, 1018, 500])
    ends = {
        "bounds": "the frequentist side has bounds alone",
        "drop": "the frequentist side leaves them out",
        "collapse": "the frequentist side gives them the mean of a margin",
    }
    without = "acc: 7.47% of the population is in cells without rows; "
    for empty, end in ends.items():
        report = bg.poststratify(tally, people, empty=empty)  # type: ignore[arg-type]
        assert json.loads(report.attrs["notes"])[1] == without + end
    modelled = bg.poststratify(bg.estimate(tally, bg.NoPooling(), seed=1), people)
    model = "the model alone answers on the Bayesian side, "
    assert json.loads(modelled.attrs["notes"])[-1] == without + model + ends["bounds"]
    assert "7.5% of the people are in cells without rows, about whom no row speaks." in render(
        bg.poststratify(tally, people)
    )
