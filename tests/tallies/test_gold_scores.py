"""Gold scores of few rows beside scores or classes of a judge: worked numbers, engines, statuses, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "labels" / "q_labels.json").read_text("utf-8"))
PLACE = np.arange(1, 13)
LABELLED = pd.DataFrame({"dialect": "a", "judge": (PLACE * 7 % 13) / 13, "gold": GOLDEN["continuous_judge"]["Y"]})
OTHERS = pd.DataFrame({"dialect": "a", "judge": ((np.arange(60) * 17 + 5) % 61) / 61, "gold": np.nan})
WORKED = pd.concat([LABELLED, OTHERS], ignore_index=True)


def some_rows(n: int = 900, share: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {"dialect": rng.choice(["a", "b", "c"], n), "sex": rng.choice(["f", "m"], n), "judge": rng.normal(50, 9, n)}
    )
    gold = 0.6 * rows["judge"] + rng.normal(10, 4, n) + 5 * (rows["dialect"] == "c")
    return rows.assign(truth=gold, gold=gold.where(rng.random(n) < share))


def with_judge(value: float) -> pd.DataFrame:
    return WORKED.assign(judge=WORKED["judge"].where(WORKED.index != 2, value))


def at(answer: xr.Dataset, subgroup: int = 0) -> dict[str, Any]:
    chosen = answer.sel(level=0.95).isel(metric=0, subgroup=subgroup)
    return {str(name): chosen[name].item() for name in chosen.data_vars}


def test_a_continuous_judge_has_the_worked_numbers() -> None:
    tally = bg.gold_score_tally(WORKED, ["dialect"], gold="gold", judge="judge")
    wanted = GOLDEN["continuous_judge"]
    found = at(bg.judge_corrected(tally, method="regression"))
    assert [found["estimate"], found["std_error"]] == pytest.approx(
        [wanted["regression_estimator"]["estimate"], wanted["regression_estimator"]["se"]], abs=1e-9
    )
    for method, key in (("ppi", "lambda_1"), ("ppi_tuned", "tuned")):
        found = at(bg.judge_corrected(tally, method=method))  # type: ignore[arg-type]
        assert found["estimate"] == pytest.approx(wanted[key]["estimate"], abs=1e-9)
        assert [found["lower"], found["upper"]] == pytest.approx(wanted[key]["interval"], abs=1e-8)
    assert found["gold_estimate"] == pytest.approx(wanted["lambda_0"]["estimate"])
    assert found["gold_upper"] > wanted["lambda_0"]["interval"][1]  # Student's t
    assert tally["reason"].item() == "12 of 72 rows labelled"
    assert tally["estimate"].item() == pytest.approx(wanted["regression_estimator"]["estimate"])


def test_classes_of_a_judge_post_stratify_gold_scores() -> None:
    wanted = GOLDEN["poststratified_mean"]
    rows = []
    for name, n, m, total, squares in zip(
        "xyz", *(wanted[key] for key in ("rows", "labelled", "sum", "squares")), strict=True
    ):
        spread = np.sqrt((squares - total**2 / m) / 2)
        gold = [total / m + spread, total / m - spread, *[total / m] * (int(m) - 2), *[np.nan] * int(n - m)]
        rows.append(pd.DataFrame({"dialect": "a", "judge": name, "gold": gold}))
    tally = bg.gold_score_tally(pd.concat(rows), ["dialect"], gold="gold", judge="judge")
    assert tally["estimate"].item() == pytest.approx(wanted["estimate"])
    assert np.sqrt(tally["sampling_variance"].item()) == pytest.approx(wanted["se"])
    found = at(bg.judge_corrected(tally))
    assert found["upper"] - found["lower"] == pytest.approx(2 * 1.959964 * wanted["se"], rel=1e-6)


@pytest.mark.parametrize("kind", ["polars", "lazy", "duckdb", "csv"])
def test_every_frame_gives_the_same_tally(kind: str, tmp_path: Path) -> None:
    rows = some_rows(200).drop(columns="truth")
    asked: dict[str, Any] = {"by": ["dialect", "sex"], "gold": "gold", "judge": "judge"}
    wanted = bg.gold_score_tally(rows, **asked)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    nulls = pl.from_pandas(rows)
    frames: dict[str, Any] = {
        "polars": nulls, "lazy": nulls.lazy(), "duckdb": duckdb.from_arrow(nulls.to_arrow()), "csv": tmp_path / "rows.csv"
    }  # fmt: skip
    xr.testing.assert_allclose(bg.gold_score_tally(frames[kind], **asked), wanted, rtol=1e-9)


def test_a_judge_that_follows_the_gold_makes_errors_small_and_estimators_pool_them() -> None:
    rows = some_rows()
    tally = bg.gold_score_tally(rows, ["dialect", "sex"], gold="gold", judge="judge", larger_is_better=True)
    truth = rows.groupby(["dialect", "sex"])["truth"].mean().to_numpy()
    error = np.sqrt(tally["sampling_variance"].values[0])
    assert np.abs((tally["estimate"].values[0] - truth) / error).max() < 3
    alone = bg.judge_corrected(tally, method="regression").sel(level=0.95)
    assert float((alone["upper"] - alone["lower"]).mean()) < 0.75 * float(
        (alone["gold_upper"] - alone["gold_lower"]).mean()
    )
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    assert report.attrs["usable"] == 1
    whole = bg.gold_score_tally(some_rows(share=1.0), ["dialect"], gold="gold", judge="judge")
    means = some_rows(share=1.0).groupby("dialect")["gold"].mean()
    np.testing.assert_allclose(whole["estimate"].values[0], means)
    assert bg.judge_corrected(whole, method="ppi")["reason"].values.ravel().tolist() == ["no unlabelled row"] * 3


def test_statuses_say_why_there_is_no_mean() -> None:
    rows = pd.DataFrame({
        "dialect": list("aaaa") + list("bb") + list("cccc") + list("ddd"),
        "judge": ["x", "x", "y", "y", "x", "y", "x", "x", "y", "y", "x", "y", "y"],
        "gold": [1.0, 2.0, 3.0, 5.0, np.nan, np.nan, 1.0, 4.0, np.nan, np.nan, 2.0, 3.0, np.nan],
    })  # fmt: skip
    tally = bg.gold_score_tally(rows, {"dialect": list("abcde")}, gold="gold", judge="judge")
    assert list(zip(tally["status"].values[0].tolist(), tally["reason"].values[0].tolist(), strict=True)) == [
        ("ok", ""), ("undefined", "0 of 2 rows labelled"), ("undefined", "no label among 2 rows judged y"),
        ("ok", "2 of 3 rows labelled"), ("undefined", "no rows"),
    ]  # fmt: skip
    assert np.isfinite(tally["estimate"].values[0]).tolist() == [True, False, False, True, False]
    two = pd.DataFrame({"dialect": ["a", "a", "b"], "judge": [1.0, 2.0, 3.0], "gold": [1.0, np.nan, np.nan]})
    single = bg.gold_score_tally(two, ["dialect"], gold="gold", judge="judge")
    assert single["reason"].values[0].tolist() == ["too few labels for a residual variance", "0 of 1 rows labelled"]
    assert bg.judge_corrected(single, method="ppi")["reason"].values[0].tolist()[0] == "one label"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gold": "golden"}, r"column 'golden' \(gold=\) is not in the frame; did you mean"),
        ({"judge": "gold"}, "gold= and judge= both name the column 'gold'"),
        ({"gold": "dialect"}, r"column 'dialect' \(gold=\) must hold numbers, or nothing"),
        ({"frame": WORKED.assign(gold=np.nan)}, r"no row has a value in 'gold' \(gold=\); nothing to learn"),
        ({"frame": with_judge(np.nan)}, r"column 'judge' \(judge=\) has 1 missing value"),
        ({"frame": with_judge(np.inf)}, r"column 'judge' \(judge=\) must be finite"),
        ({"frame": WORKED.assign(gold=WORKED["gold"].where(WORKED.index != 2, np.inf))}, r"column 'gold' \(gold=\) must be finite"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_read_are_refused(changes: dict[str, Any], message: str) -> None:
    asked: dict[str, Any] = {"frame": WORKED, "by": ["dialect"], "gold": "gold", "judge": "judge"}
    with pytest.raises(bg.InputError, match=message):
        bg.gold_score_tally(**(asked | changes))


def test_methods_of_other_tallies_are_refused() -> None:
    tally = bg.gold_score_tally(WORKED, ["dialect"], gold="gold", judge="judge")
    with pytest.raises(
        bg.InputError, match="method='post_stratified' is not for gold scores beside scores of a judge; take 'regr"
    ):
        bg.judge_corrected(tally)
    cells = bg.tally_from_cells([[9, 9]], [[[2, 1], [1, 3]]], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="method='regression' is for mean gold scores"):
        bg.judge_corrected(cells, method="regression")
    with pytest.raises(bg.InputError, match="tallies of gold scores have slopes of all rows and cannot be added"):
        bg.add_tallies([tally, tally])
