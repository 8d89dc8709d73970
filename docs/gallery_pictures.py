"""How the gallery finds the picture of a script: as its variable ``figure``, for our figures are not known to pyplot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

DOTS = 150
"""Per inch."""


def pictures(block: object, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that a block made, and the text that shows it; empty where it made none."""
    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    place = Path(next(block_vars["image_path_iterator"]))
    figure.savefig(place, dpi=DOTS)
    return str(figure_rst([str(place)], gallery_conf["src_dir"]))
