"""Folds: rows split and tallied, or sums dealt as rows would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.tallies.dealing import deal_counts, deal_labels, deal_means, shares
from bayesgroups.tallies.folds import Fold, deal, fold_tallies, split_rows, stream

SITE = pd.DataFrame({"site": ["a", "b", "c"]})


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 120
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["y", "o", "x"], n, p=[0.6, 0.37, 0.03]),
            "y": rng.integers(0, 2, n),
            "score": rng.random(n),
            "loss": rng.exponential(size=n),
            "visits": rng.poisson(2.0, n),
            "patient": rng.integers(0, 30, n),
            "weight": rng.uniform(0.5, 2, n),
        }
    )


def tallied(rows: pd.DataFrame, **further: Any) -> xr.Dataset:
    return bg.tally(
        rows, by=["sex", "age"], metrics=["fnr", "f1", "auc", "mean"], y_true="y", y_score="score", threshold=0.5,
        loss="loss", features=["visits"], **further,
    )  # fmt: skip


def total(folds: list[Fold], name: str = "count") -> Any:
    return np.sum([fold.validation[name].values for fold in folds], axis=0)


# --- Rows -------------------------------------------------------------------------------------------------------------


def test_rows_are_split_evenly_within_subgroups(rows: pd.DataFrame) -> None:
    parts = split_rows(rows, ["sex", "age"], folds=5)
    assert pd.concat(parts).sort_index().equals(rows)
    sizes = pd.DataFrame([part.groupby(["sex", "age"]).size() for part in parts]).fillna(0)
    assert (sizes.max() - sizes.min()).max() <= 1


def test_the_seed_decides_the_split(rows: pd.DataFrame) -> None:
    first, again, other = (split_rows(rows, ["sex"], seed=seed) for seed in (1, 1, 2))
    assert all(one.equals(two) for one, two in zip(first, again, strict=True))
    assert not all(one.index.equals(two.index) for one, two in zip(first, other, strict=True))


def test_small_subgroups_do_not_all_fill_the_first_folds() -> None:
    frame = pd.DataFrame({"site": np.arange(2000)})
    sizes = [len(part) for part in split_rows(frame, ["site"])]
    assert min(sizes) > 150


def test_few_rows_are_left_out_one_by_one() -> None:
    frame = pd.DataFrame({"site": list("aabbbc")})
    assert [len(part) for part in split_rows(frame, ["site"])] == [1] * 6


def test_clusters_are_not_split(rows: pd.DataFrame) -> None:
    parts = split_rows(rows, ["sex", "age"], folds=4, cluster="patient")
    assert sum(len(part) for part in parts) == len(rows)
    assert sum(part["patient"].nunique() for part in parts) == rows["patient"].nunique()


def test_a_frame_keeps_its_type(rows: pd.DataFrame) -> None:
    parts = split_rows(pl.DataFrame(rows.to_dict("list")), "sex", folds=3)
    assert all(isinstance(part, pl.DataFrame) for part in parts)


def test_training_and_validation_add_up_to_the_tally(rows: pd.DataFrame) -> None:
    whole = tallied(rows)
    folds = fold_tallies([tallied(part) for part in split_rows(rows, ["sex", "age"], folds=6)])
    assert len(folds) == 6
    for fold in folds:
        assert fold.training["subgroup"].values.tolist() == fold.validation["subgroup"].values.tolist()
        again = bg.add_tallies([fold.training, fold.validation]).sel(subgroup=whole["subgroup"].values)
        for name in ("rows", "count", "estimate", "row_variance", "feature_mean"):
            np.testing.assert_allclose(again[name].values, whole[name].values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("further", [{"weights": "weight"}, {"cluster": "patient"}])
def test_weights_and_clusters_can_be_folded(rows: pd.DataFrame, further: dict[str, Any]) -> None:
    whole = tallied(rows, **further)
    parts = [
        tallied(part, **further) for part in split_rows(rows, ["sex", "age"], folds=4, cluster=further.get("cluster"))
    ]
    for fold in fold_tallies(parts):
        again = bg.add_tallies([fold.training, fold.validation]).sel(subgroup=whole["subgroup"].values)
        np.testing.assert_allclose(again["estimate"].values, whole["estimate"].values, rtol=1e-9)
        np.testing.assert_allclose(again["count"].values, whole["count"].values, rtol=1e-6)


def test_a_subgroup_that_a_part_lacks_is_empty_there() -> None:
    parts = [bg.tally_from_counts([1, 2], [4, 5], SITE[:2]), bg.tally_from_counts([3, 1], [6, 2], SITE[1:])]
    folds = fold_tallies(parts)
    assert folds[0].validation["count"].values.tolist() == [[4.0, 5.0, 0.0]]
    assert folds[0].training["count"].values.tolist() == [[0.0, 6.0, 2.0]]
    assert folds[0].training["status"].values.tolist()[0][0] == "undefined"
    assert folds[0].validation["reason"].values.tolist()[0][2] == "no rows"


# --- One tally --------------------------------------------------------------------------------------------------------


def test_successes_are_dealt_whole_and_add_up() -> None:
    tally = bg.tally_from_counts([3, 40, 0], [9, 101, 0], SITE)
    folds = deal(tally, 10, seed=3)
    assert total(folds).tolist() == [[9.0, 101.0, 0.0]]
    assert total(folds, "successes").tolist() == [[3.0, 40.0, 0.0]]
    for fold in folds:
        both = fold.training["successes"].values + fold.validation["successes"].values
        assert both.tolist() == [[3.0, 40.0, 0.0]]
        assert set(fold.validation["count"].values[0, 0:1]) <= {0.0, 1.0}
        assert np.isnan(fold.training["estimate"].values[0, 2])
        left = fold.validation["count"].values > 0
        assert np.isfinite(fold.validation["estimate"].values[left]).all()
        pooled = float(tally["pooled_variance"][0])
        assert fold.validation["sampling_variance"].values[left] == pytest.approx(
            pooled / fold.validation["count"].values[left]
        )


def test_dealt_successes_have_the_law_of_dealt_rows() -> None:
    """Hypergeometric mean and variance of the successes in a fold of 3 of 9 rows."""
    rng = np.random.default_rng(1)
    dealt = [
        count * mean for count, mean in (deal_counts(np.array([4.0]), np.array([9.0]), 3, rng) for _ in range(4000))
    ]
    first = np.array(dealt)[:, 0, 0]
    assert first.mean() == pytest.approx(4 / 3, abs=0.05)
    assert first.var() == pytest.approx(3 * 4 / 9 * 5 / 9 * 6 / 8, abs=0.03)


def test_dealt_means_have_the_moments_of_dealt_rows() -> None:
    rng = np.random.default_rng(1)
    given = np.array([2.0]), np.array([9.0]), np.array([0.5])
    dealt = np.array([deal_means(*given, 3, rng, whole=True)[1][:, 0] for _ in range(4000)])
    assert dealt.mean(axis=1) == pytest.approx(2.0)
    assert dealt.var(axis=0) == pytest.approx(0.5 * (1 / 3 - 1 / 9), abs=0.006)
    training, validation = (6.0 - dealt[:, 0]) / 2, dealt[:, 0]
    assert np.cov(training, validation)[0, 1] == pytest.approx(-0.5 / 9, abs=0.004)  # of rows without replacement


def test_every_kind_of_metric_adds_up(rows: pd.DataFrame) -> None:
    tally = tallied(rows)
    folds = deal(tally, 5)
    np.testing.assert_allclose(total(folds), tally["count"].values, atol=1e-9)
    for fold in folds:
        parts = [
            np.nan_to_num(side["estimate"].values * side["count"].values) for side in (fold.training, fold.validation)
        ]
        np.testing.assert_allclose(
            sum(parts), np.nan_to_num(tally["estimate"].values * tally["count"].values), atol=1e-9
        )
        assert fold.training["feature_mean"].equals(tally["feature_mean"])
    auc = [fold.validation["count"].sel(metric="auc").values for fold in folds]
    assert all(np.allclose(one, auc[0]) for one in auc)


def test_published_estimates_are_thinned() -> None:
    tally = bg.tally_from_estimates([0.2, 0.5, 0.9], [0.1, 0.2, 0.05], SITE)
    z, v = tally["estimate"].values, tally["sampling_variance"].values
    rng = np.random.default_rng(1)
    first = np.array([deal_means(z[0], np.ones(3), v[0], 4, rng, whole=False)[1][0] for _ in range(4000)])
    assert first.mean(axis=0) == pytest.approx(z[0], abs=0.03)
    assert first.var(axis=0) == pytest.approx(3 * v[0], rel=0.1)
    total_z = [side["estimate"].values / side["sampling_variance"].values for side in vars(deal(tally, 4)[1]).values()]
    assert sum(total_z) == pytest.approx(z / v)
    fold = deal(tally, 4)[0]
    assert fold.training["sampling_variance"].values == pytest.approx(v * 4 / 3)
    assert fold.validation["sampling_variance"].values == pytest.approx(v * 4)


def test_weighted_rates_are_thinned(rows: pd.DataFrame) -> None:
    tally = tallied(rows, weights="weight")
    folds = deal(tally, 4)
    np.testing.assert_allclose(total(folds), tally["count"].values)


@pytest.mark.parametrize("analysis", ["robust", "mean", "ignore"])
def test_clusters_are_dealt_with_their_sums(rows: pd.DataFrame, analysis: Any) -> None:
    tally = tallied(rows, cluster="patient", cluster_analysis=analysis).sel(metric=["fnr", "mean"])
    folds = deal(tally, 4)
    np.testing.assert_allclose(total(folds), tally["count"].values, rtol=1e-9)
    cells = tally.sel(metric="mean")
    mine = cells["cluster_sum"].values[cells["cluster_subgroup"].values == 0]
    weight = cells["cluster_weight"].values[cells["cluster_subgroup"].values == 0]
    one = [fold.validation.sel(metric="mean") for fold in folds]
    if analysis == "mean":
        assert sum(np.nan_to_num(fold["count"] * fold["estimate"])[0] for fold in one) == pytest.approx(
            (mine / weight).sum()
        )
        assert all(fold["count"].values[0] == round(float(fold["count"].values[0])) for fold in one)
    else:
        share = [float(fold["count"].values[0] / cells["count"].values[0] * weight.sum()) for fold in one]
        assert share == pytest.approx([round(value) for value in share])


def test_a_metric_is_dealt_alike_whichever_others_there_are(rows: pd.DataFrame) -> None:
    tally = tallied(rows)
    for both, alone in zip(deal(tally, 4, 7), deal(tally.sel(metric=["mean"]), 4, 7), strict=True):
        assert (
            both.validation["estimate"].sel(metric=["mean"]).values.tobytes()
            == alone.validation["estimate"].values.tobytes()
        )


def test_a_subgroup_without_spread_has_none_in_its_folds() -> None:
    _, mean = deal_means(np.array([0.7]), np.array([8.0]), np.array([0.0]), 4, np.random.default_rng(1), whole=True)
    assert mean == pytest.approx(0.7)


# --- Dealing ----------------------------------------------------------------------------------------------------------


def test_shares_differ_by_one_at_most() -> None:
    size = np.array([0, 1, 9, 10, 25])
    found = shares(size, 10, np.random.default_rng(1))
    assert found.sum(axis=0).tolist() == size.tolist()
    assert (found.max(axis=0) - found.min(axis=0)).max() <= 1


def test_a_label_in_two_strata_goes_to_one_fold() -> None:
    labels, strata = ["p", "q", "p", "r", "s"], [0, 0, 1, 1, 1]
    found = deal_labels(labels, strata, 2, np.random.default_rng(5))
    assert found[0] == found[2] != found[1]
    assert found[3] != found[4]


# --- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folds", [1, 2.5, True])
def test_folds_must_be_whole_and_two_or_more(rows: pd.DataFrame, folds: Any) -> None:
    doors: list[Callable[[], object]] = [lambda: split_rows(rows, ["sex"], folds), lambda: deal(tallied(rows), folds)]
    for door in doors:
        with pytest.raises(InputError, match="folds must be a whole number, 2 or more"):
            door()


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_seeds_must_be_whole(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a whole number"):
        stream(seed, "fnr", "folds")


def test_absent_columns_are_refused(rows: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="column 'sexx' is not in the frame"):
        split_rows(rows, ["sexx"])
    with pytest.raises(InputError, match="column 'person' is not in the frame"):
        split_rows(rows, ["sex"], cluster="person")


def test_one_part_is_no_fold(rows: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="folds need two parts or more; got 1"):
        fold_tallies([tallied(rows)])


def test_published_estimates_cannot_be_added_to_folds() -> None:
    tally = bg.tally_from_estimates([0.2, 0.5, 0.9], [0.1, 0.2, 0.05], SITE)
    with pytest.raises(InputError, match="published estimates have no sums to add"):
        fold_tallies([tally, tally])
