"""Row variances of crossed effects: one pooled over subgroups is that of the tally, on both engines and in all that reads it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg

POOLED = bg.CrossedEffects(row_variances="pooled")


@pytest.fixture(scope="module")
def losses() -> xr.Dataset:
    """Means of losses of which one in fifty is huge."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"race": rng.choice(["a", "b", "c"], 300), "sex": rng.choice(["f", "m"], 300)})
    rows["loss"] = rng.gamma(2.0, 0.1, 300) * np.where(rng.random(300) < 0.02, 20, 1)
    return bg.tally(rows, by=["race", "sex"], metrics=["mean"], loss="loss")


@pytest.fixture(scope="module")
def report(losses: xr.Dataset) -> xr.DataTree:
    return bg.estimate(losses, POOLED, seed=1)


def test_the_exact_engine_takes_the_variances_of_the_tally(losses: xr.Dataset, report: xr.DataTree) -> None:
    known = bg.estimate(losses.drop_vars("row_variance"), bg.CrossedEffects(), seed=1)
    shrunk = bg.estimate(losses, bg.CrossedEffects(), seed=1)
    draws, same, others = (each["posterior"].to_dataset()["mu"].values for each in (report, known, shrunk))
    np.testing.assert_array_equal(draws, same)
    assert np.abs(draws - others).max() > 0.01


def test_the_likelihood_has_the_same_variances(losses: xr.Dataset, report: xr.DataTree) -> None:
    mu = report["posterior"].to_dataset()["mu"].values[:, :, 0]
    density = report["log_likelihood"].to_dataset()["estimate"].values
    error = np.sqrt(losses["sampling_variance"].values[0])
    normal = -0.5 * ((losses["estimate"].values[0] - mu) / error) ** 2 - np.log(error) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(density, normal, rtol=1e-9)


def test_settings_say_so_and_leaving_out_works(report: xr.DataTree) -> None:
    assert '"row_variances": "pooled"' in report.attrs["settings"]
    assert bg.loo(report)["elpd"].notnull().all()  # noqa: PD004 (xarray)


@pytest.mark.slow
def test_nuts_draws_from_the_same_posterior(losses: xr.Dataset, report: xr.DataTree) -> None:
    sampled = bg.estimate(losses, POOLED, seed=1, inference="nuts")
    exact, other = (each["posterior"].to_dataset()["mu"].values.reshape(-1, 6) for each in (report, sampled))
    assert np.abs(exact.mean(axis=0) - other.mean(axis=0)).max() < 0.12 * exact.std(axis=0).max()
    np.testing.assert_allclose(other.std(axis=0), exact.std(axis=0), rtol=0.12)


def test_rates_do_not_change() -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    counts = bg.tally_from_counts([1, 30, 9, 2], [2, 100, 60, 9], who)
    default, pooled = (
        bg.estimate(counts, word, seed=1)["posterior"].to_dataset()["mu"] for word in (bg.CrossedEffects(), POOLED)
    )
    np.testing.assert_array_equal(default, pooled)


def test_a_choice_that_does_not_exist_is_refused() -> None:
    with pytest.raises(bg.InputError, match="row_variances='own' is not one of"):
        bg.CrossedEffects(row_variances="own")  # type: ignore[arg-type]
