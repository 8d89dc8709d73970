"""Answers of every estimator where rows leave a variance of 0: a flag, no pretended interval, and a verdict with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import ESTIMATORS, Estimator
from bayesgroups.report.view import read
from bayesgroups.tallies.constant_metrics import without_variance

SIX = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
LEVELS = {"race": ["a", "b", "c"], "sex": ["f", "m"]}
COUNTED = [leaf for leaf in ESTIMATORS if leaf.word not in ("confusion", "model_based_metrics", "disagreement")]
KNOWN_VARIANCES = ("james_stein", "structured_regression")
"""Estimators whose Bayesian side takes sampling variances for known, also those of rates."""

NO_INTERVAL = "has no interval where there are no data"

COUNTS = {
    "two rows, both successes": ([1, 1], [1, 1]),
    "all rows successes": ([5, 3, 8, 2, 9, 4], [5, 3, 8, 2, 9, 4]),
    "all rows failures": ([0] * 6, [5, 3, 8, 2, 9, 4]),
    "all rows successes, one subgroup empty": ([5, 3, 8, 2, 9, 0], [5, 3, 8, 2, 9, 0]),
    "one row in all": ([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]),
    "one subgroup, all rows successes": ([4], [4]),
}
"""Successes and trials without any variance."""
TIES = {
    "one subgroup": ([3], [10]),
    "equal means": ([5] * 6, [10] * 6),
    "three tie, one empty": ([5, 5, 5, 0], [10, 10, 10, 0]),
    "two tie, four empty": ([5, 5, 0, 0, 0, 0], [10, 10, 0, 0, 0, 0]),
    "five tie, one empty": ([5, 5, 5, 5, 5, 0], [10, 10, 10, 10, 10, 0]),
    "one subgroup with rows": ([3, 0, 0, 0, 0, 0], [10, 0, 0, 0, 0, 0]),
}
"""Successes and trials of subgroups that do not differ, although rows do."""


def counts(case: str) -> xr.Dataset:
    successes, trials = (COUNTS | TIES)[case]
    return bg.tally_from_counts(successes, trials, SIX.iloc[: len(trials)], metric="fnr")


def losses(sizes: list[int], value: Callable[[int], float]) -> xr.Dataset:
    rows = SIX.iloc[np.repeat(np.arange(6), sizes)].reset_index(drop=True)
    return bg.tally(rows.assign(loss=[value(i) for i in range(len(rows))]), LEVELS, ["mean"], loss="loss")


def check_answers(report: xr.DataTree) -> None:
    """No interval without width; limits are missing together; what has none says so, or a note says what it cannot learn."""
    table, tally = report["estimates"].to_dataset(), report["constant_data"].to_dataset()
    lower, upper = table["lower"].values, table["upper"].values
    assert not (lower == upper).any()
    assert np.array_equal(np.isnan(lower), np.isnan(upper))
    assert not (lower > upper).any()
    answered, status = np.isfinite(table["estimate"].values), table["status"].values
    bare = answered & np.isnan(lower).any(axis=-1)
    alone = int((tally["sampling_variance"].values > 0).sum()) == 1
    assert set(status[bare].tolist()) <= ({"degenerate", "imputed"} if alone else {"degenerate"})
    if "imputed" in status[bare]:
        assert NO_INTERVAL in report.attrs["notes"]
    assert np.isnan(lower[status == "degenerate"]).all()
    assert (np.isnan(table["std_error"].values) | ~(status == "degenerate")).all()
    assert (status[~answered & np.isnan(tally["estimate"].values)] == "undefined").all()


@pytest.mark.parametrize("case", COUNTS)
@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
def test_rates_of_rows_that_all_agree(leaf: type[Estimator], case: str) -> None:
    report = bg.estimate(counts(case), leaf(), seed=1)
    check_answers(report)
    table = report["estimates"].to_dataset().isel(metric=0)
    observed = np.isfinite(report["constant_data"].to_dataset()["estimate"].values[0])
    bayesian, frequentist = (table["status"].sel(approach=side).values for side in ("bayesian", "frequentist"))
    if leaf.word in KNOWN_VARIANCES:
        assert report.attrs["usable"] == 0
        assert (bayesian[observed] == "degenerate").all()
        assert np.isnan(table["estimate"].sel(approach="bayesian").values).all()
        checks = report["diagnostics"].to_dataset()
        assert checks["check"].values[checks["passed"].values == 0].tolist() == ["fnr: variance"]
        sentence = str(checks["sentence"].values[checks["passed"].values == 0][0])
        assert sentence.startswith("fnr: between-subgroup and sampling variance are both 0, because ")
        assert "use NoPooling or PartialPooling (binomial likelihood)" in sentence
        assert ("one row in all" in sentence) == (case == "one row in all")
    else:
        # Binomial: a posterior of Beta or logits knows that few rows that agree leave much open.
        assert report.attrs["usable"] == 1
        assert "degenerate" not in bayesian
        width = (table["upper"] - table["lower"]).sel(approach="bayesian", level=0.95).values
        assert (width > 0.04).all()
    if leaf.word in ("no_pooling", "complete_pooling"):
        assert "degenerate" not in frequentist  # Wilson
        assert json.loads(report.attrs["notes"]) == []
    else:
        assert (frequentist[observed] == "degenerate").all()
        (note,) = json.loads(report.attrs["notes"])
        assert note.startswith("fnr: ")
        assert "so the frequentist side" in note


@pytest.mark.parametrize("case", TIES)
@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
def test_subgroups_that_do_not_differ(leaf: type[Estimator], case: str) -> None:
    report = bg.estimate(counts(case), leaf(), seed=1)
    check_answers(report)
    assert report.attrs["usable"] == 1
    table = report["estimates"].to_dataset().isel(metric=0).sel(level=0.95)
    assert "degenerate" not in table["status"].values
    # A subgroup that nobody was seen of is hardly known better than one with ten rows, unless the model has no differences.
    width = (table["upper_unclipped"] - table["lower_unclipped"]).values
    empty = np.isnan(report["constant_data"].to_dataset()["estimate"].values[0])
    if empty.any() and leaf.word != "complete_pooling":
        known = ~np.isnan(width)
        for side in range(2):
            if known[side, empty].all():
                assert width[side, empty].min() > 0.8 * width[side, ~empty].min()


@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
@pytest.mark.parametrize("variances", [[0.0, 1.0], [0.0, 1.0, 2.0, 1e-300], [1e-300, 1e-200, 1e-13, 1.0, 2.0]], ids=len)
def test_estimates_that_are_known_beside_others(leaf: type[Estimator], variances: list[float]) -> None:
    """A variance of 0, or negligible beside the largest: the estimate stands, and no matrix is singular."""
    missing = [np.nan] * (len(SIX) - len(variances))
    given = [-1.0, 0.2, 0.7, 0.1, 0.4][: len(variances)]
    tally = bg.tally_from_estimates([*given, *missing], [*variances, *missing], SIX)
    report = bg.estimate(tally, leaf(), seed=1)
    table = report["estimates"].to_dataset().isel(metric=0).sel(approach="frequentist")
    answered = np.isfinite(table["estimate"].values)
    bare = answered & np.isnan(table["lower"].values).any(axis=-1)
    assert answered[: len(given)].all()
    assert (table["lower"] <= table["upper"]).values[answered & ~bare].all()
    assert not bare.any() or (set(table["status"].values[bare]) == {"imputed"} and NO_INTERVAL in report.attrs["notes"])
    if leaf.word == "crossed_effects":
        known = np.array(variances) < 1e-12
        np.testing.assert_allclose(table["estimate"].values[: len(given)][known], np.array(given)[known], rtol=1e-12)


@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
@pytest.mark.parametrize("sizes", [[2, 2, 2, 2, 1, 2], [2, 2, 2, 2, 2, 0], [1, 0, 0, 0, 0, 0]])
@pytest.mark.parametrize("value", [2.0, 0.1])
def test_losses_that_all_agree(leaf: type[Estimator], sizes: list[int], value: float) -> None:
    report = bg.estimate(losses(sizes, lambda _: value), leaf(), seed=1)
    check_answers(report)
    assert report.attrs["usable"] == 0
    observed = np.array(sizes) > 0
    table = report["estimates"].to_dataset().isel(metric=0)
    assert (table["status"].values[:, observed] == "degenerate").all()
    np.testing.assert_allclose(table["estimate"].sel(approach="frequentist").values[observed], value)
    assert "add rows until some differ" in " ".join(report["diagnostics"].to_dataset()["sentence"].values.tolist())


@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
def test_losses_that_differ_within_one_subgroup_alone(leaf: type[Estimator]) -> None:
    check_answers(report := bg.estimate(losses([3, 0, 0, 0, 0, 0], float), leaf(), seed=1))
    assert report.attrs["usable"] == 1


@pytest.mark.parametrize("leaf", COUNTED, ids=[leaf.word for leaf in COUNTED])
def test_published_estimates_that_agree_without_error(leaf: type[Estimator]) -> None:
    tally = bg.tally_from_estimates([1.0] * 5 + [np.nan], [0.0] * 5 + [np.nan], SIX)
    report = bg.estimate(tally, leaf(), seed=1)
    check_answers(report)
    assert report.attrs["usable"] == 0
    assert "give the sampling variance of every estimate" in str(
        report["diagnostics"].to_dataset()["sentence"].values[-1]
    )


def cells(sizes: list[int], y: Callable[[int], int], d: Callable[[int], int]) -> pd.DataFrame:
    rows = SIX.iloc[np.repeat(np.arange(6), sizes)].reset_index(drop=True)
    return rows.assign(y=[y(i) for i in range(len(rows))], d=[d(i) for i in range(len(rows))])


SETS = {
    "all agree": ([4, 6, 2, 4, 6, 4], lambda i: 1, lambda i: 1),
    "no errors": ([4, 6, 2, 4, 6, 4], lambda i: i % 2, lambda i: i % 2),
    "all agree, one empty": ([4, 6, 2, 4, 6, 0], lambda i: 1, lambda i: 1),
    "one row": ([1, 0, 0, 0, 0, 0], lambda i: 1, lambda i: 1),
    "one subgroup with rows": ([20, 0, 0, 0, 0, 0], lambda i: i % 2, lambda i: i % 3 % 2),
}
"""Rows by subgroup, outcomes and decisions."""


@pytest.mark.parametrize("case", SETS)
def test_confusion_cells(case: str) -> None:
    tally = bg.tally(cells(*SETS[case]), LEVELS, ["fnr", "sel"], y_true="y", y_pred="d", confusion=True)
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    check_answers(report)
    assert report.attrs["usable"] == 1
    assert "degenerate" not in report["estimates"].to_dataset()["status"].sel(approach="bayesian").values


@pytest.mark.parametrize("case", SETS)
def test_disagreement(case: str) -> None:
    rows = cells(*SETS[case])
    judged = rows.assign(label=np.where(rows["d"] == 1, "p", "n"), no=(rows["y"] != rows["d"]).astype(int))
    tally = bg.disagreement_tally(judged, LEVELS, "label", "no", labels=["p", "n"])
    report = bg.estimate(tally, bg.DisagreementModel(), seed=1)
    lower, upper = (report["estimates"].to_dataset()[name].values for name in ("lower", "upper"))
    assert not (lower == upper).any()
    assert report.attrs["usable"] == 1


def test_scores_that_all_agree_are_refused() -> None:
    rows = cells([4, 6, 2, 4, 6, 4], lambda i: i % 2, lambda i: 1).assign(p=0.9)
    tally = bg.tally(rows, LEVELS, ["fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    with pytest.raises(bg.InputError, match="scores do not vary among rows of one outcome in any subgroup"):
        bg.estimate(tally, bg.ModelBasedMetrics(), seed=1)


def test_strict_raises_with_the_sentence() -> None:
    with pytest.raises(bg.NotUsableError, match="between-subgroup and sampling variance are both 0"):
        bg.estimate(counts("two rows, both successes"), bg.JamesStein(), seed=1, strict=True)


def test_nuts_is_not_asked_either() -> None:
    report = bg.estimate(counts("two rows, both successes"), bg.JamesStein(), seed=1, inference="nuts")
    assert report.attrs["usable"] == 0


def test_other_metrics_of_the_tally_keep_their_answers() -> None:
    successes = {"fnr": [1, 3, 9, 4, 5, 2], "fpr": [5] * 6}
    trials = {"fnr": [6, 9, 20, 8, 7, 6], "fpr": [5] * 6}
    alone = bg.tally_from_counts({"fnr": successes["fnr"]}, {"fnr": trials["fnr"]}, SIX)
    both = bg.estimate(bg.tally_from_counts(successes, trials, SIX), bg.JamesStein(), seed=1)
    np.testing.assert_array_equal(
        both["posterior"].to_dataset()["mu"].sel(metric="fnr"),
        bg.estimate(alone, bg.JamesStein(), seed=1)["posterior"].to_dataset()["mu"].sel(metric="fnr"),
    )
    assert both.attrs["usable"] == 0
    assert np.isnan(both["posterior"].to_dataset()["mu"].sel(metric="fpr")).all()
    # Fitted together, a metric without variance is taken out of the answer as well.
    joint = bg.CrossedEffects(tasks=True, likelihood="normal")
    together = bg.estimate(bg.tally_from_counts(successes, trials, SIX), joint, seed=1)
    assert (
        together["estimates"].to_dataset()["status"].sel(metric="fpr", approach="bayesian").values.tolist()
        == ["degenerate"] * 6
    )
    assert np.isfinite(together["posterior"].to_dataset()["mu"].sel(metric="fnr")).all()
    assert together.attrs["usable"] == 0


def test_a_likelihood_of_choice_decides() -> None:
    tally = counts("all rows successes")
    assert bg.estimate(tally, bg.PartialPooling(), seed=1).attrs["usable"] == 1
    assert bg.estimate(tally, bg.PartialPooling(likelihood="normal"), seed=1).attrs["usable"] == 0
    assert bg.estimate(tally, bg.NoPooling(likelihood="normal"), seed=1).attrs["usable"] == 0


def test_one_row_that_differs_is_enough() -> None:
    tally = bg.tally_from_counts([5, 3, 8, 2, 9, 3], [5, 3, 8, 2, 9, 4], SIX, metric="fnr")
    assert without_variance(tally).tolist() == [False]
    for leaf in (bg.JamesStein(), bg.StructuredRegression(bootstrap=50)):
        report = bg.estimate(tally, leaf, seed=1)
        check_answers(report)
        assert "degenerate" not in report["estimates"].to_dataset()["status"].values


def test_questions_and_pages_take_a_report_without_answers(tmp_path: Path) -> None:
    report = bg.estimate(counts("all rows successes, one subgroup empty"), bg.JamesStein(), seed=1)
    assert np.isnan(bg.certify(report)["pessimist"]).all()
    assert np.isnan(bg.disparity(report)["value"].values).all()
    assert bg.compare(
        {"js": report, "pp": bg.estimate(counts("all rows successes, one subgroup empty"), bg.PartialPooling(), seed=1)}
    )
    page = bg.write_html(report, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "between-subgroup and sampling variance are both 0" in page
    assert read(report).remarks() == ["all rows agree; zero variance"] * 5 + ["no rows"]
    opened = bg.open_report(bg.save_report(report, tmp_path / "report.nc"))
    assert opened.attrs["usable"] == 0
    xr.testing.assert_equal(opened["estimates"].to_dataset(), report["estimates"].to_dataset())
