"""The public surface: names with their parameters, commands with their options, extras."""

from __future__ import annotations

import inspect
import pkgutil
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from bayesgroups.cli import app

ROOT = Path(__file__).parents[1]
MODULES = ("datasets", "frequentist", "interop", "metrics", "models", "plots")
"""Modules of the package that are public."""
ENTRY_POINTS = ("build", "estimate")
"""What a model and a frequentist reference are called by, in a module of their own."""


@cache
def names() -> dict[str, list[str]]:
    """Parameters of every public function and class by ``module.name``; none of what cannot be called."""
    import bayesgroups

    surface = {name: _parameters(getattr(bayesgroups, name)) for name in bayesgroups.__all__}
    for module in map(_module, MODULES):
        room = module.__name__.rpartition(".")[2]
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and not inspect.ismodule(value) and _of_the_package(value):
                surface[f"{room}.{name}"] = _parameters(value)
        for leaf in pkgutil.iter_modules(getattr(module, "__path__", ())) if room in {"frequentist", "models"} else ():
            for entry in ENTRY_POINTS:
                if hasattr(_module(f"{room}.{leaf.name}"), entry):
                    value = getattr(_module(f"{room}.{leaf.name}"), entry)
                    surface[f"{room}.{leaf.name}.{entry}"] = _parameters(value)
    return dict(sorted(surface.items()))


def _module(name: str) -> ModuleType:
    import bayesgroups

    module: ModuleType = getattr(bayesgroups, name.split(".", maxsplit=1)[0])
    return import_module(f"{module.__name__}.{name.split('.', 1)[1]}") if "." in name else module


def _of_the_package(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("bayesgroups")


def _parameters(value: object) -> list[str]:
    if not callable(value) or (isinstance(value, type) and issubclass(value, Exception)):
        return []
    return list(inspect.signature(value).parameters)


@cache
def commands() -> dict[str, list[str]]:
    """Every option of every command."""
    surface = {}
    for command in app:
        if command.startswith("-"):
            continue
        arguments = app[command].assemble_argument_collection(parse_docstring=False)
        surface[command] = sorted({name for argument in arguments for name in argument.names})
    return dict(sorted(surface.items()))


def extras() -> list[str]:
    """The extras that can be installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])
