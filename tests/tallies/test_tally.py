"""Contents of a tally: counts, variances, statuses, empty intersections, features, weights, clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies import subgroups

EVERY = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1", "auc", "mean"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    n = 600
    return pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c|d"], n, p=[0.6, 0.35, 0.05]),
            "age": rng.choice([9, 18, 65], n),
            "y": rng.integers(0, 2, n),
            "score": rng.random(n).round(2),
            "loss": rng.exponential(size=n),
            "visits": rng.poisson(2, n),
            "patient": rng.integers(0, 150, n),
            "w": rng.random(n) + 0.1,
        }
    )


def everything(frame: Any, **more: Any) -> xr.Dataset:
    return bg.tally(frame, ["race", "age"], EVERY, y_true="y", y_score="score", threshold=0.5, loss="loss",
                    features=["visits"], cluster="patient", cluster_analysis="ignore", **more)  # fmt: skip


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, lambda f: pl.from_pandas(f).lazy()])
@pytest.mark.parametrize("weights", [None, "w"])
def test_every_kind_of_frame_gives_the_same_tally(rows: pd.DataFrame, convert: Any, weights: str | None) -> None:
    xr.testing.assert_allclose(everything(rows, weights=weights), everything(convert(rows), weights=weights))


def test_files_give_the_same_tally(rows: pd.DataFrame, tmp_path: Path) -> None:
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_csv(tmp_path / "rows.csv.gz", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    wanted = everything(rows)
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet"):
        xr.testing.assert_allclose(wanted, everything(tmp_path / name))


def test_a_dictionary_of_columns_is_a_frame(rows: pd.DataFrame) -> None:
    xr.testing.assert_identical(everything(rows), everything(rows.to_dict("list")))
    arrays = {name: column.to_numpy() for name, column in rows.items()}
    xr.testing.assert_identical(everything(rows), everything(arrays))


def test_columns_of_a_dictionary_are_taken_by_position() -> None:
    race, y = pd.Series(["a", "b"], index=[5, 6]), pd.Series([1, 0], index=[6, 5])
    tally = bg.tally({"race": race, "y": y}, ["race"], "sel", y_pred="y")
    assert tally["estimate"].values.tolist() == [[1.0, 0.0]]
    levels = pd.Categorical(["a", "a"], categories=["b", "a"])
    assert bg.tally({"race": levels, "y": (1, 0)}, ["race"], "sel", y_pred="y")["subgroup"].values.tolist() == [
        "b",
        "a",
    ]


def test_csv_levels_called_na_and_none_stay_levels(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("region,p\nNA,1\nNone,0\nEU,1\n")
    assert bg.tally(tmp_path / "rows.csv", ["region"], ["sel"], y_pred="p")["subgroup"].values.tolist() == [
        "EU",
        "NA",
        "None",
    ]


def test_shape_coordinates_and_labels(rows: pd.DataFrame) -> None:
    found = everything(rows)
    assert dict(found["estimate"].sizes) == {"metric": 13, "subgroup": 9}
    assert found["subgroup"].values.tolist()[:3] == ["a | 9", "a | 18", "a | 65"]
    assert found["subgroup"].values[-1] == "c\\|d | 65"
    assert found["age"].dims == ("subgroup",)
    assert float(found["rows"].sum()) == len(rows)
    assert json.loads(found.attrs["settings"])["threshold"] == 0.5


def test_sums_against_pandas(rows: pd.DataFrame) -> None:
    found = everything(rows)
    for (race, age), part in rows.groupby(["race", "age"]):
        one = found.isel(subgroup=int(np.flatnonzero((found["race"] == race) & (found["age"] == str(age)))[0]))
        assert float(one["rows"]) == len(part)
        mean = one.sel(metric="mean")
        assert float(mean["estimate"]) == pytest.approx(part["loss"].mean())
        assert float(mean["row_variance"]) == pytest.approx(part["loss"].var())
        assert float(mean["bootstrap_variance"]) == pytest.approx(part["loss"].var(ddof=0) / len(part))
        assert float(one["feature_mean"].sel(feature="visits")) == pytest.approx(part["visits"].mean())
        fnr = one.sel(metric="fnr")
        assert float(fnr["count"]) == part["y"].sum()
        assert float(fnr["successes"]) == ((part["y"] == 1) & (part["score"] < 0.5)).sum()
        assert float(one["clusters"]) == part["patient"].nunique()


def test_cluster_cells_add_up(rows: pd.DataFrame) -> None:
    found = everything(rows)
    total = np.bincount(found["cluster_subgroup"], weights=found["cluster_sum"].sel(metric="mean"), minlength=9)
    assert total == pytest.approx((found["estimate"] * found["count"]).sel(metric="mean").values)


def test_weighted_means_and_effective_counts(rows: pd.DataFrame) -> None:
    found = everything(rows, weights="w")
    part = rows[(rows["race"] == "a") & (rows["age"] == 18)]
    mean = found.sel(metric="mean", subgroup="a | 18")
    assert float(mean["estimate"]) == pytest.approx(np.average(part["loss"], weights=part["w"]))
    assert float(mean["count"]) == pytest.approx(part["w"].sum() ** 2 / (part["w"] ** 2).sum())
    same = everything(rows.assign(w=3.0), weights="w")
    plain = everything(rows)
    for name in ("estimate", "count", "successes", "row_variance", "sampling_variance", "status"):
        xr.testing.assert_allclose(same[name], plain[name])


def test_empty_intersections_are_kept() -> None:
    frame = pd.DataFrame({"sex": ["f", "m"], "age": ["old", "young"], "p": [1, 0]})
    found = bg.tally(frame, {"sex": None, "age": ["young", "middle", "old"]}, ["sel"], y_pred="p")
    assert found["subgroup"].values.tolist()[:3] == ["f | young", "f | middle", "f | old"]
    assert found["count"].values.ravel().tolist() == [0, 0, 1, 1, 0, 0]
    assert found["status"].values.ravel().tolist() == [
        "undefined",
        "undefined",
        "single",
        "single",
        "undefined",
        "undefined",
    ]
    assert found["reason"].values.ravel()[0] == "no rows"


def test_categorical_columns_declare_their_levels() -> None:
    frame = pd.DataFrame({"sex": pd.Categorical(["f", "m"], ["x", "m", "f"]), "p": [1, 0]})
    assert bg.tally(frame, ["sex"], ["sel"], y_pred="p")["subgroup"].values.tolist() == ["x", "m", "f"]
    enum = pl.DataFrame({"sex": pl.Series(["f", "m"], dtype=pl.Enum(["x", "m", "f"])), "p": [1, 0]})
    assert bg.tally(enum, ["sex"], ["sel"], y_pred="p")["subgroup"].values.tolist() == ["x", "m", "f"]


def test_missing_attribute_values_as_level_or_dropped() -> None:
    frame = pd.DataFrame({"sex": ["f", None, "m", "m"], "age": [1.0, 2, np.nan, 2], "p": [1, 0, 1, 1]})
    level = bg.tally(frame, ["sex", "age"], ["sel"], y_pred="p", missing="level")
    assert float(level["rows"].sum()) == 4
    assert "(missing) | 2" in level["subgroup"].values
    assert "m | (missing)" in level["subgroup"].values
    dropped = bg.tally(frame, ["sex", "age"], ["sel"], y_pred="p", missing="drop")
    assert float(dropped["rows"].sum()) == 2
    assert json.loads(dropped.attrs["settings"])["rows_dropped"] == 2


def test_selection_rate_sets_the_threshold() -> None:
    scores = [0.11, 0.52, 0.37, 0.92, 0.48, 0.66, 0.05, 0.71, 0.29, 0.33]
    frame = pd.DataFrame({"g": "a", "s": scores})
    found = bg.tally(frame, ["g"], ["sel"], y_score="s", selection_rate=0.2)
    settings = json.loads(found.attrs["settings"])
    assert (settings["threshold"], settings["selection_rate_attained"]) == (0.71, 0.2)
    assert float(found["estimate"].item()) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("y", "p", "positive"),
    [(["no", "yes", "yes"], ["no", "no", "yes"], "yes"), ([False, True, True], [False, False, True], None),
     ([0.0, 1.0, 1.0], [0, 0, 1], None), ([True, False, False], [1, 1, 0], False)],
)  # fmt: skip
def test_labels_of_every_type(y: list[Any], p: list[Any], positive: Any) -> None:
    found = bg.tally(
        pd.DataFrame({"g": "a", "y": y, "p": p}), ["g"], ["fnr"], y_true="y", y_pred="p", positive=positive
    )
    assert float(found["estimate"].item()) == 0.5


def test_published_variances_of_the_worked_example() -> None:
    frame = pd.DataFrame({"g": list("AAAABBC"), "v": [1, 0, 1, 1, 0, 1, 1]})
    corrected = bg.tally(frame, ["g"], ["mean"], loss="v")
    assert corrected["bootstrap_variance"].values.ravel() == pytest.approx([0.046875, 0.125, 0])
    assert float(corrected["pooled_variance"].item()) == pytest.approx(0.3125)
    assert corrected["sampling_variance"].values.ravel() == pytest.approx([0.078125, 0.15625, 0.3125])
    published = bg.tally(frame, ["g"], ["mean"], loss="v", pooled_variance="published")
    assert published["sampling_variance"].values.ravel() == pytest.approx([0.044643, 0.089286, 0.178571], abs=1e-6)


def test_pooling_by_rows_reproduces_the_published_mistake() -> None:
    # Three groups of 100 rows with 40, 10, 2 positives and a miss rate of .3 (1 of 2 for the last).
    frame = pd.concat(
        [pd.DataFrame({"g": g, "y": [1] * n + [0] * (100 - n), "p": [0] * missed + [1] * (n - missed) + [0] * (100 - n)})
         for g, n, missed in (("a", 40, 12), ("b", 10, 3), ("c", 2, 1))]
    )  # fmt: skip
    by_rows = bg.tally(frame, ["g"], ["fnr"], y_true="y", y_pred="p", pooled_variance="published_rows")
    by_count = bg.tally(frame, ["g"], ["fnr"], y_true="y", y_pred="p")
    ratio = by_count["sampling_variance"].values.ravel()
    assert ratio / ratio[0] == pytest.approx([1, 4, 20])
    assert float(by_rows["pooled_variance"].item()) > 0.5  # several times the row variance of about .22


def test_statuses_of_rates_and_means() -> None:
    frame = pd.DataFrame({"g": list("aabbc"), "v": [0, 1, 2, 2, 5.0]})
    found = bg.tally(frame, {"g": list("abcd")}, ["mean"], loss="v")
    assert found["status"].values.ravel().tolist() == ["ok", "saturated", "single", "undefined"]
    assert found["reason"].values.ravel().tolist() == ["", "all rows agree", "one row", "no rows"]


def test_a_table_of_counts_is_a_tally_of_its_rows() -> None:
    frame = pd.DataFrame({"g": list("aaaabb"), "p": [1, 0, 0, 1, 1, 1]})
    rows, counts = (
        bg.tally(frame, ["g"], ["sel"], y_pred="p"),
        bg.tally_from_counts([2, 2], [4, 2], pd.DataFrame({"g": ["a", "b"]}), metric="sel"),
    )
    for name in (
        "estimate",
        "count",
        "successes",
        "row_variance",
        "sampling_variance",
        "bootstrap_variance",
        "status",
        "larger_is_better",
    ):
        xr.testing.assert_equal(rows[name], counts[name])


def test_tables_keep_their_order_and_gain_the_combinations_they_lack() -> None:
    table = pd.DataFrame({"sex": ["m", "f", "f"], "age": ["old", "old", "young"]})
    found = bg.tally_from_counts({"a": [1, 2, 0], "b": [0, 1, 1]}, {"a": [2, 3, 1], "b": [1, 2, 4]}, table)
    assert found["subgroup"].values.tolist() == ["m | old", "f | old", "f | young", "m | young"]
    assert found["count"].sel(metric="b").values.tolist() == [1, 2, 4, 0]


def test_huge_counts_and_tiny_variances() -> None:
    counts = bg.tally_from_counts([5 * 10**11, 10**12], [10**12, 10**12], pd.DataFrame({"g": ["a", "b"]}))
    assert counts["estimate"].values.ravel().tolist() == [0.5, 1.0]
    assert np.isfinite(counts["bootstrap_variance"].values).all()
    tiny = bg.tally_from_estimates([0.1, 0.2], [1e-300, 1e-300], pd.DataFrame({"g": ["a", "b"]}))
    assert tiny["sampling_variance"].values.ravel().tolist() == [1e-300, 1e-300]


def test_many_published_subgroups_are_named_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand once took minutes: every label was made anew for every subgroup."""
    named: list[str] = []
    whole = subgroups.label

    def label(levels: Any) -> str:
        named.append(whole(levels))
        return named[-1]

    monkeypatch.setattr(subgroups, "label", label)
    who = pd.DataFrame({"site": np.arange(500).astype(str)})
    bg.tally_from_estimates(np.zeros(500), np.ones(500), who)
    bg.tally_from_counts(np.zeros(500), np.ones(500), who)
    assert len(named) == 1000


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_a_mean_without_any_row_that_counts_is_undefined_in_frames_with_missing_values_of_their_own(
    backend: Literal["numpy_nullable", "pyarrow"],
) -> None:
    frame = pd.DataFrame({"site": ["a", "b"], "loss": [1.0, 2.0], "y": [0, 0]}).convert_dtypes(dtype_backend=backend)
    cost = bg.Metric("cost", nw.col("loss"), where=nw.col("__y_true__") == 1, kind="mean", needs=frozenset({"y_true"}))
    tally = bg.tally(frame, ["site"], [cost], y_true="y", loss="loss", positive=1)
    assert np.isnan(tally["estimate"].values).all()
    assert (tally["status"] == "undefined").all()
