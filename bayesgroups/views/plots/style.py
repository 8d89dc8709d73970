"""One look for all pictures: colours that every kind of colour vision tells apart, sizes for page, paper and slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bayesgroups.errors import InputError
from bayesgroups.report.view import marked, plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure

    from bayesgroups.report.view import Side

# Okabe and Ito (2008), "Color Universal Design"; contrast with white is 3 or more, as graphics need (WCAG 2.2, 1.4.11).
BLUE, VERMILION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#008A65", "#B8568F", "#595959"
INK, BAND, RULE = "#1B1F24", "#F3F4F6", "#E5E7EB"
SEQUENCE = ((BLUE, "o"), (VERMILION, "D"), (GREEN, "s"), (PURPLE, "^"), (GREY, "v"), ("#9A6B00", "P"))
"""Colour and marker of the first, second ... of several."""

Size = Literal["page", "paper", "slides"]


@dataclass(frozen=True)
class Look:
    """Width in inches, letters and small letters in points, markers and lines in points."""

    width: float
    font: float
    small: float
    marker: float
    line: float


_LOOKS = {
    "page": Look(5.6, 10.0, 9.0, 5.0, 1.4),
    "paper": Look(3.4, 8.0, 7.0, 3.5, 1.0),
    "slides": Look(12.0, 18.0, 15.0, 9.0, 2.4),
}


def look(size: Size) -> Look:
    """Sizes of a picture for a page, for a column of a paper (3.4 inches) or for a slide (12 inches)."""
    if size not in _LOOKS:
        raise InputError(f"size {size!r} is not one of {', '.join(map(repr, _LOOKS))}")
    return _LOOKS[size]


MAX_WIDTH = 100
"""Widest figure, in inches."""


def new_figure(width: float, height: float) -> Figure:
    """A figure, in inches, that pyplot does not know."""
    if not 1 <= width <= MAX_WIDTH:
        raise InputError(f"width= must be a number of inches from 1 to {MAX_WIDTH}; got {width}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def begin(axes: Axes | None, shape: Look, height: float) -> Axes:
    """The axes given, or those of a new figure that pyplot does not know, its height a share of the width."""
    if axes is None:
        figure = new_figure(shape.width, height * shape.width * (1.3 if shape.width < 4 else 1.0))
        axes = figure.add_subplot()
    if not hasattr(axes, "spines"):
        raise InputError(f"axes= must be axes of Matplotlib; got a value of type {type(axes).__name__}")
    axes.spines[["right", "top"]].set_visible(False)
    axes.tick_params(labelsize=shape.small)
    axes.set_axisbelow(True)
    return axes


def short(label: str, length: int = 44) -> str:
    """A label that leaves room for the picture; the middle goes first, for both ends tell subgroups apart.

    >>> short("a very long name of a subgroup", 13)
    'a very…bgroup'
    """
    ends = (length - 1) // 2
    return label if len(label) <= length else f"{label[:ends]}…{label[-ends:]}"


def name(axes: Axes, shape: Look, *, title: str, x: str, y: str, beside: int = 0, usable: bool = True) -> None:
    """Put the title on the left and name the axes, with ``beside`` letters of labels left of them; nothing is read as a formula.

    The title of a picture of a fit that failed its diagnostics, and is not ``usable``, says so.
    """
    import textwrap

    room = int(72 * shape.width / (0.62 * shape.font))  # bold letters are about that wide
    taken = max(8, round(beside * shape.small / shape.font))
    title = textwrap.fill(marked(title, usable=usable), max(room - taken, 20))
    axes.set_title(title, loc="left", fontsize=shape.font + 1, fontweight="bold", parse_math=False)
    axes.set_xlabel(x, fontsize=shape.font, parse_math=False)
    axes.set_ylabel(y, fontsize=shape.font, parse_math=False)


def of_estimand(side: Side) -> str:
    """Estimand of an approach, as the end of a title; nothing where a report does not say."""
    return f" of the {plain(side.estimand)}" if side.estimand else ""


def left_out(number: int) -> list[Artist]:
    """An entry of the legend that says how many subgroups the picture is not about; none where it is about all."""
    from matplotlib.lines import Line2D

    if not number:
        return []
    return [Line2D([], [], ls="", marker="", label=f"left out, without rows: {number}")]


def explain(
    axes: Axes, shape: Look, handles: Sequence[Artist | Container], *, owns_figure: bool, columns: int = 2
) -> None:
    """A legend below: of the figure where it is our own, else of the axes."""
    figure = axes.get_figure()
    across = min(len(handles), columns) if shape.width > 4 else 1
    shown = list(handles)
    if owns_figure and figure is not None:
        figure.legend(handles=shown, loc="outside lower center", ncols=across, frameon=False, fontsize=shape.small)
    else:
        axes.legend(
            handles=shown, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=across, frameon=False, fontsize=shape.small
        )  # fmt: skip
