"""Regression on covariates of rows from sums of products: that of the rows themselves, and its bootstrap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.frequentist import model_based_metrics, score_covariate_regression, score_regression
from bayesgroups.frequentist.score_covariate_regression import Products, add_up, fit, laws, one_step, products, resample
from bayesgroups.frequentist.score_regression import Kinds, Totals
from bayesgroups.tallies.score_covariates import keep_covariates, packets_of
from tests.frequentist.metrics_of_rows import rows_metric

SITES = 4
X = np.zeros((2 * SITES, 4))
X[:, 0], X[1::2, 1] = 1.0, 1.0
X[:, 2], X[:, 3] = np.repeat(np.arange(SITES) % 2, 2), np.repeat(np.arange(SITES) // 2, 2)
KINDS = Kinds(X, np.column_stack([np.ones(2 * SITES), np.tile([0.0, 1.0], SITES)]))


def rows_of(size: int = 1200, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.integers(0, 2, size), "t": rng.integers(0, 2, size), "y": rng.integers(0, 2, size)})
    rows["c"], rows["d"] = rng.standard_normal(size) + 0.5 * rows["s"], rng.standard_normal(size)
    u = -0.4 + rows["y"] + 0.3 * rows["s"] + 0.7 * rows["c"] + 0.4 * rows["y"] * rows["d"]
    u = u + np.where(rows["y"] == 1, 0.8, 0.5) * rng.standard_normal(size)
    return rows.assign(u=u, p=1 / (1 + np.exp(-u)))


def of_rows(rows: pd.DataFrame) -> tuple[Products, np.ndarray]:
    """Products of every row by itself, and its kind; sorted by kind."""
    own = rows.assign(kind=2 * (rows["t"] * 2 + rows["s"]) + rows["y"]).sort_values("kind")
    a = np.column_stack([np.ones(len(own)), own["c"], own["d"]])
    u = own["u"].to_numpy()
    return Products(a[:, :, None] * a[:, None, :], a * u[:, None], u**2), own["kind"].to_numpy()


def tally_of(rows: pd.DataFrame) -> xr.Dataset:
    found = bg.tally(rows, ["s", "t"], ["sel", "fnr", "auc"], y_true="y", y_score="p", threshold=0.5, features=["c"])
    return keep_covariates(found, rows, ["c", "d"])


def test_the_fit_is_that_of_the_rows() -> None:
    """At the fit the gradient of the likelihood of single rows is 0 (but for the ridge)."""
    parts, kind = of_rows(rows_of())
    found = fit(KINDS, 2, add_up(parts, kind, 8))
    c = parts.inner[:, 0, 1:]
    x = np.concatenate([X[kind], c, c * KINDS.z[kind, 1:]], axis=1)
    sd = np.exp(KINDS.z[kind] @ found.gamma)
    gap = parts.cross[:, 0] - x @ found.beta
    assert np.abs(x.T @ (gap / sd**2)).max() < 0.01
    assert np.abs(KINDS.z[kind].T @ (gap**2 / sd**2 - 1)).max() < 0.01
    np.testing.assert_allclose(found.beta[4:], [0.7, 0.0, 0.0, 0.4], atol=0.1)
    np.testing.assert_allclose(np.exp(found.gamma).cumprod(), [0.5, 0.8], atol=0.06)


def test_without_covariates_it_is_the_other_regression() -> None:
    parts, kind = of_rows(rows_of())
    sums = add_up(Products(parts.inner[:, :1, :1], parts.cross[:, :1], parts.squares), kind, 8)
    plain = Totals(sums.number, sums.cross[:, 0], sums.squares)
    mine, theirs = fit(KINDS, 0, sums), score_regression.fit(KINDS, plain)
    np.testing.assert_allclose(mine.beta, theirs.beta, rtol=1e-9)
    again = Products(1.1 * sums.inner[None], 1.2 * sums.cross[None], 1.3 * sums.squares[None])
    replicate = Totals(again.number, again.cross[..., 0], again.squares)
    np.testing.assert_allclose(
        one_step(KINDS, 0, sums, mine, again).beta,
        score_regression.one_step(KINDS, plain, theirs, replicate).beta,
        rtol=1e-6,
    )
    np.testing.assert_allclose(laws(KINDS, 0, mine, sums), score_regression.laws(KINDS, theirs), rtol=1e-9)


def test_replicates_of_rows_are_sums_of_rows() -> None:
    parts, kind = of_rows(rows_of(60))
    drawn = resample(parts, kind, 8, 20, np.random.default_rng(1))
    assert np.allclose(drawn.number, np.rint(drawn.number))
    np.testing.assert_allclose(drawn.number.sum(axis=1), 60)


def test_packets_have_the_standard_errors_of_rows() -> None:
    rows = rows_of(4000)
    alone, kind = of_rows(rows)
    tally = tally_of(rows)
    packets = packets_of(tally, ["c", "d"])
    where = 2 * packets.subgroup + packets.outcome
    together = products(packets, 0.0, 1.0)
    assert len(packets.rows) == 8 * 64
    errors = []
    for parts, own in ((alone, kind), (together, where)):
        sums = add_up(parts, own, 8)
        found = fit(KINDS, 2, sums)
        drawn = resample(parts, own, 8, 400, np.random.default_rng(1))
        fast = one_step(KINDS, 2, sums, found, drawn)
        full = fit(KINDS, 2, drawn)
        np.testing.assert_allclose(fast.beta.std(axis=0), full.beta.std(axis=0), rtol=0.1)
        errors.append(np.concatenate([fast.beta.std(axis=0)[4:], fast.gamma.std(axis=0)]))
        share = drawn.number / drawn.number.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(share.std(axis=0), np.sqrt(1 / 8 * 7 / 8 / 4000), rtol=0.2)
    deviation = rows[["c", "d", "c", "d"]].std().to_numpy()  # the tally has standardised covariates
    np.testing.assert_allclose(errors[1] / np.concatenate([deviation, [1, 1]]), errors[0], rtol=0.25)


def test_metrics_are_means_over_the_rows() -> None:
    rows = rows_of(3000)
    parts, kind = of_rows(rows)
    sums = add_up(parts, kind, 8)
    found = fit(KINDS, 2, sums)
    tally = tally_of(rows)
    answer = model_based_metrics.estimate(tally, row_covariates=["c", "d"], replicates=20)
    c = parts.inner[:, 0, 1:]
    mean = np.concatenate([X[kind], c, c * KINDS.z[kind, 1:]], axis=1) @ found.beta
    sd = np.exp(KINDS.z[kind] @ found.gamma)
    of_group = kind // 2  # subgroups of the tally are crossed the other way around
    # Means over covariates that count as normal, here with the products of attributes and outcome as well.
    for g, name in enumerate(["0 | 0", "1 | 0", "0 | 1", "1 | 1"]):
        own = of_group == g
        for metric in ("sel", "fnr", "auc"):
            one = rows_metric(metric, (kind[own] % 2).astype(float), mean[own], sd[own], 0.0)
            mine = answer["estimate"].sel(metric=metric, subgroup=name)
            assert float(mine) == pytest.approx(float(one), abs=0.02)


def test_both_bootstraps_agree() -> None:
    tally = tally_of(rows_of())
    fast, full = (
        model_based_metrics.estimate(tally, row_covariates=["c", "d"], method=method, replicates=200)
        for method in ("fast", "full")
    )
    assert fast["estimate"].equals(full["estimate"])
    np.testing.assert_allclose(fast["std_error"], full["std_error"], rtol=0.1)
    assert fast["interval_method"].values[0] == "score_regression_fast"


def test_features_of_subgroups_enter_like_attributes() -> None:
    rows = rows_of()
    tally = tally_of(rows)
    kinds = model_based_metrics._kinds(tally, ["c"])
    mean = rows.groupby(["s", "t"])["c"].mean()
    number = rows.groupby(["s", "t"]).size()
    away = mean - np.average(mean, weights=number)
    np.testing.assert_allclose(kinds.x[0::2, 3], away / np.sqrt(np.average(away**2, weights=number)), rtol=1e-9)
    assert np.isfinite(model_based_metrics.estimate(tally, covariates=["c"], replicates=10)["estimate"]).all()
    with pytest.raises(bg.InputError, match="covariate 'age' is no feature of the tally, which has c"):
        model_based_metrics.estimate(tally, covariates=["age"])


def test_skewed_residuals_do_not_go_with_covariates_of_rows() -> None:
    tally = tally_of(rows_of(200))
    with pytest.raises(bg.InputError, match="row_covariates= needs residuals='normal'"):
        model_based_metrics.estimate(tally, row_covariates=["c"], residuals="skewed")
    assert score_covariate_regression.products(packets_of(tally, ["c"]), 0.0, 2.0).cross.shape[1] == 2
