"""NUTS with the model compiled by JAX, where that is installed: the posterior that the exact engine draws from."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError, MissingDependencyError
from bayesgroups.inference import nuts

COUNTS = ([3, 12, 7, 30], [20, 31, 40, 90])


def test_jax_draws_from_the_posterior() -> None:
    if find_spec("jax") is None or find_spec("nutpie") is None:
        pytest.skip("JAX is not installed, and nothing but this path needs it")
    counts = bg.tally_from_counts(*COUNTS, pd.DataFrame({"site": list("abcd")}), metric="fnr")
    exact = bg.estimate(counts, bg.PartialPooling(), seed=1)["estimates"].to_dataset().sel(approach="bayesian")
    report = bg.estimate(counts, bg.PartialPooling(), seed=1, inference="nuts_jax")
    assert (report.attrs["inference"], report.attrs["usable"]) == ("nuts_jax", 1)
    assert '"jax"' in report.attrs["versions"]
    found = report["estimates"].to_dataset().sel(approach="bayesian")
    for name in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(found[name], exact[name], atol=0.025)


def test_a_missing_jax_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = bg.tally_from_counts(*COUNTS, pd.DataFrame({"site": list("abcd")}), metric="fnr")
    monkeypatch.setattr(nuts, "find_spec", lambda name: None if name == "jax" else object())
    with pytest.raises(MissingDependencyError, match=r"sampling with JAX needs jax; .* 'bayesgroups\[jax\]'"):
        bg.estimate(counts, bg.PartialPooling(), seed=1, inference="nuts_jax")
    with pytest.raises(InputError, match="backend='tpu' is not one of 'default', 'jax'"):
        nuts._check("tpu", 1)
    with pytest.raises(InputError, match="inference='jax' is not one of 'auto', 'collapsed', 'nuts', 'nuts_jax'"):
        bg.estimate(counts, bg.PartialPooling(), seed=1, inference="jax")  # type: ignore[arg-type]
