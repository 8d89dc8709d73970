"""The frontier plot draws the candidates, curves, bands and areas that the questions about them answer with."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.views.plots import frontier

A = pd.DataFrame({"performance": [0.8, 0.7, 0.6], "fairness": [0.6, 0.9, 0.7]})
B = A - 0.05


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_candidates_and_curves_are_drawn() -> None:
    figure = _figure(frontier({"a": A, "b": B}, anchor=0.5))
    axes = figure.axes[0]
    assert texts(figure) == ["a", "b", "anchor"]
    candidates, curve = axes.lines[0], axes.lines[1]
    np.testing.assert_array_equal(np.asarray(candidates.get_xdata()), A["performance"])
    assert sorted(set(np.asarray(curve.get_xdata()).tolist())) == [0.5, 0.7, 0.8]
    assert np.asarray(axes.lines[-1].get_xydata()).tolist() == [[0.5, 1.0]]
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("within", [None, {"performance": 0.6}, {"fairness": 0.75}, {"dto": 0.4}])
def test_the_shaded_area_is_the_area(within: Any) -> None:
    figure = _figure(frontier({"a": A, "b": B}, anchor=0.5, shade="b", within=within))
    area = float(bg.auc_pfc(B, anchor=0.5, within=within))
    assert f"area {area:.4f}" in texts(figure)
    outlines = [np.asarray(path.vertices, dtype=float) for path in figure.axes[0].collections[0].get_paths()]
    drawn = sum(abs(np.trapezoid(outline[:, 1], outline[:, 0])) for outline in outlines)
    assert drawn == pytest.approx(area, abs=1e-3)
    assert ("utopia" in texts(figure)) == (within is not None and "dto" in within)


def test_draws_give_a_band() -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, (2, 1, 100, 3))
    dims = ("chain", "draw", "candidate")
    points = xr.Dataset({goal: (dims, A[goal].to_numpy() + noise[i]) for i, goal in enumerate(A)})
    axes = frontier({"a": points}, anchor=0.5)
    assert len(axes.collections) == 1
    assert len(frontier({"a": A}, anchor=0.5).collections) == 0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"methods": {}}, "room for 1 to 6 methods; got 0"),
    ({"methods": dict.fromkeys("abcdefg", A)}, "room for 1 to 6 methods; got 7"),
    ({"shade": "c"}, "shade='c' is none of the methods"),
    ({"within": {"dto": 0.5}}, "give shade=, the method under whose curve it lies"),
    ({"anchor": np.inf}, "anchor must be"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_settings_are_named(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"methods": {"a": A, "b": B}, "anchor": 0.5}
    with pytest.raises(InputError, match=message):
        frontier(**(given | changes))
