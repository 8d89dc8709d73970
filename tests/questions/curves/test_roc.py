"""ROC curves: equal to scikit-learn's, invariances, and degenerate scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn import metrics

import bayesgroups as bg


def rows(seed: int, size: int, digits: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, size)
    score = np.round(random.normal(size=size) + y, digits)
    return pd.DataFrame({"g": random.integers(0, 3, size).astype(str), "y": y, "p": score})


def curve(source: object, **changed: object) -> xr.Dataset:
    given: dict[str, object] = {"draws": 100, "seed": 1, **changed}
    if not isinstance(source, xr.Dataset):
        given = {"by": ["g"], "y_true": "y", "y_score": "p", **given}
    return bg.roc_curve(source, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return curve(rows(1, 240))


def test_points_and_areas_are_those_of_scikit_learn(found: xr.Dataset) -> None:
    frame = rows(1, 240)
    for position, label in enumerate(found["subgroup"].values):
        own = frame[frame.g == label]
        fpr, tpr, thresholds = metrics.roc_curve(own.y, own.p, drop_intermediate=False)
        here = found["point_subgroup"].values == position
        np.testing.assert_allclose(found["point_fpr"].values[here], fpr)
        np.testing.assert_allclose(found["point_tpr"].values[here], tpr)
        np.testing.assert_allclose(found["point_threshold"].values[here], thresholds)
        area = float(found["auc"].sel(approach="frequentist", subgroup=label))
        assert area == pytest.approx(metrics.roc_auc_score(own.y, own.p))
        estimate = found["estimate"].sel(approach="frequentist", subgroup=label).values
        inside = ~np.isclose(found["fpr"].values[:, None], fpr).any(axis=1)  # where it does not rise upright
        np.testing.assert_allclose(estimate[inside], np.interp(found["fpr"].values, fpr, tpr)[inside])


def test_newcombe_goes_around_the_area(found: xr.Dataset) -> None:
    source = bg.tally(rows(1, 240), ["g"], ["auc"], y_true="y", y_score="p")
    expected = bg.auc_intervals(source).sel(metric="auc")
    for mine, theirs in (("auc", "estimate"), ("auc_lower", "lower"), ("auc_upper", "upper")):
        np.testing.assert_allclose(found[mine].sel(approach="frequentist"), expected[theirs])


def test_limits_are_in_order_and_never_fall(found: xr.Dataset) -> None:
    for approach in ("bayesian", "frequentist"):
        one = found.sel(approach=approach)
        names = ("band_lower", "lower", "estimate", "upper", "band_upper")
        limits = [one[name].values for name in names]
        for low, high in pairwise(limits):
            assert (low <= high + 1e-9).all(), approach
        for values in (limits[0], limits[2], limits[4]):
            assert (np.diff(values, axis=0) >= -1e-9).all()
        assert ((limits[0] >= 0) & (limits[4] <= 1)).all()
    assert (found["auc_lower"] < found["auc"]).all()


def test_an_increasing_map_of_scores_changes_nothing(found: xr.Dataset) -> None:
    frame = rows(1, 240)
    moved = curve(frame.assign(p=np.exp(frame.p) - 3))
    for name in ("estimate", "lower", "band_upper", "auc", "auc_lower", "point_fpr"):
        np.testing.assert_allclose(moved[name].values, found[name].values, atol=1e-12)


def test_turning_scores_and_classes_turns_the_curve() -> None:
    frame = rows(2, 150)
    found, turned = curve(frame), curve(frame.assign(y=1 - frame.y, p=-frame.p))
    own = found["auc"].sel(approach="frequentist")
    np.testing.assert_allclose(turned["auc"].sel(approach="frequentist"), own)
    flipped = curve(frame.assign(p=-frame.p))["auc"]
    np.testing.assert_allclose(flipped.sel(approach="frequentist"), 1 - own)
    np.testing.assert_allclose(flipped.sel(approach="bayesian"), 1 - found["auc"].sel(approach="bayesian"), atol=0.05)


def test_tallies_add_up(found: xr.Dataset) -> None:
    frame = rows(1, 240)
    parts = [bg.tally(part, ["g"], ["auc"], y_true="y", y_score="p") for part in (frame[:100], frame[100:])]
    xr.testing.assert_allclose(curve(bg.add_tallies(parts)), found)


def test_degenerate_scores() -> None:
    frame = pd.DataFrame(
        {"g": list("aaaabbbccccddddd"), "y": [0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0],
         "p": [0.2, 0.7, 0.3, 0.9, 0.3, 0.5, 0.8, 0.5, 0.5, 0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 0.0]}
    )  # fmt: skip
    found = bg.roc_curve(frame, {"g": list("abcde")}, y_true="y", y_score="p", fpr=[0, 0.5, 1], draws=200, seed=1)
    own, drawn = (found.sel(approach=approach) for approach in ("frequentist", "bayesian"))
    assert found["status"].values.tolist() == ["ok", "no negatives", "ok", "ok", "no rows"]
    np.testing.assert_allclose(own["auc"].values, [1, np.nan, 0.5, 7 / 12, np.nan])
    assert own["estimate"].sel(subgroup="a").values.tolist() == [1, 1, 1]
    assert own["estimate"].sel(subgroup="c").values.tolist() == [0, 0.5, 1]
    assert np.isnan(own["estimate"].sel(subgroup=["b", "e"])).all()
    assert np.isfinite(drawn["estimate"]).all()
    assert float(own["auc_upper"].sel(subgroup="a")) == 1
    assert float(own["auc_lower"].sel(subgroup="a")) < 0.7  # two and two rows
    assert float(own["lower"].sel(subgroup="a", fpr=0.5)) < 0.8
    assert float(drawn["auc_upper"].sel(subgroup="a")) < 1


def test_refused() -> None:
    frame = rows(3, 40)
    for fpr in ([], [-0.1], [0.5, np.nan]):
        with pytest.raises(bg.InputError, match="fpr= must hold numbers from 0 to 1, at least one"):
            curve(frame, fpr=fpr)
    for label, word in ((0, "positive"), (1, "negative")):
        with pytest.raises(bg.InputError, match=f"no subgroup has a {word}; a ROC curve needs both classes"):
            curve(frame[frame.y == label])
