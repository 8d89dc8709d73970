"""Draws of any model become a report with the checks of its chains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError

MakeTally = Callable[..., xr.Dataset]


def beta_draws(tally: xr.Dataset, *, seed: int = 1) -> xr.DataArray:
    """The posterior of independent Beta priors, in the order of the tally."""
    hits, count = np.nan_to_num(tally["successes"].values), tally["count"].values
    values = np.random.default_rng(seed).beta(1 + hits, 1 + count - hits, size=(4, 500, *hits.shape))
    coordinates = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    return xr.DataArray(values, dims=("chain", "draw", "metric", "subgroup"), coords=coordinates, name="mu")


def test_draws_in_any_order_are_the_same_report(make_tally: MakeTally, tmp_path: Path) -> None:
    tally = make_tally()
    draws = beta_draws(tally)
    report = bg.report_from_draws(tally, draws, estimator="beta", settings={"prior": "flat"}, seed=3)
    np.testing.assert_array_equal(report["posterior"]["mu"].values, draws.values)
    turned = draws.isel(subgroup=slice(None, None, -1), metric=[1, 0]).transpose("subgroup", "metric", "draw", "chain")
    again = bg.report_from_draws(tally, turned, estimator="beta")
    assert again["estimates"].to_dataset().equals(report["estimates"].to_dataset())
    assert report.attrs["usable"] == 1
    assert report["estimates"].to_dataset()["status"].sel(approach="bayesian").values[0, 0] == "imputed"
    opened = bg.open_report(bg.save_report(report, tmp_path / "r.nc"))
    assert (opened.attrs["estimator"], opened.attrs["inference"]) == ("beta", "draws")
    assert (
        bg.compare({"own": report, "pooled": bg.estimate(tally, bg.PartialPooling(), seed=1)}).sizes["estimator"] == 2
    )


def test_a_dim_without_labels_is_in_the_order_of_the_tally(make_tally: MakeTally) -> None:
    tally = make_tally(metrics=["fnr"])
    own = beta_draws(tally).isel(metric=0, drop=True).drop_vars("subgroup").rename(subgroup="__obs__")
    report = bg.report_from_draws(tally, own.assign_coords(__obs__=np.arange(own.sizes["__obs__"])))
    assert report["posterior"]["mu"].dims == ("chain", "draw", "metric", "subgroup")
    named = bg.report_from_draws(tally, own.to_dataset(name="p"), variable="p", dim="__obs__")
    assert named["estimates"].to_dataset().equals(report["estimates"].to_dataset())


def test_divergences_and_hyper_parameters_come_along(make_tally: MakeTally) -> None:
    tally = make_tally(metrics=["fnr"])
    random = np.random.default_rng(1)
    draws = beta_draws(tally).to_dataset().assign(tau=(("chain", "draw"), random.gamma(2.0, size=(4, 500))))
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.zeros((4, 500), bool)),
            "energy": (("chain", "draw"), random.normal(size=(4, 500))),
        }
    )
    good = bg.report_from_draws(tally, xr.DataTree.from_dict({"posterior": draws, "sample_stats": stats}))
    assert (good.attrs["usable"], good.attrs["inference"], good["posterior"]["tau"].dims) == (
        1,
        "nuts",
        ("chain", "draw", "metric"),
    )
    stats["diverging"][0, 0] = True
    bad = bg.report_from_draws(tally, xr.DataTree.from_dict({"posterior": draws, "sample_stats": stats}))
    assert bad.attrs["usable"] == 0
    assert "divergent" in str(bad["diagnostics"].to_dataset()["sentence"].values)


def test_chains_that_disagree_are_not_usable(make_tally: MakeTally) -> None:
    tally = make_tally(metrics=["fnr"])
    draws = beta_draws(tally)
    draws[0] = draws[0] * 0.5
    assert bg.report_from_draws(tally, draws).attrs["usable"] == 0


def test_another_reference_can_answer(make_tally: MakeTally) -> None:
    tally = make_tally(metrics=["fnr"])
    report = bg.report_from_draws(tally, beta_draws(tally), reference=bg.PartialPooling(), seed=1)
    methods = report["estimates"].to_dataset()["interval_method"].sel(approach="frequentist")
    assert set(methods.values.ravel()) == {"morris"}


def test_groups_of_a_model_of_ones_own_are_kept_and_others_cannot_be_made(make_tally: MakeTally) -> None:
    """Draws that were thinned are numbered anew, in every group alike."""
    tally = make_tally({"site": ["a", "b", "c"]}, metrics=["fnr"])
    mu = beta_draws(tally).assign_coords(chain=range(4), draw=range(500))
    density = xr.Dataset({"y": mu.isel(metric=0, drop=True).rename(subgroup="site")})
    groups = {
        "posterior": xr.Dataset({"mu": mu}),
        "log_likelihood": density,
        "observed_data": density.isel(chain=0, draw=0, drop=True),
    }
    tree = xr.DataTree.from_dict(groups).isel(draw=slice(None, None, 2))
    report = bg.report_from_draws(tally, tree, estimator="mine")
    np.testing.assert_array_equal(report["log_likelihood"]["y"], density["y"][:, ::2])
    np.testing.assert_array_equal(report["log_likelihood"]["draw"], report["posterior"]["draw"])
    assert report["observed_data"].sizes == {"site": 3}
    for asked in (bg.loo, lambda own: bg.add_groups(own, ["prior"])):
        with pytest.raises(InputError, match="'mine' is the name of a model of one's own.*az.loo"):
            asked(report)


@pytest.mark.slow
def test_a_model_of_pymc_goes_through(make_tally: MakeTally) -> None:
    import pymc as pm

    tally = make_tally({"site": ["a", "b", "c"]}, metrics=["fnr"])
    with pm.Model(coords={"site": tally["subgroup"].values}):
        p = pm.Beta("p", 1, 1, dims="site")
        pm.Binomial(
            "y",
            n=tally["count"].values[0].astype(int),
            p=p,
            observed=tally["successes"].values[0].astype(int) * 0 + [0, 1, 0],
            dims="site",
        )
        prior = pm.sample_prior_predictive(500, random_seed=1)
    tree = xr.DataTree.from_dict({"posterior": prior["prior"].to_dataset()})
    report = bg.report_from_draws(tally, tree, variable="p")
    assert report["posterior"]["mu"].sizes == {"chain": 1, "draw": 500, "metric": 1, "subgroup": 3}


def test_what_does_not_fit_is_told(make_tally: MakeTally) -> None:
    tally = make_tally(metrics=["fnr"])
    draws = beta_draws(tally)
    with pytest.raises(SchemaError, match="tally must come from"):
        bg.report_from_draws(xr.Dataset(), draws)
    with pytest.raises(InputError, match="outside \\[0, 1\\]; give draws on the metric's own scale"):
        bg.report_from_draws(tally, draws * 10)
    with pytest.raises(InputError, match="no subgroup 'African American | Female'"):
        bg.report_from_draws(tally, draws.isel(subgroup=slice(1, None)))
    with pytest.raises(InputError, match="is twice in the draws"):
        bg.report_from_draws(tally, xr.concat([draws, draws], dim="subgroup"))
    with pytest.raises(InputError, match="have 5 subgroups and the tally 6"):
        bg.report_from_draws(tally, draws.drop_vars("subgroup").isel(subgroup=slice(1, None)))
    with pytest.raises(InputError, match="lack 'chain'"):
        bg.report_from_draws(tally, draws.isel(chain=0, drop=True))
    with pytest.raises(InputError, match="one dim of subgroups beside"):
        bg.report_from_draws(tally, draws, dim="site")
    with pytest.raises(InputError, match="the draws have no dim 'metric'; select one"):
        bg.report_from_draws(make_tally(), draws.isel(metric=0, drop=True))
    with pytest.raises(InputError, match="have no variable 'm'; did you mean|known: 'mu'"):
        bg.report_from_draws(tally, draws.to_dataset(), variable="m")
    with pytest.raises(InputError, match="has no group 'posterior'"):
        bg.report_from_draws(tally, xr.DataTree.from_dict({"prior": draws.to_dataset()}))
    with pytest.raises(InputError, match="draws must be a DataArray"):
        bg.report_from_draws(tally, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="tau must have the dims"):
        bg.report_from_draws(tally, draws.to_dataset().assign(tau=("chain", np.ones(4))))
