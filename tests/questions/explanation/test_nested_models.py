"""Goodness of fit: the worked example, ranks, another implementation, size, invariance, and what has no answer."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xarray as xr
from scipy import stats
from statsmodels.stats.multitest import multipletests

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.features import feature_matrix
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.certification.multiplicity import adjust

# Realised sizes of a published evaluation set of 5,000 admissions (Herlihy et al. 2024).
SIZES = (2, 3, 3, 5, 5, 6, 6, 9, 15, 18, 19, 20, 21, 23, 27, 28, 31, 34, 58, 66, 80, 94, 153, 157, 202, 244, 330,
         432, 482, 525, 946, 956)  # fmt: skip
SENSITIVE = "race + gender + age"
EXPLANATORY = "x0 + x1 + x2 + x3 + x4 + y0 + y1"


def crossed(**levels: str) -> pd.DataFrame:
    return pd.DataFrame(list(itertools.product(*levels.values())), columns=list(levels))


def worked() -> xr.Dataset:
    """Six subgroups, worked out by hand; the row variance is given."""
    subgroups = crossed(race="01", age="012")
    count = np.array([[30.0, 25, 20, 12, 8, 5]])
    z = [0.20, 0.24, 0.33, 0.28, 0.36, 0.38]
    tally = bg.tally_from_estimates(z, 0.19 / count[0], subgroups, metric="fnr", lower=0, upper=1)
    return tally.assign(
        count=(("metric", "subgroup"), count),
        rows=("subgroup", count[0]),
        pooled_variance=("metric", [0.19]),
        pooled_df=("metric", [94.0]),
    )


def diabetes_like(seed: int = 1, features: bool = True) -> xr.Dataset:
    """A 4 x 4 x 2 design with five explanatory features and two outcome rates that sum to one."""
    rng = np.random.default_rng(seed)
    subgroups = crossed(race="abcd", age="wxyz", gender="fm")
    sizes = rng.permutation(SIZES)
    tally = bg.tally_from_counts(rng.binomial(sizes, 0.27), sizes, subgroups, metric="sel")
    if not features:
        return tally
    y = rng.random((32, 1))
    means = np.concatenate([rng.normal(5, 2, (32, 5)), y, 1 - y], axis=1)
    names = ["x0", "x1", "x2", "x3", "x4", "y0", "y1"]
    return tally.assign(feature_mean=(("subgroup", "feature"), means)).assign_coords(feature=names)


@pytest.mark.parametrize("weights", ["count", "precision"])
def test_worked_example(weights: str) -> None:
    found = bg.goodness_of_fit(worked(), ["1", "race", "race + age"], weights=weights).sel(metric="fnr")  # type: ignore[arg-type]
    unit = 1.0 if weights == "count" else 0.19
    np.testing.assert_allclose(found["rss"] * unit, [0.367324, 0.254416, 0.012493], atol=5e-7)
    assert found["rank"].values.tolist() == [1, 2, 4]
    np.testing.assert_allclose(found["f"], [1.775171, 19.365393], atol=5e-7)
    np.testing.assert_allclose(found["p_value"], [0.253581, 0.049103], atol=5e-7)
    assert found["df1"].values.tolist() == [1, 2]
    assert found["df2"].values.tolist() == [4, 2]
    second = found.isel(comparison=1)
    expected = {"chi_square": 1.273281, "chi_square_p_value": 0.529067, "pure_error_f": 0.636641,
                "pure_error_df1": 2, "pure_error_df2": 94, "pure_error_p_value": 0.531332}  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_allclose(second[name], value, atol=5e-7, err_msg=name)
    np.testing.assert_allclose(found["p_value_holm"], [0.253581, 0.098205], atol=2e-6)
    assert found["comparison"].values.tolist() == ["1 -> race", "race -> race + age"]
    assert found["reason"].values.tolist() == ["", ""]
    assert (int(found["subgroups"]), int(found["dropped"])) == (6, 0)
    assert found.attrs == {"weights": weights}


def test_ranks_of_the_diabetes_design() -> None:
    tally = diabetes_like()
    outcome = "y0:race + y0:age + y0:gender + y1:race + y1:age + y1:gender"
    both = f"{EXPLANATORY} + {SENSITIVE}"
    found = bg.goodness_of_fit(tally, ["1", EXPLANATORY, both, f"{both} + {outcome}"])
    assert found["rank"].values[0].tolist() == [1, 7, 14, 21]
    assert found["df2"].values[0].tolist() == [25, 18, 11]
    assert bg.goodness_of_fit(tally, ["1", SENSITIVE])["rank"].values[0].tolist() == [1, 8]
    age, race = f"{EXPLANATORY} + age", f"{EXPLANATORY} + race"
    chain = bg.goodness_of_fit(tally, ["1", age, f"{age} + race", f"{age} + race + age:race"])
    assert chain["rank"].values[0].tolist() == [1, 10, 13, 22]
    assert chain["df2"].values[0].tolist() == [22, 19, 10]
    assert bg.goodness_of_fit(tally, [race, f"{race} + age"])["rank"].values[0].tolist() == [10, 13]


def columns(tally: xr.Dataset, formula: str) -> FloatArray:
    """Full-rank columns with an intercept: the first level of each attribute left out."""
    found = feature_matrix(tally, formula, identities=False)
    first = ("race[a]", "age[w]", "gender[f]")
    kept = [not any(level in name.split(":") for level in first) for name in found.names]
    return np.asarray(sm.add_constant(found.values[:, kept]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_statsmodels_agrees(seed: int) -> None:
    tally = diabetes_like(seed)
    formulas = ["1", "race", "race + age + x0", "race + age + x0 + race:age"]
    found = bg.goodness_of_fit(tally, formulas, weights="count").sel(metric="sel")
    z, count = tally["estimate"].values[0], tally["count"].values[0]
    designs = [np.ones((32, 1)), *(columns(tally, formula) for formula in formulas[1:])]
    fits = [sm.WLS(z, design, weights=count).fit() for design in designs]
    for j, (small, large) in enumerate(itertools.pairwise(fits)):
        f, p, df1 = large.compare_f_test(small)
        np.testing.assert_allclose(found["f"][j], f, rtol=1e-9)
        np.testing.assert_allclose(found["p_value"][j], p, rtol=1e-9)
        assert (float(found["df1"][j]), float(found["df2"][j])) == (df1, large.df_resid)
        np.testing.assert_allclose(found["rss"][j + 1], large.ssr, rtol=1e-9)
    drop = found["rss"].values[:-1] - found["rss"].values[1:]
    chi = drop / float(tally["pooled_variance"][0])
    np.testing.assert_allclose(found["chi_square"], chi, rtol=1e-9)
    np.testing.assert_allclose(found["chi_square_p_value"], stats.chi2.sf(chi, found["df1"]), rtol=1e-9)
    freedom = count.sum() - 32
    assert found["pure_error_df2"].values.tolist() == [freedom] * 3
    expected = stats.f.sf(found["pure_error_f"], found["df1"], freedom)
    np.testing.assert_allclose(found["pure_error_p_value"], expected, rtol=1e-9)
    raw = found["p_value"].values
    np.testing.assert_allclose(found["p_value_holm"], multipletests(raw, method="holm")[1], rtol=1e-12)


def test_holm_goes_through_ties_and_gaps() -> None:
    p = np.array([[0.01, np.nan, 0.04], [0.04, 0.9, 0.5]])
    known = np.isfinite(p)
    np.testing.assert_allclose(adjust(p, "holm")[known], multipletests(p[known], method="holm")[1])
    assert np.isnan(adjust(p, "holm")[~known]).all()
    assert adjust(np.array([]), "holm").tolist() == []


def test_holm_counts_every_metric_of_the_call() -> None:
    tally = diabetes_like()
    twice = xr.concat([tally, tally.assign_coords(metric=["again"])], "metric", data_vars="minimal")
    alone, both = (bg.goodness_of_fit(one, ["1", "race"]) for one in (tally, twice))
    np.testing.assert_allclose(both["p_value"], np.repeat(alone["p_value"], 2, axis=0))
    np.testing.assert_allclose(both["p_value_holm"], np.minimum(2 * both["p_value"], 1))


def test_tests_hold_their_size() -> None:
    """Rows alike in all subgroups; published sizes at .05 are .042 (F) and .057 (pure error)."""
    rng, replications = np.random.default_rng(7), 1000
    subgroups, sizes = crossed(race="abcd", age="wxyz", gender="fm"), np.array(SIZES)
    drawn = rng.binomial(sizes, 0.27, size=(replications, 32))
    names = [str(i) for i in range(replications)]
    tally = bg.tally_from_counts(dict(zip(names, drawn, strict=True)), dict.fromkeys(names, sizes), subgroups)
    found = bg.goodness_of_fit(tally, ["1", "race"])
    for name in ("p_value", "pure_error_p_value", "chi_square_p_value"):
        size = float((found[name] < 0.05).mean())
        assert abs(size - 0.05) < 3 * np.sqrt(0.05 * 0.95 / replications), name


def same(first: xr.Dataset, second: xr.Dataset) -> None:
    for name in ("f", "df1", "df2", "p_value", "chi_square", "pure_error_p_value", "rss", "rank"):
        np.testing.assert_allclose(second[name].values, first[name].values, rtol=1e-8, err_msg=name)


def test_the_order_of_subgroups_and_the_names_of_levels_do_not_matter() -> None:
    tally, formulas = diabetes_like(), ["1", "race + x0", "race * age + x0"]
    found = bg.goodness_of_fit(tally, formulas)
    same(found, bg.goodness_of_fit(tally.isel(subgroup=np.random.default_rng(2).permutation(32)), formulas))
    renamed = tally.assign_coords(race=("subgroup", [f"level {level}" for level in tally["race"].values[::-1]][::-1]))
    same(found, bg.goodness_of_fit(renamed, formulas))


def test_redundant_columns_and_units_do_not_matter() -> None:
    tally = diabetes_like()
    found = bg.goodness_of_fit(tally, ["y0", "race + y0"])
    same(found, bg.goodness_of_fit(tally, ["y0 + y1", "race + y0 + y1"]))
    scaled = tally.assign(feature_mean=tally["feature_mean"] * 1e6 + 1e6)
    same(found, bg.goodness_of_fit(scaled, ["y0", "race + y0"]))
    crossed_too = bg.goodness_of_fit(tally, ["race", "race:age"])
    same(crossed_too, bg.goodness_of_fit(tally, ["race", "race * age"]))


def test_rates_scale_out() -> None:
    tally = worked()
    double = tally.assign(
        estimate=2 * tally["estimate"] + 1,
        sampling_variance=4 * tally["sampling_variance"],
        pooled_variance=4 * tally["pooled_variance"],
    )
    first, second = (bg.goodness_of_fit(one, ["1", "race"]) for one in (tally, double))
    np.testing.assert_allclose(second["p_value"], first["p_value"], rtol=1e-9)
    np.testing.assert_allclose(second["chi_square"], first["chi_square"], rtol=1e-9)


def test_undefined_subgroups_leave_both_models_and_are_counted() -> None:
    tally = diabetes_like()
    hole = tally.copy(deep=True)
    for name in ("estimate", "sampling_variance"):
        hole[name][0, [0, 5]] = np.nan
    hole["count"][0, [0, 5]] = 0
    found = bg.goodness_of_fit(hole, ["1", "race", "race + x1"])
    assert (int(found["subgroups"][0]), int(found["dropped"][0])) == (30, 2)
    same(
        found,
        bg.goodness_of_fit(tally.isel(subgroup=[i for i in range(32) if i not in {0, 5}]), ["1", "race", "race + x1"]),
    )


def test_outcome_rates_are_features_of_rows() -> None:
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({
        "race": rng.choice(list("abc"), 600), "age": rng.choice(list("xyz"), 600), "readmitted": rng.random(600) < 0.3,
        "chosen": rng.integers(0, 2, 600),
    })  # fmt: skip
    tally = bg.tally(
        rows, by=["race", "age"], metrics=["sel", "fnr"], y_true="readmitted", y_pred=None, y_score="chosen",
        threshold=0.5, features=["readmitted"],
    )  # fmt: skip
    found = bg.goodness_of_fit(tally, {"none": "1", "expl": "readmitted", "all": "readmitted + age + readmitted:age"})
    assert found["rank"].values.tolist() == [[1, 2, 6]] * 2
    assert found["model"].values.tolist() == ["none", "expl", "all"]
    assert found["formula"].sel(model="expl").item() == "readmitted"
    rates = bg.tally(rows, by=["race", "age"], metrics=["mean"], loss="readmitted", features=["readmitted"])
    exact = bg.goodness_of_fit(rates, ["1", "readmitted"])
    assert exact["reason"].item() == "exact fit"
    assert exact["f"].item() == np.inf
    assert exact["p_value"].item() == 0


def test_one_row_per_cluster_and_subgroup_makes_clusters_the_count() -> None:
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"site": np.repeat(["a", "b", "c"], 40), "person": np.repeat(np.arange(12), 10)})
    rows["loss"] = rng.normal(size=12)[rows["person"]] + 0.01 * rng.normal(size=120)
    means = rows.groupby(["site", "person"], as_index=False)["loss"].mean()
    by_row, by_person = (bg.tally(one, by=["site"], metrics=["mean"], loss="loss") for one in (rows, means))
    assert by_person["count"].values[0].tolist() == [4, 4, 4]
    p_row, p_person = (bg.goodness_of_fit(one, ["1", "site"])["pure_error_p_value"] for one in (by_row, by_person))
    expected = stats.f_oneway(*(part["loss"] for _, part in means.groupby("site")))
    np.testing.assert_allclose(p_person, expected.pvalue)
    assert float(p_row[0, 0]) < float(p_person[0, 0])


def test_what_has_no_answer_says_why() -> None:
    tally = worked()
    saturated = bg.goodness_of_fit(tally, ["race", "race * age"]).isel(metric=0, comparison=0)
    assert saturated["reason"].item() == "no residual degrees of freedom"
    assert np.isnan(saturated["f"])
    assert np.isnan(saturated["p_value"])
    assert np.isfinite(saturated["chi_square_p_value"])
    assert saturated["df2"] == 0
    same_space = bg.goodness_of_fit(tally, ["race:age", "race:age + race"]).isel(metric=0, comparison=0)
    assert same_space["reason"].item() == "no new directions"
    assert np.isnan(same_space["chi_square"])
    level = tally.assign(estimate=tally["estimate"] * 0 + 0.3)
    flat = bg.goodness_of_fit(level, ["1", "race"]).isel(metric=0, comparison=0)
    assert flat["reason"].item() == "both models fit exactly"
    assert np.isnan(flat["f"])
    assert flat["chi_square"] == pytest.approx(0, abs=1e-20)
    nothing = tally.assign(estimate=tally["estimate"] * np.nan)
    nobody = bg.goodness_of_fit(nothing, ["1", "race"]).isel(metric=0, comparison=0)
    assert nobody["reason"].item() == "no subgroup is defined"
    assert nobody["dropped"] == 6
    known = tally.assign(sampling_variance=tally["sampling_variance"] * 0, pooled_variance=tally["pooled_variance"] * 0)
    sure = bg.goodness_of_fit(known, ["1", "race"]).isel(metric=0, comparison=0)
    assert sure["reason"].item() == "a sampling variance is 0"
    assert np.isnan(sure["rank"].isel(model=0))
    counted = bg.goodness_of_fit(known, ["1", "race"], weights="count").isel(metric=0, comparison=0)
    assert counted["reason"].item() == "no sampling noise to compare with"
    assert counted["p_value"] == pytest.approx(0.253581, abs=1e-6)


def test_published_estimates_have_no_pure_error() -> None:
    tally = bg.tally_from_estimates([0.1, 0.2, 0.4, 0.3], [0.01] * 4, crossed(race="ab", sex="fm"))
    found = bg.goodness_of_fit(tally, ["1", "race"]).isel(metric=0, comparison=0)
    assert found["reason"].item() == "no degrees of freedom for pure error"
    assert found["chi_square"] == pytest.approx(4.0)  # two means of two, .2 apart: .04 / (.01 / 2 + .01 / 2)
    with pytest.raises(InputError, match="needs denominators, which published estimates lack"):
        bg.goodness_of_fit(tally, ["1", "race"], weights="count")


@pytest.mark.parametrize(
    ("formulas", "match"),
    [
        (["race", "age"], "model 'race' is not within model 'age'"),
        (["race", "1"], "the smallest first"),
        (["1", "x0", "race"], "model 'x0' is not within model 'race'"),
        ({"big": "race", "small": "1"}, "model 'big' is not within model 'small'"),
        ("race", "is one formula; give nested ones, as \\['1', 'race'\\]"),
        (["race"], r"has 1 of the two or more models .* put the intercept alone before it, as \['1', 'race'\]"),
        (["1"], r"has 1 of the two or more models .* put a larger one after it, as \['1', 'race'\]"),
        ([], r"has 0 of the two or more models .* give nested ones, as \['1', 'race'\]"),
        (["1", "race", "race"], "has 'race' twice"),
        (["1", "rcae"], "did you mean 'race'"),
        (["1", "race - 1"], "takes the intercept away"),
        (["1", 2], "a formula must be text"),
        (["1", "__import__('os')"], "contains code"),
    ],
)
def test_models_that_cannot_be_compared_are_refused(formulas: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        bg.goodness_of_fit(diabetes_like(), formulas)  # type: ignore[arg-type]


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="weights='rows' is not one of 'precision', 'count'"):
        bg.goodness_of_fit(worked(), ["1", "race"], weights="rows")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="tally must come from bg.tally\\(\\) or a related function; got Dataset"):
        bg.goodness_of_fit(xr.Dataset(), ["1", "race"])
    with pytest.raises(SchemaError, match="got DataFrame"):
        bg.goodness_of_fit(pd.DataFrame(), ["1", "race"])
