"""Invariance of a tally to names of levels, order of rows, and splits of the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bayesgroups as bg

METRICS = ["sel", "fnr", "fpr", "ppv", "f1", "auc", "mean"]
# No shrinking: a failing example is small already, and shrinking would take minutes.
BOUNDED = settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
STATISTICS = [
    "rows",
    "count",
    "successes",
    "estimate",
    "row_variance",
    "sampling_variance",
    "bootstrap_variance",
    "status",
]


def tally(frame: pd.DataFrame, weights: str | None = None, features: tuple[str, ...] = ()) -> xr.Dataset:
    return bg.tally(frame, {"g": list("abcd"), "h": ["x", "y"]}, METRICS, y_true="y", y_score="s", threshold=0.5, loss="v",
                    weights=weights, features=features, cluster="c")  # fmt: skip


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 20))
    columns = {
        "g": st.sampled_from("abc"), "h": st.sampled_from("xy"), "y": st.integers(0, 1), "c": st.integers(0, 4),
        "s": st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.75, 1.0]), "v": st.integers(-400, 400).map(lambda v: v / 4),
        "w": st.sampled_from([0.5, 1.0, 3.0]),
    }  # fmt: skip
    return pd.DataFrame({name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()})


@BOUNDED
@given(frames(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(frame: pd.DataFrame, random: object) -> None:
    shuffled = frame.sample(frac=1, random_state=random.randrange(2**31))  # type: ignore[attr-defined]
    xr.testing.assert_allclose(tally(frame), tally(shuffled), rtol=1e-9, atol=1e-9)


@BOUNDED
@given(frames())
def test_renaming_levels_permutes_the_answer(frame: pd.DataFrame) -> None:
    renamed = frame.assign(g=frame["g"].map({"a": "c", "b": "a", "c": "b"}))
    first, second = tally(frame), tally(renamed)
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        for name in STATISTICS:
            mine, theirs = (
                first[name].isel(subgroup=first["g"].values == old),
                second[name].isel(subgroup=second["g"].values == new),
            )
            if mine.dtype.kind == "U":
                assert (mine.values == theirs.values).all()
            else:
                np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-9, atol=1e-9)


@BOUNDED
@given(frames(), st.integers(2, 4), st.sampled_from([None, "w"]))
def test_parts_add_up_to_the_whole(frame: pd.DataFrame, parts: int, weights: str | None) -> None:
    chunks = [frame.iloc[i::parts] for i in range(min(parts, len(frame)))]
    whole = tally(frame, weights, ("v",))
    added = bg.add_tallies([tally(chunk, weights, ("v",)) for chunk in chunks])
    lower = whole["range_lower"]
    xr.testing.assert_allclose(
        whole.drop_attrs().assign(range_lower=lower), added.drop_attrs().assign(range_lower=lower), rtol=1e-7, atol=1e-6
    )


def test_adding_needs_alike_tallies() -> None:
    site = pd.DataFrame({"site": ["a", "b"]})
    one = bg.tally_from_counts([1, 2], [4, 5], site)
    rows = pd.DataFrame({"site": ["a", "b"], "s": [0.2, 0.8], "v": [1.0, 2.0], "c": [1, 2]})

    def sel(**more: object) -> xr.Dataset:
        return bg.tally(rows, ["site"], ["sel"], y_score="s", **({"threshold": 0.5} | more))  # type: ignore[arg-type]

    cases = [
        ([], "got no tally"),
        ([one, bg.tally_from_counts([1, 2], [4, 5], site.rename(columns={"site": "ward"}))], "different attributes"),
        ([one, bg.tally_from_counts([1, 2], [4, 5], site, metric="acc")], "different metrics"),
        ([sel(), sel(threshold=0.6)], "different threshold"),
        ([sel(), sel(weights="v")], "differ in weights= or cluster="),
        ([sel(), sel(features=["v"])], "different features"),
        ([bg.tally_from_estimates([0.1, 0.2], [1, 1], site)] * 2, "published estimates have no sums"),
    ]
    for tallies, message in cases:
        with pytest.raises(bg.InputError, match=message):
            bg.add_tallies(tallies)
