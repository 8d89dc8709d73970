"""Ordered attributes in the questions that fit crossed effects themselves: strata, systems on the same items, gold scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError

AGES = ["18", "25", "35", "50", "65"]
EMPTY = "35"


def answers(systems: tuple[str, ...]) -> pd.DataFrame:
    """Answers of systems to items of ages that become harder; nobody of one age was asked."""
    rng = np.random.default_rng(3)
    age = np.repeat([level for level in AGES if level != EMPTY], 60)
    along = np.array([AGES.index(level) for level in age]) - 2
    frame = pd.DataFrame({"age": pd.Categorical(age, AGES, ordered=True)})
    for place, name in enumerate(sorted(systems)):
        ease = 0.3 * place - (0.4 + 0.3 * place) * along
        frame[name] = (ease + rng.logistic(size=len(age)) > 0).astype(int)
    return frame


def of_empty(answer: xr.Dataset) -> xr.Dataset:
    return answer.sel(approach="bayesian", subgroup=EMPTY)


def test_differences_of_systems_follow_the_order_that_the_tally_carries() -> None:
    pairs = bg.paired_tally(answers(("new", "old")), by=["age"], systems=["new", "old"])
    ordered, plain = (bg.compare_systems(pairs, ordered=order, seed=1) for order in (["age"], ()))
    widths = [float((each["upper"] - each["lower"]).isel(pair=0)) for each in map(of_empty, (ordered, plain))]
    assert widths[0] < 0.9 * widths[1]
    side = ordered["difference"].sel(approach="bayesian").isel(pair=0).to_series()
    assert min(side["25"], side["50"]) < side[EMPTY] < max(side["25"], side["50"])
    xr.testing.assert_identical(*(each["difference"].sel(approach="frequentist") for each in (ordered, plain)))
    assert ordered["usable"].values.tolist() == [1, 1]


@pytest.mark.slow
def test_mirrored_systems_have_mirrored_answers() -> None:
    first, second = (
        bg.compare_systems(bg.paired_tally(answers(names), by=["age"], systems=list(names)), ordered=["age"])
        for names in (("new", "old"), ("old", "new"))
    )
    np.testing.assert_array_equal(first["difference"].values, -second["difference"].values)


def test_without_an_order_the_bytes_are_as_before() -> None:
    """Two levels are a pair."""
    frame = answers(("new", "old")).assign(half=lambda rows: np.where(rows["age"].isin(AGES[:2]), "a", "b"))
    pairs = bg.paired_tally(frame, by=["half"], systems=["new", "old"])
    xr.testing.assert_identical(
        bg.compare_systems(pairs)["difference"], bg.compare_systems(pairs, ordered=["half"])["difference"]
    )


def test_leaderboards_take_it_too() -> None:
    pairs = bg.paired_tally(answers(("a", "b", "c")), by=["age"], systems=["a", "b", "c"])
    boards = [bg.leaderboard(pairs, ordered=order) for order in (["age"], ())]
    spans = [float((each["upper"] - each["lower"]).sel(system="c")) for each in map(of_empty, boards)]
    assert spans[0] < spans[1]


def strata() -> xr.Dataset:
    who = pd.DataFrame([(age, sex) for age in AGES for sex in "fm"], columns=["age", "sex"])
    rate = 0.1 + 0.12 * who["age"].map(AGES.index) + 0.04 * (who["sex"] == "f")
    n = np.full(len(who), 60)
    return bg.tally_from_counts(np.round(n * rate).tolist(), n.tolist(), who, metric="fnr")


def test_strata_follow_the_order() -> None:
    answer = bg.maihda(strata(), ordered=("age",), seed=1)
    report = bg.estimate(strata(), bg.CrossedEffects(own_effects="learned", ordered=("age",)), seed=1)
    expected = report["posterior"].to_dataset()["mu"].mean(("chain", "draw")).sel(metric="fnr").values
    np.testing.assert_allclose(answer["value"].sel(approach="bayesian", metric="fnr").values, expected, atol=1e-12)


def test_gold_scores_follow_the_order() -> None:
    """Gold scores of some rows beside a judge's scores of all, and the order of a categorical column."""
    rng = np.random.default_rng(5)
    age = rng.choice([level for level in AGES if level != EMPTY], 400)
    along = np.array([AGES.index(level) for level in age])
    gold = 0.2 + 0.15 * along + 0.1 * rng.standard_normal(400)
    frame = pd.DataFrame({"age": pd.Categorical(age, AGES, ordered=True), "gold": gold})
    frame["judge"] = frame["gold"] + 0.2 * rng.standard_normal(400)
    frame["gold"] = frame["gold"].where(rng.random(400) < 0.3)
    tally = bg.gold_score_tally(frame, ["age"], gold="gold", judge="judge")
    reports = [bg.estimate(tally, bg.CrossedEffects(ordered=order), seed=1) for order in (("age",), ())]
    draws = [each["posterior"].to_dataset()["mu"].isel(metric=0).sel(subgroup=EMPTY) for each in reports]
    spreads = [float(each.std()) for each in draws]
    assert spreads[0] < spreads[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ordered": ["income"]}, "ordered names 'income', but the attributes of the tally are"),
        ({"cyclic": ["age"]}, "compare_systems: cyclic names 'age', which is not ordered"),
        ({"ordered": ["age"], "pooling": "none"}, "pooling='none' has no effects that could follow an order"),
    ],
)
def test_orders_of_systems_that_cannot_be_meant(settings: dict[str, Any], message: str) -> None:
    pairs = bg.paired_tally(answers(("new", "old")), by=["age"], systems=["new", "old"])
    with pytest.raises(InputError, match=message):
        bg.compare_systems(pairs, **settings)


def test_orders_of_strata_that_cannot_be_meant() -> None:
    with pytest.raises(InputError, match="model='regression' hardly shrinks main effects"):
        bg.maihda(strata(), model="regression", ordered=("age",))
    report = bg.estimate(strata(), bg.CrossedEffects(own_effects="learned"), seed=1)
    with pytest.raises(InputError, match="a report has its own model"):
        bg.maihda(report, ordered=("age",))
    with pytest.raises(InputError, match="ordered names 'income'"):
        bg.maihda(strata(), ordered=("income",))
