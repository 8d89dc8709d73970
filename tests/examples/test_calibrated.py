"""The page of calibration and coverage: all its tables are those of the records, and its pictures hold their lines."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesgroups.views.plots.calibration_plot import rank_band, share_below
from examples.evidence import calibrated, calibrated_figures
from examples.evidence import calibrated_records as records
from examples.pages import blocks, filled

PAGE = records.ROOT / "docs" / "evidence" / "calibrated.md"


@cache
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_page_is_made_from_the_records() -> None:
    assert blocks(page()) == calibrated.numbers()


def test_the_page_has_its_pictures() -> None:
    assert set(re.findall(r"\]\((\w+\.svg)\)", page())) == {"calibrated_ranks.svg", "calibrated_levels.svg"}
    assert all((PAGE.parent / name).is_file() for name in re.findall(r"\]\((\w+\.svg)\)", page()))


def test_every_record_of_calibration_and_coverage_is_on_the_page() -> None:
    names = {
        path.stem for path in records.RECORDS.glob("sbc_*.csv") if not re.search("_(ranks|fits|checks)$", path.stem)
    }
    names |= {path.stem for path in records.RECORDS.glob("*_coverage.csv")}
    assert names <= {path.stem for path in records.files().values()}


def test_lines_of_the_level_picture_are_those_of_the_record() -> None:
    handles, labels = calibrated_figures.level_figure().axes[0].get_legend_handles_labels()
    bars: Any = handles[labels.index("wald")]
    drawn = bars[0].get_ydata(orig=False)
    lines = pd.read_csv(records.RECORDS / "interval_coverage.csv")
    wald = lines.query("design == 'rates' and interval == 'wald' and size_class == 'small'")
    np.testing.assert_allclose(drawn, wald["coverage"] - wald["level"])


def test_a_band_holds_uniform_lines_as_often_as_it_says() -> None:
    """400 lines: the standard error of the share is 1.1 %."""
    rng = np.random.default_rng(7)
    grid, wide = rank_band(300, rng=np.random.default_rng(0))
    inside = [bool((abs(share_below(rng.random(300), grid) - grid) <= wide + 1e-12).all()) for _ in range(400)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.045)


def test_the_command_writes_page_and_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calibrated, "figures", lambda: {"level.svg": calibrated_figures.level_figure()})
    output = tmp_path / "page.md"
    output.write_text(filled(page(), dict.fromkeys(blocks(page()), "")), encoding="utf-8")
    calibrated.main(["--output", str(output)])
    assert (tmp_path / "level.svg").is_file()
    assert blocks(output.read_text(encoding="utf-8"))["by size"] == blocks(page())["by size"]
