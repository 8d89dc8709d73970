"""Covariates of rows in tallies of parts: sums are those of the whole, and packets scatter as those of rows do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.tallies.folds import fold_tallies
from bayesgroups.tallies.score_covariates import Packets, keep_covariates, packets_of, read

NAMES = ["age", "visits"]


def _rows(size: int = 1200, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size, p=[0.9, 0.08, 0.02]), "y": rng.integers(0, 2, size)})
    rows["age"], rows["visits"] = 50 + 10 * rng.standard_normal(size), rng.poisson(2.0, size)
    rows["w"] = np.where(np.arange(size) % 17 == 0, 0.0, rng.uniform(0.5, 2.0, size))
    u = 0.5 - rows["y"] + 0.05 * (rows["age"] - 50) + rng.standard_normal(size)
    return rows.assign(p=1 / (1 + np.exp(-u)))


def _tally(rows: pd.DataFrame, names: Sequence[str] = NAMES, weights: str | None = None) -> xr.Dataset:
    return bg.tally(
        rows, ["s"], ["sel", "auc"], y_true="y", y_score="p", threshold=0.5, weights=weights, row_covariates=names
    )


def _cell_sums(packets: Packets) -> list[NDArray[np.float64]]:
    found = []
    for values in (packets.rows, packets.members, packets.score, packets.squares, packets.covariate, packets.cross,
                   packets.product):  # fmt: skip
        sums = np.zeros((6, *values.shape[1:]))
        np.add.at(sums, 2 * packets.subgroup + packets.outcome, values)
        found.append(sums)
    return found


def _assert_same_sums(first: Packets, second: Packets) -> None:
    for one, other in zip(_cell_sums(first), _cell_sums(second), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * first.rows.sum())
    for part in ("origin", "unit", "centre"):
        np.testing.assert_allclose(getattr(first, part), getattr(second, part), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("order", ["as they come", "sorted"])
def test_the_whole_is_the_sum_of_its_parts(weights: str | None, order: str) -> None:
    rows = _rows() if order == "as they come" else _rows().sort_values("age").reset_index(drop=True)
    cuts = [0, 5, 90, 700, 1100, 1200]
    parts = [_tally(rows[start:end], NAMES[::-1] if start == 90 else NAMES, weights) for start, end in pairwise(cuts)]
    whole = packets_of(_tally(rows, weights=weights), NAMES)
    added = packets_of(bg.add_tallies(parts), NAMES)
    _assert_same_sums(added, whole)
    assert added.names == whole.names
    # As many packets, of as many rows, in the same order.
    for part in ("subgroup", "outcome", "members"):
        np.testing.assert_array_equal(getattr(added, part), getattr(whole, part))
    in_turn = bg.add_tallies([bg.add_tallies(parts[:2]), parts[2], bg.add_tallies(parts[3:])])
    _assert_same_sums(packets_of(in_turn, NAMES), whole)
    _assert_same_sums(read(bg.add_tallies(parts[:1]), NAMES), read(parts[0], NAMES))


def test_one_row_at_a_time_gives_rows() -> None:
    rows = _rows(9)
    added = read(bg.add_tallies([_tally(rows[i : i + 1]) for i in range(9)]), NAMES)
    whole = read(_tally(rows), NAMES)
    assert len(added.rows) == 9
    assert (added.members == 1).all()
    for cell in range(6):
        one, other = (
            np.sort(packets.score[2 * packets.subgroup + packets.outcome == cell]) for packets in (added, whole)
        )
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_sums_of_packets_scatter_as_those_of_rows_do() -> None:
    """Also where parts are not alike: dealing each part evenly would leave what lies between them out."""
    rng = np.random.default_rng(1)
    size = 9000
    rows = pd.DataFrame(
        {"s": rng.integers(0, 15, size), "y": rng.integers(0, 2, size), "p": rng.uniform(0.1, 0.9, size)}
    )
    rows["age"] = rng.standard_normal(size) + np.repeat([-3.0, 0.0, 3.0], [2000, 4000, 3000])
    parts = [_tally(rows[start:end], ["age"]) for start, end in ((0, 2000), (2000, 6000), (6000, 9000))]
    for tally in (_tally(rows, ["age"]), bg.add_tallies(parts)):
        found = read(tally, ["age"])
        cell, n = 2 * found.subgroup + found.outcome, found.rows
        mean = (np.bincount(cell, found.covariate[:, 0]) / np.bincount(cell, n))[cell]
        # Age has variance 1 over all rows, .84 of it between the parts; a row in 64 of a cell is in its packet.
        spread = ((found.covariate[:, 0] - n * mean) ** 2 / n).sum() / (63 * 30)
        assert spread == pytest.approx(1.0, abs=0.12)


def test_an_answer_from_parts_is_that_from_the_whole() -> None:
    rows = _rows(600)
    word = bg.ModelBasedMetrics(row_covariates=("age", "visits"), bootstrap=400)
    whole, added = (
        word.reference(tally, seed=1)
        for tally in (_tally(rows), bg.add_tallies([_tally(rows[:200]), _tally(rows[200:])]))
    )
    np.testing.assert_allclose(added["estimate"], whole["estimate"], rtol=1e-9)
    ratio = added["std_error"].values / whole["std_error"].values
    assert ((ratio > 0.8) & (ratio < 1.25)).all()


def test_levels_may_differ_and_folds_keep_covariates() -> None:
    rows = _rows(400)
    parts = [_tally(rows[rows["s"] != "b"]), _tally(rows[rows["s"] == "b"])]
    assert parts[0].sizes["subgroup"] == 2
    _assert_same_sums(packets_of(bg.add_tallies(parts), NAMES), packets_of(_tally(rows), NAMES))
    fold = fold_tallies(parts)[0]
    left_out = read(fold.validation, NAMES)
    assert set(fold.validation["subgroup"].values[left_out.subgroup]) == {"a", "c"}
    assert set(fold.training["subgroup"].values[read(fold.training, NAMES).subgroup]) == {"b"}
    bins = fold.validation["bin_subgroup"].values
    assert set(fold.validation["subgroup"].values[bins]) == {"a", "c"}


def test_parts_that_say_nothing_alone_add_up() -> None:
    rows = _rows(150).assign(site=lambda frame: np.arange(len(frame)) // 25)
    rows["open"] = (rows["site"] % 2).astype(float)
    parts = [_tally(part, ["open"]) for _, part in rows.groupby("site")]
    with pytest.raises(bg.InputError, match="'open' is the same for all rows of each subgroup and outcome"):
        packets_of(parts[0], ["open"])
    _assert_same_sums(packets_of(bg.add_tallies(parts), ["open"]), packets_of(_tally(rows, ["open"]), ["open"]))


def test_parts_that_do_not_match_are_refused() -> None:
    rows = _rows(300)
    one, other = _tally(rows[:150], ["age"]), _tally(rows[150:], ["visits"])
    with pytest.raises(
        bg.InputError, match="different covariates of rows: the first 'age', number 2 'visits'; give all"
    ):
        bg.add_tallies([one, other])
    plain = _tally(rows[150:], [])
    # Also where scores are kept by both, nothing is left out silently.
    scored = keep_covariates(plain, rows[150:], ["age"]).drop_dims(["score_packet", "score_covariate"])
    with pytest.raises(bg.InputError, match="the first 'age', number 2 none"):
        bg.add_tallies([one, scored])
    with pytest.raises(bg.InputError, match="some of the tallies keep score moments and others do not"):
        bg.add_tallies([plain, one])
    with pytest.raises(bg.InputError, match="on different scales; use keep_scores"):
        bg.add_tallies([one, keep_covariates(plain, rows[150:], ["age"], scale="identity")])
    both = bg.add_tallies([one, _tally(rows[150:], ["age"])])
    assert json.loads(both.attrs["settings"])["row_covariates"] == ["age"]
