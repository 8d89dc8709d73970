"""Word errors: closed forms, an independent count of edits, mirrored sides, and what is refused."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.errors import InputError, MissingDependencyError

TEXTS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=7).map(tuple)


def edits(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Fewest edits, by the recursion that defines them."""

    @cache
    def fewest(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(fewest(i - 1, j) + 1, fewest(i, j - 1) + 1, fewest(i - 1, j - 1) + (first[i - 1] != second[j - 1]))

    return fewest(len(first), len(second))


@pytest.mark.parametrize(
    ("reference", "hypothesis", "counts"),
    [
        ("a b c", "a b c", (0, 0, 0)),
        ("a b c", "", (0, 3, 0)),
        ("a b c", "a x c", (1, 0, 0)),
        ("a  b\tc", "a b c d e", (0, 0, 2)),
        ("a", "A", (1, 0, 0)),
    ],
)
def test_closed_forms(reference: str, hypothesis: str, counts: tuple[int, int, int]) -> None:
    row = bg.word_errors([reference], [hypothesis]).iloc[0]
    assert (row["substitutions"], row["deletions"], row["insertions"]) == counts
    assert row["wer"] == pytest.approx(sum(counts) / len(reference.split()))


@given(first=TEXTS, second=TEXTS)
def test_errors_are_the_fewest_edits(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    row, mirrored = (
        bg.word_errors([" ".join(a)], [" ".join(b)]).iloc[0] for a, b in ((first, second), (second, first))
    )
    assert row["errors"] == mirrored["errors"] == edits(first, second)
    assert row["errors"] == row["substitutions"] + row["deletions"] + row["insertions"]
    assert row["insertions"] - row["deletions"] == len(second) - len(first)


def test_a_reference_without_words_has_no_rate_and_says_why() -> None:
    table = bg.word_errors(["", "a"], ["b", "a"])
    assert np.isnan(table["wer"][0])
    assert table["reason"].tolist() == ["no word in the reference", ""]
    assert len(bg.word_errors([], [])) == 0


def test_series_keep_their_index_and_become_a_tally() -> None:
    frame = pd.DataFrame(
        {"g": list("aabb"), "said": ["x y"] * 4, "heard": ["x y", "x", "y", "x y z"]}, index=[3, 1, 4, 2]
    )
    table = bg.word_errors(frame["said"], frame["heard"])
    assert table.index.tolist() == [3, 1, 4, 2]
    tally = bg.tally(frame.assign(wer=table["wer"]), "g", "mean", loss="wer")
    np.testing.assert_allclose(tally["estimate"].values[0], [0.25, 0.5])


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="hypothesis has 1 texts and reference 2"):
        bg.word_errors(["a", "b"], ["a"])
    with pytest.raises(InputError, match="reference must hold texts; row 1 has None"):
        bg.word_errors(["a", None], ["a", "b"])
    with pytest.raises(InputError, match="hypothesis must be a sequence of texts"):
        bg.word_errors(["a"], "a")
    with pytest.raises(InputError, match="different indices"):
        bg.word_errors(pd.Series(["a"], index=[1]), pd.Series(["a"], index=[2]))
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayesgroups\[speech\]'"):
        bg.word_errors(["a"], ["a"])
