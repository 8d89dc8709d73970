"""Rows with a known truth: sizes, determinism, and the truth against a large simulation."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from bayesgroups import datasets
from bayesgroups.data.arrays import FloatArray
from bayesgroups.datasets import demonstrations
from bayesgroups.errors import InputError

PUBLISHED_SIZES = [
    2, 3, 3, 5, 5, 6, 6, 9, 15, 18, 19, 20, 21, 23, 27, 28, 31, 34, 58, 66, 80, 94, 153, 157, 202, 244, 330,
    432, 482, 525, 946, 956,
]  # fmt: skip


def test_sizes_are_the_published_ones_and_sum_to_5000() -> None:
    assert sorted(datasets.STUDY_SIZES) == PUBLISHED_SIZES
    assert sum(datasets.STUDY_SIZES) == 5000


def test_rows_have_the_sizes_of_their_subgroups() -> None:
    shown = datasets.demonstration(seed=3)
    sizes = shown.rows.groupby(shown.by).size()
    for size, *levels in zip(datasets.STUDY_SIZES, *(shown.truth[name].values for name in shown.by), strict=True):
        assert sizes[tuple(levels)] == size


def test_labels_of_the_truth_are_those_of_a_tally() -> None:
    import bayesgroups as bg

    shown = datasets.demonstration()
    tally = bg.tally(shown.rows, shown.by, ["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold)
    assert set(tally["subgroup"].values) == set(shown.truth["subgroup"].values)


def test_same_seed_same_bytes_other_seed_other_rows() -> None:
    first, again, other = (datasets.demonstration(seed) for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(first.rows, again.rows, check_exact=True)
    assert not first.rows["score"].equals(other.rows["score"])
    np.testing.assert_array_equal(first.truth, other.truth)


def test_columns_are_whole_and_in_range() -> None:
    rows = datasets.demonstration().rows
    assert rows.notna().to_numpy().all()
    assert ((rows["score"].to_numpy() > 0) & (rows["score"].to_numpy() < 1)).all()
    assert set(rows["readmitted"]) == {0, 1} == set(rows["heart_failure"])
    assert set(rows["number_diagnoses"]) <= set(range(1, 10))
    assert len(rows[["patient", *demonstrations.BY]].drop_duplicates()) == len(set(rows["patient"]))
    assert 1.3 < len(rows) / len(set(rows["patient"])) < 1.55


def test_population_is_like_the_study_it_is_named_after() -> None:
    truth = datasets.demonstration().truth
    share = np.array(datasets.STUDY_SIZES) / 5000
    assert abs(share @ demonstrations.population().prevalence - 0.1128) < 0.003
    assert abs(float(truth.sel(metric="sel").values @ share) - 0.2) < 0.005
    assert 0.6 < float(truth.sel(metric="auc").min()) < float(truth.sel(metric="auc").max()) < 0.7
    assert 0.05 < float(truth.sel(metric="fnr").std()) < 0.15


def test_attributes_explain_most_but_not_all_of_the_truth() -> None:
    truth = datasets.demonstration().truth
    design = pd.get_dummies(pd.DataFrame({name: truth[name].values for name in ("race", "gender", "age")})).to_numpy(
        float
    )
    for metric in ("sel", "fnr", "fpr", "ppv", "auc"):
        values = truth.sel(metric=metric).values
        fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
        assert 0.6 < 1 - np.var(values - fitted) / np.var(values) < 0.95, metric


def test_truth_agrees_with_a_large_simulation() -> None:
    law = demonstrations.population()
    rows = demonstrations.draw_rows(law, np.full(32, 15_000), np.random.default_rng(20))
    truth = datasets.demonstration().truth
    parts: Any = rows.groupby(list(demonstrations.BY))
    z = np.array([_z_scores(part, truth.sel(subgroup=" | ".join(levels))) for levels, part in parts])
    assert np.abs(z).max() < 4.5
    assert 0.7 < np.mean(z**2) < 1.35


def test_rows_of_one_patient_are_correlated() -> None:
    rows = demonstrations.draw_rows(demonstrations.population(), np.full(32, 2_000), np.random.default_rng(1))
    y = rows["readmitted"].to_numpy()
    residual = y - demonstrations.population().prevalence[_subgroup(rows)]
    of_patient = np.argsort(rows["patient"].to_numpy(), kind="stable")
    first, second = of_patient[:-1], of_patient[1:]
    same = rows["patient"].to_numpy()[first] == rows["patient"].to_numpy()[second]
    assert 0.04 < np.corrcoef(residual[first[same]], residual[second[same]])[0, 1] < 0.14
    assert abs(np.corrcoef(residual[first[~same]], residual[second[~same]])[0, 1]) < 0.03


def test_group_means_of_the_explanatory_columns_carry_information() -> None:
    rows = demonstrations.draw_rows(demonstrations.population(), np.full(32, 5_000), np.random.default_rng(2))
    inpatient, score = (
        np.bincount(_subgroup(rows), weights=rows[name].to_numpy()) for name in ("number_inpatient", "score")
    )
    assert np.corrcoef(inpatient, score)[0, 1] > 0.8


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None])
def test_seed_must_be_a_whole_number(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a whole number, 0 or larger; got"):
        datasets.demonstration(seed)


def test_demonstration_is_frozen() -> None:
    shown = datasets.demonstration()
    with pytest.raises(dataclasses.FrozenInstanceError, match="threshold"):
        shown.threshold = 0.5  # type: ignore[misc]


def _subgroup(rows: pd.DataFrame) -> NDArray[np.intp]:
    """Position of the subgroup of each row, in the order of STUDY_SIZES (that of sorted levels)."""
    group: NDArray[np.intp] = rows.groupby(list(demonstrations.BY)).ngroup().to_numpy(dtype=np.intp)
    return group


def _z_scores(rows: pd.DataFrame, truth: Any) -> FloatArray:
    """Distance from the truth of every metric, in standard errors that are robust to clusters."""
    y = rows["readmitted"].to_numpy() == 1
    score = rows["score"].to_numpy()
    d = score >= datasets.demonstration().threshold
    counts: dict[str, tuple[Any, Any]] = {
        "sel": (d, d | True), "acc": (d == y, d | True), "tpr": (d & y, y), "fnr": (~d & y, y),
        "fpr": (d & ~y, ~y), "tnr": (~d & ~y, ~y), "ppv": (d & y, d), "npv": (~d & ~y, ~d),
        "fdr": (d & ~y, d), "for": (~d & y, ~d),
        "f1": (2 * (d & y), d.astype(int) + y),
    }  # fmt: skip
    found = {
        name: (top.sum() / of.sum(), (top - top.sum() / of.sum() * of) / of.sum()) for name, (top, of) in counts.items()
    }
    above = np.searchsorted(np.sort(score[~y]), score) / (~y).sum()
    below = 1 - np.searchsorted(np.sort(score[y]), score) / y.sum()
    auc = above[y].mean()
    found["auc"] = (auc, np.where(y, (above - auc) / y.sum(), (below - auc) / (~y).sum()))
    patient = pd.factorize(rows["patient"])[0]
    return np.array(
        [
            (value - float(truth.sel(metric=name))) / np.sqrt((np.bincount(patient, weights=influence) ** 2).sum())
            for name, (value, influence) in found.items()
        ]
    )
