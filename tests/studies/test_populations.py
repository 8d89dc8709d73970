"""Populations: truth, draws by either design, and the control in which no subgroup differs."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pytest
import xarray as xr

from bayesgroups.data.metrics import Metric
from bayesgroups.datasets import largest_remainder
from bayesgroups.errors import InputError
from examples.comparisons.shared_cells import share_of
from tests.studies.small_population import people, population


def test_truth_is_the_value_in_the_population_where_there_are_rows_enough() -> None:
    truth = population().truth()
    frame = people()
    for race, sex in (("a", "f"), ("c", "f")):
        mine = frame[(frame["race"] == race) & (frame["sex"] == sex)]
        missed = (mine["score"] < 0.7)[mine["y"] == 1].mean()
        assert truth.sel(metric="fnr", subgroup=f"{race} | {sex}").item() == pytest.approx(missed)
        assert truth.sel(metric="loss", subgroup=f"{race} | {sex}").item() == pytest.approx(mine["loss"].mean())
    assert np.isnan(truth.sel(subgroup="c | m").values).all()  # 30 rows
    assert np.isfinite(population(fewest=1).truth().values).all()


def test_only_columns_that_are_needed_are_kept() -> None:
    assert population().frame.columns.tolist() == ["race", "sex", "y", "score", "wrong", "loss"]


def test_a_draw_is_a_function_of_name_draw_and_seed() -> None:
    some = population()
    xr.testing.assert_identical(some.draw(3, seed=1).tally, some.draw(3, seed=1).tally)
    others = (some.draw(4, seed=1), some.draw(3, seed=2), population(name="others").draw(3, seed=1))
    for other in others:
        assert not np.array_equal(other.tally["estimate"].values, some.draw(3, seed=1).tally["estimate"].values)


def test_every_subgroup_is_there_in_every_draw_aligned_with_the_truth() -> None:
    some = population(rows=3)
    truth = some.truth()
    for draw in range(3):
        drawn = some.draw(draw, seed=1, truth=truth)
        assert drawn.tally["subgroup"].values.tolist() == truth["subgroup"].values.tolist()
        assert drawn.rows.sum() == 3
        expected = np.isfinite(drawn.tally["estimate"].values) & np.isfinite(truth.values)
        assert np.array_equal(drawn.scored, expected)


def test_stratified_draws_have_the_sizes_of_largest_remainders_and_no_row_twice() -> None:
    some = population(design="stratified", rows=100)
    sample = some.sample(0, seed=1)
    assert not sample.index.duplicated().any()
    sizes = [400, 300, 120, 80, 45, 30]
    assert some.draw(0, seed=1).rows.tolist() == largest_remainder(sizes, 100).tolist()
    assert population(rows=2000).sample(0, seed=1).index.duplicated().any()


def test_means_over_draws_come_close_to_the_truth() -> None:
    some = population(rows=400)
    truth = some.truth()
    mean = np.nanmean([some.draw(i, seed=5).tally["estimate"].values for i in range(12)], axis=0)
    assert np.nanmax(np.abs(mean - truth.values)) < 0.12


def test_without_differences_every_subgroup_has_the_value_of_everyone() -> None:
    some = population(fewest=1, rows=400).without_differences()
    truth, frame = some.truth(), people()
    assert truth.sel(metric="loss").values == pytest.approx(np.full(6, frame["loss"].mean()))
    assert truth.sel(metric="fnr").values == pytest.approx(np.full(6, (frame["score"] < 0.7)[frame["y"] == 1].mean()))
    sample = some.sample(0, seed=1)
    joint = set(zip(frame["y"], frame["score"], frame["loss"], strict=True))
    assert set(zip(sample["y"], sample["score"], sample["loss"], strict=True)) <= joint  # rows stay whole
    drawn = [some.draw(i, seed=2).tally["estimate"].sel(metric="loss").values for i in range(12)]
    assert np.nanmax(np.abs(np.nanmean(drawn, axis=0) - truth.sel(metric="loss").values)) < 0.2


def test_fingerprints_tell_populations_apart() -> None:
    same = population().fingerprint()
    assert same == population().fingerprint()
    assert same == population(fewest=3).fingerprint()  # the draws are the same
    frame = people().astype({"wrong": int})
    changed = frame.assign(loss=frame["loss"] + 1e-9)
    others = [
        population(rows=61),
        population(frame=changed),
        population(threshold=0.6),
        population().without_differences(),
    ]
    assert len({same, *(other.fingerprint() for other in others)}) == 5


def test_what_is_no_population() -> None:
    with pytest.raises(InputError, match=r"population 'people' has no column 'scores'; did you mean 'score'\?"):
        population(y_score="scores")
    with pytest.raises(InputError, match="'race' has level 'c', not in"):
        population(by={"race": ("a", "b"), "sex": ("f", "m")})
    with pytest.raises(InputError, match="has 975 rows; 0 cannot be drawn"):
        population(rows=0)
    with pytest.raises(InputError, match="has 975 rows; 976 cannot be drawn"):
        population(rows=976, design="stratified")
    with pytest.raises(InputError, match="design='cluster' is not"):
        population(design="cluster")
    with pytest.raises(InputError, match="must name a column"):
        population(metrics=(Metric("twice", value=nw.col("loss") * 2),))


def test_shares_are_rounded_to_the_nearest_row() -> None:
    assert [share_of(2_581, share) for share in (0.032, 0.1, 0.32)] == [83, 258, 826]
    assert share_of(3, 0.001) == 1
