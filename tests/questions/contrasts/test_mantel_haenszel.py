"""One common contrast across strata: the worked numbers, metafor and statsmodels, and the same weights for draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.contrasts.scales import Scale

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "targets" / "contrasts.json").read_text(encoding="utf-8")
)
SCALES: tuple[Scale, ...] = ("difference", "ratio", "odds_ratio")
WHO = pd.DataFrame({"race": np.repeat(["A", "B", "C"], 2), "sex": ["f", "m"] * 3})
Q = 1.959963984540054


def common(source: xr.Dataset | xr.DataTree, **settings: Any) -> xr.Dataset:
    answer = bg.contrasts(source, {"sex": "m"}, within="race", across="mantel_haenszel", scale=SCALES, **settings)
    return answer.isel(metric=0, contrast=0)


def counted(k: list[int], n: list[int], metric: str = "sel") -> xr.Dataset:
    return bg.tally_from_counts(k, n, WHO.iloc[: len(k)], metric=metric)


def test_the_worked_numbers() -> None:
    answer = common(counted([18, 30, 18, 6], [60, 150, 40, 25])).isel(approach=0)
    expected = np.array([GOLDEN[name] for name in ("mh_rd", "mh_log_rr", "mh_log_or")])
    estimate = answer["estimate"].values
    np.testing.assert_allclose([estimate[0], *np.log(estimate[1:])], expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(answer["std_error"], expected[:, 1], atol=1e-9)
    ends = expected @ np.array([[1, 1], [-Q, Q]])
    np.testing.assert_allclose([answer["lower"][0], answer["upper"][0]], ends[0], atol=1e-9)
    np.testing.assert_allclose(np.log([answer["lower"][1:], answer["upper"][1:]]), ends[1:].T, atol=1e-9)
    assert set(answer["interval_method"].values.tolist()) == {"mantel_haenszel"}
    assert answer.attrs["across"] == "mantel_haenszel"


def test_statsmodels_has_the_same_of_unequal_strata_one_without_a_side() -> None:
    from statsmodels.stats.contingency_tables import StratifiedTable

    k, n = np.array([3, 9, 11, 2, 4, 0]), np.array([31, 40, 17, 8, 9, 0])
    answer = common(counted(k.tolist(), n.tolist())).isel(approach=0)
    tables = [np.array([[k[i], n[i] - k[i]], [k[i + 1], n[i + 1] - k[i + 1]]]) for i in (0, 2)]
    other = StratifiedTable(tables)
    odds, ratio = answer.sel(scale="odds_ratio"), answer.sel(scale="ratio")
    assert float(odds["estimate"]) == pytest.approx(other.oddsratio_pooled, abs=1e-12)
    assert float(odds["std_error"]) == pytest.approx(other.logodds_pooled_se, abs=1e-12)
    assert [float(odds["lower"]), float(odds["upper"])] == pytest.approx(other.oddsratio_pooled_confint(), abs=1e-9)
    assert float(ratio["estimate"]) == pytest.approx(other.riskratio_pooled, abs=1e-12)
    assert float(answer["overlap_share"][0]) == pytest.approx(96 / 105)


def test_draws_are_weighted_alike() -> None:
    report = bg.estimate(counted([18, 30, 18, 6], [60, 150, 40, 25]), bg.NoPooling(), seed=1)
    answer = common(report).sel(approach="bayesian")
    a1, b1, a2, b2 = report["posterior"].to_dataset()["mu"].values.reshape(-1, 4).T
    w = np.array([60 * 150 / 210, 40 * 25 / 65])
    odds = (w[0] * a1 * (1 - b1) + w[1] * a2 * (1 - b2)) / (w[0] * b1 * (1 - a1) + w[1] * b2 * (1 - a2))
    difference = (w[0] * (a1 - b1) + w[1] * (a2 - b2)) / w.sum()
    ratio = (w[0] * a1 + w[1] * a2) / (w[0] * b1 + w[1] * b2)
    np.testing.assert_allclose(answer["median"].values, [np.median(each) for each in (difference, ratio, odds)])
    np.testing.assert_allclose(answer["lower"].values[2], np.quantile(odds, 0.025))


def test_no_success_on_a_side_bounds_no_ratio() -> None:
    answer = common(counted([0, 30, 0, 6], [60, 150, 40, 25])).isel(approach=0)
    assert answer["estimate"].values[1:].tolist() == [0, 0]
    assert answer["lower"].values[1:].tolist() == [0, 0]
    assert np.isinf(answer["upper"].values[1:]).all()
    assert np.isfinite(answer["upper"].values[0])
    neither = common(counted([0, 0, 0, 0], [60, 150, 40, 25])).isel(approach=0)
    assert neither["status"].values.tolist() == ["ok", "not estimable", "not estimable"]
    assert neither["interval_method"].values[0] == "mover"
    assert neither["lower"].values[0] < -0.02
    assert neither["upper"].values[0] > 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"across": "mantel"}, "across='mantel' is not one of .*'mantel_haenszel'"),
        ({"across": "mantel_haenszel"}, "across='mantel_haenszel' needs strata; give within="),
        (
            {"across": "mantel_haenszel", "within": "race", "population": WHO.assign(count=1)},
            "weights strata by their rows; leave population= out",
        ),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.contrasts(counted([1, 2, 3, 4], [9, 9, 9, 9]), {"sex": "m"}, **settings)


def test_means_have_no_common_effect_of_rates() -> None:
    frame = pd.concat([WHO.assign(loss=[1.0, 2, 3, 4, 5, 6])] * 3)
    tally = bg.tally(frame, by=["race", "sex"], metrics=["mean"], loss="loss")
    with pytest.raises(bg.InputError, match="'mean' is no rate of rows, so it has no effect of Mantel and Haenszel"):
        bg.contrasts(tally, {"sex": "m"}, within="race", across="mantel_haenszel", scale="difference")
