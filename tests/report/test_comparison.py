"""Reports side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg

SITE = pd.DataFrame({"site": ["a", "b", "c"]})


def tally(metric: str = "fnr", names: pd.DataFrame = SITE) -> xr.Dataset:
    return bg.tally_from_counts([1, 30, 9], [2, 100, 60], names, metric=metric)


def test_estimates_widths_and_shifts() -> None:
    reports = {
        "alone": bg.estimate(tally(), bg.NoPooling(), seed=1),
        "shared": bg.estimate(tally(), bg.PartialPooling(), seed=1),
    }
    table = bg.compare(reports)
    assert table["estimator"].values.tolist() == ["alone", "shared"]
    assert table["word"].values.tolist() == ["no_pooling", "partial_pooling"]
    for name, report in reports.items():
        xr.testing.assert_equal(table["estimate"].sel(estimator=name, drop=True), report["estimates"]["estimate"])
    assert bool((table["width_ratio"].sel(estimator="alone") == 1).all())
    assert bool((table["shift"].sel(estimator="alone") == 0).all())
    small = table.sel(estimator="shared", approach="bayesian", subgroup="a", level=0.95)
    assert float(small["width_ratio"].item()) < 0.7
    assert np.allclose(small["width"], small["upper"] - small["lower"])


def test_reports_that_may_be_of_systems_on_the_same_rows_name_the_paired_comparison() -> None:
    system = bg.tally_from_counts([1, 33, 9], [2, 100, 60], SITE, metric="fnr")
    first, second = (bg.estimate(counts, bg.NoPooling(), seed=1) for counts in (tally(), system))
    note = bg.compare({"new": first, "old": second}).attrs["note"]
    assert note.startswith(
        "'new' and 'old' have equally many rows in every subgroup, with other values: if they are systems"
    )
    assert "bg.paired_tally() and bg.compare_systems() compare them row by row" in note
    assert "note" not in bg.compare({"new": first, "again": first}).attrs


def test_reports_about_something_else_are_refused() -> None:
    first = bg.estimate(tally(), bg.NoPooling(), seed=1)
    with pytest.raises(bg.InputError, match=r"compare\(\) got no report"):
        bg.compare({})
    with pytest.raises(bg.InputError, match="reports 'a' and 'b' are not about the same metrics"):
        bg.compare({"a": first, "b": bg.estimate(tally("acc"), bg.NoPooling(), seed=1)})
    other = bg.estimate(tally(names=SITE.assign(site=["a", "b", "d"])), bg.NoPooling(), seed=1)
    with pytest.raises(bg.InputError, match="not about the same subgroups"):
        bg.compare({"a": first, "b": other})
    with pytest.raises(bg.SchemaError, match="expected a report"):
        bg.compare({"a": xr.Dataset()})  # type: ignore[dict-item]
