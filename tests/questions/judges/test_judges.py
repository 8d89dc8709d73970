"""Rates corrected for the errors of a judge, and plans of labelling: worked numbers, edges with their reasons, refusals."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.judges.allocation import allocate

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "labels" / "q_labels.json").read_text("utf-8"))
NAMES = ["hepatic", "small", "one arm", "none", "agreeing", "nobody"]
JUDGED = np.array([[221, 429], [130, 70], [31, 9], [7, 5], [20, 10], [0, 0]])
CELLS = np.array([
    [[54, 32], [27, 231]], [[9, 2], [3, 6]], [[3, 0], [2, 0]], [[0, 0], [0, 0]], [[4, 0], [0, 6]], [[0, 0], [0, 0]],
])  # fmt: skip
TALLY = bg.tally_from_cells(
    JUDGED, CELLS, pd.DataFrame({"site": NAMES}), ["prev", "tpr", "tnr", "acc", "judge_bias", "f1"]
)


def cells_of(table: list[list[int]], **where: Any) -> xr.Dataset:
    counts = np.array(table)
    return bg.tally_from_cells([counts.sum(axis=0)], [counts], pd.DataFrame({"site": ["a"]}), **where)


def at(answer: xr.Dataset, metric: str, subgroup: str) -> dict[str, Any]:
    chosen = answer.sel(metric=metric, subgroup=subgroup, level=0.95)
    return {str(name): chosen[name].item() for name in chosen.data_vars}


def test_rates_are_those_of_the_literature_beside_labelled_rows_alone() -> None:
    answer = bg.judge_corrected(TALLY)
    for case, subgroup in (("begg_greenes_hepatic", "hepatic"), ("small_cell", "small")):
        wanted = GOLDEN[case]
        prev, tpr, tnr = (at(answer, metric, subgroup) for metric in ("prev", "tpr", "tnr"))
        assert [prev["estimate"], prev["std_error"]] == pytest.approx([wanted["rate"], wanted["rate_se"]])
        assert [prev["lower"], prev["upper"]] == pytest.approx(wanted["rate_mover"], abs=1e-8)
        assert [tpr["lower"], tpr["upper"]] == pytest.approx(wanted["sens_interval"], abs=1e-8)
        assert [tnr["lower"], tnr["upper"]] == pytest.approx(wanted["spec_interval"], abs=1e-8)
        assert tpr["gold_estimate"] == pytest.approx(wanted["complete_case_sens"])
    small = at(answer, "prev", "small")
    assert [small["gold_lower"], small["gold_upper"]] == pytest.approx(GOLDEN["small_cell"]["gold_wilson"], abs=1e-8)
    assert at(answer, "judge_bias", "small")["estimate"] == pytest.approx(0.35 - 0.425)
    assert np.isnan(at(answer, "judge_bias", "small")["gold_lower"])
    assert answer["interval_method"].values.tolist() == [
        "mover",
        "logit_delta",
        "logit_delta",
        "mover",
        "mover",
        "logit_delta",
    ]


def test_edges_have_a_reason() -> None:
    answer = bg.judge_corrected(TALLY)
    one_arm, none, nobody = (at(answer, "prev", name) for name in ("one arm", "none", "nobody"))
    assert np.isnan([one_arm["estimate"], none["estimate"], nobody["estimate"]]).all()
    assert one_arm["reason"] == "no label among 9 rows judged 1"
    assert one_arm["lower"] < 31 / 40 * 0.4 < one_arm["upper"]  # every outcome of those 9 is possible
    assert one_arm["upper"] > 31 / 40 * 0.4 + 9 / 40
    assert np.isnan([none["lower"], nobody["lower"]]).all()
    assert (none["reason"], nobody["reason"]) == ("0 of 12 rows labelled", "no rows")
    agreeing = {metric: at(answer, metric, "agreeing") for metric in ("prev", "tpr", "tnr")}
    assert agreeing["prev"]["estimate"] == pytest.approx(1 / 3)
    assert agreeing["tpr"]["estimate"] == 1.0
    assert agreeing["tpr"]["status"] == "saturated"
    assert agreeing["tpr"]["lower"] < 0.6
    assert agreeing["tpr"]["upper"] == 1.0


def test_prediction_powered_inference_is_that_of_ppi_python() -> None:
    for method, key in (("ppi", "ppi_lambda_1"), ("ppi_tuned", "ppi_tuned_by_ppi_py")):
        answer = bg.judge_corrected(TALLY, method=method)  # type: ignore[arg-type]
        small = at(answer, "prev", "small")
        assert small["estimate"] == pytest.approx(GOLDEN["small_cell"][key]["estimate"])
        assert [small["lower"], small["upper"]] == pytest.approx(GOLDEN["small_cell"][key]["interval"], abs=1e-8)
        assert at(answer, "tpr", "small")["reason"] == "prediction-powered inference is of the share of an outcome"
        assert at(answer, "tpr", "small")["status"] == "undefined"
        assert at(answer, "prev", "none")["reason"] == "0 of 12 rows labelled"
    alike = cells_of([[5, 0], [0, 0]], metrics="prev")
    full = bg.judge_corrected(alike, method="ppi").isel(metric=0, subgroup=0)
    assert (full["status"].item(), full["reason"].item()) == ("undefined", "no unlabelled row")
    sure = bg.tally_from_cells([[50, 40]], [[[5, 0], [0, 4]]], pd.DataFrame({"site": ["a"]}), "prev")
    flat = bg.judge_corrected(sure, method="ppi").isel(metric=0, subgroup=0)
    assert flat["status"].item() == "ok"  # judgements of the unlabelled rows still vary
    no = bg.tally_from_cells([[50, 0]], [[[5, 0], [0, 0]]], pd.DataFrame({"site": ["a"]}), "prev")
    nothing = bg.judge_corrected(no, method="ppi_tuned").isel(metric=0, subgroup=0)
    assert (nothing["status"].item(), nothing["reason"].item()) == (
        "degenerate",
        "labelled rows and judgements have no spread",
    )


@pytest.mark.parametrize("case", GOLDEN["rogan_gladen"], ids=lambda case: str(case["args"][0]))
def test_rogan_gladen_corrects_with_rows_of_its_own(case: dict[str, Any]) -> None:
    judged, specificity, sensitivity, n, negatives, positives = case["args"]
    where = pd.DataFrame({"site": ["a"]})
    tally = bg.tally_from_counts([round(judged * n)], [n], where, metric="sel")
    right = [round(specificity * negatives), round(sensitivity * positives)]
    calibration = full([[right[0], negatives - right[0]], [positives - right[1], right[1]]])
    answer = bg.judge_corrected(tally, method="rogan_gladen", calibration=calibration)
    found = at(answer, "prev", "a")
    assert [found["estimate"], found["std_error"]] == pytest.approx([case["theta"], case["delta_se"]])
    assert [found["lower"], found["upper"]] == pytest.approx(case["interval"], abs=1e-8)
    wanted = ("degenerate", "judged rate below 1 - specificity") if case["theta"] < 0 else ("ok", "")
    assert (found["status"], found["reason"]) == wanted


def full(table: list[list[int]], site: str = "a") -> xr.Dataset:
    rows = pd.DataFrame(
        [(site, y, d) for y, d in itertools.product((0, 1), (0, 1)) for _ in range(table[y][d])],
        columns=["site", "y", "d"],
    )
    return bg.tally(rows, ["site"], ["acc", "sel"], y_true="y", y_pred="d", positive=1, confusion=True)


def test_a_calibration_that_tells_nothing_has_a_reason() -> None:
    tally = bg.tally_from_counts([40, 10, 3, 0], [100, 20, 9, 0], pd.DataFrame({"site": list("abcd")}), metric="sel")
    calibration = bg.add_tallies(
        [full([[4, 6], [6, 4]], "a"), full([[9, 1], [0, 0]], "b"), full([[9, 1], [1, 8]], "d")]
    )
    answer = bg.judge_corrected(tally, method="rogan_gladen", calibration=calibration)
    reasons = [at(answer, "prev", site)["reason"] for site in "abcd"]
    assert reasons == [
        "sensitivity + specificity is not above 1: the judge tells nothing of the outcome",
        "no row with a positive outcome in the calibration of this subgroup",
        "no row of this subgroup in the calibration",
        "no rows",
    ]
    assert np.isnan(answer["estimate"]).all()
    high = bg.tally_from_counts([99], [100], pd.DataFrame({"site": ["a"]}), metric="sel")
    above = bg.judge_corrected(high, method="rogan_gladen", calibration=full([[9, 1], [2, 8]]))
    assert at(above, "prev", "a")["reason"] == "judged rate above sensitivity"
    only = bg.judge_corrected(high, method="rogan_gladen", calibration=full([[0, 0], [2, 8]]))
    assert at(only, "prev", "a")["reason"] == "no row with a negative outcome in the calibration of this subgroup"
    cells = bg.judge_corrected(full([[9, 1], [2, 8]]), method="rogan_gladen", calibration=full([[9, 1], [2, 8]]))
    assert at(cells, "prev", "a")["estimate"] == pytest.approx((0.45 - 0.1) / 0.7)


def test_what_cannot_be_corrected_is_refused() -> None:
    sel = bg.tally_from_counts([4], [9], pd.DataFrame({"site": ["a"]}), metric="sel")
    three = cells_of([[3, 1, 1], [1, 3, 1], [1, 1, 3]], metrics="acc", classes=["a", "b", "c"])
    calibration = full([[9, 1], [2, 8]])
    weighted = bg.tally(
        pd.DataFrame({"g": ["a"] * 4, "y": [1, 0, None, None], "d": [1, 0, 1, 0], "w": [1.0, 2.0, 1.0, 1.0]}), ["g"], ["prev"],
        y_true="y", y_pred="d", weights="w", unlabelled="keep",
    )  # fmt: skip
    cases: list[tuple[xr.Dataset, dict[str, Any], str]] = [
        (TALLY, {"method": "ppi++"}, "method='ppi\\+\\+' is not one of 'post_stratified', 'ppi'"),
        (TALLY, {"method": "rogan_gladen"}, "method='rogan_gladen' needs calibration="),
        (TALLY, {"calibration": calibration}, "calibration= is for method='rogan_gladen' alone"),
        (sel, {}, "the tally has no cells of outcome and decision; make it with"),
        (TALLY.sel(metric=["tpr"]), {"method": "ppi"}, "is about the share of an outcome, and the tally has"),
        (weighted, {"method": "ppi"}, "method='ppi' is for rows without weights"),
        (sel, {"method": "rogan_gladen", "calibration": sel}, "calibration= has no cells of outcome and decision"),
        (sel, {"method": "rogan_gladen", "calibration": TALLY}, "calibration= keeps rows without an outcome"),
        (three, {"method": "rogan_gladen", "calibration": calibration}, "the tally has 3 decisions; method='rogan_gladen' needs"),
        (sel.assign_coords(metric=["acc"]), {"method": "rogan_gladen", "calibration": calibration}, "needs the judged rate"),
    ]  # fmt: skip
    for tally, asked, message in cases:
        with pytest.raises(bg.InputError, match=message):
            bg.judge_corrected(tally, **asked)
    many = bg.tally(pd.DataFrame({"site": ["a"] * 3, "y": list("abc"), "d": list("abc")}), ["site"], ["acc"], y_true="y",
                    y_pred="d", confusion=True)  # fmt: skip
    with pytest.raises(bg.InputError, match=r"calibration= has the classes \['a', 'b', 'c'\]; two are needed"):
        bg.judge_corrected(sel, method="rogan_gladen", calibration=many)


def test_labels_go_where_neyman_puts_them() -> None:
    for case, rates in (("good_ppv", (0.15, 0.95)), ("equal_sd", (0.25, 0.75))):
        wanted = GOLDEN["neyman"][case]
        spread = np.array([0.65, 0.35]) * np.sqrt([rates[d] * (1 - rates[d]) for d in (0, 1)])
        labels = allocate(spread, 40, np.zeros(2), np.full(2, 1000.0))
        assert labels.tolist() == [40 - wanted["best_integer_m1"], wanted["best_integer_m1"]]
        assert float(40 * spread[1] / spread.sum()) == pytest.approx(wanted["m1"])
        assert float(spread.sum() ** 2 / 40) == pytest.approx(wanted["variance"])


def test_whole_numbers_stay_between_their_bounds() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        low = rng.integers(0, 4, size).astype(np.float64)
        high = low + rng.integers(0, 30, size).astype(np.float64)
        number = int(rng.integers(int(low.sum()), int(high.sum()) + 1))
        labels = allocate(rng.exponential(size=size) * (rng.random(size) < 0.8), number, low, high)
        assert labels.sum() == number
        assert ((labels >= low) & (labels <= high)).all()


def test_a_plan_of_a_number_reaches_what_it_says() -> None:
    planned = TALLY.sel(metric=["prev"], subgroup=["hepatic", "small", "one arm", "none", "agreeing", "nobody"])
    for target in ("subgroups", "overall"):
        plan = bg.rows_to_label(planned, number=500, target=target)
        assert int(plan["labels"].sum()) == 500
        assert (plan["more"] >= 0).all()
        assert (plan["labels"] <= plan["judged"]).all()
        assert (plan["labels"].values[JUDGED > 1] >= 2).all()
        assert plan["reason"].sel(subgroup="nobody").item() == "no rows"
    some = plan.sel(subgroup="small")
    r, s, m = some["assumed"].values, np.array([0.65, 0.35]), some["labels"].values
    variance = (s**2 * r * (1 - r) / m).sum() + s.prod() * (r[1] - r[0]) ** 2 / 200
    assert float(some["expected_width"]) == pytest.approx(2 * 1.959964 * np.sqrt(variance), rel=1e-6)
    assert r.tolist() == pytest.approx([3.5 / 13, 6.5 / 9])
    alike = bg.rows_to_label(planned, number=600)["expected_width"].values[:2]
    apart = bg.rows_to_label(planned, number=600, target="overall")["expected_width"].values[:2]
    assert np.ptp(alike) < np.ptp(apart)


def test_a_width_is_reached_or_there_is_a_reason() -> None:
    plan = bg.rows_to_label(TALLY, width=0.2)
    reached = plan["expected_width"].values
    assert reached[0] <= 0.2
    assert reached[1] <= 0.2
    assert "cannot be reached" in plan["reason"].sel(subgroup="one arm").item()
    assert plan["labels"].sel(subgroup="one arm").values.tolist() == [31, 9]
    small = int(plan["labels"].sel(subgroup="small").sum())
    fewer = bg.rows_to_label(TALLY, width=0.25)["labels"].sel(subgroup="small").sum()
    assert 20 <= int(fewer) < small
    overall = bg.rows_to_label(TALLY, width=0.12, target="overall")
    assert float(overall["expected_width_overall"]) <= 0.12


def test_a_report_lends_its_rates_to_the_plan() -> None:
    tally = TALLY.sel(metric=["prev"])
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    plan = bg.rows_to_label(report, number=500)
    cells = report["posterior"]["cell_share"].mean(("chain", "draw"))
    share = report["posterior"]["cell_share"]
    rate = (share.sel(outcome="1") / share.sum("outcome")).mean(("chain", "draw"))
    some = JUDGED > 0
    np.testing.assert_allclose(plan["assumed"].values[some], rate.transpose("subgroup", "decision").values[some])
    assert cells.sizes["decision"] == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "takes exactly one of number= and width="),
        ({"number": 40, "width": 0.1}, "takes exactly one of number= and width="),
        ({"number": 40, "target": "all"}, "target='all' is not one of 'subgroups', 'overall'"),
        ({"number": 10}, "number=10 is below 385, the labels that are there and 2 after every decision with rows"),
        ({"number": 4000}, "number=4000 is more than the 932 rows that there are"),
        ({"number": 2.5}, "number=2.5 must be a whole number, 1 or larger"),
        ({"width": 1.2}, "width=1.2 must be above 0 and below 1"),
        ({"width": 0.001, "target": "overall"}, "width=0.001 cannot be reached with 932 judged rows"),
        ({"number": 400, "level": 1.0}, "level=1.0 must lie strictly between 0 and 1"),
    ],
)
def test_plans_that_cannot_be_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.rows_to_label(TALLY, **asked)


def test_plans_need_cells_of_two_classes() -> None:
    with pytest.raises(bg.InputError, match="rows_to_label\\(\\) needs decisions and outcomes"):
        bg.rows_to_label(bg.tally_from_counts([4], [9], pd.DataFrame({"g": ["a"]})), number=9)
    three = cells_of([[3, 1, 1], [1, 3, 1], [1, 1, 3]], metrics="acc", classes=["a", "b", "c"])
    with pytest.raises(bg.InputError, match="plans for two classes; the tally has"):
        bg.rows_to_label(three, number=9)


def test_commands_ask_the_same(tmp_path: Path) -> None:
    from bayesgroups.cli import run

    rows = pd.DataFrame({"site": ["a"] * 200, "judge": [1] * 70 + [0] * 130})
    rows["gold"] = [1.0] * 6 + [0.0] * 2 + [np.nan] * 62 + [1.0] * 3 + [0.0] * 9 + [np.nan] * 118
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["--by", "site", "--metric", "prev", "--y-true", "gold", "--y-pred", "judge", "--unlabelled", "keep"]
    for command, more, name, wanted in (
        ("judge-corrected", [], "estimate", 0.425),
        ("rows-to-label", ["--number", "60"], "labels", 60),
    ):
        path = tmp_path / "answer.nc"
        given = [command, str(tmp_path / "rows.csv"), *asked, *more, "--output", str(path), "--show", "0"]
        assert run(given) == 0
        assert float(xr.open_dataset(path)[name].sum()) == pytest.approx(wanted)
    scores = ["gold-score-tally", str(tmp_path / "rows.csv"), "--by", "site", "--gold", "gold", "--judge", "judge"]
    assert run([*scores, "--output", str(tmp_path / "gold.tally.nc")]) == 0
    assert bg.open_tally(tmp_path / "gold.tally.nc")["estimate"].size == 1


def test_prediction_powered_inference_from_few_labels_says_so() -> None:
    """With 2 to 6 labels 95 % limits of mean gold scores cover 51 to 91 %, where those of regression cover 93 to 94 %."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"site": np.repeat(["a", "b"], [40, 200])})
    rating = rng.normal(5, 1, len(rows))
    rows["score"] = rating + rng.normal(0, 0.6, len(rows))
    labelled = np.r_[np.arange(40) < 6, np.arange(200) < 30]
    scored = rows.assign(rating=np.where(labelled, rating, np.nan))
    means = bg.gold_score_tally(scored, ["site"], gold="rating", judge="score", larger_is_better=True)
    decided = rows.assign(judge=(rows["score"] > 5).astype(int), gold=np.where(labelled, rating > 5, np.nan))
    rates = bg.tally(decided, ["site"], ["prev"], y_true="gold", y_pred="judge", unlabelled="keep")
    for tally, holds in ((means, "regression"), (rates, "post_stratified")):
        for method in ("ppi", "ppi_tuned"):
            answer = bg.judge_corrected(tally, method=method).isel(metric=0)
            assert answer["status"].values.tolist() == ["ok", "ok"]
            few, many = answer["reason"].values.tolist()
            assert f"subgroup 'a' has 6 labels: below 30 normal limits cover too seldom; take method='{holds}'" in few
            assert "below 30" not in many
        calm = bg.judge_corrected(tally, method=holds).isel(metric=0)  # type: ignore[arg-type]
        assert not any("below 30" in reason for reason in calm["reason"].values.tolist())
