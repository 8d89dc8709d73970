"""Laws of contrasts, what cannot be estimated, other kinds of metrics and sources, and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.contrasts.scales import Scale

WHO = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
NUMBERS = ("estimate", "std_error", "lower", "upper", "lower_simultaneous", "upper_simultaneous", "p_value")


def tally(k: list[int] | None = None, n: list[int] | None = None) -> xr.Dataset:
    return bg.tally_from_counts(k or [18, 30, 18, 6], n or [60, 150, 40, 25], WHO, metric="sel")


def part(answer: xr.Dataset, scale: str = "difference", approach: str = "frequentist") -> xr.Dataset:
    return answer.sel(scale=scale, approach=approach).isel(metric=0)


@pytest.fixture(scope="module")
def lacking() -> xr.DataTree:
    """A report in which nobody is a woman of race B."""
    return bg.estimate(tally([18, 30, 0, 6], [60, 150, 0, 25]), bg.PartialPooling(), seed=1)


@pytest.mark.parametrize("interval", ["auto", "score", "mid_p", "delta"])
def test_turning_a_pair_round(interval: Any) -> None:
    scales: tuple[Scale, ...] = ("difference", "ratio", "odds_ratio")
    first = bg.contrasts(tally(), "A | m", of="B | f", scale=scales, interval=interval).isel(metric=0, contrast=0)
    second = bg.contrasts(tally(), "B | f", of="A | m", scale=scales, interval=interval).isel(metric=0, contrast=0)
    for scale in scales:
        a, b = (answer.sel(scale=scale, approach="frequentist") for answer in (first, second))
        for name, mirror in (("estimate", "estimate"), ("lower", "upper"), ("upper", "lower")):
            turned = -float(b[mirror]) if scale == "difference" else 1 / float(b[mirror])
            assert float(a[name]) == pytest.approx(turned, rel=1e-9)
        assert float(a["p_value"]) == pytest.approx(float(b["p_value"]), rel=1e-9)


def test_names_may_be_a_column() -> None:
    names = pd.Series(["B | f", "B | m"])
    xr.testing.assert_identical(
        bg.contrasts(tally(), "A | m", of=names), bg.contrasts(tally(), "A | m", of=list(names))
    )
    held = pd.Series(["race"])
    xr.testing.assert_identical(
        bg.contrasts(tally(), {"sex": "m"}, within=held),
        bg.contrasts(tally(), {"sex": "m"}, within=["race"]),
    )


def test_posterior_turned_round() -> None:
    report = bg.estimate(tally(), bg.PartialPooling(), seed=1)
    first = part(bg.contrasts(report, "A | m", of="B | f"), "ratio", "bayesian").isel(contrast=0)
    second = part(bg.contrasts(report, "B | f", of="A | m"), "ratio", "bayesian").isel(contrast=0)
    assert float(first["median"] * second["median"]) == pytest.approx(1, rel=1e-3)
    assert float(first["probability_worse"] + second["probability_worse"]) == pytest.approx(1, abs=1e-9)


def test_other_names_change_nothing() -> None:
    renamed = bg.tally_from_counts(
        [6, 18, 30, 18], [25, 40, 150, 60], pd.DataFrame({"who": ["z", "y", "b", "a"]}), metric="sel"
    )
    plain = bg.tally_from_counts(
        [18, 30, 18, 6], [60, 150, 40, 25], pd.DataFrame({"who": ["1", "2", "3", "4"]}), metric="sel"
    )
    for reference in ("overall", "rest", "best"):
        first, second = (part(bg.contrasts(source, reference, simultaneous=False)) for source in (plain, renamed))
        for name in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(first[name].values, second[name].values[::-1], atol=1e-9)


@pytest.mark.parametrize("reference", ["overall", "rest", "A | m", 0.25, "(all) | m"])
@pytest.mark.parametrize("scale", ["difference", "ratio", "odds_ratio"])
def test_limits_and_p_values_agree(reference: Any, scale: Any) -> None:
    """Equality is outside the limits exactly where the p-value is below the error."""
    for level in (0.5, 0.8, 0.95, 0.99):
        answer = part(bg.contrasts(tally(), reference, scale=scale, level=level), scale)
        null = 0.0 if scale == "difference" else 1.0
        outside = ~((answer["lower"] <= null) & (null <= answer["upper"]))
        pooled = answer["interval_method"].isin(["score"])  # its limits have the factor N / (N - 1), its test has not
        near = np.abs(answer["p_value"] - (1 - level)) < 0.01
        assert (outside == (answer["p_value"] < 1 - level))[~(pooled & near)].all()


def test_same_seed_same_bytes_and_metrics_do_not_touch() -> None:
    counts = {"sel": [18, 30, 18, 6], "acc": [50, 100, 30, 20]}, {"sel": [60, 150, 40, 25], "acc": [60, 150, 40, 25]}
    both = bg.contrasts(bg.tally_from_counts(*counts, WHO), seed=3)
    xr.testing.assert_identical(both, bg.contrasts(bg.tally_from_counts(*counts, WHO), seed=3))
    alone = bg.contrasts(tally(), seed=3)
    for name in NUMBERS:
        np.testing.assert_array_equal(both[name].sel(metric="sel"), alone[name].sel(metric="sel"))


def test_saturated_rates_have_width() -> None:
    source = tally([0, 30, 0, 25], [60, 150, 40, 25])
    gap = part(bg.contrasts(source, "A | f"))
    assert (gap["upper"] > gap["lower"]).all()
    both_zero = gap.sel(contrast="B | f against A | f")
    assert float(both_zero["estimate"]) == 0
    assert float(both_zero["lower"]) < 0 < float(both_zero["upper"])
    ratio = part(bg.contrasts(source, "A | f"), "ratio")
    assert str(ratio["status"].sel(contrast="B | f against A | f").values) == "not estimable"
    assert float(ratio["estimate"].sel(contrast="A | m against A | f")) == np.inf
    assert float(ratio["upper"].sel(contrast="A | m against A | f")) == np.inf
    assert float(ratio["lower"].sel(contrast="A | m against A | f")) > 1


def test_a_side_without_rows(lacking: xr.DataTree) -> None:
    answer = bg.contrasts(lacking, "A | m")
    for approach in ("bayesian", "frequentist"):
        empty = part(answer, approach=approach).sel(contrast="B | f against A | m")
        assert (str(empty["status"].values), str(empty["reason"].values)) == (
            "not estimable",
            "no rows that count on the side of B | f",
        )
        assert np.isnan(empty["estimate"])
    taken = bg.contrasts(lacking, "A | m", imputed="include")
    bayesian, frequentist = (
        part(taken, approach=approach).sel(contrast="B | f against A | m") for approach in ("bayesian", "frequentist")
    )
    assert (str(bayesian["status"].values), float(bayesian["imputed_share"])) == ("imputed", 1.0)
    assert np.isfinite(bayesian["estimate"])
    assert str(frequentist["status"].values) == "not estimable"
    against_empty = part(bg.contrasts(lacking, "B | f"))
    assert (against_empty["status"] == "not estimable").all()
    assert str(bg.contrasts(lacking)["left_out"].values[0]) == "B | f (no rows)"


def test_the_best_of_a_metric_that_no_subgroup_has() -> None:
    """Nobody is positive, so that there is no false negative rate and no best one."""
    people = WHO.loc[WHO.index.repeat(10)].assign(sick=0, alarm=[0, 1] * 20)
    both = bg.tally(people, ["race", "sex"], ["fnr", "sel"], y_true="sick", y_pred="alarm", positive=1)
    report = bg.estimate(both, bg.PartialPooling(), seed=1)
    for answer in (bg.contrasts(report, "best"), bg.impact_ratios(report)):
        assert (answer["status"].sel(metric="fnr") == "not estimable").all()
        assert np.isnan(answer["lower"].sel(metric="fnr")).all()
        assert np.isfinite(answer["lower"].sel(metric="sel")).all()


def test_strata_that_lack_a_side(lacking: xr.DataTree) -> None:
    answer = bg.contrasts(lacking, {"sex": "m"}, within="race")
    for approach in ("bayesian", "frequentist"):
        equal = part(answer, approach=approach).isel(contrast=0)
        assert float(equal["overlap_share"]) == pytest.approx(210 / 235)
        alone = part(answer, approach=approach).isel(contrast=1)
        assert float(equal["estimate"]) == pytest.approx(float(alone["estimate"]), abs=1e-12)
    taken = part(bg.contrasts(lacking, {"sex": "m"}, within="race", imputed="include"), approach="bayesian").isel(
        contrast=0
    )
    assert float(taken["overlap_share"]) == 1
    assert float(taken["imputed_share"]) == pytest.approx(25 / 235)
    nobody = tally([18, 0, 0, 6], [60, 0, 0, 25])
    none = part(bg.contrasts(nobody, {"sex": "m"}, within="race")).isel(contrast=0)
    assert str(none["reason"].values) == "no stratum has rows of both sex=f and sex=m"


def test_population_weighs_strata_and_everyone() -> None:
    people = WHO.assign(count=[10, 20, 300, 400])
    equal = part(bg.contrasts(tally(), {"sex": "m"}, within="race", population=people)).isel(contrast=0)
    assert float(equal["estimate"]) == pytest.approx(30 / 730 * 0.1 + 700 / 730 * 0.21, abs=1e-12)
    overall = np.array([10, 20, 300, 400]) @ np.array([0.3, 0.2, 0.45, 0.24]) / 730
    gap = part(bg.contrasts(tally(), population=people.iloc[::-1]))
    np.testing.assert_allclose(gap["estimate"], np.array([0.3, 0.2, 0.45, 0.24]) - overall, atol=1e-12)
    missing = part(bg.contrasts(tally([18, 30, 18, 0], [60, 150, 40, 0]), population=people)).isel(contrast=0)
    assert float(missing["overlap_share"]) == pytest.approx(330 / 730)


def test_means_have_welchs_interval() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"site": np.repeat(["a", "b", "c"], [9, 30, 14]), "loss": rng.gamma(2.0, 1.0, 53)})
    source = bg.tally(frame, by="site", metrics=["mean"], loss="loss", larger_is_better=False)
    answer = bg.contrasts(source, "a", scale="difference")
    parts = [frame.loc[frame["site"] == site, "loss"] for site in ("b", "a")]
    test = stats.ttest_ind(*parts, equal_var=False)
    expected = test.confidence_interval(0.95)
    first = part(answer).isel(contrast=0)
    assert [float(first["lower"]), float(first["upper"])] == pytest.approx([expected.low, expected.high], abs=1e-9)
    assert float(first["p_value"]) == pytest.approx(test.pvalue, abs=1e-9)
    assert str(first["interval_method"].values) == "welch"
    assert str(answer["worse_is"].values.ravel()[0]) == "above 0"


def test_metrics_that_are_no_means_of_cells() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"site": np.tile(["a", "b", "c"], 60), "y": rng.integers(0, 2, 180), "score": rng.random(180)})
    source = bg.tally(frame, by="site", metrics=["auc"], y_true="y", y_score="score")
    everyone = part(bg.contrasts(source))
    assert (everyone["status"] == "not estimable").all()
    assert "no mean of subgroups" in str(everyone["reason"].values[0])
    pair = part(bg.contrasts(source, "a")).isel(contrast=0)
    variance = source["sampling_variance"].values[0]
    assert float(pair["estimate"]) == pytest.approx(float(source["estimate"][0, 1] - source["estimate"][0, 0]))
    assert float(pair["std_error"]) == pytest.approx(float(np.sqrt(variance[:2].sum())), rel=0.3)
    assert str(pair["interval_method"].values) == "normal"


def test_published_estimates_need_a_population() -> None:
    who = pd.DataFrame({"site": ["a", "b", "c"]})
    source = bg.tally_from_estimates([0.2, 0.3, 0.5], [0.01, 0.02, 0.04], who, metric="error", lower=0.0)
    assert (part(bg.contrasts(source))["status"] == "not estimable").all()
    gap = part(bg.contrasts(source, population=who.assign(count=[1, 1, 2])))
    np.testing.assert_allclose(gap["estimate"], np.array([0.2, 0.3, 0.5]) - 0.375, atol=1e-12)
    pair = part(bg.contrasts(source, "a")).isel(contrast=0)
    assert float(pair["std_error"]) == pytest.approx(np.sqrt(0.03))
    assert part(bg.contrasts(source, "best"), "ratio")["estimate"].values.tolist() == pytest.approx([2 / 3, 1.5, 2.5])


def test_margins_as_a_source_and_as_a_setting() -> None:
    first, second = bg.contrasts(tally(), margins=True), bg.contrasts(bg.margins(tally()))
    xr.testing.assert_allclose(first, second)
    assert first["subgroup"].values.tolist() == [
        "A | (all)", "B | (all)", "(all) | f", "(all) | m", "A | f", "A | m", "B | f", "B | m",
    ]  # fmt: skip
    few = bg.contrasts(bg.tally_from_counts([1] * 8, [9] * 8, _eight(), metric="sel"), margins=True, order=1)
    assert len(few["contrast"]) == 6 + 8
    women = part(bg.contrasts(tally(), "(all) | m", of="(all) | f")).isel(contrast=0)
    assert float(women["estimate"]) == pytest.approx(0.36 - 36 / 175, abs=1e-12)


def _eight() -> pd.DataFrame:
    return pd.DataFrame([(a, b, c) for a in "xy" for b in "st" for c in "pq"], columns=["a", "b", "c"])


def test_bootstrap_of_a_report() -> None:
    report = bg.estimate(tally(), bg.NoPooling(bootstrap=2000), seed=1)
    answer = part(bg.contrasts(report, "A | m"))
    assert set(answer["interval_method"].values) == {"bootstrap_percentile"}
    exact = part(bg.contrasts(report, "A | m", using="tally"))
    np.testing.assert_allclose(answer["std_error"], exact["std_error"], rtol=0.1)
    assert bg.contrasts(report, using="posterior")["approach"].values.tolist() == ["bayesian"]
    with pytest.raises(InputError, match="reference='best' has no bootstrap"):
        bg.contrasts(report, "best", using="bootstrap")


def test_clusters_count_as_means() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"site": np.repeat(["a", "b"], 60), "person": np.arange(120) // 4})
    frame["y"] = rng.integers(0, 2, 120)
    frame["pred"] = np.repeat(rng.integers(0, 2, 30), 4)
    source = bg.tally(frame, by="site", metrics=["sel"], y_pred="pred", cluster="person")
    independent = bg.tally(frame, by="site", metrics=["sel"], y_pred="pred")
    errors = [float(part(bg.contrasts(x, "a"))["std_error"][0]) for x in (source, independent)]
    assert errors[0] > 1.5 * errors[1]


def overlapping(report: xr.DataTree, *, weight: bool = True) -> xr.DataTree:
    """A report whose subgroups are targets: all, and each sex, as weighted sums of the cells of another one."""
    shares = np.array([[60, 150, 40, 25], [60, 0, 40, 0], [0, 150, 0, 25]], dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    targets = ["all", "sex=f", "sex=m"]
    mu = report["posterior"]["mu"].values @ shares.T
    cells = report["estimates"].to_dataset().sel(approach="frequentist", metric="sel")
    estimate = shares @ cells["estimate"].values
    half = np.sqrt(shares**2 @ ((cells["upper"] - cells["estimate"]).values ** 2))
    names = {
        "approach": ["bayesian", "frequentist"],
        "metric": ["sel"],
        "subgroup": targets,
        "level": cells["level"].values,
    }
    both = np.stack([estimate, estimate])[:, None]
    limits = [np.stack([estimate[:, None] + side * half] * 2)[:, None] for side in (-1, 1)]
    dims = ("approach", "metric", "subgroup")
    table = xr.Dataset(
        {
            "estimate": (dims, both), "std_error": (dims, both * 0.1), "lower": ((*dims, "level"), limits[0]),
            "upper": ((*dims, "level"), limits[1]), "interval_kind": (("approach", "metric"), [["credible"], ["confidence"]]),
            "interval_method": (("approach", "metric"), [["equal_tailed"], ["mover"]]),
            "status": (dims, np.full(both.shape, "ok")),
        },
        names,
    )  # fmt: skip
    constant = xr.Dataset(
        {
            "estimate": (("metric", "subgroup"), both[0]), "count": (("metric", "subgroup"), both[0] * 0 + 100),
            "status": (("metric", "subgroup"), np.full((1, 3), "ok")), "kind": ("metric", ["rate"]),
            "range_lower": ("metric", [0.0]), "larger_is_better": ("metric", [True]),
        },
        {"metric": ["sel"], "subgroup": targets},
    )  # fmt: skip
    if weight:
        constant["weight"] = (("metric", "subgroup", "cell"), shares[None])
    posterior = xr.Dataset(
        {"mu": (("chain", "draw", "metric", "subgroup"), mu)}, {"metric": ["sel"], "subgroup": targets}
    )
    tree = xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "estimates": table,
            "diagnostics": report["diagnostics"].to_dataset(),
            "constant_data": constant,
        }
    )
    tree.attrs = {**report.attrs, "overlapping": 1, "poststratified": 1}
    return tree


def test_targets_of_a_population() -> None:
    source = bg.estimate(tally(), bg.NoPooling(), seed=1)
    report = overlapping(source)
    answer = bg.contrasts(report, "sex=m")
    plain = bg.contrasts(source, {"sex": "m"}, thresholds={"ratio": (0.8,)})
    women = part(answer, approach="bayesian").sel(contrast="sex=f against sex=m")
    crude = part(plain, approach="bayesian").isel(contrast=0)
    for name in ("estimate", "lower", "upper", "probability_worse"):
        assert float(women[name]) == pytest.approx(float(crude[name]), abs=1e-9)
    frequentist = part(answer)
    assert str(frequentist["status"].sel(contrast="sex=f against sex=m").values) == "ok"
    assert float(frequentist["lower"].sel(contrast="sex=f against sex=m")) > 0
    shared = frequentist.sel(contrast="all against sex=m")
    assert str(shared["reason"].values) == "the two share people, and the report has no covariance of their estimates"
    everyone = bg.contrasts(report)
    assert everyone["contrast"].values.tolist() == ["sex=f against all", "sex=m against all"]
    assert (part(everyone, approach="bayesian")["status"] == "ok").all()
    without = part(bg.contrasts(overlapping(source, weight=False), "sex=m"))
    assert (without["status"] == "not estimable").all()
    number = part(bg.contrasts(report, 0.25), "ratio")
    assert (number["status"] == "ok").all()
    assert (part(bg.contrasts(report, 0.25, level=0.77))["status"] == "not estimable").all()
    assert part(bg.contrasts(report, "best"), approach="bayesian")["probability_best"].sum() == pytest.approx(1)


def test_a_target_with_bounds_alone_is_not_said_to_have_no_rows() -> None:
    cells = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
    source = bg.estimate(
        bg.tally_from_counts([18, 30, 18, 0], [60, 150, 40, 0], cells, metric="sel"), bg.NoPooling(), seed=1
    )
    targets = bg.poststratify(source, cells.assign(count=[10, 10, 10, 10]), by=["race"])
    answer = bg.contrasts(targets, "all").sel(metric="sel", scale="difference")
    assert answer["reason"].sel(approach="frequentist").values.tolist() == [
        "no estimate of all: 25% of the people without rows", "no estimate of race=B: 50% of the people without rows",
    ]  # fmt: skip
    assert answer["status"].sel(approach="bayesian").values.tolist() == ["ok", "ok"]
    vector = bg.contrasts(targets, contrasts={"gap": {"race=A": 1, "race=B": -1}}).sel(metric="sel", scale="difference")
    assert vector["reason"].sel(approach="frequentist").values.tolist() == [
        "no estimate of gap: 50% of the people without rows"
    ]


def test_targets_refuse_what_they_do_not_hold() -> None:
    report = overlapping(bg.estimate(tally(), bg.NoPooling(), seed=1))
    for settings, words in (
        ({"within": "race"}, "leave within= out"),
        ({"margins": True}, "leave margins= out"),
        ({"using": "tally"}, "using='tally' is not in a report of overlapping subgroups"),
        ({"reference": "rest"}, "those of this report overlap"),
        ({"reference": {"sex": "m"}}, "reference by levels"),
    ):
        with pytest.raises(InputError, match=words):
            bg.contrasts(report, **settings)
    del report["posterior"]
    with pytest.raises(InputError, match="no group 'posterior'"):
        bg.contrasts(report, using="posterior")
    renamed = report.map_over_datasets(
        lambda data: data.assign_coords(subgroup=["x", "y", "z"]) if "subgroup" in data.dims else data
    )
    renamed.attrs = report.attrs
    with pytest.raises(InputError, match="needs the target 'all'"):
        bg.contrasts(renamed)
    signed = overlapping(bg.estimate(tally(), bg.NoPooling(), seed=1))
    signed["constant_data"]["range_lower"] = xr.DataArray([-1.0], dims="metric")
    with pytest.raises(InputError, match="'sel' can be below 0"):
        bg.contrasts(signed)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"reference": "A | x"}, "reference=: no subgroup is called 'A | x'; did you mean 'A | m'"),
    ({"of": ["Z"]}, "of=: no subgroup is called 'Z'"),
    ({"of": []}, "of= leaves nothing to compare"),
    ({"reference": "A | m", "of": "A | m"}, "is every subgroup that is compared, and leaves nothing"),
    ({"reference": {"sexe": "m"}}, "there is no attribute 'sexe'; did you mean 'sex'"),
    ({"reference": {"sex": "x"}}, "attribute 'sex' has no level 'x'"),
    ({"reference": {}}, "has no levels, and leaves nothing to compare"),
    ({"reference": {"sex": "m"}, "within": "sex"}, "within= has the attribute 'sex', which reference="),
    ({"reference": {"sex": "m"}, "within": "age"}, "within=: there is no attribute 'age'"),
    ({"reference": {"sex": "m"}, "of": "x"}, "of=: 'x' is not one of"),
    ({"within": "race"}, "within=.* needs a reference by levels"),
    ({"reference": float("nan")}, "must be a finite value of the metric"),
    ({"reference": None}, "reference=None is not a label"),
    ({"reference": "best", "margins": True}, "reference='best' is of subgroups that share no rows"),
    ({"order": 1}, "order=1 is about margins"),
    ({"order": 0, "margins": True}, "order=0 must be 1 or larger"),
    ({"scale": "risk"}, "scale='risk' does not exist"),
    ({"scale": ()}, "scale= must name at least one"),
    ({"thresholds": {"risk": (0.8,)}}, "thresholds= has no scale 'risk'"),
    ({"thresholds": {"ratio": (0.0,)}}, "thresholds= of 'ratio' has 0.0, which must be finite, and larger than 0"),
    ({"thresholds": {"ratio": (1.0,)}}, "which is equality: probability_worse answers that"),
    ({"interval": "wald"}, "interval='wald' is not one of"),
    ({"level": 1.0}, "level=1.0 must lie strictly between 0 and 1"),
    ({"using": "draws"}, "using='draws' is not one of"),
    ({"imputed": "drop"}, "imputed='drop' is not one of"),
    ({"contrasts": {}}, "contrasts= leaves nothing to compare"),
    ({"contrasts": {"x": {"A | f": 1, "A | m": -0.5}}}, "coefficients of 'x' must sum to 0; they sum to 0.5"),
    ({"contrasts": {"x": {"A | f": 0.0}}}, "must have finite coefficients, not all 0"),
    ({"contrasts": {"x": {"A | f": 1, "Q": -1}}}, "contrasts= 'x': no subgroup is called 'Q'"),
    ({"population": [1, 2]}, "population= must be a DataFrame with the columns"),
    ({"population": WHO}, "population= lacks the column 'count'"),
    ({"population": WHO.assign(count=-1)}, "numbers that are 0 or larger"),
    ({"population": WHO.assign(count=1, race="C")}, "population=: attribute 'race' has no level 'C'"),
    ({"population": pd.concat([WHO, WHO]).assign(count=1)}, "population= has two rows for 'A | f'"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSALS)
def test_refusals(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bg.contrasts(tally(), **settings)


def test_refusals_of_sources() -> None:
    with pytest.raises(SchemaError, match="expected a tally or a report"):
        bg.contrasts(xr.Dataset())
    who = pd.DataFrame({"site": ["a", "b"]})
    signed = bg.tally_from_estimates([0.2, 0.3], [0.01, 0.02], who, metric="gain")
    with pytest.raises(InputError, match="metric 'gain' can be below 0"):
        bg.contrasts(signed, "a")
    positive = bg.tally_from_estimates([0.2, 0.3], [0.01, 0.02], who, metric="loss", lower=0.0)
    with pytest.raises(InputError, match="metric 'loss' is no rate, so it has no odds ratio"):
        bg.contrasts(positive, "a", scale="odds_ratio")
    frame = pd.DataFrame({"site": ["a", "b"] * 10, "y": [0, 1, 1, 0] * 5, "d": [0, 1] * 10})
    conditional = bg.tally(frame, by="site", metrics=["fnr"], y_true="y", y_pred="d")
    with pytest.raises(
        InputError, match=r"population= counts people, and metric 'fnr' looks at some of them only \(10 of 20"
    ):
        bg.contrasts(conditional, population=who.assign(count=[1, 2]))
    with pytest.raises(InputError, match="no subgroup is called 'A'"):
        bg.contrasts(tally(), "A")
