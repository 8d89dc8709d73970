"""Margins are what a tally by fewer attributes says, for every kind of metric."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.datasets import demonstration
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.certification.overlapping import deviations, overall, weighted_means

METRICS = ["acc", "fnr", "f1", "auc"]


@cache
def rows() -> pd.DataFrame:
    return demonstration(seed=0).rows


@cache
def tally_by(*by: str, cluster: str | None = None) -> xr.Dataset:
    return bg.tally(
        rows(), by=list(by), metrics=METRICS, y_true="readmitted", y_score="score", threshold=0.158, cluster=cluster
    )


def test_every_margin_is_the_tally_by_its_attributes() -> None:
    table = bg.margins(tally_by("race", "gender", "age"))
    assert table.sizes["subgroup"] == (4 + 1) * (2 + 1) * (4 + 1) - 1
    for size in (1, 2, 3):
        for names in itertools.combinations(["race", "gender", "age"], size):
            direct = tally_by(*names)
            for i in range(direct.sizes["subgroup"]):
                levels = {name: str(direct[name].values[i]) for name in names}
                label = " | ".join(levels.get(name, "(all)") for name in ("race", "gender", "age"))
                mine, theirs = table.sel(subgroup=label), direct.isel(subgroup=i)
                for name in ("rows", "count", "successes", "estimate", "row_variance", "sampling_variance"):
                    np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, err_msg=f"{label} {name}")
                assert mine["status"].values.tolist() == theirs["status"].values.tolist()
                assert int(mine["attributes_crossed"]) == size


def test_clusters_are_carried() -> None:
    table = bg.margins(tally_by("race", "gender", cluster="patient"))
    direct = tally_by("race", cluster="patient")
    mine = table.isel(subgroup=slice(0, 4))
    np.testing.assert_allclose(mine["count"].values, direct["count"].values, rtol=1e-9)


def test_members_and_order() -> None:
    whole = tally_by("race", "gender", "age")
    table = bg.margins(whole, order=1)
    assert table.sizes["subgroup"] == 4 + 2 + 4 + 32
    members = table["members"].values
    assert members[:4].sum(axis=1).tolist() == [8] * 4
    assert np.array_equal(members[-32:], np.eye(32))
    share = table["count"].sel(metric="acc").values
    np.testing.assert_allclose(members @ whole["count"].sel(metric="acc").values, share)


def test_an_attribute_with_one_level_is_never_left_out() -> None:
    who = pd.DataFrame({"country": ["x"] * 4, "race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    table = bg.margins(bg.tally_from_counts([1, 2, 3, 4], [5, 6, 7, 8], who))
    assert table["subgroup"].values[:4].tolist() == ["x | a | (all)", "x | b | (all)", "x | (all) | f", "x | (all) | m"]
    assert table.sizes["subgroup"] == 8


def test_the_whole_is_no_subgroup() -> None:
    expected = float(((rows()["score"] >= 0.158) == rows()["readmitted"]).mean())
    assert overall(tally_by("race", "gender", "age"))[0] == pytest.approx(expected)


def test_means_of_draws() -> None:
    values = np.array([[0.5, np.nan, 0.8], [0.4, 0.3, 0.6]])
    members = np.array([[True, True, True], [True, True, False], [False, True, False]])
    found = weighted_means(values, np.array([30.0, 0.0, 10.0]), members)
    # A single intersection keeps its value, though without rows it weighs nothing in the other margins.
    np.testing.assert_allclose(found, [[0.575, 0.5, np.nan], [0.45, 0.4, 0.3]])


def test_the_covariance_of_margins_is_that_of_drawn_rows() -> None:
    """Rows drawn from four cells whose rates differ and whose row variance does not; by race, by sex, the first cell."""
    rng = np.random.default_rng(1)
    n, rates, share = 4000, np.array([0.8, 0.2, 0.2, 0.8]), np.array([0.4, 0.3, 0.2, 0.1])
    members = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [1, 0, 0, 0]], dtype=bool)
    sizes = rng.multinomial(n, share, size=40_000)
    hits = rng.binomial(sizes, rates)
    simulated = np.cov((hits @ members.T) / (sizes @ members.T), rowvar=False)
    factor = deviations(rates, n * share, 0.16, members)
    np.testing.assert_allclose(factor @ factor.T, simulated, atol=0.03 * float(simulated.max()))
    assert simulated[0, 3] > 0.5 * simulated[3, 3]


def test_bands_of_a_metric_without_values_and_of_one_without_a_spread() -> None:
    people = pd.DataFrame(
        {"race": ["a", "a", "b", "b"] * 5, "sex": ["f", "m"] * 10, "sick": 0, "alarm": [0, 1, 1, 0, 1] * 4, "loss": 2}
    )
    metrics = ["fnr", "mean", "sel"]
    tally = bg.tally(people, ["race", "sex"], metrics, y_true="sick", y_pred="alarm", positive=1, loss="loss")
    band = bg.simultaneous_intervals(tally, margins=True)
    worst = bg.certify(tally, margins=True, correction="simultaneous")
    assert np.isnan(band["lower"].sel(metric="fnr")).all()
    assert np.isnan(worst["pessimist"].sel(metric="fnr"))
    assert (band["upper"].sel(metric="mean") == 2).all()
    assert float(worst["pessimist"].sel(metric="mean")) == 2
    assert float(band["critical_value"].sel(metric="sel")) > float(band["critical_value"].sel(metric="mean"))


def test_what_has_no_margins() -> None:
    who = pd.DataFrame({"race": ["a", "b"], "sex": ["(all)", "m"]})
    with pytest.raises(InputError, match=r"attribute 'sex' has the level '\(all\)'"):
        bg.margins(bg.tally_from_counts([1, 2], [5, 6], who))
    with pytest.raises(InputError, match="order=0 must be 1 or larger"):
        bg.margins(tally_by("race", "gender"), order=0)
    with pytest.raises(SchemaError, match="margins are taken of a tally"):
        bg.margins(bg.margins(tally_by("race", "gender")))
    values = bg.tally_from_estimates([0.7, 0.8], [0.001, 0.002], who.assign(sex=["f", "m"]))
    with pytest.raises(InputError, match="published estimates have no sums"):
        bg.margins(values)
    report = bg.estimate(tally_by("race", "gender").sel(metric=["auc"]), bg.PartialPooling(), seed=1)
    with pytest.raises(InputError, match="metric 'auc': that of a margin is no mean"):
        bg.certify(report, margins=True)


def test_an_estimator_refuses_margins() -> None:
    with pytest.raises(SchemaError, match="tally must not come from"):
        bg.estimate(bg.margins(tally_by("race", "gender")), bg.NoPooling(), seed=1)
