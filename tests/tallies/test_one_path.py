"""The tally of any frame is the one that plain loops over its rows give, and no kind of frame changes it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.data.metrics import LABEL_TRUE, Y_PRED, Y_TRUE, Metric
from bayesgroups.errors import InputError
from tests.tallies.engines import assert_same, need

LEVELS = ["tall", "none", "short"]
BY = ["word", "size", "number", "truth", "share"]
"""Attributes: texts, categories with a level that no row has, whole numbers, booleans and floats."""
COST = Metric("cost", value=nw.col("loss") * (1 - Y_PRED), where=Y_TRUE == 1, needs=frozenset({"y_true", "y_pred"}))
RARE = Metric("rare", value=(nw.col("loss") > 1).cast(nw.Float64), kind="rate")
TEXT = Metric("text", value=(LABEL_TRUE == "yes").cast(nw.Float64), kind="rate")
METRICS: list[str | Metric] = ["sel", "acc", "tpr", "fpr", "ppv", "f1", "mean", "correct", COST, RARE, TEXT]


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    table = pl.from_arrow(as_arrow(frame))
    assert isinstance(table, pl.DataFrame)
    named = table["size"].cast(pl.String)
    return table.with_columns(named.cast(pl.Enum([str(level) for level in frame["size"].cat.categories])))


def as_arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def as_arrow_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of pandas that are kept by Arrow; older pandas casts infinities on the way."""
    with np.errstate(invalid="ignore"):
        return frame.convert_dtypes(dtype_backend="pyarrow").assign(size=frame["size"])


def as_duckdb(frame: pd.DataFrame) -> Any:
    need("duckdb")
    import duckdb

    return duckdb.connect().from_df(frame)


KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": as_polars,
    "polars lazy": lambda frame: as_polars(frame).lazy(),
    "pyarrow": as_arrow,
    "pandas of arrow": as_arrow_types,
    "iterator": lambda frame: iter([frame.iloc[:3], frame.iloc[3:]]),
}


LABELS: list[list[Any]] = [[0, 1], [False, True], ["no", "yes"], [1.0, 0.0]]
POSITIVE = {"1", "True", "yes"}
"""The positive class as cells name it: their own labels stay where no metric decides between two classes."""
DECISIONS: list[dict[str, Any]] = [{"y_pred": "p"}, {"threshold": 0.25}, {"selection_rate": 0.4}]


@st.composite
def questions(draw: st.DrawFn) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows with every kind of attribute, and what is asked of them."""
    n = draw(st.integers(1, 30))
    missing = draw(st.sampled_from(["error", "level", "drop"]))

    def column(values: list[Any], *, holes: bool = False) -> list[Any]:
        choice = [*values, None] if holes and missing != "error" else values
        return draw(st.lists(st.sampled_from(choice), min_size=n, max_size=n))

    labels: list[Any] = draw(st.sampled_from(LABELS))
    frame = pd.DataFrame(
        {
            "word": pd.Series(column(["b", "a|c", "ä", "10", "9"], holes=True), dtype=object),
            "size": pd.Categorical(column(["tall", "short"], holes=True), categories=LEVELS),
            "number": pd.Series(column([9, 10, 2], holes=True), dtype="Int64"),
            "truth": pd.Series(column([True, False], holes=True), dtype="boolean"),
            "share": pd.Series(column([1.0, 2.5, -3.0], holes=True), dtype=float),
            "y": column(labels),
            "p": column(labels),
            "score": pd.Series(column([-0.0, 0.0, 0.25, 0.5, 1.0]), dtype=float),
            "loss": pd.Series(column([-1.5, 0.0, 0.25, 1.0, 1.5, 3.0]), dtype=float),
            "visits": column([0, 1, 5]),
            "w": column([0.5, 1.0, 3.0]),
            "right": column([True, False]),
            "patient": pd.Series(column(["p1", "p2", "p3", "p4"]), dtype=object),
        }
    )
    asked: dict[str, Any] = {"y_true": "y", "y_score": "score", "loss": "loss", "correct": "right", "missing": missing}
    by = draw(st.lists(st.sampled_from(BY), min_size=1, max_size=3, unique=True))
    declared = {"word": ["9", "ä", "never", "a|c", "b", "10"], "number": [10, 9, 2, 1]}
    told = draw(st.booleans())
    asked["by"] = {name: declared.get(name) for name in by} if told else by
    asked["metrics"] = [
        *draw(st.lists(st.sampled_from(METRICS), min_size=1, unique=True)),
        *draw(st.sampled_from([[], ["auc"]])),
    ]
    asked |= draw(st.sampled_from(DECISIONS))
    asked["positive"] = labels[1] if isinstance(labels[0], str) else None
    asked["weights"] = draw(st.sampled_from([None, "w"]))
    asked["features"] = draw(st.sampled_from([[], ["visits"], ["visits", "w"]]))
    asked["cluster"] = draw(st.sampled_from([None, "patient"]))
    asked["confusion"] = asked["cluster"] is None and draw(st.booleans())
    return frame, asked


def text(value: Any) -> str:
    if pd.isna(value):
        return "(missing)"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def in_order(level: str) -> tuple[bool, float, str]:
    """Numbers by value, then texts."""
    try:
        return False, float(level), level
    except ValueError:
        return True, 0.0, level


class Plain:
    """The same numbers from loops over the rows of each subgroup."""

    def __init__(self, frame: pd.DataFrame, asked: Mapping[str, Any]) -> None:
        by = list(asked["by"])
        declared = dict(asked["by"]) if isinstance(asked["by"], dict) else dict.fromkeys(by)
        keys = [tuple(text(value) for value in key) for key in frame[by].astype(object).itertuples(index=False)]
        kept = [asked["missing"] != "drop" or "(missing)" not in key for key in keys]
        self.frame = frame[kept].reset_index(drop=True)
        self.keys = [key for key, keep in zip(keys, kept, strict=True) if keep]
        orders = []
        for i, name in enumerate(by):
            known = declared[name] if declared[name] is not None else (LEVELS if name == "size" else None)
            if known is None:
                orders.append(sorted({key[i] for key in self.keys}, key=in_order))
            else:
                orders.append([text(level) for level in known] + (["(missing)"] if asked["missing"] == "level" else []))
        self.table = list(itertools.product(*orders))
        positive = asked["positive"] if asked["positive"] is not None else 1
        self.y = np.array([float(value == positive) for value in self.frame["y"]])
        self.score = self.frame["score"].to_numpy(dtype=float)
        if "y_pred" in asked:
            self.d = np.array([float(value == positive) for value in self.frame["p"]])
        else:
            wanted = max(round(asked.get("selection_rate", 1.0) * len(self.frame)), 1)
            self.threshold = asked.get("threshold", float(np.sort(self.score)[::-1][wanted - 1]))
            self.d = (self.score >= self.threshold).astype(float)
        self.weighted = asked["weights"] is not None
        self.w = self.frame["w"].to_numpy(dtype=float) if self.weighted else np.ones(len(self.frame))

    def rows_of(self, subgroup: tuple[str, ...]) -> np.ndarray:
        return np.array([i for i, key in enumerate(self.keys) if key == subgroup], dtype=int)

    def values(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The value of each row, and whether it counts."""
        y, d, every = self.y, self.d, np.ones(len(self.y), dtype=bool)
        loss = self.frame["loss"].to_numpy(dtype=float)
        values = {
            "sel": (d, every), "acc": ((y == d).astype(float), every), "tpr": (d, y == 1), "fpr": (d, y == 0),
            "ppv": (y, d == 1), "f1": (y * d, (y == 1) | (d == 1)), "mean": (loss, every),
            "correct": (self.frame["right"].to_numpy(dtype=float), every), "cost": (loss * (1 - d), y == 1),
            "rare": ((loss > 1).astype(float), every), "text": ((self.frame["y"] == "yes").to_numpy(dtype=float), every),
        }  # fmt: skip
        return values[name]

    def moments(self, name: str, rows: np.ndarray) -> tuple[float, float, float]:
        """Effective count, estimate and variance of the rows of a subgroup."""
        value, counts = self.values(name)
        rows = rows[counts[rows]] if len(rows) else rows
        if not len(rows):
            return 0.0, math.nan, math.nan
        w, v = self.w[rows], value[rows]
        count, mean = float(w.sum() ** 2 / (w**2).sum()), float((w * v).sum() / w.sum())
        variance = float((w * (v - mean) ** 2).sum() / w.sum()) * count / (count - 1) if count > 1 + 1e-9 else math.nan
        if name == "f1":
            return count, 2 * mean / (1 + mean), variance * (2 / (1 + mean) ** 2) ** 2
        return count, mean, variance

    def auc(self, rows: np.ndarray) -> float:
        won, total = 0.0, 0.0
        for i in rows[self.y[rows] == 1] if len(rows) else []:
            for j in rows[self.y[rows] == 0]:
                pair = self.w[i] * self.w[j]
                total += pair
                won += pair * (float(self.score[i] > self.score[j]) + 0.5 * float(self.score[i] == self.score[j]))
        return won / total if total else math.nan


def check(tally: xr.Dataset, frame: pd.DataFrame, asked: Mapping[str, Any]) -> None:
    """Hold a tally against plain loops."""
    plain = Plain(frame, asked)
    assert list(zip(*[tally[name].values.tolist() for name in asked["by"]], strict=True)) == plain.table
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
    for g, subgroup in enumerate(plain.table):
        rows = plain.rows_of(subgroup)
        assert tally["rows"].values[g] == len(rows)
        for metric in tally["metric"].values.tolist():
            at = tally.sel(metric=metric).isel(subgroup=g)
            if metric == "auc":
                np.testing.assert_allclose(at["estimate"], plain.auc(rows), **close)
                continue
            count, mean, variance = plain.moments(metric, rows)
            # Clusters change what is taken for independent, never the estimate.
            np.testing.assert_allclose(at["estimate"], mean, **close)
            if "cluster_analysis" not in tally:
                np.testing.assert_allclose(at["count"], count, **close)
                np.testing.assert_allclose(at["row_variance"], variance, **close)
                if not plain.weighted:
                    assert float(at["count"]) == count
            elif count:
                effective = at["row_weight"] ** 2 / at["row_weight_squares"]
                np.testing.assert_allclose(effective, count, **close)
        weight = plain.w[rows]
        for name in asked["features"]:
            values = plain.frame[name].to_numpy(dtype=float)[rows]
            wanted = (weight * values).sum() / weight.sum() if len(rows) else math.nan
            np.testing.assert_allclose(tally["feature_mean"].sel(feature=name).values[g], wanted, **close)
        if "auc" in tally["metric"].values:
            own = tally["score_subgroup"].values == g
            scores = sorted(set((plain.score[rows] + 0.0).tolist()))
            assert tally["score_value"].values[own].tolist() == scores
            for name, label in (("score_positives", 1.0), ("score_negatives", 0.0)):
                wanted_sums = [weight[(plain.score[rows] == s) & (plain.y[rows] == label)].sum() for s in scores]
                np.testing.assert_allclose(tally[name].values[own], wanted_sums, **close)
        if asked["cluster"] is not None:
            own = tally["cluster_subgroup"].values == g
            patients = plain.frame["patient"].to_numpy()[rows]
            assert tally["cluster_label"].values[own].tolist() == sorted(set(patients.tolist()))
            wanted_rows = [int((patients == one).sum()) for one in sorted(set(patients.tolist()))]
            assert tally["cluster_rows"].values[own].tolist() == wanted_rows
        if asked["confusion"]:
            cells = tally["cell_count"].isel(subgroup=g)
            scale = weight.sum() / (weight**2).sum() if len(rows) else 0.0
            for label, decision in itertools.product(cells["outcome"].values, cells["decision"].values):
                at_cell = (plain.y[rows] == (label in POSITIVE)) & (plain.d[rows] == (decision in POSITIVE))
                found = float(cells.sel(outcome=label, decision=decision))
                np.testing.assert_allclose(found, scale * weight[at_cell].sum(), **close)
                score = tally["cell_score"].isel(subgroup=g).sel(outcome=label, decision=decision)
                np.testing.assert_allclose(score, scale * (weight * plain.score[rows])[at_cell].sum(), **close)
    notes = json.loads(tally.attrs["settings"])
    assert notes.get("rows_dropped", 0) == len(frame) - len(plain.frame)
    if "y_pred" not in asked:
        assert notes["threshold"] == plain.threshold


def tallied(frame: Any, asked: Mapping[str, Any]) -> xr.Dataset:
    arguments = dict(asked)
    return bg.tally(frame, arguments.pop("by"), arguments.pop("metrics"), **arguments)


@settings(
    max_examples=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(questions(), st.sets(st.sampled_from(sorted(KINDS)), min_size=2, max_size=2))
def test_any_frame_has_the_tally_of_plain_loops(question: tuple[pd.DataFrame, dict[str, Any]], kinds: set[str]) -> None:
    frame, asked = question
    if asked["missing"] == "drop" and not len(frame[list(asked["by"])].dropna()):
        with pytest.raises(InputError, match="no rows are left after dropping those with a missing attribute"):
            tallied(frame, asked)
        return
    found = tallied(frame, asked)
    check(found, frame, asked)
    for kind in kinds:
        if kind != "iterator" or ("selection_rate" not in asked and not asked["confusion"]):
            assert_same(tallied(KINDS[kind](frame), asked), found)


def fixed_rows(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "word": rng.choice(np.array(["b", "a|c", None], dtype=object), n),
            "size": pd.Categorical(rng.choice(["tall", "short"], n), categories=LEVELS),
            "y": rng.integers(0, 2, n),
            "p": rng.integers(0, 2, n),
            "score": rng.random(n).round(1),
            "loss": rng.normal(size=n),
            "visits": rng.poisson(2, n),
            "w": rng.choice([0.5, 1.0, 3.0], n),
            "right": rng.random(n) < 0.6,
            "patient": rng.choice(["p1", "p2", "p3"], n),
        }
    )


@pytest.mark.parametrize(
    ("kind", "missing"), [*itertools.product([*KINDS, "duckdb"], ["level", "drop"]), ("dask", "level")]
)
def test_confusion_weights_and_clusters_of_every_kind(kind: str, missing: str) -> None:
    frame = fixed_rows()
    asked: dict[str, Any] = {
        "by": ["word"], "metrics": ["tpr", "mean", COST, "auc"], "y_true": "y", "y_score": "score", "threshold": 0.4,
        "loss": "loss", "correct": "right", "missing": missing, "positive": None, "weights": "w", "features": ["visits"],
        "cluster": None, "confusion": True,
    }  # fmt: skip
    plain = frame.drop(columns="size")
    if kind == "dask":
        need("dask")
        import dask.dataframe as dd

        source: Any = dd.from_pandas(plain, npartitions=2)
    else:
        source = {**KINDS, "duckdb": as_duckdb}[kind](frame)
    if kind == "iterator":
        asked["confusion"] = False
    found = tallied(plain, asked)
    check(found, plain, asked)
    assert_same(tallied(source, asked), found)
    asked |= {"cluster": "patient", "confusion": False, "metrics": ["tpr", "acc", COST]}
    if kind not in ("dask", "iterator"):  # Dask takes long to plan long queries; an iterator is spent
        found = tallied(plain, asked)
        check(found, plain, asked)
        assert_same(tallied(source, asked), found)


IN_MEMORY: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    **{kind: build for kind, build in KINDS.items() if kind != "iterator"},
}


@pytest.mark.parametrize("kind", IN_MEMORY)
@pytest.mark.parametrize(
    ("column", "value", "changes", "message"),
    [
        ("y", None, {}, r"column 'y' \(y_true=\) has 1 missing value, the first in row 5; fill or drop"),
        ("p", None, {}, r"column 'p' \(y_pred=\) has 1 missing value, the first in row 5; fill or drop"),
        ("patient", None, {"cluster": "patient"}, r"column 'patient' \(cluster=\) has 1 missing value, the first in row 5"),
        ("loss", None, {"loss": "loss"}, r"column 'loss' \(loss=\) has 1 missing value, the first in row 5"),
        ("loss", -np.inf, {"loss": "loss"}, r"column 'loss' \(loss=\) must be finite; row 5 has -inf"),
        ("visits", None, {"features": ["visits"]}, r"column 'visits' \(features\[0\]=\) has 1 missing value, the first in row 5"),
        ("w", -2.0, {"weights": "w"}, r"column 'w' \(weights=\) must not be negative; row 5 has -2"),
        ("visits", 0.5, {"correct": "visits"}, r"column 'visits' \(correct=\) must hold 0 and 1 or booleans; row 5 has 0.5"),
        ("score", np.inf, {"y_pred": None, "y_score": "score", "selection_rate": 0.5}, "must be finite; row 5 has inf"),
        ("word", "kept", {"by": ["word"], "missing": "drop", "loss": "inf"}, r"'inf' \(loss=\) must be finite; row 1 has inf"),
    ],
)  # fmt: skip
def test_messages_name_rows(kind: str, column: str, value: Any, changes: dict[str, Any], message: str) -> None:
    frame = fixed_rows().assign(visits=1.0, inf=1.0)
    frame[column] = frame[column].astype(object if column in ("word", "patient") else float)
    frame.loc[5, column] = value
    if column == "word":  # rows are numbered when those without an attribute have gone
        frame["word"] = [None] * 4 + ["b"] * (len(frame) - 4)
        frame.loc[5, "inf"] = np.inf
    asked: dict[str, Any] = {"by": ["size"], "metrics": ["tpr"], "y_true": "y", "y_pred": "p"} | changes
    with pytest.raises(InputError, match=message):
        tallied(IN_MEMORY[kind](frame), asked)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "pandas of arrow"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_means_far_apart_keep_their_digits(kind: str, weights: str | None) -> None:
    frame = fixed_rows(400).assign(g=np.arange(400) % 50)
    frame["word"] = frame["word"].where(frame["g"] < 40, None)
    frame["loss"] += 1e8 * frame["g"]
    frame.index = pd.Index([7] * len(frame))  # which is no number of a row
    asked: dict[str, Any] = {"by": ["g", "word"], "metrics": ["mean", "sel"], "loss": "loss", "y_pred": "p", "y_true": "y",
                             "missing": "level", "weights": weights}  # fmt: skip
    found = tallied(IN_MEMORY[kind](frame), asked)
    near = tallied(frame.assign(loss=frame["loss"] - 1e8 * frame["g"]), asked)
    variances = [tally["row_variance"].sel(metric="mean").values for tally in (found, near)]
    np.testing.assert_allclose(variances[0], variances[1], rtol=1e-5, atol=1e-6)


def test_labels_may_be_categories_of_numbers_or_objects() -> None:
    frame = fixed_rows()
    asked: dict[str, Any] = {"by": ["size"], "metrics": ["tpr", "acc", "tpr[1]"], "y_true": "y", "y_pred": "p"}
    wanted = tallied(frame, asked)
    for kind in (object, "category", "Int64"):
        other = frame.astype({"y": kind, "p": kind})
        assert_same(tallied(other, asked), wanted)
        assert_same(tallied(other.astype({"p": int}), asked), wanted)
    named = {"by": ["size"], "metrics": ["acc"], "y_true": "a", "y_pred": "b", "cluster": "patient"}
    classes = frame.assign(a=frame["word"].fillna("?"), b=frame["word"].fillna("b"))
    apart = classes.assign(a=pd.Categorical(classes["a"]), b=pd.Categorical(classes["b"]))  # of other categories each
    assert_same(tallied(apart, named), tallied(classes, named))


@pytest.mark.parametrize(("labels", "positive"), [([0, 1], None), ([False, True], None), (["no", "yes"], "yes")])
def test_decisions_of_two_classes_may_all_be_wrong(labels: list[Any], positive: str | None) -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "y": labels[:1] * 2, "p": labels[1:] * 2, "loss": [2.0, 0.5]})
    asked: dict[str, Any] = {
        "by": ["g"],
        "metrics": [RARE],
        "y_true": "y",
        "y_pred": "p",
        "loss": "loss",
        "positive": positive,
    }
    assert tallied(frame, asked)["estimate"].values.ravel().tolist() == [1.0, 0.0]
    assert tallied(frame, asked | {"metrics": ["acc"]})["estimate"].values.ravel().tolist() == [0.0, 0.0]
