"""Pictures draw subgroups without rows apart, and their legends say so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.views import plots

ALONE = "the model alone"


def counted(hits: list[int], trials: list[int]) -> xr.DataTree:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    return bg.estimate(bg.tally_from_counts(hits, trials, who, metric="acc"), bg.NoPooling(), seed=1)


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    return counted([900, 890, 880, 0], [1000, 1000, 1000, 0])


@pytest.fixture(scope="module")
def full() -> xr.DataTree:
    return counted([900, 890, 880, 870], [1000] * 4)


def legend(drawn: Axes | Figure) -> list[str]:
    figure = drawn if isinstance(drawn, Figure) else drawn.get_figure()
    assert isinstance(figure, Figure)
    return [text.get_text() for part in figure.legends for text in part.get_texts()]


def test_the_forest_plot_explains_its_hollow_markers(report: xr.DataTree, full: xr.DataTree) -> None:
    assert any(ALONE in text for text in legend(plots.forest(report)))
    assert not any(ALONE in text for text in legend(plots.forest(full)))
    assert not any(ALONE in text for text in legend(plots.forest(report, subgroups=["a | f", "a | m"])))


def test_the_heat_map_dots_cells_without_rows(report: xr.DataTree, full: xr.DataTree) -> None:
    axes = plots.heat_map(report, "race", "sex")
    assert any(ALONE in text for text in legend(axes))
    numbers = [text.get_text() for text in axes.texts]
    assert sum(number.startswith("(") for number in numbers) == 1
    assert [patch.get_hatch() for patch in axes.collections] == [".."]
    assert not any(ALONE in text for text in legend(plots.heat_map(full, "race", "sex")))


def test_a_cell_of_the_heat_map_is_the_mean_of_what_has_rows() -> None:
    who = pd.DataFrame({"a": list("xxyy"), "b": list("uuuu"), "c": list("pqpq")})
    tally = bg.tally_from_estimates([0.2, np.nan, 0.4, 0.5], [0.01, np.nan, 0.01, 0.01], who)
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    axes = plots.heat_map(report, "a", "b")
    estimates = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian").isel(metric=0)
    first = float(estimates.sel(subgroup="x | u | p"))
    assert axes.texts[0].get_text() == f"{first:.3g}"


@pytest.mark.parametrize("draw", [plots.certification, plots.disparity_posterior])
def test_questions_leave_out_subgroups_without_rows(
    draw: Callable[..., Axes], report: xr.DataTree, full: xr.DataTree
) -> None:
    assert "left out, without rows: 1" in legend(draw(report))
    for picture in (draw(report, imputed="include"), draw(full)):
        assert not any("left out" in text for text in legend(picture))
    with pytest.raises(InputError, match="imputed='drop'"):
        draw(report, imputed="drop")


def test_the_mean_curve_is_of_subgroups_with_rows() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"s": ["a", "b"] * 60, "y": rng.integers(0, 2, 120), "p": rng.random(120).round(2)})
    asked = {"y_true": "y", "y_score": "p", "draws": 200, "seed": 1, "thresholds": [0.2, 0.5, 0.8], "metrics": "tpr"}
    found = bg.threshold_curve(rows, {"s": ["a", "b", "c"]}, **asked)  # type: ignore[arg-type]
    bayesian = found["estimate"].sel(approach="bayesian", metric="tpr")
    for imputed, who in (("leave_out", ["a", "b"]), ("include", ["a", "b", "c"])):
        figure = plots.curves(found, imputed=imputed)  # type: ignore[arg-type]
        mean = next(line for line in figure.axes[0].lines if line.get_label() == "mean of subgroups")
        np.testing.assert_allclose(
            np.asarray(mean.get_ydata(), dtype=float), bayesian.sel(subgroup=who).mean("subgroup").values
        )
        assert any(ALONE in text for text in legend(figure))
        styles = [axes.lines[0].get_linestyle() for axes in figure.axes]
        assert styles[0] == styles[1] == "-"
        assert styles[2] != "-"
    assert not any(ALONE in text for text in legend(plots.curves(found, subgroups=["a", "b"])))
    with pytest.raises(InputError, match="imputed='drop'"):
        plots.curves(found, imputed="drop")  # type: ignore[arg-type]
