"""The figure of how to choose: which word for how many subgroups and rows.

    python -m examples.comparisons.choice_figure --record docs/choice.csv --output docs

writes ``choice.svg``. In every cell stands the simplest word whose error is within 5 % of the smallest, among those whose 95 %
intervals cover at least 90 %, as far as the number of replications can tell. One value for all is no answer about subgroups and
is left out.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from examples.pictures import panels, save, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, str]

# Okabe and Ito (2008), "Color Universal Design".
BLUE, GREEN, GREY, INK = "#0072B2", "#009E73", "#999999", "#1B1F24"

COVERS = 0.90
"""Coverage of 95 % intervals that a word must have to be taken."""
ERROR_TOLERANCE = 0.05
"""Words whose error is larger by so much are as good, and the simplest of them is taken."""
SIMPLEST_FIRST = {
    "alone": ("NoPooling", GREY),
    "partial_pooling": ("PartialPooling", GREEN),
    "crossed_effects": ("CrossedEffects", BLUE),
}
"""Classes and colours by words, the simplest first."""
TITLES = {
    "shared": "Attributes explain half of the differences",
    "apart": "Subgroups have nothing in common",
}


class Choice(NamedTuple):
    """The word of a cell, and its mean absolute error relative to that of each subgroup's own rate."""

    word: str
    error: float


def choices(lines: Sequence[Row], world: str) -> dict[tuple[int, int], Choice]:
    """The word of every (subgroups, rows); what has one attribute only belongs to both worlds.

    Examples
    --------
    >>> line = {"world": "apart", "subgroups": "8", "rows": "10", "coverage": "0.95", "pairs": "72"}
    >>> chosen = choices([line | {"word": "alone", "error": "1"}, line | {"word": "partial_pooling", "error": "0.6"}], "apart")
    >>> chosen[8, 10].word
    'partial_pooling'
    """
    here = {(int(line["subgroups"]), int(line["rows"])) for line in lines if line["world"] == world}
    kept = [line for line in lines if line["world"] == world]
    kept += [line for line in lines if (int(line["subgroups"]), int(line["rows"])) not in here]
    cells: dict[tuple[int, int], dict[str, float]] = {}
    for line in kept:
        if line["word"] == "alone" or (line["word"] in SIMPLEST_FIRST and _covers(line)):
            cells.setdefault((int(line["subgroups"]), int(line["rows"])), {})[line["word"]] = float(line["error"])
    return {cell: _chosen(errors) for cell, errors in sorted(cells.items())}


def _covers(line: Row) -> bool:
    """True if coverage is not below its level by more than two standard errors."""
    error = math.sqrt(COVERS * (1 - COVERS) / int(line["pairs"]))
    return float(line["coverage"]) + 2 * error >= COVERS


def _chosen(errors: Mapping[str, float]) -> Choice:
    most = min(errors.values()) * (1 + ERROR_TOLERANCE)
    word = next(word for word in SIMPLEST_FIRST if word in errors and errors[word] <= most)
    return Choice(word, errors[word])


def figure(lines: Sequence[Row]) -> Figure:
    """Both worlds side by side.

    Parameters
    ----------
    lines : sequence of mappings
        The record of `examples.comparisons.choice`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.patches import Patch

    drawn, axes = panels(1, 2, (8.4, 3.6))
    used: set[str] = set()
    for axis, (world, title) in zip(axes, TITLES.items(), strict=True):
        chosen = choices(lines, world)
        _map(axis, chosen)
        used |= {choice.word for choice in chosen.values()}
        axis.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axis.set_xlabel("rows per subgroup", fontsize=9)
    axes[0].set_ylabel("subgroups", fontsize=9)
    handles = [Patch(color=colour, label=name) for word, (name, colour) in SIMPLEST_FIRST.items() if word in used]
    drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    return drawn


def _map(axis: Axes, chosen: Mapping[tuple[int, int], Choice]) -> None:
    """Tiles in the colours of words, the paler the less is gained, with the error in each."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    ups, across = sorted({cell[0] for cell in chosen}), sorted({cell[1] for cell in chosen})
    for (subgroups, rows), choice in chosen.items():
        x, y = across.index(rows), ups.index(subgroups)
        deep = min(1.0, max(0.28, 1.9 * (1 - choice.error))) if choice.word != "alone" else 0.28
        colour = tuple(1 - deep * (1 - part) for part in to_rgb(SIMPLEST_FIRST[choice.word][1]))
        tile = FancyBboxPatch((x - 0.46, y - 0.45), 0.92, 0.9, boxstyle="round,pad=0,rounding_size=0.08", color=colour)
        axis.add_patch(tile)
        dark = 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2] < 0.55
        ink, short = (
            "white" if dark else INK,
            SIMPLEST_FIRST[choice.word][0].removesuffix("Pooling").removesuffix("Effects"),
        )
        axis.text(x, y + 0.1, f"{choice.error:.2f}", ha="center", va="center", fontsize=9.5, color=ink)
        axis.text(x, y - 0.24, short, ha="center", va="center", fontsize=6.5, color=ink)
    axis.set_xlim(-0.55, len(across) - 0.45)
    axis.set_ylim(-0.55, len(ups) - 0.45)
    axis.set_xticks(range(len(across)), [f"{rows:,}" for rows in across], fontsize=9)
    axis.set_yticks(range(len(ups)), [str(subgroups) for subgroups in ups], fontsize=9)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figure."""
    program = "python -m examples.comparisons.choice_figure"
    parser = argparse.ArgumentParser(prog=program, description="Which word for how many subgroups and rows.")
    parser.add_argument("--record", type=Path, required=True, help="the record of choice")
    parser.add_argument("--output", type=Path, required=True, help="the folder for choice.svg")
    given = parser.parse_args(arguments)
    with given.record.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    with style():
        drawn = figure(lines)
    save({"choice.svg": drawn}, given.output)


if __name__ == "__main__":
    main()
