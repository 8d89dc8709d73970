"""Files, links and modules that pages and docstrings name are there."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("bayesgroups", "models", "tests", "examples", "docs")
ROOMS = sorted({path.name for path in (ROOT / "bayesgroups").iterdir() if path.is_dir() and path.name[0] != "_"})
SKIPPED = {"_build", "generated", "__pycache__"}
SOURCES = sorted(
    path
    for folder in (*FOLDERS, ".")
    for path in ((ROOT / folder).glob("*.md") if folder == "." else (ROOT / folder).rglob("*.*"))
    if path.suffix in (".md", ".py")
    and path.name != "test_paths.py"
    and not SKIPPED & set(path.parts)
    and "bayesgroups/models" not in path.as_posix()
)
PAGES = [path for path in SOURCES if path.suffix == ".md"]
MADE_UP = "median_pooling"
"""Name of the estimator that the pages for contributors make up."""
RETIRED = {("CHANGELOG.md", "models/finite_population.py"), ("CHANGELOG.md", "bayesgroups.certification")}
"""Names that the history of the package keeps."""
PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join({*FOLDERS, *ROOMS})})/[\w./-]+?\.(?:py|md|csv|toml|svg|html|json))\b")
MODULE = re.compile(r"`((?:bayesgroups|bg|tests|examples)(?:\.\w+)+)`|-m ((?:bayesgroups|tests|examples)(?:\.\w+)*)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def paths_of(text: str) -> list[str]:
    """Paths with a suffix that a text names."""
    return [path for path in PATH.findall(text) if MADE_UP not in path]


def modules_of(text: str) -> list[str]:
    """Dotted names, in backticks or of ``python -m``, that a text names."""
    return [quoted or run for quoted, run in MODULE.findall(text)]


def resolves(name: str) -> bool:
    """Import the longest module of a dotted name and look the rest up, without the help of former names."""
    parts = re.sub(r"^bg\.", "bayesgroups.", name).split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        for length in range(len(parts), 0, -1):
            try:
                value: object = importlib.import_module(".".join(parts[:length]))
            except (ModuleNotFoundError, DeprecationWarning):
                continue
            try:
                for position in range(length, len(parts)):
                    fields = getattr(value, "__annotations__", {})
                    value = fields[parts[position]] if parts[position] in fields else getattr(value, parts[position])
            except (AttributeError, DeprecationWarning):
                return False
            return True
    return False


@pytest.mark.parametrize("source", SOURCES, ids=_name)
def test_paths_lead_to_files(source: Path) -> None:
    paths = paths_of(source.read_text(encoding="utf-8"))
    places = (ROOT, ROOT / "bayesgroups", source.parent)
    lost = [path for path in paths if not any((place / path).exists() for place in places)]
    assert [path for path in lost if (_name(source), path) not in RETIRED] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_modules_can_be_imported() -> None:
    named = {(_name(source), name) for source in SOURCES for name in modules_of(source.read_text(encoding="utf-8"))}
    assert len(named) > 100
    assert sorted((source, name) for source, name in named - RETIRED if not resolves(name)) == []


def test_what_is_not_there_is_seen() -> None:
    text = (
        "`models/scales.py`, `data/no_such.csv`; `bayesgroups.texts.as_json` and python -m bayesgroups.studies.coverage"
    )
    assert paths_of(text) == ["models/scales.py", "data/no_such.csv"]
    assert modules_of(text) == ["bayesgroups.texts.as_json", "bayesgroups.studies.coverage"]
    assert not any(resolves(name) for name in modules_of(text))
    assert resolves("bayesgroups.data.texts.as_json")
