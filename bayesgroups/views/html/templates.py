"""The templates beside the pages, with the style and the script that every page carries."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup


def filled(template: str, content: dict[str, Any]) -> str:
    """A page of its content, every text of which is escaped; style and script are files of the package without data in them."""
    script = _file("table.js")
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(_file("style.css")),
            script=Markup(script),
            script_hash=Markup(base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")),
            **content,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """Templates that are compiled once in a process: that takes as long as to fill them."""
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, loader=jinja2.FunctionLoader(_file),
    )  # fmt: skip


def _file(name: str) -> str:
    return resources.files("bayesgroups.views.html").joinpath(name).read_text("utf-8")
