"""The score over cells: geometric means, their errors, and worst cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.studies.ratios import overall
from examples.comparisons.cell_ratios import cell_ratios, worst_cells


def _sums(ratios: list[float], draws: int = 4, seed: int = 0) -> xr.Dataset:
    """Sums by draw of a standard estimator and of one that is better by a factor per metric."""
    random = np.random.default_rng(seed)
    base = random.uniform(1, 2, size=(draws, len(ratios), 3))
    values = np.stack([base, base * np.array(ratios)[:, None]])
    dims = ("estimator", "draw", "metric", "size_class")
    data = dict.fromkeys(("mae", "interval_score"), (dims, values))
    data |= {"pairs": (dims, np.full(values.shape, 10.0)), "coverage": (dims, np.full(values.shape, 9.0))}
    data |= {"covers": (dims, np.full(values.shape, 10.0))}
    return xr.Dataset(
        data,
        {
            "estimator": ["standard", "new"], "draw": range(draws), "size_class": ["all", "small", "large"],
            "metric": [f"m{i}" for i in range(len(ratios))],
        },
    )  # fmt: skip


def test_the_score_is_a_geometric_mean_over_cells() -> None:
    score = overall({"one": _sums([0.5, 0.25]), "two": _sums([1.0], seed=1)}, reference="standard")
    assert score.loc["new", "mae_all"] == pytest.approx(0.5)
    assert score.loc["new", "mae_all_se"] == pytest.approx(0, abs=1e-12)  # the same ratio in every draw
    assert score.loc["standard", "interval_score_small"] == 1.0
    assert score.loc["new", "coverage_large"] == pytest.approx(0.9)


def test_errors_are_paired_by_draw_and_added_over_populations() -> None:
    one, two = _sums([0.5]), _sums([0.8], seed=1)
    for sums, seed in ((one, 2), (two, 3)):
        sums["mae"][1] *= np.random.default_rng(seed).uniform(0.8, 1.2, size=sums["mae"][1].shape)
    errors = [
        float(overall({"a": sums}, reference="standard").loc["new", "mae_all_se"])
        / float(overall({"a": sums}, reference="standard").loc["new", "mae_all"])
        for sums in (one, two)
    ]
    both = overall({"a": one, "b": two}, reference="standard").loc["new"]
    # The logarithm of a geometric mean of two cells is half the sum of theirs.
    assert both["mae_all_se"] / both["mae_all"] == pytest.approx(np.hypot(errors[0], errors[1]) / 2, rel=0.01)


def test_ratios_by_cell() -> None:
    sums = {"one": _sums([0.5, 0.25]), "two": _sums([1.0])}
    table = cell_ratios(sums, measure="mae", size_class="small", reference="standard")
    assert table.index.tolist() == ["one m0", "one m1", "two"]
    assert table["new"].tolist() == pytest.approx([0.5, 0.25, 1.0])
    assert table["standard"].tolist() == [1.0, 1.0, 1.0]


def test_a_cell_without_small_subgroups_leaves_no_number() -> None:
    sums = _sums([0.5])
    for name in sums.data_vars:
        sums[name].loc[{"size_class": "small"}] = 0.0
    score = overall({"one": sums}, reference="standard")
    assert np.isnan(score.loc["new", "mae_small"])
    assert score.loc["new", "mae_all"] == pytest.approx(0.5)


def test_worst_cells_skip_what_is_not_known() -> None:
    ratios = pd.DataFrame({"a": [0.5, 0.9], "b": [1.0, np.nan], "c": [np.nan, np.nan]}, index=["one", "two"])
    found = worst_cells(ratios, ["a"])
    assert found.loc["b"].tolist() == [2.0, "one", "a"]
    assert np.isnan(found.loc["c", "worst"])


def test_what_cannot_be_scored() -> None:
    with pytest.raises(InputError, match="there is no population to score"):
        overall({}, reference="standard")
    with pytest.raises(InputError, match="reference='standrd' is not in the study; did you mean 'standard'"):
        overall({"one": _sums([1.0])}, reference="standrd")
    renamed = _sums([1.0]).assign_coords(estimator=["standard", "other"])
    with pytest.raises(InputError, match="population 'two' was studied with other estimators"):
        overall({"one": _sums([1.0]), "two": renamed}, reference="standard")
    with pytest.raises(InputError, match="references= is empty"):
        worst_cells(pd.DataFrame({"a": [1.0]}), [])
    with pytest.raises(InputError, match="reference 'b' is not in the table; known: 'a'"):
        worst_cells(pd.DataFrame({"a": [1.0]}), ["b"])
