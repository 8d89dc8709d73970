"""Paths among the arguments of a command: the files it writes, and those it reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from bayesgroups.cli.options import Role
from bayesgroups.data.file_names import Format, check_ending

STORED: dict[Role | None, tuple[str, Format]] = {
    Role.TALLY: ("a tally", "NetCDF4"),
    Role.REPORT: ("a report", "NetCDF4"),
    Role.PAGE: ("a page", "HTML"),
}
"""Files of one format, whatever their names."""
WRITTEN = {Role.WRITTEN, *STORED}


def check_paths(command: Callable[..., Any], bound: inspect.BoundArguments) -> None:
    """Refuse outputs of a command that is about to run, before it reads or computes anything.

    They must lie in a folder that one can write in, no output may be an input, and tallies, reports and pages have no name of
    another format; see `bayesgroups.data.outputs` and `bayesgroups.data.file_names`.
    """
    if inspect.ismethod(command):  # help, version and completion, which name no file
        return
    paths = list(_paths(command, bound.arguments))
    outputs = [path for path, role in paths if role in WRITTEN]
    if outputs:
        from bayesgroups.data.outputs import check_outputs

        check_outputs(outputs, [path for path, role in paths if role is None])
        for path, role in paths:
            if role in STORED:
                check_ending(path, *STORED[role])


def _paths(command: Any, arguments: dict[str, Any]) -> Iterator[tuple[Path, Role | None]]:
    hints = get_type_hints(command, include_extras=True)
    for name, value in arguments.items():
        if is_dataclass(value) and not isinstance(value, type):
            yield from _paths(type(value), vars(value))
            continue
        role = _role(hints.get(name))
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Path):
                yield item, role


def _role(annotation: Any) -> Role | None:
    """The role that an annotation carries, also inside of a union with None."""
    for part in get_args(annotation):
        role = part if isinstance(part, Role) else _role(part)
        if role is not None:
            return role
    return None
