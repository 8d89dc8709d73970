"""Words of code and pages: heads of docstrings, names of constants and variables, and the table of the glossary."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Rooms that still have words of the table, each list to be shortened and never to grow. A folder stands for all below it.
VARIABLES_LEFT: tuple[str, ...] = ()
CONSTANTS_LEFT: tuple[str, ...] = ()
TEXT_LEFT: tuple[str, ...] = ()

PARAMETERS_KEPT = {
    ("bayesgroups/errors.py", "known"),
    ("bayesgroups/inference/collapsed/confusion.py", "known"),
    ("bayesgroups/inference/collapsed/crossed/chains.py", "known"),
    ("bayesgroups/inference/collapsed/crossed/engine.py", "known"),
    ("bayesgroups/views/plots/bounds_plot.py", "found"),
    ("bayesgroups/views/plots/curve_plots.py", "found"),
    ("bayesgroups/views/plots/prior_plot.py", "found"),
}
"""Names of parameters that callers outside the room give by name."""
MODELS = "models"
"""Room whose functions, constants and variables keep their words: builders are read beside the papers."""

OPENERS = ("What", "How", "Whether", "Which", "Why")
VARIABLES = {"found", "one", "own", "known", "there", "away", "said", "others", "gone"}
CONSTANTS = {
    "FEW", "FEWEST", "MANY", "MOST", "LEAST", "NEAR", "NEARBY", "FAR", "FARTHEST", "FURTHEST", "ENOUGH", "MORE", "SOME", "LARGE",
    "LARGEST", "SMALL", "SMALLEST",
}  # fmt: skip
PARTS_OF_CONSTANTS = {"FEW", "FEWEST", "MANY", "MOST", "LEAST", "NEAR", "NEARBY"}
WORDS = {
    "culprit": "offending input",
    "mend": "fix",
    "mended": "fixed",
    "mends": "fixes",
    "its kin": "related functions",
    "give or take": "±",
    "one less the rate": "1 - rate",
    "sampled_share": "sampling fraction",
    "sampled share": "sampling fraction",
    "endless": "superpopulation, unbounded",
    "of_people": "finite population",
    "own effect": "residual effect",
    "own effects": "residual effects",
    "a leaf": "an estimator class",
    "leaves of estimators": "estimator classes",
    "laboratory": "appendix, studies",
    "entrants": "competitors",
}
"""Words of the table in `docs/glossary.md` that have no other meaning here, and the field's words for them."""


def _sources(*folders: str) -> list[Path]:
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in paths if "bayesgroups/models/" not in path.as_posix())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _left(path: Path, rooms: tuple[str, ...]) -> bool:
    return any(_name(path) == room or _name(path).startswith(f"{room}/") for room in rooms)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def docstrings(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Docstrings of a module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node, text


def opens_badly(text: str) -> bool:
    """True if a docstring opens with an interrogative word."""
    return re.match(rf"({'|'.join(OPENERS)})\b", text) is not None


def variables(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Names that are given a value, and True for those of parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, False
        elif isinstance(node, ast.arg):
            yield node.arg, True
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, False


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Constants of a module with the sentence below them, empty where there is none."""
    for place, node in enumerate(tree.body):
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        below = tree.body[place + 1] if place + 1 < len(tree.body) else None
        value = below.value if isinstance(below, ast.Expr) else None
        text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and name.id.isupper():
                    yield name.id, text


def unnamed(constant: str) -> bool:
    """True if the name of a constant is a word of amount in place of a quantity."""
    parts = constant.strip("_").split("_")
    return constant.strip("_") in CONSTANTS or bool(PARTS_OF_CONSTANTS & set(parts))


def words_of(text: str) -> list[str]:
    """Words of the table in a text, blind to line breaks and case."""
    plain = re.sub(r"\s+", " ", text.lower())
    return [word for word in WORDS if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", plain)]


def without_names(text: str) -> str:
    """A page without what stands in backticks: the changelog quotes former public names."""
    return re.sub(r"`[^`]+`", "", text)


def texts_of(tree: ast.Module) -> str:
    """Docstrings and messages: every string of a module."""
    return "\n".join(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _bad_variables(path: Path) -> list[str]:
    return sorted(
        {
            name
            for name, parameter in variables(_tree(path))
            if name in VARIABLES and not (parameter and (_name(path), name) in PARAMETERS_KEPT)
        }
    )


def _bad_constants(path: Path) -> list[str]:
    return [name for name, text in constants(_tree(path)) if unnamed(name) or re.match(r"Of\b", text)]


def _bad_text(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.name == "CHANGELOG.md":
        text = without_names(text)
    return words_of(texts_of(ast.parse(text)) if path.suffix == ".py" else text)


@pytest.mark.parametrize("path", _sources("bayesgroups", "models", "examples"), ids=_name)
def test_docstrings_open_with_what_they_describe(path: Path) -> None:
    whole = not _left(path, (MODELS,))
    bad = [text.splitlines()[0] for node, text in docstrings(_tree(path)) if whole or isinstance(node, ast.Module)]
    assert [line for line in bad if opens_badly(line)] == []


def test_docstrings_of_test_modules_open_with_what_they_test() -> None:
    heads = {_name(path): ast.get_docstring(_tree(path)) or "" for path in _sources("tests")}
    assert {name: head.splitlines()[0] for name, head in heads.items() if opens_badly(head)} == {}


@pytest.mark.parametrize(
    ("paths", "left", "bad"),
    [
        (_sources("bayesgroups", "examples"), VARIABLES_LEFT, _bad_variables),
        (_sources("bayesgroups", "examples"), CONSTANTS_LEFT, _bad_constants),
        (
            [*_sources("bayesgroups", "examples"), *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))],
            (*TEXT_LEFT, "docs/glossary.md"),
            _bad_text,
        ),
    ],
    ids=["variables", "constants", "texts"],
)
def test_words_of_the_table_are_not_used(
    paths: list[Path], left: tuple[str, ...], bad: Callable[[Path], list[str]]
) -> None:
    built = {"_build", "generated"}
    used = {_name(path): bad(path) for path in paths if not _left(path, left) and not built & set(path.parts)}
    assert {name: words for name, words in used.items() if words} == {}


def test_the_checks_see_what_they_forbid() -> None:
    tree = ast.parse(
        '"""What it is."""\n\nFEWEST = 3\n"""Of the rows."""\nMIN_ROWS_FOR_NORMAL = 3\n"""Rows of a subgroup."""\n\n\n'
        'def f(known: int) -> int:\n    """Number of rows."""\n    found = known\n    raise ValueError("mend it, give\\nor take")\n'
    )
    assert [opens_badly(text) for _, text in docstrings(tree)] == [True, False]
    assert [name for name, _ in variables(tree) if name in VARIABLES] == ["known", "found"]
    assert [(name, unnamed(name), text) for name, text in constants(tree)] == [
        ("FEWEST", True, "Of the rows."),
        ("MIN_ROWS_FOR_NORMAL", False, "Rows of a subgroup."),
    ]
    assert words_of(texts_of(tree)) == ["mend", "give or take"]
    assert words_of("recommended akin to leaves") == []
    assert words_of(without_names("`f(sampled_share=...)` and a sampled share")) == ["sampled share"]
