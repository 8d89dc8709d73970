"""The catalogue in ``models/README.md`` says what the modules say."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from bayesgroups import models
from bayesgroups.models.shared import scales

FOLDER = Path(models.__path__[0]).resolve()
WORDS = sorted(path.stem for path in FOLDER.glob("*.py") if "\ndef build(" in path.read_text(encoding="utf-8"))
FIELDS = ["pooling", "likelihood", "parameters", "priors", "settings", "reference", "frequentist twin"]


def _catalogue() -> dict[str, dict[str, str]]:
    sections = re.split(r"^## ", (FOLDER / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        section.split("\n", 1)[0].strip(): {
            name: " ".join(text.split())
            for name, text in re.findall(r"^- \*\*(.+?)\*\*: (.+?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
        }
        for section in sections
    }


def _module(word: str) -> Any:
    return import_module(f"bayesgroups.models.{word}")


def _with_cells(tally: xr.Dataset) -> xr.Dataset:
    size = tally.sizes["subgroup"]
    classes = {"outcome": ["0", "1"], "decision": ["0", "1"]}
    forms = xr.DataArray(1.0, coords={"metric": tally["metric"]}, dims=["metric"]).expand_dims(classes)
    cells = xr.DataArray(5.0, coords={"subgroup": tally["subgroup"].values[:size]}, dims=["subgroup"]).expand_dims(
        classes
    )
    # a second attribute, so that there are learned effects to follow
    halves = ["first", "second"] * size
    tally = tally.assign_coords(half=("subgroup", halves[:size])).assign_attrs(by='{"by": ["site", "half"]}')
    return tally.assign(
        cell_count=cells.transpose("subgroup", "outcome", "decision"),
        cell_numerator=forms.transpose("metric", "outcome", "decision"),
        cell_denominator=forms.transpose("metric", "outcome", "decision"),
    )


def _with_judgements(tally: xr.Dataset) -> xr.Dataset:
    labels = {"label": ["a", "b"], "subgroup": tally["subgroup"].values}
    counts = xr.DataArray(5.0, coords=labels, dims=["label", "subgroup"])
    size = tally.sizes["metric"]
    about = {"notion": ("metric", ["accuracy_equality"] * size), "metric_label": ("metric", ["all"] * size)}
    return tally.assign(about).assign(agreements=counts, disagreements=counts)


def _with_scores(tally: xr.Dataset) -> xr.Dataset:
    cells = xr.DataArray(5.0, coords={"subgroup": tally["subgroup"]}, dims=["subgroup"])
    cells = cells.expand_dims({"score_outcome": ["0", "1"]})
    settings = '{"score_scale": "logit", "threshold": 0.5}'
    scored = tally.sel(metric=["fnr", "auc"]).assign(score_count=cells, score_mean=cells / 5, score_variance=cells)
    return scored.assign_attrs(settings=settings)


def test_every_model_has_an_entry_and_the_other_way_round() -> None:
    assert sorted(_catalogue()) == WORDS
    assert set(WORDS) <= set(models.__all__)


@pytest.mark.parametrize("word", WORDS)
def test_an_entry_is_complete(word: str) -> None:
    entry = _catalogue()[word]
    assert list(entry) == FIELDS
    assert entry["frequentist twin"] == f"`bayesgroups/frequentist/{word}.py`"


@pytest.mark.parametrize("word", WORDS)
def test_parameters_are_those_of_the_model(word: str, mixed: xr.Dataset) -> None:
    mixed = mixed.assign_coords(site=mixed["subgroup"]).assign_attrs(by='{"by": ["site"]}')
    special = {"confusion": _with_cells, "disagreement": _with_judgements, "model_based_metrics": _with_scores}
    model = _module(word).build(special[word](mixed) if word in special else mixed)
    along = {name: ", ".join(dims) for name, dims in model.named_vars_to_dims.items()}
    listed = re.findall(r"`(\w+)\((.+?)\)`", _catalogue()[word]["parameters"])
    assert all(along[name] == dims for name, dims in listed)
    names = {name for name, _ in listed}
    known = {"mu", "overall", "tau", "alpha", "component_sd", "beta", "selection_slope"}
    assert names == {variable.name for variable in model.unobserved_RVs} & known


@pytest.mark.parametrize("word", WORDS)
def test_settings_and_defaults_are_those_of_the_signature(word: str) -> None:
    settings = {
        parameter.name: f'"{parameter.default}"' if isinstance(parameter.default, str) else str(parameter.default)
        for parameter in inspect.signature(_module(word).build).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert dict(re.findall(r"`(\w+)=(.+?)`", _catalogue()[word]["settings"])) == settings


def test_priors_carry_the_numbers_of_the_code() -> None:
    catalogue = _catalogue()
    assert f"Normal(0, {scales.LOGIT_OVERALL_SCALE:g})" in catalogue["partial_pooling"]["priors"]
    assert f"HalfNormal({scales.LOGIT_TAU_SCALE:g})" in catalogue["partial_pooling"]["priors"]
    for word in ("no_pooling", "complete_pooling"):
        assert f"Beta({scales.JEFFREYS:g}, {scales.JEFFREYS:g})" in catalogue[word]["priors"]
        assert f"Normal(centre, {scales.WEAK:g} scale)" in catalogue[word]["priors"]


@pytest.mark.parametrize("word", WORDS)
def test_modules_name_their_reference(word: str) -> None:
    documentation = inspect.getdoc(_module(word)) or ""
    author, year = re.findall(r"([A-Z]\w+)[^;]*?\((\d{4})\)", _catalogue()[word]["reference"])[0]
    assert author in documentation
    assert year in documentation
