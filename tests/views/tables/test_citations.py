"""BibTeX of reports: every estimator, every kind of interval, every engine, and texts of other forms."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import SchemaError
from bayesgroups.estimators import ESTIMATORS
from bayesgroups.views.html import words
from bayesgroups.views.tables import citations as module

SITES = pd.DataFrame({"site": ["a", "b", "c"]})


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    tally = bg.tally_from_counts([12, 30, 9], [60, 100, 40], SITES, metric="fnr")
    return bg.estimate(tally, bg.PartialPooling(), seed=1)


def with_attributes(report: xr.DataTree, **attrs: str) -> xr.DataTree:
    changed = report.copy()
    changed.attrs = {**report.attrs, **attrs}
    return changed


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)


def test_partial_pooling_cites_model_interval_and_software(report: xr.DataTree) -> None:
    expected = ["gelman2013", "morris1983", "brown2001", "kumar2019", "bayesgroups"]
    text = bg.citations(report)
    assert keys(text) == expected
    assert f"version = {{{bg.__version__}}}" in text
    assert text.count("10.1080/01621459.1983.10477920") == 1, "interval and estimator name the same paper"
    assert text.count("{") == text.count("}")


def test_papers_of_covariates_are_cited_with_covariates(report: xr.DataTree) -> None:
    settings = json.dumps({**json.loads(report.attrs["settings"]), "covariates": ["urban"]})
    assert {"fay1979", "prasad1990"} <= set(keys(bg.citations(with_attributes(report, settings=settings))))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda leaf: leaf.word)
def test_references_of_every_estimator_have_author_year_and_title(estimator: type[bg.PartialPooling]) -> None:
    for paper in estimator.references:
        assert {"author", "year", "title"} <= set(module._fields(paper.removesuffix(" (with covariates)"))), paper


def test_every_kind_of_interval_and_engine_has_a_source() -> None:
    assert set(words._INTERVALS) <= set(module.PAPERS)
    for text in (*module.PAPERS.values(), *module.ENGINES.values(), module.CHAINS, module.ARVIZ, module.PYMC):
        assert {"author", "year", "title"} <= set(module._fields(text)), text


def test_engines_that_draw_chains_are_cited(report: xr.DataTree) -> None:
    assert keys(bg.citations(with_attributes(report, inference="nuts_jax, gibbs")))[-6:] == [
        "hoffman2014", "nishimura2023", "vehtari2021", "kumar2019", "abrilpla2023", "bayesgroups",
    ]  # fmt: skip


def test_texts_of_other_forms_are_notes_and_keys_do_not_clash(report: xr.DataTree) -> None:
    papers = json.dumps(["A manual", "Ann, Bob (2001), One", "Ann, Eve (2001), Two, arXiv:2001.1"])
    text = bg.citations(with_attributes(report, references=papers))
    assert keys(text)[:3] == ["amanual", "ann2001", "ann2001a"]
    assert "note = {A manual}" in text
    assert "eprint = {2001.1}" in text


def test_what_is_no_report_is_refused() -> None:
    with pytest.raises(SchemaError):
        bg.citations(xr.DataTree())
