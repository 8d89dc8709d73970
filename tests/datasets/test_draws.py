"""Evaluation sets: allocation and sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesgroups import datasets
from bayesgroups.errors import InputError


def test_largest_remainder_example() -> None:
    assert datasets.largest_remainder([61, 25, 9, 5], 10).tolist() == [6, 3, 1, 0]


def test_largest_remainder_ties_go_to_the_lower_index() -> None:
    assert datasets.largest_remainder([1, 1, 1, 1], 2).tolist() == [1, 1, 0, 0]
    assert datasets.largest_remainder([3, 0, 3, 3], 7).tolist() == [3, 0, 2, 2]


@pytest.mark.parametrize("n", [0, 1, 17, 99, 100, 1000])
def test_largest_remainder_keeps_the_total_and_the_quotas(n: int) -> None:
    sizes = np.array([50, 0, 1, 7, 42])
    shares = datasets.largest_remainder(sizes, n)
    assert shares.sum() == n
    assert (np.abs(shares - n * sizes / 100) < 1).all()
    assert n > 100 or (shares <= sizes).all()


def test_largest_remainder_of_huge_sizes_is_exact() -> None:
    assert datasets.largest_remainder([10**18, 10**18 + 1], 10**15).sum() == 10**15


@pytest.mark.parametrize(
    ("sizes", "n", "message"),
    [
        ([1, -2], 1, "sizes must be whole numbers"),
        ([1.5, 2.0], 1, "sizes must be whole numbers"),
        ([[1], [2]], 1, "sizes must be whole numbers"),
        ([], 1, "sizes must be whole numbers"),
        ([1, 2], -1, "n must be a whole number, 0 or larger; got -1"),
        ([1, 2], 1.5, "n must be a whole number, 0 or larger; got 1.5"),
        ([0, 0], 1, "sizes are all 0"),
    ],
)
def test_largest_remainder_refuses(sizes: Any, n: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        datasets.largest_remainder(sizes, n)


def _people() -> pd.DataFrame:
    race = np.repeat(["a", "b", "c", "d"], [61, 25, 9, 5])
    return pd.DataFrame({"race": race, "row": np.arange(100)}, index=np.arange(100) + 1000)


def test_draw_is_stratified_without_repetition_and_in_order() -> None:
    drawn = datasets.draw_evaluation(_people(), ["race"], 10, seed=4)
    assert drawn["race"].value_counts().to_dict() == {"a": 6, "b": 3, "c": 1}
    assert drawn["row"].is_unique
    assert drawn["row"].is_monotonic_increasing
    assert (drawn.index == drawn["row"] + 1000).all()


def test_draw_repeats_with_the_seed() -> None:
    first, again, other = (datasets.draw_evaluation(_people(), ["race"], 30, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["row"].equals(other["row"])


def test_draw_of_everything_is_everything_and_with_replacement_it_is_not() -> None:
    people = _people()
    pd.testing.assert_frame_equal(datasets.draw_evaluation(people, "race", 100, seed=1), people)
    assert not datasets.draw_evaluation(people, "race", 100, seed=1, replace=True)["row"].is_unique
    assert len(datasets.draw_evaluation(people, "race", 1000, seed=1, replace=True)) == 1000


def test_every_row_of_a_stratum_is_equally_likely() -> None:
    people = _people()
    hits = np.zeros(100)
    for seed in range(400):
        hits[datasets.draw_evaluation(people, ["race"], 40, seed=seed)["row"]] += 1
    shares = datasets.largest_remainder([61, 25, 9, 5], 40)
    for level, share in zip("abcd", shares, strict=True):
        member = (people["race"] == level).to_numpy()
        p = share / member.sum()
        z = (hits[member] - 400 * p) / np.sqrt(400 * p * (1 - p))
        assert np.abs(z).max() < 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frame": [1, 2]}, "frame must be a pandas DataFrame; got list"),
        ({"by": []}, "by= names no column"),
        ({"by": ["rac"]}, "column 'rac' .* did you mean 'race'"),
        ({"frame": pd.DataFrame({"race": ["a", None]})}, "column 'race' .* has missing values"),
        ({"frame": pd.DataFrame({"race": []})}, "the frame has no rows"),
        ({"n": 0}, "n must be a whole number, 1 or larger; got 0"),
        ({"n": 101}, "n = 101 exceeds the 100 rows there are"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_draw_refuses(arguments: dict[str, Any], message: str) -> None:
    plain: dict[str, Any] = {"frame": _people(), "by": ["race"], "n": 2, "seed": 1}
    with pytest.raises(InputError, match=message):
        datasets.draw_evaluation(**(plain | arguments))
