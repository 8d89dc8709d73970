"""Tallies that keep rows without an outcome: every way in, sums of parts, statuses with reasons, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies.post_stratified import post_stratified

METRICS = ["prev", "sel", "tpr", "fnr", "acc", "ppv", "for", "f1", "judge_bias"]
PREV = np.array([[0.0, 0.0], [1.0, 1.0]])


def part(where: str, judged: tuple[int, int], labelled: tuple[int, int], positive: tuple[int, int]) -> pd.DataFrame:
    """Rows of one subgroup, by decision 0 and 1."""
    y, d = [], []
    for decision in (0, 1):
        n, m, k = judged[decision], labelled[decision], positive[decision]
        d += [decision] * n
        y += [1.0] * k + [0.0] * (m - k) + [np.nan] * (n - m)
    return pd.DataFrame({"dialect": where, "gold": y, "judge": d})


ROWS = pd.concat(
    [
        part("hepatic", (221, 429), (81, 263), (27, 231)),
        part("small", (130, 70), (12, 8), (3, 6)),
        part("one arm", (31, 9), (5, 0), (2, 0)),
        part("none", (7, 5), (0, 0), (0, 0)),
        part("agreeing", (20, 10), (4, 6), (0, 3)),
        part("single", (20, 10), (1, 6), (0, 3)),
        part("whole", (12, 10), (12, 10), (3, 8)),
        part("uneven", (100, 10), (4, 8), (2, 4)),
        part("yes only", (0, 10), (0, 4), (0, 2)),
    ],
    ignore_index=True,
)


def kept(frame: Any = ROWS, metrics: Any = METRICS, **more: Any) -> xr.Dataset:
    return bg.tally(
        frame,
        **({"by": ["dialect"], "y_true": "gold", "y_pred": "judge", "unlabelled": "keep"} | more),
        metrics=metrics,
    )


TALLY = kept()


def test_judged_and_labelled_rows_are_counted_apart() -> None:
    at = TALLY.sel(subgroup="small")
    assert at["judged"].values.tolist() == at["decision_count"].values.tolist() == [130, 70]
    assert at["labelled"].values.tolist() == [12, 8]
    assert at["cell_count"].values.tolist() == [[9, 2], [3, 6]]
    assert float(at["rows"]) == 200
    assert '"unlabelled": "keep"' in TALLY.attrs["settings"]
    assert bg.tally(ROWS.dropna(), ["dialect"], ["sel"], y_true="gold", y_pred="judge").sel(metric="sel")[
        "estimate"
    ].sel(subgroup="small") == pytest.approx(0.4)  # of labelled rows alone, where the labels are not those of all rows
    assert float(at["estimate"].sel(metric="sel")) == 0.35


def test_metrics_are_post_stratified_and_counts_are_effective() -> None:
    at = TALLY.sel(subgroup="small")
    value = post_stratified(np.array([[130.0, 70.0]]), at["cell_count"].values[None], PREV, np.ones((2, 2)))
    assert float(at["estimate"].sel(metric="prev")) == pytest.approx(0.425)
    assert (
        float(at["sampling_variance"].sel(metric="prev"))
        == pytest.approx(value.variance[0])
        == pytest.approx(0.09877769**2)
    )
    assert float(at["count"].sel(metric="prev")) == pytest.approx(26.157, abs=1e-3)  # of 20 labels
    assert float(at["successes"].sel(metric="prev")) == pytest.approx(26.157 * 0.425, abs=1e-3)
    assert [float(at["count"].sel(metric=name)) for name in ("sel", "ppv", "for")] == [200, 8, 12]
    assert float(at["estimate"].sel(metric="judge_bias")) == pytest.approx(0.35 - 0.425)
    assert float(at["estimate"].sel(metric="fnr")) == pytest.approx(1 - 0.61764706)


@pytest.mark.parametrize(
    ("subgroup", "metric", "status", "reason"),
    [
        ("hepatic", "prev", "ok", "344 of 650 rows labelled"),
        ("hepatic", "sel", "ok", ""),
        ("none", "prev", "undefined", "0 of 12 rows labelled"),
        ("none", "sel", "ok", ""),
        ("one arm", "tpr", "undefined", "no label among 9 rows judged 1"),
        ("one arm", "for", "ok", "5 of 31 rows labelled"),
        ("agreeing", "acc", "saturated", "all 4 labels of rows judged 0 agree"),
        ("single", "prev", "single", "one label among 20 rows judged 0"),
        ("whole", "prev", "ok", ""),
        ("uneven", "prev", "ok", "12 of 110 rows labelled, 80 % of those judged 1 and 4 % of those judged 0: rates among labelled "
         "rows alone can be biased"),
        ("yes only", "prev", "ok", "4 of 10 rows labelled"),
        ("yes only", "for", "undefined", "everything selected"),
        ("yes only", "sel", "saturated", "all rows agree"),
    ],
)  # fmt: skip
def test_statuses_say_why(subgroup: str, metric: str, status: str, reason: str) -> None:
    at = TALLY.sel(subgroup=subgroup, metric=metric)
    assert (str(at["status"].values), str(at["reason"].values)) == (status, reason)
    assert np.isfinite(at["estimate"]) == (status != "undefined")
    if status in ("saturated", "single") and metric != "sel":
        assert float(at["sampling_variance"]) > 0.001  # no spread is no certainty


def test_a_subgroup_with_all_labels_has_the_numbers_of_a_tally_without_gaps() -> None:
    rows = ROWS[ROWS["dialect"] == "whole"]
    full = bg.tally(rows, ["dialect"], METRICS, y_true="gold", y_pred="judge", confusion=True).isel(subgroup=0)
    mine = TALLY.sel(subgroup="whole")
    for name in ("estimate", "count", "successes"):
        known = ~np.isin(full["metric"].values, ["f1", "judge_bias"]) | (name == "estimate")
        np.testing.assert_allclose(mine[name].values[known], full[name].values[known], rtol=1e-12)
    k, n = full["successes"].sel(metric="prev"), full["count"].sel(metric="prev")
    assert float(mine["sampling_variance"].sel(metric="prev")) == pytest.approx(float(k / n * (1 - k / n) / n))


def test_without_gaps_nothing_changes() -> None:
    rows = ROWS.dropna()
    asked: dict[str, Any] = {"y_true": "gold", "y_pred": "judge"}
    full = bg.tally(rows, ["dialect"], METRICS, confusion=True, **asked)
    assert full.identical(bg.tally(rows, ["dialect"], METRICS, unlabelled="keep", **asked))
    assert full.identical(bg.tally(rows, ["dialect"], METRICS, confusion=True, unlabelled="drop", **asked))
    dropped = bg.tally(ROWS, ["dialect"], METRICS, unlabelled="drop", confusion=True, **asked)
    assert dropped.drop_attrs().identical(full.drop_attrs())
    assert '"rows_unlabelled": 680' in dropped.attrs["settings"]


@pytest.mark.parametrize("kind", ["polars", "lazy", "arrow", "duckdb", "objects", "nullable", "csv", "parquet"])
def test_every_frame_gives_the_same_tally(kind: str, tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    ROWS.to_parquet(tmp_path / "rows.parquet")
    nulls = pl.from_pandas(ROWS)
    frames: dict[str, Any] = {
        "polars": nulls, "lazy": nulls.lazy(), "arrow": nulls.to_arrow(), "duckdb": duckdb.from_arrow(nulls.to_arrow()),
        "objects": ROWS.assign(gold=ROWS["gold"].astype(object).where(ROWS["gold"].notna(), None)),
        "nullable": ROWS.assign(gold=ROWS["gold"].astype("Int64")), "csv": tmp_path / "rows.csv",
        "parquet": tmp_path / "rows.parquet",
    }  # fmt: skip
    found = kept(frames[kind])
    xr.testing.assert_allclose(found, TALLY, rtol=1e-12)
    assert found["reason"].values.tolist() == TALLY["reason"].values.tolist()


def test_words_and_classes_have_gaps_too() -> None:
    words = ROWS.assign(gold=ROWS["gold"].map({1.0: "yes", 0.0: "no"}), judge=ROWS["judge"].map({1: "yes", 0: "no"}))
    found = kept(words, positive="yes")
    np.testing.assert_array_equal(found["estimate"], TALLY["estimate"])
    classes = kept(ROWS, ["prev[1]", "acc", "tpr[0]"])
    np.testing.assert_allclose(classes["estimate"].sel(metric="prev[1]"), TALLY["estimate"].sel(metric="prev"))
    rng = np.random.default_rng(4)
    three = pd.DataFrame({"g": rng.choice(["a", "b"], 400), "d": rng.integers(1, 4, 400)})
    three["y"] = np.where(rng.random(400) < 0.3, np.where(rng.random(400) < 0.8, three["d"], 2), np.nan)
    tally = bg.tally(three, ["g"], ["prev[1]", "prev[2]", "prev[3]", "acc"], y_true="y", y_pred="d", unlabelled="keep")
    assert tally["outcome"].values.tolist() == ["1", "2", "3"]
    shares = tally["estimate"].isel(metric=slice(3)).sum("metric")
    np.testing.assert_allclose(shares, 1.0)
    a = three[three["g"] == "a"]
    wanted = sum((a["d"] == d).mean() * (a.loc[(a["d"] == d) & a["y"].notna(), "y"] == 2).mean() for d in (1, 2, 3))
    assert float(tally["estimate"].sel(metric="prev[2]", subgroup="a")) == pytest.approx(wanted)


def test_parts_add_up_with_and_without_gaps(tmp_path: Path) -> None:
    halves = [ROWS.iloc[::2], ROWS.iloc[1::2]]
    whole = bg.add_tallies([kept(half) for half in halves])
    xr.testing.assert_allclose(whole[list(TALLY.data_vars)].sel(subgroup=TALLY["subgroup"]), TALLY, rtol=1e-10)
    full = ROWS[ROWS["dialect"] == "whole"]
    rest = ROWS[ROWS["dialect"] != "whole"]
    asked: dict[str, Any] = {"y_true": "gold", "y_pred": "judge", "confusion": True}
    for parts in (
        [bg.tally(full, ["dialect"], METRICS, **asked), kept(rest)],
        [kept(rest), bg.tally(full, ["dialect"], METRICS, **asked)],
    ):
        added = bg.add_tallies(parts)
        xr.testing.assert_allclose(added[list(TALLY.data_vars)].sel(subgroup=TALLY["subgroup"]), TALLY, rtol=1e-10)
        assert '"unlabelled": "keep"' in added.attrs["settings"]
    path = bg.save_tally(TALLY, tmp_path / "judged.nc")
    assert bg.open_tally(path).identical(TALLY)


def test_weights_are_effective_by_decision_and_add_up() -> None:
    rng = np.random.default_rng(3)
    rows = ROWS[ROWS["dialect"].isin(["small", "hepatic"])].assign(
        w=lambda frame: rng.exponential(size=len(frame)) + 0.1
    )
    tally = kept(rows, weights="w")
    small = rows[rows["dialect"] == "small"]
    n, w = len(small), small["w"].to_numpy()
    at = tally.sel(subgroup="small")
    assert float(at["decision_count"].sum()) == pytest.approx(w.sum() ** 2 / (w**2).sum())
    yes = small[(small["judge"] == 1) & small["gold"].notna()]
    v = yes["w"].to_numpy()
    assert float(at["cell_count"].sel(decision="1").sum()) == pytest.approx(v.sum() ** 2 / (v**2).sum())
    assert float(at["estimate"].sel(metric="ppv")) == pytest.approx(np.average(yes["gold"], weights=v))
    assert int(at["rows"]) == n
    assert at["labelled"].values.tolist() == [12, 8]
    once = kept(rows.assign(w=2.5), weights="w")
    plain = kept(rows)
    for name in ("estimate", "count", "sampling_variance", "decision_count", "cell_count"):
        np.testing.assert_allclose(once[name], plain[name], rtol=1e-12)
    parts = bg.add_tallies([kept(rows.iloc[::2], weights="w"), kept(rows.iloc[1::2], weights="w")])
    for name in ("estimate", "count", "sampling_variance", "decision_count", "cell_count"):
        np.testing.assert_allclose(parts[name].sel(subgroup=tally["subgroup"]), tally[name], rtol=1e-10)
    full = bg.tally(rows.dropna(), ["dialect"], METRICS, y_true="gold", y_pred="judge", weights="w", confusion=True)
    with pytest.raises(
        bg.InputError, match="tallies with weights, of which one has all outcomes and another keeps rows without"
    ):
        bg.add_tallies([tally, full])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unlabelled": "kep"}, "unlabelled='kep' is not one of .*; did you mean"),
        ({"y_true": None, "metrics": ["sel"]}, "unlabelled='keep' keeps rows without an outcome, and needs y_true="),
        ({"y_true": None, "metrics": ["sel"], "unlabelled": "drop"}, "unlabelled='drop' drops rows without an outcome, and needs"),
        ({"y_true": "golden"}, r"column 'golden' \(y_true=\) is not in the frame"),
        ({"cluster": "dialect"}, "unlabelled='keep' counts independent rows, and cluster= is given"),
        ({"y_score": "judge"}, "unlabelled='keep' takes decisions, and y_score= gives scores"),
        ({"y_pred": None, "y_score": "judge", "metrics": ["auc"]}, "unlabelled='keep' takes decisions, and y_score= gives scores"),
        ({"loss": "judge", "metrics": ["mean"]}, "metric 'mean' is no function of outcome and decision, and unlabelled='keep'"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        kept(**{"metrics": ["prev"], **changes})


def test_an_auc_is_refused_by_name() -> None:
    from bayesgroups.data.columns import Roles
    from bayesgroups.data.metrics import named
    from bayesgroups.tallies.confusion import check_partial

    with pytest.raises(bg.InputError, match="metric 'auc' needs the outcome of every row"):
        check_partial(Roles(("g",), "y", "d"), [named("auc")])


def test_rows_without_any_label_or_with_gaps_in_decisions_are_refused() -> None:
    for unlabelled in ("keep", "drop"):
        with pytest.raises(
            bg.InputError, match="no row has a value in 'gold'.*nothing to learn the judge's errors from"
        ):
            kept(ROWS.assign(gold=np.nan), unlabelled=unlabelled)
    with pytest.raises(bg.InputError, match=r"column 'gold' \(y_true=\) has 680 missing values, the first in row"):
        kept(unlabelled="error")
    gaps = ROWS.assign(judge=ROWS["judge"].astype(float).where(ROWS.index != 3))
    with pytest.raises(bg.InputError, match=r"column 'judge' \(y_pred=\) has 1 missing value, the first in row 3"):
        kept(gaps)
    with pytest.raises(bg.InputError, match="unlabelled='keep' counts cells of one frame, and frame= is an iterator"):
        kept(iter([ROWS]))
    dropped = kept(iter([ROWS.iloc[:900], ROWS.iloc[900:]]), ["acc"], unlabelled="drop")
    np.testing.assert_array_equal(dropped["estimate"], kept(ROWS, ["acc"], unlabelled="drop")["estimate"])


def test_tallies_of_other_cells_are_not_added() -> None:
    scored = ROWS.dropna().assign(score=0.5)
    full = bg.tally(scored, ["dialect"], ["prev", "sel"], y_true="gold", y_score="score", threshold=0.4, confusion=True)
    with pytest.raises(bg.InputError, match="tallies were made with different threshold|with a score in their cells"):
        bg.add_tallies([kept(metrics=["prev", "sel"]), full])
    plain = bg.tally(ROWS.dropna(), ["dialect"], ["prev"], y_true="gold", y_pred="judge")
    with pytest.raises(bg.InputError, match="tallies differ in confusion="):
        bg.add_tallies([kept(metrics=["prev"]), plain])


def test_counts_give_the_tally_of_the_rows() -> None:
    where = pd.DataFrame({"dialect": TALLY["subgroup"].values})
    found = bg.tally_from_cells(TALLY["judged"].values, TALLY["cell_count"].values, where, METRICS)
    for name in ("estimate", "count", "successes", "sampling_variance", "status", "reason", "rows", "labelled"):
        np.testing.assert_array_equal(found[name], TALLY[name])
    whole = bg.add_tallies([found, TALLY])
    np.testing.assert_allclose(whole["decision_count"], 2 * TALLY["decision_count"])
    three = bg.tally_from_cells(
        [[9, 5, 3]],
        [[[2, 0, 0], [1, 1, 0], [0, 0, 1]]],
        where.iloc[:1],
        ["prev[cat]", "acc"],
        classes=["ant", "bee", "cat"],
    )
    assert float(three["estimate"].sel(metric="prev[cat]").item()) == pytest.approx(3 / 17)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"cell_count": [[[3, 1], [2, 6]]]},
            "subgroup 'a': 5 of 4 rows judged 0 are labelled; labelled rows cannot exceed",
        ),
        ({"cell_count": [[[0, 0], [0, 0]]]}, "cell_count= has no labelled row; nothing to learn"),
        ({"cell_count": [[[1, 1], [1, -1]]]}, "cell_count= of subgroup 'a' must be whole numbers, 0 or larger; got -1"),
        ({"decision_count": [[4.5, 9]]}, "decision_count= of subgroup 'a' must be whole numbers, 0 or larger; got 4.5"),
        ({"decision_count": [4, 9]}, r"decision_count= has the shape \(2,\), and \(1, 2\) is needed"),
        ({"decision_count": [["x", "y"]]}, "decision_count= must hold numbers"),
        ({"classes": ["1", "1"]}, "classes= must be two different labels or more"),
        ({"metrics": ["auc"]}, "metric 'auc' is no function of outcome and decision; leave it out"),
    ],
)
def test_counts_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "decision_count": [[4, 9]], "cell_count": [[[1, 1], [1, 1]]], "subgroups": pd.DataFrame({"g": ["a"]})
    }  # fmt: skip
    with pytest.raises(bg.InputError, match=message):
        bg.tally_from_cells(**(given | changes))


def test_other_estimators_read_effective_counts() -> None:
    report = bg.estimate(kept(metrics=["prev", "acc"]), bg.NoPooling(), seed=1)["estimates"].to_dataset()
    at = report.sel(approach="frequentist", metric="prev", subgroup="small", level=0.95)
    assert float(at["upper"] - at["lower"]) == pytest.approx(0.35, abs=0.02)  # MOVER: .359; labels alone: .400
    assert str(at["reason"].values) == "20 of 200 rows labelled"
