"""NUTS on the PyMC model of the confusion cells and the exact engine are two ways to one posterior."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg


@pytest.mark.slow
@pytest.mark.parametrize("scored", [False, True])
def test_the_two_engines_agree_within_monte_carlo_error(*, scored: bool) -> None:
    """The default, in which outcomes follow the selection rate, and with the scores besides."""
    import arviz as az

    rng = np.random.default_rng(5)
    who = pd.DataFrame(itertools.product("abc", "fm"), columns=["race", "sex"])
    frame = who.iloc[np.repeat(np.arange(6), [4, 60, 25, 150, 9, 40])]
    frame = frame.assign(y=rng.random(len(frame)) < 0.4, d=rng.random(len(frame)) < 0.3)
    frame["score"] = frame["y"] + rng.normal(size=len(frame))
    decided = {"y_score": "score", "threshold": 0.5} if scored else {"y_pred": "d"}
    tally = bg.tally(frame, ["race", "sex"], ["fnr", "acc"], y_true="y", confusion=True, **decided)
    word = bg.ConfusionModel(score_offsets=scored)
    exact = bg.estimate(tally, word, seed=1, inference="collapsed")
    nuts = bg.estimate(tally, word, seed=1, inference="nuts")
    assert (exact.attrs["inference"], nuts.attrs["inference"]) == ("hamiltonian", "nuts")
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars) >= {"selection_slope", *["slope"] * scored}
    dims = ("chain", "draw")
    ess = xr.Dataset({name: az.ess(two[name]) for name in two.data_vars})
    for name in one.data_vars:
        # Draws of chains are fewer than they look, by a third here.
        error = np.sqrt(one[name].var(dims) / 2500 + two[name].var(dims) / np.minimum(ess[name], 4000))
        assert np.abs((one[name].mean(dims) - two[name].mean(dims)) / error).max() < 4.5, name
        assert np.abs(np.log(one[name].std(dims) / two[name].std(dims))).max() < 0.2, name
