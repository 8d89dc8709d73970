"""AUC and its variances: against definitions written out here, and as rates of effective pairs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies import auc_as_rate, with_auc_variance
from bayesgroups.tallies.auc import ScoreCells, sort_cells, statistics
from bayesgroups.tallies.auc_variances import NAMES, AucVariance, effective_pairs, pool


def by_definition(positives: FloatArray, negatives: FloatArray) -> tuple[float, float]:
    """AUC and DeLong's variance from all pairs: the variances of the two kinds of structural components."""
    psi = [[1.0 if p > n else 0.5 if p == n else 0.0 for n in negatives] for p in positives]
    auc = sum(map(sum, psi)) / (len(positives) * len(negatives))
    v10 = [sum(row) / len(negatives) for row in psi]
    v01 = [sum(row[j] for row in psi) / len(positives) for j in range(len(negatives))]
    s10 = sum((v - auc) ** 2 for v in v10) / (len(v10) - 1)
    s01 = sum((v - auc) ** 2 for v in v01) / (len(v01) - 1)
    return auc, s10 / len(v10) + s01 / len(v01)


def rows(random: np.random.Generator, size: int, groups: int = 4, digits: int = 1) -> pd.DataFrame:
    y = random.integers(0, 2, size)
    score = np.round(random.normal(size=size) + y, digits)
    return pd.DataFrame({"g": random.integers(0, groups, size).astype(str), "y": y, "p": score})


def tally(frame: pd.DataFrame) -> xr.Dataset:
    return bg.tally(frame, ["g"], ["auc"], y_true="y", y_score="p")


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(4, 60), digits=st.integers(0, 2))
def test_delong_by_definition(seed: int, size: int, digits: int) -> None:
    random = np.random.default_rng(seed)
    frame = rows(random, size, 2, digits)
    found = with_auc_variance(tally(frame), "delong")
    for group in found["subgroup"].values:
        own = frame[frame.g == group]
        ones, zeros = (own.p[own.y == label].to_numpy() for label in (1, 0))
        if min(len(ones), len(zeros)) < 2:
            continue
        auc, variance = by_definition(ones, zeros)
        one = found.sel(metric="auc", subgroup=group)
        assert float(one["estimate"]) == pytest.approx(auc, abs=1e-12)
        assert float(one["sampling_variance"]) == pytest.approx(variance, abs=1e-12)


def test_hanley_and_mcneil_by_their_formula() -> None:
    auc, n1, n0 = 0.8, 7.0, 11.0
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = (auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)) / (n1 * n0)
    pairs = effective_pairs(np.array([auc]), np.array([n1]), np.array([n0]))
    assert auc * (1 - auc) / pairs[0] == pytest.approx(variance, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(auc=st.floats(0, 1), n1=st.integers(1, 10_000), n0=st.integers(1, 10_000))
def test_effective_pairs_lie_between_a_pair_and_all_pairs(auc: float, n1: int, n0: int) -> None:
    pairs = effective_pairs(np.array([auc]), np.array([float(n1)]), np.array([float(n0)]))[0]
    assert 1 - 1e-9 <= pairs <= n1 * n0 * (1 + 1e-9)
    other = effective_pairs(np.array([1 - auc]), np.array([float(n0)]), np.array([float(n1)]))[0]
    assert pairs == pytest.approx(other)  # to call positives negative changes nothing


def separated() -> xr.Dataset:
    """a: separated; b: one positive; c: overlap; d: no negatives; e: declared, no rows."""
    frame = pd.DataFrame(
        {"g": list("aaaabbbccccccdd"), "y": [0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
         "p": [0.1, 0.2, 0.8, 0.9, 0.7, 0.2, 0.3, 0.2, 0.6, 0.7, 0.4, 0.9, 0.1, 0.5, 0.6]}
    )  # fmt: skip
    return bg.tally(frame, {"g": list("abcde")}, ["auc"], y_true="y", y_score="p")


def test_each_variance_where_rows_are_few() -> None:
    source = separated()
    found = {name: with_auc_variance(source, name)["sampling_variance"].values[0] for name in _names()}
    for values in found.values():
        assert np.isnan(values[3:]).all()  # no negatives, no rows
    assert found["delong"][0] == 0
    assert found["hanley_mcneil"][0] == 0
    assert np.isnan(found["delong"][1])
    assert found["hanley_mcneil"][1] == 0
    for name in ("pooled_delong", "hanley_mcneil_pooled", "calibrated"):
        assert (found[name][:3] > 0).all(), name
    np.testing.assert_array_equal(found["pooled_delong"], source["sampling_variance"].values[0])
    ratio = found["calibrated"][:3] / found["hanley_mcneil_pooled"][:3]
    assert np.ptp(ratio) < 1e-12


def _names() -> tuple[AucVariance, ...]:
    return NAMES  # type: ignore[return-value]


def test_the_factor_is_one_where_the_formula_holds() -> None:
    """Negative exponential scores, from which the formula was derived."""
    random = np.random.default_rng(5)
    size, groups = 40_000, 40
    y = random.integers(0, 2, size)
    p = random.exponential(size=size) * np.where(y == 1, 3.0, 1.0)
    found = tally(pd.DataFrame({"g": (np.arange(size) % groups).astype(str), "y": y, "p": p}))
    by_rank = with_auc_variance(found, "hanley_mcneil_pooled")["sampling_variance"].values
    calibrated = with_auc_variance(found, "calibrated")["sampling_variance"].values
    np.testing.assert_allclose(calibrated / by_rank, 1, atol=0.03)


def test_as_a_rate() -> None:
    source = separated()
    found = auc_as_rate(source, "hanley_mcneil_pooled")
    assert str(found["kind"].values[0]) == "rate"
    pairs, successes = found["count"].values[0], found["successes"].values[0]
    np.testing.assert_allclose(successes[:3] / pairs[:3], source["estimate"].values[0, :3])
    assert pairs[3:].tolist() == successes[3:].tolist() == [0, 0]
    shared = float(found["pooled_variance"][0])
    np.testing.assert_allclose(found["sampling_variance"].values[0, :3], shared / pairs[:3])
    expected = with_auc_variance(source, "hanley_mcneil_pooled")["sampling_variance"].values
    np.testing.assert_allclose(found["sampling_variance"].values, expected)
    assert json.loads(found.attrs["settings"])["auc_as_rate"] == "hanley_mcneil_pooled"
    assert found["auc_variance"].values.tolist() == ["hanley_mcneil_pooled"]


@pytest.mark.parametrize("estimator", [bg.NoPooling(), bg.PartialPooling(), bg.CompletePooling()])
def test_as_a_rate_no_answer_leaves_the_range_or_is_certain(estimator: bg.PartialPooling) -> None:
    report = bg.estimate(auc_as_rate(separated()), estimator, seed=1)
    answers = report["estimates"].to_dataset().sel(metric="auc", level=0.95)
    drawn = report["posterior"].to_dataset()["mu"].values
    assert ((drawn >= 0) & (drawn <= 1)).all()
    own = answers.isel(subgroup=slice(0, 3))
    assert (own["upper"] - own["lower"] > 0.03).all()
    bayesian = answers.sel(approach="bayesian")
    assert ((bayesian["lower_unclipped"] > 0) & (bayesian["upper_unclipped"] <= 1)).all()
    assert report.attrs["usable"] == 1


def test_other_metrics_are_left_alone() -> None:
    frame = rows(np.random.default_rng(1), 80)
    both = bg.tally(frame, ["g"], ["auc", "mean"], y_true="y", y_score="p", loss="p", weights=None)
    found = auc_as_rate(both)
    changed = ("count", "successes", "row_variance", "sampling_variance")
    for name in changed:
        np.testing.assert_array_equal(found[name].sel(metric="mean"), both[name].sel(metric="mean"))
    assert found["kind"].values.tolist() == ["rate", "mean"]
    assert found["auc_variance"].values.tolist() == ["calibrated", ""]


def test_weights_count_as_effective_rows() -> None:
    frame = rows(np.random.default_rng(2), 200)
    plain = auc_as_rate(tally(frame))
    weighted = bg.tally(frame.assign(w=3.0), ["g"], ["auc"], y_true="y", y_score="p", weights="w")
    found = auc_as_rate(weighted)
    np.testing.assert_allclose(found["count"].values, plain["count"].values)
    np.testing.assert_allclose(found["weight"].values, found["count"].values)


def test_relabelling_and_adding_change_nothing() -> None:
    frame = rows(np.random.default_rng(3), 300)
    whole = auc_as_rate(tally(frame))
    parts = auc_as_rate(bg.add_tallies([tally(frame[:120]), tally(frame[120:])]))
    np.testing.assert_allclose(parts["count"].values, whole["count"].values)
    named = auc_as_rate(tally(frame.assign(g=frame.g.map({"0": "z", "1": "y", "2": "x", "3": "w"}))))
    np.testing.assert_allclose(named["count"].values[:, ::-1], whole["count"].values)
    flipped = auc_as_rate(tally(frame.assign(y=1 - frame.y)))
    np.testing.assert_allclose(flipped["estimate"].values, 1 - whole["estimate"].values)


def test_what_subgroups_share_without_any() -> None:
    nothing = np.full(2, np.nan)
    found = pool(nothing, nothing, np.zeros(2), np.ones(2))
    assert (found.auc, found.dispersion) == (0.5, 1.0)


def test_no_rows_of_a_class_anywhere() -> None:
    source = bg.tally(pd.DataFrame({"g": ["a"], "y": [1], "p": [0.5]}), ["g"], ["auc"], y_true="y", y_score="p")
    found = auc_as_rate(source)
    assert found["count"].values.tolist() == [[0.0]]
    assert np.isnan(found["sampling_variance"].values).all()


def test_empty_statistics() -> None:
    empty = np.empty(0)
    found = statistics(sort_cells(ScoreCells(np.empty(0, dtype=np.intp), empty, empty, empty, empty, empty)), 2)
    assert np.isnan(found.estimate).all()


def test_refused() -> None:
    source = separated()
    with pytest.raises(bg.InputError, match="variance='delnog' does not exist; did you mean 'delong'"):
        with_auc_variance(source, "delnog")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="variance='delong' does not exist"):
        auc_as_rate(source, "delong")  # type: ignore[arg-type]
    counts = bg.tally_from_counts([1], [2], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="the tally keeps no scores; ask for them"):
        auc_as_rate(counts)
    with pytest.raises(bg.InputError, match="an AUC taken as a rate cannot be added; add the tallies first"):
        bg.add_tallies([auc_as_rate(source), auc_as_rate(source)])
