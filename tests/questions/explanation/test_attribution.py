"""Shares of the variance between subgroups: where they must lie, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError

LEARNED = bg.CrossedEffects(own_effects="learned")

WHO = pd.DataFrame({"race": list("aabbccdd"), "sex": ["f", "m"] * 4})
LOGIT = {"race": np.repeat([-2.0, -0.7, 0.6, 1.5], 2), "sex": np.tile([-1.0, 1.0], 4)}


def counts(logit: np.ndarray, name: str = "fnr") -> xr.Dataset:
    return bg.tally_from_counts(np.round(5000 / (1 + np.exp(-logit))), [5000] * 8, WHO, metric=name)


def test_the_attribute_that_differs_has_the_share() -> None:
    shares = bg.variance_attribution(bg.estimate(counts(LOGIT["race"]), LEARNED, seed=1)).isel(metric=0)
    assert float(shares["share"].sel(component="race")) > 0.8
    assert float(shares["probability_largest"].sel(component="race")) > 0.95
    assert float(shares["share"].sum()) == pytest.approx(1)
    assert ((shares["lower"] <= shares["upper"]) & (shares["lower"] >= 0) & (shares["upper"] <= 1)).all()
    assert shares["level"].values.tolist() == [0.5, 0.8, 0.9, 0.95]


def test_a_covariate_takes_over_what_it_explains() -> None:
    rng = np.random.default_rng(1)
    rows = WHO.loc[np.repeat(np.arange(8), 400)].reset_index(drop=True)
    x = np.repeat([1.3, -0.2, 0.4, 0.9, -1.5, 0.1, -0.8, 2.0], 400)
    rows = rows.assign(x=x, loss=5 + x + rng.normal(size=len(rows)))
    tally = bg.tally(rows, by=["race", "sex"], metrics=["mean"], loss="loss", features=["x"])
    shares = bg.variance_attribution(bg.estimate(tally, replace(LEARNED, covariates=("x",), tau_scale=1.0), seed=1))
    assert shares["component"].values.tolist() == ["race", "sex", "race:sex", "x"]
    assert float(shares["share"].sel(component="x").item()) > 0.8


def test_an_undefined_metric_has_no_shares() -> None:
    tally = bg.tally_from_counts({"fnr": [1] * 8, "ppv": [0] * 8}, {"fnr": [5] * 8, "ppv": [0] * 8}, WHO)
    shares = bg.variance_attribution(bg.estimate(tally, LEARNED, seed=1))
    assert shares["share"].sel(metric="ppv").isnull().all()  # noqa: PD003 (xarray)
    assert shares["probability_largest"].sel(metric="ppv").isnull().all()  # noqa: PD003 (xarray)
    assert shares["share"].sel(metric="fnr").notnull().all()  # noqa: PD004 (xarray)


def test_words_without_components_are_refused() -> None:
    report = bg.estimate(counts(LOGIT["sex"]), bg.PartialPooling(), seed=1)
    with pytest.raises(bg.InputError, match="'partial_pooling' has no variance components"):
        bg.variance_attribution(report)
    with pytest.raises(bg.SchemaError):
        bg.variance_attribution(bg.tally_from_counts([1], [2], WHO.iloc[:1]))  # type: ignore[arg-type]


def test_a_fixed_standard_deviation_has_no_share_to_learn() -> None:
    for kind in ("fixed", "floored"):
        report = bg.estimate(counts(LOGIT["race"]), bg.CrossedEffects(own_effects=kind), seed=1)
        with pytest.raises(InputError, match=r"\(race:sex\) have a fixed standard deviation .*own_effects='learned'"):
            bg.variance_attribution(report)
