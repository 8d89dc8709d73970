"""Prior scales of crossed components that differ between main effects and interactions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators.descriptions import estimator_of
from bayesgroups.estimators.named import estimator_named
from bayesgroups.inference.prior_densities import component_density, half_t


def counts() -> xr.Dataset:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "fm"], columns=["race", "sex"])
    return bg.tally_from_counts([2, 30, 4, 35, 6, 40], [60, 60, 50, 60, 70, 60], who, metric="fnr")


def test_one_scale_for_every_order_is_the_scale_itself() -> None:
    one, each = (bg.estimate(counts(), bg.CrossedEffects(tau_scale=scale), seed=1) for scale in (0.4, (0.4, 0.4)))
    assert one["posterior"].to_dataset().identical(each["posterior"].to_dataset().assign_attrs(one["posterior"].attrs))


def test_wide_main_effects_take_over_from_narrow_interactions() -> None:
    plain, wide = (
        bg.estimate(counts(), bg.CrossedEffects(tau_scale=scale, own_effects="learned"), seed=1)["posterior"]
        .to_dataset()["component_sd"]
        .mean(("chain", "draw", "metric"))
        for scale in (None, {1: 2.5, 2: 0.05})
    )
    assert float(wide.sel(component="sex")) > 1.3 * float(plain.sel(component="sex"))
    assert float(wide.sel(component="race:sex")) < 0.5 * float(plain.sel(component="race:sex"))


def test_forms_of_the_setting() -> None:
    sequence = bg.CrossedEffects(tau_scale=(2.5, 0.25))
    assert bg.CrossedEffects(tau_scale={1: 2.5, 2: 0.25}) == sequence
    assert estimator_named("crossed_effects", {"tau_scale": [2.5, 0.25]}) == sequence
    assert estimator_named("crossed_effects", {"tau_scale": {"1": 2.5, "2": 0.25}}) == sequence
    assert hash(sequence) == hash(bg.CrossedEffects(tau_scale=[2.5, 0.25]))  # type: ignore[arg-type]
    assert "2.5 (of order 1), 0.25 (of order 2), 0.25 logits (of others)" in sequence.describe_priors(counts())


def test_round_trip_through_a_report(tmp_path: Path) -> None:
    estimator = bg.CrossedEffects(tau_scale={1: 2.5})
    report = bg.estimate(counts(), estimator, seed=1)
    again = bg.open_report(bg.save_report(report, tmp_path / "report.nc"))
    assert json.loads(again.attrs["settings"])["tau_scale"] == [2.5]
    assert estimator_of(again) == estimator
    assert np.isfinite(bg.prior_sensitivity(again)["prior"].values).all()


def test_density_of_the_prior() -> None:
    tally = counts()
    draws = xr.Dataset(
        {
            "overall": ("sample", [0.5]),
            "component_sd": (("sample", "component"), [[0.3, 0.2, 0.1]]),
        },
        {"component": ["race", "sex", "race:sex"]},
    )
    density = component_density(draws, tally, binomial=True, prior="half_t", tau_scale=(2.5, None))
    parts = [half_t(np.array([sd]), scale) for sd, scale in ((0.3, 2.5), (0.2, 2.5), (0.1, 0.25))]
    np.testing.assert_allclose(density, sum(parts), rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tau_scale": {0: 1.0}}, "tau_scale names the order 0; an order is a whole number from 1"),
        ({"tau_scale": {"race": 1.0}}, "tau_scale names the order 'race'"),
        ({"tau_scale": (1.0, -1.0)}, "tau_scale of order 2=-1.0 must be a positive number"),
        ({"tau_scale": {}}, "tau_scale is an empty mapping"),
        ({"tau_scale": ()}, "tau_scale is an empty sequence"),
        ({"tau_scale": (1.0, 0.5), "prior": "r2d2"}, "prior='r2d2' has one scale"),
    ],
)
def test_scales_that_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(bg.InputError, match=words):
        bg.CrossedEffects(**settings)


def test_scales_of_logits_that_are_too_wide() -> None:
    with pytest.raises(bg.InputError, match="tau_scale=100 is a scale of logits"):
        bg.estimate(counts(), bg.CrossedEffects(tau_scale=(100.0,)), seed=1)
