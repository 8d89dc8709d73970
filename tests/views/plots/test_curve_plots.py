"""Pictures of curves: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg


@pytest.fixture(scope="module")
def source() -> xr.Dataset:
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 90)
    frame = pd.DataFrame({"g": random.choice(["a", "$b$", "c"], 90), "y": y, "p": random.beta(1 + y, 2 - y)})
    return bg.tally(frame, {"g": ["a", "$b$", "c", "d"]}, ["auc"], y_true="y", y_score="p")


def test_each_kind_of_curve(source: xr.Dataset) -> None:
    found = {
        "threshold": bg.threshold_curve(source, metrics=["tpr", "ppv"], draws=100, seed=1),
        "false positive rate": bg.roc_curve(source, draws=100, seed=1),
        "mean score": bg.calibration_curve(source, draws=100, seed=1),
    }
    for label, curves in found.items():
        figure = bg.plots.curves(curves, columns=2)
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "$b$", "c", "d"]
        assert [axes.get_xlabel() for axes in figure.axes] == ["", "", label, label]
        first, last = figure.axes[0], figure.axes[3]
        assert [len(first.collections), len(first.lines)] == [4, 3]  # two bands each; two curves and a reference
        assert [text.get_text() for text in last.texts] == ["no rows"]
        solid, dashed = first.lines[:2]
        assert solid.get_linestyle() == "-"
        assert dashed.get_linestyle() == "--"
        (legend,) = figure.legends
        assert legend.get_title().get_text() == "dark: 95% of points, light: 95% of whole curves"
        figure.canvas.draw()


def test_choices(source: xr.Dataset) -> None:
    curves = bg.threshold_curve(source, metrics=["tpr", "ppv"], draws=100, seed=1, level=0.8)
    figure = bg.plots.curves(curves, metric="ppv", subgroups=["c", "a"], band=False)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["c", "a"]
    assert len(figure.axes[0].collections) == 2
    assert figure.legends[0].get_title().get_text() == "dark: 80% of points"
    np.testing.assert_array_equal(
        figure.axes[0].lines[1].get_ydata(),
        curves["estimate"].sel(approach="frequentist", metric="ppv", subgroup="c").values,
    )


def test_refused(source: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match=r"curves\(\) draws what bg.threshold_curve"):
        bg.plots.curves(source)
    curves = bg.threshold_curve(source, metrics="tpr", draws=100, seed=1)
    with pytest.raises(bg.InputError, match="metric 'tqr' has no curve; did you mean 'tpr'"):
        bg.plots.curves(curves, metric="tqr")
    with pytest.raises(bg.InputError, match="subgroup 'e' has no curve"):
        bg.plots.curves(curves, subgroups=["e"])
    with pytest.raises(bg.InputError, match="at least one column and one subgroup can be drawn; got 0 and 4"):
        bg.plots.curves(curves, columns=0)
    with pytest.raises(bg.InputError, match="at least one column and one subgroup can be drawn; got 4 and 0"):
        bg.plots.curves(curves, subgroups=[])
    with pytest.raises(bg.InputError, match="metric='tpr' is for threshold curves; these have none"):
        bg.plots.curves(bg.roc_curve(source, draws=100, seed=1), metric="tpr")
