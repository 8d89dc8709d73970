"""Every way a table can be wrong, and the message that names the offending input and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import InputError, MissingDependencyError

FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", "f", "m"],
        "y": [0, 1, 1, 0],
        "p": [0, 1, 0, 0],
        "s": [0.1, 0.9, 0.3, 0.2],
        "w": [1.0, 2.0, 1.0, 1.0],
        "text": list("abcd"),
        "three": [0, 1, 2, 0],
        "yes": ["no", "yes", "yes", "no"],
    }
)


def put(column: str, row: int, value: Any) -> pd.DataFrame:
    frame = FRAME.copy()
    frame[column] = frame[column].astype(object if isinstance(value, str) or value is None else float)
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": ["sexx"]}, r"column 'sexx' \(by\[0\]=\) is not in the frame; did you mean 'sex'"),
        ({"by": []}, "by= names no column"),
        ({"by": ["sex", "sex"]}, "by= names a column twice"),
        ({"frame": FRAME.rename(columns={"sex": "count"}), "by": ["count"]}, "has a name that the tally uses itself"),
        ({"y_true": "yy"}, r"column 'yy' \(y_true=\) is not in the frame"),
        ({"metrics": ["fnrr"]}, "unknown metric 'fnrr'; did you mean"),
        ({"metrics": []}, "metrics= is empty"),
        ({"metrics": ["fnr", "fnr"]}, "has 'fnr' twice"),
        ({"y_true": None}, "metric 'fnr' needs y_true=, which is not given"),
        ({"y_pred": None}, r"needs y_pred= \(or y_score= with threshold= or selection_rate=\)"),
        ({"metrics": ["auc"]}, "metric 'auc' needs y_score=, which is not given; y_pred= holds classes"),
        ({"metrics": ["auc"], "y_pred": None}, "metric 'auc' needs y_score=, which is not given$"),
        ({"metrics": ["mean"]}, "metric 'mean' needs loss="),
        (
            {"metrics": ["correct"]},
            r"metric 'correct' needs correct= \(the column of answers graded 1 or 0\), which is not given",
        ),
        ({"metrics": ["correct"], "correct": "nope"}, r"column 'nope' \(correct=\) is not in the frame"),
        (
            {"metrics": ["correct"], "correct": "s"},
            r"column 's' \(correct=\) must hold 0 and 1 or booleans; row 0 has 0.1. .* loss='s', larger_is_better=True",
        ),
        (
            {"metrics": ["correct"], "correct": "text"},
            r"column 'text' \(correct=\) must hold numbers; got String such as 'a'",
        ),
        (
            {"frame": put("s", 2, np.nan), "correct": "s"},
            r"column 's' \(correct=\) has 1 missing value, the first in row 2",
        ),
        (
            {"larger_is_better": {"fnrr": True}},
            "larger_is_better= has metric 'fnrr', which is not tallied; did you mean 'fnr'",
        ),
        (
            {"larger_is_better": "yes"},
            "larger_is_better= must be True or False, or a mapping from metrics to these; got 'yes'",
        ),
        ({"larger_is_better": {"fnr": 1}}, "larger_is_better= of metric 'fnr' must be True or False, or a mapping"),
        ({"y_score": "s", "threshold": 0.5}, "y_pred= and threshold= are both given"),
        ({"y_score": "s", "selection_rate": 0.5}, "y_pred= and selection_rate= are both given"),
        (
            {"y_pred": None, "y_score": "s", "threshold": 0.5, "selection_rate": 0.2},
            "threshold= and selection_rate= are both given",
        ),
        ({"y_pred": None, "threshold": 0.5}, "threshold= turns a score into a decision, but y_score= is not given"),
        ({"y_pred": None, "y_score": "s", "threshold": np.nan}, "threshold= must be a finite number"),
        ({"y_pred": None, "y_score": "s", "selection_rate": 1.5}, r"selection_rate= must lie in \(0, 1\]; got 1.5"),
        ({"frame": put("y", 2, np.nan)}, r"column 'y' \(y_true=\) has 1 missing value, the first in row 2"),
        ({"frame": put("p", 1, np.nan)}, r"column 'p' \(y_pred=\) has 1 missing value"),
        (
            {"frame": put("s", 3, np.nan), "y_pred": None, "y_score": "s", "threshold": 0.5},
            r"column 's' \(y_score=\) has 1 missing",
        ),
        (
            {"frame": put("s", 3, np.inf), "y_pred": None, "y_score": "s", "threshold": 0.5},
            "must be finite; row 3 has inf",
        ),
        (
            {"y_pred": None, "y_score": "text", "threshold": 0.5},
            r"column 'text' \(y_score=\) must hold numbers; got String such as 'a'",
        ),
        (
            {"y_true": "three"},
            r"labels in 'three' and 'p' are not binary: 3 values \(0, 1, 2\); tpr and .* such as 'tpr\[0\]'$",
        ),
        (
            {"y_true": "three", "y_score": "s", "metrics": ["tpr[0]", "auc"]},
            r"use metrics of one class such as 'tpr\[0\]'; what comes from a score, such as auc, is .*: tally it apart, with a "
            "column that is 1 for 0 and 0 for all others as y_true=",
        ),
        (
            {"y_true": "three", "y_pred": None, "y_score": "s", "metrics": ["auc"]},
            r"\(0, 1, 2\); what comes from a score, such as auc, is about one class against all others: tally it apart",
        ),
        (
            {"y_true": "three", "y_pred": None, "metrics": [Metric("own", value="w", needs=frozenset({"y_true"}))]},
            r"\(0, 1, 2\); metrics of the positive class need two$",
        ),
        ({"metrics": ["tpr[1]"], "y_pred": None}, r"metric 'tpr\[1\]' needs y_pred=, which is not given"),
        ({"y_pred": "s"}, "for a score use y_score= with threshold="),
        ({"y_true": "yes", "y_pred": "yes"}, "say which one is positive, as positive='yes'"),
        ({"y_true": "yes", "y_pred": "yes", "positive": "ja"}, "positive='ja' is not a label"),
        (
            {"metrics": ["acc"], "y_true": "three", "y_pred": "yes"},
            "have no label in common: .*; give both the same labels",
        ),
        ({"metrics": ["tpr[9]"]}, r"no row has the label '9'; the labels are \['0', '1'\]"),
        (
            {"metrics": ["tpr[1]"], "y_pred": None, "y_score": "s", "threshold": 0.5},
            "is about one class of a decision and needs y_pred=.*; for decisions by a threshold take 'tpr', with a column that",
        ),
        ({"frame": put("sex", 0, None)}, "attribute 'sex' is missing in 1 of 4 rows; say missing='level'"),
        ({"frame": FRAME.assign(sex=None), "missing": "drop"}, "no rows are left after dropping"),
        ({"by": {"sex": ["f"]}}, r"attribute 'sex' has level 'm', which is not among those declared: \['f'\]"),
        ({"frame": FRAME.assign(sex=[1, "1", 1, "1"])}, "has two levels that both print as '1'"),
        ({"frame": put("w", 2, -1.0), "weights": "w"}, r"column 'w' \(weights=\) must not be negative; row 2 has -1"),
        ({"frame": FRAME.assign(w=0.0), "weights": "w"}, "is 0 in every row"),
        ({"features": ["text"]}, r"column 'text' \(features\[0\]=\) must hold numbers"),
        ({"cluster": "c"}, r"column 'c' \(cluster=\) is not in the frame"),
        ({"frame": FRAME.assign(c=[1.0, None, 2, 2]), "cluster": "c"}, r"column 'c' \(cluster=\) has 1 missing value"),
        ({"frame": FRAME.iloc[:0]}, "the frame has no rows"),
        ({"frame": [1, 2]}, "frame must be a dataframe .* got list"),
        (
            {"frame": {"sex": ["f", "m"], "y": [0, 1, 1], "p": [0, 1, 1]}},
            r"columns of frame= must be of one length; 'sex' has 2, 'y' has 3, 'p' has 3$",
        ),
        (
            {"frame": {"sex": "fm", "y": [0, 1]}},
            "column 'sex' of frame= must hold one value per row, as a list; got str",
        ),
        ({"frame": {"sex": ["f"], "y": 1}}, "column 'y' of frame= must hold one value per row, as a list; got int"),
        (
            {"frame": {"sex": ["f"], "y": np.ones((1, 2))}},
            "column 'y' of frame= must hold one value per row, as a list; got ndarray",
        ),
        ({"frame": {"sex": ["f"], "y": {1}}}, "column 'y' of frame= must hold one value per row, as a list; got set"),
        ({"frame": {}}, "frame= is a dictionary without columns; give at least one"),
        ({"frame": "nowhere.csv"}, "file 'nowhere.csv' does not exist"),
        ({"metrics": [Metric("m", value=nw.col("nope"))]}, "metric 'm' cannot be computed on this frame"),
        (
            {"metrics": [Metric("m", value="s", lower=0.0, upper=0.5)]},
            r"metric 'm' has the value 0.9, outside its range \[0.0, 0.5\]",
        ),
        ({"metrics": [Metric("m", value="s", kind="rate")]}, "is a rate but has values other than 0 and 1"),
        (
            {"frame": put("s", 1, np.nan), "metrics": [Metric("m", value="s")]},
            "metric 'm' is missing in rows that count",
        ),
    ],
)
def test_bad_tables_are_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "frame": FRAME,
        "by": ["sex"],
        "metrics": ["fnr"],
        "y_true": "y",
        "y_pred": "p",
    } | changes
    with pytest.raises(InputError, match=message):
        bg.tally(**arguments)


def test_a_column_name_that_occurs_twice_is_refused() -> None:
    import pyarrow as pa

    frames = [
        pa.table([pa.array(["f"]), pa.array([1]), pa.array([0])], names=["sex", "y", "y"]),
        pd.DataFrame([["f", 1, 0]], columns=["sex", "y", "y"]),
    ]
    for frame in frames:
        with pytest.raises(InputError, match=r"the frame has columns of one name \('y' 2 times\); rename one"):
            bg.tally(frame, ["sex"], ["sel"], y_pred="y")


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.xlsx").write_text("no")
    with pytest.raises(InputError, match=r"expected .csv \(also .csv.gz\) or .parquet; got .xlsx"):
        bg.tally(tmp_path / "rows.xlsx", ["sex"], ["sel"], y_pred="p")


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_damaged_files_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'a,b\n1,2,3,4\n"5' if name.endswith("csv") else b"PAR1 no")
    with pytest.raises(InputError, match=f"{name}' cannot be read as rows"):
        bg.tally(tmp_path / name, ["a"], ["sel"], y_pred="b")


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")

    def absent(*_: object) -> pd.DataFrame:
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", absent)
    with pytest.raises(MissingDependencyError, match=r"bayesgroups\[parquet\]"):
        bg.tally(tmp_path / "rows.parquet", ["sex"], ["sel"], y_pred="p")


TABLE = pd.DataFrame({"site": ["a", "b"]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bg.tally_from_counts([3, 1], [2, 5], TABLE, metric="acc"),
            "subgroup 'a': 3 successes of 2 trials; successes cannot exceed",
        ),
        (
            lambda: bg.tally_from_counts([-1, 1], [2, 5], TABLE),
            "subgroup 'a': successes= of metric 'rate' must not be negative",
        ),
        (lambda: bg.tally_from_counts([0.5, 1], [2, 5], TABLE), "must be whole numbers"),
        (lambda: bg.tally_from_counts([np.nan, 1], [2, 5], TABLE), "must be finite counts"),
        (lambda: bg.tally_from_counts([1], [2], TABLE), "successes= has 1 values for 2 subgroups"),
        (lambda: bg.tally_from_counts(["x", "y"], [2, 3], TABLE), "successes= must hold numbers"),
        (lambda: bg.tally_from_counts({"a": [1, 1]}, {"b": [2, 2]}, TABLE), "successes= has metrics"),
        (lambda: bg.tally_from_counts([1, 1], [2, 2], TABLE.assign(site="a")), "has the subgroup 'a' twice"),
        (lambda: bg.tally_from_counts([1, 1], [2, 2], TABLE.assign(site=[None, "a"])), "has a missing attribute value"),
        (lambda: bg.tally_from_counts([], [], TABLE.iloc[:0]), "subgroups= has no rows"),
        (lambda: bg.tally_from_counts([1], [1], ["a"]), "must be a DataFrame with one column per attribute"),
        (lambda: bg.tally_from_estimates([0.1, 0.2], [-1, 1], TABLE), "sampling_variance must not be negative"),
        (
            lambda: bg.tally_from_estimates([0.1, np.inf], [1, 1], TABLE),
            "subgroup 'b': estimate and sampling_variance must be finite",
        ),
        (lambda: bg.tally_from_estimates([0.1, 0.2], [1, np.nan], TABLE), "an estimate without a sampling variance"),
        (
            lambda: bg.tally_from_estimates([0.1, 2.0], [1, 1], TABLE, lower=0, upper=1),
            r"lies outside the range \[0, 1\]",
        ),
    ],
)
def test_bad_published_tables_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
