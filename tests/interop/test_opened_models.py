"""The PyMC model of an estimator, sampled by hand, becomes the report that the estimator would give."""

from __future__ import annotations

from functools import cache
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError

SITES = pd.DataFrame({"site": ["a", "b", "c", "d", "e"]})


@cache
def small_tally() -> xr.Dataset:
    """Rates of five sites."""
    return bg.tally_from_counts([24, 30, 9, 8, 40], [60, 100, 60, 30, 90], SITES, metric="fnr")


@cache
def sampled(tau_scale: float | None = None) -> Any:
    """Draws of plain PyMC from the model of partial pooling."""
    with bg.PartialPooling(tau_scale=tau_scale).model(small_tally()):
        return pm.sample(chains=4, target_accept=0.99, random_seed=2, progressbar=False, quiet=True)


def mean_and_error(report: xr.DataTree, name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Posterior mean of a variable and its Monte Carlo standard error."""
    import arviz as az

    draws = report["posterior"].to_dataset()[[name]]
    error = draws.std(("chain", "draw")) / np.sqrt(az.ess(draws)[name])
    return draws[name].mean(("chain", "draw")).values, error[name].values


@pytest.mark.slow
def test_sampled_by_hand_is_the_report_of_the_estimator() -> None:
    tally, estimator = small_tally(), bg.PartialPooling()
    by_hand = bg.report_from_draws(tally, sampled(), estimator=estimator, seed=1)
    same = bg.estimate(tally, estimator, inference="nuts", seed=1)
    assert by_hand.attrs["usable"] == 1
    for name in ("mu", "overall", "tau"):
        (left, left_error), (right, right_error) = mean_and_error(by_hand, name), mean_and_error(same, name)
        assert (np.abs(left - right) < 4 * np.hypot(left_error, right_error)).all()
    told = {"estimator", "estimator_class", "settings", "prior_description", "description", "references"}
    assert {key: by_hand.attrs[key] for key in told} == {key: same.attrs[key] for key in told}
    assert by_hand.attrs["inference"] == "nuts"
    checks = [report["diagnostics"].to_dataset()["check"].values.tolist() for report in (by_hand, same)]
    assert checks[0] == checks[1]
    assert set(by_hand["posterior"].data_vars) == set(same["posterior"].data_vars)
    for name in ("estimate", "lower", "upper", "interval_method"):
        sides = [report["estimates"].to_dataset()[name].sel(approach="frequentist") for report in (by_hand, same)]
        assert sides[0].equals(sides[1])
    assert by_hand.attrs["sampler"].split()[0] in ("nutpie", "pymc")
    assert "sampler" not in bg.report_from_draws(tally, by_hand["posterior"]["mu"]).attrs


def test_draws_by_hand_have_the_likelihood_of_the_estimator() -> None:
    report = bg.report_from_draws(small_tally(), sampled(), estimator=bg.PartialPooling(), seed=1)
    again = bg.add_groups(report, ["observed_data", "log_likelihood"])
    for name in ("observed_data", "log_likelihood"):
        xr.testing.assert_identical(report[name].to_dataset(), again[name].to_dataset())
    with pytest.warns(UserWarning, match="greater than 0.70"):  # a subgroup left out moves its own effect far
        assert np.isfinite(az.loo(report).elpd)


@pytest.mark.slow  # the draws from the prior are compiled as well
def test_groups_are_added_to_a_report_sampled_by_hand() -> None:
    report = bg.report_from_draws(small_tally(), sampled(), estimator=bg.PartialPooling(), seed=1)
    assert {"prior", "log_prior"} <= set(bg.add_groups(report, ["prior", "log_prior"]).children)


@pytest.mark.slow
def test_a_changed_prior_shows() -> None:
    tally = small_tally()
    narrow = bg.PartialPooling(tau_scale=0.05)
    pulled = bg.report_from_draws(tally, sampled(0.05), estimator=narrow, seed=1)
    free = bg.report_from_draws(tally, sampled(), estimator=bg.PartialPooling(), seed=1)
    width = [float(np.ptp(mean_and_error(report, "mu")[0])) for report in (pulled, free)]
    assert width[0] < 0.5 * width[1]
    assert "tau ~ HalfNormal(0.05)" in pulled.attrs["prior_description"]
    exact = bg.estimate(tally, narrow, seed=1)
    (left, left_error), (right, right_error) = mean_and_error(pulled, "mu"), mean_and_error(exact, "mu")
    assert (np.abs(left - right) < 4 * np.hypot(left_error, right_error)).all()


def test_parameters_of_crossed_effects_come_along() -> None:
    groups = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
    tally = bg.tally_from_counts([4, 30, 9, 1], [10, 100, 60, 3], groups, metric="fnr")
    estimator = bg.CrossedEffects()
    drawn = bg.estimate(tally, estimator, seed=1)["posterior"].to_dataset()
    assert len(drawn.data_vars) > 3
    report = bg.report_from_draws(tally, drawn, estimator=estimator, seed=1)
    assert report["posterior"].to_dataset().equals(drawn)
    assert report.attrs["inference"] == "draws"
    with pytest.raises(InputError, match="have no variable .*, a parameter of CrossedEffects; keep all variables of"):
        bg.report_from_draws(tally, drawn[["mu"]], estimator=estimator)


def test_settings_beside_an_estimator_are_refused() -> None:
    draws = bg.estimate(small_tally(), bg.PartialPooling(), seed=1)["posterior"].to_dataset()
    with pytest.raises(InputError, match="beside the estimator PartialPooling: its settings are its own"):
        bg.report_from_draws(small_tally(), draws, estimator=bg.PartialPooling(), settings={"tau_scale": 2.0})
