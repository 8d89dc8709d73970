"""Sphinx settings: ``python -m sphinx -W -b html docs docs/_build/html``, offline."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bayesgroups import __version__

project = "bayesgroups"
author = "The bayesgroups developers"
release = version = __version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery", "output_tables",
]  # fmt: skip
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # autosummary writes .rst
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
suppress_warnings: list[str] = []

# The gallery runs the scripts of examples/gallery; a script that fails stops the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "image_scrapers": ("gallery_pictures.pictures",),
    "capture_repr": (),
    "reset_modules": (),
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "within_subsection_order": "FileNameSortKey",
}

html_extra_path = ["llms.txt"]
html_theme = "pydata_sphinx_theme"
html_title = "bayesgroups"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options: dict[str, object] = {
    "show_prev_next": False, "secondary_sidebar_items": ["page-toc"], "header_links_before_dropdown": 6,
}  # fmt: skip
# Pages without neighbours have no list of them.
alone = ["architecture", "benchmarks", "errata", "glossary", "how-to-choose", "i_want_to", "index", "papers", "records"]
html_sidebars: dict[str, list[str]] = {page: [] for page in [*alone, "paper/paper"]}

# Built for several versions by .ci/docs_versions, the pages have a switch between them.
if os.environ.get("BAYESGROUPS_DOCS_VERSION"):
    html_theme_options |= {
        "switcher": {"json_url": "../versions.json", "version_match": os.environ["BAYESGROUPS_DOCS_VERSION"]},
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher"],
    }

# Links into other projects need the network, so they are made only when asked for.
if os.environ.get("BAYESGROUPS_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "xarray": ("https://docs.xarray.dev/en/stable", None),
        "arviz": ("https://python.arviz.org/en/stable", None),
        "pymc": ("https://www.pymc.io/projects/docs/en/stable", None),
    }
