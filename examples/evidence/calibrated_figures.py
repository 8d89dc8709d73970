"""Pictures of the page of calibration and coverage: rank distribution functions with bands, and coverage by level and size."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.views.plots import style
from bayesgroups.views.plots.calibration_plot import rank_band, share_below
from examples.evidence import calibrated_records as records
from examples.pictures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWS = 999
"""Posterior draws that each true value was ranked among."""
BAND_SEED = 0
STEP = 4
"""Every fourth point is drawn; lines leave the band or not by all points."""
DESIGNS = {
    "rates": ("wilson", "jeffreys", "clopper_pearson", "wald", "bayesian_no_pooling", "bayesian_partial_pooling"),
    "normal_01": ("unshrunk", "plug_in", "morris", "robust", "fab", "bayesian_partial_pooling"),
    "two_point_01": ("unshrunk", "plug_in", "morris", "robust", "fab", "bayesian_partial_pooling"),
}
"""Intervals that are drawn, by the design of the record of interval coverage."""


@cache
def band(number: int) -> tuple[FloatArray, FloatArray]:
    """Points and half-width of the simultaneous band for so many tables."""
    return rank_band(number, rng=np.random.default_rng(BAND_SEED))


def rank_figure() -> Figure:
    """Difference of the distribution function of the ranks from the diagonal, all quantities, a panel per engine and design."""
    drawn = [
        (title.replace("`", ""), design.replace("_", " "), each)
        for name, title in records.CALIBRATIONS.items()
        for design, each in records.ranks(name).items()
    ]
    rows = -(-len(drawn) // 3)
    figure, axes = panels(rows, 3, (8.4, 1.7 * rows))
    for axis, (title, design, each) in zip(axes, drawn, strict=False):
        number = len(next(iter(each.values())))
        grid, wide = band(number)
        axis.fill_between(grid, -wide, wide, color=style.GREY, alpha=0.22, lw=0)
        for rank in each.values():
            difference = share_below((rank + 0.5) / (DRAWS + 1), grid) - grid
            axis.plot(grid[::STEP], difference[::STEP], color=style.BLUE, lw=0.5, alpha=0.6)
        axis.axhline(0, color=style.INK, lw=0.5)
        axis.set_title(f"{title}, {design}\n{len(each)} quantities, {number} tables", fontsize=7)
        limit = 1.35 * float(wide.max())
        axis.set_ylim(-limit, limit)
    for axis in axes[len(drawn) :]:
        axis.set_axis_off()
    figure.supxlabel("rank of the true value, as a share of the draws", fontsize=8)
    figure.supylabel("difference from even", fontsize=8)
    return figure


def level_figure() -> Figure:
    """Coverage less the stated level by the level, a panel per design and class of sizes."""
    lines = records.coverage("interval_coverage")
    figure, axes = panels(len(DESIGNS), 2, (8.4, 7.2))
    for row, (design, intervals) in enumerate(DESIGNS.items()):
        pair = axes[2 * row : 2 * row + 2]
        for axis, size_class in zip(pair, ("small", "large"), strict=True):
            for interval, (colour, marker) in zip(intervals, style.SEQUENCE, strict=True):
                each = lines.query("design == @design and interval == @interval and size_class == @size_class")
                axis.errorbar(
                    each["level"], each["coverage"] - each["level"], 2 * each["mc_error"], color=colour, marker=marker,
                    markersize=3, lw=1, capsize=2, label=interval.replace("_", " "),
                )  # fmt: skip
            axis.axhline(0, color=style.INK, lw=0.6)
            axis.set_title(f"{design}, {'25 rows or fewer' if size_class == 'small' else 'more than 25 rows'}")
            axis.set_ylabel("coverage less level")
            axis.set_xticks([0.5, 0.8, 0.9, 0.95])
        pair[1].legend(frameon=False, fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axis in axes[-2:]:
        axis.set_xlabel("stated level")
    return figure


def figures() -> dict[str, Figure]:
    """Figures by the names of their files."""
    return {"calibrated_ranks.svg": rank_figure(), "calibrated_levels.svg": level_figure()}
