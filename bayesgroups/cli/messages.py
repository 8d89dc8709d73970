"""Messages of the package in the words of the command line: ``y_true=`` of Python is ``--y-true`` here."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

SINGULAR = {
    "metrics": "metric", "features": "feature", "row_covariates": "row_covariate", "covariates": "row_covariate",
    "names": "level_name",
}  # fmt: skip
"""Parameters of Python functions by the options of the rows that give them one by one."""
OUTSIDE_ANALYSES = {"outputs_anywhere": "--outputs-anywhere"}
"""Options of commands that read an analysis, for which it has no key."""
PHRASES = {
    "give a mapping such as {('race',): frame, ('sex', 'age'): frame}":
        "give each as a table to bayesgroups poststratify, as --margin race.csv --margin sex_age.csv",
}  # fmt: skip
"""What Python alone can be given, and what a shell gives in its place."""
_VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|-?\d[\w.\-]*|-?\w+"
_ARGUMENT = re.compile(rf"(?<![\w.\-])(?P<name>[a-z][a-z_]*)=(?!=)(?P<value>{_VALUE})?")
_CALL = re.compile(r"(?:bg|bayesgroups(?:\.\w+)*)\.(?P<name>\w+)\((?P<arguments>[^()]*)\)")


def no_options(name: str) -> Mapping[str, str]:
    """No options of a command that is told to be typed."""
    return {}


def spoken(
    message: str,
    options: Mapping[str, str],
    calls: Mapping[str, str],
    options_of_call: Callable[[str], Mapping[str, str]] = no_options,
) -> str:
    """A message with options in place of arguments, and commands in place of calls.

    ``options`` has options by the names of parameters, ``calls`` what is typed by the name of a function or a class, and
    ``options_of_call`` gives the options of a command that is to be typed, by the name of its function.

    >>> options = {"by": "--by", "y_true": "--y-true", "confusion": "--confusion", "tau_scale": "--set tau_scale="}
    >>> spoken("name one, as by=['sex', 'age']; y_true= is not given", options, {})
    'name one, as --by sex --by age; --y-true is not given'
    >>> spoken("make it with bg.tally(..., confusion=True)", options, {"tally": "bayesgroups tally"})
    'make it with bayesgroups tally ... --confusion'
    >>> spoken("PartialPooling: tau_scale=-1 must be positive", options, {})
    'PartialPooling: --set tau_scale=-1 must be positive'
    """

    def argument(match: re.Match[str], names: Mapping[str, str] = options) -> str:
        name = match["name"]
        option = names.get(name) or names.get(SINGULAR.get(name, name))
        return match[0] if option is None else _typed(option, match["value"])

    def call(match: re.Match[str]) -> str:
        typed = calls.get(match["name"])
        if typed is None:
            return match[0]
        form = "--set {}=".format if typed.startswith("--estimator") else None
        names = options if form else {**options, **options_of_call(match["name"])}
        words = [
            _typed(form(each["name"]), each["value"]) if form else argument(each, names)
            for each in _ARGUMENT.finditer(match["arguments"])
        ]
        return " ".join([typed, *(["..."] if "..." in match["arguments"] else []), *words])

    for phrase, typed in PHRASES.items():
        message = message.replace(phrase, typed)
    return _ARGUMENT.sub(argument, _CALL.sub(call, message))


def options_of(command: App) -> dict[str, str]:
    """Options of a command by their parameters, those of the rows, which the tally has, and settings of estimators.

    Only `OUTSIDE_ANALYSES` for a command that reads an analysis, whose keys are the other arguments themselves.
    """
    from dataclasses import fields
    from inspect import signature

    from bayesgroups.cli.options import RowOptions
    from bayesgroups.estimators import ESTIMATORS

    arguments = command.assemble_argument_collection(parse_docstring=False) if command.default_command else []
    if any(argument.field_info.name == "analysis" for argument in arguments):
        return dict(OUTSIDE_ANALYSES)
    options = {field.name: f"--{field.name.replace('_', '-')}" for field in fields(RowOptions)}
    if any(argument.field_info.name == "settings" for argument in arguments):
        settings = {name for estimator in ESTIMATORS for name in signature(estimator).parameters}
        options |= {name: f"--set {name}=" for name in sorted(settings - set(options))}
    for argument in sorted(
        arguments, key=lambda each: -len(each.keys)
    ):  # of two the command's own, not that of the rows
        names = [name for name in argument.names if name.startswith("--") and name != "--set"]
        if names:
            options[argument.field_info.name] = names[0]
    return options


def calls_of(app: App) -> dict[str, str]:
    """Commands by the names of their functions, and estimators by the names of their classes."""
    from bayesgroups.estimators import ESTIMATORS

    commands = {name.replace("-", "_"): f"{app.name[0]} {name}" for name in app if not name.startswith("-")}
    return commands | {estimator.__name__: f"--estimator {estimator.word}" for estimator in ESTIMATORS}


def _typed(option: str, value: str | None) -> str:
    """An option with its value, as a shell takes it: a sequence is repeated, a flag has no value."""
    if value is None:
        return option.removesuffix("=") if option.startswith("--set") else option
    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return f"{option.removesuffix('=')} {value}"
    if option.endswith("="):
        return f"{option}{given}"
    if isinstance(given, list | tuple) and Ellipsis in given:
        return f"{option} ..."
    if isinstance(given, bool):
        return option if given else f"--no-{option.removeprefix('--')}"
    if isinstance(given, dict):
        return " ".join(f"{option} {name}={item}" for name, item in given.items()) or option
    if isinstance(given, list | tuple):
        words = [" ".join(map(str, given))] if isinstance(given, tuple) else [str(item) for item in given]
        return " ".join(f"{option} {_quoted(word) if isinstance(given, list) else word}" for word in words) or option
    return f"{option} {_quoted(str(given))}"


def _quoted(word: str) -> str:
    return f"'{word}'" if not word or " " in word else word
