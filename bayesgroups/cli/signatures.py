"""Signatures and docstrings of functions, read from their source: a page of help imports neither xarray nor SciPy.

An annotation becomes the type of an option: numbers, text, Literal words, sequences of these (the option is repeated), pairs,
and mappings (given as name=value). Of a union the alternatives that cannot be typed in a shell (arrays, functions) drop out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib import import_module
from inspect import cleandoc
from operator import or_
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

PACKAGE = Path(__file__).parents[1]
TUPLE, MAPPING = cast("Any", tuple), cast("Any", Mapping)
"""Generic types that are made here, while the command line runs."""
REQUIRED: Any = object()
"""Default of a parameter that has none."""
PLAIN: Mapping[str, object] = {
    "str": str, "int": int, "float": float, "bool": bool, "object": str, "ArrayLike": tuple[float, ...],
}  # fmt: skip
"""Types of options; a label, which can be any object, is text in a shell."""


@dataclass(frozen=True)
class Argument:
    """A parameter of a function.

    ``annotation`` is a type that an option can have, or None; ``default`` is `REQUIRED` where there is none; ``optional`` is true
    if None is a value; ``help`` is its entry in the docstring. ``former`` is the name that it had, from the function's
    `bayesgroups.forwarding.renamed_keyword`, empty where there was none, and ``words`` are present values by their former words.
    """

    name: str
    annotation: Any
    default: Any
    optional: bool
    help: str
    former: str = ""
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Function:
    """A public function as its source has it: where it can be imported, and its arguments."""

    module: str
    name: str
    arguments: tuple[Argument, ...]

    def load(self) -> Callable[..., Any]:
        """The function itself, which imports its module."""
        return cast("Callable[..., Any]", getattr(import_module(self.module), self.name))


def function_of(path: str) -> Function:
    """Signature and docstring of a function, by module and name inside the package; a name from another module is followed.

    >>> margins = function_of("questions.certification.margins")
    >>> margins.module, [(argument.name, argument.annotation, argument.default) for argument in margins.arguments[1:]]
    ('bayesgroups.questions.certification.overlapping', [('order', <class 'int'>, None)])
    """
    module, node = _definition(*path.rpartition(".")[::2])
    if not isinstance(node, ast.FunctionDef):
        raise LookupError(f"bayesgroups.{path} is no function")
    entries = entries_of(ast.get_docstring(node) or "")
    names = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(names) - len(node.args.defaults)) + list(node.args.defaults)
    pairs = [*zip(names, defaults, strict=True), *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    renamed = _renamed(node)
    arguments = []
    for argument, default in pairs:
        kinds = _types(argument.annotation, module)
        value = REQUIRED if default is None else _value(default, module)
        text = _followed(entries.get(argument.arg, ""), argument.arg)
        former, words = renamed.get(argument.arg, ("", {}))
        arguments.append(Argument(argument.arg, _chosen(kinds), value, None in kinds, text, former, words))
    return Function(f"bayesgroups.{module}".rstrip("."), node.name, tuple(arguments))


def opening_of(path: str) -> str:
    """Opening of a function's docstring, up to its parameters, without parsing its module: the first page of help asks for all.

    >>> opening_of("questions.certification.overlapping.margins")
    'Tally every margin beside the intersections: women, Asian people and Asian women.'
    """
    module, _, name = path.rpartition(".")
    docstring = re.search(
        rf'^def {name}\(.*?^    r?"""(.*?)(?:^    (?:Parameters|Returns)\n|""")',
        _text(module),
        re.DOTALL | re.MULTILINE,
    )
    if docstring is None:
        raise LookupError(f"function {name!r} is not defined in the module bayesgroups.{module}")
    return markdown(cleandoc(docstring[1]))


def entries_of(docstring: str) -> dict[str, str]:
    r"""Entries of the parameters of a docstring in the numpydoc format.

    >>> entries_of("A sum.\n\nParameters\n----------\na, b : int\n    To be ``added``.\n")
    {'a': 'To be `added`.', 'b': 'To be `added`.'}
    """
    from docstring_parser import numpydoc

    entries = numpydoc.parse(docstring).params
    return {name.strip(): markdown(entry.description or "") for entry in entries for name in entry.arg_name.split(",")}


def markdown(text: str) -> str:
    """Text of a docstring, which is reStructuredText, as Markdown; settings as options.

    >>> markdown('With ``imputed="include"`` :math:`x` counts (see Notes).')
    'With `--imputed include` `x` counts.'
    """
    plain = re.sub(r":math:(`[^`]*`)", r"\1", text).replace("``", "`").replace(" (see Notes)", "")
    return re.sub(r'`(\w+)="?(\w+)"?`', lambda setting: f"`--{setting[1].replace('_', '-')} {setting[2]}`", plain)


def _renamed(node: ast.FunctionDef) -> dict[str, tuple[str, dict[str, str]]]:
    """Former names of parameters, and of their values, by the present names, as decorators have them."""
    renamed = {}
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(ast.Name("renamed_keyword"), [ast.Constant(former), ast.Constant(present)], keywords):
                words = {str(keyword.arg): str(ast.literal_eval(keyword.value)) for keyword in keywords}
                renamed[str(present)] = (str(former), words)
    return renamed


def _followed(text: str, name: str) -> str:
    """An entry, or that of the other function where it says "As in" and its name in backticks."""
    other = re.match(r"As in `bayesgroups\.([\w.]+)`", text)
    if other is None:
        return text
    try:
        arguments = function_of(other[1]).arguments
    except LookupError:
        return text
    return next((argument.help for argument in arguments if argument.name == name), text)


@cache
def _text(module: str) -> str:
    place = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.is_file():
        raise LookupError(f"there is no module bayesgroups.{module}")
    return file.read_text(encoding="utf-8")


@cache
def _names(module: str) -> dict[str, ast.stmt]:
    """Statements that give the names of a module, those for type checkers among them."""
    names: dict[str, ast.stmt] = {}
    body = ast.parse(_text(module)).body
    for statement in [*body, *(inner for block in body if isinstance(block, ast.If) for inner in block.body)]:
        match statement:
            case ast.FunctionDef() | ast.ClassDef():
                names[statement.name] = statement
            case ast.ImportFrom():
                names |= {alias.asname or alias.name: statement for alias in statement.names}
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                names[name] = statement
    return names


def _definition(module: str, name: str) -> tuple[str, ast.stmt | None]:
    """The module that defines a name, and the statement; None for a name from outside the package."""
    statement = _names(module).get(name)
    if statement is None:
        raise LookupError(f"module {'.'.join(filter(None, ('bayesgroups', module)))} has no name {name!r}")
    if not isinstance(statement, ast.ImportFrom):
        return module, statement
    package, _, rest = (statement.module or "").partition(".")
    if package != "bayesgroups":
        return module, None
    former = next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)
    return _definition(rest, former)


def _types(node: ast.expr | None, module: str) -> list[Any]:
    """The alternatives of an annotation that an option can have; None for None."""
    match node:
        case ast.Constant(None):
            return [None]
        case ast.Constant(str(text)):
            return _types(ast.parse(text, mode="eval").body, module)
        case ast.BinOp(left, ast.BitOr(), right):
            return [*_types(left, module), *_types(right, module)]
        case ast.Name(name) if name in PLAIN:
            return [PLAIN[name]]
        case ast.Name(name):
            return _alias(name, module)
        case ast.Subscript(ast.Name("Literal"), inner):
            return [Literal[ast.literal_eval(inner)]]
        case ast.Subscript(ast.Name("Sequence"), inner):
            item = _chosen(_types(inner, module))
            return [TUPLE[item, ...]] if item is not None else []
        case ast.Subscript(ast.Name("Mapping"), ast.Tuple([ast.Name("str"), inner])):
            item = _chosen(_types(inner, module))
            return [MAPPING[str, item]] if item is not None else []
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(items)):
            return [TUPLE[tuple(_chosen(_types(item, module)) for item in items)]]
    return []


def _alias(name: str, module: str) -> list[Any]:
    try:
        module, statement = _definition(module, name)
    except LookupError:
        return []
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return _types(value, module)
        case ast.ClassDef(bases=[ast.Name("TypedDict")], body=body):
            fields = [field.annotation for field in body if isinstance(field, ast.AnnAssign)]
            return [MAPPING[str, _chosen(_types(fields[0], module))]]
    return []


def _chosen(kinds: list[Any]) -> Any:
    """One type for an option: a sequence before text, text before a pair, a pair before a number, a mapping last."""
    typed = [kind for kind in kinds if kind is not None]
    sequences = [kind for kind in typed if get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis]
    pairs = [kind for kind in typed if get_origin(kind) is tuple]
    mappings = [kind for kind in typed if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping)]
    for first in (sequences, [str] if str in typed else [], pairs):
        if first:
            return first[0]
    words = tuple(word for kind in typed if get_origin(kind) is Literal for word in get_args(kind))
    scalars = [kind for kind in typed if kind not in mappings and get_origin(kind) is not Literal]
    scalars += [Literal[words]] if words else []
    return reduce(or_, scalars) if scalars else next(iter(mappings), None)


def _value(node: ast.expr, module: str) -> Any:
    if isinstance(node, ast.Name):
        module, statement = _definition(module, node.id)
        node = cast("ast.Assign", statement).value
    return ast.literal_eval(node)
