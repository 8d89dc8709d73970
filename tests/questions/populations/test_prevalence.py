"""Sizes of people and a prevalence in place of sizes of positives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from tests.questions.populations.examples import drawn_report, frequentist, golden, posterior

CELLS = pd.DataFrame({"site": ["a", "b"]})
PEOPLE = CELLS.assign(count=[5000, 5000])
SHARES = CELLS.assign(prevalence=[0.2, 0.5])


def misses(metric: str = "fnr") -> xr.Dataset:
    """Misses among the positives of the worked example, or false alarms among its negatives."""
    k, n = ([10, 20], [40, 50]) if metric == "fnr" else ([20, 10], [160, 50])
    return bg.tally_from_counts(k, n, CELLS, metric=metric)


def test_the_worked_numbers() -> None:
    table = frequentist(bg.poststratify(misses(), PEOPLE, prevalence=SHARES))
    values = golden("M6_fnr")
    assert float(table["estimate"]) == pytest.approx(values["positives_weights"])
    assert float(table["std_error"]) == pytest.approx(values["se_if_prevalence_known"])


def test_both_answers_are_those_of_sizes_of_positives() -> None:
    report = drawn_report(misses(), draws=200)
    positives = bg.poststratify(report, CELLS.assign(count=[1000, 2500]), by=["site"], population_of="positives")
    people = bg.poststratify(report, PEOPLE, prevalence=SHARES, by=["site"])
    xr.testing.assert_allclose(people["estimates"].to_dataset(), positives["estimates"].to_dataset())
    np.testing.assert_allclose(posterior(people), posterior(positives))
    assert "by the prevalences given" in people.attrs["notes"]


def test_false_alarms_are_weighted_by_negatives() -> None:
    table = frequentist(bg.poststratify(misses("fpr"), PEOPLE, prevalence=SHARES))
    assert float(table["estimate"]) == pytest.approx((4000 * 20 / 160 + 2500 * 10 / 50) / 6500)


def test_rates_of_all_people_are_left_as_they_are_and_known_shares_win_over_cells() -> None:
    frame = pd.DataFrame(
        {"site": ["a"] * 6 + ["b"] * 6, "y": [1, 1, 1, 0, 0, 0] * 2, "hat": [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1]}
    )
    tally = bg.tally(frame, by=["site"], metrics=["fnr", "acc"], y_true="y", y_pred="hat", confusion=True)
    told = bg.poststratify(tally, PEOPLE, prevalence=SHARES)
    counted = bg.poststratify(tally, PEOPLE)
    assert float(frequentist(told)["estimate"]) == pytest.approx((1000 * 1 / 3 + 2500 * 2 / 3) / 3500)
    assert float(frequentist(counted)["estimate"]) == pytest.approx(0.5)
    assert float(frequentist(told, metric=1)["estimate"]) == float(frequentist(counted, metric=1)["estimate"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"prevalence": SHARES, "population_of": "positives"},
            "prevalence= is for sizes of people, and population_of='positives'",
        ),
        ({"prevalence": SHARES, "population": "rows"}, "prevalence= is for numbers of people that are known"),
        (
            {"prevalence": SHARES, "population": bg.PopulationSample(PEOPLE)},
            "prevalence= is for numbers of people that are known",
        ),
        ({"prevalence": CELLS}, "prevalence: no column 'prevalence'"),
        ({"prevalence": CELLS.assign(prevalence="half")}, "column 'prevalence' must hold numbers"),
        ({"prevalence": SHARES.assign(prevalence=[0.2, 1.5])}, "prevalence: 'b' has 1.5; expected a share"),
        ({"prevalence": pd.concat([SHARES, SHARES])}, "prevalence: 'a' is there twice"),
        ({"prevalence": SHARES.assign(site=["a", "z"])}, "prevalence: 'z' is no subgroup of the tally"),
        ({"prevalence": SHARES.iloc[:1]}, "subgroup 'b' has people in the population and no prevalence"),
        ({"prevalence": None}, "'fnr' averages over positives .* or prevalence="),
    ],
)
def test_what_cannot_be_asked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.poststratify(misses(), **{"population": PEOPLE, **settings})


def test_metrics_of_the_selected_have_no_prevalence() -> None:
    tally = bg.tally_from_counts([10, 20], [40, 50], CELLS, metric="ppv")
    with pytest.raises(bg.InputError, match="'ppv' averages over selected and the population counts people"):
        bg.poststratify(tally, PEOPLE, prevalence=SHARES)
