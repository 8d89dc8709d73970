"""The door to the Gibbs sampler: layout, empty subgroups, limits, one subgroup, metrics side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators import sampled_fits
from bayesgroups.inference import short_chains
from bayesgroups.inference.collapsed import structured_regression
from bayesgroups.report.diagnostics import Mixing
from bayesgroups.report.posterior import Posterior

PEOPLE = pd.DataFrame([(race, age) for race in ("a", "b", "c") for age in ("young", "old")], columns=["race", "age"])


def counts(k: Sequence[float], n: Sequence[float]) -> xr.Dataset:
    return bg.tally_from_counts(k, n, PEOPLE.iloc[: len(k)], metric="fnr")


def levels(tally: xr.Dataset) -> xr.DataArray:
    """Levels of race and age, then an indicator of each subgroup."""
    blocks = {
        f"{by}[{level}]": tally[by].values == level for by in ("race", "age") for level in sorted(set(PEOPLE[by]))
    }
    own = np.eye(tally.sizes["subgroup"])
    values = np.column_stack([*blocks.values(), own]).astype(np.float64)
    names = [*blocks, *(f"subgroup[{name}]" for name in tally["subgroup"].values)]
    return xr.DataArray(values, {"subgroup": tally["subgroup"].values, "coefficient": names})


def fit(tally: xr.Dataset, **settings: object) -> Posterior:
    return structured_regression.sample(tally, seed=1, features=levels(tally), **settings)  # type: ignore[arg-type]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that do not go on."""
    monkeypatch.setattr(structured_regression, "LONGER", ())


def test_layout() -> None:
    tally = counts([9, 30, 2, 60, 3, 14], [30, 100, 9, 200, 20, 60])
    found = fit(tally)
    assert found.engine == "gibbs"
    assert [check.name for check in found.checks] == ["R-hat", "bulk ESS", "tail ESS"]
    draws = found.draws
    assert {name: draws[name].dims for name in draws.data_vars} == {
        "mu": ("chain", "draw", "metric", "subgroup"),
        "overall": ("chain", "draw", "metric"),
        "tau": ("chain", "draw", "metric"),
        "beta": ("chain", "draw", "metric", "coefficient"),
    }
    assert dict(draws.sizes) == {"chain": 4, "draw": 1000, "metric": 1, "subgroup": 6, "coefficient": 11}
    predicted = draws["overall"] + (draws["beta"] * levels(tally)).sum("coefficient")
    inside = ((draws["overall"] > 0) & (draws["overall"] < 1)).values
    assert np.abs((draws["mu"] - predicted.clip(0, 1)).values[inside]).max() < 1e-12
    assert inside.mean() > 0.9
    assert all(check.passed for check in found.checks)


def test_the_same_seed_gives_the_same_bytes(short: None) -> None:
    tally = counts([9, 30, 2, 60, 3, 14], [30, 100, 9, 200, 20, 60])
    draws, again = fit(tally, draws=20).draws, fit(tally, draws=20)
    assert all(draws[name].values.tobytes() == again.draws[name].values.tobytes() for name in draws.data_vars)


def test_an_empty_subgroup_is_answered_from_its_features() -> None:
    """All of race c do badly and c, old is empty: it is expected to do badly, with more doubt than c, young."""
    mu = fit(counts([10, 20, 30, 10, 160, 0], [100, 200, 300, 100, 200, 0])).draws["mu"].squeeze("metric")
    middle, spread = mu.mean(("chain", "draw")).values, mu.std(("chain", "draw")).values
    assert 0.4 < middle[5] < 0.8
    assert (middle[:4] < 0.2).all()
    assert spread[5] > 3 * spread[4]


@pytest.mark.parametrize("prior", ["horseshoe", "laplace"])
def test_few_rows_are_pulled_many_are_not(prior: str) -> None:
    tally = counts([1000, 3, 900, 990, 1010, 1005], [10_000, 5, 10_000, 10_000, 10_000, 10_000])
    middle = fit(tally, prior=prior).draws["mu"].mean(("chain", "draw")).values[0]
    estimates = tally["estimate"].values[0]
    assert middle[1] < 0.3
    assert np.abs(np.delete(middle - estimates, 1)).max() < 0.01


def test_one_subgroup_has_no_columns() -> None:
    tally = counts([3], [10])
    nothing = xr.DataArray(
        np.empty((1, 0)), {"subgroup": tally["subgroup"].values, "coefficient": np.empty(0, dtype=str)}
    )
    found = structured_regression.sample(tally, seed=1, features=nothing)
    assert all(check.passed for check in found.checks)
    assert set(found.draws.data_vars) == {"mu", "overall", "tau"}
    v = float(tally["sampling_variance"].values[0, 0])
    expected = (0.3 / v + 0.5 / 0.25) / (1 / v + 1 / 0.25)
    assert float(found.draws["mu"].mean()) == pytest.approx(expected, abs=0.02)
    assert (found.draws["mu"].squeeze("subgroup") == found.draws["overall"]).all()


def test_units_do_not_matter(short: None) -> None:
    """A power of two, so that nothing is rounded differently."""
    z, v = np.array([3.0, 4.0, 3.1, 7.0, 3.2, np.nan]), np.array([0.1, 0.2, 0.1, 0.3, 0.4, np.nan])
    small, large = (
        fit(bg.tally_from_estimates(unit * z, unit**2 * v, PEOPLE, metric="mae"), draws=20).draws for unit in (1, 1024)
    )
    for name in small.data_vars:
        np.testing.assert_allclose(large[name].values / 1024, small[name].values, rtol=1e-12)


def test_chains_that_have_not_mixed_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def mixes_at_last(draws: list[FloatArray], groups: int) -> Mixing:
        seen.append((sum(map(len, draws)), {each.shape[1:] for each in draws}, groups))
        return Mixing(1.2 if len(seen) < 3 else 1.0, 500.0, 500.0)

    monkeypatch.setattr(short_chains, "mixing", mixes_at_last)
    found = fit(counts([3, 4], [10, 10]), draws=20)
    assert seen == [(11, {(16, 5)}, 4)] * 3
    assert found.draws.sizes["draw"] == 20
    assert all(check.passed for check in found.checks)


def test_values_at_the_edge_of_the_range_do_not_look_like_chains_that_have_not_mixed() -> None:
    found = fit(counts([1000, 3, 900, 999, 1000, 0], [1000] * 6))
    assert (found.draws["mu"].values == 1.0).any()
    assert all(check.passed for check in found.checks)


def test_metrics_stand_side_by_side_in_a_report() -> None:
    """One metric is undefined everywhere; coefficients of the others keep their columns."""
    k = {"fnr": [3, 40, 0, 7, 2, 0], "fpr": [0] * 6, "sel": [9, 3, 1, 0, 5, 0]}
    n = {"fnr": [10, 60, 4, 9, 20, 0], "fpr": [0] * 6, "sel": [20, 30, 9, 5, 30, 1]}
    tally = bg.tally_from_counts(k, n, PEOPLE)
    report = bg.estimate(tally, bg.StructuredRegression(bootstrap=20), seed=1)
    posterior = report["posterior"].to_dataset()
    assert report.attrs["inference"] == "collapsed, gibbs"
    assert posterior["beta"].dims == ("chain", "draw", "metric", "coefficient")
    finite = np.isfinite(posterior["beta"].values).all(axis=(0, 1, 3))
    assert finite.tolist() == [True, False, True]
    status = report["estimates"].to_dataset()["status"].sel(approach="bayesian", metric="fnr")
    assert status.values[5] == "imputed"
    alone = bg.estimate(tally.sel(metric=["sel"]), bg.StructuredRegression(bootstrap=20), seed=1)
    xr.testing.assert_equal(alone["posterior"].to_dataset(), posterior.sel(metric=["sel"]))
    assert sampled_fits.DRAWS == posterior.sizes["draw"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": "spike"}, "prior='spike' is not one of 'horseshoe', 'laplace'"),
        ({"errors": "rows"}, "errors='rows' is not one of 'known_variance', 'residual'"),
        ({"expected_effects": 0}, "expected_effects=0 must be a positive number"),
        ({"slab_scale": -1.0}, "slab_scale=-1.0 must be a positive number"),
        ({"local_df": float("nan")}, "local_df=nan must be a positive number"),
        ({"penalty": -0.1}, "penalty=-0.1 must be 'cv' or a number, 0 or larger"),
        ({"bootstrap": 1}, "bootstrap=1 must be 2 or larger"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(bg.InputError, match=f"StructuredRegression: {message}"):
        bg.StructuredRegression(**settings)  # type: ignore[arg-type]
