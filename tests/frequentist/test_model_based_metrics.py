"""The bootstrapped score regression: identities, what is answered, and what is refused by name."""

from __future__ import annotations

import json
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.frequentist import model_based_metrics
from bayesgroups.scores.inputs import is_skewed, with_scores

NAMES = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "auc"]


def rows_of(size: int = 1500, seed: int = 1) -> pd.DataFrame:
    """Rows without differences between subgroups beyond those of their attributes; ``b | m`` has no positives."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"r": rng.choice(["a", "b"], size), "s": rng.choice(["f", "m"], size, p=[0.7, 0.3])})
    rows["y"] = rng.integers(0, 2, size)
    rows.loc[(rows["r"] == "b") & (rows["s"] == "m"), "y"] = 0
    u = -0.5 + rows["y"] + 0.2 * (rows["r"] == "a") + rng.standard_normal(size)
    return rows.assign(p=1 / (1 + np.exp(-u)))


def tally_of(rows: pd.DataFrame) -> xr.Dataset:
    return bg.tally(rows, ["r", "s"], NAMES, y_true="y", y_score="p", threshold=0.5)


@pytest.fixture(scope="module")
def answer() -> xr.Dataset:
    return model_based_metrics.estimate(tally_of(rows_of()), replicates=200)


def test_identities_hold(answer: xr.Dataset) -> None:
    of = {name: answer["estimate"].sel(metric=name).values for name in NAMES}
    some = np.isfinite(of["tpr"])
    np.testing.assert_allclose((of["tpr"] + of["fnr"])[some], 1, atol=1e-12)
    np.testing.assert_allclose(of["fpr"] + of["tnr"], 1, atol=1e-12)
    rows = rows_of()
    share = rows.groupby(["r", "s"])["y"].mean().to_numpy()
    np.testing.assert_allclose(of["sel"][some], (share * of["tpr"] + (1 - share) * of["fpr"])[some], atol=1e-12)
    assert (answer["lower"] <= answer["estimate"] + 1e-12).where(answer["estimate"].notnull(), True).all()  # noqa: PD004


def test_a_subgroup_without_positives_has_no_miss_rate(answer: xr.Dataset) -> None:
    empty = answer.sel(subgroup="b | m")
    for name in ("tpr", "fnr", "auc"):
        assert np.isnan(empty["estimate"].sel(metric=name))
        assert str(empty["status"].sel(metric=name).values) == "undefined"
    assert np.isfinite(empty["estimate"].sel(metric="sel"))


def test_both_bootstraps_agree() -> None:
    tally = tally_of(rows_of())
    fast, full = (model_based_metrics.estimate(tally, method=method, replicates=200) for method in ("fast", "full"))
    assert fast["estimate"].equals(full["estimate"])
    some = np.isfinite(fast["std_error"].values)
    np.testing.assert_allclose(fast["std_error"].values[some], full["std_error"].values[some], rtol=0.1, atol=5e-4)
    assert fast["interval_method"].values[0] == "score_regression_fast"


def test_intervals_cover_when_attributes_explain_everything() -> None:
    inside = total = 0
    for seed in range(8):
        tally = tally_of(rows_of(600, seed + 10)).sel(metric=["tpr", "auc"])
        found = model_based_metrics.estimate(tally, replicates=100, residuals="normal").sel(level=0.95, metric="tpr")
        for name, centre in (("a | f", 0.7), ("b | f", 0.5)):
            one = found.sel(subgroup=name)
            inside += int(one["lower"] <= NormalDist().cdf(centre) <= one["upper"])
            total += 1
    assert inside >= total - 4


def test_the_answer_does_not_depend_on_other_metrics() -> None:
    tally = tally_of(rows_of())
    alone = model_based_metrics.estimate(tally.sel(metric=["sel"]), replicates=50)
    beside = model_based_metrics.estimate(tally, replicates=50).sel(metric=["sel"])
    xr.testing.assert_equal(alone, beside)


def test_extreme_and_constant_scores() -> None:
    rows = rows_of().assign(p=lambda frame: np.where(frame.index % 50 == 0, frame["y"].astype(float), frame["p"]))
    found = model_based_metrics.estimate(tally_of(rows), replicates=50)
    assert np.isfinite(found["estimate"].sel(metric="sel")).all()
    with pytest.raises(bg.InputError, match=r"scores do not vary among rows of one outcome in any subgroup \('a \| f'"):
        model_based_metrics.estimate(tally_of(rows.assign(p=0.3)))


def test_what_is_refused() -> None:
    tally = tally_of(rows_of(100))
    for setting in ("residuals", "method"):
        with pytest.raises(bg.InputError, match=f"{setting}='none' is not one of"):
            model_based_metrics.estimate(tally, **{setting: "none"})  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="replicates=1 must be 2 or larger"):
        model_based_metrics.estimate(tally, replicates=1)
    with pytest.raises(bg.InputError, match="keeps no scores by outcome"):
        with_scores(bg.tally_from_counts([1], [2], pd.DataFrame({"s": ["a"]}), metric="fnr"))


def test_metrics_that_are_no_functionals_are_refused() -> None:
    rows = rows_of(100).assign(d=1, w=0.5)
    wrong = bg.tally(rows, ["r"], ["mean", "auc"], y_true="y", y_score="p", loss="w")
    with pytest.raises(bg.InputError, match="'mean' is no functional of a score distribution"):
        with_scores(wrong)
    decided = bg.tally(rows, ["r"], ["sel", "auc"], y_true="y", y_score="p", y_pred="d")
    with pytest.raises(bg.InputError, match="'sel' is about decisions, and the tally was made without threshold="):
        with_scores(decided)
    brier = bg.Metric(
        "brier", value=(bg.metrics.Y_SCORE - bg.metrics.Y_TRUE) ** 2, needs=frozenset({"y_score", "y_true"})
    )
    real = bg.tally(rows.assign(p=lambda frame: 5 * frame["p"]), ["r"], [brier, "auc"], y_true="y", y_score="p")
    with pytest.raises(bg.InputError, match="'brier' needs scores that are probabilities"):
        with_scores(real)


def test_skewness_is_seen() -> None:
    rows = rows_of(3000)
    assert not is_skewed(with_scores(tally_of(rows)), "auto")
    skewed = rows.assign(p=lambda frame: 1 / (1 + np.exp(-np.exp(0.7 * np.log(frame["p"] / (1 - frame["p"]))))))
    assert is_skewed(with_scores(tally_of(skewed)), "auto")
    assert not is_skewed(with_scores(tally_of(skewed)), "normal")


FEW = pd.DataFrame(
    {
        "race": list("aaabbbbb"), "sex": list("ffmmfffm"), "y": [1, 0, 1, 0, 0, 0, 0, 0],
        "p": [0.01, 0.19, 0.37, 0.2, 0.03, 0.06, 0.32, 0.01],
    }
)  # fmt: skip
"""Two positives, for as many coefficients of their scores and more."""


@pytest.mark.parametrize("method", ["fast", "full"])
def test_what_rows_do_not_determine_is_not_estimable(method: Any) -> None:
    counts = bg.tally(FEW, ["race", "sex"], ["tpr", "tnr", "auc"], y_true="y", y_score="p", threshold=0.1)
    answer = model_based_metrics.estimate(counts, method=method, seed=1)
    assert np.isnan(answer["estimate"].sel(metric=["tpr", "auc"]).values).all()
    assert set(answer["status"].sel(metric="tpr").values.tolist()) == {"not estimable", "undefined"}
    others = answer["estimate"].sel(metric="tnr").values[counts["count"].sel(metric="tnr").values > 0]
    assert ((others >= 0) & (others <= 1)).all()
    report = bg.estimate(counts, bg.ModelBasedMetrics(method=method), seed=1)
    told = [note for note in json.loads(report.attrs["notes"]) if "so that it has no estimate" in note]
    assert [note.split(":")[0] for note in told] == ["tpr", "auc"]
    assert np.isfinite(report["estimates"]["estimate"].sel(approach="bayesian", metric="tpr")).all()


def test_scores_of_an_outcome_that_do_not_vary_determine_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"site": rng.choice(["a", "b"], 200), "y": rng.integers(0, 2, 200)})
    rows["p"] = np.where(rows["y"] == 1, 0.9, 1 / (1 + np.exp(1 - rng.standard_normal(200))))
    counts = bg.tally(rows, ["site"], ["fnr", "fpr", "auc"], y_true="y", y_score="p", threshold=0.5)
    answer = model_based_metrics.estimate(counts, seed=1)
    assert (answer["status"].sel(metric=["fnr", "auc"]) == "not estimable").all()
    assert np.isfinite(answer["lower"].sel(metric="fpr")).all()
