"""Numbers of the page of the experiment on disagreement feedback, and its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.tallies.disagreement_rates import Bounds
from examples.pages import table

if TYPE_CHECKING:
    from examples.published.disagreement.disagreement import Line

FloatArray = NDArray[np.float64]

PUBLISHED_ERRORS = {"equal_opportunity": 12, "predictive_equality": 17, "overall_misclassification": 15}
"""Mean absolute errors that the paper reports, in percent."""
NAMES = {
    "equal_opportunity": "equal opportunity",
    "predictive_equality": "predictive equality",
    "overall_misclassification": "overall misclassification",
}
CONDITIONS = ("no_race", "race")
"""Whether critics were shown the race of the defendant."""
BOUNDS = ("published", "turned", "sharp")


@dataclass(frozen=True)
class Panel:
    """One panel of the figure, critics in the order of the truth: arrays (critic,)."""

    title: str
    truth: FloatArray
    published: Bounds


def numbers(lines: Sequence[Line], pooled: Mapping[tuple[str, str], xr.Dataset]) -> dict[str, str]:
    """Texts of the page by the name of their block.

    Parameters
    ----------
    lines : sequence of Line
        The comparison critic by critic.
    pooled : mapping from (condition, attribute) to xr.Dataset
        Confidence sets of equal opportunity for all critics together, and ``naive``, as if judgements were independent.
    """
    violations = ["condition", "subgroups", "notion", "rates", *BOUNDS, "differences", *BOUNDS]
    return {
        "differences": table(
            [
                "condition", "subgroups", "notion", "critics", "mean difference", "mean published estimate",
                "published error", "in the paper", "sharp error",
            ],
            [
                [
                    line.condition, line.attribute, NAMES[line.notion], line.critics, f"{line.truth:.3f}",
                    f"{line.published_estimate:.3f}", f"{100 * line.published_error:.1f} %",
                    f"{PUBLISHED_ERRORS[line.notion]} %", f"{100 * line.sharp_error:.1f} %",
                ]
                for line in lines
            ],
        ),
        "violations": table(violations, map(_violations, lines)),
        "explained": explained(lines),
        "all critics": table(
            ["condition", "subgroup", "label", "rate", "95 % set", "half-width", "as if independent"],
            [row for (condition, _), sets in pooled.items() for row in _pooled(condition, sets)],
        ),
    }  # fmt: skip


def explained(lines: Sequence[Line]) -> str:
    """The share of violations that go away when Proposition 5 is turned round, in words."""
    rates = sum(round(line.violated_rates * line.rates) for line in lines)
    left = sum(round(line.turned_violated_rates * line.rates) for line in lines)
    differences = sum(round(line.violated * line.critics) for line in lines)
    remaining = sum(round(line.turned_violated * line.critics) for line in lines)
    return (
        f"Outside the published bounds: {rates:,} of {sum(line.rates for line in lines):,} rates and {differences} of "
        f"{sum(line.critics for line in lines):,} differences. With Proposition 5 turned round: {left} and {remaining}. The "
        f"erratum explains {100 * (1 - (left + remaining) / max(rates + differences, 1)):.0f} % of the violations."
    )


def _violations(line: Line) -> list[object]:
    rates = (line.violated_rates, line.turned_violated_rates, line.sharp_violated_rates)
    differences = (line.violated, line.turned_violated, line.sharp_violated)
    first, second = ([f"{100 * share:.1f} %" for share in shares] for shares in (rates, differences))
    return [line.condition, line.attribute, NAMES[line.notion], line.rates, *first, line.critics, *second]


def _pooled(condition: str, sets: xr.Dataset) -> list[list[object]]:
    rows: list[list[object]] = []
    for subgroup in sets["subgroup"].values:
        for label in sets["label"].values:
            rate = sets.sel(subgroup=subgroup, label=label, level=0.95)
            low, high = float(rate["confidence_lower"]), float(rate["confidence_upper"])
            rows.append(
                [
                    condition, subgroup, label, f"{float(rate['lower']):.3f}", f"{low:.3f} to {high:.3f}",
                    f"{(high - low) / 2:.3f}", f"{float(rate['naive']):.3f}",
                ]
            )  # fmt: skip
    return rows


def figure(panels: Sequence[Panel], path: Path) -> None:
    """Draw one panel per notion and attribute.

    Parameters
    ----------
    panels : sequence of Panel
        An even number, in two rows.
    path : Path
        The PNG file to write.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    columns = len(panels) // 2
    drawing, axes = plt.subplots(2, columns, figsize=(3.2 * columns, 5.2), sharex=True, sharey=True, squeeze=False)
    for letter, panel, axis in zip("abcdefgh", panels, axes.ravel(), strict=False):
        x = np.arange(len(panel.truth))
        axis.fill_between(x, panel.published.lower, panel.published.upper, color="#cfe0f3", step="mid", linewidth=0)
        axis.plot(x, panel.published.midpoint, ".", color="#d9730d", markersize=1.5)
        axis.plot(x, panel.truth, color="#555555", linewidth=1.5)
        axis.set_title(f"({letter}) {panel.title}", fontsize=9)
        axis.set_ylim(-1, 1)
    for axis in axes[-1]:
        axis.set_xlabel("critic")
    for axis in axes[:, 0]:
        axis.set_ylabel("largest difference")
    drawing.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(drawing)
