"""Statistics of tallies against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.tallies.analyses import analyse
from bayesgroups.tallies.auc import ScoreCells, error_bound, sort_cells, statistics
from bayesgroups.tallies.auc_variances import PooledAuc, effective_pairs, pool
from bayesgroups.tallies.clusters import (
    Cells,
    bootstrap_variance,
    effective_squares,
    intraclass_correlation,
    robust_variance,
)
from bayesgroups.tallies.constant_metrics import without_variance
from bayesgroups.tallies.dealing import deal_counts, deal_labels, deal_means, first_folds, shares
from bayesgroups.tallies.disagreement_rates import bounds, sum_others
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values
from bayesgroups.tallies.folds import deal, fold_tallies
from bayesgroups.tallies.moments import Moments, add
from bayesgroups.tallies.participation import participants
from bayesgroups.tallies.score_moments import bin_rows, cell_moments
from bayesgroups.tallies.sums import Clusters, Sums
from bayesgroups.tallies.sums import add as add_sums
from bayesgroups.tallies.variances import mean_inverse_count, pooled

SITE = pd.DataFrame({"site": ["a", "b"]})
SIZE, TOTAL = np.array([4.0, 1, 2]), np.array([0.6, 0.4, 0.5])
CLUSTERS = Cells(np.zeros(3, dtype=np.intp), SIZE, TOTAL, SIZE, 1)
MEAN, SCATTER = np.array([1.5 / 7]), np.array([0.063571428571])


def test_correlation_and_variance_of_three_clusters() -> None:
    assert intraclass_correlation(CLUSTERS, MEAN, SCATTER) == pytest.approx(0.829268, abs=5e-7)
    assert robust_variance(CLUSTERS, MEAN).round(6).tolist() == [0.003236]


def test_effective_rows_of_clusters() -> None:
    ten = np.array([10.0, 10])
    cells = Cells(np.zeros(2, dtype=np.intp), ten, ten, ten, 1)
    assert 20**2 / effective_squares(cells, 0.1)[0] == pytest.approx(20 / (1 + 9 * 0.1), rel=1e-12)


def test_bootstrap_of_two_clusters() -> None:
    three = 3 * np.ones(2)
    cells = Cells(np.zeros(2, dtype=np.intp), three, np.array([3.0, 0]), three, 1)
    assert bootstrap_variance(cells, np.array([0.5])).tolist() == [0.125]


def test_effective_counts_of_the_three_analyses() -> None:
    cells = Clusters(np.zeros(3, dtype=np.intp), np.array(["a", "b", "c"]), SIZE, SIZE[None], TOTAL[None], SIZE[None])
    seven = np.array([[7.0]])
    sums = Sums(np.array([7.0]), Moments(seven, seven, MEAN[None], SCATTER[None]), weighted=False, clusters=cells)
    assert analyse(sums, ["mean"], "ignore").moments.count.tolist() == [[7.0]]
    assert analyse(sums, ["mean"], "robust").moments.count.round(4).tolist() == [[2.633]]
    assert analyse(sums, ["mean"], "mean").moments.count.tolist() == [[3.0]]


def test_pairs_of_an_auc() -> None:
    auc, four, three = np.array([0.75, 1.0]), np.array([4.0, 4.0]), np.array([3.0, 3.0])
    pairs = effective_pairs(auc, four, three)
    assert pairs.round(3).tolist() == [4.884, 6.0]
    assert 0.75 * 0.25 / pairs[0] == pytest.approx(0.038393, abs=5e-7)


def test_pooled_auc_stays_inside() -> None:
    one = np.array([1.0])
    assert pool(one, 0 * one, 2 * one, 3 * one) == PooledAuc(auc=0.75, dispersion=1.0)


def test_bound_of_rounded_scores() -> None:
    p, n = np.array([1.0, 3]), np.array([3.0, 1])
    cells = ScoreCells(np.zeros(2, dtype=np.intp), np.array([0.0, 0.5]), p, n, p, n)
    assert error_bound(cells, 1).tolist() == [0.1875]


def test_moments_of_three_scores() -> None:
    one, zero = np.ones(3), np.zeros(3, dtype=np.int64)
    moments = cell_moments(bin_rows(np.array([1.0, 2.0, 6.0]), zero, zero, one, one, "identity"), 1)
    parts = (moments.count, moments.mean, moments.scatter)
    assert [float(part[0, 0].round(9)) for part in parts] == [3.0, 3.0, 14.0]


def test_mean_inverse_count() -> None:
    assert mean_inverse_count(np.array([10.0]), np.array([4.0])).round(6).tolist() == [0.30327]


def test_constant_metrics() -> None:
    tally = bg.tally_from_counts({"fnr": [1, 1], "acc": [1, 2]}, {"fnr": [1, 1], "acc": [1, 3]}, SITE)
    assert without_variance(tally).tolist() == [True, False]


def test_sums_over_other_labels() -> None:
    assert sum_others(np.array([[1.0], [2.0], [4.0]])).ravel().tolist() == [6.0, 5.0, 3.0]


def test_estimands_in_words() -> None:
    tally = bg.tally_from_counts([1, 2], [4, 5], SITE)
    assert superpopulation_values(tally).tolist() == ["superpopulation rate"]
    assert reported_estimands(tally.drop_vars("estimand", errors="ignore")).tolist() == [""]


def test_participants_by_name() -> None:
    table = pd.DataFrame({"site": ["a", "b", "c"]})
    tally = bg.tally_from_counts([1, 3, 0], [10, 9, 0], table).isel(metric=0)
    everyone = np.ones(3, dtype=bool)
    assert participants(tally, everyone, "leave_out").names == "c (no rows)"
    assert participants(tally, everyone, "include").names == ""


def test_dealing() -> None:
    def rng() -> np.random.Generator:
        return np.random.default_rng(1)

    assert shares(np.array([1, 2]), 3, rng()).sum(axis=1).tolist() == [1, 1, 1]
    assert (np.diff(first_folds(np.array([1, 2]), 3, rng())) % 3).tolist() == [1]
    fold = deal_labels(["p", "q", "p", "r"], ["a", "a", "a", "b"], 2, rng())
    assert fold[0] == fold[2] != fold[1]
    count, mean = deal_counts(np.array([3.0]), np.array([5.0]), 2, rng())
    assert (sorted(count[:, 0].tolist()), float((count * mean).sum())) == ([2.0, 3.0], 3.0)
    count, mean = deal_means(np.array([2.0]), np.array([4.0]), np.ones(1), 2, rng(), whole=True)
    assert (count[:, 0].tolist(), round(float(mean.mean()), 12)) == ([2.0, 2.0], 2.0)


def test_folds_of_counts() -> None:
    parts = [bg.tally_from_counts([1, 2], [4, 5], SITE), bg.tally_from_counts([2, 0], [2, 5], SITE)]
    assert [fold.training["successes"].values.tolist() for fold in fold_tallies(parts)] == [[[2.0, 0.0]], [[1.0, 2.0]]]
    folds = deal(bg.tally_from_counts([3, 1], [9, 3], SITE), folds=3)
    assert [fold.validation["count"].values.tolist() for fold in folds] == [[[3.0, 1.0]]] * 3


def test_variances_of_an_auc_of_seven_rows() -> None:
    score = np.array([0.9, 0.35, 0.6, 0.55, 0.4, 0.2, 0.58])
    y = np.array([1.0, 1, 1, 1, 0, 0, 0])
    cells = sort_cells(ScoreCells(np.zeros(7, dtype=np.intp), score, y, 1 - y, y, 1 - y))
    auc = statistics(cells, 1)
    values = [auc.estimate[0], auc.delong[0], auc.hanley_mcneil[0], auc.bootstrap[0]]
    assert np.round(values, 6).tolist() == [0.75, 0.046296, 0.038393, 0.038773]


def test_bounds_of_three_labels() -> None:
    agree, disagree = np.array([[0.4], [0.18], [0.1]]), np.array([[0.1], [0.12], [0.1]])
    sharp, published = (
        bounds(agree, disagree, "equal_opportunity"),
        bounds(agree, disagree, "equal_opportunity", "published"),
    )
    assert sharp.lower.ravel().round(6).tolist() == [0.645161, 0.473684, 0.3125]
    assert published.lower.ravel().round(6).tolist() == [0.444444, 0.204545, 0.111111]


def test_sums_of_two_parts() -> None:
    part = Moments(np.array([[2.0]]), np.array([[2.0]]), np.array([[0.5]]), np.array([[0.5]]))
    both = add(part, part)
    assert (both.mean[0, 0], both.scatter[0, 0]) == (0.5, 1.0)
    unit = np.ones((1, 1))
    sums = Sums(np.array([1.0]), Moments(unit, unit, 2 * unit, 0 * unit), weighted=False)
    whole = add_sums(sums, sums)
    assert (whole.rows.tolist(), whole.moments.mean.tolist()) == ([2.0], [[2.0]])


def test_pooled_row_variance_of_three_subgroups() -> None:
    d = np.array([4.0, 2, 1])
    s2, b = np.array([0.25, 0.5, np.nan]), np.array([0.046875, 0.125, 0])
    assert pooled(s2, d, b, d, 0.2) == pytest.approx(0.3125, abs=5e-7)
    assert pooled(s2, d, b, d, 0.2, pooling="published") == pytest.approx(0.178571, abs=5e-7)
