"""Scores in the corners: thresholds that select all or none, few values, few rows, extreme numbers. An answer or a name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.frequentist import model_based_metrics as regression
from bayesgroups.inference.collapsed import model_based_metrics
from bayesgroups.inference.score_checks import checks

NAMES = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for", "f1", "auc"]


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_based_metrics, "DRAWS", 40)
    monkeypatch.setattr(model_based_metrics, "FIRST", (20, 1))
    monkeypatch.setattr(model_based_metrics, "usable", lambda found: True)


def rows_of(size: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"s": np.arange(size) % 3, "y": rng.integers(0, 2, size)})
    return rows.assign(p=1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(size))))


def tally_of(rows: pd.DataFrame, threshold: float = 0.5, names: list[str] | None = None) -> xr.Dataset:
    by = {"s": [0, 1, 2]}
    return bg.tally(rows, by, names or NAMES, y_true="y", y_score="p", threshold=threshold, positive=1)


def both(tally: xr.Dataset, residuals: str = "auto") -> list[xr.DataArray]:
    """Estimates (metric, subgroup) of both sides."""
    draws = model_based_metrics.sample(tally, seed=1, residuals=residuals).draws["mu"]  # type: ignore[arg-type]
    answer = regression.estimate(tally, residuals=residuals, replicates=10)  # type: ignore[arg-type]
    return [draws.mean(["chain", "draw"]), answer["estimate"]]


@pytest.mark.parametrize("residuals", ["normal", "skewed"])
@pytest.mark.parametrize(("threshold", "selected"), [(0.0, 1.0), (-3.0, 1.0), (1.0, 0.0), (2.0, 0.0)])
def test_a_threshold_outside_the_scores_selects_all_or_none(threshold: float, selected: float, residuals: str) -> None:
    tally = tally_of(rows_of(), threshold, ["sel", "tpr", "fnr", "fpr", "ppv", "npv", "auc"])
    for found in both(tally, residuals):
        for name in ("sel", "tpr", "fpr"):
            assert (found.sel(metric=name) == selected).all()
        assert (found.sel(metric="fnr") == 1 - selected).all()
        empty = "npv" if selected else "ppv"
        assert found.sel(metric=empty).isnull().all()  # noqa: PD003
        other = "ppv" if selected else "npv"
        assert ((found.sel(metric=other) > 0) & (found.sel(metric=other) < 1)).all()


def test_scores_of_0_and_1_only_have_an_answer_that_is_not_believed() -> None:
    rows = rows_of(1200).assign(p=lambda frame: (frame["p"] > 0.5).astype(float))
    tally = tally_of(rows)
    for found in both(tally):
        assert ((found >= 0) & (found <= 1)).all()
    draws = model_based_metrics.sample(tally, seed=1).draws
    shape = next(one for one in checks(tally, draws, residuals="auto") if one.name == "score shape")
    assert not shape.passed
    assert shape.sentence.endswith("Scores follow neither law; bg.ConfusionModel() and bg.CrossedEffects() need none.")


def test_the_law_that_would_fit_is_named() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"s": rng.integers(0, 3, 2000), "y": rng.integers(0, 2, 2000)})
    rows["p"] = 1 / (1 + np.exp(3 - rows["y"] - np.exp(0.6 * rng.standard_normal(2000))))
    tally = tally_of(rows, names=["auc"])
    draws = xr.Dataset(
        {"mu": (("chain", "draw", "metric", "subgroup"), 0.7 + 0.02 * rng.standard_normal((1, 50, 1, 3)))},
        {"metric": ["auc"], "subgroup": tally["subgroup"].values},
    )
    shape = next(one for one in checks(tally, draws, residuals="normal") if one.name == "score shape")
    assert shape.sentence.endswith("Scores look skewed; say residuals='skewed'.")
    away = draws.assign(mu=draws["mu"] + 0.25)
    misfit = next(one for one in checks(tally, away, residuals="auto") if one.name == "misfit")
    assert "The law of scores is wrong where this metric looks; bg.ConfusionModel()" in misfit.sentence


def test_one_value_per_outcome_is_no_distribution() -> None:
    rows = rows_of().assign(p=lambda frame: np.where(frame["y"] == 1, 0.9, 0.2))
    for wrong in (rows, rows.assign(p=0.3), rows[:1], rows[:3]):
        with pytest.raises(bg.InputError, match=r"scores do not vary among rows of one outcome in any subgroup \('0'"):
            both(tally_of(wrong))


def test_a_single_subgroup_and_few_rows_have_an_answer() -> None:
    alone = rows_of()[lambda frame: frame["s"] == 0]
    for rows in (alone, rows_of(12)):
        bayesian, frequentist = both(tally_of(rows))
        assert np.isfinite(bayesian).all()
        assert np.isfinite(frequentist.sel(subgroup="0")).all()


@pytest.mark.parametrize(("factor", "shift"), [(1e90, 0.0), (1e-4, 2.0), (1.0, 1e6)])
def test_scores_on_extreme_scales_have_the_answer_of_plain_ones(factor: float, shift: float) -> None:
    rows = rows_of().assign(p=lambda frame: 3 * frame["p"])
    names = ["sel", "auc"]
    plain = both(tally_of(rows, 1.5, names))
    scaled = both(tally_of(rows.assign(p=rows["p"] * factor + shift), 1.5 * factor + shift, names))
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(other, one, atol=0.03)


def test_infinite_and_huge_scores_are_refused() -> None:
    rows = rows_of()
    with pytest.raises(bg.InputError, match=r"subgroup '0' has a score of 1e\+200, whose square is no number"):
        both(tally_of(rows.assign(p=np.where(rows.index == 3, 1e200, rows["p"]))))
    rows.loc[3, "p"] = np.inf
    with pytest.raises(bg.InputError, match=r"column 'p' \(y_score=\) must be finite; row 3 has inf"):
        tally_of(rows)


def test_one_class_only_answers_what_it_can() -> None:
    for outcome, gone in ((0, ["tpr", "fnr", "auc"]), (1, ["fpr", "tnr", "auc"])):
        tally = tally_of(rows_of().assign(y=outcome))
        for found in both(tally):
            assert found.sel(metric=gone).isnull().all()  # noqa: PD003
            assert np.isfinite(found.sel(metric="sel")).all()
