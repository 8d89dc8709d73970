"""Pictures of the studies as SVG, the same bytes for the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def style() -> AbstractContextManager[None]:
    """Settings to draw and save under.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> with style():
    ...     mpl.rcParams["font.size"]
    8.0
    """
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 8})


def panels(rows: int, columns: int, size: tuple[float, float], *, shared: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure that pyplot does not know, and its panels row by row.

    Parameters
    ----------
    rows, columns : int
    size : (width, height)
        In inches.
    shared : bool
        Whether all panels have the same axes.

    Examples
    --------
    >>> len(panels(2, 3, (6.0, 4.0))[1])
    6
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    FigureCanvasSVG(figure)
    return figure, list(figure.subplots(rows, columns, sharex=shared, sharey=shared, squeeze=False).ravel())


def save(figures: Mapping[str, Figure], folder: Path) -> None:
    """Write figures by the names of their files."""
    folder.mkdir(parents=True, exist_ok=True)
    with style():
        for name, figure in figures.items():
            figure.savefig(folder / name, metadata={"Date": None})
