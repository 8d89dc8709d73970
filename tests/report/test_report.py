"""Saving and opening: whole or not at all, checked, in parts, and readable by ArviZ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.report.schema import SCHEMA_VERSION, check


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 80), "y": rng.integers(0, 2, 80), "s": rng.random(80), "id": range(80)}
    )
    tally = bg.tally(frame, ["sex"], ["fnr", "auc"], y_true="y", y_score="s", threshold=0.5, cluster="id")
    return bg.estimate(tally, bg.PartialPooling(), seed=1)


def test_what_is_saved_is_what_is_opened(fitted: xr.DataTree, tmp_path: Path) -> None:
    path = bg.save_report(fitted, tmp_path / "r.nc")
    opened = bg.open_report(path)
    xr.testing.assert_identical(opened, fitted)
    for group in fitted.children:
        for name, variable in fitted[group].to_dataset().variables.items():
            assert opened[group].to_dataset()[name].dtype.kind == variable.dtype.kind


def test_parts_can_be_left_out(fitted: xr.DataTree, tmp_path: Path) -> None:
    opened = bg.open_report(bg.save_report(fitted, tmp_path / "r.nc", include=["posterior"]))
    assert set(opened.children) == {"posterior", "estimates", "diagnostics", "constant_data"}
    assert "score_cell" not in opened["constant_data"].dims
    assert "cluster_cell" not in opened["constant_data"].dims
    assert opened.attrs == fitted.attrs
    with pytest.raises(bg.InputError, match="include= names 'posteriors', which the report does not have"):
        bg.save_report(fitted, tmp_path / "r.nc", include=["posteriors"])


def test_an_interrupted_save_leaves_the_old_file(
    fitted: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bg.save_report(fitted, tmp_path / "r.nc")
    before = path.read_bytes()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.DataTree, "to_netcdf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bg.save_report(fitted, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["r.nc"]


def test_arviz_opens_the_file(fitted: xr.DataTree, tmp_path: Path) -> None:
    import arviz as az

    path = bg.save_report(fitted, tmp_path / "r.nc")
    table = az.summary(az.from_netcdf(str(path)).load())
    assert "mu[fnr, f]" in table.index
    assert (table["r_hat"].astype(float) < 1.01).all()


def altered(report: xr.DataTree, **attrs: Any) -> xr.DataTree:
    copy = report.copy()
    copy.attrs = report.attrs | attrs
    return copy


def without(report: xr.DataTree, group: str, variable: str | None = None) -> xr.DataTree:
    groups = {name: report[name].to_dataset() for name in report.children}
    if variable is None:
        del groups[group]
    else:
        groups[group] = groups[group].drop_vars(variable)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = dict(report.attrs)
    return tree


def test_other_trees_and_files_are_refused(fitted: xr.DataTree, tmp_path: Path) -> None:
    cases: list[tuple[object, str]] = [
        (xr.Dataset(), "expected a report .* got Dataset"),
        (xr.DataTree(), "root attribute 'schema' is None"),
        (
            altered(fitted, schema_version=SCHEMA_VERSION + 1),
            "knows 1: it was written by a newer bayesgroups; update it",
        ),
        (without(fitted, "estimates"), "lacks the group 'estimates'"),
        (without(fitted, "diagnostics", "sentence"), "group 'diagnostics' of the report lacks the variable 'sentence'"),
    ]
    for tree, message in cases:
        with pytest.raises(bg.SchemaError, match=message):
            check(tree)
    (tmp_path / "text.nc").write_text("no")
    with pytest.raises(bg.SchemaError, match="is not a NetCDF4 file"):
        bg.open_report(tmp_path / "text.nc")
    with pytest.raises(bg.InputError, match="does not exist"):
        bg.open_report(tmp_path / "nowhere.nc")
    with pytest.raises(bg.InputError, match=r"folder .* does not exist"):
        bg.save_report(fitted, tmp_path / "nowhere" / "r.nc")
