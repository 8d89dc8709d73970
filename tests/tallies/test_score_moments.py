"""Scores in bins: exact moments, additive, clear about what cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies.score_moments import bin_rows, carry, cell_moments, keep_scores, kept, to_scale

METRICS = ["sel", "auc"]


def _rows(size: int = 500, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size, p=[0.6, 0.3, 0.1]), "y": rng.integers(0, 2, size)})
    rows["p"] = 1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(size)))
    return rows


def _tally(rows: pd.DataFrame, weights: str | None = None) -> xr.Dataset:
    by = {"s": ["a", "b", "c"]}
    return bg.tally(rows, by, METRICS, y_true="y", y_score="p", threshold=0.5, weights=weights)


def test_moments_are_those_of_the_rows() -> None:
    rows = _rows()
    found = keep_scores(_tally(rows))
    logit = np.log(rows["p"] / (1 - rows["p"]))
    for i, outcome in enumerate((0, 1)):
        for j, name in enumerate("abc"):
            own = logit[(rows["y"] == outcome) & (rows["s"] == name)]
            assert found["score_count"].values[i, j] == len(own)
            np.testing.assert_allclose(found["score_mean"].values[i, j], own.mean(), rtol=1e-12)
            np.testing.assert_allclose(found["score_variance"].values[i, j], own.var(ddof=1), rtol=1e-10)


def test_parts_add_up_to_the_whole() -> None:
    rows = _rows()
    parts = [keep_scores(_tally(part)) for part in (rows[:200], rows[200:])]
    whole, added = keep_scores(_tally(rows)), bg.add_tallies(parts)
    for name in ("score_count", "score_mean", "score_variance", "bin_index", "bin_weight"):
        np.testing.assert_allclose(added[name].values, whole[name].values, rtol=1e-10)
    assert kept(added) is not None


def test_parts_with_other_widths_and_levels_add_up() -> None:
    rows = _rows().assign(p=lambda frame: 10 * frame["p"])
    rows.loc[200:, "p"] *= 30
    later = rows[200:]
    pieces = [rows[:200], later[later["s"] != "c"]]
    parts = [
        keep_scores(bg.tally(part, ["s"], METRICS, y_true="y", y_score="p", threshold=5.0), scale="identity")
        for part in pieces
    ]
    widths = [one.width for one in map(kept, parts) if one is not None]
    assert widths[0] < widths[1]
    added = bg.add_tallies(parts)
    both = pd.concat(pieces)
    own = both[(both["s"] == "a") & (both["y"] == 1)]["p"]
    np.testing.assert_allclose(added["score_mean"].sel(subgroup="a", score_outcome="1"), own.mean(), rtol=1e-12)
    np.testing.assert_allclose(added["score_variance"].sel(subgroup="a", score_outcome="1"), own.var(ddof=1), rtol=1e-9)


def test_memory_does_not_grow_with_rows() -> None:
    small, large = (keep_scores(_tally(_rows(size)), cells=False) for size in (2_000, 60_000))
    assert large.sizes["score_bin"] < 2.5 * small.sizes["score_bin"]
    assert large["metric"].values.tolist() == ["sel"]
    assert "score_cell" not in large.dims


def test_weights_count_as_effective_rows() -> None:
    rows = _rows().assign(w=3.0)
    weighted, plain = keep_scores(_tally(rows, "w")), keep_scores(_tally(rows))
    for name in ("score_count", "score_mean", "score_variance"):
        np.testing.assert_allclose(weighted[name].values, plain[name].values, rtol=1e-9)


def test_extreme_scores_have_finite_logits() -> None:
    assert to_scale([0.0, 1.0], "logit").round(6).tolist() == [-13.81551, 13.81551]
    zero = np.zeros(2, dtype=np.int64)
    found = bin_rows(np.array([0.0, 1.0]), zero, zero, np.ones(2), np.ones(2), "logit")
    assert cell_moments(found, 1).mean[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_equal_scores_have_no_scatter() -> None:
    zero = np.zeros(3, dtype=np.int64)
    for scale in ("logit", "identity"):
        found = cell_moments(bin_rows(np.full(3, 0.3), zero, zero, np.ones(3), np.ones(3), scale), 2)
        assert found.scatter.tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert found.count.tolist() == [[3.0, 0.0], [0.0, 0.0]]
        assert np.isnan(found.mean[1, 1])


def test_scores_that_are_no_probabilities_are_refused_by_name() -> None:
    rows = _rows().assign(p=lambda frame: 3 * frame["p"])
    with pytest.raises(bg.InputError, match=r"subgroup 'a' has the score .* no probability"):
        keep_scores(_tally(rows), scale="logit")
    own = kept(keep_scores(_tally(rows)))
    assert own is not None
    assert own.scale == "identity"


def test_a_tally_must_have_scores_and_something_left() -> None:
    with pytest.raises(bg.InputError, match="score"):
        keep_scores(bg.tally_from_counts([1], [2], pd.DataFrame({"s": ["a"]})))
    only = bg.tally(_rows(), ["s"], ["auc"], y_true="y", y_score="p")
    with pytest.raises(bg.InputError, match="auc is the only metric"):
        keep_scores(only, cells=False)


def test_parts_must_be_alike() -> None:
    one = _tally(_rows())
    with pytest.raises(bg.InputError, match="some of the tallies keep score moments"):
        carry([keep_scores(one), one], one)
    with pytest.raises(bg.InputError, match="on different scales"):
        carry([keep_scores(one), keep_scores(one, scale="identity")], one)
    assert carry([one, one], one) is one
