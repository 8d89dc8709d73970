"""Pictures as part of the page: the same bytes for the same report."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Picture:
    """Address of the data, the text in its place, and the caption below it."""

    source: str
    alternative: str
    caption: str


def picture(draw: Callable[[], Axes], alternative: str, caption: str) -> Picture:
    """A drawing, as an address, in our own style, whatever the reader's; ``draw`` makes the axes on a figure of its own."""
    return Picture(f"data:image/svg+xml;base64,{_drawing(draw)}", alternative, caption)


def _drawing(draw: Callable[[], Axes]) -> str:
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the reader's own styles would change the bytes
        # Text stays text: browsers have fonts for scripts that matplotlib's own lacks (and warns about).
        mpl.rcParams.update({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none"})
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = draw().get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is found; to save it would be to look for it twice more
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(buffer.getvalue()).decode("ascii")
