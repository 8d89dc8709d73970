"""Names of columns: each works from rows to page as any other, or is refused at the door with the way out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.report.schema import ESTIMATES
from bayesgroups.tallies.confusion import CELL_NAMES
from bayesgroups.tallies.subgroups import RESERVED, with_attributes
from bayesgroups.views.tables import report_frame
from bayesgroups.views.tables.answer_files import save_answer
from bayesgroups.views.tables.exports import export_report

NUMBERS = ("estimate", "lower", "upper", "std_error", "status")
STRANGE = [
    " ", "age group", "a\tb", "a\nb", "", ".", "..", "a.b", "é", "日本", "'\"", "x" * 300, "0", "|", "\\", "=1+1", "index",
    "nulls", "model", "variable", "group", "__by_0__", "age_group", "constant_data", "posterior", "outcome", "weight", "mean",
    "groups", "probability_worst", "name", "values", "sizes",
]  # fmt: skip


def rows(name: str) -> pd.DataFrame:
    levels = [["a", "a", "b", "b"] * 6, ["x", "y", "x", "y"] * 6]
    outcome = [0, 1, 1, 0, 1, 1, 0, 0] * 3
    decision = [0, 1, 0, 1, 1, 1, 0, 0] * 3
    return pd.DataFrame({name: levels[0], "z other": levels[1], "y true": outcome, "y pred": decision})


def tally_by(name: str, *, confusion: bool = False) -> xr.Dataset:
    return bg.tally(
        rows(name), [name, "z other"], ["fnr"], y_true="y true", y_pred="y pred", confusion=confusion
    )  # fmt: skip


@pytest.fixture(scope="module")
def reports() -> dict[str, xr.DataTree]:
    fits = {"alone": bg.NoPooling(), "pooled": bg.PartialPooling(), "cells": bg.ConfusionModel()}
    return {name: bg.estimate(tally_by("plain", confusion=name == "cells"), fit, seed=1) for name, fit in fits.items()}


def names_in_use(reports: dict[str, xr.DataTree]) -> list[str]:
    """Every name of the schema: variables, dims, attributes and groups of tallies, reports and answers."""
    parts = [node.to_dataset() for report in reports.values() for node in report.subtree]
    parts += [bg.ranks(reports["alone"]), bg.contrasts(reports["alone"], reference="overall")]
    parts += [bg.certify(reports["alone"], level=0.9)]
    names = {str(name) for part in parts for name in (*part.variables, *part.dims, *part.attrs)}
    return sorted(names | set(reports["alone"].children))


def walk(name: str, report: xr.DataTree, folder: Path) -> None:
    """From rows to answers, compared with the same rows under a plain name."""
    tally = tally_by(name)
    bg.save_tally(tally, folder / "t.nc")
    assert bg.open_tally(folder / "t.nc").identical(tally)
    assert tally[name].values.tolist() == ["a", "a", "b", "b"]
    made = bg.estimate(tally, bg.NoPooling(), seed=1)
    bg.save_report(made, folder / "r.nc", include=[])
    opened = bg.open_report(folder / "r.nc")
    for variable in NUMBERS:
        np.testing.assert_array_equal(opened["estimates"][variable].values, report["estimates"][variable].values)
    assert opened["estimates"].to_dataset()[name].values.tolist() == ["a", "a", "b", "b"]
    frame, plain = report_frame(opened), report_frame(report)
    shared = [column for column in plain if column not in ("plain", "z other")]
    pd.testing.assert_frame_equal(frame[shared], plain[shared])
    export_report(opened, folder / "r.csv")
    for answer, expected in (
        (bg.ranks(made), bg.ranks(report)),
        (bg.contrasts(made, reference="overall"), bg.contrasts(report, reference="overall")),
    ):
        xr.testing.assert_equal(answer.drop_vars(name, errors="ignore") if name not in expected else answer,
                                expected.drop_vars("plain", errors="ignore"))  # fmt: skip
        save_answer(answer, "answer", folder / "a.nc")
        save_answer(answer, "answer", folder / "a.csv")


@pytest.mark.parametrize("size", [10, pytest.param(10_000, marks=pytest.mark.slow)])
def test_every_name_works_or_is_refused(size: int, reports: dict[str, xr.DataTree], tmp_path: Path) -> None:
    refused = []
    names = sorted({*names_in_use(reports), *STRANGE} - {"plain", "z other", "y true", "y pred"})
    for name in names if size >= len(names) else ["age group", "weight", "lower"]:
        if name in RESERVED | ESTIMATES:
            refused.append(name)
            with pytest.raises(
                InputError, match=rf"attribute '{name}' has a name .* rename the column, e.g. '{name}_'"
            ):
                walk(name, reports["alone"], tmp_path)
        else:
            walk(name, reports["alone"], tmp_path)
    assert not set(refused) & set(STRANGE)


@pytest.mark.parametrize("name", ["groups"])
def test_pages_of_strange_names(name: str, reports: dict[str, xr.DataTree], tmp_path: Path) -> None:
    report = bg.estimate(tally_by(name), bg.PartialPooling(), seed=1)
    page = bg.write_html(report, tmp_path / "p.html").read_text("utf-8")
    bg.save_report(report, tmp_path / "r.nc")
    assert len(page) > 10_000
    opened = bg.open_report(tmp_path / "r.nc")
    for variable in NUMBERS:
        np.testing.assert_array_equal(
            opened["estimates"][variable].values, reports["pooled"]["estimates"][variable].values
        )


@pytest.mark.parametrize("name", sorted(CELL_NAMES))
def test_names_of_cells_collide_with_cells_alone(name: str) -> None:
    assert name in tally_by(name).coords
    with pytest.raises(
        InputError, match=rf"attribute '{name}' .* confusion cells .* rename the column, e.g. '{name}_'"
    ):
        tally_by(name, confusion=True)


@pytest.mark.parametrize(("name", "fit"), [("tau", bg.PartialPooling()), ("overall", bg.PartialPooling())])
def test_parameters_collide_with_estimators_that_have_them(name: str, fit: bg.PartialPooling) -> None:
    with pytest.raises(InputError, match=rf"attribute '{name}' has a name that the table of estimates uses itself"):
        bg.estimate(tally_by(name), fit, seed=1)
    assert bg.estimate(tally_by(name), bg.NoPooling(), seed=1).attrs["usable"] == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("race/ethnicity", "slash in its name, .* rename the column, e.g. 'race_ethnicity'"),
        ("a\x00b", "a character in its name that no file can hold; rename the column"),
        ("\ud800", "a character in its name that no file can hold; rename the column"),
        ("feature", "a name that the tally uses itself"),
    ],
)
def test_names_that_nothing_can_hold(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.tally({name: ["a", "b"], "p": [0, 1]}, [name], ["sel"], y_pred="p")
    if name == "\ud800":  # no name for pandas either
        return
    with pytest.raises(InputError, match=message):
        bg.tally_from_counts([1, 2], [3, 4], pd.DataFrame({name: ["a", "b"]}))


@pytest.mark.parametrize("level", ["a\x00", "\udfff"])
def test_levels_that_nothing_can_hold(level: str) -> None:
    with pytest.raises(InputError, match="attribute 'site' has level .*, with a character that no file can hold"):
        bg.tally_from_counts([1, 2], [3, 4], pd.DataFrame({"site": pd.Series([level, "b"], dtype=object)}))


def test_an_attribute_gives_way_to_a_variable_of_an_answer() -> None:
    answer = xr.Dataset({"mean": ("subgroup", [1.0])}, {"subgroup": ["a"]})
    given = with_attributes(answer, {"mean": ("subgroup", ["x"]), "site": ("subgroup", ["y"])})
    assert list(given.coords) == ["subgroup", "site"]
    assert given["mean"].values.tolist() == [1.0]
