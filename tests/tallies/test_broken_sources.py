"""Files and engines that break: the error names the file or the engine, and no half tally is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesgroups as bg
from bayesgroups.data import sources
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import EngineError, InputError, MissingDependencyError
from tests.tallies.engines import need, some_rows


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Three Parquet files of 3,000 rows."""
    need("duckdb")
    rows = some_rows(9000)
    for i in range(3):
        rows.iloc[i::3].to_parquet(tmp_path / f"part{i}.parquet")
    return tmp_path


def losses(source: Any) -> Any:
    return bg.tally(source, ["race"], ["mean"], loss="loss")


def test_a_truncated_part_is_named(parts: Path) -> None:
    whole = (parts / "part1.parquet").read_bytes()
    for keep in (0, 10, len(whole) // 2, len(whole) - 1):
        (parts / "part1.parquet").write_bytes(whole[:keep])
        with pytest.raises(InputError, match=r"file '.*part1\.parquet' cannot be read as rows: "):
            losses(parts)
    (parts / "part1.parquet").write_bytes(whole)
    assert float(losses(parts)["rows"].sum()) == 9000


def test_a_part_with_damaged_pages_is_named(parts: Path) -> None:
    whole = bytearray((parts / "part2.parquet").read_bytes())
    for place in range(4, len(whole) * 3 // 4, 7):  # the footer, at the end, stays whole
        whole[place] ^= 0xFF
    (parts / "part2.parquet").write_bytes(bytes(whole))
    with pytest.raises(InputError, match=r"file '.*part2\.parquet' cannot be read as rows: "):
        losses(parts / "*.parquet")


def test_a_damaged_part_is_an_error_of_polars(parts: Path) -> None:
    whole = (parts / "part1.parquet").read_bytes()
    lazy = pl.scan_parquet(parts / "*.parquet")
    (parts / "part1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EngineError, match="polars could not read all rows, so nothing was tallied: "):
        losses(lazy)
    (parts / "part1.parquet").write_bytes(whole)
    assert float(losses(pl.scan_parquet(parts / "*.parquet"))["rows"].sum()) == 9000


def test_a_part_that_vanishes_is_named(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = sources.open_source

    def vanishing(place: Any) -> Any:
        found = opened(place)
        (parts / "part0.parquet").unlink()
        return found

    monkeypatch.setattr("bayesgroups.tallies.pushdown.open_source", vanishing)
    with pytest.raises(InputError, match=r"file '.*part0\.parquet' cannot be read as rows: "):
        losses(parts)


def test_a_csv_part_with_words_for_numbers_is_named(tmp_path: Path) -> None:
    need("duckdb")
    (tmp_path / "0.csv").write_text("g,loss\n" + "a,0.5\n" * 50_000)
    (tmp_path / "1.csv").write_text("g,loss\n" + "a,0.5\n" * 50_000 + "a,broken\n")
    with pytest.raises((InputError, EngineError), match=r"1\.csv"):
        bg.tally(tmp_path / "*.csv", ["g"], ["mean"], loss="loss")


def test_a_full_disk_is_an_error_and_not_a_tally(tmp_path: Path) -> None:
    need("duckdb")
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = 1; SET memory_limit = '60MB'; SET temp_directory = '{tmp_path}'")
    connection.execute("SET max_temp_directory_size = '1MB'")
    rows = connection.sql(
        "SELECT (i % 2)::INT AS y, 'group ' || (i % 3) AS g, i::DOUBLE AS score, 'patient of the clinic ' || i AS patient "
        "FROM range(1500000) t(i)"
    )
    with pytest.raises(
        EngineError, match="DuckDB could not read all rows, so nothing was tallied: OutOfMemoryException"
    ):
        bg.tally(rows, ["g"], ["mean"], loss="score", cluster="patient")
    assert float(bg.tally(rows, ["g"], ["mean"], loss="score")["rows"].sum()) == 1_500_000


def test_places_without_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"'.*none\*\.csv' names no file; expected .csv"):
        losses(tmp_path / "none*.csv")
    with pytest.raises(InputError, match="names no file"):
        losses(tmp_path)
    (tmp_path / "a.csv").write_text("race,loss\na,1\n")
    (tmp_path / "b.parquet").write_text("")
    with pytest.raises(
        InputError, match="must name files of one kind, .parquet or .csv .*; found Parquet and CSV files"
    ):
        losses(tmp_path)
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(InputError, match=r"found '.*a\.txt' among them"):
        losses(tmp_path / "a.*")
    monkeypatch.setattr(sources, "_has_duckdb", lambda: False)
    with pytest.raises(
        MissingDependencyError, match=r"needs DuckDB; install it with: pip install 'bayesgroups\[duckdb\]'"
    ):
        losses(tmp_path / "*.csv")


FRAME = pd.DataFrame(
    {
        "g": list("abab"),
        "y": [0, 1, 1, 0],
        "p": [0, 1, 0, 0],
        "s": [0.1, 0.9, 0.3, 0.2],
        "w": [1.0, 2.0, 1.0, 1.0],
        "t": list("abcd"),
        "three": [0, 1, 2, 0],
        "yes": ["no", "yes", "yes", "no"],
    }
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": ["gg"]}, r"column 'gg' \(by\[0\]=\) is not in the frame; did you mean"),
        ({"by": []}, "by= names no column"),
        ({"y_pred": None, "y_score": "t", "threshold": 0.5}, r"'t' \(y_score=\) must hold numbers; got String such as 'a'"),
        ({"y_true": "three"}, r"labels in 'three' and 'p' are not binary: 3 values \(0, 1, 2\)"),
        ({"y_pred": "s"}, "for a score use y_score= with threshold="),
        ({"y_true": "yes", "y_pred": "yes"}, "say which one is positive, as positive='yes'"),
        ({"y_true": "yes", "y_pred": "yes", "positive": "ja"}, "positive='ja' is not a label"),
        ({"positive": "ja"}, "positive='ja' is not a label"),
        ({"metrics": ["acc"], "y_true": "three", "y_pred": "yes"}, "have no label in common"),
        ({"metrics": ["tpr[9]"]}, r"no row has the label '9'; the labels are \['0', '1'\]"),
        ({"put": ("y", 2, None)}, r"column 'y' \(y_true=\) has 1 missing value(, the first in row 2)?; fill or drop"),
        ({"put": ("p", 2, None)}, r"column 'p' \(y_pred=\) has 1 missing value(, the first in row 2)?; fill or drop"),
        ({"put": ("s", 3, np.nan), "y_pred": None, "y_score": "s", "threshold": 0.5}, r"'s' \(y_score=\) has 1 missing value"),
        ({"put": ("s", 3, -np.inf), "y_pred": None, "y_score": "s", "threshold": 0.5}, "must be finite; (row 3|a row) has -inf"),
        ({"put": ("s", 3, np.inf), "y_pred": None, "y_score": "s", "selection_rate": 0.5}, "finite; (row 3|a row) has inf"),
        ({"y_pred": None, "y_score": "s", "selection_rate": 1.5}, r"selection_rate= must lie in \(0, 1\]; got 1.5"),
        ({"put": ("g", 0, None)}, "attribute 'g' is missing in 1 of 4 rows; say missing='level'"),
        ({"put": ("g", slice(None), None), "missing": "drop"}, "no rows are left after dropping"),
        ({"by": {"g": ["a"]}}, "has level 'b', which is not among those declared"),
        ({"put": ("w", 2, -1.0), "weights": "w"}, r"\(weights=\) must not be negative; (row 2|a row) has -1"),
        ({"put": ("w", slice(None), 0.0), "weights": "w"}, "is 0 in every row"),
        ({"metrics": ["correct"], "correct": "s"}, r"column 's' \(correct=\) must hold 0 and 1 or booleans; (row 0|a row) has 0\."),
        ({"correct": "t"}, r"column 't' \(correct=\) must hold numbers; got String such as 'a'"),
        ({"correct": "y", "put": ("y", 1, None), "y_true": "p"}, r"column 'y' \(correct=\) has 1 missing value"),
        ({"put": ("s", 0, None), "cluster": "s"}, r"column 's' \(cluster=\) has 1 missing value"),
        ({"frame": FRAME.iloc[:0]}, "the frame has no rows"),
        ({"metrics": [Metric("m", value="nope")]}, "metric 'm' cannot be computed on this frame"),
        ({"metrics": [Metric("m", value="s", lower=0.0, upper=0.5)]}, r"metric 'm' has the value 0.9, outside its range"),
        ({"metrics": [Metric("m", value="s", kind="rate")]}, "is a rate but has values other than 0 and 1"),
        ({"put": ("s", 1, np.nan), "metrics": [Metric("m", value="s")]}, "metric 'm' is missing in rows that count"),
        ({"put": ("s", 1, None), "metrics": [Metric("m", value="s")]}, "metric 'm' is missing in rows that count"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["duckdb", "polars lazy", "chunks"])
def test_bad_lazy_tables_are_refused_in_the_same_words(kind: str, changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"by": ["g"], "metrics": ["fnr"], "y_true": "y", "y_pred": "p"} | changes
    frame = pl.from_pandas(arguments.pop("frame", FRAME))
    if "put" in arguments:
        column, row, value = arguments.pop("put")
        every = row == slice(None)
        place = (
            pl.lit(value)
            if every
            else pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(pl.col(column))
        )
        frame = frame.with_columns(place.alias(column))
    source: Any = frame.lazy()
    if kind == "chunks":
        source = iter([frame.to_pandas() if "yes" in frame.columns and not changes.get("put") else frame])
        if "selection_rate" in changes:
            message = "selection_rate= sets a threshold on all rows"
    if kind == "duckdb":
        need("duckdb")
        import duckdb

        source = duckdb.connect().from_arrow(frame.to_arrow())
    with pytest.raises(InputError, match=message):
        bg.tally(source, **arguments)


def test_polars_names_the_row() -> None:
    frame = pl.DataFrame({"g": ["a"] * 5, "loss": [1.0, 2.0, None, float("nan"), 3.0]})
    with pytest.raises(
        InputError, match=r"column 'loss' \(loss=\) has 2 missing values, the first in row 2; fill or drop"
    ):
        bg.tally(frame, ["g"], ["mean"], loss="loss")


def test_frames_of_an_iterator_are_counted() -> None:
    frame = pd.DataFrame({"g": ["a"], "loss": [1.0]})
    with pytest.raises(InputError, match="frame 2 of the iterator: column 'loss' .* must be finite"):
        bg.tally(iter([frame, frame.assign(loss=np.inf)]), ["g"], ["mean"], loss="loss")
    with pytest.raises(InputError, match="frame 2 of the iterator must be a dataframe; got int"):
        bg.tally(iter([frame, 3]), ["g"], ["mean"], loss="loss")
    with pytest.raises(InputError, match="the iterator gave no frame"):
        bg.tally(iter([]), ["g"], ["mean"], loss="loss")
    labels = pd.DataFrame({"g": ["a", "a"], "y": [0, 1], "p": [1, 1]})
    with pytest.raises(InputError, match="are not binary: 3 values"):
        bg.tally(iter([labels, labels.assign(y=[0, 2])]), ["g"], ["fnr"], y_true="y", y_pred="p")
    with pytest.raises(InputError, match="frame= is an iterator of several; tally them one by one and add them up"):
        bg.tally(iter([labels]), ["g"], ["fnr"], y_true="y", y_pred="p", confusion=True)


def test_attributes_with_too_many_levels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesgroups.tallies.reduction.MAX_CELLS", 50)
    frame = pl.LazyFrame({"g": list(range(60)), "loss": [0.5] * 60})
    with pytest.raises(
        InputError, match="attributes and labels have more than 50 combinations; are by=, y_true= and y_pred="
    ):
        bg.tally(frame, ["g"], ["mean"], loss="loss")
