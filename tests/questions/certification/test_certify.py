"""Optimist and pessimist: worked numbers, directions, corrections, draws, and tables at the edge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.certification import worst

WHO = pd.DataFrame({"site": ["a", "b", "c", "d"]})


def example(metric: str = "acc") -> xr.Dataset:
    return bg.tally_from_counts([90, 27, 9, 2], [100, 30, 12, 2], WHO, metric=metric)


def both(source: xr.Dataset, **settings: object) -> tuple[float, float]:
    found = bg.certify(source, **settings).isel(metric=0)  # type: ignore[arg-type]
    return float(found["optimist"]), float(found["pessimist"])


@pytest.mark.parametrize(
    ("settings", "optimist", "pessimist"),
    [
        ({"critical_value": 1.64}, 0.9492, 0.545),
        ({"interval": "wald", "correction": "bonferroni"}, 0.967242, 0.469825),
        ({"interval": "wilson"}, 0.895347, 0.425031),
        ({"interval": "clopper_pearson"}, 0.928130, 0.223607),
        ({}, 0.928130, 0.223607),
    ],
)
def test_worked_example(settings: dict[str, object], optimist: float, pessimist: float) -> None:
    assert both(example(), **settings) == pytest.approx((optimist, pessimist), abs=6e-7)


def test_the_pessimist_needs_no_correction() -> None:
    found = bg.certify(example(), interval="wald", correction="bonferroni").isel(metric=0)
    plain = bg.certify(example(), interval="wald").isel(metric=0)
    assert float(found["pessimist_uncorrected"]) == float(plain["pessimist"]) > float(found["pessimist"])
    assert found["interval_kind"] == "simultaneous"
    assert plain["interval_kind"] == "confidence"


def test_corrections_are_ordered() -> None:
    limits = [both(example(), correction=name)[0] for name in ("none", "simultaneous", "bonferroni", "holm")]
    assert limits[0] < limits[1] < limits[2] == limits[3]


@pytest.mark.parametrize(
    "settings", [{}, {"interval": "wald"}, {"correction": "simultaneous"}, {"interval": "jeffreys"}]
)
def test_errors_mirror_right_decisions(settings: dict[str, object]) -> None:
    """A false negative rate is one less a true positive rate, so both say the same of the same subgroup."""
    good = bg.certify(example("tpr"), standards=0.8, **settings).isel(metric=0)  # type: ignore[arg-type]
    counts = bg.tally_from_counts([10, 3, 3, 0], [100, 30, 12, 2], WHO, metric="fnr")
    bad = bg.certify(counts, standards=0.2, **settings).isel(metric=0)  # type: ignore[arg-type]
    for name in ("optimist", "pessimist", "worst", "optimist_unclipped", "pessimist_unclipped"):
        assert float(bad[name]) == pytest.approx(1 - float(good[name]), abs=1e-12)
    for name in ("optimist_subgroup", "pessimist_subgroup", "worst_subgroup"):
        assert bad[name] == good[name]
    np.testing.assert_allclose(bad["p_below"], good["p_below"], atol=1e-12)
    np.testing.assert_allclose(bad["p_above"], good["p_above"], atol=1e-12)
    if settings == {"interval": "jeffreys"}:
        np.testing.assert_allclose(bad["certified"], 1 - good["certified"], atol=1e-12)
        np.testing.assert_allclose(bad["probability_all"], good["probability_all"], atol=1e-12)


def test_the_direction_can_be_given() -> None:
    assert both(example("rate"), larger_is_better=True) == both(example("acc"))


@pytest.mark.parametrize("interval", ["wald", "wilson", "jeffreys", "clopper_pearson", "pooled_t", "pooled_normal"])
@pytest.mark.parametrize("correction", ["none", "bonferroni"])
def test_decisions_agree_with_limits(interval: str, correction: str) -> None:
    """A standard is certified below the pessimist's value and denied above the optimist's, and not otherwise."""
    counts = bg.tally_from_counts([90, 27, 9, 3], [100, 30, 12, 5], WHO, metric="acc")
    found = bg.certify(counts, interval=interval, correction=correction).isel(metric=0)  # type: ignore[arg-type]
    fear, hope = float(found["pessimist_uncorrected"]), float(found["optimist"])
    at = [fear - 1e-6, fear + 1e-6, hope - 1e-6, hope + 1e-6]
    decided = bg.certify(counts, interval=interval, correction=correction, standards=at).isel(metric=0)  # type: ignore[arg-type]
    assert decided["reaches"].values.tolist() == [1, 0, 0, 0]
    assert decided["misses"].values.tolist() == [0, 0, 0, 1]


def test_jeffreys_is_exact() -> None:
    found = bg.certify(example(), interval="jeffreys", standards=[0.5, 0.7]).isel(metric=0)
    np.testing.assert_allclose(found["probability_all"], [0.887949, 0.501173], atol=6e-7)
    assert float(found["certified"].sel(probability=0.95)) == pytest.approx(0.406015, abs=6e-7)
    assert float(found["certified"].sel(probability=0.5)) == pytest.approx(0.700401, abs=6e-7)


def test_a_posterior_speaks_of_the_worst_value() -> None:
    """Draws of independent Jeffreys posteriors give what is known exactly."""
    report = bg.estimate(example(), bg.NoPooling(), seed=1)
    found = bg.certify(report, standards=[0.5, 0.7]).isel(metric=0)
    np.testing.assert_allclose(found["probability_all"], [0.887949, 0.501173], atol=0.03)
    quantiles = [float(found[name]) for name in ("pessimist", "worst_median", "optimist")]
    np.testing.assert_allclose(quantiles, [0.406015, 0.700401, 0.860716], atol=0.03)
    assert float(found["certified"].sel(probability=0.95)) == float(found["pessimist"])
    assert float(found["probability_worst"].sum()) == pytest.approx(1)
    assert found["interval_kind"] == "credible"
    corrected = bg.certify(report, correction="bonferroni").isel(metric=0)
    assert float(corrected["pessimist"]) == float(found["pessimist"])
    assert corrected["interval_kind"] == "simultaneous credible"
    assert (corrected["lower"] < found["lower"]).all()


def test_pooling_lifts_the_worst_value() -> None:
    pooled = bg.certify(bg.estimate(example(), bg.PartialPooling(), seed=1)).isel(metric=0)
    alone = bg.certify(bg.estimate(example(), bg.NoPooling(), seed=1)).isel(metric=0)
    assert float(pooled["pessimist"]) > float(alone["pessimist"]) + 0.1


def test_a_bootstrap_is_max_t() -> None:
    table = pd.DataFrame({"site": list("abcdef")})
    counts = bg.tally_from_counts([900, 880, 860, 700, 4, 1], [1000, 1000, 1000, 1000, 4, 1], table, metric="acc")
    report = bg.estimate(counts, bg.NoPooling(bootstrap=2000), seed=1)
    found = bg.certify(report, using="bootstrap", correction="simultaneous", standards=[0.6, 0.9]).isel(metric=0)
    assert found["interval_method"] == "bootstrap_max_t"
    assert float(found["critical_value"]) == pytest.approx(2.39, abs=0.15)  # Sidak's for six is 2.386
    assert found["optimist_subgroup"] == "d"
    # The saturated and the single one are no certainty: they get the pooled variance.
    assert found["pessimist_subgroup"] == "f"
    assert float(found["pessimist"]) < 0.5
    assert found["misses"].values.tolist() == [0, 1]
    plain = bg.certify(report, using="bootstrap").isel(metric=0)
    assert float(plain["optimist"]) < float(found["optimist"])


def test_groups_without_a_number_are_named() -> None:
    frame = pd.DataFrame(
        {"site": ["a", "a", "b", "c"], "sex": ["f", "f", "f", "m"], "y": [1, 1, 0, 1], "said": [1, 0, 1, 1]}
    )
    counts = bg.tally(frame, by=["site", "sex"], metrics=["fnr"], y_true="y", y_pred="said")
    found = bg.certify(counts).isel(metric=0)
    assert found["left_out"] == "a | m (no rows); b | f (no positives); b | m (no rows); c | f (no rows)"
    assert int(found["groups"]) == 2
    assert found["included"].values.tolist() == [1, 0, 0, 0, 0, 1]
    assert np.isnan(found["lower"].values[1])


def test_nothing_to_ask() -> None:
    counts = bg.tally_from_counts([0, 0, 0, 0], [0, 0, 0, 0], WHO, metric="acc")
    found = bg.certify(counts, standards=0.5, interval="jeffreys").isel(metric=0)
    assert np.isnan(float(found["optimist"]))
    assert found["optimist_subgroup"] == ""
    assert int(found["reaches"][0]) == 0
    assert np.isnan(bg.certify(bg.estimate(counts, bg.NoPooling(), seed=1))["pessimist"].values).all()


def test_single_rows_and_saturated_groups_are_no_certainty() -> None:
    counts = bg.tally_from_counts([1, 20, 0, 50], [1, 20, 1, 60], WHO, metric="acc")
    raw = bg.certify(counts, critical_value=1.64).isel(metric=0)
    assert raw["status"].values.tolist() == ["degenerate", "degenerate", "degenerate", "ok"]
    assert (float(raw["optimist"]), float(raw["pessimist"])) == (0.0, 0.0)  # one wrong row condemns
    exact = bg.certify(counts).isel(metric=0)
    assert exact["status"].values.tolist() == ["single", "saturated", "single", "ok"]
    assert float(exact["optimist"]) == pytest.approx(float(exact["upper"].sel(subgroup="d")))
    assert exact["lower"].values[0] == pytest.approx(0.05)


def test_equal_groups_tie() -> None:
    counts = bg.tally_from_counts([8, 8, 8, 8], [10] * 4, WHO, metric="acc")
    found = bg.certify(counts, critical_value=1.64).isel(metric=0)
    assert found["optimist_critical"].values.tolist() == [1, 1, 1, 1]
    larger = bg.tally_from_counts([20, 8, 4, 5], [20, 8, 4, 5], WHO, metric="acc")
    tie = bg.certify(larger, interval="wald").isel(metric=0)
    assert tie["worst_subgroup"] == "c"
    assert int(tie["pessimist_critical"].sum()) == 4
    assert float(tie["pessimist_count"]) == 4


def test_two_groups_and_one() -> None:
    two = bg.tally_from_counts([90, 27], [100, 30], WHO.iloc[:2], metric="acc")
    assert both(two)[1] == pytest.approx(0.761, abs=0.005)
    one = two.isel(subgroup=[0])
    assert both(one) == both(one, correction="bonferroni") == both(one, correction="simultaneous")


def test_exact_limits_rise_with_the_metric() -> None:
    """Raw Wald limits do not: one error less lowers the limit at the top."""
    limits = [both(bg.tally_from_counts([k], [20], WHO.iloc[:1], metric="acc")) for k in range(21)]
    assert (np.diff(np.array(limits), axis=0) >= 0).all()
    top = [bg.tally_from_counts([k], [20], WHO.iloc[:1], metric="acc") for k in (19, 20)]
    raw = [float(bg.certify(one, critical_value=1.64)["optimist_unclipped"][0]) for one in top]
    assert raw[0] == pytest.approx(1.029924, abs=1e-6)
    assert raw[1] == 1.0


def test_means_and_their_direction() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"site": rng.choice(["a", "b", "c"], 600), "loss": rng.gamma(2.0, 0.1, 600)})
    frame.loc[frame["site"] == "b", "loss"] += 0.5
    counts = bg.tally(frame, by=["site"], metrics=["mean"], loss="loss")
    found = bg.certify(counts, standards=[0.5, 1.0]).isel(metric=0)
    assert found["interval_method"] == "pooled_t"
    assert found["worst_subgroup"] == found["optimist_subgroup"] == found["pessimist_subgroup"] == "b"
    assert float(found["optimist"]) < float(found["worst"]) < float(found["pessimist"])
    assert (found["misses"].values.tolist(), found["reaches"].values.tolist()) == ([1, 0], [0, 1])


def test_published_estimates() -> None:
    values = bg.tally_from_estimates([0.7, 0.8], [0.001, 0.002], WHO.iloc[:2], metric="acc")
    found = bg.certify(values, larger_is_better=True).isel(metric=0)
    assert found["interval_method"] == "pooled_normal"
    assert float(found["pessimist"]) == pytest.approx(0.7 - 1.644854 * 0.001**0.5, abs=1e-6)
    with pytest.raises(InputError, match="interval='pooled_t' needs rows"):
        bg.certify(values, interval="pooled_t")
    with pytest.raises(InputError, match="interval='wilson' is for rates; metric 'acc' is none"):
        bg.certify(values, interval="wilson")


def test_metrics_keep_their_answers_in_company() -> None:
    trials = {"acc": [100, 30, 12, 2], "fnr": [50, 10, 3, 0]}
    counts = bg.tally_from_counts({"acc": [90, 27, 9, 2], "fnr": [10, 3, 1, 0]}, trials, WHO)
    table = bg.certify(counts, correction="simultaneous", standards=[0.5, 0.6], interval="jeffreys")
    assert table["optimist"].dims == ("metric",)
    xr.testing.assert_identical(
        bg.certify(counts.sel(metric=["fnr"]), correction="simultaneous", standards=[0.5, 0.6], interval="jeffreys")[
            "lower"
        ],
        table["lower"].sel(metric=["fnr"]),
    )
    assert table["site"].dims == ("subgroup",)


def test_margins_are_asked_too() -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    counts = bg.tally_from_counts([900, 400, 95, 39], [1000, 500, 100, 40], who, metric="acc")
    found = bg.certify(counts, margins=True, correction="simultaneous").isel(metric=0)
    assert found["subgroup"].values[:4].tolist() == ["a | (all)", "b | (all)", "(all) | f", "(all) | m"]
    # Margins share rows, so that fewer than eight independent statements are made.
    few, many = (
        bg.certify(counts, margins=one, correction="simultaneous")["critical_value"][0] for one in (False, True)
    )
    assert float(few) < float(many) < 2.490914  # Sidak's for eight
    direct = bg.certify(bg.margins(counts), correction="simultaneous").isel(metric=0)
    assert float(direct["optimist"]) == float(found["optimist"])
    first = bg.certify(counts, margins=True, order=1).isel(metric=0)
    assert int(first["groups"]) == 8
    report = bg.estimate(counts, bg.PartialPooling(), seed=1)
    drawn = bg.certify(report, margins=True).isel(metric=0)
    everyone = report["posterior"].to_dataset()["mu"].isel(metric=0).mean(("chain", "draw")).values
    expected = (everyone[:2] * [1000, 500]).sum() / 1500
    assert float(drawn["estimate"].sel(subgroup="a | (all)")) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 1.0}, "level=1.0 must lie strictly between 0 and 1"),
        ({"correction": "tukey"}, "correction='tukey' is not one of"),
        ({"correction": "bonferroni", "critical_value": 1.64}, "give critical_value= or correction="),
        ({"critical_value": -1.0}, "critical value -1.0 must be larger than 0"),
        ({"interval": "wald_"}, "interval='wald_' is not one of .*; did you mean 'wald'"),
        ({"standards": [0.5, np.nan]}, "must be finite values of the metric"),
        ({"order": 1}, "order=1 is about margins; give margins=True as well"),
        ({"using": "draws"}, "using='draws' is not one of"),
        ({"using": "posterior"}, r"using='posterior' needs a report from bg.estimate\(\)"),
    ],
)
def test_settings_that_do_not_exist(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.certify(example(), **settings)  # type: ignore[arg-type]


def test_sources_that_are_none() -> None:
    with pytest.raises(SchemaError, match="expected a tally or a report of bayesgroups; got Dataset"):
        bg.certify(xr.Dataset())
    with pytest.raises(
        InputError, match="the report has no group 'bootstrap', which using='bootstrap' needs; bg.NoPooling"
    ):
        bg.certify(bg.estimate(example(), bg.NoPooling(), seed=1), using="bootstrap")


def test_draws_have_limits_of_their_own() -> None:
    report = bg.estimate(example(), bg.NoPooling(), seed=1)
    for ask in (bg.certify, bg.simultaneous_intervals):
        with pytest.raises(InputError, match="interval='wald' is for a tally; draws have limits of their own"):
            ask(report, interval="wald")
    assert float(bg.certify(report, interval="wald", using="tally")["pessimist"][0]) == pytest.approx(0.5444, abs=1e-4)


def test_a_hierarchical_posterior_as_published() -> None:
    """Mean uniform, concentration log-normal around 20: the worked numbers, by draws from a grid."""
    from scipy.special import betaln

    hits, trials = np.array([90.0, 27, 9, 2]), np.array([100.0, 30, 12, 2])
    mean, log_size = (np.linspace(0.0005, 0.9995, 500)[:, None], np.linspace(-3, 12, 400)[None, :])
    a, b = mean * np.exp(log_size), (1 - mean) * np.exp(log_size)
    log = -(((log_size - np.log(20)) / 1.5) ** 2) / 2
    for k, n in zip(hits, trials, strict=True):
        log = log + betaln(a + k, b + n - k) - betaln(a, b)
    weight = np.exp(log - log.max()).ravel()
    rng = np.random.default_rng(1)
    cell = rng.choice(weight.size, 100_000, p=weight / weight.sum())
    draws = rng.beta(a.ravel()[cell][:, None] + hits, b.ravel()[cell][:, None] + trials - hits)
    np.testing.assert_allclose(draws.mean(axis=0), [0.890, 0.881, 0.829, 0.868], atol=0.003)
    smallest = worst.of_draws(draws)
    assert worst.probability_all(smallest, np.array([0.7]))[0] == pytest.approx(0.905, abs=0.004)
    np.testing.assert_allclose(np.quantile(smallest, [0.05, 0.5, 0.95]), [0.655, 0.822, 0.896], atol=0.004)


def test_an_unusable_report_says_so(make_report: object) -> None:
    report = make_report(usable=False)  # type: ignore[operator]
    assert bg.certify(report)["usable"].values.tolist() == [0, 0]


def test_anytime_limits_are_those_that_hold_at_all_looks() -> None:
    """An end of the two-sided set, which misses with at most 5 %, is a one-sided limit; a tested standard agrees with it."""
    two_sided = bg.estimate(example(), bg.NoPooling(interval="anytime"), seed=1)["estimates"].sel(
        level=0.95, metric="acc"
    )
    expected = two_sided.sel(approach="frequentist")
    asked = bg.certify(example(), interval="anytime").isel(metric=0)
    np.testing.assert_allclose(asked["lower"], expected["lower"], atol=1e-12)
    np.testing.assert_allclose(asked["upper"], expected["upper"], atol=1e-12)
    assert float(asked["pessimist"]) < both(example())[1]
    at_limit = bg.certify(example(), interval="anytime", standards=float(asked["lower"][0])).isel(metric=0, standard=0)
    assert float(at_limit["p_above"][0]) == pytest.approx(0.05, abs=1e-9)
    assert float(at_limit["p_below"][0]) == 1
    corrected = bg.certify(example(), interval="anytime", correction="bonferroni").isel(metric=0)
    fourth = bg.certify(example(), interval="anytime", level=1 - 0.05 / 4).isel(metric=0)
    np.testing.assert_allclose(corrected["lower"], fourth["lower"], atol=1e-12)


def test_anytime_limits_of_means() -> None:
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"site": np.repeat(["a", "b"], 80), "loss": rng.gamma(2, 1, 160)})
    tally = bg.tally(rows, ["site"], ["mean"], loss="loss")
    two_sided = bg.estimate(tally, bg.NoPooling(interval="anytime"), seed=1)["estimates"].sel(level=0.95, metric="mean")
    asked = bg.certify(tally, interval="anytime").isel(metric=0)
    np.testing.assert_allclose(asked["upper"], two_sided.sel(approach="frequentist")["upper"], rtol=1e-9)
    standard = float(asked["upper"][1])
    at_limit = bg.certify(tally, interval="anytime", standards=standard).isel(metric=0, standard=0)
    assert float(at_limit["p_above"][1]) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(
    ("source", "settings", "words"),
    [
        (example(), {"critical_value": 1.64}, "interval='anytime' has no critical value of a normal law"),
        (example().assign(successes=example()["successes"] + 0.5), {}, "needs independent unweighted rows"),
        (
            bg.tally_from_counts([9, 2, 3], [12, 4, 5], pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "u"]}), metric="acc"),
            {"margins": True}, "is for subgroups that share no rows and no clusters",
        ),
        (
            bg.tally(
                pd.DataFrame({"a": list("xy") * 30, "loss": np.arange(60.0), "c": np.arange(60) // 2}), ["a"], ["mean"],
                loss="loss", cluster="c",
            ),
            {}, "rows in clusters have their interval 'anytime' from",
        ),
    ],
)  # fmt: skip
def test_what_has_no_anytime_limits_is_refused(source: xr.Dataset, settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bg.certify(source, interval="anytime", **settings)  # type: ignore[arg-type]
