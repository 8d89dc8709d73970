"""NUTS on the PyMC model of disagreement feedback and the exact engine are two ways to one posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg


@pytest.mark.slow
def test_the_two_engines_agree_within_monte_carlo_error() -> None:
    import arviz as az

    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"sex": rng.choice(list("fmx"), 400), "said": rng.choice(list("ab"), 400)})
    rows["disagrees"] = (rng.random(400) < 0.3).astype(int)
    tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees")
    exact = bg.estimate(tally, bg.DisagreementModel(), seed=1, inference="collapsed")
    nuts = bg.estimate(tally, bg.DisagreementModel(), seed=1, inference="nuts")
    assert (exact.attrs["inference"], nuts.attrs["inference"], nuts.attrs["usable"]) == ("collapsed", "nuts", 1)
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars) == {"mu"}
    dims = ("chain", "draw")
    error = [az.mcse(data, method="mean")["mu"] for data in (one, two)]
    z = (one["mu"].mean(dims) - two["mu"].mean(dims)) / np.sqrt(error[0] ** 2 + error[1] ** 2)
    assert float(np.sqrt((z**2).mean())) < 1.6
    assert float(np.abs(z).max()) < 4.5
    assert float(np.abs(np.log(one["mu"].std(dims) / two["mu"].std(dims))).max()) < 0.15
