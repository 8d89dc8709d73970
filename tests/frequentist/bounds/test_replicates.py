"""The bootstrap of judgements, critics and items: its mean and variance, and what it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds import replicates as module
from bayesgroups.frequentist.bounds.replicates import replicates, units_of
from tests.frequentist.bounds.judgements import crossed, tally_of


@pytest.mark.parametrize("unit", ["judgements", "critics", "items"])
@pytest.mark.parametrize("block", [1, 10**7])
def test_replicates_are_centred_on_the_counts(unit: Any, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    tally = tally_of(crossed(1), critic="critic", item="item")
    assert units_of(tally) == ("judgements", "critics", "items")
    agree, disagree = replicates(tally, unit, np.random.default_rng(2), draws=2000)
    assert agree.shape == (2000, 3, 3)
    assert (agree[:, :, 2] == 0).all()
    for found, name in ((agree, "agreements"), (disagree, "disagreements")):
        error = found.std(axis=0) / np.sqrt(2000) + 1e-9
        assert (np.abs(found.mean(axis=0) - tally[name].values) < 5 * error).all()


@pytest.mark.parametrize("unit", ["critic", "item"])
def test_the_variance_is_that_of_resampled_units(unit: str) -> None:
    rows = crossed(1)
    tally = tally_of(rows, **{unit: unit})
    _, disagree = replicates(tally, f"{unit}s", np.random.default_rng(2), draws=4000)  # type: ignore[arg-type]
    each = rows[(rows["said"] == "a") & (rows["sex"] == "f")].groupby(unit)["disagrees"].sum()
    each = each.reindex(rows[unit].unique(), fill_value=0)
    exact = len(each) * each.to_numpy().var()
    assert disagree[:, 0, 0].var() == pytest.approx(exact, rel=0.1)


def test_what_was_not_kept_cannot_be_resampled() -> None:
    tally = tally_of(crossed(1))
    assert units_of(tally) == ("judgements",)
    for unit in ("critics", "items"):
        with pytest.raises(InputError, match=f"{unit} cannot be resampled: the tally was made without {unit[:-1]}="):
            replicates(tally, unit, np.random.default_rng(1), draws=2)
