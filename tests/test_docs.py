"""The guide runs: every Python block of every page, in order, and every command of ours it shows."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from docutils import nodes

import bayesgroups as bg
from bayesgroups.estimators import ESTIMATORS
from docs import output_tables
from examples import page_blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.parts))
NUTS = DOCS / "how-to" / "open_the_model.md"
"""The page that compiles and samples models; the other pages take the exact engines."""


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


FIRST = (ROOT / "README.md", DOCS / "tutorials" / "first-report.md")
"""Pages that everybody meets first, whose blocks run among the other tests."""


def _mark(page: Path) -> list[pytest.MarkDecorator]:
    """Blocks of a page are doctests, which are run like those of the package, but for the first pages."""
    return [pytest.mark.slow] if page == NUTS else [] if page in FIRST else [pytest.mark.page]


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=_mark(page)) for page in (ROOT / "README.md", *PAGES)],
    ids=_name,
)
@pytest.mark.usefixtures("no_pictures")
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data frames are the tables that the built page shows, and saved pictures are those that stand beside it."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with page_blocks.drawing():
        for block in page_blocks.blocks(page):
            if block.language == "python":
                shown = page_blocks.run(block, namespace, _name(page))
                for text, frame in shown:
                    assert output_tables.cells(text) == page_blocks.rows(frame), text
                assert sum(isinstance(part, list) for part in output_tables.parts(block.code)) == len(shown)
            elif block.language == "sh":
                _run_commands(block)
    pictures = page_blocks.saved(page, tmp_path)
    assert set(pictures) == page_blocks.linked(page)
    for path, drawn in pictures.items():
        words, numbers = page_blocks.skeleton(drawn)
        shown_words, shown_numbers = page_blocks.skeleton(path.read_text(encoding="utf-8"))
        assert words == shown_words, path
        assert numbers == pytest.approx(shown_numbers, rel=1e-3, abs=0.05), path


def _run_commands(block: page_blocks.Block) -> None:
    """Run the lines that start with ``bayesgroups`` as the command line would, and those of ``python -c``."""
    from bayesgroups.cli import run

    for line in block.code.replace("\\\n", " ").splitlines():
        if line.startswith("python -c "):
            exec(shlex.split(line)[2], {})  # our own pages, nothing else
        if line.startswith("bayesgroups "):
            with contextlib.redirect_stdout(io.StringIO()):
                assert run(shlex.split(line)[1:]) == 0, line


def _follow(page: Path) -> subprocess.CompletedProcess[str]:
    """Follow a page from an empty folder, as continuous integration does with the installed wheel."""
    command = [sys.executable, str(ROOT / ".ci" / "tutorial.py"), str(page)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=page.parent)


def test_a_page_is_followed_as_a_new_user_would(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> seed = 1\n>>> seed + 1\n2\n```\n```python\nopen('kept', 'w').close()\n```\n"
        "```sh\npython -c \"open('made', 'w').close()\"  # said\nnot ours\n```\n",
        encoding="utf-8",
    )
    done = _follow(page)
    assert done.stdout.startswith("page.md: 2 blocks, 1 commands")
    assert done.stdout.endswith("wrote kept, made\n")
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "page.md, line 1: the answers are not those that the page shows"),
        ('```python\n1\n```\n```sh\npython -c "raise SystemExit(3)"\n```\n', "exit code 3"),
        ("No code.\n", "page.md has no block of Python"),
    ],
)
def test_a_page_that_cannot_be_followed_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    done = _follow(page)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_pages_name_no_place_on_a_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/", page.read_text(encoding="utf-8"))


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = set()
    for page in PAGES:
        for contents in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line.strip() for line in contents.splitlines() if line.strip() and not line.startswith(":")]
            listed |= {(page.parent / f"{entry}.md").resolve() for entry in entries}
    assert {page.resolve() for page in PAGES} - listed == {(DOCS / "index.md").resolve()}


def test_the_list_of_questions_names_what_is_there() -> None:
    from bayesgroups.cli import app

    text = (DOCS / "i_want_to.md").read_text(encoding="utf-8")
    named, commands = re.findall(r"`bg\.(\w+)`", text), re.findall(r"`bayesgroups ([\w-]+)`", text)
    assert len(commands) >= 20
    assert [name for name in named if name not in bg.__all__] == []
    assert [name for name in commands if name not in set(app)] == []


def test_two_notions_have_one_truth_and_one_error() -> None:
    """DIS-13."""
    lines = pd.read_csv(ROOT / "tests" / "recovery" / "records" / "disagreement.csv").set_index(
        ["condition", "attribute"]
    )
    same = ["truth", "published_estimate", "published_error"]
    notions = [lines[lines["notion"] == name][same] for name in ("equal_opportunity", "overall_misclassification")]
    assert len(notions[0]) == 4
    pd.testing.assert_frame_equal(*notions)


def test_the_reference_lists_the_public_names() -> None:
    text = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^ +(?:bayesgroups\.)?(\w+)$", text, re.MULTILINE))
    modules = {"datasets", "frequentist", "metrics", "models", "interop", "plots"}
    assert set(bg.__all__) - modules - {"__version__"} <= listed
    assert all(f"`bayesgroups.{module}`" in text for module in modules)


def test_the_architecture_names_functions_that_are_there() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:bayesgroups|models)/[\w/]+\.py)`\s\(`(\w+)`", text)
    assert len(named) >= 25
    missing = []
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        if name not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}:
            missing.append((path, name))
    assert missing == []


def test_the_floors_are_those_that_are_checked() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    shown: list[set[str]] = []
    for floor, room in re.findall(r"^(\d| )  (\w+) {2,}\w", text.split("## The eight floors")[1], re.MULTILINE):
        if floor.strip():
            shown.append(set())
        shown[-1].add(room)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    assert shown == [set(re.findall(r"\w+", layer)) for layer in layers]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda leaf: leaf.word)
def test_the_page_of_an_estimator_has_its_parts(estimator: Any) -> None:
    text = (DOCS / "estimators" / f"{estimator.word}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    expected = ["Estimand", "Model", "Priors", "Two sides", "Intervals", "When not to use it", "References"]
    assert [head for head in heads if head in expected] == expected
    for setting in estimator().settings():
        assert f"`{setting}`" in text


def _links(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "links.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_links_of_built_pages_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<html lang="en"><h1 id="top"></h1><a href="b.html#here">b</a></html>', encoding="utf-8"
    )
    (tmp_path / "b.html").write_text(
        '<html lang="en"><h1 id="here"></h1><a href="https://example.org">x</a><a href="#here">x</a></html>',
        encoding="utf-8",
    )
    done = _links(tmp_path)
    assert (done.returncode, done.stdout) == (0, "2 links lead somewhere; 1 lead elsewhere and were not followed\n")
    (tmp_path / "b.html").write_text('<html><img src="no.png"><a href="a.html#gone">x</a></html>', encoding="utf-8")
    done = _links(tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "a.html: b.html#here has no such place",
        "b.html: 0 headings of the first rank",
        "b.html: a.html#gone has no such place",
        "b.html: its language is not named",
        "b.html: no.png leads nowhere",
        "b.html: picture no.png has no text",
    ]


def test_pictures_are_put_beside_their_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> from matplotlib.figure import Figure\n>>> Figure().savefig('empty.svg')\n```\n"
        "![Nothing](pictures/page_empty.svg)\n",
        encoding="utf-8",
    )
    page_blocks.main([str(page)])
    (picture,) = page_blocks.linked(page)
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_a_block_with_another_answer_is_an_error() -> None:
    with pytest.raises(AssertionError, match="Expected:"):
        page_blocks.run(page_blocks.Block("python", ">>> 1 + 1\n3\n", 1), {}, "page.md")


TABLE = ">>> a = 1\n>>> frame\n      x  y z\nname\none   1 -0.5\n>>> a\n1\n"


def test_data_frames_become_tables_between_their_code() -> None:
    cells = [["", "x", "y z"], ["name", "", ""], ["one", "1", "-0.5"]]
    assert output_tables.cells("      x   yz\nname\none   1 -0.5\n") == [["", "x", "yz"], *cells[1:]]
    code = TABLE.replace("x  y z", "x   yz")
    assert output_tables.parts(code) == [">>> a = 1\n>>> frame", [["", "x", "yz"], *cells[1:]], ">>> a\n1"]
    node = output_tables.node([["", "x", "yz"], *cells[1:]])
    assert [entry.astext() for entry in node.findall(nodes.entry)] == ["name", "x", "yz", "one", "1", "-0.5"]


@pytest.mark.parametrize(
    "code", [">>> print(a)\n  b  c\n1 2  3\n", ">>> [1]\n[1]\n", ">>> a\nno\ncolumns\n", ">>> a = 1\n"]
)
def test_other_outputs_stay_text(code: str) -> None:
    assert output_tables.parts(code) == [code.strip()]


def test_versions_stand_side_by_side(tmp_path: Path) -> None:
    """With a stand-in for Sphinx; the versions are commits of this repository."""
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a clone")
    stand_in = tmp_path / "bin" / "python"
    stand_in.parent.mkdir()
    stand_in.write_text(
        '#!/bin/sh\nfor last; do :; done\nmkdir -p "$last"\n'
        'test -f docs/conf.py && echo "$BAYESGROUPS_DOCS_VERSION" > "$last/index.html"\n',
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    site, commit = tmp_path / "site", done.stdout.strip()
    command = [str(ROOT / ".ci" / "docs_versions"), str(site), "--root", "/docs/", "HEAD", commit]
    environment = {**os.environ, "PATH": f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(command, check=True, env=environment)
    assert json.loads((site / "versions.json").read_text(encoding="utf-8")) == [
        {"version": "HEAD", "url": "/docs/HEAD/", "preferred": True},
        {"version": commit, "url": f"/docs/{commit}/", "preferred": False},
    ]
    assert (site / commit / "index.html").read_text(encoding="utf-8") == f"{commit}\n"
    assert "url=HEAD/index.html" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_sphinx_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
