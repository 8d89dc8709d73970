"""Commands from questions: options from the signature of the function, help from its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, REPORT, AnswerOptions, ReportOptions, TallyFile
from bayesgroups.cli.questions.exceptions import WITHOUT_OPTION
from bayesgroups.cli.questions.question import Question, Table, as_it_is
from bayesgroups.cli.results import check_form
from bayesgroups.cli.signatures import REQUIRED, Argument, Function, function_of
from bayesgroups.cli.values import number_or_word, pairs, sequence

if TYPE_CHECKING:
    import xarray as xr

ASKED = ("source", "tally", "report")
"""Parameters for the tally or the report that a question is about."""
SEED = 0
"""Where a function wants a seed, its command has one: the same line prints the same numbers."""
LITERAL: Any = Literal


@dataclass(frozen=True)
class Option:
    """An option of a command, as Cyclopts takes it, and the function that makes the argument of its value."""

    parameter: inspect.Parameter
    read: Callable[[Any], Any] = as_it_is


def command_of(question: Question) -> Callable[..., int]:
    """The function behind a command, which returns the exit code, with a signature that Cyclopts reads."""
    functions = [function_of(path) for path in (question.function, *question.steps)]
    options = options_of(question, functions)
    kind: Any
    default: Any
    name, kind, default = "output", TallyFile, inspect.Parameter.empty
    if question.report or question.table is not None:
        name, kind, default = ("form", ReportOptions, REPORT) if question.report else ("answer", AnswerOptions, ANSWER)
    last = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
    parameters = [*(option.parameter for option in options.values()), last]
    signature = inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))

    def command(*files: Path, **words: Any) -> int:
        given = signature.bind(*files, **words)
        given.apply_defaults()
        return _answered(question, functions, options, given.arguments)

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    command.__name__ = question.name
    return command


def options_of(question: Question, functions: Iterable[Function]) -> dict[str, Option]:
    """The options of a command by the names of their parameters; those of a reader in place of what it reads.

    A TypeError if a parameter has neither a type that a shell can give, nor a reader, nor a reason to be without an option.
    """
    options: dict[str, Option] = {}
    asked = [(function, argument) for function in functions for argument in function.arguments]
    readers = dict(question.reads)
    for function, argument in asked:
        if argument.name in question.reads:
            added = _of_reader(readers.pop(argument.name)) if argument.name in readers else {}
        elif f"{function.name}.{argument.name}" in WITHOUT_OPTION:
            continue
        elif argument.annotation is None:
            raise TypeError(f"{function.name}: {argument.name} has no option; give it a reader or a reason")
        elif argument.name in options and argument.default is REQUIRED:
            continue
        else:
            added = {argument.name: _of_argument(argument, question.spelled.get(argument.name))}
        for name, option in added.items():
            if name not in options or options[name].parameter.default is inspect.Parameter.empty:
                options[name] = option
    for reader in readers.values():
        options |= _of_reader(reader)
    return options


def _of_reader(reader: Callable[..., Any]) -> dict[str, Option]:
    """The file of a reader, which is positional on the command line too, and its options."""
    kinds: dict[object, Any] = {
        inspect.Parameter.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.POSITIONAL_OR_KEYWORD: inspect.Parameter.KEYWORD_ONLY,
    }
    parameters = inspect.signature(reader).parameters.items()
    return {
        name: Option(parameter.replace(kind=kinds.get(parameter.kind, parameter.kind)))
        for name, parameter in parameters
    }


def _of_argument(argument: Argument, spelled: str | None) -> Option:
    """The option of an argument; a sequence is named by one of its elements and repeated."""
    kind, default, read, shown = argument.annotation, argument.default, as_it_is, argument.help
    option = spelled or f"--{argument.name.replace('_', '-')}"
    if default is REQUIRED and argument.name == "seed":
        default = SEED
    alternatives, origin = get_args(kind) if not _is_sequence(kind) else (), get_origin(kind)
    negative = None if kind is bool else ()
    if _is_sequence(kind):
        read = partial(sequence, undefined=default)
        option = spelled or option.removesuffix("s")
        default = () if default is None else default
        shown = f"{shown} Repeat it for several."
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        read = partial(pairs, option=option, kind=get_args(kind)[1])
        kind, default = tuple[str, ...], ()
        shown = f"{shown} As name=value. Repeat it for several."
    elif get_origin(kind) is not Literal and any(get_origin(each) is Literal for each in alternatives):
        words = tuple(word for each in alternatives if get_origin(each) is Literal for word in get_args(each))
        words += ("none",) if argument.optional and default is not None else ()
        read = partial(number_or_word, option=option, words=words)
        kind, default = str, default if isinstance(default, str) else f"{default:g}"
        shown = f"{shown} A number, or one of: {', '.join(words)}."
    elif argument.optional:
        kind = kind | None
    if argument.words:  # former words are understood and not offered
        shown = f"{shown} One of: {', '.join(get_args(argument.annotation))}."
        kind, read = LITERAL[(*get_args(argument.annotation), *argument.words)], partial(_present, words=argument.words)
    told = Parameter(
        name=option,
        alias=(f"--{argument.former.replace('_', '-')}",) if argument.former else (),
        help=shown,
        negative=negative,
        show_choices=not argument.words,
        show_default=default not in ((), None) and kind is not bool,
    )
    parameter = inspect.Parameter(
        argument.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[kind, told],
        default=inspect.Parameter.empty if default is REQUIRED else default,
    )
    return Option(parameter, read)


def _present(word: str, *, words: Mapping[str, str]) -> str:
    return words.get(word, word)


def _is_sequence(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis


def _answered(
    question: Question, functions: list[Function], options: Mapping[str, Option], given: Mapping[str, Any]
) -> int:
    """Read what is to be read, ask the function, and show or write its answer."""
    if question.table is not None:
        check_form(given["answer"])
    if question.report:
        from bayesgroups.report.view import check_level

        check_level(given["form"].level)
    read = {name: _read(reader, given) for name, reader in question.reads.items()}
    values = {name: option.read(given[name]) for name, option in options.items()} | read
    asked, *steps = (
        (function.load(), {each.name: values[each.name] for each in function.arguments if each.name in values})
        for function in functions
    )
    names = {argument.name for function in functions for argument in function.arguments}
    more = {name: value for name, value in read.items() if name not in names}
    answer = question.ask(asked[0], asked[1] | more, *(partial(step, **filled) for step, filled in steps))
    if question.report:
        from bayesgroups.cli.estimate import deliver
        from bayesgroups.cli.invocations import signed

        return deliver(signed(answer), given["form"])
    if question.table is None:
        from bayesgroups.cli.tally import wrote

        return wrote(answer, given["output"])
    asked_of = next((read[name] for name in ASKED if name in read), None)
    return _shown(question.name, question.table, answer, given["answer"], list(read.values()), asked_of)


def _read(reader: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    bound = inspect.signature(reader).bind_partial()
    bound.arguments |= {name: given[name] for name in bound.signature.parameters}
    return reader(*bound.args, **bound.kwargs)


def _shown(name: str, table: Table, answer: Any, wanted: AnswerOptions, read: list[Any], asked_of: Any) -> int:
    from bayesgroups.cli import results
    from bayesgroups.cli.sizes import numbers_of_rows, with_sizes

    prepared = table.prepare(answer)
    printed, columns = table.printed(prepared), table.columns
    values = [column if isinstance(column, str) else column[0] for column in columns.values()]
    dims = {dim for value in values if value in prepared for dim in prepared[value].dims}
    along = next((dim for dim in table.along.split() if dim in dims), None)
    if "level" in printed.dims and along != "level":
        printed = printed.sel(level=printed["level"].values.max())  # tables have one level, files have all
    if along == "subgroup":
        printed, columns = with_sizes(printed, columns, asked_of)
    return results.publish(
        prepared, table.question(prepared) if table.question else name, wanted, rows=along, columns=columns,
        source=_source(read), shown=_labels(read), printed=printed, order=table.order,
        notes=[*table.notes(prepared), *numbers_of_rows(prepared, table.columns, asked_of)],
    )  # fmt: skip


def _labels(read: Iterable[Any]) -> dict[str, str]:
    """Labels of the tally or report that was asked, as people read them; answers can name subgroups without having them."""
    import xarray as xr

    from bayesgroups.tallies.labels import shown_labels

    for value in read:
        table = value["constant_data"].to_dataset() if isinstance(value, xr.DataTree) else value
        if isinstance(table, xr.Dataset) and "subgroup" in table.dims:
            return shown_labels(table)
    return {}


def _source(read: Iterable[Any]) -> xr.DataTree | None:
    """The report behind an answer, one that is not usable where there is such."""
    import xarray as xr

    values = [inner for value in read for inner in (value.values() if type(value) is dict else [value])]
    reports = [value for value in values if isinstance(value, xr.DataTree)]
    return next((report for report in reports if not int(report.attrs["usable"])), reports[0] if reports else None)
