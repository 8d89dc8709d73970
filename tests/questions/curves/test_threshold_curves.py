"""Threshold curves: equal to tallies at each threshold, identities, invariances, and what degenerate scores give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.frequentist.intervals.proportions import jeffreys
from bayesgroups.questions.curves.histograms import STEPS
from bayesgroups.questions.curves.rates import METRICS

LIMITS = ("estimate", "lower", "upper", "band_lower", "band_upper")


def rows(seed: int, size: int, groups: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, size)
    score = np.round(1 / (1 + np.exp(-random.normal(size=size) - y)), 2)
    return pd.DataFrame({"g": random.integers(0, groups, size).astype(str), "y": y, "p": score})


def tally(frame: pd.DataFrame) -> xr.Dataset:
    return bg.tally(frame, ["g"], ["auc"], y_true="y", y_score="p")


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(6, 120))
def test_each_threshold_is_a_tally(seed: int, size: int) -> None:
    frame = rows(seed, size)
    cuts = [0.3, 0.55, 0.7]
    found = bg.threshold_curve(
        frame, ["g"], y_true="y", y_score="p", metrics=METRICS, thresholds=cuts, draws=100, seed=1
    )
    for cut in cuts:
        counted = bg.tally(frame, ["g"], list(METRICS), y_true="y", y_score="p", threshold=cut)
        here = found.sel(threshold=cut)
        own = here["estimate"].sel(approach="frequentist")
        np.testing.assert_allclose(own.values, counted["estimate"].values, atol=1e-12)
        np.testing.assert_allclose(here["count"].values, counted["count"].values)
        rates = [name for name in METRICS if name != "f1"]
        limits = jeffreys(
            counted["successes"].sel(metric=rates).values, counted["count"].sel(metric=rates).values, 0.95
        )
        answer = here.sel(approach="frequentist", metric=rates)
        np.testing.assert_allclose(answer["lower"].values, limits.lower, atol=1e-12)
        np.testing.assert_allclose(answer["upper"].values, limits.upper, atol=1e-12)


def curve(source: object, **settings: object) -> xr.Dataset:
    given: dict[str, object] = {"metrics": METRICS, "draws": 200, "seed": 1, **settings}
    if not isinstance(source, xr.Dataset):
        given = {"by": ["g"], "y_true": "y", "y_score": "p", **given}
    return bg.threshold_curve(source, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return curve(rows(1, 300))


def test_dims_and_defaults(found: xr.Dataset) -> None:
    assert dict(found.sizes) == {"approach": 2, "metric": len(METRICS), "threshold": STEPS, "subgroup": 3}
    assert found["threshold"].values[[0, -1]].tolist() == [0.0, 1.0]
    for name in LIMITS:
        assert found[name].dims == ("approach", "metric", "threshold", "subgroup")
    assert found["count"].dims == ("metric", "threshold", "subgroup")
    assert found["status"].values.tolist() == ["ok", "ok", "ok"]
    assert found["g"].values.tolist() == ["0", "1", "2"]


def test_limits_are_in_order_and_in_range(found: xr.Dataset) -> None:
    for approach in ("bayesian", "frequentist"):
        one = found.sel(approach=approach)
        known = np.isfinite(one["estimate"].values)
        band_lower, lower, estimate, upper, band_upper = (
            one[name].values[known] for name in ("band_lower", "lower", "estimate", "upper", "band_upper")
        )
        assert (band_lower >= 0).all()
        assert (band_lower <= lower + 1e-12).all()
        assert (lower <= estimate + 1e-9).all()
        assert (estimate <= upper + 1e-9).all()
        assert (upper <= band_upper + 1e-12).all()
        assert (band_upper <= 1).all()
    anyone = (found["count"].sum("subgroup") > 0).values
    assert (np.isfinite(found["estimate"].sel(approach="bayesian").values) == anyone[..., None]).all()


def test_curves_that_fall_fall(found: xr.Dataset) -> None:
    for metric in ("sel", "tpr", "fpr"):
        for name in ("estimate", "lower", "upper"):
            values = found[name].sel(metric=metric)
            assert (values.diff("threshold") <= 1e-9).all(), (metric, name)


def test_identities_between_metrics(found: xr.Dataset) -> None:
    of = {name: found["estimate"].sel(metric=name) for name in METRICS}
    for one, other in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for")):
        total = (of[one] + of[other]).values
        np.testing.assert_allclose(total[np.isfinite(total)], 1, atol=1e-9)
        low, high = found["lower"].sel(metric=one), found["upper"].sel(metric=other)
        np.testing.assert_allclose((low + high).sel(approach="frequentist").values[np.isfinite(total[1])], 1, atol=1e-9)
    own = {name: values.sel(approach="frequentist") for name, values in of.items()}
    count = found["count"]
    n, positives = count.sel(metric="sel"), count.sel(metric="tpr")
    prevalence = positives / n
    np.testing.assert_allclose(own["sel"], own["tpr"] * prevalence + own["fpr"] * (1 - prevalence), atol=1e-12)
    np.testing.assert_allclose(own["acc"], own["tpr"] * prevalence + own["tnr"] * (1 - prevalence), atol=1e-12)
    some = np.isfinite(own["ppv"].values)
    bayes = (own["tpr"] * prevalence / own["sel"]).values
    np.testing.assert_allclose(own["ppv"].values[some], bayes[some], atol=1e-12)
    positive = some & (own["ppv"].values > 0) & (own["tpr"].values > 0)
    harmonic = (2 / (1 / own["ppv"] + 1 / own["tpr"])).values
    np.testing.assert_allclose(own["f1"].values[positive], harmonic[positive], atol=1e-12)


def test_rows_tallies_and_sums_of_tallies_give_the_same(found: xr.Dataset) -> None:
    frame = rows(1, 300)
    xr.testing.assert_allclose(curve(tally(frame)), found)
    xr.testing.assert_allclose(curve(bg.add_tallies([tally(frame[:100]), tally(frame[100:])])), found)


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    frame = rows(2, 80)
    first, again, other = (curve(frame, metrics="tpr", seed=seed) for seed in (1, 1, 2))
    xr.testing.assert_identical(first, again)
    assert (first["band_lower"] != other["band_lower"]).any()


def test_a_metric_does_not_depend_on_its_neighbours(found: xr.Dataset) -> None:
    alone = curve(rows(1, 300), metrics=["ppv"])
    xr.testing.assert_identical(alone.sel(metric="ppv"), found.sel(metric="ppv"))


def test_an_increasing_map_of_scores_and_thresholds_changes_nothing() -> None:
    frame = rows(3, 150)
    cuts = np.array([0.2, 0.5, 0.8])
    first = curve(frame, thresholds=cuts)
    second = curve(frame.assign(p=np.exp(3 * frame.p)), thresholds=np.exp(3 * cuts))
    for name in LIMITS:
        np.testing.assert_allclose(first[name].values, second[name].values)
    # By default thresholds of scores outside [0, 1] are ranks, so they move along.
    first, second = (curve(frame.assign(p=scale * frame.p)) for scale in (-2.0, -7.0))
    np.testing.assert_allclose(3.5 * first["threshold"].values, second["threshold"].values)
    np.testing.assert_allclose(first["estimate"].values, second["estimate"].values)


def test_labels_of_subgroups_mean_nothing_to_the_estimates() -> None:
    frame = rows(4, 200)
    first = curve(frame)["estimate"]
    second = curve(frame.assign(g=frame.g.map({"0": "z", "1": "y", "2": "x"})))["estimate"]
    np.testing.assert_allclose(
        first.sel(approach="frequentist").values, second.sel(approach="frequentist").values[..., ::-1]
    )
    np.testing.assert_allclose(first.values, second.values[..., ::-1], atol=0.05)


def test_weights_of_one_size_are_no_weights() -> None:
    frame = rows(5, 120)
    xr.testing.assert_allclose(curve(frame.assign(w=2.5), weights="w"), curve(frame))


def test_unequal_weights_widen() -> None:
    frame = rows(6, 400)
    weight = np.where(np.arange(400) % 4 == 0, 8.0, 1.0)
    plain, weighted = curve(frame, thresholds=[0.6]), curve(frame.assign(w=weight), weights="w", thresholds=[0.6])
    for approach in ("bayesian", "frequentist"):
        widths = [
            (one["upper"] - one["lower"]).sel(approach=approach, metric="sel").mean() for one in (plain, weighted)
        ]
        assert widths[1] > 1.2 * widths[0]
    ours = frame[frame.g == "0"]
    share = np.average(ours.p >= 0.6, weights=weight[frame.g == "0"])
    assert float(weighted["estimate"].sel(approach="frequentist", metric="sel", subgroup="0")[0]) == pytest.approx(
        share
    )


def degenerate() -> pd.DataFrame:
    """a: both classes; b: one class; c: all scores equal; d: scores 0 and 1 only; e: one row."""
    return pd.DataFrame(
        {"g": list("aaaabbbccccdddde"), "y": [0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0],
         "p": [0.2, 0.7, 0.6, 0.9, 0.3, 0.5, 0.8, 0.5, 0.5, 0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 0.4]}
    )  # fmt: skip


def test_clusters_that_limits_do_not_count_are_told() -> None:
    rows = pd.DataFrame(
        {
            "site": list("ab") * 30,
            "sick": [0, 1, 1] * 20,
            "risk": np.linspace(0.1, 0.9, 60),
            "patient": [*range(20)] * 3,
        }
    )
    columns = {"y_true": "sick", "y_score": "risk"}
    alone, clustered = (bg.tally(rows, ["site"], "auc", cluster=cluster, **columns) for cluster in (None, "patient"))  # type: ignore[arg-type]
    for curve in (bg.threshold_curve, bg.roc_curve, bg.calibration_curve):
        assert curve(alone, draws=100, seed=1).attrs["note"] == ""
        assert (
            "rows come in clusters and are treated as independent" in curve(clustered, draws=100, seed=1).attrs["note"]
        )


def test_degenerate_scores() -> None:
    answer = bg.threshold_curve(
        degenerate(), {"g": list("abcdef")}, y_true="y", y_score="p", metrics=METRICS, thresholds=[0, 0.5, 1], draws=200, seed=1
    )  # fmt: skip
    own, drawn = (answer.sel(approach=approach) for approach in ("frequentist", "bayesian"))
    assert answer["status"].values.tolist() == ["ok", "no negatives", "ok", "ok", "no positives", "no rows"]
    assert np.isnan(own["estimate"].sel(metric="fpr", subgroup="b")).all()
    assert np.isnan(own["estimate"].sel(metric="tpr", subgroup="e")).all()
    assert np.isnan(own["estimate"].sel(subgroup="f")).all()
    assert own["estimate"].sel(metric="sel", subgroup="c").values.tolist() == [1, 1, 0]
    assert own["estimate"].sel(metric="sel", subgroup="d").values.tolist() == [1, 0.5, 0.5]
    assert own["estimate"].sel(metric="tpr", subgroup="d").values.tolist() == [1, 0.5, 0.5]
    assert np.isfinite(drawn["estimate"]).sum() == drawn["estimate"].size - 2 * 6  # nobody lies below 0: npv, for
    assert (drawn["upper"] > drawn["lower"]).sel(threshold=0.5, metric="tpr").all()
    wide = own["upper"] - own["lower"]
    assert (wide.sel(metric="sel", subgroup=list("abcd")) > 0.1).all()  # also where all or none are selected


def test_one_class_everywhere_leaves_the_rest() -> None:
    answer = curve(degenerate()[lambda frame: frame.y == 0], thresholds=[0.5])
    for approach in ("bayesian", "frequentist"):
        assert np.isnan(answer["estimate"].sel(approach=approach, metric="tpr")).all()
        assert np.isfinite(answer["estimate"].sel(approach=approach, metric="fpr")).all()


def test_one_subgroup_is_not_pooled() -> None:
    frame = rows(7, 200, groups=1)
    answer = curve(frame, metrics=["sel", "tpr"], thresholds=np.linspace(0.2, 0.9, 8), draws=4000)
    own, drawn = (answer.sel(approach=approach) for approach in ("frequentist", "bayesian"))
    np.testing.assert_allclose(own["estimate"], drawn["estimate"], atol=0.02)
    ratio = (drawn["upper"] - drawn["lower"]) / (own["upper"] - own["lower"])
    np.testing.assert_allclose(ratio.mean(), 1, atol=0.1)


def test_many_rows_keep_their_own_curve() -> None:
    """Shrinkage ends where rows are many, whatever the shape of the difference."""
    random = np.random.default_rng(8)
    size = 6_000
    g = random.integers(0, 3, size)
    score = np.where(
        g == 0, random.beta(2, 2, size), np.where(g == 1, random.beta(0.3, 0.3, size), random.beta(2, 9, size))
    )
    source = tally(pd.DataFrame({"g": g.astype(str), "y": random.integers(0, 2, size), "p": score}))
    gaps = []
    for times in (1, 1000):
        scaled = source.assign({name: times * source[name] for name in ("score_positives", "score_negatives")})
        estimate = curve(scaled, metrics=["tpr", "fpr"])["estimate"]
        gaps.append(float(np.abs(estimate.sel(approach="bayesian") - estimate.sel(approach="frequentist")).max()))
    assert gaps[0] < 0.04
    assert gaps[1] < 0.001


def test_few_rows_lean_on_the_others() -> None:
    frame = pd.concat(
        [rows(9, 3000, groups=10), pd.DataFrame({"g": "few", "y": [1, 1, 0, 0], "p": [0.5, 0.9, 0.6, 0.5]})]
    )
    answer = curve(frame, metrics=["tpr"])
    widths = (answer["upper"] - answer["lower"]).sel(metric="tpr", subgroup="few").mean("threshold")
    assert float(widths.sel(approach="bayesian")) < 0.5 * float(widths.sel(approach="frequentist"))


def test_cost_does_not_grow_with_rows() -> None:
    """A tally of ten million rows is a few hundred numbers."""
    source = tally(rows(10, 500))
    large = source.assign({name: source[name] * 20_000 for name in ("score_positives", "score_negatives")})
    answer = curve(large, metrics=["tpr", "f1"])
    assert float((answer["band_upper"] - answer["band_lower"]).max()) < 0.01


@pytest.mark.parametrize("score", [np.inf, -np.inf, np.nan])
def test_scores_that_are_no_numbers_are_refused_with_their_subgroup(score: float) -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "y": [0, 1], "p": [0.5, score]})
    with pytest.raises(bg.InputError, match="p"):
        curve(frame)
    source = tally(rows(11, 20))
    source["score_value"][3] = score
    label = source["subgroup"].values[source["score_subgroup"].values[3]]
    with pytest.raises(bg.InputError, match=f"subgroup '{label}' has the score {score}; scores must be finite"):
        curve(source)


def test_refused() -> None:
    frame = rows(12, 30)
    for changed, message in (
        ({"metrics": []}, "metrics= is empty; name at least one"),
        ({"metrics": ["tpr", "tpr"]}, "metrics= has 'tpr' twice"),
        ({"metrics": ["tqr"]}, "metric 'tqr' has no threshold curve; did you mean 'tpr'"),
        ({"thresholds": []}, "thresholds= must hold finite numbers, at least one"),
        ({"thresholds": [0.5, np.nan]}, "thresholds= must hold finite numbers, at least one"),
        ({"level": 1.0}, "level=1.0 must lie strictly between 0 and 1"),
        ({"draws": 99}, "draws must be a whole number, 100 or larger; got 99"),
        ({"seed": -1}, "seed must be a whole number, 0 or larger; got -1"),
        ({"seed": True}, "seed must be a whole number, 0 or larger; got True"),
        ({"by": None}, "rows need by=, y_true= and y_score="),
    ):  # fmt: skip
        with pytest.raises(bg.InputError, match=message):
            curve(frame, **changed)
    with pytest.raises(bg.InputError, match="a tally knows its columns; leave by="):
        curve(tally(frame), by=["g"])
    counts = bg.tally_from_counts([1], [2], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="the tally keeps no scores; ask for them"):
        curve(counts)
    source = tally(frame).isel(score_cell=slice(0, 0))
    with pytest.raises(bg.InputError, match="no subgroup has a row; a curve needs some"):
        curve(source)
