"""Orders of levels that a tally carries, from where they are said to the estimator that takes them by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data import frames
from bayesgroups.models.shared.ordered_levels import MISSING_LEVEL, order_of, ordered_blocks
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.models.shared.tasks import stack

AGES = ["young", "middle", "old"]
SHUFFLED = [2, 0, 1]


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {"age": rng.choice(AGES, 60), "sex": rng.choice(["f", "m"], 60)}
    return pd.DataFrame(columns).assign(wrong=rng.integers(0, 2, 60))


def tallied(rows: Any, by: Any = ("sex", "age"), **options: Any) -> xr.Dataset:
    return bg.tally(rows, by if isinstance(by, dict) else list(by), ["mean"], loss="wrong", **options)


def categorical(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(age=pd.Categorical(rows["age"], AGES, ordered=True))


def published(**options: Any) -> xr.Dataset:
    """A published table whose rows stand in another order than its levels."""
    who = pd.DataFrame({"age": pd.Categorical(np.array(AGES)[SHUFFLED], AGES, **options)})
    return bg.tally_from_counts([9, 1, 5], [20, 20, 20], who)


@pytest.mark.parametrize(
    ("rows", "by"),
    [
        (categorical, ("sex", "age")),
        (lambda rows: pl.DataFrame(rows).with_columns(pl.col("age").cast(pl.Enum(AGES))), ("sex", "age")),
        (lambda rows: pl.LazyFrame(rows).with_columns(pl.col("age").cast(pl.Enum(AGES))), ("sex", "age")),
        (lambda rows: pa.Table.from_pandas(categorical(rows)), ("sex", "age")),
        (lambda rows: rows, {"sex": None, "age": AGES}),
    ],
    ids=["pandas", "polars", "polars lazy", "pyarrow", "declared"],
)
def test_ordered_columns_and_declared_levels_are_carried(rows: Any, by: Any) -> None:
    assert order_of(tallied(rows(frame()), by), "age") == AGES


def test_rows_without_the_attribute_have_no_place_in_the_order() -> None:
    assert MISSING_LEVEL == frames.MISSING_LEVEL
    rows = categorical(frame())
    rows.loc[:3, "age"] = None
    tally = tallied(rows, missing="level")
    assert tally["age"].values[:4].tolist() == [*AGES, MISSING_LEVEL]
    assert order_of(tally, "age") == AGES
    taken, named = (ordered_blocks(tally, subsets(tally), {"age": order}) for order in (None, AGES))
    for first, second in zip(taken.blocks, named.blocks, strict=True):
        np.testing.assert_array_equal(first.root, second.root)


def test_a_published_table_carries_the_order_of_a_categorical_column() -> None:
    tally = published(ordered=True)
    assert tally["age"].values.tolist() == ["old", "young", "middle"]
    assert order_of(tally, "age") == AGES
    assert order_of(published(ordered=False), "age") == ["old", "young", "middle"]
    assert order_of(stack(tally), "age") == AGES
    xr.testing.assert_identical(
        bg.estimate(tally, bg.CrossedEffects(ordered=("age",)), seed=1)["posterior"]["mu"].drop_attrs(),
        bg.estimate(published(), bg.CrossedEffects(ordered={"age": AGES}), seed=1)["posterior"]["mu"].drop_attrs(),
    )


def test_estimates_carry_it_too_and_files_keep_it(tmp_path: Any) -> None:
    who = pd.DataFrame({"age": pd.Categorical(np.array(AGES)[SHUFFLED], AGES, ordered=True)})
    tally = bg.tally_from_estimates([0.5, 0.1, 0.3], [0.01] * 3, who)
    bg.save_tally(tally, tmp_path / "published.nc")
    assert order_of(bg.open_tally(tmp_path / "published.nc"), "age") == AGES


def test_sums_of_tallies_keep_it() -> None:
    tally = published(ordered=True)
    assert order_of(bg.add_tallies([tally, tally]), "age") == AGES
    who = pd.DataFrame({"age": pd.Categorical(["old", "young"], AGES, ordered=True)})
    assert order_of(bg.add_tallies([tally, bg.tally_from_counts([1, 2], [9, 9], who)]), "age") == AGES


def test_the_plot_and_the_priors_show_the_order_that_was_taken() -> None:
    report = bg.estimate(published(ordered=True), bg.CrossedEffects(ordered=("age",)), seed=1)
    ticks = bg.plots.ordered_effect(report, "age").get_xticklabels()
    assert [tick.get_text() for tick in ticks] == AGES
    words = bg.CrossedEffects(ordered=("age",)).describe_priors(published(ordered=True))
    assert "follows the order of age (young < middle < old)" in words
