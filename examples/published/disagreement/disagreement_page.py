"""Numbers of the page of the experiment on disagreement feedback, and its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.disagreement_rates import Bounds
from examples.pages import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from examples.published.disagreement.deciles import LabelsLine
    from examples.published.disagreement.disagreement import Line


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


def numbers(
    lines: Sequence[Line], pooled: Mapping[tuple[str, str], xr.Dataset], labels: Sequence[LabelsLine]
) -> dict[str, str]:
    """Texts of the page by the name of their block.

    Parameters
    ----------
    lines : sequence of Line
        The comparison critic by critic.
    pooled : mapping from (condition, attribute) to xr.Dataset
        Confidence sets of equal opportunity for all critics together, and ``naive``, as if judgements were independent.
    labels : sequence of LabelsLine
        The comparison with two labels and more.
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
        "printed errors": table(
            ["notion", "in the paper", *(f"{condition}, {attribute}" for condition, attribute in _runs(lines))],
            [[NAMES[notion], f"{printed} %", *_errors(lines, notion)] for notion, printed in PUBLISHED_ERRORS.items()],
        ),
        "more labels": table(
            [
                "subgroups", "notion", "labels", "width of a rate", "difference", "sharp", "published",
                "published error", "sharp error", "outside published", "outside sharp",
            ],
            [_more_labels(line) for line in labels],
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


def _runs(lines: Sequence[Line]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((line.condition, line.attribute) for line in lines))


def _errors(lines: Sequence[Line], notion: str) -> list[str]:
    """Errors of one notion in every run, as they are printed."""
    return [f"{100 * line.published_error:.1f} %" for line in lines if line.notion == notion]


def _more_labels(line: LabelsLine) -> list[object]:
    return [
        line.attribute, NAMES[line.notion], line.labels, f"{line.width:.3f}", f"{line.truth:.3f}",
        f"{line.sharp_lower:.3f} to {line.sharp_upper:.3f}", f"{line.published_lower:.3f} to {line.published_upper:.3f}",
        f"{100 * line.published_error:.1f} %", f"{100 * line.sharp_error:.1f} %",
        f"{100 * line.outside_published:.0f} %", f"{100 * line.outside_sharp:.0f} %",
    ]  # fmt: skip


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


def labels_figure(lines: Sequence[LabelsLine], path: Path) -> None:
    """Draw bounds on the largest difference by the number of labels, one panel per attribute and notion.

    Parameters
    ----------
    lines : sequence of LabelsLine
        The comparison with two labels and more.
    path : Path
        The SVG file to write.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    attributes = list(dict.fromkeys(line.attribute for line in lines))
    with mpl.rc_context({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none", "font.size": 8}):
        drawing, axes = plt.subplots(
            len(attributes), len(NAMES), figsize=(3.0 * len(NAMES), 2.4 * len(attributes)),
            sharex=True, sharey=True, squeeze=False,
        )  # fmt: skip
        for row, attribute in enumerate(attributes):
            for column, (notion, name) in enumerate(NAMES.items()):
                chosen = [line for line in lines if (line.attribute, line.notion) == (attribute, notion)]
                _labels_panel(axes[row, column], chosen)
                axes[row, column].set_title(f"{name}, {attribute}")
        for axis in axes[-1]:
            axis.set_xlabel("labels")
        for axis in axes[:, 0]:
            axis.set_ylabel("largest difference")
        axes[0, -1].legend(frameon=False, loc="lower left")
        drawing.tight_layout()
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, metadata={"Date": None})
        plt.close(drawing)


def _labels_panel(axis: Axes, lines: Sequence[LabelsLine]) -> None:
    place = np.arange(len(lines))
    for name, colour, offset in (("published", "#9dbfe6", -0.12), ("sharp", "#1f5fa8", 0.12)):
        lower, upper = ([getattr(line, f"{name}_{end}") for line in lines] for end in ("lower", "upper"))
        axis.vlines(place + offset, lower, upper, color=colour, linewidth=5, label=f"{name} bounds")
        for end in (lower, upper):  # bounds without a width show too
            axis.plot(place + offset, end, "_", color=colour, markersize=7)
    axis.plot(place, [line.truth for line in lines], "D", color="#d9730d", markersize=4, label="truth")
    axis.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axis.set_xticks(place, [str(line.labels) for line in lines])
