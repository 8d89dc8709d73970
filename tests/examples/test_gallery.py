"""The gallery: every picture of the package has a script that draws it, as its variable ``figure``."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import bayesgroups as bg

SCRIPTS = sorted((Path(__file__).parents[2] / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_draws(script: Path) -> None:
    figure = runpy.run_path(str(script))["figure"]
    assert isinstance(figure, Figure)
    assert any(axes.has_data() for axes in figure.axes)


def test_every_picture_is_shown() -> None:
    drawn = {name for script in SCRIPTS for name in re.findall(r"bg\.plots\.(\w+)\(", script.read_text("utf-8"))}
    public = {name for name in vars(bg.plots) if callable(getattr(bg.plots, name)) and not name.startswith("_")}
    assert drawn == public
