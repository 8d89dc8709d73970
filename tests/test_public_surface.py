"""No public name, parameter, option or extra is lost: `tests/golden/public_surface.json` has those of version 0.1.0."""

from __future__ import annotations

import json
import warnings
from importlib import import_module

import pytest

import bayesgroups as bg
from bayesgroups.forwarding import MOVED_MODULES, MOVED_NAMES, SHORT_NAMES
from tests.public_surface import ROOT, commands, extras, names

FORMER = json.loads((ROOT / "tests" / "golden" / "public_surface.json").read_text(encoding="utf-8"))
LEFT = {f"datasets.{name}" for name in bg.datasets.LEFT} | {"metrics.InputError", "metrics.near_misses"}
"""Names that left the package, and two that were never those of their module."""
RENAMED_ROOMS = {"neighbours": "interop"}
RENAMED_PARAMETERS = {"approach": "using", "part": "using", "side": "using"}
"""Parameters of functions by their former names."""
RENAMED_OPTIONS: dict[str, str] = {}
"""Options of commands by their former names."""


def _present(name: str) -> str:
    room, _, rest = name.rpartition(".")
    return f"{RENAMED_ROOMS.get(room, room)}.{rest}" if room else rest


@pytest.mark.filterwarnings("ignore:.* now:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(set(FORMER["names"]) - LEFT))
def test_a_name_and_its_parameters_are_there(name: str) -> None:
    if name in MOVED_NAMES:
        assert callable(getattr(bg, name))
        return
    if name in MOVED_MODULES:
        assert getattr(bg, name) is import_module(f"bayesgroups.{MOVED_MODULES[name]}")
        return
    today = names()
    assert _present(name) in today, f"bayesgroups.{name} is gone"
    lost = {RENAMED_PARAMETERS.get(parameter, parameter) for parameter in FORMER["names"][name]}
    assert lost <= set(today[_present(name)])


@pytest.mark.parametrize("command", sorted(FORMER["commands"]))
def test_a_command_and_its_options_are_there(command: str) -> None:
    today = commands()
    assert command in today
    options = {RENAMED_OPTIONS.get(option, option) for option in FORMER["commands"][command] if option.startswith("-")}
    assert options <= set(today[command])


def test_extras_are_there() -> None:
    assert set(FORMER["extras"]) <= set(extras())


@pytest.mark.parametrize("name", sorted(set(MOVED_MODULES) - set(SHORT_NAMES)))
def test_a_module_is_found_by_its_former_name_with_a_warning(name: str) -> None:
    import sys

    sys.modules.pop(f"bayesgroups.{name}", None)
    with pytest.warns(DeprecationWarning, match=rf"^bayesgroups\.{name} is bayesgroups\.{MOVED_MODULES[name]} now$"):
        module = import_module(f"bayesgroups.{name}")
    assert module is import_module(f"bayesgroups.{MOVED_MODULES[name]}")
    assert module.__spec__ is not None
    assert module.__spec__.name == f"bayesgroups.{MOVED_MODULES[name]}"


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_short_names_of_modules_stay(name: str) -> None:
    with warnings.catch_warnings(action="error"):
        module = import_module(f"bayesgroups.{name}")
    assert module is getattr(bg, name)


def test_a_submodule_is_found_by_its_former_name() -> None:
    with pytest.warns(DeprecationWarning, match=r"questions\.tradeoffs\.areas now"):
        module = import_module("bayesgroups.tradeoffs.areas")
    assert module is import_module("bayesgroups.questions.tradeoffs.areas")


@pytest.mark.parametrize("name", sorted(MOVED_NAMES))
def test_a_function_is_found_by_its_former_name_with_a_warning(name: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=rf"^bayesgroups\.{name} is bayesgroups\.{MOVED_NAMES[name]}\.{name} now$"
    ):
        assert getattr(bg, name) is getattr(import_module(f"bayesgroups.{MOVED_NAMES[name]}"), name)


@pytest.mark.parametrize("name", bg.datasets.LEFT)
def test_a_loader_that_left_says_where_it_is(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} reads files .* take it from examples/published/data"):
        getattr(bg.datasets, name)


def test_an_unknown_name_of_datasets() -> None:
    with pytest.raises(AttributeError, match="'bayesgroups.datasets' has no attribute 'load_nothing'"):
        getattr(bg.datasets, "load_nothing")  # noqa: B009
