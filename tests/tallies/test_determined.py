"""Notes on attributes that determine a rate."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.tallies.determined import MIN_ROWS_OF_LEVEL, determined_notes

RNG = np.random.default_rng(1)
ROWS = pd.DataFrame({"sex": RNG.choice(["f", "m"], 200), "y": RNG.integers(0, 2, 200), "d": RNG.integers(0, 2, 200)})
ROWS["label"] = ROWS["d"].astype(str)


class StartedError(Exception):
    """NUTS would run now."""


def note(metric: str, name: str = "label") -> str:
    return (
        f"{metric}: it is 0 or 1 in every level of {name!r}, which determines it; leave {name!r} out of by=, for its effect has no "
        "bound, and a fit takes minutes"
    )


def test_a_rate_that_follows_from_an_attribute_is_named() -> None:
    metrics = ["sel", "fnr", "acc"]
    tally = bg.tally(ROWS, ["sex", "label"], metrics, y_true="y", y_pred="d")
    assert determined_notes(tally) == [note("sel"), note("fnr")]
    assert determined_notes(bg.tally(ROWS, ["sex"], metrics, y_true="y", y_pred="d")) == []


def test_reports_carry_the_note() -> None:
    tally = bg.tally(ROWS, ["sex", "label"], "sel", y_pred="d")
    assert note("sel") in bg.estimate(tally, bg.NoPooling(), seed=1).attrs["notes"]


def test_it_is_said_before_nuts_starts(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesgroups.estimators import sampled_fits

    tally = bg.tally(ROWS, ["sex", "label"], "sel", y_pred="d")

    def starts(run: object) -> None:
        raise StartedError

    monkeypatch.setattr(sampled_fits, "_extended", starts)
    with caplog.at_level(logging.WARNING, logger="bayesgroups"), pytest.raises(StartedError):
        bg.estimate(tally, bg.NoPooling(), seed=1, inference="nuts")
    assert [record.getMessage() for record in caplog.records] == [note("sel")]


@pytest.mark.parametrize("rows", [MIN_ROWS_OF_LEVEL - 1, MIN_ROWS_OF_LEVEL])
def test_few_rows_may_be_all_alike_by_chance(rows: int) -> None:
    tally = bg.tally_from_counts([0, rows], [rows, rows], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    assert determined_notes(tally) == ([note("fnr", "site")] if rows == MIN_ROWS_OF_LEVEL else [])


def test_rates_that_are_all_0_are_determined_by_nothing() -> None:
    tally = bg.tally_from_counts([0, 0], [30, 30], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    assert determined_notes(tally) == []


def test_means_have_no_such_note() -> None:
    rows = pd.DataFrame({"site": ["a", "b"] * 20, "loss": [0.0, 1.0] * 20})
    assert determined_notes(bg.tally(rows, ["site"], "mean", loss="loss")) == []
