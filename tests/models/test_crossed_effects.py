"""The PyMC model of crossed effects: its posterior mean at fixed scales, its parts, tasks and covariates."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode

import bayesgroups as bg
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace
from bayesgroups.models import crossed_effects
from bayesgroups.models.shared.component_scales import component_scales
from bayesgroups.models.shared.covariates import standardised
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.models.shared.tasks import stack
from bayesgroups.models.shared.variances import with_shrunk_variances

FAST = Mode(linker="py", optimizer="fast_compile")
WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"race": rng.choice(["a", "b", "c"], 300), "sex": rng.choice(["f", "m"], 300), "x": rng.normal(size=300)}
    )
    return rows.assign(loss=rng.gamma(2.0, 1.0 + (rows["race"] == "a"), size=300))


def test_at_fixed_scales_the_posterior_mean_is_that_of_suremap(rates: xr.Dataset) -> None:
    """The log density is quadratic then, so one Newton step from anywhere ends at the mean."""
    sd = np.array([[0.05, 0.02, 0.04]])
    built = crossed_effects.build(rates, likelihood="normal", own_effects="learned")
    model = pm.do(built, {"component_sd": sd})
    point: Any = model.initial_point()
    free = model.free_RVs
    slope = model.compile_dlogp(free, mode=FAST)
    shapes = {variable.name: np.shape(point[variable.name]) for variable in free}
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])

    def at(numbers: np.ndarray) -> dict[str, np.ndarray]:
        parts = np.split(numbers, ends[:-1])
        return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}

    gradient = np.asarray(slope(at(np.zeros(ends[-1]))))
    curvature = np.stack([np.asarray(slope(at(unit))) - gradient for unit in np.eye(ends[-1])])
    mode = -np.linalg.solve(curvature, gradient)
    predictor = model.compile_fn(
        model.replace_rvs_by_values([model["mu"]]), inputs=model.value_vars, mode=FAST, on_unused_input="ignore"
    )
    mean = np.asarray(predictor(at(mode))[0])[0]
    components = subsets(rates)
    v = np.where(rates["count"].values[0] > 0, rates["sampling_variance"].values[0], np.inf)
    y = np.where(np.isfinite(v), rates["estimate"].values[0] - 0.5, 0.0)
    expected = SubgroupSpace(Predictor(components.cells, np.empty((6, 0)), 0.5, 1.0), y, v).moments(sd[0])[0]
    assert mean == pytest.approx(expected + 0.5, abs=1e-8)


@pytest.mark.parametrize(
    ("prior", "latent"),
    [("half_normal", {"component_sd"}), ("half_t", {"component_sd"}), ("r2d2", {"tau", "z_share"})],
)
def test_priors_are_what_they_say(rates: xr.Dataset, prior: Any, latent: set[str]) -> None:
    model = crossed_effects.build(rates, prior=prior, tau_scale=0.3, own_effects="learned")
    assert {variable.name for variable in model.free_RVs} == latent | {"alpha", "z", "z_residual"}
    tau, each = pm.draw([model["tau"], model["component_sd"]], draws=2000, random_seed=1, mode=FAST)
    assert np.sqrt((np.asarray(each) ** 2).sum(axis=-1)) == pytest.approx(np.asarray(tau))
    median = np.median(np.asarray(each) if prior != "r2d2" else np.asarray(tau) / np.sqrt(3))
    assert median == pytest.approx(0.3 * {"half_normal": 0.6745, "half_t": 0.7649, "r2d2": 0.7649}[prior], rel=0.06)


@pytest.mark.parametrize(
    ("prior", "latent"),
    [("half_normal", {"component_sd"}), ("half_t", {"component_sd"}), ("r2d2", {"z_tau", "z_share"})],
)
def test_the_effects_of_single_subgroups_have_a_known_spread(rates: xr.Dataset, prior: Any, latent: set[str]) -> None:
    model = crossed_effects.build(rates, prior=prior, tau_scale=0.3, own_effects="fixed")
    assert {variable.name for variable in model.free_RVs} == latent | {"alpha", "z", "z_residual"}
    assert model.coords["component"] == ("race", "sex")
    tau, each, mu = pm.draw(
        [model[name] for name in ("tau", "component_sd", "mu")], draws=4000, random_seed=1, mode=FAST
    )
    assert np.asarray(tau) ** 2 == pytest.approx((np.asarray(each) ** 2).sum(axis=-1) + 0.15**2)
    logit = np.log(np.asarray(mu) / (1 - np.asarray(mu)))[:, 0]
    # What is left of a table of three by two once its rows and columns are taken out has two degrees of freedom in six.
    table = logit.reshape(-1, 3, 2)
    left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=2, keepdims=True)
    left = left + table.mean(axis=(1, 2), keepdims=True)
    assert np.sqrt((left**2).sum(axis=(1, 2)).mean() / 2) == pytest.approx(0.15, rel=0.03)


@pytest.mark.parametrize("prior", ["half_normal", "half_t", "r2d2"])
@pytest.mark.parametrize(
    "own_effects", [*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("learned", "fixed")), "floored"]
)
def test_tau_is_what_subgroups_differ_by(rates: xr.Dataset, prior: Any, own_effects: Any) -> None:
    """In units of tau, values of subgroups around the centre have a variance of 1, whatever part of it is known."""
    model = crossed_effects.build(rates, prior=prior, tau_scale=0.3, own_effects=own_effects)
    names = ("tau", "alpha", "mu")
    tau, alpha, mu = (
        np.asarray(each) for each in pm.draw([model[name] for name in names], draws=4000, random_seed=1, mode=FAST)
    )
    apart = (np.log(mu / (1 - mu)) - alpha[..., None]) / tau[..., None]
    assert (apart**2).mean() == pytest.approx(1, abs=0.04)


def test_a_choice_of_own_effects_that_does_not_exist_is_refused(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="own_effects must be one of floored, fixed, learned"):
        crossed_effects.build(rates, own_effects="free")  # type: ignore[arg-type]


def test_scales_differ_by_order(rates: xr.Dataset) -> None:
    from scipy import stats

    model = crossed_effects.build(rates, tau_scale=(2.5, None))
    at = np.array([[0.3, 0.2, 0.1]])
    density = np.asarray(pm.logp(model["component_sd"], at).eval(mode=FAST))
    expected = np.log(2) + stats.t.logpdf(at, 3, scale=[[2.5, 2.5, 0.25]])
    np.testing.assert_allclose(density, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="prior='r2d2' has one scale"):
        crossed_effects.build(rates, prior="r2d2", tau_scale=(2.5, 0.5))


def test_order_keeps_the_subgroup_itself(rates: xr.Dataset) -> None:
    assert crossed_effects.build(rates, order=0).coords["component"] == ("race:sex",)
    assert crossed_effects.build(rates, own_effects="learned").coords["component"] == ("race", "sex", "race:sex")
    with pytest.raises(ValueError, match="order must be 0 or more"):
        crossed_effects.build(rates, order=-1)


def test_what_does_not_exist_is_refused(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="prior must be one of half_t, half_normal, r2d2"):
        crossed_effects.build(rates, prior="horseshoe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="covariate 'x' is no feature of the tally, which has none"):
        crossed_effects.build(rates, covariates=["x"])
    with pytest.raises(ValueError, match="tau_scale must be a positive number"):
        crossed_effects.build(rates, tau_scale=0.0)
    with pytest.raises(ValueError, match="names no attributes"):
        subsets(rates.assign_attrs(by="{}"))


def test_an_attribute_with_one_level_changes_nothing() -> None:
    more = WHO.assign(country="x")
    tally = bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], more)
    assert len(subsets(tally).names) == 3
    assert (
        subsets(tally).cells.tolist()
        == subsets(bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO)).cells.tolist()
    )


def test_covariates_have_mean_zero_and_variance_one_over_rows() -> None:
    tally = bg.tally(frame(), by=["race", "sex"], metrics=["mean"], loss="loss", features=["x"])
    x, rows = standardised(tally, ["x"]).values[:, 0], tally["rows"].values
    assert np.average(x, weights=rows) == pytest.approx(0, abs=1e-12)
    assert np.average(x**2, weights=rows) == pytest.approx(1)
    model = crossed_effects.build(tally, covariates=["x"])
    assert model.named_vars_to_dims["beta"] == ("metric", "covariate")


def test_tasks_are_one_more_attribute(rates: xr.Dataset) -> None:
    two = bg.tally_from_counts(
        {"one": [3, 30, 9, 2, 6, 0], "two": [4, 20, 9, 1, 5, 1]},
        {"one": [9, 100, 60, 11, 20, 0], "two": [9, 90, 50, 11, 20, 3]},
        WHO,
    )
    stacked = stack(two)
    assert stacked.sizes == {"metric": 1, "subgroup": 12}
    assert json.loads(stacked.attrs["by"]) == {"by": ["task", "race", "sex"]}
    assert stacked["successes"].values[0].tolist() == two["successes"].values.ravel().tolist()
    model = crossed_effects.build(two, tasks=True)
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    sd, tau = pm.draw([model["component_sd"], model["tau"]], random_seed=1, mode=FAST)
    assert np.asarray(sd).shape == (2, 7)
    assert np.asarray(sd)[0].tolist() == np.asarray(sd)[1].tolist()
    assert np.asarray(tau).shape == (2,)
    with pytest.raises(ValueError, match="tasks must be alike, but kind differs"):
        stack(two.assign(kind=("metric", ["rate", "mean"])))


def test_component_scales_are_a_quarter_logit_or_follow_the_spread_of_a_row(rates: xr.Dataset) -> None:
    assert component_scales(rates, np.array([True])).tolist() == [0.25]
    pooled = float(rates["pooled_variance"][0])
    assert component_scales(rates, np.array([False])) == pytest.approx(0.09 * np.sqrt(pooled))
    published = bg.tally_from_estimates([0.2, 0.6], [0.01, 0.02], WHO.iloc[:2])
    assert component_scales(published, np.array([False])).item() > 0


class TestVariances:
    def test_rates_keep_theirs(self, rates: xr.Dataset) -> None:
        assert with_shrunk_variances(rates) is rates

    def test_means_are_drawn_towards_each_other(self) -> None:
        tally = bg.tally(frame(), by=["race", "sex"], metrics=["mean"], loss="loss")
        shrunk = (with_shrunk_variances(tally)["sampling_variance"] * tally["count"]).values[0]
        own = tally["row_variance"].values[0]
        assert (np.ptp(np.log(shrunk)) < np.ptp(np.log(own))).all()
        assert np.corrcoef(shrunk, own)[0, 1] > 0.95

    def test_their_mean_is_that_of_the_row_variances(self) -> None:
        """Heavy tails: the mean of the logs of few rows lies far below the log of the mean."""
        rng = np.random.default_rng(2)
        rows = pd.DataFrame({"group": np.repeat([str(i) for i in range(40)], rng.integers(2, 30, 40))})
        rows["loss"] = rng.lognormal(0, 1.5, len(rows))
        tally = bg.tally(rows, by=["group"], metrics=["mean"], loss="loss")
        freedom, own = tally["count"].values[0] - 1, tally["row_variance"].values[0]
        shrunk = (with_shrunk_variances(tally)["sampling_variance"] * tally["count"]).values[0]
        assert np.average(shrunk, weights=freedom) == pytest.approx(np.average(own, weights=freedom))
        assert np.exp(np.average(np.log(own), weights=freedom)) < 0.5 * np.average(own, weights=freedom)

    def test_units_do_not_matter(self) -> None:
        one, two = (
            with_shrunk_variances(
                bg.tally(
                    frame().assign(loss=lambda rows, u=unit: u * rows["loss"]),
                    by=["race", "sex"],
                    metrics=["mean"],
                    loss="loss",
                )
            )
            for unit in (1.0, 1000.0)
        )
        assert two["sampling_variance"].values == pytest.approx(1e6 * one["sampling_variance"].values)

    def test_large_samples_keep_their_own(self, make_tally: Callable[..., xr.Dataset]) -> None:
        tally = make_tally([[1e9, 1e9, 1e9]], estimate=[[1.0, 2.0, 3.0]], kind=["mean"], upper=[np.inf])
        own = np.array([[1.0, 4.0, 0.25]])
        found = with_shrunk_variances(tally.assign(row_variance=(("metric", "subgroup"), own)))
        assert (found["sampling_variance"] * found["count"]).values == pytest.approx(own, rel=1e-6)

    def test_pooled_ones_are_those_of_the_tally(self) -> None:
        tally = bg.tally(frame(), by=["race", "sex"], metrics=["mean"], loss="loss")
        assert with_shrunk_variances(tally, "pooled") is tally
        assert not with_shrunk_variances(tally)["sampling_variance"].equals(tally["sampling_variance"])
        pooled = crossed_effects.build(tally, row_variances="pooled")
        point = pooled.initial_point()
        known = crossed_effects.build(tally.drop_vars("row_variance"))
        densities = [model.compile_logp(mode=FAST)(point) for model in (pooled, known, crossed_effects.build(tally))]
        assert densities[0] == pytest.approx(densities[1], rel=1e-12)
        assert densities[0] != pytest.approx(densities[2], rel=1e-6)

    def test_a_choice_that_does_not_exist_is_refused(self, rates: xr.Dataset) -> None:
        with pytest.raises(ValueError, match="row_variances must be one of shrunk, pooled; got 'own'"):
            with_shrunk_variances(rates, "own")  # type: ignore[arg-type]

    def test_one_known_variance_is_left_alone(self, make_tally: Callable[..., xr.Dataset]) -> None:
        tally = make_tally([[5, 1, 0]], estimate=[[1.0, 2.0, np.nan]], kind=["mean"], upper=[np.inf])
        tally = tally.assign(row_variance=(("metric", "subgroup"), [[1.0, np.nan, np.nan]]))
        assert with_shrunk_variances(tally)["sampling_variance"].identical(tally["sampling_variance"])
