"""Comparisons of systems on the same items: worked tables, the exact posterior, mirrored and renamed systems, the order."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.frequentist.paired_systems import system_values
from bayesgroups.inference.collapsed import crossed_effects, paired_answers, system_means
from bayesgroups.questions.systems.ties import tie_letters
from bayesgroups.report.diagnostics import at_most

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "labels" / "r_pairs.json").read_text(encoding="utf-8"))
TABLES = [name for name, values in GOLDEN.items() if "both" in values]
SIDES = ("both", "a_only", "b_only", "neither")


def rows_of(tables: dict[str, tuple[int, ...]]) -> pd.DataFrame:
    """Items by subgroup from (both, first only, second only, neither)."""
    parts = [
        pd.DataFrame({"site": site, "A": np.repeat([1, 1, 0, 0], cells), "B": np.repeat([1, 0, 1, 0], cells)})
        for site, cells in tables.items()
    ]
    return pd.concat(parts, ignore_index=True)


WORKED = rows_of({name: tuple(GOLDEN[name][side] for side in SIDES) for name in TABLES})
SITES = rows_of({"a": (30, 9, 3, 8), "b": (12, 4, 6, 5), "c": (3, 1, 0, 2), "d": (40, 12, 11, 20)})


def paired(rows: pd.DataFrame = SITES, systems: Any = ("A", "B"), **given: Any) -> xr.Dataset:
    return bg.paired_tally(rows, {"site": [*dict.fromkeys(rows["site"]), "empty"]}, list(systems), **given)


@pytest.fixture(scope="module")
def three() -> xr.Dataset:
    rng = np.random.default_rng(4)
    ability = rng.normal(size=240)
    rows = pd.DataFrame({"site": rng.choice(list("abc"), 240)})
    for name, shift in (("new", 0.9), ("old", 0.0), ("base", -0.1)):
        rows[name] = (ability + shift + 0.7 * rng.normal(size=240) > 0).astype(int)
    return paired(rows, ["new", "old", "base"])


@pytest.fixture(scope="module")
def two() -> xr.Dataset:
    return paired()


@pytest.fixture(scope="module")
def answer(two: xr.Dataset) -> xr.Dataset:
    return bg.compare_systems(two, overall=True, seed=3)


def test_worked_tables() -> None:
    tally = paired(WORKED)
    answer = bg.compare_systems(tally, pooling="none", seed=1).isel(pair=0)
    draws = 4000
    for name in TABLES:
        table, posterior = GOLDEN[name], GOLDEN[name]["posterior_dirichlet_half"]
        reference, bayes = (answer.sel(subgroup=name, approach=side) for side in ("frequentist", "bayesian"))
        limits = [float(reference[each]) for each in ("difference", "std_error", "p_value", "lower", "upper")]
        expected = [table["difference"], table["se"], table["mcnemar_midp"], *table["newcombe"]]
        np.testing.assert_allclose(limits, expected, atol=1e-7)
        assert float(bayes["difference"]) == pytest.approx(posterior["mean"], abs=4 * posterior["sd"] / draws**0.5)
        assert float(bayes["std_error"]) == pytest.approx(posterior["sd"], rel=0.06)
        better = posterior["probability_better"]
        error = 4 * (better * (1 - better) / draws) ** 0.5 + 1 / draws
        assert float(bayes["probability_better"]) == pytest.approx(better, abs=error)
        # P(A better) = 1 - I(b + 1/2, c + 1/2) at 1/2, with T ~ Beta(b + 1/2, c + 1/2)
        assert better == pytest.approx(stats.beta.sf(0.5, table["a_only"] + 0.5, table["b_only"] + 0.5), rel=1e-6)
        np.testing.assert_allclose([bayes["lower"], bayes["upper"]], posterior["interval"], atol=0.25 * posterior["sd"])
    tango = (
        bg.compare_systems(paired(WORKED), pooling="none", interval="tango").sel(approach="frequentist").isel(pair=0)
    )
    for name in TABLES:
        limits = [float(tango[each].sel(subgroup=name)) for each in ("lower", "upper")]
        np.testing.assert_allclose(limits, GOLDEN[name]["tango"], atol=1e-7)


def test_one_sided_mid_p_lies_between_two_tails() -> None:
    first, second = 1, 7
    tails = [float(stats.beta.sf(0.5, first, second + 1)), float(stats.beta.sf(0.5, first + 1, second))]
    np.testing.assert_allclose(tails, [0.0039, 0.0352], atol=5e-5)
    assert 2 * np.mean(tails) == pytest.approx(GOLDEN["airway_hyperresponsiveness"]["mcnemar_midp"])


def test_the_posterior_is_that_of_its_priors() -> None:
    # One subgroup, by weights on draws of the priors: centre, half-t spread of 3 degrees of freedom and effect.
    tally = bg.paired_tally(SITES[SITES["site"] == "a"], ["site"], ["A", "B"])
    cells = tally["pair_count"].values[0]
    draws, checks = paired_answers.sample(tally, cells, seed=1)
    assert all(check.passed for check in checks)
    rng, number = np.random.default_rng(2), 200_000
    expected = []
    for k, n, wide in ((12, 50, 4.0), (9, 12, 1.5), (30, 38, 4.0)):
        logit = rng.normal(0, wide, number) + 0.25 * np.abs(rng.standard_t(3, number)) * rng.normal(size=number)
        share = 1 / (1 + np.exp(-logit))
        weight = stats.binom.pmf(k, n, share)
        expected.append((np.average(share, weights=weight), np.average(share**2, weights=weight)))
    (d, _), (t, t2), (c, _) = expected
    difference = draws[:, 0, 0] - draws[:, 1, 0]
    assert difference.mean() == pytest.approx(d * (2 * t - 1), abs=4 * difference.std() / 60)
    assert draws.sum(axis=1).mean() == pytest.approx(d + 2 * (1 - d) * c, abs=4 * draws.sum(axis=1).std() / 60)
    assert difference.var() == pytest.approx(expected[0][1] * (4 * t2 - 4 * t + 1) - (d * (2 * t - 1)) ** 2, rel=0.15)


def test_mirrored_systems_have_mirrored_answers_to_the_byte(two: xr.Dataset, answer: xr.Dataset) -> None:
    xr.testing.assert_identical(answer, bg.compare_systems(two, overall=True, seed=3))
    turned = bg.compare_systems(paired(systems=("B", "A")), overall=True, seed=3)
    renamed = bg.compare_systems(paired(SITES.rename(columns={"A": "B", "B": "A"})), overall=True, seed=3)
    for mirrored in (turned, renamed):
        for name in ("difference", "std_error", "p_value", "p_adjusted", "discordant", "items"):
            sign = -1 if name == "difference" else 1
            np.testing.assert_array_equal(answer[name].values, sign * mirrored[name].values)
        for low, high in (("lower", "upper"), ("band_lower", "band_upper")):
            np.testing.assert_array_equal(answer[low].values, -mirrored[high].values)
        better = answer["probability_better"] + mirrored["probability_better"].values
        np.testing.assert_allclose(better.sel(approach="bayesian"), 1.0, rtol=1e-15)


def test_systems_that_are_level_everywhere() -> None:
    level = rows_of({"a": (5, 4, 4, 2), "b": (20, 0, 0, 3)})
    answer = bg.compare_systems(paired(level), overall=True).isel(pair=0).sel(subgroup=["a", "b", "(all)"])
    bayes = answer.sel(approach="bayesian")
    np.testing.assert_allclose(bayes["difference"], 0.0, atol=1e-15)
    np.testing.assert_array_equal(bayes["probability_better"], 0.5)
    np.testing.assert_allclose(bayes["lower"], -bayes["upper"], rtol=1e-12)
    assert answer.sel(approach="frequentist")["p_value"].values.tolist() == [1.0, 1.0, 1.0]
    assert bayes["status"].values.tolist() == ["ok", "ok", "ok"]
    assert bayes["reason"].values.tolist() == ["", "no discordant item", ""]
    assert float(answer.sel(approach="frequentist", subgroup="b")["lower"]) < 0


def test_everyone_and_a_subgroup_without_items(answer: xr.Dataset) -> None:
    pair = answer.isel(pair=0)
    empty, overall = pair.sel(subgroup="empty"), pair.sel(subgroup="(all)")
    assert empty["status"].values.tolist() == ["imputed", "undefined"]
    assert set(empty["reason"].values) == {"no item that both systems have"}
    assert np.isnan(empty["difference"].sel(approach="frequentist"))
    wide, narrow = (float((each["upper"] - each["lower"]).sel(approach="bayesian")) for each in (empty, overall))
    assert wide > narrow
    assert float(overall["difference"].sel(approach="frequentist")) == pytest.approx((SITES["A"] - SITES["B"]).mean())
    weights = pair["items"].values[:-1] / len(SITES)
    averaged = float(pair["difference"].sel(approach="bayesian").values[:-1] @ weights)
    assert float(overall["difference"].sel(approach="bayesian")) == pytest.approx(averaged)
    assert pair["usable"].values.tolist() == [1, 1]
    assert answer.attrs["level"] == 0.95


def test_subgroups_borrow_strength(answer: xr.Dataset) -> None:
    small = answer.isel(pair=0).sel(subgroup="c")
    width = small["upper"] - small["lower"]
    assert float(width.sel(approach="bayesian")) < 0.7 * float(width.sel(approach="frequentist"))


def test_three_systems_in_any_order(three: xr.Dataset) -> None:
    answer = bg.compare_systems(three, "all", overall=True, seed=1)
    assert answer["pair"].values.tolist() == ["new - old", "new - base", "old - base"]
    values = system_values(three)
    draws, checks = system_means.sample(three, values.estimate, values.covariance, values.units, graded=True, seed=1)
    assert all(check.passed for check in checks)
    order = np.array([2, 0, 1])
    turned = values.covariance[:, order[:, None], order]
    again, _ = system_means.sample(three, values.estimate[order], turned, values.units, graded=True, seed=1)
    np.testing.assert_array_equal(again, draws[:, order])
    bayes, reference = (answer.sel(approach=side, subgroup="(all)") for side in ("bayesian", "frequentist"))
    np.testing.assert_allclose(bayes["difference"], reference["difference"], atol=0.01)
    np.testing.assert_allclose(bayes["std_error"], reference["std_error"], rtol=0.12)
    np.testing.assert_allclose(bayes["difference"][0] + bayes["difference"][2], bayes["difference"][1])
    # Together limits are wider than alone, and narrower than Bonferroni's.
    ratio = (answer["band_upper"] - answer["band_lower"]) / (answer["upper"] - answer["lower"])
    ratio = ratio.sel(subgroup=["a", "b", "c", "(all)"])
    assert (ratio > 1.1).all()
    assert (ratio < stats.norm.ppf(1 - 0.05 / 6) / stats.norm.ppf(0.975) + 0.03).all()
    p, adjusted = reference["p_value"].values, reference["p_adjusted"].values
    np.testing.assert_allclose(np.sort(adjusted), np.minimum(1, np.maximum.accumulate(np.sort(p) * [3, 2, 1])))


def test_three_systems_on_one_item_are_not_certain() -> None:
    rows = pd.DataFrame({"site": ["a"], "A": [1], "B": [0], "C": [1]})
    answer = bg.compare_systems(bg.paired_tally(rows, ["site"], ["A", "B", "C"])).isel(subgroup=0)
    bayes = answer.sel(approach="bayesian")
    assert (bayes["lower"] < 0).all()
    assert (bayes["upper"] > 0).all()
    assert answer["status"].sel(approach="frequentist").values.tolist() == ["ok"] * 3


def test_draws_that_fail_their_checks_are_made_again_and_told(monkeypatch: pytest.MonkeyPatch, two: xr.Dataset) -> None:
    drawn: list[str] = []
    sample = crossed_effects.sample

    def failing(tally: xr.Dataset, **settings: Any) -> Any:
        drawn.append(str(tally["metric"].values[0]))
        fit = sample(tally, **settings)
        return replace(fit, checks=(at_most("Pareto k-hat", drawn[-1], 2.0, 0.7, "the largest k-hat"),))

    monkeypatch.setattr(crossed_effects, "sample", failing)
    answer = bg.compare_systems(two)
    assert answer["usable"].values.tolist() == [0, 1]
    assert "the largest k-hat" in answer.attrs["note"]
    assert drawn[:4] == ["discordant", "discordant, attempt 2", "discordant, attempt 3", paired_answers.FACTORS[1]]


def test_corrections(three: xr.Dataset) -> None:
    alone, together = (
        bg.compare_systems(three, correction=name).sel(approach="frequentist", subgroup=["a", "b", "c"])
        for name in ("none", "holm_all")
    )
    np.testing.assert_array_equal(alone["p_adjusted"], alone["p_value"])
    p, adjusted = (np.sort(each.values.ravel()) for each in (alone["p_value"], together["p_adjusted"]))
    np.testing.assert_allclose(adjusted, np.minimum(1, np.maximum.accumulate(p * np.arange(9, 0, -1))))
    assert (together["band_upper"] - together["band_lower"] > alone["band_upper"] - alone["band_lower"]).all()


def test_a_baseline(three: xr.Dataset) -> None:
    with pytest.raises(
        bg.InputError, match=r"pairs='baseline' needs a tally with a baseline; name one of \['new', 'old', 'base'\]"
    ):
        bg.compare_systems(three, "baseline")
    tally = paired(systems=("A", "B"), baseline="A")
    assert bg.compare_systems(tally, "baseline", pooling="none")["pair"].values.tolist() == ["B - A"]


def test_the_order_of_systems(three: xr.Dataset, two: xr.Dataset, answer: xr.Dataset) -> None:
    whole = bg.leaderboard(three, seed=1)
    board = whole.sel(subgroup="(all)")
    for side in ("bayesian", "frequentist"):
        order = board.sel(approach=side)
        assert order["rank"].values[0] == order["rank_upper"].values[0] == 1
        assert order["rank_lower"].values.tolist()[1:] == [2, 2]
        assert order["may_be_best"].values.tolist() == [1, 0, 0]
        assert order["tie"].values.tolist() == ["a", "b", "b"]
    np.testing.assert_allclose(board["probability_best"].sel(approach="bayesian"), [1, 0, 0], atol=1e-3)
    # Two systems: the probability of being the best is that of being better.
    board_of_two = bg.leaderboard(two, seed=3).sel(approach="bayesian")
    better = answer["probability_better"].sel(approach="bayesian").isel(pair=0)
    np.testing.assert_allclose(board_of_two["probability_best"].isel(system=0), better, atol=1e-12)
    difference = board_of_two["estimate"].isel(system=0) - board_of_two["estimate"].isel(system=1)
    np.testing.assert_allclose(difference, answer["difference"].sel(approach="bayesian").isel(pair=0), atol=1e-12)
    empty = whole.sel(approach="frequentist", subgroup="empty")
    assert np.isnan(empty["rank"]).all()
    assert np.isnan(empty["may_be_best"]).all()


def test_the_order_says_what_rests_on_the_model_alone(three: xr.Dataset) -> None:
    board = bg.leaderboard(three, seed=1).sel(subgroup="empty")
    assert int(board["items"]) == 0
    assert board["status"].values.tolist() == [["imputed"] * 3, ["undefined"] * 3]
    reasons = ["no item that all systems have: the model alone answers", "no item that all systems have"]
    assert [set(row) for row in board["reason"].values.tolist()] == [{reason} for reason in reasons]
    whole = bg.leaderboard(three, seed=1).sel(subgroup="(all)")
    assert set(whole["status"].values.ravel()) == {"ok"}
    assert set(whole["reason"].values.ravel()) == {""}
    one = pd.DataFrame({"site": list("aaab"), "new": [0.3, 0.4, 0.1, 0.2], "old": [0.1, 0.5, 0.3, 0.2]})
    single = bg.leaderboard(paired(one, ["new", "old"], metric="mean")).sel(approach="frequentist", subgroup="b")
    assert single["status"].values.tolist() == ["single"] * 2
    assert single["reason"].values.tolist() == ["one item or cluster, so no limits"] * 2
    alike = one.assign(old=[0.5, 0.5, 0.5, 0.2])
    flat = bg.leaderboard(paired(alike, ["new", "old"], metric="mean")).sel(approach="frequentist", subgroup="a")
    assert flat["lower"].sel(system="old") == flat["upper"].sel(system="old") == 0.5
    assert flat["status"].values.tolist() == ["ok", "degenerate"]
    assert "have no width and claim to know" in flat["reason"].values[1]


def test_means_where_smaller_is_better() -> None:
    rng = np.random.default_rng(9)
    rows = pd.DataFrame({"site": list("ab") * 40, "low": rng.gamma(2, 1, 80)})
    rows["high"] = rows["low"] + rng.normal(0.5, 0.3, 80)
    tally = paired(rows, ["high", "low"], metric="mean")
    answer = bg.compare_systems(tally, overall=True).isel(pair=0)
    assert (answer["probability_better"].sel(approach="bayesian", subgroup=["a", "b"]) < 0.01).all()
    paired_t = stats.ttest_rel(*(rows.loc[rows["site"] == "a", name] for name in ("high", "low")))
    reference = answer.sel(approach="frequentist", subgroup="a")
    assert float(reference["p_value"]) == pytest.approx(paired_t.pvalue)
    np.testing.assert_allclose([reference["lower"], reference["upper"]], paired_t.confidence_interval(0.95))
    bayes = answer.sel(approach="bayesian", subgroup="(all)")
    np.testing.assert_allclose(
        bayes["std_error"], answer["std_error"].sel(approach="frequentist", subgroup="(all)"), rtol=0.15
    )
    assert bg.leaderboard(tally)["rank"].sel(subgroup="(all)").values.tolist() == [[2, 1], [2, 1]]


def test_statuses_of_means() -> None:
    rows = pd.DataFrame({"site": list("aabbc"), "A": [0.5, 1.5, 1.0, 2.0, 1.0], "B": [0.0, 1.0, 0.5, 2.5, 1.0]})
    status = bg.compare_systems(paired(rows, metric="mean"))["status"].isel(pair=0)
    assert status.sel(approach="frequentist").values.tolist() == ["ok", "ok", "single", "undefined"]
    assert status.sel(approach="bayesian").values.tolist() == ["ok", "ok", "ok", "imputed"]
    same = bg.compare_systems(paired(rows.assign(A=1.0, B=1.0), metric="mean")).isel(pair=0)
    assert same["status"].sel(approach="bayesian").values.tolist() == ["undefined"] * 4
    assert same["reason"].sel(approach="bayesian").values[0] == "nothing varies between the items, so there is no error"
    holes = SITES.assign(A=SITES["A"].where(SITES.index > 2))
    reasons = bg.compare_systems(paired(holes), pooling="none")["reason"].sel(subgroup="a")
    assert set(reasons.values.ravel()) == {"3 items that one of the systems lacks left out"}


def test_letters_of_sets_that_overlap() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    assert tie_letters(better, np.array([1.0, 2.0, 3.0, 4.0])) == ["a", "ab", "bc", "c"]
    order = np.array([3, 1, 0, 2])
    assert tie_letters(better[np.ix_(order, order)], order + 1.0) == ["c", "ab", "a", "bc"]
    assert tie_letters(np.triu(np.ones((30, 30), dtype=bool), 1), np.arange(30.0))[-1] == "d1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": "some"}, r"pairs='some' is not one of 'auto', 'baseline', 'all'"),
        ({"level": 1.0}, r"level=1\.0 must lie strictly between 0 and 1"),
        ({"correction": "bh"}, r"correction='bh' is not one of 'holm', 'holm_all', 'none'"),
        ({"interval": "exact"}, r"interval='exact' is not one of 'newcombe', 'tango', 'wald'"),
        ({"pooling": "all"}, r"pooling='all' is not one of 'crossed', 'none'"),
    ],
)
def test_settings_that_do_not_exist(given: dict[str, Any], message: str, two: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.compare_systems(two, **given)


def test_bad_sources(three: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match="pooling='none' is for two systems"):
        bg.compare_systems(three, pooling="none")
    counts = bg.tally_from_counts([1, 2], [3, 4], pd.DataFrame({"site": ["a", "b"]}))
    wrong: Any = ((counts, "a tally or answer without pairs"), ("pairs.nc", "got str"))
    for source, got in wrong:
        for ask in (bg.compare_systems, bg.leaderboard):
            with pytest.raises(bg.SchemaError, match=rf"source must be a tally of systems .*bg\.paired_tally.*{got}"):
                ask(source)


def test_limits_stay_where_two_rates_can_differ() -> None:
    """Three documents have t limits of two degrees of freedom, which are far apart; two rates differ by 1 at most."""
    rows = pd.DataFrame(
        {"site": ["a"] * 6 + ["b"] * 8, "doc": np.r_[[0, 0, 1, 1, 2, 2], 3 + np.arange(8) // 2]}
        | {"A": [1, 1, 1, 1, 0, 0] + [1, 0] * 4, "B": [0, 0, 0, 0, 1, 1] + [1, 1, 0, 0] * 2}
    )
    answer = bg.compare_systems(paired(rows, cluster="doc"), seed=1)
    few = answer.sel(approach="frequentist", subgroup="a").squeeze()
    assert float(few["difference"]) == pytest.approx(1 / 3)
    assert [float(few[name]) for name in ("lower", "upper", "band_lower", "band_upper")] == [-1, 1, -1, 1]
    for name in ("lower", "upper", "band_lower", "band_upper"):
        assert (np.abs(np.nan_to_num(answer[name].values)) <= 1).all()
    whole = bg.leaderboard(paired(rows, cluster="doc"), seed=1)
    bayesian = whole.sel(approach="bayesian")
    assert float(bayesian["lower"].min()) == 0 < float(bayesian["upper"].max()) <= 1
    board = whole.sel(approach="frequentist", subgroup="a")
    assert board["lower"].values.tolist() == [0, 0]
    assert board["upper"].values.tolist() == [1, 1]
