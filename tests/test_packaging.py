"""Files beside the code that others read by rule: the conda recipe, the forms for issues, the paper."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import bayesgroups as bg

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / ".ci" / "conda" / "recipe.yaml"
CONDA_NAMES = {"h5netcdf": "h5netcdf", "matplotlib": "matplotlib-base"}
"""Packages for conda in place of extras of ArviZ."""
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PAPER = ROOT / "docs" / "paper" / "paper.md"


def load(path: Path) -> dict[str, Any]:
    """A YAML file."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def conda(requirement: str) -> list[str]:
    """A requirement as conda writes it, with a package in place of every extra."""
    wanted = Requirement(requirement)
    limits = ",".join(sorted((str(each) for each in wanted.specifier), reverse=True))
    return [f"{wanted.name} {limits}".strip(), *(CONDA_NAMES[extra] for extra in sorted(wanted.extras))]


def test_addresses_of_the_project_are_the_papers_that_it_implements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    papers = re.findall(r"doi:(10\.[^\s,]+[^\s,.])", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"))
    assert {address.removeprefix("https://doi.org/") for address in project["urls"].values()} == set(papers)


def test_the_conda_recipe_requires_what_the_project_requires() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, recipe = settings["project"], load(RECIPE)
    python = conda(f"python{project['requires-python']}")
    assert recipe["context"]["version"] == project["version"] == bg.__version__
    assert recipe["requirements"]["run"] == python + [line for each in project["dependencies"] for line in conda(each)]
    assert recipe["requirements"]["host"] == [*python, "pip", *conda(*settings["build-system"]["requires"])]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {to}" for name, to in project["scripts"].items()]
    assert recipe["about"]["license"] == project["license"]


def test_the_conda_recipe_is_rendered_by_its_own_tool() -> None:
    """Unknown fields, licences and requirements are errors there."""
    rattler = pytest.importorskip("rattler_build")
    (variant,) = rattler.Stage0Recipe.from_file(str(RECIPE)).render(rattler.VariantConfig(), rattler.RenderConfig())
    run = [str(each) for each in variant.recipe.requirements.run]
    assert run == load(RECIPE)["requirements"]["run"]
    with pytest.raises(rattler.RecipeParseError, match="unknown"):
        rattler.Stage0Recipe.from_yaml(RECIPE.read_text(encoding="utf-8").replace("about:", "abuot:"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_have_their_fields(path: Path) -> None:
    form = load(path)
    if path.stem == "config":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert set(form) == {"name", "description", "labels", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields
    assert {field["type"] for field in form["body"]} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert all({"type", "id", "attributes", "validations"} == set(field) for field in fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields)


def test_there_is_a_form_for_a_wrong_number() -> None:
    assert [path.stem for path in FORMS] == ["bug_report", "config", "question", "wrong_number"]


def test_the_paper_has_what_its_journal_asks_for() -> None:
    """The Journal of Open Source Software: fields of the head, named sections, 750 to 1,750 words, keys that are there."""
    _, head, body = PAPER.read_text(encoding="utf-8").split("---\n", 2)
    fields = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(fields)
    places = {place["index"] for place in fields["affiliations"]}
    assert all(
        {"name", "affiliation"} <= set(author) and author["affiliation"] in places for author in fields["authors"]
    )
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ \d{4}", str(fields["date"]))
    sections = re.findall(r"^## (.+)$", body, re.MULTILINE)
    asked = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"]
    assert [name for name in sections if name in asked] == asked
    assert sections[-2:] == ["Acknowledgements", "References"]
    assert 750 <= len(body.split()) <= 1750
    bib = (PAPER.parent / fields["bibliography"]).read_text(encoding="utf-8")
    entries = dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", bib, re.MULTILINE | re.DOTALL))
    cited = set(re.findall(r"(?<![\w.])@(\w+)", body))
    assert cited == set(entries), "every entry is cited, and every citation has its entry"
    for key, entry in entries.items():
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) = ", entry, re.MULTILINE)), key
