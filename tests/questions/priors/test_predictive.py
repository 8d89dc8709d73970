from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError

WHO = pd.DataFrame({"site": ["a", "b", "c"]})
COUNTS = bg.tally_from_counts([1, 30, 0], [2, 100, 0], WHO, metric="fnr")


def test_draws_have_the_quantiles_that_the_model_states() -> None:
    found = bg.prior_predictive(COUNTS, bg.PartialPooling(), seed=1, draws=4000)
    quantiles = found["overall"].sel(metric="fnr").quantile([0.25, 0.5, 0.75]).values
    np.testing.assert_allclose(quantiles, [0.27, 0.5, 0.73], atol=0.02)  # the table in the model's docstring
    assert found["mu"].dims == ("draw", "metric", "subgroup")


def test_estimates_are_seen_in_as_many_rows_as_there_are() -> None:
    found = bg.prior_predictive(COUNTS, bg.NoPooling(), seed=1, draws=200)
    seen = found["predicted"].sel(metric="fnr")
    assert set(np.unique(seen.sel(subgroup="a").values)) <= {0.0, 0.5, 1.0}
    assert np.isnan(seen.sel(subgroup="c").values).all()
    np.testing.assert_array_equal(found["observed"].values, COUNTS["estimate"].values)


def test_gap_and_worst_are_those_of_the_draws() -> None:
    found = bg.prior_predictive(COUNTS, bg.PartialPooling(), seed=2, draws=50)
    np.testing.assert_array_equal(found["worst"], found["mu"].max("subgroup"))
    np.testing.assert_array_equal(found["gap"], found["mu"].max("subgroup") - found["mu"].min("subgroup"))


def test_means_are_in_their_own_units() -> None:
    rows = pd.DataFrame({"site": list("aabb") * 5, "seconds": np.linspace(100, 300, 20)})
    tally = bg.tally(rows, ["site"], ["mean"], loss="seconds")
    found = bg.prior_predictive(tally, bg.PartialPooling(), seed=1, draws=1000)
    assert 150 < float(found["mu"].mean()) < 250
    assert float(found["predicted"].std()) > float(found["mu"].std())


def test_the_same_seed_gives_the_same_draws_quietly(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        one, two = (bg.prior_predictive(COUNTS, bg.PartialPooling(), seed=3, draws=20) for _ in range(2))
    assert one.identical(two)
    assert "Sampling" not in caplog.text


def test_bad_requests_are_refused() -> None:
    with pytest.raises(InputError, match="estimator must be one such as"):
        bg.prior_predictive(COUNTS, "partial_pooling", seed=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="priors of james_stein are flat"):
        bg.prior_predictive(COUNTS, bg.JamesStein(), seed=1)
    with pytest.raises(InputError, match="draws must be a whole number, 1 or larger; got 0"):
        bg.prior_predictive(COUNTS, bg.PartialPooling(), seed=1, draws=0)
    with pytest.raises(SchemaError, match="tally must come from"):
        bg.prior_predictive({}, bg.PartialPooling(), seed=1)  # type: ignore[arg-type]
