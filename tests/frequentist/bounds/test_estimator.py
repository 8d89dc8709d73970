"""`DisagreementModel`: its settings, the tallies it takes, and which engine answers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError
from tests.frequentist.bounds.judgements import crossed, tally_of


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"destination": 0.0}, "DisagreementModel: destination=0.0 must be a positive number"),
        ({"overall_scale": -1.0}, "DisagreementModel: overall_scale=-1.0 must be a positive number"),
        ({"tau_scale": float("inf")}, "DisagreementModel: tau_scale=inf must be a positive number"),
        ({"form": "exact"}, "DisagreementModel: form='exact' is not one of 'sharp', 'published'"),
        ({"resample": "rows"}, "DisagreementModel: resample='rows' is not one of"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.DisagreementModel(**settings)


def test_an_ordinary_tally_is_refused() -> None:
    counts = bg.tally_from_counts([1, 2], [3, 4], pd.DataFrame({"sex": ["f", "m"]}))
    for ask in (
        lambda: bg.estimate(counts, bg.DisagreementModel(), seed=1),
        lambda: bg.DisagreementModel().model(counts),
        lambda: bg.DisagreementModel().collapsed(counts, seed=1),
    ):
        with pytest.raises(
            InputError, match=r"needs agreements and disagreements; make the tally with bg.disagreement_tally"
        ):
            ask()


def test_critics_of_their_own_have_no_exact_engine() -> None:
    tally = tally_of(crossed(1, critics=4, items=12), critic="critic")
    assert bg.DisagreementModel().collapsed(tally, seed=1) is None
    assert bg.DisagreementModel(critics=False).collapsed(tally, seed=1) is not None
    with pytest.raises(InputError, match="disagreement has no exact engine"):
        bg.estimate(tally, bg.DisagreementModel(), seed=1, inference="collapsed")


def test_settings_reach_both_sides() -> None:
    tally = tally_of(crossed(1, critics=4, items=12))
    spread = {}
    for destination in (0.2, 20.0):
        report = bg.estimate(tally, bg.DisagreementModel(destination=destination, form="published"), seed=1)
        one = report["estimates"].to_dataset().sel(metric="tpr[a]", subgroup="f")
        spread[destination] = float(one["std_error"].sel(approach="bayesian"))
        assert float(one["estimate"].sel(approach="frequentist")) == float(
            bg.disagreement_bounds(tally, "equal_opportunity", form="published")["midpoint"].sel(
                label="a", subgroup="f"
            )
        )
    assert spread[0.2] > spread[20.0]
