"""One posterior: the draws of ``mu`` that an engine makes are the ``mu`` of the PyMC model, and are what every reader sees.

That the engines draw from the models is shown by `tests.inference` (NUTS against the exact engines, word by word) and by the
records of simulation-based calibration; here, that nothing stands between them and the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import ESTIMATORS
from bayesgroups.estimators.base import Estimator
from bayesgroups.inference import nuts
from bayesgroups.report.posterior import Posterior
from tests.test_conformance import _tally

WORDS = [leaf.word for leaf in ESTIMATORS]


def first_metric(leaf: type[Estimator]) -> xr.Dataset:
    """The tally of the word; with one metric where metrics are fitted one by one."""
    tally = _tally(leaf.word)
    return tally if leaf().joint else tally.isel(metric=[0])


@pytest.mark.parametrize("leaf", ESTIMATORS, ids=WORDS)
def test_the_report_has_the_draws_of_the_exact_engine(leaf: type[Estimator], monkeypatch: pytest.MonkeyPatch) -> None:
    tally, engine, made = first_metric(leaf), leaf.collapsed, []

    def collapsed(self: Estimator, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        made.append(engine(self, tally, seed=seed))
        return made[-1]

    monkeypatch.setattr(leaf, "collapsed", collapsed)
    report = bg.estimate(tally, leaf(), seed=1, inference="collapsed")
    (exact,) = made
    assert exact is not None
    kept = report["posterior"].to_dataset()["mu"].transpose("chain", "draw", "metric", "subgroup")
    np.testing.assert_array_equal(kept, exact.draws["mu"].transpose("chain", "draw", "metric", "subgroup"))


@pytest.mark.parametrize("leaf", ESTIMATORS, ids=WORDS)
def test_the_report_has_the_mu_of_the_model_as_nuts_drew_it(
    leaf: type[Estimator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sampler is replaced by one that makes draws of every variable of the model, with the dims that the model gives it."""
    tally, asked = first_metric(leaf), []

    def sample(model: Any, *, seed: int, draws: int, chains: int, **_: object) -> xr.DataTree:
        asked.append(model)
        rng = np.random.default_rng(seed)
        coordinates = {name: list(values) for name, values in model.coords.items()}
        data: dict[str, Any] = {}
        names = {variable.name for variable in (*model.free_RVs, *model.deterministics)} & _dims(model).keys()
        for name in sorted(names):
            dims = _dims(model)[name]
            shape = (chains, draws, *(len(coordinates[dim]) for dim in dims))
            data[name] = (("chain", "draw", *dims), rng.uniform(0.2, 0.8, shape))
        posterior = xr.Dataset(data, coords=coordinates | {"chain": np.arange(chains), "draw": np.arange(draws)})
        stats = xr.Dataset(
            {"diverging": (("chain", "draw"), np.zeros((chains, draws), dtype=bool)),
             "energy": (("chain", "draw"), rng.standard_normal((chains, draws)))}
        )  # fmt: skip
        return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})

    monkeypatch.setattr(nuts, "sample", sample)
    monkeypatch.setattr(leaf, "fit_checks", lambda *_: ())
    report = bg.estimate(tally, leaf(), seed=1, inference="nuts")
    model = asked[0]
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    drawn = sample(model, seed=1, draws=1000, chains=4)["posterior"]["mu"]
    kept = report["posterior"].to_dataset()["mu"].transpose(*drawn.dims)
    np.testing.assert_array_equal(kept.values, drawn.values)
    mean = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian")
    np.testing.assert_allclose(mean, drawn.mean(("chain", "draw")), rtol=1e-12)


def _dims(model: Any) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(dims) for name, dims in model.named_vars_to_dims.items() if None not in dims}
