"""The page of the experiment on disagreement feedback, and its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.tallies.disagreement_rates import Bounds

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
CONDITIONS = {"no_race": "race of the defendant not shown", "race": "race of the defendant shown"}
READING = (
    "With two labels a critic who disagrees has the other label in mind, so every rate follows from disagreement alone and the "
    "sharp bounds are the rate itself. The published bounds leave most of the range open and the published estimate, half "
    "the spread of the lower bounds, is off by about half of what it estimates. Everything that lies outside the published bounds "
    "lies there because Proposition 5 has its inequality reversed: turned round, not one rate and not one difference is left "
    "outside. The paper puts such violations down to critics who depart from the rule of Bayes; bounds that are identities of "
    "frequencies cannot be violated by how people think. With two labels the largest difference is the same number for all "
    "three notions, and the published estimates of equal opportunity and overall misclassification are the same as well; the "
    "paper prints different errors for the two, which these formulas on one set of critics cannot give, so something in its "
    "experiment is not stated."
)
"""What the numbers show; a test holds the committed page to it."""


@dataclass(frozen=True)
class Panel:
    """One panel of the figure, critics in the order of the truth: arrays (critic,)."""

    title: str
    truth: FloatArray
    published: Bounds


def page(
    lines: Sequence[Line], pooled: Mapping[tuple[str, str], xr.Dataset], figures: Mapping[str, str], *, seed: int
) -> str:
    """Write the experiment as a Markdown page.

    Parameters
    ----------
    lines : sequence of Line
        The comparison critic by critic.
    pooled : mapping from (condition, attribute) to xr.Dataset
        Confidence sets of equal opportunity for all critics together, and ``naive``, as if judgements were independent.
    figures : mapping from condition to file name
        Beside the page.
    seed : int
        Of the bootstrap.

    Returns
    -------
    str
    """
    text = [
        "# Disagreement feedback: 400 critics of COMPAS",
        "",
        "Made by `python -m examples.published.disagreement.disagreement --data FOLDER/dressel_farid --output docs/examples/disagreement.md "
        f"--record tests/recovery/records/disagreement.csv --seed {seed}`.",
        "",
        "The system is COMPAS, which says high or low risk. A critic is one of the participants of Dressel and Farid (2018), "
        "400 in each of two conditions, who judged 50 of 1,000 defendants each. Feedback is whether critic and system "
        "differ; which label the critic had in mind is kept aside as the truth. Subgroups are Black and White defendants, "
        "or women and men. A critic counts where all rates exist.",
        "",
        "## The largest difference between subgroups, critic by critic",
        "",
        "`error` is the mean absolute error, over critics, of the middle of the bounds as an estimate of the largest difference.",
        "",
        "| condition | subgroups | notion | critics | mean difference | mean published estimate | published error | "
        "in the paper | sharp error |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {line.condition} | {line.attribute} | {NAMES[line.notion]} | {line.critics} | {line.truth:.3f} | "
            f"{line.published_estimate:.3f} | {100 * line.published_error:.1f} % | {PUBLISHED_ERRORS[line.notion]} % | "
            f"{100 * line.sharp_error:.1f} % |"
            for line in lines
        ),
        "",
        "## What lies outside its bounds",
        "",
        "`turned` is the published bound with Proposition 5 turned round. Rates are counted per critic, label and subgroup.",
        "",
        "| condition | subgroups | notion | rates | published | turned | sharp | differences | published | turned | sharp |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(_violations(line) for line in lines),
        "",
        explained(lines),
    ]
    for condition, file in figures.items():
        text += [
            "",
            f"![Largest difference and its published bounds, {CONDITIONS[condition]}]({file})",
            "",
            f"*{CONDITIONS[condition].capitalize()}. Grey: the largest difference, critics in its order, which the sharp bounds "
            "equal. Blue: the published bounds. Orange: the published estimate.*",
        ]
    text += [
        "",
        "## All critics together",
        "",
        "The rate at which COMPAS gives the label that the critic has in mind (equal opportunity), with 95 % confidence "
        "sets from resampling critics and defendants. The last column is the half-width if the judgements were independent.",
        "",
        "| condition | subgroup | label | rate | 95 % set | half-width | as if independent |",
        "|---|---|---|---|---|---|---|",
        *(row for (condition, _), found in pooled.items() for row in _pooled(condition, found)),
        "",
        "## Reading",
        "",
        READING,
    ]
    return "\n".join(text) + "\n"


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


def _violations(line: Line) -> str:
    rates = (line.violated_rates, line.turned_violated_rates, line.sharp_violated_rates)
    differences = (line.violated, line.turned_violated, line.sharp_violated)
    first, second = (" | ".join(f"{100 * share:.1f} %" for share in shares) for shares in (rates, differences))
    return f"| {line.condition} | {line.attribute} | {NAMES[line.notion]} | {line.rates} | {first} | {line.critics} | {second} |"


def _pooled(condition: str, found: xr.Dataset) -> list[str]:
    rows = []
    for subgroup in found["subgroup"].values:
        for label in found["label"].values:
            one = found.sel(subgroup=subgroup, label=label, level=0.95)
            low, high = float(one["confidence_lower"]), float(one["confidence_upper"])
            rows.append(
                f"| {condition} | {subgroup} | {label} | {float(one['lower']):.3f} | {low:.3f} to {high:.3f} | "
                f"{(high - low) / 2:.3f} | {float(one['naive']):.3f} |"
            )
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
