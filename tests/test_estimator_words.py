"""One estimator, one place: nothing asks which estimator it has; classes say what reports and pages need."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli.estimators import chosen
from bayesgroups.errors import InputError
from bayesgroups.estimators import ESTIMATORS, Estimator
from bayesgroups.estimators.descriptions import describe, estimator_of
from bayesgroups.estimators.named import class_name, estimator_class
from bayesgroups.views.html.page import render
from bayesgroups.views.html.sections.provenance import origin

PACKAGE = Path(bg.__file__).parent
INSIDE = ("estimators", "models", "frequentist", "inference")
WORDS = {each.word for each in ESTIMATORS}
CLASSES = {each.__name__ for each in ESTIMATORS}
COUNTS = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")

EXCEPTIONS = {
    ("cli/analysis_files/plans.py", "confusion"): "an option of bg.tally",
    ("cli/questions/disparities.py", "confusion"): "a variable of a file",
    ("cli/study.py", "no_pooling"): "a default of the command",
    ("cli/study.py", "partial_pooling"): "a default of the command",
    ("forwarding.py", "disagreement"): "an earlier name of a module",
    ("questions/disparities/reporting.py", "confusion"): "a variable of its answer",
    ("views/html/sections/code.py", "confusion"): "an option of bg.tally",
    ("tallies/origins.py", "confusion"): "an option of bg.tally",
}
"""Words that are not those of an estimator, or choose nothing."""


def _branches(tree: ast.AST) -> Iterator[str]:
    """Words and classes of estimators that code compares with, looks up or matches."""
    for node in ast.walk(tree):
        asked: list[ast.expr | None] = []
        match node:
            case ast.Compare():
                asked = [node.left, *node.comparators]
            case ast.Dict():
                asked = node.keys
            case ast.Set() | ast.Tuple() | ast.List():
                asked = [*node.elts]
            case ast.MatchValue():
                asked = [node.value]
            case ast.MatchClass():
                asked = [node.cls]
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                asked = [kinds]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "get"), args=[first, *_]):
                asked = [first]
        for each in asked:
            if isinstance(each, ast.Constant) and each.value in WORDS:
                yield str(each.value)
            name = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
            if name in CLASSES:
                yield name


def test_nothing_outside_asks_which_estimator_it_has() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in INSIDE:
            found |= {(place.as_posix(), name) for name in _branches(ast.parse(path.read_text(encoding="utf-8")))}
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "code",
    [
        'if word == "james_stein": pass',
        'normal = word in {"james_stein", "other"}',
        'words = {"james_stein": 1}',
        'words = ("other", "james_stein")',
        'match word:\n    case "other" | "james_stein": pass',
        "match leaf:\n    case bg.JamesStein(): pass",
        "isinstance(leaf, JamesStein)",
        "isinstance(leaf, (Other, bg.JamesStein))",
        "type(leaf) is JamesStein",
        "words = {JamesStein: 1}",
        'word.startswith("james_stein")',
    ],
)
def test_every_form_of_a_branch_is_seen(code: str) -> None:
    assert set(_branches(ast.parse(code))) & {"james_stein", "JamesStein"}


# --- classes and reports ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", ESTIMATORS, ids=lambda leaf: str(leaf.word))
def test_every_estimator_is_described(leaf: type[Estimator]) -> None:
    assert leaf.description.endswith(".")
    assert leaf.description.partition(":")[0]
    assert all("(" in paper for paper in leaf.references)
    for member in ("describe_priors", "log_prior"):
        assert member in vars(leaf), f"{leaf.__name__} lacks {member}"
    assert estimator_class(class_name(leaf)) is estimator_class(leaf.word) is leaf


def test_a_report_finds_its_estimator_when_it_is_opened(tmp_path: Path) -> None:
    estimator = bg.JamesStein(centre={"fnr": 0.2})
    opened = bg.open_report(bg.save_report(bg.estimate(COUNTS, estimator, seed=1), tmp_path / "r.nc"))
    assert estimator_of(opened) == estimator
    assert {name: opened.attrs[name] for name in describe(estimator, COUNTS)} == describe(estimator, COUNTS)
    assert "around a known centre" in json.loads(opened.attrs["prior_description"])["fnr"]


@pytest.mark.usefixtures("no_pictures")
def test_older_reports_open_and_have_a_page(report: xr.DataTree, tmp_path: Path) -> None:
    older = report.copy()
    older.attrs = {name: value for name, value in report.attrs.items() if name not in describe(bg.NoPooling(), COUNTS)}
    opened = bg.open_report(bg.save_report(older, tmp_path / "r.nc"))
    assert estimator_of(opened) == bg.PartialPooling()
    page = render(opened)
    assert "Estimator partial pooling." in page
    assert "Bayesian model," not in page


# --- classes from outside ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bare(bg.NoPooling):
    """An estimator that says nothing of itself but its settings."""

    word: ClassVar[str] = "bare"
    description: ClassVar[str] = ""

    def describe_priors(self, tally: xr.Dataset) -> str:
        return Estimator.describe_priors(self, tally)

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> Any:
        return Estimator.log_prior(self, draws, tally)


@dataclass(frozen=True)
class Spread(Bare):
    """The same with a density, and no likelihood of the values."""

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> Any:
        return bg.NoPooling.log_prior(self, draws, tally)

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> Any:
        return Estimator.log_likelihood(self, draws, tally)


@pytest.mark.usefixtures("no_pictures")
def test_a_class_need_not_say_anything() -> None:
    report = bg.estimate(COUNTS, Bare(), seed=1)
    assert json.loads(report.attrs["prior_description"]) == {"fnr": ""}
    assert "Estimator bare." in render(report)
    assert str(bg.prior_sensitivity(report)["reason"].values[0]) == (
        "Bare does not say what the density of its priors is"
    )
    sensitivity = bg.prior_sensitivity(bg.estimate(COUNTS, Spread(), seed=1))
    assert np.isnan(sensitivity["likelihood"].values).all()
    assert np.isfinite(sensitivity["prior"].values).all()


def test_the_code_of_a_class_of_a_script_says_so() -> None:
    report = bg.estimate(COUNTS, Bare(), seed=1)
    assert f"from {__name__} import Bare\nreport = bg.estimate(tally, Bare(" in origin(report)["code"]
    report.attrs["estimator_class"] = "__main__:Bare"
    assert "seed=1)  # a class of the script that made the report" in origin(report)["code"]


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("description", 3, "Bare: the description must be a text; got 3"),
        ("references", "Gelman (2006)", r"Bare: references='Gelman \(2006\)' must be a tuple of texts"),
        ("references", (3,), r"Bare: references=\(3,\) must be a tuple of texts"),
        ("describe_priors", lambda self, tally: None, "Bare: the priors of 'fnr' must be a text; got None"),
    ],
)
def test_descriptions_are_texts(monkeypatch: pytest.MonkeyPatch, member: str, value: object, words: str) -> None:
    monkeypatch.setattr(Bare, member, value)
    with pytest.raises(InputError, match=words):
        bg.estimate(COUNTS, Bare(), seed=1)


def test_a_class_that_cannot_be_had_is_named() -> None:
    with pytest.raises(
        InputError, match="estimator 'partial_poling' does not exist; did you mean 'partial_pooling'.*; or name"
    ):
        estimator_class("partial_poling")
    with pytest.raises(InputError, match="the module 'no_such_module' is not imported; import it first"):
        estimator_class("no_such_module:Mine")
    for path in ("Mine", "Bare.mine", "COUNTS", "Path", "PACKAGE.name"):
        with pytest.raises(InputError, match=rf"has no class '{path}' derived from bayesgroups.estimators.Estimator"):
            estimator_class(f"{__name__}:{path}")
    for name in ("no_such_module:Mine", ":Mine", ".cli:Mine"):
        with pytest.raises(InputError, match=rf"--estimator {name}: .* cannot be imported .*PYTHONPATH"):
            chosen(name)


def test_nothing_is_imported_because_a_report_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "harmful.py").write_text("raise SystemExit('ran')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    report = bg.estimate(COUNTS, bg.NoPooling(), seed=1)
    report.attrs["estimator_class"] = "harmful:Mine"
    reason = str(bg.prior_sensitivity(report)["reason"].values[0])
    assert "estimator 'harmful:Mine': the module 'harmful' is not imported; import it first" in reason
    assert "harmful" not in sys.modules

    lazy = ModuleType("lazy")
    vars(lazy)["__getattr__"] = lambda name: sys.exit("ran")
    monkeypatch.setitem(sys.modules, "lazy", lazy)
    with pytest.raises(InputError, match="'lazy' has no class 'Mine'"):
        estimator_class("lazy:Mine")


@pytest.mark.parametrize("settings", ['{"rows": 3}', '{"interval": "none"}', "no JSON"])
def test_settings_that_the_class_does_not_take_are_refused(settings: str) -> None:
    report = bg.estimate(COUNTS, bg.NoPooling(), seed=1)
    report.attrs["settings"] = settings
    with pytest.raises(
        InputError, match="the settings of the report are not those of .*NoPooling|NoPooling: interval='none'"
    ):
        estimator_of(report)
