"""The section of ordered attributes on the page of a report, and the option of the command line that asks for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.views.html.page import render
from bayesgroups.views.plots.ordered_plot import along_levels

AGES = ["young", "middle", "old"]


def counted(by: tuple[str, ...] = ("age",)) -> xr.Dataset:
    levels = {"age": AGES, "income": ["1", "2", "3"]}
    who = pd.MultiIndex.from_product([levels[name] for name in by], names=by).to_frame(index=False)
    return bg.tally_from_counts([3 + 2 * i for i in range(len(who))], [40] * len(who), who, metric="fnr")


def section(page: str) -> str:
    found = re.search(r"<h3>Along age</h3>.*?</figure>", page, re.DOTALL)
    assert found is not None
    return found.group(0)


def test_the_curve_of_an_ordered_attribute_is_on_the_page() -> None:
    report = bg.estimate(counted(), bg.CrossedEffects(ordered=("age",)), seed=1)
    drawn = section(render(report, level=0.9))
    ends = along_levels(report, "age", "fnr", AGES).sel(approach="bayesian", level=0.9)
    for level in ("young", "old"):
        end = ends.sel(subgroup=level)
        values = [f"{float(end[name]):.3f}" for name in ("estimate", "lower", "upper")]
        assert f"{values[0]} ({values[1]} to {values[2]}) at {level}" in drawn
    share = report["posterior"].to_dataset()["ordered_share"]
    assert f"the share that follows the order is {share.mean().item():.0%} (" in drawn
    assert "90% credible intervals along the levels" in drawn
    assert 'alt="False negative rate along the levels of age.' in drawn


@pytest.mark.usefixtures("no_pictures")
def test_shares_of_two_orders_are_told_apart() -> None:
    report = bg.estimate(counted(("age", "income")), bg.CrossedEffects(ordered=("age", "income")), seed=1)
    page = render(report)
    assert page.index("<h3>Along age</h3>") < page.index("<h3>Along income</h3>")
    assert "together with age:income" in section(page)


@pytest.mark.usefixtures("no_pictures")
def test_the_factors_of_the_confusion_model_have_words() -> None:
    rows = pd.DataFrame({"age": AGES * 40, "y": [1, 0, 1, 0, 1] * 24, "d": [1, 0, 0, 1, 1, 0] * 20})
    tally = bg.tally(rows, {"age": AGES}, ["fnr"], y_true="y", y_pred="d", confusion=True)
    drawn = section(render(bg.estimate(tally, bg.ConfusionModel(ordered=("age",)), seed=1)))
    assert re.search(
        r"for decisions, .* for outcomes of positive decisions, .* for outcomes of negative decisions\.", drawn
    )


@pytest.mark.usefixtures("no_pictures")
def test_reports_without_an_order_have_no_such_section() -> None:
    assert "Along age" not in render(bg.estimate(counted(), bg.CrossedEffects(), seed=1))


def test_the_command_line_takes_orders_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bg.save_tally(counted(), tmp_path / "t.nc")
    command = ["estimate", str(tmp_path / "t.nc"), "--ordered", "age", "--output", str(tmp_path / "r.nc")]
    assert run([*command, "--estimator", "crossed_effects", "--cyclic", "age", "--json"]) == 0
    capsys.readouterr()
    settings = json.loads(bg.open_report(tmp_path / "r.nc").attrs["settings"])
    assert (settings["ordered"], settings["cyclic"]) == (["age"], ["age"])
    assert run([*command, "--estimator", "partial_pooling"]) == 2
    assert "partial_pooling has no setting 'ordered'" in capsys.readouterr().err
