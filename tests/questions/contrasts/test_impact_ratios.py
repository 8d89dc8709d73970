"""Impact ratios: the printed example of a rule, small categories, and refusals.

The counts of the example are recalled and were not compared with the rule itself: they are an example here, and one of its
totals is not the sum of its intersections (see the README beside them). What is tested are the ratios that follow from them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError

EXAMPLE = pd.read_csv(Path(__file__).parents[2] / "golden" / "targets" / "ll144.csv", dtype={"printed_ratio": str})
WHO = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})


def part(table: str) -> pd.DataFrame:
    return EXAMPLE[EXAMPLE["table"] == table].reset_index(drop=True)


def both() -> xr.Dataset:
    rows = part("both")
    who = rows["category"].str.split("|", expand=True).set_axis(["sex", "race"], axis=1)
    return bg.tally_from_counts(rows["selected"], rows["applicants"], who, metric="sel")


@pytest.mark.parametrize("table", ["sex", "race", "both"])
def test_ratios_of_the_example_round_to_its_print(table: str) -> None:
    rows = part(table)
    counts = bg.tally_from_counts(rows["selected"], rows["applicants"], rows[["category"]], metric="sel")
    answer = bg.impact_ratios(counts).sel(metric="sel")
    by_name = dict(zip(answer["subgroup"].values, answer["impact_ratio"].values, strict=True))
    for category, printed in zip(counts["category"].values, counts["subgroup"].values, strict=True):
        expected = rows.loc[rows["category"] == category, "printed_ratio"].item()
        places = len(expected.partition(".")[2])
        rounded = math.floor(by_name[printed] * 10**places + 0.5) / 10**places
        assert f"{rounded:.{places}f}" == expected


def test_a_small_category_against_one_that_was_named() -> None:
    """The seventeen women behind the smallest printed ratio: it says little."""
    answer = bg.contrasts(both(), "Male | White", of="Female | Native American or Alaska Native", scale="ratio")
    ratio = answer.isel(approach=0, scale=0, metric=0, contrast=0)
    assert float(ratio["estimate"]) == pytest.approx(0.789056, abs=1e-6)
    assert [float(ratio["lower"]), float(ratio["upper"])] == pytest.approx([0.411734, 1.242823], abs=1e-6)
    assert float(ratio["p_value_threshold"][0]) == pytest.approx(0.481210, abs=1e-6)


def test_tables_are_separate_and_cover_not_knowing_the_best() -> None:
    answer = bg.impact_ratios(both()).sel(metric="sel")
    assert list(dict.fromkeys(answer["table"].values)) == ["sex", "race", "sex x race"]
    for table in ("sex", "race", "sex x race"):
        rows = answer.sel(category=answer["table"] == table)
        assert float(rows["impact_ratio"].max()) == 1.0
        assert ((rows["lower"] <= rows["impact_ratio"]) & (rows["impact_ratio"] <= rows["upper"])).all()
        assert (rows["upper"] <= 1).all()
        assert float(rows["share"].sum()) == pytest.approx(1)
    women = answer.sel(category="sex x race: Female | Native American or Alaska Native")
    assert float(women["upper"]) == 1.0
    total = (
        part("both")
        .assign(sex=lambda rows: rows["category"].str.split("|").str[0])
        .groupby("sex")
        .sum(numeric_only=True)
    )
    men = answer.sel(category="sex: Male | (all)")
    assert float(men["rate"]) == pytest.approx(
        total.loc["Male", "selected"] / total.loc["Male", "applicants"], abs=1e-12
    )


def test_posterior_of_the_example() -> None:
    """Jeffreys draws against worked numbers from a million: the share below .8 of the best of the draw, and of being best."""
    report = bg.estimate(both(), bg.NoPooling(), seed=1)
    answer = bg.impact_ratios(report).sel(metric="sel")
    women = answer.sel(category="sex x race: Female | Native American or Alaska Native")
    assert float(women["probability_below"]) == pytest.approx(0.617613, abs=0.031)
    assert float(women["impact_ratio"]) == pytest.approx(0.735091, abs=0.015)
    assert float(answer["probability_best"].sel(category="sex x race: Male | White")) == pytest.approx(
        0.182379, abs=0.025
    )
    assert str(answer["interval_kind"].values) == "credible"


def test_categories_of_few_rows_are_shown_without_a_ratio() -> None:
    answer = bg.impact_ratios(both(), attributes=["race"], smallest_share=0.02).sel(metric="sel")
    small = answer.sel(category="race: (all) | Native American or Alaska Native")
    assert (str(small["status"].values), str(small["reason"].values)) == (
        "left out",
        "a smaller share of the rows than 0.02",
    )
    assert np.isnan(small["impact_ratio"])
    assert float(small["rate"]) == pytest.approx(18 / 41)
    empty = bg.impact_ratios(bg.tally_from_counts([3, 0], [9, 0], pd.DataFrame({"site": ["a", "b"]}), metric="sel"))
    assert empty["status"].values[0].tolist() == ["not estimable", "not estimable"]
    assert str(empty["reason"].values[0, 1]) == "no rows"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"threshold": 1.0}, "threshold=1.0 must lie strictly between 0 and 1"),
        ({"smallest_share": -0.1}, "smallest_share=-0.1 must be 0 or larger"),
        ({"attributes": ["sexe"]}, "there is no attribute 'sexe'; did you mean 'sex'"),
        ({"using": "bootstrap"}, "using='bootstrap' has no most selected category"),
    ],
)
def test_refusals(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bg.impact_ratios(bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], WHO, metric="sel"), **settings)


def test_a_metric_that_is_no_rate() -> None:
    frame = pd.DataFrame({"site": ["a", "b"] * 5, "loss": np.arange(10.0)})
    source = bg.tally(frame, by="site", metrics=["mean"], loss="loss", larger_is_better=False)
    with pytest.raises(InputError, match="metric 'mean' is no rate of rows, so it has no impact ratio"):
        bg.impact_ratios(source)


def test_equal_rates_have_unequal_ratios_as_the_page_says() -> None:
    """Expected ratio of the smallest to the largest of eight rates of 30 people at one half, from all outcomes."""
    successes = np.arange(31)
    below = np.concatenate([[0.0], np.cumsum([math.comb(30, k) / 2**30 for k in successes])])
    inside = np.clip(below[None, 1:] - below[:-1, None], 0, None) ** 8  # all eight within [smallest, largest]
    padded = np.pad(inside, ((0, 1), (1, 0)))
    exactly = padded[:-1, 1:] - padded[1:, 1:] - padded[:-1, :-1] + padded[1:, :-1]
    smallest, largest = np.meshgrid(successes, successes, indexing="ij")
    possible = (largest >= smallest) & (largest > 0)
    assert exactly[possible].sum() == pytest.approx(1)
    expected = (exactly[possible] * smallest[possible] / largest[possible]).sum()
    assert expected == pytest.approx(0.593, abs=5e-4)
