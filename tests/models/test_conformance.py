"""Contract of every builder: one public function, names, dims, coordinates, a finite density and gradient."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode

from bayesgroups import models
from bayesgroups.models import complete_pooling, no_pooling, partial_pooling

BUILDERS = [no_pooling, complete_pooling, partial_pooling]
TALLIES = ["rates", "means", "mixed", "weighted"]


@pytest.fixture(
    params=list(itertools.product(BUILDERS, TALLIES)), ids=lambda p: f"{p[0].__name__.split('.')[-1]}-{p[1]}"
)
def built(request: pytest.FixtureRequest) -> tuple[Any, xr.Dataset]:
    builder, name = request.param
    tally = request.getfixturevalue(name)
    return builder.build(tally), tally


def test_names_dims_and_coordinates(built: tuple[Any, xr.Dataset]) -> None:
    model, tally = built
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    assert list(model.coords["metric"]) == tally["metric"].values.tolist()
    assert list(model.coords["subgroup"]) == tally["subgroup"].values.tolist()
    for name in ("overall", "tau"):
        assert model.named_vars_to_dims.get(name, ("metric",)) == ("metric",)
    assert all(model.named_vars_to_dims[variable.name] for variable in model.basic_RVs)


def test_no_node_without_cells(built: tuple[Any, xr.Dataset]) -> None:
    model, tally = built
    kinds = set(tally["kind"].values.tolist())
    expected = {"successes": "rate" in kinds, "estimate": bool(kinds - {"rate"})}
    assert {variable.name for variable in model.observed_RVs} == {name for name, there in expected.items() if there}


def test_gradient_is_finite_at_the_start(built: tuple[Any, xr.Dataset]) -> None:
    model, _ = built
    gradient = model.compile_dlogp(mode=Mode(linker="py", optimizer="fast_run"))(model.initial_point())
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("builder", BUILDERS)
def test_mu_is_on_the_scale_of_each_metric(builder: Any, mixed: xr.Dataset) -> None:
    model = builder.build(mixed)
    mode = Mode(linker="py", optimizer="fast_compile")
    mu = np.asarray(pm.draw(model["mu"], draws=200, random_seed=1, mode=mode))
    assert mu.shape == (200, 3, 3)
    assert ((mu[:, 0] >= 0) & (mu[:, 0] <= 1)).all()
    assert (mu[:, 1] < 0).any()


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_tally_without_data_leaves_the_prior(builder: Any, mixed: xr.Dataset) -> None:
    empty = mixed.isel(subgroup=[2], metric=[0, 1])
    assert not builder.build(empty).observed_RVs


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_likelihood_can_be_chosen(builder: Any, rates: xr.Dataset) -> None:
    assert [node.name for node in builder.build(rates, likelihood="normal").observed_RVs] == ["estimate"]
    with pytest.raises(ValueError, match="must be one of auto, binomial, normal"):
        builder.build(rates, likelihood="probit")


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_module_holds_one_public_function(builder: Any) -> None:
    own = [
        name
        for name, value in vars(builder).items()
        if inspect.isfunction(value) and value.__module__ == builder.__name__
    ]
    assert [name for name in own if not name.startswith("_")] == ["build"]


def test_modules_are_found_by_name() -> None:
    assert models.partial_pooling is partial_pooling
    with pytest.raises(AttributeError, match=r"no attribute 'pooling'; it has complete_pooling, "):
        models.__getattr__("pooling")
