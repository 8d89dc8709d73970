"""The sampler against closed forms and a published grid answer, within Monte Carlo error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from arviz_stats.base.array import array_stats
from scipy import stats

import bayesgroups as bg
from bayesgroups.inference import nuts
from bayesgroups.models import no_pooling, partial_pooling
from bayesgroups.report.diagnostics import nuts_checks, usable

CELLS = ("metric", "subgroup")

# Differences in units of their own Monte Carlo standard error; beyond 4 once in 16,000.
MAX_STANDARD_ERRORS = 4.0


def _tally(
    kind: str, count: Sequence[float], estimate: Sequence[float], successes: Sequence[float] | None = None
) -> xr.Dataset:
    """One metric on [0, 1] with a pooled variance of .16."""
    with np.errstate(divide="ignore"):
        variance = 0.16 / np.array(count, dtype=np.float64)
    return xr.Dataset(
        {
            "count": (CELLS, [np.array(count, dtype=np.float64)]),
            "successes": (CELLS, [np.full(len(count), np.nan) if successes is None else np.array(successes)]),
            "estimate": (CELLS, [np.array(estimate)]),
            "sampling_variance": (CELLS, [variance]),
            "pooled_variance": ("metric", [0.16]),
            "kind": ("metric", [kind]),
            "range_lower": ("metric", [0.0]),
            "range_upper": ("metric", [1.0]),
        },
        coords={"metric": ["fnr"], "subgroup": list("abcde")[: len(count)]},
    )


def _standard_errors_off(draws: xr.DataArray, mean: float) -> float:
    statistics: Any = array_stats
    values = draws.transpose("chain", "draw").values
    return float(abs(values.mean() - mean) / statistics.mcse(values, 0, 1, method="mean"))


def test_no_pooling_is_the_beta_posterior() -> None:
    # The last subgroup is empty and keeps its Beta(1/2, 1/2) prior.
    successes, count = [4.0, 9.0, 0.0], [20.0, 10.0, 0.0]
    tally = _tally("rate", count, [0.2, 0.9, np.nan], successes)
    tree = nuts.sample(no_pooling.build(tally), seed=3)
    mu = tree["posterior"].to_dataset()["mu"].sel(metric="fnr")
    for subgroup, (k, n) in zip(tally["subgroup"].values, zip(successes, count, strict=True), strict=True):
        exact = stats.beta(0.5 + k, 0.5 + n - k)
        draws = mu.sel(subgroup=subgroup)
        assert _standard_errors_off(draws, exact.mean()) < MAX_STANDARD_ERRORS
        assert _standard_errors_off((draws - exact.mean()) ** 2, exact.var()) < MAX_STANDARD_ERRORS
    assert usable(nuts_checks(tree, "fnr"))


@pytest.mark.slow
def test_partial_pooling_gives_the_grid_answer() -> None:
    """Five subgroups with known standard errors; posterior means from a two-dimensional grid over (overall, tau)."""
    tally = _tally("mean", [50, 30, 15, 8, 4], [0.20, 0.25, 0.40, 0.10, 0.75])
    model = partial_pooling.build(tally)
    tree = nuts.sample(model, seed=1, draws=2000, target_accept=0.95, log_likelihood=True)

    posterior = tree["posterior"].to_dataset().sel(metric="fnr")
    assert set(posterior.data_vars) == {"mu", "overall", "tau"}
    expected = [0.22041, 0.25972, 0.34827, 0.20241, 0.44318]
    for subgroup, mean in zip("abcde", expected, strict=True):
        assert _standard_errors_off(posterior["mu"].sel(subgroup=subgroup), mean) < MAX_STANDARD_ERRORS
    assert _standard_errors_off(posterior["overall"], 0.29938) < MAX_STANDARD_ERRORS
    assert _standard_errors_off(posterior["tau"], 0.15087) < MAX_STANDARD_ERRORS

    log_likelihood = tree["log_likelihood"].to_dataset()["estimate"]
    assert log_likelihood.dims == ("chain", "draw", "normal_cell")
    assert log_likelihood["normal_cell"].values[0] == "fnr | a"
    first = stats.norm.logpdf(0.20, posterior["mu"].sel(subgroup="a"), np.sqrt(0.16 / 50))
    np.testing.assert_allclose(log_likelihood[..., 0], first, rtol=1e-6)


@pytest.mark.slow
def test_empty_subgroups_are_drawn_from_the_population() -> None:
    tally = _tally("rate", [12.5, 7.25, 0.0], [0.2, 0.9, np.nan], [2.5, 6.5, 0.0])
    tree = nuts.sample(partial_pooling.build(tally), seed=2, target_accept=0.95, keep_latent=True)
    posterior = tree["posterior"].to_dataset().sel(metric="fnr")
    assert set(posterior.data_vars) == {"mu", "overall", "tau", "alpha", "z"}
    z = posterior["z"].sel(subgroup="c")
    assert _standard_errors_off(z, 0.0) < MAX_STANDARD_ERRORS
    assert _standard_errors_off(z**2, 1.0) < MAX_STANDARD_ERRORS
    assert _standard_errors_off(z * posterior["tau"], 0.0) < MAX_STANDARD_ERRORS


def test_the_same_seed_gives_the_same_bytes() -> None:
    with pm.Model(coords={"metric": np.array(["fnr"], dtype=object)}) as model:
        pm.Normal("overall", dims="metric")

    def draws(seed: int) -> bytes:
        tree = nuts.sample(model, seed=seed, draws=50, tune=100, chains=2, log_likelihood=True)
        assert tree["posterior"]["overall"].dims == ("chain", "draw", "metric")
        assert tree["posterior"]["metric"].dtype.kind == "U"
        assert set(tree.children) == {"posterior", "sample_stats"}
        assert tuple(tree["sample_stats"].data_vars) == nuts.STATISTICS
        return tree["posterior"].to_dataset()["overall"].values.tobytes()

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


def test_without_nutpie_pymc_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nuts, "find_spec", lambda name: None)
    with pm.Model() as model:
        pm.Normal("overall")
    tree = nuts.sample(model, seed=1, draws=50, tune=100, chains=1)
    assert tree["posterior"].attrs["inference_library"] == "pymc"
    assert tuple(tree["sample_stats"].data_vars) == nuts.STATISTICS
    again = nuts.sample(model, seed=1, draws=50, tune=100, chains=1)
    np.testing.assert_array_equal(tree["posterior"]["overall"], again["posterior"]["overall"])


@pytest.mark.slow
def test_few_rows_and_many_are_sampled_alike() -> None:
    """From 2 rows to 20,000: no fixed form of the latent effects suits all of them."""
    rng, trials = np.random.default_rng(3), np.geomspace(2, 20_000, 24).astype(int)
    successes = rng.binomial(trials, 1 / (1 + np.exp(1 - 0.5 * rng.standard_normal(24))))
    tally = bg.tally_from_counts(successes, trials, pd.DataFrame({"site": [f"s{i}" for i in range(24)]}))
    report = bg.estimate(tally, bg.PartialPooling(), seed=1, inference="nuts")
    assert (report.attrs["usable"], json.loads(report.attrs["notes"])) == (1, [])
    checks = report["diagnostics"].to_dataset()["value"]
    assert float(checks.sel(check="rate: bulk ESS")) >= 2000


def test_thinned_draws_are_some_of_all_draws() -> None:
    with pm.Model(coords={"metric": ["fnr"]}) as model:
        pm.Normal("overall", dims="metric")
        pm.Normal("y", model["overall"], observed=np.array([0.3]))
    every = nuts.sample(model, seed=2, draws=60, tune=100, chains=2, log_likelihood=True)
    thinned = nuts.sample(model, seed=2, draws=20, tune=100, chains=2, thin=3, log_likelihood=True)
    for group in ("posterior", "log_likelihood"):
        kept, whole = thinned[group].to_dataset(), every[group].to_dataset()
        xr.testing.assert_identical(
            kept.drop_attrs(), whole.isel(draw=slice(2, None, 3)).assign_coords(draw=range(20)).drop_attrs()
        )
    assert thinned["sample_stats"].sizes["draw"] == 60
    np.testing.assert_array_equal(thinned["sample_stats"]["lp"], every["sample_stats"]["lp"])
    for thin in (0, 1.5, True):
        with pytest.raises(bg.errors.InputError, match="thin=.* must be a whole number, 1 or larger"):
            nuts.sample(model, seed=2, thin=thin)  # type: ignore[arg-type]


def test_what_means_alone_have_runs_along_all_metrics() -> None:
    sd = xr.DataArray(np.ones((2, 3, 1)), {"mean_metric": ["wer"]}, ("chain", "draw", "mean_metric"))
    tau = xr.DataArray(np.ones((2, 3, 2)), {"metric": ["fnr", "wer"]}, ("chain", "draw", "metric"))
    draws = nuts.along_metrics(xr.Dataset({"tau": tau, "row_sd": sd}))
    assert draws["row_sd"].dims == ("chain", "draw", "metric")
    assert np.isnan(draws["row_sd"].sel(metric="fnr")).all()
    assert (draws["row_sd"].sel(metric="wer") == 1).all()
    assert set(draws.coords) == {"metric"}
