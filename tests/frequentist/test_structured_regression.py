"""Structured regression of a tally: what it answers, limits, edge cases, and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import structured_regression
from bayesgroups.frequentist.intervals import means
from bayesgroups.frequentist.structured import lasso
from bayesgroups.frequentist.structured.problems import metrics_of, splits_of
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.folds import split_rows

TABLE = pd.DataFrame({"race": list("aabbccdd"), "sex": list("fm") * 4})
HITS, COUNT = [12, 5, 2, 3, 30, 60, 9, 0], [40, 20, 10, 5, 150, 200, 30, 0]


@pytest.fixture
def counts() -> xr.Dataset:
    return bg.tally_from_counts(HITS, COUNT, TABLE, metric="fnr")


@pytest.fixture
def worked() -> xr.Dataset:
    """Estimates .30, .25, .20, .60 with sampling variances .2 / 40, 20, 10, 5."""
    table = pd.DataFrame({"race": list("AABB"), "sex": list("FM") * 2})
    variance = 0.2 / np.array([40.0, 20, 10, 5])
    return bg.tally_from_estimates([0.30, 0.25, 0.20, 0.60], variance, table, metric="fnr")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = 400
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.choice(["x", "y", "z"], n)})
    frame["visits"] = rng.poisson(2.0, n) + 2 * (frame["age"] == "x")
    frame["y"] = rng.integers(0, 2, n)
    frame["score"] = rng.random(n) + 0.2 * frame["y"]
    frame["loss"] = 0.3 + 0.1 * frame["visits"] + rng.standard_normal(n)
    return frame


def tallied(rows: pd.DataFrame, metrics: Any = ("fnr", "auc", "f1", "mean")) -> xr.Dataset:
    return bg.tally(
        rows, by=["sex", "age"], metrics=list(metrics), y_true="y", y_score="score", threshold=0.6, loss="loss",
        features=["visits"],
    )  # fmt: skip


def test_the_worked_example_through_the_tally(worked: xr.Dataset) -> None:
    found = structured_regression.estimate(worked, penalty=0.5).sel(metric="fnr")
    assert found["estimate"].values == pytest.approx([0.283333, 0.283333, 0.276667, 0.446667], abs=1e-6)
    assert float(found["penalty_max"]) == pytest.approx(15.333333, abs=1e-5)
    assert float(found["penalty"]) == pytest.approx(15.333333 / 2, abs=1e-5)
    assert (float(found["selected"]), float(found["selected_share"])) == (2.0, 0.5)
    kept = found["column"].values[found["coefficient"].values != 0]
    assert kept.tolist() == ["subgroup[B | F]", "subgroup[B | M]"]


def test_fewer_than_five_subgroups_have_normal_intervals(worked: xr.Dataset) -> None:
    found = structured_regression.estimate(worked, penalty=0.5)
    assert found["interval_method"].values.tolist() == ["pooled_normal"]
    expected = means.pooled_normal(worked["estimate"].values, worked["sampling_variance"].values, 0.95)
    assert found["lower"].sel(level=0.95).values == pytest.approx(expected.lower)
    assert found["upper"].sel(level=0.95).values == pytest.approx(expected.upper)


def test_the_answer_has_everything_it_promises(counts: xr.Dataset) -> None:
    found = structured_regression.estimate(counts)
    assert found["interval_method"].values.tolist() == ["rblpr_known_variance"]
    assert found["level"].values.tolist() == list(LEVELS)
    assert found["coefficient"].dims == ("metric", "column")
    assert found["status"].values[0].tolist() == ["ok"] * 7 + ["imputed"]
    assert found["race"].dims == ("subgroup",)
    for name in ("estimate", "std_error", "lower", "upper", "penalty", "penalty_max", "selected", "coefficient"):
        assert np.isfinite(found[name].values).all(), name
    assert (np.diff(found["lower"].values, axis=-1) <= 0).all()
    assert (np.diff(found["upper"].values, axis=-1) >= 0).all()
    assert (found["lower"] < found["upper"]).all()


def test_share_one_pools_completely_and_share_zero_not_at_all(counts: xr.Dataset) -> None:
    use = counts["count"].values[0] > 0
    pooled = structured_regression.estimate(counts, penalty=1.0)
    assert pooled["estimate"].values == pytest.approx(sum(HITS) / sum(COUNT))
    assert pooled["selected"].values.tolist() == [0.0]
    alone = structured_regression.estimate(counts, penalty=0)
    assert alone["estimate"].values[0, use] == pytest.approx(counts["estimate"].values[0, use])


def test_the_imputed_subgroup_has_the_prediction_from_its_features(counts: xr.Dataset) -> None:
    found = structured_regression.estimate(counts, penalty=0.05).sel(metric="fnr")
    own = found["coefficient"].sel(column="subgroup[d | m]")
    assert float(own) == 0
    other, neighbour = (found.sel(subgroup=label) for label in ("d | m", "d | f"))
    level = found["coefficient"].to_series()
    expected = float(neighbour["estimate"]) - level["subgroup[d | f]"] + level["sex[m]"] - level["sex[f]"]
    assert float(other["estimate"]) == pytest.approx(expected)


def test_estimates_are_clipped_to_the_range() -> None:
    # A gap that the imputed subgroup would extend beyond 0.
    table = pd.DataFrame({"g": list("aabbcc"), "h": list("xyxyxy")})
    tally = bg.tally_from_counts([390, 200, 190, 2, 200, 0], [400, 400, 400, 400, 10**6, 0], table)
    found = structured_regression.estimate(tally, penalty=0.001)
    assert float(found["estimate"].min()) >= 0
    assert float(found["lower"].min()) < 0


def test_features_of_the_tally_are_used(rows: pd.DataFrame) -> None:
    tally = tallied(rows)
    found = structured_regression.estimate(tally, penalty=0.2, replicates=50)
    assert "visits" in found["column"].values
    without = structured_regression.estimate(tally, formula="sex", penalty=0.2, replicates=50)
    assert without["column"].values[:2].tolist() == ["sex[f]", "sex[m]"]
    assert without.sizes["column"] == 2 + 6
    assert np.isfinite(found["estimate"].values).all()


@pytest.mark.parametrize("rule", ["minimum", "one_standard_error"])
def test_folds_of_rows_choose_a_penalty(rows: pd.DataFrame, rule: Any) -> None:
    tally = tallied(rows, ["f1", "auc"])
    parts = [tallied(part, ["f1", "auc"]) for part in split_rows(rows, ["sex", "age"], folds=4)]
    found = structured_regression.estimate(tally, folds=parts, rule=rule, replicates=20)
    assert (found["penalty"] <= found["penalty_max"]).all()
    assert (found["penalty"] >= 0.0009 * found["penalty_max"]).all()
    backwards = structured_regression.estimate(tally, folds=parts[::-1], rule=rule, replicates=20)
    xr.testing.assert_allclose(found["penalty"], backwards["penalty"])


def test_one_standard_error_pools_at_least_as_much(counts: xr.Dataset) -> None:
    least, more = (
        structured_regression.estimate(counts, rule=rule, replicates=5) for rule in ("minimum", "one_standard_error")
    )
    assert (more["penalty"] >= least["penalty"]).all()


def test_features_of_a_fold_are_those_of_its_rows(rows: pd.DataFrame) -> None:
    """A subgroup that is all left out has the means of the rows left out."""
    from bayesgroups.data.features import feature_matrix

    alone = (rows["sex"] == "m") & (rows["age"] == "z")
    parts = [tallied(rows[alone]), tallied(rows[~alone][::2]), tallied(rows[~alone][1::2])]
    tally = tallied(rows)
    features = feature_matrix(tally)
    splits = splits_of(tally, metrics_of(tally), features, None, parts, 0)[-1]
    column = features.names.index("visits")
    assert np.isnan(splits[0].z[-1])
    assert splits[0].w[-1] == 0
    known = tally["feature_mean"].values[:, 0]
    weight = np.where(np.arange(6) == 5, 0, tally["rows"].values)
    centred = known - np.average(known, weights=weight)
    expected = centred / np.sqrt(np.average(centred**2, weights=weight))
    assert splits[0].x[:, column] == pytest.approx(expected)
    assert splits[1].x[:, column] != pytest.approx(features.values[:, column])


def test_residuals_are_drawn_on_request(rows: pd.DataFrame) -> None:
    tally = tallied(rows, ["mean"])
    found = structured_regression.estimate(tally, penalty=0.9, errors="residual", replicates=50)
    assert found["interval_method"].values.tolist() == ["rblpr_residual"]


def test_without_residuals_errors_have_the_known_variances(counts: xr.Dataset) -> None:
    with pytest.warns(UserWarning, match="columns selected for 7 subgroups leave no residuals"):
        found = structured_regression.estimate(counts, penalty=0.001, errors="residual", replicates=50)
    assert found["interval_method"].values.tolist() == ["rblpr_known_variance"]
    assert float(found["selected"][0]) == 5  # and an intercept: three estimates of 7 are .3, two are .2
    known = structured_regression.estimate(counts, penalty=0.001, replicates=50)
    assert found["lower"].values.tobytes() == known["lower"].values.tobytes()


def test_the_scale_of_partial_ridge_matters_little(counts: xr.Dataset) -> None:
    variance, norm = (
        structured_regression.estimate(counts, penalty=0.5, scale=scale) for scale in ("variance", "norm")
    )
    assert variance["estimate"].equals(norm["estimate"])
    assert not variance["lower"].equals(norm["lower"])


def test_the_same_seed_gives_the_same_bytes(rows: pd.DataFrame) -> None:
    tally = tallied(rows, ["fnr", "mean"])
    first, again, other = (structured_regression.estimate(tally, seed=seed, replicates=30) for seed in (1, 1, 2))
    for name in first.variables:
        assert first[name].values.tobytes() == again[name].values.tobytes(), name
    assert not first["lower"].equals(other["lower"])
    alone = structured_regression.estimate(tally.sel(metric=["mean"]), seed=1, replicates=30)
    for name in ("estimate", "lower", "penalty"):
        assert alone[name].values.tobytes() == first[name].sel(metric=["mean"]).values.tobytes(), name


# --- Edge cases -------------------------------------------------------------------------------------------------------


def test_a_metric_without_estimates_has_no_answer() -> None:
    tally = bg.tally_from_counts([0, 0], [0, 0], pd.DataFrame({"g": ["a", "b"]}))
    found = structured_regression.estimate(tally)
    for name in ("estimate", "std_error", "lower", "penalty", "selected", "coefficient"):
        assert np.isnan(found[name].values).all(), name
    assert found["status"].values[0].tolist() == ["undefined"] * 2


def test_one_subgroup_keeps_its_estimate() -> None:
    tally = bg.tally_from_counts([3, 0], [10, 0], pd.DataFrame({"g": ["a", "b"]}))
    found = structured_regression.estimate(tally)
    assert found["estimate"].values[0] == pytest.approx([0.3, 0.3])
    assert np.isfinite(found["lower"].values[0, 0]).all()
    assert np.isnan(found["lower"].values[0, 1]).all()


def test_an_imputed_one_of_few_has_a_t_interval() -> None:
    tally = bg.tally_from_counts([1, 10, 27, 0], [10, 20, 30, 0], pd.DataFrame({"g": list("abcd")}))
    found = structured_regression.estimate(tally, penalty=1.0)
    z = np.array([0.1, 0.5, 0.9])
    half = 4.302653 * np.sqrt(z.var(ddof=1) * 4 / 3)
    last = found.sel(level=0.95).isel(metric=0, subgroup=-1)
    assert float(last["estimate"]) == pytest.approx(38 / 60)
    assert float(last["upper"]) == pytest.approx(38 / 60 + half)


def test_few_that_scatter_less_than_their_errors_have_these_for_variance() -> None:
    for successes in ([10, 10, 10, 0], [10, 10, 11, 0]):
        tally = bg.tally_from_counts(successes, [20, 20, 20, 0], pd.DataFrame({"g": list("abcd")}))
        found = structured_regression.estimate(tally, penalty=1.0).sel(level=0.95).isel(metric=0, subgroup=-1)
        half = 4.302653 * np.sqrt(float(tally["sampling_variance"][0, 0]) * 4 / 3)
        assert float(found["upper"]) == pytest.approx(sum(successes) / 60 + half)
        assert str(found["status"].values) == "imputed"


def test_without_any_spread_all_is_degenerate() -> None:
    tally = bg.tally_from_counts([0] * 6, [10] * 6, pd.DataFrame({"g": list("abcdef")}))
    assert float(tally["pooled_variance"][0]) == 0
    assert metrics_of(tally)[0].w.tolist() == [10.0] * 6
    found = structured_regression.estimate(tally)
    assert found["estimate"].values.tolist() == [[0.0] * 6]
    assert found["status"].values[0].tolist() == ["degenerate"] * 6


def test_equal_estimates_stay() -> None:
    tally = bg.tally_from_counts([2] * 6, [10] * 6, pd.DataFrame({"g": list("abcdef")}))
    found = structured_regression.estimate(tally)
    assert found["estimate"].values == pytest.approx(0.2)
    assert (found["std_error"] > 0).all()


def test_a_published_estimate_without_error_is_left_alone() -> None:
    z, error = [0.1, 0.2, 0.3, 0.4, 0.5, 0.9], [0.1, 0.1, 0.1, 0.1, 0.1, 0.0]
    tally = bg.tally_from_estimates(z, error, pd.DataFrame({"g": list("abcdef")}))
    found = structured_regression.estimate(tally, replicates=50).isel(metric=0)
    last = found.isel(subgroup=-1)
    assert (float(last["estimate"]), float(last["std_error"])) == (0.9, 0.0)
    assert str(last["status"].values) == "degenerate"
    assert np.isfinite(found["lower"].values).all()


def test_units_do_not_matter(rows: pd.DataFrame) -> None:
    one = structured_regression.estimate(tallied(rows, ["mean"]), replicates=50)
    other = structured_regression.estimate(tallied(rows.assign(loss=1000 * rows["loss"]), ["mean"]), replicates=50)
    for name in ("estimate", "lower", "std_error"):
        np.testing.assert_allclose(other[name].values, 1000 * one[name].values, rtol=1e-5)


def test_subgroups_in_another_order_have_the_same_fit(counts: xr.Dataset) -> None:
    order = np.random.default_rng(1).permutation(8)
    other = structured_regression.estimate(counts.isel(subgroup=order), penalty=0.2, replicates=5)
    same = structured_regression.estimate(counts, penalty=0.2, replicates=5)
    np.testing.assert_allclose(other["estimate"].values, same["estimate"].values[:, order], atol=1e-6)


# --- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"penalty": -0.1}, "penalty=-0.1 must be 'cv' or a number, 0 or larger"),
        ({"penalty": "aic"}, "penalty='aic' must be 'cv' or a number"),
        ({"penalty": True}, "penalty=True must be 'cv' or a number"),
        ({"rule": "best"}, "rule='best' is not one of"),
        ({"errors": "paired"}, "errors='paired' is not one of"),
        ({"scale": "unit"}, "scale='unit' is not one of"),
        ({"replicates": 1}, "replicates=1 must be a whole number, 2 or larger"),
        ({"folds": 1}, "folds must be a whole number, 2 or more"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"formula": "height"}, "height"),
    ],
)
def test_wrong_settings_are_refused(counts: xr.Dataset, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        structured_regression.estimate(counts, **wrong)


def test_folds_of_other_rows_are_refused(rows: pd.DataFrame) -> None:
    parts = [tallied(part) for part in split_rows(rows, ["sex", "age"], folds=4)]
    with pytest.raises(InputError, match="folds= do not add up to the tally"):
        structured_regression.estimate(tallied(rows), folds=parts[1:])
    with pytest.raises(InputError, match="folds= do not add up to the tally"):
        structured_regression.estimate(tallied(rows, ["fnr"]), folds=parts)


def test_the_largest_penalty_is_that_of_the_arrays(counts: xr.Dataset) -> None:
    from bayesgroups.data.features import feature_matrix

    metric, x = metrics_of(counts)[0], feature_matrix(counts).values
    use = metric.w > 0
    found = structured_regression.estimate(counts, penalty=1.0, replicates=2)
    assert float(found["penalty_max"][0]) == pytest.approx(lasso.penalty_max(x[use], metric.z[use], metric.w[use]))
