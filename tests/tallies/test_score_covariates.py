"""Covariates of rows in a tally: exact sums, packets dealt fairly, and clear about what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies.score_covariates import PACKETS, keep_covariates, packets_of
from bayesgroups.tallies.score_moments import keep_scores


def _rows(size: int = 900, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size, p=[0.9, 0.08, 0.02]), "y": rng.integers(0, 2, size)})
    rows["age"], rows["visits"] = 50 + 10 * rng.standard_normal(size), rng.poisson(2.0, size)
    return rows.assign(p=1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(size))))


def _tally(rows: pd.DataFrame, weights: str | None = None) -> xr.Dataset:
    return bg.tally(
        rows, ["s"], ["sel", "auc"], y_true="y", y_score="p", threshold=0.5, weights=weights
    )  # fmt: skip


def test_sums_are_those_of_the_rows() -> None:
    rows = _rows()
    found = packets_of(keep_covariates(_tally(rows), rows, ["age", "visits"]), ["visits", "age"])
    plain = rows[["visits", "age"]].to_numpy(dtype=float)
    c = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    u = np.log(rows["p"] / (1 - rows["p"])).to_numpy()
    for g, name in enumerate("abc"):
        for y in (0, 1):
            own, at = ((rows["s"] == name) & (rows["y"] == y)).to_numpy(), (found.subgroup == g) & (found.outcome == y)
            away = u[own] - found.centre
            assert found.rows[at].sum() == own.sum()
            np.testing.assert_allclose(found.score[at].sum(), away.sum(), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.squares[at].sum(), (away**2).sum(), rtol=1e-9)
            np.testing.assert_allclose(found.covariate[at].sum(axis=0), c[own].sum(axis=0), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.cross[at].sum(axis=0), c[own].T @ away, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.product[at].sum(axis=0), c[own].T @ c[own], rtol=1e-9, atol=1e-9)


def test_packets_are_rows_where_these_are_few_and_equal_where_they_are_many() -> None:
    rows = _rows()
    found = packets_of(keep_covariates(_tally(rows), rows, ["age"]), ["age"])
    cell = 2 * found.subgroup + found.outcome
    assert (np.diff(cell) >= 0).all()
    for k in range(6):
        size = found.rows[cell == k]
        assert len(size) == min(PACKETS, size.sum())
        assert size.max() - size.min() <= 1
    # The same rows in another order are dealt alike, and sums of packets scatter as those of random rows do.
    ordered = rows.sort_values("age")
    again = packets_of(keep_covariates(_tally(ordered), ordered, ["age"]), ["age"])
    np.testing.assert_allclose(again.cross, found.cross, rtol=1e-9, atol=1e-12)
    one = again.covariate[(again.subgroup == 0) & (again.outcome == 0), 0]
    rows_each = again.rows[(again.subgroup == 0) & (again.outcome == 0)].mean()
    assert 0.6 < one.var() / rows_each < 1.6


def test_weights_count_as_effective_rows() -> None:
    rows = _rows().assign(w=3.0)
    plain, weighted = (
        packets_of(keep_covariates(_tally(rows, weights), rows, ["age"]), ["age"]) for weights in (None, "w")
    )
    for name in ("rows", "score", "squares", "covariate", "cross", "product"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(plain, name), rtol=1e-9, atol=1e-12)


def test_labels_and_missing_levels_are_matched_as_in_the_tally() -> None:
    rows = _rows().assign(y=lambda frame: np.where(frame["y"] == 1, "yes", "no"))
    rows["s"] = rows["s"].astype(object).where(rows.index % 7 > 0, None)
    ways: list[Literal["level", "drop"]] = ["level", "drop"]
    for missing in ways:
        tally = bg.tally(
            rows, ["s"], ["auc"], y_true="y", y_score="p", positive="yes", missing=missing
        )  # fmt: skip
        found = packets_of(keep_covariates(tally, rows, ["age"]), ["age"])
        kept = rows if missing == "level" else rows[rows["s"].notna()]
        assert found.rows[found.outcome == 1].sum() == (kept["y"] == "yes").sum()


def test_what_is_kept_survives_a_file(tmp_path: Path) -> None:
    rows = _rows(200)
    tally = keep_covariates(_tally(rows), rows, "age")
    bg.save_tally(tally, tmp_path / "tally.nc")
    np.testing.assert_array_equal(
        packets_of(bg.open_tally(tmp_path / "tally.nc"), ["age"]).cross, packets_of(tally, ["age"]).cross
    )


def test_tally_keeps_covariates_itself(tmp_path: Path) -> None:
    rows = _rows(300)
    known: dict[str, Any] = {"y_true": "y", "y_score": "p", "row_covariates": ["age", "visits"]}
    found = bg.tally(rows, ["s"], ["auc"], **known)
    assert json.loads(found.attrs["settings"])["row_covariates"] == ["age", "visits"]
    apart = keep_covariates(bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p"), rows, ["age", "visits"])
    xr.testing.assert_identical(found, apart)
    assert "row_covariates" not in json.loads(_tally(rows).attrs["settings"])
    # Rows that stay where they are: a lazy frame, and files that DuckDB reads.
    lazy = bg.tally(polars.from_pandas(rows).lazy(), ["s"], ["auc"], **known)
    for half, name in ((rows[:140], "a"), (rows[140:], "b")):
        half.to_parquet(tmp_path / f"{name}.parquet")
    files = bg.tally(str(tmp_path / "*.parquet"), ["s"], ["auc"], **known)
    for other in (lazy, files):
        xr.testing.assert_allclose(other, found, rtol=1e-12)


def test_tally_says_when_it_cannot_keep_them() -> None:
    rows = _rows(100)
    with pytest.raises(bg.InputError, match="put auc among the metrics and name the column of scores"):
        bg.tally(rows, ["s"], ["sel"], y_true="y", y_score="p", threshold=0.5, row_covariates=["age"])
    with pytest.raises(
        bg.InputError, match="row_covariates= needs the rows twice, and frame= is an iterator; .*add_tallies"
    ):
        bg.tally(iter([rows]), ["s"], ["auc"], y_true="y", y_score="p", row_covariates=["age"])
    with pytest.raises(bg.InputError, match="row_covariates= names a column twice"):
        bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p", row_covariates=["age", "age"])
    with pytest.raises(bg.InputError, match="column 'agee' .* is not in the frame; .*'age'"):
        bg.tally(polars.from_pandas(rows).lazy(), ["s"], ["auc"], y_true="y", y_score="p", row_covariates=["agee"])


def test_what_cannot_be_used_is_refused_by_name() -> None:
    rows = _rows().assign(
        twice=lambda frame: 2 * frame["age"] + 1, own=lambda frame: (frame["s"] == "a") * 1.0, text="x"
    )
    tally = _tally(rows)
    with pytest.raises(bg.InputError, match="covariates= is empty"):
        keep_covariates(tally, rows, [])
    with pytest.raises(bg.InputError, match="names a column twice"):
        keep_covariates(tally, rows, ["age", "age"])
    with pytest.raises(bg.InputError, match="column 'agee' .* is not in the frame; .*'age'"):
        keep_covariates(tally, rows, ["agee"])
    with pytest.raises(bg.InputError, match="column 'text' .* must hold numbers"):
        keep_covariates(tally, rows, ["text"])
    with pytest.raises(bg.InputError, match="'own' is the same for all rows of each subgroup and outcome"):
        packets_of(keep_covariates(tally, rows, ["own"]), ["own"])
    with pytest.raises(bg.InputError, match="'twice' is a linear function of age"):
        packets_of(keep_covariates(tally, rows, ["age", "twice"]), ["age", "twice"])
    with pytest.raises(bg.InputError, match=r"subgroup 'a' has \d+ rows in the tally and \d+ in frame="):
        keep_covariates(tally, rows[:500], ["age"])
    with pytest.raises(bg.InputError, match="frame= has rows of z, a subgroup that the tally does not have"):
        keep_covariates(tally, rows.assign(s="z"), ["age"])
    counted = bg.tally_from_counts([1], [2], pd.DataFrame({"s": ["a"]}))
    with pytest.raises(bg.InputError, match="score"):
        keep_covariates(counted, rows, ["age"])
    nameless = keep_scores(tally)
    nameless.attrs["settings"] = nameless.attrs["settings"].replace('"source": "rows"', '"source": "counts"')
    with pytest.raises(bg.InputError, match=r"the tally was not made by bg.tally\(\) from rows"):
        keep_covariates(nameless, rows, ["age"])
    kept = keep_covariates(tally, rows, ["age"])
    with pytest.raises(bg.InputError, match="keeps covariates without their units; tally its rows again"):
        packets_of(kept.drop_vars("packet_unit"), ["age"])
    with pytest.raises(bg.InputError, match="row_covariates: the tally keeps no covariate 'agee' of rows; .*'age'"):
        packets_of(kept, ["agee"])
