"""Lazy frames, patterns of files and iterators give the tally that a frame in memory gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.data import thresholds
from bayesgroups.errors import InputError
from bayesgroups.tallies import reduction
from tests.tallies.engines import DEAR, EVERY, MISS_COST, NAMED, assert_same, everything, need, some_rows


def duck(frame: pd.DataFrame) -> Any:
    need("duckdb")
    import duckdb

    return duckdb.connect().from_df(frame)


def chunks(frame: pd.DataFrame) -> Iterator[Any]:
    """Frames of every kind, one by one, some of them empty."""
    kinds: list[Callable[[pd.DataFrame], Any]] = [
        pl.from_pandas,
        lambda f: f,
        pa.Table.from_pandas,
        lambda f: pl.from_pandas(f).lazy(),
    ]
    for i, start in enumerate(range(0, len(frame) + 100, 100)):
        part = frame.iloc[start : start + 100]
        yield kinds[i % len(kinds)](part.reset_index(drop=True))


LAZY: dict[str, Callable[[pd.DataFrame], Any]] = {
    "duckdb": duck,
    "polars": pl.from_pandas,
    "polars lazy": lambda f: pl.from_pandas(f).lazy(),
    "chunks": chunks,
}
CHANGES: list[dict[str, Any]] = [
    {},
    {"weights": "w", "cluster_analysis": "mean"},
    {"cluster": None, "cluster_analysis": None, "pooled_variance": "published"},
    {"threshold": None, "selection_rate": 0.2},
    {"by": {"race": ["c|d", "b", "a", "e"], "age": None}},
]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return some_rows(300)


_IN_MEMORY: dict[str, xr.Dataset] = {}


def in_memory(case: str, frame: pd.DataFrame, **changes: Any) -> xr.Dataset:
    """The tally of a frame in memory, which takes longest, made once for all kinds of frames that are held to it."""
    if case not in _IN_MEMORY:
        _IN_MEMORY[case] = everything(frame, **changes)
    return _IN_MEMORY[case]


@pytest.mark.parametrize("kind", LAZY)
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_every_kind_of_frame_gives_the_same_tally(rows: pd.DataFrame, kind: str, changes: dict[str, Any]) -> None:
    if kind == "chunks" and "selection_rate" in changes:
        with pytest.raises(
            InputError, match="selection_rate= sets a threshold on all rows, but frames that come one by one"
        ):
            everything(chunks(rows), **changes)
        return
    assert_same(everything(LAZY[kind](rows), **changes), in_memory(f"rows {changes}", rows, **changes))


@pytest.mark.parametrize("kind", LAZY)
def test_words_booleans_and_many_classes_as_labels(rows: pd.DataFrame, kind: str) -> None:
    words = rows.assign(y=np.where(rows["y"] == 1, "yes", "no"), p=np.where(rows["score"] > 0.3, "yes", "no"))
    truths = rows.assign(y=rows["y"] == 1, p=rows["score"] > 0.3)
    classes = rows.assign(y=rows["age"], p=rows["visits"].clip(upper=2).map({0: 9, 1: 18, 2: 65}))
    cases: list[tuple[str, pd.DataFrame, dict[str, Any]]] = [
        ("words", words, {"metrics": ["fnr", "acc", "f1", MISS_COST, "ppv[yes]"], "positive": "yes"}),
        ("truths", truths, {"metrics": ["fnr", "acc", "f1", MISS_COST, "tpr[True]"], "cluster": None}),
        ("classes", classes, {"by": ["race"], "metrics": ["acc", "tpr[18]", "f1[65]", DEAR]}),
    ]
    for case, frame, changes in cases:
        arguments = {"y_true": "y", "y_pred": "p", "y_score": None, "threshold": None} | changes
        assert_same(everything(LAZY[kind](frame), **arguments), in_memory(case, frame, **arguments))


@pytest.mark.parametrize("kind", LAZY)
@pytest.mark.parametrize("missing", ["level", "drop"])
def test_missing_attributes_are_treated_alike(rows: pd.DataFrame, kind: str, missing: str) -> None:
    holes = rows.assign(race=rows["race"].where(rows["patient"] % 7 > 0, None), age=rows["age"].astype("Int64"))
    holes.loc[rows["patient"] % 5 == 0, "age"] = pd.NA
    holes.loc[holes["race"].isna(), "cost"] = np.nan  # what is dropped may be anything
    changes: dict[str, Any] = {"missing": missing, "metrics": NAMED if missing == "level" else EVERY}
    if kind == "chunks":
        changes["metrics"] = ["fnr", "mean"]  # a chunk of pandas with one hole has floats, which print the same
    assert_same(everything(LAZY[kind](holes), **changes), in_memory(f"holes {changes}", holes, **changes))


@pytest.mark.parametrize("kind", ["duckdb", "polars lazy"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_confusion_cells(rows: pd.DataFrame, kind: str, weights: str | None) -> None:
    changes: dict[str, Any] = {"confusion": True, "cluster": None, "weights": weights, "metrics": ["fnr", "acc"]}
    assert_same(everything(LAZY[kind](rows), **changes), in_memory(f"rows {changes}", rows, **changes))


def test_declared_levels_of_categories_are_kept(rows: pd.DataFrame) -> None:
    levels = ["c|d", "none", "b", "a"]
    known = pl.from_pandas(rows).with_columns(pl.col("race").cast(pl.Enum(levels)))
    wanted = everything(rows.assign(race=pd.Categorical(rows["race"], categories=levels)))
    for frame in (known, known.lazy(), duck(rows).project("* REPLACE (race::ENUM('c|d', 'none', 'b', 'a') AS race)")):
        assert_same(everything(frame), wanted)


@pytest.mark.parametrize("kind", LAZY)
def test_values_far_from_zero_keep_their_digits(kind: str) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"g": rng.choice(list("ab"), 400), "loss": rng.normal(size=400)})
    frame["loss"] += np.where(frame["g"] == "a", 1e7, -1e3)
    found = bg.tally(LAZY[kind](frame), ["g"], ["mean"], loss="loss")
    wanted = frame.groupby("g")["loss"].var()
    np.testing.assert_allclose(found["row_variance"].values[0], wanted.to_numpy(), rtol=1e-8)
    # Digits lost to squares of 1e7 would be eight of these fifteen.
    middle = frame["loss"] - np.where(frame["g"] == "a", 1e7, -1e3)
    np.testing.assert_allclose(found["row_variance"].values[0], middle.groupby(frame["g"]).var().to_numpy(), rtol=1e-7)


def test_more_scores_than_fit_are_put_on_a_grid(rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = rows.assign(score=np.random.default_rng(2).beta(2, 5, len(rows)))
    exact = everything(frame, threshold=None, metrics=["auc"], by=["race"], cluster=None)
    monkeypatch.setattr(reduction, "MAX_CELLS", 120)
    held = everything(frame, threshold=None, metrics=["auc"], by=["race"], cluster=None)
    assert_same(held, exact)  # rows that pandas holds already are never rounded
    found = everything(pl.from_pandas(frame), threshold=None, metrics=["auc"], by=["race"], cluster=None)
    assert found.sizes["score_cell"] <= 120 < exact.sizes["score_cell"]
    width = json.loads(found.attrs["settings"])["score_grid"]
    assert np.log2(width) == round(np.log2(width))
    assert (np.mod(found["score_value"], width) == 0).all()
    error = np.abs(found["estimate"].values - exact["estimate"].values)[0]
    assert (error <= found["score_error_bound"].values).all()
    assert (found["score_error_bound"].values < 0.1).all()
    assert "score_error_bound" not in exact
    both = bg.add_tallies([found, found])
    np.testing.assert_allclose(both["score_error_bound"], found["score_error_bound"])
    with pytest.raises(InputError, match="different score_grid"):
        bg.add_tallies([found, exact])


@pytest.mark.parametrize("kind", ["duckdb", "polars lazy"])
def test_a_share_is_selected_without_all_scores(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "MAX_SCORES_IN_MEMORY", 5)
    monkeypatch.setattr(thresholds, "BINS", 8)
    rng = np.random.default_rng(5)
    for score in (rng.normal(size=300).round(1) + 0.0, rng.normal(size=300), np.r_[rng.random(299), 1e300], np.zeros(300),
                  np.r_[-1.7e308, 1.7e308, rng.random(298)]):  # fmt: skip
        frame = pd.DataFrame({"g": "a", "s": score})
        for rate in (0.001, 0.5, 1.0):
            wanted, found = (
                bg.tally(f, ["g"], ["sel"], y_score="s", selection_rate=rate) for f in (frame, LAZY[kind](frame))
            )
            assert_same(found, wanted)


def test_patterns_and_directories_of_files(rows: pd.DataFrame, tmp_path: Path) -> None:
    need("duckdb")
    wanted = everything(rows, weights="w")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "csv").mkdir()
    for i in range(3):
        part = rows.iloc[i::3]
        part.to_parquet(tmp_path / "deep" / ("er" if i else "") / f"part{i}.parquet")
        part.to_csv(tmp_path / "csv" / (f"part{i}.csv.gz" if i else "part0.csv"), index=False)
    (tmp_path / "deep" / "_SUCCESS").write_text("")
    (tmp_path / "deep" / ".part.parquet").write_text("not yet")
    for place in ("deep", "deep/**/*.parquet", "csv", "csv/part*"):
        assert_same(everything(tmp_path / place, weights="w"), wanted)
        assert_same(everything(str(tmp_path / place), weights="w"), wanted)


def test_texts_of_csv_files_stay_as_they_are(tmp_path: Path) -> None:
    need("duckdb")
    text = "region,when,p\nNA,01/02/2026,1\nNone,02/02/2026,0\nEU,03/02/2026,1\n"
    for i in range(2):
        (tmp_path / f"{i}.csv").write_text(text)
    found = bg.tally(tmp_path, ["region", "when"], ["sel"], y_pred="p")
    assert sorted(set(found["region"].values.tolist())) == ["EU", "NA", "None"]
    assert sorted(set(found["when"].values.tolist())) == ["01/02/2026", "02/02/2026", "03/02/2026"]


def test_one_large_file_is_left_to_duckdb(rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("duckdb")
    rows.to_parquet(tmp_path / "rows.parquet")
    wanted = everything(tmp_path / "rows.parquet")
    monkeypatch.setattr("bayesgroups.data.sources.LARGE_FILE_BYTES", 1)
    monkeypatch.setattr(pd, "read_parquet", lambda *_: pytest.fail("all rows were read"))
    assert_same(everything(tmp_path / "rows.parquet"), wanted)


def test_parts_that_come_one_by_one_are_the_sum_of_their_tallies(rows: pd.DataFrame) -> None:
    parts = [rows.iloc[:120], rows.iloc[120:]]
    added = bg.add_tallies([everything(part) for part in parts])
    found = everything(iter(parts))
    xr.testing.assert_allclose(found.drop_attrs(), added.drop_attrs(), rtol=1e-9)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 25))
    columns = {
        "race": st.sampled_from(["a", "b", "ä | \\"]), "age": st.sampled_from([9, 18]), "y": st.integers(0, 1),
        "score": st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0]), "loss": st.integers(-50, 50).map(float),
        "visits": st.integers(0, 3), "patient": st.integers(0, 4), "w": st.sampled_from([0.5, 1.0, 3.0]),
        "cost": st.sampled_from([0.0, 1.5, 4.0]), "right": st.booleans(),
    }  # fmt: skip
    return pd.DataFrame({name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()})


@pytest.mark.slow
@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(frames(), st.sampled_from([None, "w"]))
def test_any_frame_gives_the_same_tally_everywhere(frame: pd.DataFrame, weights: str | None) -> None:
    wanted = everything(frame, weights=weights)
    for kind in ("duckdb", "polars", "chunks"):
        assert_same(everything(LAZY[kind](frame), weights=weights), wanted)


def test_the_command_line_takes_patterns(rows: pd.DataFrame, tmp_path: Path) -> None:
    need("duckdb")
    from bayesgroups.cli import run
    from bayesgroups.tallies.files import open_tally

    verdicts = rows.assign(y=rows["y"] + 1, p=rows["visits"] % 2 + 1)
    for i in range(2):
        verdicts.iloc[i::2].to_parquet(tmp_path / f"part{i}.parquet")
    asked = ["--by", "race", "--metric", "fnr", "--y-true", "y", "--y-pred", "p", "--positive", "2", "--show", "0"]
    assert run(["tally", str(tmp_path / "part*.parquet"), *asked, "--output", str(tmp_path / "found.nc")]) == 0
    wanted = bg.tally(verdicts, ["race"], ["fnr"], y_true="y", y_pred="p", positive=2)
    xr.testing.assert_allclose(open_tally(tmp_path / "found.nc").drop_attrs(), wanted.drop_attrs())
